#include "vendor_manifest.h"

#include <sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT     "fmha-vendor "
#define FIRST_LINE FORMAT "1"
#define COMMAND    "fmhagen vendor ."

static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.";

void manifest_hash(const char *bytes, size_t length, char sha256[VENDOR_SHA_SIZE]) {
    _Static_assert(SHA256_DIGEST_STRING_LENGTH == VENDOR_SHA_SIZE, "libmd writes the digits and a NUL");
    SHA256Data((const uint8_t *)bytes, length, sha256);
}

bool manifest_name_is_good(const char *name) {
    size_t length = strlen(name);
    if (strncmp(name, "src/", 4) == 0)
        name += 4;
    else if (strncmp(name, "kernels/", 8) == 0)
        name += 8;
    return length < VENDOR_NAME_MAX && *name && *name != '.' && name[strspn(name, good)] == '\0' &&
           strcmp(name, VENDOR_MANIFEST) != 0;
}

const struct manifest_file *manifest_find(const struct manifest *manifest, const char *name) {
    size_t low = 0, high = manifest->file_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, manifest->files[middle].name);
        if (order == 0)
            return &manifest->files[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* ---- Writing -------------------------------------------------------------------------------------------------------
 */

void manifest_add(struct text *out, const struct manifest *manifest) {
    text_printf(out, "%s\nmade-by fmhagen %s\ncommand %s", FIRST_LINE, manifest->version, COMMAND);
    for (size_t i = 0; i < manifest->word_count; i++) {
        text_puts(out, " ");
        text_quote(out, manifest->words[i]);
    }
    text_puts(out, "\n");
    for (size_t i = 0; i < manifest->file_count; i++)
        text_printf(out, "sha256 %s %s\n", manifest->files[i].sha256, manifest->files[i].name);
    text_printf(out, "end %zu\n", manifest->file_count);
}

/* ---- Reading -------------------------------------------------------------------------------------------------------
 */

struct parser {
    const char *path;
    struct error *error;
    int number; /* of the line */
    char *rest; /* NUL-terminated; NULL after the last line */
};

static bool refuse(const struct parser *parser, const char *expected, const char *got) {
    /* Bytes that a terminal would obey are not repeated. */
    char shown[81] = "";
    for (size_t i = 0; i < sizeof shown - 1 && got[i]; i++)
        shown[i] = got[i] >= ' ' && got[i] < 127 ? got[i] : '?';
    return error_set(parser->error, ERROR_RUN,
                     "%s:%d: expected %s, got '%s%s'; it is not as 'fmhagen vendor' left it: restore it, or vendor "
                     "anew with --force",
                     parser->path, parser->number, expected, shown, strlen(got) > 80 ? "…" : "");
}

static bool refuse_newer(const struct parser *parser, int format) {
    return error_set(parser->error, ERROR_RUN,
                     "%s:%d: expected '" FIRST_LINE "', got '" FORMAT "%d'; it was made by a newer fmhagen: use that "
                     "one, or vendor anew with --force",
                     parser->path, parser->number, format);
}

/* The next line, or NULL with an error that says what was expected. A last line without its end is no line. */
static char *next_line(struct parser *parser, const char *expected) {
    char *line = parser->rest, *end = line ? strchr(line, '\n') : NULL;
    parser->number++;
    if (!end) {
        refuse(parser, expected, line && *line ? line : "the end of the file");
        return NULL;
    }
    *end = '\0';
    parser->rest = end + 1;
    return line;
}

/* What follows `prefix` on the next line, or NULL with an error. */
static char *line_after(struct parser *parser, const char *prefix, const char *expected) {
    char *line = next_line(parser, expected);
    if (line && strncmp(line, prefix, strlen(prefix)) == 0)
        return line + strlen(prefix);
    if (line)
        refuse(parser, expected, line);
    return NULL;
}

/* Takes one word off *line and puts it into `out` without its quotes, which must be those of text_quote. */
static bool take_word(char **line, struct text *out) {
    const char *at = *line;
    if (*at != '\'') {
        text_add(out, at, text_plain_length(at));
        at += out->length;
    }
    for (bool more = *at == '\''; more;) {
        size_t length = strcspn(++at, "'");
        text_add(out, at, length);
        at += length;
        if (*at++ != '\'')
            return false;
        more = strncmp(at, "\\''", 3) == 0;
        if (more) {
            text_puts(out, "'");
            at += 2;
        }
    }
    text_add(out, "", 0);
    struct text quoted = {0};
    text_quote(&quoted, out->bytes ? out->bytes : "");
    size_t length = (size_t)(at - *line);
    bool same = !quoted.failed && quoted.length == length && memcmp(quoted.bytes, *line, length) == 0;
    text_free(&quoted);
    *line += length;
    return same && (**line == ' ' || **line == '\0');
}

static bool parse_command(struct parser *parser, struct manifest *manifest) {
    static const char expected[] = "'command " COMMAND "' and options";
    char *line = line_after(parser, "command " COMMAND, expected);
    if (!line)
        return false;
    char *whole = line;
    manifest->words = calloc(VENDOR_WORDS_MAX, sizeof *manifest->words);
    bool done = manifest->words != NULL;
    while (done && *line == ' ' && manifest->word_count < VENDOR_WORDS_MAX) {
        struct text word = {0};
        line++;
        bool taken = take_word(&line, &word);
        done = !word.failed;
        if (!taken || !done) {
            text_free(&word);
            line = whole;
            break;
        }
        manifest->words[manifest->word_count++] = word.bytes;
    }
    if (!done)
        return error_set(parser->error, ERROR_RUN, "%s: out of memory", parser->path);
    return *line == '\0' || refuse(parser, expected, whole);
}

static bool parse_file(struct parser *parser, char *line, struct manifest *manifest, size_t *capacity) {
    size_t digits = strspn(line, "0123456789abcdef");
    if (digits != VENDOR_SHA_SIZE - 1 || line[digits] != ' ')
        return refuse(parser, "'sha256', 64 hexadecimal digits and a name", line);
    char *name = line + digits + 1;
    line[digits] = '\0';
    if (!manifest_name_is_good(name))
        return refuse(parser, "the name of a file that fmhagen makes", name);
    if (manifest->file_count && strcmp(manifest->files[manifest->file_count - 1].name, name) >= 0)
        return refuse(parser, "names in their order, each once", name);
    if (manifest->file_count == VENDOR_FILES_MAX)
        return refuse(parser, "at most 200000 files", name);
    if (manifest->file_count == *capacity) {
        size_t larger = *capacity ? *capacity * 2 : 64;
        struct manifest_file *files = realloc(manifest->files, larger * sizeof *files);
        if (!files)
            return error_set(parser->error, ERROR_RUN, "%s: out of memory", parser->path);
        manifest->files = files;
        *capacity = larger;
    }
    struct manifest_file *file = &manifest->files[manifest->file_count++];
    snprintf(file->name, sizeof file->name, "%s", name);
    snprintf(file->sha256, sizeof file->sha256, "%s", line);
    return true;
}

static bool parse_files(struct parser *parser, struct manifest *manifest) {
    static const char expected[] = "'sha256' and a file, or 'end' and their number";
    size_t capacity = 0;
    for (char *line; (line = next_line(parser, expected));) {
        char end[32];
        if (strncmp(line, "sha256 ", 7) == 0) {
            if (!parse_file(parser, line + 7, manifest, &capacity))
                return false;
            continue;
        }
        snprintf(end, sizeof end, "end %zu", manifest->file_count);
        if (strcmp(line, end) != 0)
            return refuse(parser, strncmp(line, "end ", 4) == 0 ? end : expected, line);
        parser->number++;
        return *parser->rest == '\0' || refuse(parser, "nothing after the end", parser->rest);
    }
    return false;
}

static bool parse_format(struct parser *parser) {
    const char *line = next_line(parser, "'" FIRST_LINE "'");
    if (!line || strcmp(line, FIRST_LINE) == 0)
        return line != NULL;
    const char *digits = strncmp(line, FORMAT, strlen(FORMAT)) == 0 ? line + strlen(FORMAT) : "";
    size_t count = strspn(digits, "0123456789");
    if (count > 0 && count < 9 && !digits[count] && *digits != '0' && atoi(digits) > 1)
        return refuse_newer(parser, atoi(digits));
    return refuse(parser, "'" FIRST_LINE "'", line);
}

bool manifest_parse(const char *path, const char *bytes, size_t length, struct manifest *manifest,
                    struct error *error) {
    *manifest = (struct manifest){0};
    char *copy = malloc(length + 1);
    if (!copy)
        return error_set(error, ERROR_RUN, "%s: out of memory", path);
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    struct parser parser = {.path = path, .error = error, .rest = copy};
    const char *version = NULL;
    bool done = parse_format(&parser);
    done = done && (version = line_after(&parser, "made-by fmhagen ", "'made-by fmhagen' and a version")) != NULL;
    if (done && (!*version || strlen(version) >= sizeof manifest->version || version[text_plain_length(version)]))
        done = refuse(&parser, "a version such as 0.1.0", version);
    if (done)
        snprintf(manifest->version, sizeof manifest->version, "%s", version);
    done = done && parse_command(&parser, manifest) && parse_files(&parser, manifest);
    if (done && (size_t)(parser.rest - copy) != length)
        done = refuse(&parser, "nothing after the end", "a NUL");
    free(copy);
    return done;
}

void manifest_free(struct manifest *manifest) {
    for (size_t i = 0; i < manifest->word_count; i++)
        free(manifest->words[i]);
    free(manifest->words);
    free(manifest->files);
    *manifest = (struct manifest){0};
}

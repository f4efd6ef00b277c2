#include "choices.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "driver.h"
#include "file.h"
#include "lock.h"

#define BYTES_MAX      ((size_t)16 << 20)
#define NAME_MAX_BYTES 255
#define TEXT_MAX_BYTES 1024
#define LOCK_SECONDS   10

const char *const fmha_choice_units[3] = {"bound", "cycles", "us"};

static const char *const length_names[FMHA_CHOICE_LENGTHS] = {"batch", "heads_q", "heads_k", "seqlen_q", "seqlen_k"};

/* ---- Sets ------------------------------------------------------------------------------------------------ */

void fmha_choices_free(struct fmha_choices *choices) {
    for (size_t i = 0; i < choices->count; i++) {
        free(choices->list[i].texts);
    }
    free(choices->list);
    *choices = (struct fmha_choices){0};
}

bool fmha_choices_add(struct fmha_choices *choices, const struct fmha_choice *choice) {
    if (choices->count == choices->capacity) {
        size_t capacity = choices->capacity * 2 + 16;
        struct fmha_choice *larger = realloc(choices->list, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        choices->list = larger;
        choices->capacity = capacity;
    }
    struct fmha_choice *added = &choices->list[choices->count];
    *added = *choice;
    const char **const texts[] = {&added->chip, &added->driver, &added->name, &added->version, &added->file};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bytes += strlen(*texts[i]) + 1;
    }
    char *to = malloc(bytes);
    added->texts = to;
    if (to == NULL) {
        return false;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t length = strlen(*texts[i]) + 1;
        memcpy(to, *texts[i], length);
        *texts[i] = to;
        to += length;
    }
    choices->count++;
    return true;
}

int fmha_choice_compare_problem(const struct fmha_choice *left, const struct fmha_choice *right) {
    int order = memcmp(&left->key, &right->key, sizeof left->key);
    for (int i = 0; i < FMHA_CHOICE_LENGTHS && order == 0; i++) {
        order = left->length[i] < right->length[i] ? -1 : left->length[i] > right->length[i];
    }
    return order;
}

int fmha_choice_compare(const struct fmha_choice *left, const struct fmha_choice *right) {
    int order = fmha_choice_compare_problem(left, right);
    if (order != 0) {
        return order;
    }
    if (left->unit != right->unit) {
        return left->unit > right->unit ? -1 : 1;
    }
    if (left->time != right->time) {
        return left->time > right->time ? -1 : 1;
    }
    if (left->figure != right->figure) {
        return left->figure < right->figure ? -1 : 1;
    }
    order = strcmp(left->name, right->name);
    return order != 0 ? order : strcmp(left->file, right->file);
}

static int compare(const void *left, const void *right) {
    return fmha_choice_compare(left, right);
}

void fmha_choices_settle(struct fmha_choices *choices) {
    if (choices->count == 0) {
        return;
    }
    qsort(choices->list, choices->count, sizeof choices->list[0], compare);
    size_t kept = 1;
    for (size_t i = 1; i < choices->count; i++) {
        if (fmha_choice_compare_problem(&choices->list[kept - 1], &choices->list[i]) == 0) {
            free(choices->list[i].texts);
        } else {
            choices->list[kept++] = choices->list[i];
        }
    }
    choices->count = kept;
}

void fmha_choice_describe(const struct fmha_choice *choice, char *text, size_t room) {
    static const char *const kinds[] = {"modelled, bound", "counted", "measured"};
    const int64_t *length = choice->length;
    snprintf(text, room, "%s %" PRIu64 ".%03u%s%s at %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "%s%s%s",
             kinds[choice->unit], choice->figure / 1000, (unsigned)(choice->figure % 1000),
             choice->unit == FMHA_CHOICE_BOUND ? "" : " ",
             choice->unit == FMHA_CHOICE_BOUND ? "" : fmha_choice_units[choice->unit], length[0], length[1], length[2],
             length[3], length[4], choice->file[0] != '\0' ? " (" : "", choice->file,
             choice->file[0] != '\0' ? ")" : "");
}

/* ---- Parsing --------------------------------------------------------------------------------------------- */

struct reader {
    const char *path;
    int number;               /* of the line */
    const char *cursor, *end; /* of the line */
};

static bool refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the error; always false. */
static bool refuse(const struct reader *reader, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    fmha_fail(FMHA_ERROR_IO, "%s:%d: %s; correct or delete the line, or make the file anew with `fmhagen tune`",
              reader->path, reader->number, what);
    return false;
}

static bool refuse_word(const struct reader *reader, const char *expected) {
    size_t left = (size_t)(reader->end - reader->cursor);
    const char *blank = left > 0 ? memchr(reader->cursor, ' ', left) : NULL;
    size_t length = blank != NULL ? (size_t)(blank - reader->cursor) : left;
    return length == 0
               ? refuse(reader, "expected %s, got the end of the line", expected)
               : refuse(reader, "expected %s, got '%.*s'", expected, length < 80 ? (int)length : 80, reader->cursor);
}

static bool take(struct reader *reader, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->cursor) < length || memcmp(reader->cursor, word, length) != 0) {
        return false;
    }
    reader->cursor += length;
    return true;
}

/* Whether " NAME=" comes next. */
static bool comes_next(const struct reader *reader, const char *name) {
    struct reader at = *reader;
    return take(&at, " ") && take(&at, name) && take(&at, "=");
}

/* " NAME=" or what comes first on a line, then the value, up to the next blank. */
static bool take_value(struct reader *reader, const char *name, const char **value, size_t *length) {
    char expected[64];
    struct reader at = *reader;
    snprintf(expected, sizeof expected, "%s=", name);
    if (!take(&at, " ") || !take(&at, expected)) {
        snprintf(expected, sizeof expected, "'%s='", name);
        take(reader, " ");
        return refuse_word(reader, expected);
    }
    size_t left = (size_t)(at.end - at.cursor);
    const char *blank = left > 0 ? memchr(at.cursor, ' ', left) : NULL;
    *value = at.cursor;
    *length = blank != NULL ? (size_t)(blank - at.cursor) : left;
    at.cursor += *length;
    *reader = at;
    return true;
}

/* Digits without a zero before them. */
static bool parse_number(const char *text, size_t length, int64_t maximum, int64_t *number) {
    int64_t value = 0;
    if (length == 0 || (length > 1 && text[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[i] - '0', &value) || value > maximum) {
            return false;
        }
    }
    *number = value;
    return true;
}

static bool take_number(struct reader *reader, const char *name, int64_t minimum, int64_t maximum, int64_t *number) {
    const char *value;
    size_t length;
    if (!take_value(reader, name, &value, &length)) {
        return false;
    }
    if (parse_number(value, length, maximum, number) && *number >= minimum) {
        return true;
    }
    return refuse(reader, "expected a whole number from %" PRId64 " to %" PRId64 " as %s, got '%.*s'", minimum, maximum,
                  name, length < 80 ? (int)length : 80, value);
}

/* "12" or "12.345", at most three decimals. */
static bool take_figure(struct reader *reader, uint64_t *figure) {
    const char *value;
    size_t length, whole;
    int64_t number, thousandths = 0;
    if (!take_value(reader, "figure", &value, &length)) {
        return false;
    }
    const char *point = length > 0 ? memchr(value, '.', length) : NULL;
    whole = point != NULL ? (size_t)(point - value) : length;
    bool good = parse_number(value, whole, INT64_MAX / 2000, &number);
    size_t decimals = point != NULL ? length - whole - 1 : 0;
    good = good && (point == NULL || (decimals >= 1 && decimals <= 3));
    for (size_t i = 0; good && i < 3; i++) {
        char digit = i < decimals ? point[1 + i] : '0';
        good = digit >= '0' && digit <= '9';
        thousandths = thousandths * 10 + (digit - '0');
    }
    if (!good) {
        return refuse(reader, "expected a number with at most three decimals as figure, got '%.*s'",
                      length < 80 ? (int)length : 80, value);
    }
    *figure = (uint64_t)number * 1000 + (uint64_t)thousandths;
    return true;
}

/* A word of letters, digits and the characters `also`, copied. */
static bool take_word(struct reader *reader, const char *name, const char *also, char text[NAME_MAX_BYTES + 1]) {
    const char *value;
    size_t length;
    if (!take_value(reader, name, &value, &length)) {
        return false;
    }
    bool good = length >= 1 && length <= NAME_MAX_BYTES;
    for (size_t i = 0; good && i < length; i++) {
        char c = value[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c != '\0' && strchr(also, c) != NULL);
    }
    if (!good) {
        return refuse(reader, "expected 1 to %d letters, digits and '%s' as %s, got '%.*s'", NAME_MAX_BYTES, also, name,
                      length < 80 ? (int)length : 80, value);
    }
    memcpy(text, value, length);
    text[length] = '\0';
    return true;
}

static bool take_key(struct reader *reader, struct fmha_key *key) {
    for (int field = 0; field < FMHA_KEY_FIELDS; field++) {
        const char *value, *name = fmha_key_field_names[field];
        size_t length;
        if (field >= FMHA_KEY_FIELDS_FIRST && !comes_next(reader, name)) {
            continue;
        }
        if (!take_value(reader, name, &value, &length)) {
            return false;
        }
        if (!fmha_key_set_value(key, field, value, length) || !fmha_key_has(key, field)) {
            return refuse(reader, "expected a value of %s that this libfmha knows, got '%.*s'", name,
                          length < 80 ? (int)length : 80, value);
        }
    }
    return true;
}

static bool take_unit(struct reader *reader, uint8_t *unit) {
    const char *value;
    size_t length;
    if (!take_value(reader, "unit", &value, &length)) {
        return false;
    }
    for (uint8_t i = 0; i < 3; i++) {
        if (strlen(fmha_choice_units[i]) == length && memcmp(fmha_choice_units[i], value, length) == 0) {
            *unit = i;
            return true;
        }
    }
    return refuse(reader, "expected us, cycles or bound as unit, got '%.*s'", length < 80 ? (int)length : 80, value);
}

static bool take_version(struct reader *reader, char text[TEXT_MAX_BYTES]) {
    size_t length;
    if (!take(reader, " version=") || reader->cursor == reader->end) {
        take(reader, " ");
        return refuse_word(reader, "'version=' and a text");
    }
    length = (size_t)(reader->end - reader->cursor);
    if (length >= TEXT_MAX_BYTES) {
        return refuse(reader, "expected at most %d bytes as version, got %zu", TEXT_MAX_BYTES - 1, length);
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)reader->cursor[i];
        if (c < ' ' || c == 0x7f) {
            return refuse(reader, "expected a text without control characters as version, got byte %d in it", c);
        }
    }
    memcpy(text, reader->cursor, length);
    text[length] = '\0';
    return true;
}

static bool read_choice(struct reader *reader, struct fmha_choices *choices, bool *enough) {
    struct fmha_choice choice = {.file = reader->path};
    char chip[NAME_MAX_BYTES + 1], driver[NAME_MAX_BYTES + 1], name[NAME_MAX_BYTES + 1], version[TEXT_MAX_BYTES];
    int64_t runs;
    if (!take(reader, "choice")) {
        return refuse_word(reader, "'choice' or a comment that begins with '#'");
    }
    fmha_key_init(&choice.key);
    if (!take_word(reader, "chip", ":+-_", chip)) {
        return false;
    }
    if (!fmha_key_set_target(&choice.key, chip)) {
        return refuse(reader, "expected a target as chip, got '%s'", chip);
    }
    if (!take_word(reader, "driver", "_", driver) || !take_key(reader, &choice.key)) {
        return false;
    }
    for (int i = 0; i < FMHA_CHOICE_LENGTHS; i++) {
        if (!take_number(reader, length_names[i], i == FMHA_VALUE_HEADS_K, INT64_MAX, &choice.length[i])) {
            return false;
        }
    }
    if (!take_word(reader, "instance", "_", name) || !take_figure(reader, &choice.figure) ||
        !take_unit(reader, &choice.unit) || !take_number(reader, "runs", 0, UINT32_MAX, &runs) ||
        !take_number(reader, "time", 0, INT64_MAX, &choice.time) || !take_version(reader, version)) {
        return false;
    }
    if ((choice.unit == FMHA_CHOICE_BOUND) != (strcmp(driver, "any") == 0)) {
        return refuse(reader, "expected driver=any with unit=bound and a driver's name with any other, got %s and %s",
                      driver, fmha_choice_units[choice.unit]);
    }
    choice.runs = (uint32_t)runs;
    choice.chip = chip;
    choice.driver = driver;
    choice.name = name;
    choice.version = version;
    *enough = fmha_choices_add(choices, &choice);
    return *enough;
}

static bool read_line(struct reader *reader, struct fmha_choices *choices, bool *enough) {
    int64_t version;
    if (reader->number > 1) {
        bool nothing = reader->cursor == reader->end || reader->cursor[0] == '#';
        return nothing || read_choice(reader, choices, enough);
    }
    if (!take(reader, "fmha-choices ") ||
        !parse_number(reader->cursor, (size_t)(reader->end - reader->cursor), INT64_MAX, &version)) {
        reader->cursor = reader->end - reader->cursor > 80 ? reader->end - 80 : reader->cursor;
        return refuse(reader, "expected 'fmha-choices %d'", FMHA_CHOICES_VERSION);
    }
    if (version != FMHA_CHOICES_VERSION) {
        return refuse(reader,
                      "expected choices of format version %d, which this libfmha reads, got version %" PRId64
                      "; use the libfmha of the fmhagen that made them",
                      FMHA_CHOICES_VERSION, version);
    }
    return true;
}

fmha_status fmha_choices_parse(const char *path, const char *text, size_t bytes, struct fmha_choices *choices) {
    const char *end = text + bytes;
    size_t before = choices->count;
    struct reader reader = {.path = path};
    bool good = true, enough = true;
    if (bytes > BYTES_MAX) {
        return fmha_fail(FMHA_ERROR_IO, "%s: expected at most %zu bytes, got %zu; delete it and tune anew", path,
                         BYTES_MAX, bytes);
    }
    for (const char *line = text; good && (line < end || reader.number == 0);) {
        const char *newline = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
        reader.number++;
        reader.cursor = line;
        reader.end = newline != NULL ? newline : end;
        good = newline != NULL || line == end ? true : refuse(&reader, "expected a line's end, got that of a cut file");
        good = good && read_line(&reader, choices, &enough);
        line = newline != NULL ? newline + 1 : end;
    }
    while (!good && choices->count > before) {
        free(choices->list[--choices->count].texts);
    }
    if (!enough) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its choices", path);
    }
    return good ? FMHA_OK : FMHA_ERROR_IO;
}

fmha_status fmha_choices_read(const char *path, struct fmha_choices *choices, bool *found) {
    void *text;
    size_t bytes;
    bool there = access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
    if (found != NULL) {
        *found = there;
    }
    if (!there) {
        return FMHA_OK;
    }
    fmha_status status = fmha_file_read(path, &text, &bytes);
    if (status == FMHA_OK) {
        status = fmha_choices_parse(path, text, bytes, choices);
        free(text);
    }
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

static void write_choice(FILE *file, const struct fmha_choice *choice) {
    fprintf(file, "choice chip=%s driver=%s", choice->chip, choice->driver);
    for (int field = 0; field < FMHA_KEY_FIELDS; field++) {
        char value[FMHA_KEY_VALUE_BYTES];
        fmha_key_value(&choice->key, field, value);
        if (fmha_key_has(&choice->key, field)) {
            fprintf(file, " %s=%s", fmha_key_field_names[field], value);
        }
    }
    for (int i = 0; i < FMHA_CHOICE_LENGTHS; i++) {
        fprintf(file, " %s=%" PRId64, length_names[i], choice->length[i]);
    }
    fprintf(file, " instance=%s figure=%" PRIu64, choice->name, choice->figure / 1000);
    if (choice->figure % 1000 != 0) {
        fprintf(file, ".%03u", (unsigned)(choice->figure % 1000));
    }
    fprintf(file, " unit=%s runs=%u time=%" PRId64 " version=", fmha_choice_units[choice->unit], choice->runs,
            choice->time);
    size_t length = strlen(choice->version);
    for (size_t i = 0; i < length && i < TEXT_MAX_BYTES - 1; i++) {
        unsigned char c = (unsigned char)choice->version[i];
        fputc(c < ' ' || c == 0x7f ? '?' : c, file);
    }
    fputs(length == 0 ? "unknown\n" : "\n", file);
}

/* The whole file; the comments of the one before stay, above. NULL when there is no memory. */
static char *format_file(const char *before, const struct fmha_choices *choices, size_t *bytes) {
    char *text = NULL;
    FILE *file = open_memstream(&text, bytes);
    if (file == NULL) {
        return NULL;
    }
    fprintf(file, "fmha-choices %d\n", FMHA_CHOICES_VERSION);
    for (const char *line = before; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (line[0] == '#') {
            fprintf(file, "%.*s\n", (int)length, line);
        }
        line += length + (line[length] == '\n');
    }
    for (size_t i = 0; i < choices->count; i++) {
        write_choice(file, &choices->list[i]);
    }
    bool failed = ferror(file) != 0;
    failed = fclose(file) != 0 || failed;
    if (failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* A newer choice that says what the older one says leaves it as it is, so that a file that would not change otherwise
 * does not change. */
static void keep_times(const struct fmha_choices *old, struct fmha_choices *merged) {
    size_t at = 0;
    for (size_t i = 0; i < old->count; i++) {
        const struct fmha_choice *was = &old->list[i];
        while (at < merged->count && fmha_choice_compare_problem(&merged->list[at], was) < 0) {
            at++;
        }
        struct fmha_choice *is = at < merged->count ? &merged->list[at] : NULL;
        if (is != NULL && fmha_choice_compare_problem(is, was) == 0 && is->unit == was->unit &&
            is->figure == was->figure && is->runs == was->runs && strcmp(is->name, was->name) == 0 &&
            strcmp(is->driver, was->driver) == 0 && strcmp(is->version, was->version) == 0) {
            is->time = was->time;
        }
    }
}

static bool add_all(struct fmha_choices *to, const struct fmha_choices *from) {
    bool enough = true;
    for (size_t i = 0; i < from->count && enough; i++) {
        enough = fmha_choices_add(to, &from->list[i]);
    }
    return enough;
}

/* -1 with an error when the lock of those who save cannot be had. */
static int take_lock(const char *path) {
    int file;
    switch (fmha_lock_take(AT_FDCWD, path, INT64_C(1000) * LOCK_SECONDS, &file)) {
    case FMHA_LOCK_TAKEN:
        break;
    case FMHA_LOCK_HELD:
        fmha_fail(FMHA_ERROR_IO, "%s: another process has held it for %d seconds; end it, then save again", path,
                  LOCK_SECONDS);
        break;
    case FMHA_LOCK_NO_FILE:
        fmha_fail(FMHA_ERROR_IO, "%s: cannot be made: %s; choose another file for the choices", path, strerror(errno));
        break;
    case FMHA_LOCK_UNSUPPORTED:
        fmha_fail(FMHA_ERROR_IO, "%s: cannot be locked: %s; choose a file on another file system", path,
                  strerror(errno));
        break;
    }
    return file;
}

static fmha_status write_whole(const char *path, const char *text, size_t bytes) {
    char temporary[PATH_MAX];
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary) {
        return fmha_fail(FMHA_ERROR_IO, "%s: the path is too long; choose another file", path);
    }
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        return fmha_fail(FMHA_ERROR_IO, "%s: cannot be written: %s; choose another file", path, strerror(errno));
    }
    struct stat old;
    fchmod(file, stat(path, &old) == 0 ? old.st_mode & 0777 : 0644);
    close(file);
    fmha_status status = fmha_file_write(temporary, text, bytes);
    if (status != FMHA_OK) {
        unlink(temporary);
        return status;
    }
    return fmha_file_publish(temporary, path);
}

/* The lock is held. */
static fmha_status merge_into(const char *path, const struct fmha_choices *choices) {
    struct fmha_choices old = {0}, merged = {0};
    void *before = NULL;
    char *text = NULL;
    size_t bytes = 0;
    fmha_status status = FMHA_OK;
    if (access(path, F_OK) == 0 || errno != ENOENT) {
        status = fmha_file_read(path, &before, &bytes);
    }
    if (status == FMHA_OK && before != NULL) {
        status = fmha_choices_parse(path, before, bytes, &old);
    }
    if (status == FMHA_OK) {
        bool enough = add_all(&merged, &old) && add_all(&merged, choices);
        fmha_choices_settle(&old);
        fmha_choices_settle(&merged);
        keep_times(&old, &merged);
        text = enough ? format_file(before, &merged, &bytes) : NULL;
        status = text != NULL ? write_whole(path, text, bytes)
                              : fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its choices", path);
    }
    free(text);
    free(before);
    fmha_choices_free(&old);
    fmha_choices_free(&merged);
    return status;
}

fmha_status fmha_choices_save(const char *path, const struct fmha_choices *choices) {
    char lock[PATH_MAX];
    if (snprintf(lock, sizeof lock, "%s.lock", path) >= (int)sizeof lock) {
        return fmha_fail(FMHA_ERROR_IO, "%s: the path is too long; choose another file", path);
    }
    int file = take_lock(lock);
    if (file < 0) {
        return FMHA_ERROR_IO;
    }
    fmha_status status = merge_into(path, choices);
    fmha_lock_release(AT_FDCWD, lock, file);
    return status;
}

bool fmha_choices_own_path(const char *arch, char *path, size_t path_bytes) {
    char cache[PATH_MAX];
    if (!fmha_cache_folder(cache, sizeof cache)) {
        snprintf(path, path_bytes, "%s", cache);
        return false;
    }
    char *slash = strrchr(cache, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    if (snprintf(path, path_bytes, "%s/choices/%.*s", cache, (int)strcspn(arch, ":"), arch) < (int)path_bytes) {
        return true;
    }
    snprintf(path, path_bytes, "its path is too long");
    return false;
}

#include "library_folder.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "choices.h"
#include "index.h"
#include "library_choices.h"

#define INDEX_MARK "fmha-index "

char *library_join(const char *folder, const char *processor, const char *name, const char *suffix,
                   struct error *error) {
    struct text path = {0};
    text_puts(&path, folder);
    const char *slash = *folder && folder[strlen(folder) - 1] == '/' ? "" : "/";
    if (*processor)
        text_printf(&path, "%s%s", slash, processor);
    if (*name || *suffix)
        text_printf(&path, "%s%s%s", *processor ? "/" : slash, name, suffix);
    if (!path.failed)
        return path.bytes;
    text_free(&path);
    error_set(error, ERROR_RUN, "%s: out of memory", folder);
    return NULL;
}

bool library_file_read(const char *path, char **bytes, size_t *length) {
    struct stat status;
    struct error ignored;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && file_read(path, bytes, length, &ignored);
}

/* ---- What fmhagen made ---- */

static void copy_member(const cJSON *root, const char *name, char *to, size_t size) {
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(root, name);
    snprintf(to, size, "%s", cJSON_IsString(member) ? member->valuestring : "");
}

bool library_record_read(const char *path, struct library_record *record) {
    char *bytes;
    size_t length;
    memset(record, 0, sizeof *record);
    if (!library_file_read(path, &bytes, &length))
        return false;
    cJSON *root = cJSON_ParseWithLength(bytes, length);
    free(bytes);
    bool ours = cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(root, "fmha"));
    copy_member(root, "symbol", record->symbol, sizeof record->symbol);
    copy_member(root, "source_hash", record->source_hash, sizeof record->source_hash);
    copy_member(root, "object_hash", record->object_hash, sizeof record->object_hash);
    copy_member(root, "compiler", record->compiler, sizeof record->compiler);
    const cJSON *flag;
    cJSON_ArrayForEach(flag, cJSON_GetObjectItemCaseSensitive(root, "flags")) {
        size_t end = strlen(record->flags);
        snprintf(record->flags + end, sizeof record->flags - end, "%s%s", end ? " " : "",
                 cJSON_IsString(flag) ? flag->valuestring : "");
    }
    cJSON_Delete(root);
    return ours && record->source_hash[0];
}

static bool begins_with(const char *path, const char *mark) {
    char *bytes;
    size_t length;
    if (!library_file_read(path, &bytes, &length))
        return false;
    bool same = strncmp(bytes, mark, strlen(mark)) == 0;
    free(bytes);
    return same;
}

static bool owns_interface(const char *path, const char *name) {
    struct library_record record;
    return library_record_read(path, &record) && strcmp(record.symbol, name) == 0;
}

static bool owns_source(const char *path, const char *name) {
    char mark[SPEC_NAME_MAX + 64];
    snprintf(mark, sizeof mark, "/* %s\n *\n * Made by fmhagen ", name);
    return begins_with(path, mark);
}

/* One of the files of an instance. A code object says nothing of who made it: the interface beside it does. */
static bool owns(const char *folder, const char *processor, const char *name, const char *suffix) {
    struct error ignored;
    char *path = library_join(folder, processor, name,
                              strcmp(suffix, LIBRARY_SUFFIX_OBJECT) ? suffix : LIBRARY_SUFFIX_INTERFACE, &ignored);
    bool ours = path && (strcmp(suffix, LIBRARY_SUFFIX_SOURCE) ? owns_interface(path, name) : owns_source(path, name));
    free(path);
    return ours;
}

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

static bool refuse(const char *path, struct error *error) {
    return error_set(error, ERROR_RUN,
                     "%s: expected a file that fmhagen made or none, got another's file, which is left as it is; "
                     "move it, or choose another folder",
                     path);
}

static bool claim(const char *folder, const char *processor, const char *name, const char *mark, struct error *error) {
    char *path = library_join(folder, processor, name, "", error);
    bool done = path && (!exists(path) || begins_with(path, mark) || refuse(path, error));
    free(path);
    return done;
}

bool library_claim_folder(const char *folder, struct error *error) {
    struct stat status;
    if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
        return error_set(error, ERROR_RUN, "%s: expected a folder, got a file; choose another folder", folder);
    return claim(folder, "", LIBRARY_NINJA_FILE, LIBRARY_NINJA_MARK, error);
}

bool library_claim_index(const char *folder, const char *processor, struct error *error) {
    struct stat status;
    char *path = library_join(folder, processor, "", "", error);
    bool done = path && (stat(path, &status) != 0 || S_ISDIR(status.st_mode) ||
                         error_set(error, ERROR_RUN, "%s: expected a folder, got a file; choose another folder", path));
    free(path);
    return done && claim(folder, processor, FMHA_INDEX_FILE, INDEX_MARK, error);
}

bool library_claim_instance(const char *folder, const char *processor, const char *name, struct error *error) {
    static const char *const suffixes[] = {LIBRARY_SUFFIX_SOURCE, LIBRARY_SUFFIX_INTERFACE, LIBRARY_SUFFIX_OBJECT,
                                           NULL};
    bool done = true;
    for (int i = 0; done && suffixes[i]; i++) {
        char *path = library_join(folder, processor, name, suffixes[i], error);
        done = path && (!exists(path) || owns(folder, processor, name, suffixes[i]) || refuse(path, error));
        free(path);
    }
    return done;
}

/* ---- What a library no longer needs ---- */

struct search {
    const char *folder, *processor;
    library_wanted wanted;
    const void *context;
    bool (*found)(void *sink, const char *path, struct error *error);
    void *sink;
};

/* Length of the file's own name in "NAME.1234.0.tmp", as file_write names what it has not finished; 0: another name. */
static size_t unfinished(const char *file) {
    size_t length = strlen(file);
    if (length < 4 || strcmp(file + length - 4, ".tmp") != 0)
        return 0;
    length -= 4;
    for (int part = 0; part < 2; part++) {
        size_t end = length;
        while (length > 0 && isdigit((unsigned char)file[length - 1]))
            length--;
        if (length == end || length < 2 || file[--length] != '.')
            return 0;
    }
    return length;
}

/* Whether a file in the processor's folder is one of fmhagen's that the library does not need. */
static bool is_leftover(const struct search *search, const char *file) {
    static const char *const suffixes[] = {LIBRARY_SUFFIX_SOURCE, LIBRARY_SUFFIX_INTERFACE, LIBRARY_SUFFIX_OBJECT,
                                           NULL};
    size_t length = unfinished(file);
    bool whole = length == 0;
    length = whole ? strlen(file) : length;
    char name[SPEC_NAME_MAX + 8];
    if (length >= sizeof name)
        return false;
    memcpy(name, file, length);
    name[length] = '\0';
    if (strcmp(name, FMHA_INDEX_FILE) == 0) {
        struct error ignored;
        return !whole || (!search->wanted(search->context, search->processor, "") &&
                          library_claim_index(search->folder, search->processor, &ignored));
    }
    if (strcmp(name, FMHA_CHOICES_FILE) == 0)
        return !whole || (!search->wanted(search->context, search->processor, "") &&
                          library_choices_mine(search->folder, search->processor));
    for (int i = 0; suffixes[i]; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (strncmp(name, "fmha_", 5) != 0 || length <= suffix || strcmp(name + length - suffix, suffixes[i]) != 0)
            continue;
        name[length - suffix] = '\0';
        return !whole || (!search->wanted(search->context, search->processor, name) &&
                          owns(search->folder, search->processor, name, suffixes[i]));
    }
    return false;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, sorted, of which `prefix` begins each. */
static bool list(const char *path, const char *prefix, char ***names, size_t *count, struct error *error) {
    *names = NULL;
    *count = 0;
    DIR *stream = opendir(path);
    if (!stream)
        return errno == ENOENT || errno == ENOTDIR ||
               error_set(error, ERROR_RUN, "%s: expected a readable folder, got: %s", path, strerror(errno));
    bool done = true;
    const struct dirent *entry;
    while (done && (entry = readdir(stream))) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        char **longer = realloc(*names, (*count + 1) * sizeof *longer);
        char *name = longer ? strdup(entry->d_name) : NULL;
        *names = longer ? longer : *names;
        done = name || error_set(error, ERROR_RUN, "%s: out of memory", path);
        if (name)
            (*names)[(*count)++] = name;
    }
    closedir(stream);
    if (*count)
        qsort(*names, *count, sizeof **names, compare_names);
    return done;
}

static void list_free(char **names, size_t count) {
    while (count > 0)
        free(names[--count]);
    free(names);
}

/* Of an instance all files are judged before one is reported: what a code object is, its interface says. */
static bool search_processor(const struct search *search, struct error *error) {
    char **names = NULL;
    size_t count = 0, kept = 0;
    char *path = library_join(search->folder, search->processor, "", "", error);
    bool done = path && list(path, "fmha", &names, &count, error);
    for (size_t i = 0; done && i < count; i++) {
        bool leftover = is_leftover(search, names[i]);
        if (leftover) {
            char *name = names[kept];
            names[kept++] = names[i];
            names[i] = name;
        }
    }
    for (size_t i = 0; done && i < kept; i++) {
        char *file = library_join(search->folder, search->processor, names[i], "", error);
        done = file && search->found(search->sink, file, error);
        free(file);
    }
    list_free(names, count);
    free(path);
    return done;
}

bool library_leftovers(const char *folder, library_wanted wanted, const void *context,
                       bool (*found)(void *sink, const char *path, struct error *error), void *sink,
                       struct error *error) {
    char **names;
    size_t count;
    bool done = list(folder, "gfx", &names, &count, error);
    for (size_t i = 0; done && i < count; i++) {
        struct search search = {folder, names[i], wanted, context, found, sink};
        done = search_processor(&search, error);
    }
    list_free(names, count);
    return done;
}

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "cache_entry.h"
#include "compiler_memo.h"
#include "hash.h"

#define WORDS_LINE "words\n"

const char *const fmha_memo_variables[] = {"CCC_OVERRIDE_OPTIONS",
                                           "COMPILER_PATH",
                                           "CPATH",
                                           "CPLUS_INCLUDE_PATH",
                                           "C_INCLUDE_PATH",
                                           "DEVICE_LIB_PATH",
                                           "GCC_EXEC_PREFIX",
                                           "HIPCC_COMPILE_FLAGS_APPEND",
                                           "HIPCC_LINK_FLAGS_APPEND",
                                           "HIP_CLANG_PATH",
                                           "HIP_DEVICE_LIB_PATH",
                                           "HIP_PATH",
                                           "HIP_PLATFORM",
                                           "LD_LIBRARY_PATH",
                                           "LD_PRELOAD",
                                           "LIBRARY_PATH",
                                           "NVCC_APPEND_FLAGS",
                                           "NVCC_CCBIN",
                                           "NVCC_PREPEND_FLAGS",
                                           "ROCM_PATH",
                                           NULL};

uint64_t fmha_memo_environment(void) {
    const char *path = getenv("PATH");
    uint64_t hash = path != NULL ? fmha_hash(1, path, strlen(path)) : 0;
    for (const char *const *variable = fmha_memo_variables; *variable != NULL; variable++) {
        const char *value = getenv(*variable);
        hash = value != NULL ? fmha_hash(hash, value, strlen(value)) : fmha_hash(hash, "\0unset", sizeof "\0unset");
    }
    return hash;
}

/* ---- What an answer stands on ---------------------------------------------------------------------------- */

/* One line: "file SIZE SECONDS NANOSECONDS INODE PATH"; of a folder, in which only what comes and goes counts, "folder"
 * and size 0; of nothing, "file -1 0 0 0 PATH". */
static int describe(const char *path, char *line, size_t room) {
    struct stat status = {.st_size = -1};
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    return snprintf(line, room, "%s %" PRIdMAX " %" PRIdMAX " %ld %" PRIuMAX " %s\n", folder ? "folder" : "file",
                    folder ? (intmax_t)0 : (intmax_t)status.st_size, (intmax_t)status.st_mtim.tv_sec,
                    status.st_mtim.tv_nsec, (uintmax_t)status.st_ino, path);
}

bool fmha_memo_add_file(char **files, const char *path) {
    size_t before = *files != NULL ? strlen(*files) : 0, room = strlen(path) + 128;
    char *larger = realloc(*files, before + room);
    if (larger == NULL) {
        return false;
    }
    *files = larger;
    describe(path, larger + before, room);
    return true;
}

/* The path in a line that describe() wrote; NULL if it is none. */
static const char *path_in(const char *line) {
    for (int i = 0; i < 5 && line != NULL; i++) {
        line = strchr(line, ' ');
        line = line != NULL ? line + 1 : NULL;
    }
    return line;
}

bool fmha_memo_holds(const char *files) {
    char line[4400], path[4200], now[4400];
    while (*files != '\0') {
        size_t length = strcspn(files, "\n");
        if (files[length] != '\n' || length >= sizeof path) {
            return false;
        }
        memcpy(line, files, length);
        line[length] = '\0';
        const char *named = path_in(line);
        if (named == NULL) {
            return false;
        }
        snprintf(path, sizeof path, "%s", named);
        int described = describe(path, now, sizeof now);
        if (described != (int)length + 1 || memcmp(now, files, length + 1) != 0) {
            return false;
        }
        files += length + 1;
    }
    return true;
}

void fmha_memo_print(fmha_lines *lines, const char *files) {
    for (; *files != '\0'; files += strcspn(files, "\n") + 1) {
        intmax_t bytes, seconds;
        long nanoseconds;
        const char *path = path_in(files);
        if (path != NULL && sscanf(files, "file %" SCNdMAX " %" SCNdMAX " %ld ", &bytes, &seconds, &nanoseconds) == 3 &&
            bytes >= 0) {
            fmha_lines_add(lines, "file %.*s %" PRIdMAX " %" PRIdMAX ".%09ld\n", (int)strcspn(path, "\n"), path, bytes,
                           seconds, nanoseconds);
        }
    }
}

/* ---- Keeping it ------------------------------------------------------------------------------------------ */

static void add_word(fmha_lines *key, const char *name, const char *value) {
    fmha_lines_add(key, "%s%s", name, value);
    fmha_lines_add_bytes(key, "", 1);
}

/* The command, the executable's own state, for machines that share the folder, and the environment. */
static char *make_key(const char *const *argv, size_t *bytes) {
    char *file = NULL;
    if (!fmha_memo_add_file(&file, argv[0])) {
        return NULL;
    }
    fmha_lines key = {0};
    add_word(&key, "compiler", "");
    add_word(&key, file, "");
    free(file);
    for (; *argv != NULL; argv++) {
        add_word(&key, *argv, "");
    }
    const char *path = getenv("PATH");
    add_word(&key, "PATH=", path != NULL ? path : "");
    for (const char *const *variable = fmha_memo_variables; *variable != NULL; variable++) {
        const char *value = getenv(*variable);
        if (value != NULL) {
            add_word(&key, *variable, "=");
            add_word(&key, value, "");
        }
    }
    *bytes = key.length;
    return fmha_lines_take(&key);
}

/* Opens the folder and makes key and name. False when there is no memo; otherwise the caller closes and frees. */
static bool begin(const char *const *argv, int *folder, char **key, size_t *key_bytes, char name[CACHE_NAME_BYTES]) {
    char path[1024], reason[CACHE_REASON_BYTES];
    uint64_t limit_bytes;
    fmha_cache_limit(&limit_bytes);
    if (limit_bytes == 0 || !fmha_cache_folder(path, sizeof path)) {
        return false;
    }
    *folder = fmha_cache_open(path, reason);
    if (*folder < 0) {
        return false;
    }
    *key = make_key(argv, key_bytes);
    if (*key == NULL) {
        close(*folder);
        return false;
    }
    fmha_cache_name(fmha_hash(0, *key, *key_bytes), CACHE_COMPILER, name);
    return true;
}

bool fmha_memo_recall(const char *const *argv, char **words, char **files) {
    char *key, *text, name[CACHE_NAME_BYTES], reason[CACHE_REASON_BYTES];
    size_t key_bytes, bytes;
    int folder;
    void *value;
    if (!begin(argv, &folder, &key, &key_bytes, name)) {
        return false;
    }
    cache_found found = fmha_cache_read(folder, name, key, key_bytes, &value, &bytes, reason);
    free(key);
    close(folder);
    if (found != CACHE_FOUND) {
        return false;
    }
    text = strndup(value, bytes);
    free(value);
    char *at = text;
    while (at != NULL && strncmp(at, WORDS_LINE, strlen(WORDS_LINE)) != 0) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL) {
        free(text);
        return false;
    }
    *words = strdup(at + strlen(WORDS_LINE));
    *at = '\0';
    *files = text;
    if (*words == NULL || !fmha_memo_holds(text)) {
        free(*words);
        free(text);
        return false;
    }
    return true;
}

void fmha_memo_keep(const char *const *argv, const char *words, const char *files) {
    char *key, name[CACHE_NAME_BYTES], reason[CACHE_REASON_BYTES];
    size_t key_bytes;
    int folder;
    if (!begin(argv, &folder, &key, &key_bytes, name)) {
        return;
    }
    fmha_lines value = {0};
    fmha_lines_add(&value, "%s" WORDS_LINE "%s", files, words);
    size_t bytes = value.length;
    char *text = fmha_lines_take(&value);
    if (text != NULL && fmha_cache_write(folder, name, key, key_bytes, text, bytes, reason)) {
        uint64_t limit_bytes;
        fmha_cache_limit(&limit_bytes);
        fmha_cache_clean(folder, limit_bytes, name);
    }
    free(text);
    free(key);
    close(folder);
}

#include <inttypes.h>
#include <stdint.h>
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

void fmha_memo_print(FILE *out, const char *files) {
    for (; *files != '\0'; files += strcspn(files, "\n") + 1) {
        intmax_t bytes, seconds;
        long nanoseconds;
        const char *path = path_in(files);
        if (path != NULL && sscanf(files, "file %" SCNdMAX " %" SCNdMAX " %ld ", &bytes, &seconds, &nanoseconds) == 3 &&
            bytes >= 0) {
            fprintf(out, "file %.*s %" PRIdMAX " %" PRIdMAX ".%09ld\n", (int)strcspn(path, "\n"), path, bytes, seconds,
                    nanoseconds);
        }
    }
}

/* ---- Keeping it ------------------------------------------------------------------------------------------ */

/* The command, the executable's own state, for machines that share the folder, and the environment. */
static char *make_key(const char *const *argv, size_t *bytes) {
    char *key = NULL, *file = NULL;
    FILE *out = fmha_memo_add_file(&file, argv[0]) ? open_memstream(&key, bytes) : NULL;
    if (out != NULL) {
        fprintf(out, "compiler%c%s%c", '\0', file, '\0');
        for (; *argv != NULL; argv++) {
            fprintf(out, "%s%c", *argv, '\0');
        }
        const char *path = getenv("PATH");
        fprintf(out, "PATH=%s%c", path != NULL ? path : "", '\0');
        for (const char *const *variable = fmha_memo_variables; *variable != NULL; variable++) {
            const char *value = getenv(*variable);
            if (value != NULL) {
                fprintf(out, "%s=%s%c", *variable, value, '\0');
            }
        }
        bool failed = ferror(out) != 0;
        if (fclose(out) != 0 || failed) {
            free(key);
            key = NULL;
        }
    }
    free(file);
    return key;
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
    char *key, *value = NULL, name[CACHE_NAME_BYTES], reason[CACHE_REASON_BYTES];
    size_t key_bytes;
    int folder;
    if (!begin(argv, &folder, &key, &key_bytes, name)) {
        return;
    }
    int bytes = asprintf(&value, "%s" WORDS_LINE "%s", files, words);
    if (bytes >= 0) {
        if (fmha_cache_write(folder, name, key, key_bytes, value, (size_t)bytes, reason)) {
            uint64_t limit_bytes;
            fmha_cache_limit(&limit_bytes);
            fmha_cache_clean(folder, limit_bytes, name);
        }
        free(value);
    }
    free(key);
    close(folder);
}

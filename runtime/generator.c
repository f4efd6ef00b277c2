#include "generator.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "cache_entry.h"
#include "compiler.h"
#include "config.h"
#include "driver.h"
#include "file.h"
#include "hash.h"
#include "index.h"
#include "library.h"
#include "lock.h"

#define LIMIT_SECONDS 60
#define WORDS_MAX     48
#define OPTIONS_BYTES 512

/* Appends to a text that has room for it. */
static void add(char *text, size_t text_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add(char *text, size_t text_bytes, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, text_bytes - length, format, arguments);
    va_end(arguments);
}

/* The modifiers, by the options of fmhagen: most have the name of their field and are on when they stand alone. */
static void add_modifiers(const struct fmha_key *key, char *text, size_t text_bytes) {
    static const struct { const char *field, *option; } others[] = {{"attn_mask", "mask"}};
    for (int field = FMHA_KEY_FIELDS_FIRST; field < FMHA_KEY_FIELDS; field++) {
        char value[FMHA_KEY_VALUE_BYTES], option[32];
        if (!fmha_key_has(key, field)) {
            continue;
        }
        snprintf(option, sizeof option, "%s", fmha_key_field_names[field]);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            if (strcmp(option, others[i].field) == 0) {
                snprintf(option, sizeof option, "%s", others[i].option);
            }
        }
        for (char *dash = strchr(option, '_'); dash != NULL; dash = strchr(dash, '_')) {
            *dash = '-';
        }
        fmha_key_value(key, field, value);
        bool bare = strcmp(value, "on") == 0 || strcmp(value, "sliding") == 0;
        add(text, text_bytes, " --%s%s%s", option, bare ? "" : "=", bare ? "" : value);
    }
}

void fmha_generator_options(const struct fmha_key *key, const char *arch, char *text, size_t text_bytes) {
    char value[FMHA_KEY_VALUE_BYTES];
    snprintf(text, text_bytes, "--arch %s", arch);
    if (key->operation != FMHA_KEY_FORWARD) {
        fmha_key_value(key, 0, value);
        add(text, text_bytes, " --op %s", value);
    }
    if (key->dtype != 0) { /* 0: the operation does not have it, as below */
        fmha_key_value(key, 1, value);
        add(text, text_bytes, " --dtype %s", value);
    }
    if (key->head_dim != 0) {
        add(text, text_bytes, " --hd %d", key->head_dim);
    }
    if (key->head_dim_v != key->head_dim && key->head_dim_v != 0) {
        add(text, text_bytes, " --hd-v %d", key->head_dim_v);
    }
    add(text, text_bytes, "%s%s%s",
        key->mask == FMHA_KEY_CAUSAL_BOTTOM_RIGHT ? " --causal"
        : key->mask == FMHA_KEY_CAUSAL_TOP_LEFT   ? " --causal=top-left"
                                                  : "",
        key->v_layout == FMHA_KEY_V_TRANSPOSED ? " --v-layout transposed" : "", key->align == 16 ? "" : " --align 2");
    struct fmha_key known = *key;
    known.modifier = 0; /* of which only its hash is known */
    add_modifiers(&known, text, text_bytes);
}

void fmha_generator_cure(const struct fmha_key *key, const char *arch, char text[FMHA_GENERATOR_CURE_BYTES]) {
    char options[OPTIONS_BYTES];
    if (!fmha_key_can_be_served(key)) {
        snprintf(text, FMHA_GENERATOR_CURE_BYTES,
                 "no kernel serves such a head dimension; pad it to a multiple of %d up to %d, that of V up to %d",
                 FMHA_KEY_HEAD_DIM_STEP, FMHA_KEY_HEAD_DIM_MAX, FMHA_KEY_HEAD_DIM_V_MAX);
        return;
    }
    fmha_generator_options(key, arch, options, sizeof options);
    int length = snprintf(text, FMHA_GENERATOR_CURE_BYTES,
                          "make one with `fmhagen library DIR %s%s` and name DIR in "
                          "FMHA_LIBRARY_PATH",
                          options, key->modifier != 0 ? " --modifier FILE" : "");
    if (key->modifier != 0) {
        snprintf(text + length, FMHA_GENERATOR_CURE_BYTES - (size_t)length,
                 ", FILE being the modifier whose hash is %08x", (unsigned)key->modifier);
    }
}

static bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool find_on_path(char program[PATH_MAX]) {
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        int written = snprintf(program, PATH_MAX, "%.*s/fmhagen", (int)length, path);
        if (length > 0 && written < PATH_MAX && is_program(program)) {
            return true;
        }
        path += length + (path[length] == ':');
    }
    return false;
}

static bool find_program(char program[PATH_MAX]) {
    static const char *const beside[] = {"fmhagen", FMHA_PROGRAM_BESIDE "/fmhagen"};
    const char *chosen = getenv("FMHA_GENERATOR");
    char own[PATH_MAX];
    if (chosen != NULL && chosen[0] != '\0') {
        return snprintf(program, PATH_MAX, "%s", chosen) < PATH_MAX && is_program(program);
    }
    if (fmha_library_own_folder(own)) {
        for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
            if (snprintf(program, PATH_MAX, "%s/%s", own, beside[i]) < PATH_MAX && is_program(program)) {
                return true;
            }
        }
    }
    return find_on_path(program);
}

/* A folder of its own for each key and each fmhagen, so that an upgraded one makes its instances anew. */
static fmha_status name_folder(const char *program, const char *options, char **folder) {
    char cache[PATH_MAX], text[PATH_MAX + OPTIONS_BYTES + 128];
    struct stat file;
    if (!fmha_cache_folder(cache, sizeof cache)) {
        return fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s could make one, but there is no cache to keep it in: %s", program,
                         cache);
    }
    if (stat(program, &file) != 0) {
        return fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s: %s", program, strerror(errno));
    }
    snprintf(text, sizeof text, "%s %lld %lld.%09ld %s", program, (long long)file.st_size,
             (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec, options);
    if (asprintf(folder, "%s/generated/%016llx", cache, (unsigned long long)fmha_hash(0, text, strlen(text))) < 0) {
        *folder = NULL;
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for the name of a folder", program);
    }
    return FMHA_OK;
}

/* FMHA_OK: the folder has instances whose texts are those that its index names. FMHA_ERROR_MEMORY: that cannot be
 * known. Any other status: it is missing, torn or changed. */
static fmha_status check_texts(const char *chip_folder, const struct fmha_index *index) {
    char path[PATH_MAX];
    fmha_status status = fmha_index_count(index) > 0 ? FMHA_OK : FMHA_ERROR_IO;
    for (size_t i = 0; i < fmha_index_count(index) && status == FMHA_OK; i++) {
        const struct fmha_descriptor *instance = fmha_index_at(index, i);
        void *text = NULL;
        size_t bytes;
        status = FMHA_ERROR_IO;
        if (instance->source != NULL &&
            snprintf(path, sizeof path, "%s/%s", chip_folder, instance->source) < (int)sizeof path) {
            status = fmha_file_read(path, &text, &bytes);
        }
        if (status == FMHA_OK &&
            (bytes != instance->source_bytes || fmha_index_hash(text, bytes) != instance->source_hash)) {
            status = FMHA_ERROR_IO;
        }
        free(text);
    }
    return status;
}

static fmha_status check_folder(const char *chip_folder) {
    char path[PATH_MAX];
    void *text;
    size_t bytes;
    struct fmha_index *index;
    if (snprintf(path, sizeof path, "%s/%s", chip_folder, FMHA_INDEX_FILE) >= (int)sizeof path) {
        return FMHA_ERROR_IO;
    }
    fmha_status status = fmha_file_read(path, &text, &bytes);
    if (status != FMHA_OK) {
        return status;
    }
    status = fmha_index_parse(path, text, bytes, &index);
    free(text);
    if (status == FMHA_OK) {
        status = check_texts(chip_folder, index);
        fmha_index_free(index);
    }
    return status;
}

/* Removes what fmhagen names as its own: damaged, it would be another's to it, and left as it is. */
static void empty_folder(const char *chip_folder) {
    int folder = open(chip_folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = folder >= 0 ? fdopendir(folder) : NULL;
    const struct dirent *entry;
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        if (strncmp(entry->d_name, "fmha", 4) == 0) {
            unlinkat(folder, entry->d_name, 0); /* of what stays, fmhagen tells */
        }
    }
    if (stream != NULL) {
        closedir(stream);
    } else if (folder >= 0) {
        close(folder);
    }
}

/* Splits options at blanks; none of their words has one. A lack of memory is told as such, all else as that there is no
 * instance. */
static fmha_status run(const char *program, const char *folder, const char *options) {
    const char *command[WORDS_MAX] = {program, "library", folder, "--no-compile"};
    size_t count = 4;
    char storage[OPTIONS_BYTES], *rest = NULL, *words = NULL;
    int exit_code = 0;
    snprintf(storage, sizeof storage, "%s", options);
    for (char *word = strtok_r(storage, " ", &rest); word != NULL && count < WORDS_MAX - 1;
         word = strtok_r(NULL, " ", &rest)) {
        command[count++] = word;
    }
    fmha_status status = fmha_process_run(command, LIMIT_SECONDS, &words, &exit_code);
    if (status != FMHA_OK) {
        status = status == FMHA_ERROR_MEMORY ? status : fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s", fmha_last_error());
    } else if (exit_code != 0) {
        status = fmha_fail(FMHA_ERROR_NO_INSTANCE, "`%s library DIR %s` ended with exit status %d: %.2000s", program,
                           options, exit_code, words != NULL ? words : "it said nothing");
    }
    free(words);
    return status;
}

/* A fmhagen whose caller was killed may be at work still: it has a lock on the folder itself. */
static void wait_for_orphan(const char *folder) {
    const struct timespec pause = {.tv_nsec = 20 * 1000000};
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; file >= 0 && i < LIMIT_SECONDS * 50; i++) {
        if (flock(file, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    if (file >= 0) {
        close(file);
    }
}

/* Makes the library, if no other process does so meanwhile. Where there can be no lock it is made all the same. */
static fmha_status make_library(const char *program, const char *folder, const char *chip_folder, const char *options,
                                const struct fmha_log *log) {
    char lock[PATH_MAX];
    int file = -1;
    snprintf(lock, sizeof lock, "%s.lock", folder);
    if (fmha_lock_take(AT_FDCWD, lock, INT64_C(1000) * LIMIT_SECONDS, &file) == FMHA_LOCK_HELD) {
        return fmha_fail(FMHA_ERROR_NO_INSTANCE,
                         "%s could make one, but another process has held %s for %d seconds; end it", program, lock,
                         LIMIT_SECONDS);
    }
    wait_for_orphan(folder);
    fmha_status status = check_folder(chip_folder);
    if (status != FMHA_OK && status != FMHA_ERROR_MEMORY) {
        empty_folder(chip_folder);
        fmha_log_line(log, "generator: %s library %s --no-compile %s", program, folder, options);
        status = run(program, folder, options);
        fmha_status made = status == FMHA_OK ? check_folder(chip_folder) : FMHA_OK;
        if (made != FMHA_OK) {
            status = made == FMHA_ERROR_MEMORY
                         ? made
                         : fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s made no instance for %s", program, options);
        }
    }
    if (file >= 0) {
        fmha_lock_release(AT_FDCWD, lock, file);
    }
    return status;
}

fmha_status fmha_generator_folder(const struct fmha_key *key, const char *arch, const struct fmha_log *log,
                                  char **folder) {
    char program[PATH_MAX], options[OPTIONS_BYTES], *made;
    *folder = NULL;
    if (!fmha_key_can_be_served(key)) {
        char cure[FMHA_GENERATOR_CURE_BYTES];
        fmha_generator_cure(key, arch, cure);
        return fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s", cure);
    }
    if (key->modifier != 0) {
        return fmha_fail(FMHA_ERROR_NO_INSTANCE, "fmhagen makes none by itself with a modifier whose text is not here");
    }
    if (!find_program(program)) {
        return fmha_fail(FMHA_ERROR_NO_INSTANCE,
                         "fmhagen, which could make one, is not here (FMHA_GENERATOR names it)");
    }
    fmha_generator_options(key, arch, options, sizeof options);
    fmha_status status = name_folder(program, options, &made);
    if (status != FMHA_OK) {
        return status;
    }
    char reason[CACHE_REASON_BYTES];
    int opened = fmha_cache_open(made, reason); /* makes it, and sees whether others could write there */
    if (opened < 0) {
        status = fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s could make one, but its folder %s %s", program, made, reason);
    } else {
        close(opened);
    }
    char chip_folder[PATH_MAX];
    if (status == FMHA_OK && snprintf(chip_folder, sizeof chip_folder, "%s/%.*s", made, (int)strcspn(arch, ":"),
                                      arch) >= (int)sizeof chip_folder) {
        status = fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s could make one, but the path of its folder %s is too long",
                           program, made);
    }
    if (status == FMHA_OK) {
        status = check_folder(chip_folder);
        if (status != FMHA_OK && status != FMHA_ERROR_MEMORY) {
            status = make_library(program, made, chip_folder, options, log);
        }
    }
    if (status != FMHA_OK) {
        free(made);
        return status;
    }
    *folder = made;
    return FMHA_OK;
}

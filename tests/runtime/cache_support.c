#include "cache_support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_entry.h"
#include "hash.h"
#include "support.h"

char cache_test_folder[256], cache_test_v1[300];
size_t cache_test_image_bytes = 100;

static char counter[300];

void cache_test_begin(void) {
    char cache[290];
    support_make_folder(cache_test_folder);
    snprintf(cache, sizeof cache, "%s/my cache", cache_test_folder);
    snprintf(cache_test_v1, sizeof cache_test_v1, "%s/v1", cache);
    snprintf(counter, sizeof counter, "%s/made", cache_test_folder);
    support_write(counter, "", 0666);
    setenv("FMHA_CACHE_DIR", cache, 1);
    unsetenv("FMHA_CACHE_MAX_MIB");
    unsetenv("FMHA_COMPILE_SECONDS");
    unsetenv("XDG_CACHE_HOME");
}

void cache_test_end(void) {
    if (getuid() == 0) {
        cr_assert_eq(seteuid(0), 0);
        prctl(PR_SET_DUMPABLE, 1); /* without it the search for leaks at the end may not look at this process */
    }
    support_remove_folder(cache_test_folder);
}

struct fmha_cache_key cache_test_key(const char *source) {
    return (struct fmha_cache_key){
        .arch = "gfx1151", .symbol = "twice", .identity = "compiler of the test\n", .source = source, .wave = 32};
}

static unsigned char byte_of(const char *source, size_t i) {
    return (unsigned char)(fmha_hash(i, source, strlen(source)) & 0xff);
}

fmha_status cache_test_make(void *context, void **image, size_t *image_bytes) {
    const char *source = context;
    int file = open(counter, O_WRONLY | O_APPEND);
    unsigned char *made = malloc(cache_test_image_bytes);
    cr_assert(file >= 0 && write(file, "x", 1) == 1 && made != NULL);
    close(file);
    for (size_t i = 0; i < cache_test_image_bytes; i++) {
        made[i] = byte_of(source, i);
    }
    *image = made;
    *image_bytes = cache_test_image_bytes;
    return FMHA_OK;
}

bool cache_test_is_image(const char *source, const void *image, size_t image_bytes) {
    bool right = image_bytes == cache_test_image_bytes;
    for (size_t i = 0; right && i < image_bytes; i++) {
        right = ((const unsigned char *)image)[i] == byte_of(source, i);
    }
    return right;
}

int cache_test_made(void) {
    struct stat status;
    cr_assert_eq(stat(counter, &status), 0);
    return (int)status.st_size;
}

char *cache_test_get(const char *source) {
    const struct fmha_cache_key key = cache_test_key(source);
    struct fmha_cache_result result;
    int made = cache_test_made();
    cr_assert_eq(fmha_cache_get(&key, cache_test_make, (void *)(size_t)source, &result), FMHA_OK, "%s",
                 fmha_last_error());
    cr_assert(cache_test_is_image(source, result.image, result.image_bytes), "%s", result.note);
    cr_assert_eq(result.hit, cache_test_made() == made, "%s", result.note);
    free(result.image);
    return strdup(result.note);
}

void cache_test_expect(const char *source, const char *note_format) {
    char expected[1024], *note = cache_test_get(source);
    const char *at = strstr(note_format, "%s");
    if (at != NULL) {
        snprintf(expected, sizeof expected, "%.*s%s%s", (int)(at - note_format), note_format, cache_test_entry(source),
                 at + 2);
    } else {
        snprintf(expected, sizeof expected, "%s", note_format);
    }
    cr_assert_str_eq(note, expected);
    free(note);
}

const char *cache_test_entry(const char *source) {
    static char path[400];
    const struct fmha_cache_key k = cache_test_key(source);
    char key[4096], name[CACHE_NAME_BYTES];
    int length = snprintf(key, sizeof key, "image%c%s%c%s%c%s%c%d%c%s", '\0', k.arch, '\0', k.symbol, '\0', k.identity,
                          '\0', k.wave, '\0', k.source);
    cr_assert(length < (int)sizeof key);
    fmha_cache_name(fmha_hash(0, key, (size_t)length + 1), CACHE_IMAGE, name);
    snprintf(path, sizeof path, "%s/%s", cache_test_v1, name);
    return path;
}

int cache_test_count(const char *ending) {
    DIR *folder = opendir(cache_test_v1);
    int count = 0;
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        count += entry->d_name[0] != '.' && length >= tail && strcmp(entry->d_name + length - tail, ending) == 0;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

void cache_test_become_ordinary(const char *path) {
    if (geteuid() == 0) {
        cr_assert_eq(chmod(cache_test_folder, 0755), 0);
        cr_assert_eq(chown(path, 65534, (gid_t)-1), 0);
        cr_assert_eq(seteuid(65534), 0);
    }
}

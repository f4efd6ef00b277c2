#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache_entry.h"
#include "file.h"
#include "hash.h"

#define USED_SECONDS   3600 /* how old the mark of the last use may grow before a reader renews it */
#define TEMPORARY_MODE 0600
#define NAMES_TRIED    16

/* The file begins with it; then come the key and the value. Everything is in the order of bytes of its writer, so that
 * a machine of the other order finds no magic. */
typedef struct entry_header {
    uint64_t magic;
    uint64_t checksum; /* over the rest of the header, the key, the value */
    uint64_t key_bytes;
    uint64_t value_bytes;
} entry_header;

_Static_assert(sizeof(entry_header) == 32, "the header has no padding");

#define MAGIC 0x3130306568636166u /* "fache001" */

void fmha_cache_name(uint64_t hash, const char *ending, char name[CACHE_NAME_BYTES]) {
    snprintf(name, CACHE_NAME_BYTES, "%016llx%s", (unsigned long long)hash, ending);
}

static uint64_t checksum(const entry_header *header, const void *key, const void *value) {
    uint64_t hash = fmha_hash(header->magic, &header->key_bytes, 2 * sizeof(uint64_t));
    hash = fmha_hash(hash, key, (size_t)header->key_bytes);
    return fmha_hash(hash, value, (size_t)header->value_bytes);
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Reads `count` bytes. False at the file's end and with errno, 0 at the end. */
static bool read_bytes(int file, void *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        ssize_t got = read(file, (char *)bytes + done, count - done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0) {
            errno = 0;
            return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static cache_found unusable(char reason[CACHE_REASON_BYTES], const char *why) {
    snprintf(reason, CACHE_REASON_BYTES, "%s", why);
    return CACHE_UNUSABLE;
}

static cache_found unreadable(char reason[CACHE_REASON_BYTES]) {
    if (errno == 0) {
        return unusable(reason, "cut short");
    }
    snprintf(reason, CACHE_REASON_BYTES, "not readable: %s", strerror(errno));
    return CACHE_UNUSABLE;
}

/* What the file's head and size alone tell. */
static cache_found read_header(int file, size_t key_bytes, entry_header *header, char reason[CACHE_REASON_BYTES]) {
    struct stat status;
    if (fstat(file, &status) != 0) {
        return unreadable(reason);
    }
    if (!S_ISREG(status.st_mode)) {
        return unusable(reason, "not a regular file");
    }
    if (status.st_uid != geteuid() && status.st_uid != 0) {
        return unusable(reason, "another user's");
    }
    if (status.st_size == 0) {
        return unusable(reason, "empty");
    }
    if (!read_bytes(file, header, sizeof *header)) {
        return unreadable(reason);
    }
    if (header->magic != MAGIC) {
        return unusable(reason, "no entry of a cache");
    }
    const uint64_t most = CACHE_VALUE_MAX;
    if (header->key_bytes > most || header->value_bytes > most) {
        return unusable(reason, "damaged");
    }
    uint64_t whole = sizeof *header + header->key_bytes + header->value_bytes, is = (uint64_t)status.st_size;
    if (is != whole) {
        return unusable(reason, is < whole ? "cut short" : "longer than it says");
    }
    if (header->key_bytes != key_bytes) {
        return unusable(reason, "of another key");
    }
    return CACHE_FOUND;
}

static cache_found read_body(int file, const entry_header *header, const void *key, void *key_read, void *value,
                             char reason[CACHE_REASON_BYTES]) {
    size_t key_bytes = (size_t)header->key_bytes;
    if (!read_bytes(file, key_read, key_bytes) || !read_bytes(file, value, (size_t)header->value_bytes)) {
        return unreadable(reason);
    }
    if (checksum(header, key_read, value) != header->checksum) {
        return unusable(reason, "damaged");
    }
    return memcmp(key_read, key, key_bytes) != 0 ? unusable(reason, "of another key") : CACHE_FOUND;
}

static void mark_as_used(int file) {
    struct stat status;
    if (fstat(file, &status) == 0 && time(NULL) - status.st_mtime > USED_SECONDS) {
        futimens(file, NULL); /* a folder that is only read keeps its times */
    }
}

cache_found fmha_cache_read(int folder, const char *name, const void *key, size_t key_bytes, void **value,
                            size_t *value_bytes, char reason[CACHE_REASON_BYTES]) {
    *value = NULL;
    *value_bytes = 0;
    /* Neither a pipe nor a link may make the opening wait or lead elsewhere. */
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        return errno == ENOENT  ? CACHE_ABSENT
               : errno == ELOOP ? unusable(reason, "not a regular file")
                                : unreadable(reason);
    }
    entry_header header;
    cache_found found = read_header(file, key_bytes, &header, reason);
    if (found == CACHE_FOUND) {
        void *key_read = malloc(key_bytes + 1), *value_read = malloc((size_t)header.value_bytes + 1);
        found = key_read == NULL || value_read == NULL ? CACHE_NO_MEMORY
                                                       : read_body(file, &header, key, key_read, value_read, reason);
        free(key_read);
        if (found == CACHE_FOUND) {
            *value = value_read;
            *value_bytes = (size_t)header.value_bytes;
            mark_as_used(file);
        } else {
            free(value_read);
        }
    }
    close(file);
    return found;
}

/* ---- Writing --------------------------------------------------------------------------------------------- */

static bool write_entry(int file, const void *key, size_t key_bytes, const void *value, size_t value_bytes) {
    entry_header header = {.magic = MAGIC, .key_bytes = key_bytes, .value_bytes = value_bytes};
    header.checksum = checksum(&header, key, value);
    return fmha_file_put(file, &header, sizeof header) && fmha_file_put(file, key, key_bytes) &&
           fmha_file_put(file, value, value_bytes);
}

/* A new file beside the entry. It is locked for as long as its writer lives. */
static int make_temporary(int folder, const char *name, char temporary[64]) {
    static atomic_uint serial;
    for (int i = 0; i < NAMES_TRIED; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        const uint64_t origin[] = {(uint64_t)getpid(), (uint64_t)now.tv_sec, (uint64_t)now.tv_nsec,
                                   atomic_fetch_add(&serial, 1)};
        snprintf(temporary, 64, "%.31s.%08x" CACHE_TEMPORARY, name, (unsigned)fmha_hash(0, origin, sizeof origin));
        int file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, TEMPORARY_MODE);
        if (file >= 0) {
            flock(file, LOCK_EX | LOCK_NB);
            return file;
        }
        if (errno != EEXIST) {
            return -1;
        }
    }
    return -1;
}

/* Moves the file to its name; a folder that stands there gives way if it is empty. */
static bool publish(int folder, const char *temporary, const char *name) {
    if (renameat(folder, temporary, folder, name) == 0) {
        return true;
    }
    int problem = errno;
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0 && renameat(folder, temporary, folder, name) == 0) {
        return true;
    }
    errno = problem;
    return false;
}

bool fmha_cache_write(int folder, const char *name, const void *key, size_t key_bytes, const void *value,
                      size_t value_bytes, char reason[CACHE_REASON_BYTES]) {
    char temporary[64];
    int file = make_temporary(folder, name, temporary);
    bool done = file >= 0 && write_entry(file, key, key_bytes, value, value_bytes);
    int problem = errno;
    if (file >= 0) {
        if (close(file) != 0 && done) { /* where a network file system tells that its disk is full */
            done = false;
            problem = errno;
        }
        if (done && !publish(folder, temporary, name)) {
            done = false;
            problem = errno;
        }
        if (!done) {
            unlinkat(folder, temporary, 0);
        }
    }
    if (!done) {
        snprintf(reason, CACHE_REASON_BYTES, "cannot be written: %s", strerror(problem));
    }
    return done;
}

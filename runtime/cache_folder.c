/* Where the cache is, and whether it can be trusted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "cache_entry.h"

#define LIMIT_MIB_DEFAULT 512
#define LIMIT_MIB_MAX     1048576
#define VERSION_FOLDER    "v1" /* docs/cache.md: the rule for the next one */

bool fmha_cache_folder(char *path, size_t path_bytes) {
    static const struct {
        const char *variable, *below;
        bool absolute; /* what is not absolute is as good as not set, as the XDG base directory specification says */
    } places[] = {{"FMHA_CACHE_DIR", "", false}, {"XDG_CACHE_HOME", "/fmha", true}, {"HOME", "/.cache/fmha", true}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *value = getenv(places[i].variable);
        if (value == NULL || value[0] == '\0' || (places[i].absolute && value[0] != '/')) {
            continue;
        }
        int length = snprintf(path, path_bytes, "%s%s/" VERSION_FOLDER, value, places[i].below);
        if (length >= 0 && (size_t)length < path_bytes) {
            return true;
        }
        snprintf(path, path_bytes, "the path in %s is too long", places[i].variable);
        return false;
    }
    snprintf(path, path_bytes, "none of FMHA_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
    return false;
}

bool fmha_cache_limit(uint64_t *bytes) {
    const char *text = getenv("FMHA_CACHE_MAX_MIB");
    *bytes = (uint64_t)LIMIT_MIB_DEFAULT << 20;
    if (text == NULL || text[0] == '\0') {
        return true;
    }
    char *end;
    errno = 0;
    unsigned long long mib = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || mib > LIMIT_MIB_MAX) {
        return false;
    }
    *bytes = (uint64_t)mib << 20;
    return true;
}

/* False with errno. */
static bool make_folder(const char *path) {
    if (mkdir(path, 0700) == 0 || errno == EEXIST) {
        return true;
    }
    int problem = errno;
    bool there = access(path, F_OK) == 0; /* on a file system that is read-only, what is there is not always EEXIST */
    errno = problem;
    return there;
}

/* Makes the folder and those above it that are missing, for this user alone. False with errno. */
static bool make_folders(const char *path) {
    char *part = strdup(path);
    if (part == NULL) {
        return false;
    }
    bool done = true;
    for (char *slash = strchr(part + 1, '/'); done && slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        done = make_folder(part);
        *slash = '/';
    }
    done = done && make_folder(part);
    int problem = errno;
    free(part);
    errno = problem;
    return done;
}

/* Whoever can write here decides what runs on the device. */
static bool is_trusted(int folder, char reason[CACHE_REASON_BYTES]) {
    struct stat status;
    if (fstat(folder, &status) != 0) {
        snprintf(reason, CACHE_REASON_BYTES, "cannot be looked at: %s", strerror(errno));
        return false;
    }
    if (status.st_uid != geteuid() && status.st_uid != 0) {
        snprintf(reason, CACHE_REASON_BYTES, "belongs to user %u, expected %u", (unsigned)status.st_uid,
                 (unsigned)geteuid());
        return false;
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        snprintf(reason, CACHE_REASON_BYTES, "may be written by others, expected its owner alone: chmod go-w");
        return false;
    }
    return true;
}

int fmha_cache_open(const char *path, char reason[CACHE_REASON_BYTES]) {
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
    int folder = open(path, flags);
    if (folder < 0 && errno == ENOENT && make_folders(path)) {
        folder = open(path, flags);
    }
    if (folder < 0) {
        snprintf(reason, CACHE_REASON_BYTES, "cannot be used: %s", strerror(errno));
    } else if (!is_trusted(folder, reason)) {
        close(folder);
        folder = -1;
    }
    return folder;
}

bool fmha_cache_state(char *text, size_t text_bytes) {
    char path[1024], above[1024], reason[CACHE_REASON_BYTES] = "";
    uint64_t limit_bytes;
    if (!fmha_cache_limit(&limit_bytes)) {
        snprintf(text, text_bytes, "FMHA_CACHE_MAX_MIB: expected a whole number from 0 to %d, got '%.100s'",
                 LIMIT_MIB_MAX, getenv("FMHA_CACHE_MAX_MIB"));
        return false;
    }
    if (limit_bytes == 0) {
        snprintf(text, text_bytes, "FMHA_CACHE_MAX_MIB is 0");
        return false;
    }
    if (!fmha_cache_folder(path, sizeof path)) {
        snprintf(text, text_bytes, "%s", path);
        return false;
    }
    /* The nearest folder above that is there decides. */
    struct stat status;
    snprintf(above, sizeof above, "%s", path);
    bool there = stat(above, &status) == 0, whole = there;
    for (char *slash; !there && errno == ENOENT && (slash = strrchr(above, '/')) != NULL && slash > above;) {
        *slash = '\0';
        there = stat(above, &status) == 0;
    }
    if (whole && S_ISDIR(status.st_mode)) {
        int folder = fmha_cache_open(path, reason);
        if (folder >= 0) {
            close(folder);
        }
    } else if (!there) {
        snprintf(reason, sizeof reason, "cannot be used: %s", strerror(errno));
    } else if (!S_ISDIR(status.st_mode)) {
        snprintf(reason, sizeof reason, "cannot be used: %.80s is a file", above);
    }
    if (reason[0] == '\0' && faccessat(AT_FDCWD, above, W_OK | X_OK, AT_EACCESS) != 0) {
        snprintf(reason, sizeof reason, "cannot be written: %s", strerror(errno));
    }
    snprintf(text, text_bytes, "%s%s%s", path, reason[0] != '\0' ? " " : "", reason);
    return reason[0] == '\0';
}

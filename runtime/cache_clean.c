/* Keeps the cache's folder bounded. Whatever goes wrong here leaves a file more than there should be, and is no error.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache_entry.h"
#include "lock.h"

#define LEFT_SECONDS 3600 /* how old a temporary or a lock must be before it is looked at */

typedef struct kept_entry {
    char name[CACHE_NAME_BYTES];
    uint64_t bytes;
    struct timespec used;
} kept_entry;

typedef struct kept_list {
    kept_entry *at;
    size_t count, capacity;
    uint64_t bytes;
} kept_list;

static bool ends_with(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* Deletes the file unless somebody holds its lock. Where files cannot be locked its age must do. */
static void remove_unheld(int folder, const char *name) {
    int file = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        return;
    }
    if ((flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && fmha_lock_has_name(folder, name, file)) {
        unlinkat(folder, name, 0);
    }
    close(file);
}

static void list_add(kept_list *list, const char *name, const struct stat *status) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 64;
        kept_entry *larger = realloc(list->at, capacity * sizeof *larger);
        if (larger == NULL) {
            return;
        }
        list->at = larger;
        list->capacity = capacity;
    }
    kept_entry *added = &list->at[list->count++];
    memcpy(added->name, name, strlen(name) + 1);
    added->bytes = (uint64_t)status->st_size;
    added->used = status->st_mtim;
    list->bytes += added->bytes;
}

static void look_at(int folder, const char *name, time_t now, kept_list *list) {
    bool entry = strlen(name) < CACHE_NAME_BYTES && (ends_with(name, CACHE_IMAGE) || ends_with(name, CACHE_COMPILER));
    bool passing = ends_with(name, CACHE_TEMPORARY) || ends_with(name, CACHE_LOCK);
    struct stat status;
    if ((!entry && !passing) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) {
        return;
    }
    if (entry) {
        list_add(list, name, &status);
    } else if (now - status.st_mtime > LEFT_SECONDS) {
        remove_unheld(folder, name);
    }
}

static int longest_unused_first(const void *left, const void *right) {
    const kept_entry *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec) {
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    }
    if (a->used.tv_nsec != b->used.tv_nsec) {
        return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

void fmha_cache_clean(int folder, uint64_t limit_bytes, const char *keep) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = again >= 0 ? fdopendir(again) : NULL;
    if (names == NULL) {
        if (again >= 0) {
            close(again);
        }
        return;
    }
    kept_list list = {0};
    const time_t now = time(NULL);
    for (const struct dirent *entry; (entry = readdir(names)) != NULL;) {
        look_at(folder, entry->d_name, now, &list);
    }
    closedir(names);
    if (list.bytes > limit_bytes) {
        qsort(list.at, list.count, sizeof list.at[0], longest_unused_first);
    }
    for (size_t i = 0; i < list.count && list.bytes > limit_bytes; i++) {
        if (strcmp(list.at[i].name, keep) != 0 && (unlinkat(folder, list.at[i].name, 0) == 0 || errno == ENOENT)) {
            list.bytes -= list.at[i].bytes;
        }
    }
    free(list.at);
}

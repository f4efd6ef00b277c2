#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MS_MAX 20

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool fmha_lock_has_name(int folder, const char *name, int file) {
    struct stat opened, named;
    return fstat(file, &opened) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/* Locks an open file. */
static enum fmha_lock lock(int file, int64_t deadline_ms) {
    long pause_ms = 1;
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return FMHA_LOCK_UNSUPPORTED;
        }
        if (now_ms() >= deadline_ms) {
            return FMHA_LOCK_HELD;
        }
        const struct timespec pause = {.tv_nsec = pause_ms * 1000000};
        nanosleep(&pause, NULL);
        pause_ms = pause_ms * 2 < PAUSE_MS_MAX ? pause_ms * 2 : PAUSE_MS_MAX;
    }
    return FMHA_LOCK_TAKEN;
}

/* A holder deletes the file before it lets go, so that who got the lock of a file without a name begins anew. */
enum fmha_lock fmha_lock_take(int folder, const char *name, int64_t milliseconds, int *file) {
    int64_t deadline_ms = now_ms() + milliseconds;
    enum fmha_lock state = FMHA_LOCK_HELD;
    *file = -1;
    do {
        /* Neither a pipe nor a link may make the opening wait or lead elsewhere. */
        int opened = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
        if (opened < 0) {
            return FMHA_LOCK_NO_FILE;
        }
        state = lock(opened, deadline_ms);
        if (state == FMHA_LOCK_TAKEN && fmha_lock_has_name(folder, name, opened)) {
            *file = opened;
            return FMHA_LOCK_TAKEN;
        }
        int problem = errno;
        if (state == FMHA_LOCK_UNSUPPORTED) {
            unlinkat(folder, name, 0);
        }
        close(opened);
        errno = problem;
    } while (state == FMHA_LOCK_TAKEN && now_ms() < deadline_ms);
    return state == FMHA_LOCK_TAKEN ? FMHA_LOCK_HELD : state;
}

void fmha_lock_release(int folder, const char *name, int file) {
    unlinkat(folder, name, 0);
    flock(file, LOCK_UN); /* for a child process too that was forked meanwhile */
    close(file);
}

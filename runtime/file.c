#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "file.h"

/* Reads up to `capacity` bytes; the number read, or -1 with errno. */
static ssize_t read_all(int file, char *bytes, size_t capacity) {
    size_t done = 0;
    while (done < capacity) {
        ssize_t got = read(file, bytes + done, capacity - done);
        if (got == 0) {
            break;
        }
        if (got > 0) {
            done += (size_t)got;
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return (ssize_t)done;
}

fmha_status fmha_file_read(const char *path, void **bytes, size_t *count) {
    *bytes = NULL;
    *count = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe must not hold anybody up */
    if (file < 0) {
        return fmha_fail(FMHA_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    }
    struct stat information;
    if (fstat(file, &information) != 0 || !S_ISREG(information.st_mode)) {
        close(file);
        return fmha_fail(FMHA_ERROR_IO, "%s: expected a regular file", path);
    }
    size_t size = (size_t)information.st_size;
    char *content = malloc(size + 1);
    if (content == NULL) {
        close(file);
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its %zu bytes", path, size);
    }
    ssize_t got = read_all(file, content, size);
    int problem = errno;
    close(file);
    if (got < 0) {
        free(content);
        return fmha_fail(FMHA_ERROR_IO, "%s: cannot be read: %s", path, strerror(problem));
    }
    content[got] = '\0';
    *bytes = content;
    *count = (size_t)got;
    return FMHA_OK;
}

/* 0, or errno. */
static int put_all(int file, const char *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t put = write(file, bytes + done, count - done);
        if (put >= 0) {
            done += (size_t)put;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

bool fmha_file_put(int file, const void *bytes, size_t count) {
    sigset_t ending, before, pending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGXFSZ);
    sigaddset(&ending, SIGPIPE);
    sigpending(&pending);
    bool blocked = pthread_sigmask(SIG_BLOCK, &ending, &before) == 0;
    int problem = put_all(file, bytes, count);
    if (blocked) {
        int sent = problem == EFBIG ? SIGXFSZ : problem == EPIPE ? SIGPIPE : 0;
        if (sent != 0 && !sigismember(&pending, sent)) {
            const struct timespec at_once = {0};
            sigemptyset(&ending);
            sigaddset(&ending, sent);
            sigtimedwait(&ending, NULL, &at_once);
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    errno = problem;
    return problem == 0;
}

fmha_status fmha_file_write(const char *path, const void *bytes, size_t count) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        return fmha_fail(FMHA_ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    }
    int problem = fmha_file_put(file, bytes, count) ? 0 : errno;
    if (close(file) != 0 && problem == 0) {
        problem = errno;
    }
    if (problem != 0) {
        return fmha_fail(FMHA_ERROR_IO, "%s: cannot be written: %s", path, strerror(problem));
    }
    return FMHA_OK;
}

static bool same_content(const char *left_path, const char *right_path) {
    void *left = NULL, *right = NULL;
    size_t left_count, right_count;
    bool same = access(right_path, F_OK) == 0 && fmha_file_read(left_path, &left, &left_count) == FMHA_OK &&
                fmha_file_read(right_path, &right, &right_count) == FMHA_OK && left_count == right_count &&
                left != NULL && right != NULL && memcmp(left, right, left_count) == 0;
    free(left);
    free(right);
    return same;
}

fmha_status fmha_file_publish(const char *temporary, const char *path) {
    if (same_content(temporary, path)) {
        unlink(temporary);
        return FMHA_OK;
    }
    if (rename(temporary, path) != 0) {
        int problem = errno;
        unlink(temporary);
        return fmha_fail(FMHA_ERROR_IO, "%s: cannot be written: %s", path, strerror(problem));
    }
    return FMHA_OK;
}

#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void text_free(struct text *text) {
    free(text->bytes);
    *text = (struct text){0};
}

/* Makes room for `length` more bytes and the NUL. */
static bool text_reserve(struct text *text, size_t length) {
    if (text->failed)
        return false;
    if (length >= SIZE_MAX / 2 - text->length) {
        text->failed = true;
        return false;
    }
    size_t needed = text->length + length + 1;
    if (needed <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity < needed)
        capacity *= 2;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *bytes, size_t length) {
    if (!text_reserve(text, length))
        return;
    if (length)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_puts(struct text *text, const char *string) {
    text_add(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        text->failed = true;
    else if (text_reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

size_t text_plain_length(const char *word) {
    return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_");
}

void text_quote(struct text *text, const char *word) {
    if (*word && word[text_plain_length(word)] == '\0') {
        text_puts(text, word);
        return;
    }
    text_puts(text, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_puts(text, "'\\''");
        else
            text_add(text, word, 1);
    text_puts(text, "'");
}

#define WORD_MAX 64

/* Insertions, deletions, replacements and exchanges of neighbours between words shorter than WORD_MAX. */
static size_t word_distance(const char *a, const char *b) {
    size_t rows[3][WORD_MAX] = {{0}};
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    size_t width = strlen(b);
    for (size_t j = 0; j <= width; j++)
        last[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] = exchanged && before[j - 2] + 1 < best ? before[j - 2] + 1 : best;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[width];
}

const char *text_nearest(const char *got, const char *const *words, size_t count) {
    size_t length = strlen(got);
    size_t limit = length < 9 ? (length + 1) / 3 : 3; /* more wrong letters would make a suggestion noise */
    const char *nearest = NULL;
    for (size_t i = 0; length < WORD_MAX && i < count; i++) {
        if (strlen(words[i]) >= WORD_MAX)
            continue;
        size_t distance = word_distance(got, words[i]);
        /* What was begun rightly and not finished is one step away. */
        if (length >= 3 && distance > 1 && strncmp(got, words[i], length) == 0)
            distance = 1;
        if (distance && (distance < limit || (distance == limit && !nearest))) {
            nearest = words[i];
            limit = distance;
        }
    }
    return nearest;
}

bool file_read(const char *path, char **bytes, size_t *length, struct error *error) {
    *bytes = NULL;
    *length = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(error, ERROR_RUN, "%s: expected a readable file, got: %s", path, strerror(errno));
    struct text text = {0};
    char block[16384];
    size_t count;
    while ((count = fread(block, 1, sizeof block, file)) > 0)
        text_add(&text, block, count);
    text_add(&text, "", 0);
    bool read_failed = ferror(file) != 0;
    int read_errno = errno;
    fclose(file);
    if (read_failed || text.failed) {
        text_free(&text);
        return error_set(error, ERROR_RUN, "%s: expected a readable file, got: %s", path,
                         strerror(read_failed ? read_errno : ENOMEM));
    }
    *bytes = text.bytes;
    *length = text.length;
    return true;
}

static bool file_holds(const char *path, const char *bytes, size_t length) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    char block[16384];
    size_t at = 0, count;
    bool same = true;
    while (same && (count = fread(block, 1, sizeof block, file)) > 0) {
        same = count <= length - at && memcmp(block, bytes + at, count) == 0;
        at += count;
    }
    same = same && !ferror(file) && at == length;
    fclose(file);
    return same;
}

/* Writes everything to the descriptor and closes it. On failure errno says why. */
static bool write_and_close(int descriptor, const char *bytes, size_t length) {
    while (length) {
        ssize_t count = write(descriptor, bytes, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            int reason = errno;
            close(descriptor);
            errno = reason;
            return false;
        }
        bytes += count;
        length -= (size_t)count;
    }
    return close(descriptor) == 0;
}

static bool unwritable(const char *path, struct error *error) {
    return error_set(error, ERROR_RUN, "%s: expected a writable file, got: %s", path, strerror(errno));
}

bool file_write(const char *path, const char *bytes, size_t length, struct error *error) {
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        return error_set(error, ERROR_RUN, "%s: expected a file to write, got a folder", path);
    if (exists && !S_ISREG(status.st_mode)) { /* a device or a pipe has no neighbour to rename from */
        int descriptor = open(path, O_WRONLY | O_CLOEXEC);
        return (descriptor >= 0 && write_and_close(descriptor, bytes, length)) || unwritable(path, error);
    }
    if (exists && file_holds(path, bytes, length))
        return true;

    /* Behind a symbolic link the link stays and its target is replaced. */
    char *resolved = exists ? realpath(path, NULL) : NULL;
    if (exists && !resolved)
        return unwritable(path, error);
    const char *target = resolved ? resolved : path;
    struct text temporary = {0};
    int descriptor = -1;
    for (unsigned attempt = 0; descriptor < 0 && attempt < 100; attempt++) {
        temporary.length = 0;
        text_printf(&temporary, "%s.%ld.%u.tmp", target, (long)getpid(), attempt);
        if (temporary.failed) {
            errno = ENOMEM;
            break;
        }
        descriptor = open(temporary.bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    bool done = descriptor >= 0;
    if (done) {
        done = !exists || fchmod(descriptor, status.st_mode & 07777) == 0;
        int reason = errno;
        bool written = write_and_close(descriptor, bytes, length);
        if (!done)
            errno = reason;
        done = done && written && rename(temporary.bytes, target) == 0;
        if (!done) {
            reason = errno;
            unlink(temporary.bytes);
            errno = reason;
        }
    }
    if (!done)
        unwritable(path, error);
    text_free(&temporary);
    free(resolved);
    return done;
}

/* A text that grows line by line. */
#ifndef FMHA_LINES_H
#define FMHA_LINES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fmha_lines {
    char *text; /* NULL while empty */
    size_t length, capacity;
    bool failed; /* no memory for something that was added */
} fmha_lines;

void fmha_lines_add(fmha_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds bytes, which may be NULs. */
void fmha_lines_add_bytes(fmha_lines *lines, const void *bytes, size_t count);

/* The text, malloc'ed and with a NUL after it, or NULL when there was no memory for all of it. `lines` is empty
 * afterwards. */
char *fmha_lines_take(fmha_lines *lines);

#endif

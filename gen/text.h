/* A growing text buffer, and files written whole or not at all. */
#ifndef GEN_TEXT_H
#define GEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct text {
    char *bytes; /* NUL-terminated once anything was added, else NULL */
    size_t length, capacity;
    bool failed; /* an allocation failed; every later addition is ignored */
};

void text_free(struct text *text); /* leaves it empty and usable */
void text_add(struct text *text, const char *bytes, size_t length);
void text_puts(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a word as a shell reads it, quoted where it must be. */
void text_quote(struct text *text, const char *word);
/* How many bytes a word begins with that need no quotes. */
size_t text_plain_length(const char *word);

/* The word that `got` was most likely meant to be (a few letters differ), or NULL. Never `got` itself. */
const char *text_nearest(const char *got, const char *const *words, size_t count);

/* Reads a whole file. The caller frees *bytes, which has a NUL after its length. */
bool file_read(const char *path, char **bytes, size_t *length, struct error *error);

/* Writes a file whole (temporary neighbour, rename); leaves a file that already holds these bytes untouched. Behind a
 * symbolic link the target is replaced; into a device or a pipe the bytes are written as they are. */
bool file_write(const char *path, const char *bytes, size_t length, struct error *error);

#endif

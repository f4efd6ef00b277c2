/* Whole files: read at once, written whole or not at all. */
#ifndef FMHA_FILE_H
#define FMHA_FILE_H

#include <stdbool.h>

#include "fmha.h"

/* Reads a file. The caller frees *bytes, which has a NUL after its *count bytes. On failure *bytes is NULL. */
fmha_status fmha_file_read(const char *path, void **bytes, size_t *count);

/* Writes all bytes to an open file. False with errno: a file that grows over the process's limit and a pipe that nobody
 * reads make errors, not the signals that end the program. */
bool fmha_file_put(int file, const void *bytes, size_t count);

/* Creates or truncates `path` and writes it. */
fmha_status fmha_file_write(const char *path, const void *bytes, size_t count);

/* Moves `temporary` to `path` in one step, or drops it when `path` holds the same bytes already, so that build systems
 * do not rebuild. `temporary` is gone afterwards, also on failure. Both must be on one file system. */
fmha_status fmha_file_publish(const char *temporary, const char *path);

#endif

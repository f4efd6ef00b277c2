/* Shared objects that are opened at run time, and an account of where they were looked for. */
#ifndef FMHA_LIBRARY_H
#define FMHA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct library_search {
    char places[6144]; /* one line for each place without success, each begins with a line break */
    size_t length;
} library_search;

void fmha_library_note(library_search *search, const char *place, const char *outcome);

/* Opens `path`; a name without a slash is looked for in the system's library folders. NULL on failure, which is noted.
 * What was opened stays in memory after fmha_library_close: its threads may outlive the device. */
void *fmha_library_open(library_search *search, const char *path);

/* FOLDER/NAME for the first of the NULL-terminated names that is there; one note when none is. */
void *fmha_library_open_in(library_search *search, const char *folder, const char *const *names);

/* One that this process has open already, whoever opened it. NULL if there is none. */
void *fmha_library_loaded(const char *const *names);

/* Fills `functions`, function pointers one after the other, with what `library` has under `names`. NULL when all were
 * found, else the first name that is missing. */
const char *fmha_library_bind(void *library, const char *const *names, size_t count, void *functions);

void fmha_library_close(void *library); /* NULL is accepted and does nothing */

/* The folder of the file that holds this code: libfmha.so, or the program that it is linked into. `folder` has PATH_MAX
 * bytes. */
bool fmha_library_own_folder(char *folder);

/* The file of an open library, valid while it is open. */
const char *fmha_library_path(void *library);

#endif

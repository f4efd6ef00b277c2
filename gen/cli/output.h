/* Where results go: -o PATH. */
#ifndef GEN_CLI_OUTPUT_H
#define GEN_CLI_OUTPUT_H

#include "error.h"
#include "text.h"

/* True if `path` is an existing folder or ends in '/'. */
bool output_is_folder(const char *path);

/* Makes a folder with its parents; one that exists is as good. */
bool output_folder_make(const char *path, struct error *error);

/* "<folder>/<name><suffix>" in malloc'ed memory; NULL without memory, with the error set. An empty folder is none. */
char *output_join(const char *folder, const char *name, const char *suffix, struct error *error);

struct output_file {
    const char *path;
    const char *bytes;
    size_t length;
};

/* Writes files that belong together: all of them are there in the end, or none. */
bool output_write_all(const struct output_file *files, int count, struct error *error);

#endif

/* DIR/MANIFEST of a vendored folder: who made it, with which command, and the SHA-256 of each file.
 *
 *     fmha-vendor 1
 *     made-by fmhagen 0.1.0
 *     command fmhagen vendor . --arch gfx1151 --hd 128 --causal
 *     sha256 0123…cdef CMakeLists.txt
 *     sha256 4567…89ab kernels/fmha.index
 *     end 2
 *
 * Files stand in the order of their names, each once. The command is the one that makes the folder anew when it is run
 * in the folder; its words are quoted as a shell wants them. */
#ifndef GEN_VENDOR_MANIFEST_H
#define GEN_VENDOR_MANIFEST_H

#include <stddef.h>

#include "error.h"
#include "text.h"

#define VENDOR_MANIFEST  "MANIFEST"
#define VENDOR_NAME_MAX  288 /* bytes of a file's name with its NUL: an instance's name, folder and suffix */
#define VENDOR_FILES_MAX 200000
#define VENDOR_WORDS_MAX 512
#define VENDOR_SHA_SIZE  65 /* hexadecimal digits and the NUL */

struct manifest_file {
    char name[VENDOR_NAME_MAX], sha256[VENDOR_SHA_SIZE];
};

struct manifest {
    char **words; /* of the command, after "fmhagen vendor"; owned with what they point to */
    size_t word_count;
    struct manifest_file *files; /* in the order of their names */
    size_t file_count;
    char version[64]; /* of the fmhagen that made it */
};

/* Adds the text of a manifest. */
void manifest_add(struct text *out, const struct manifest *manifest);

/* Parses `length` bytes. Nothing is trusted: what manifest_add would not write is an error that names `path` and the
 * line. The caller frees, after a failure too. */
bool manifest_parse(const char *path, const char *bytes, size_t length, struct manifest *manifest, struct error *error);
void manifest_free(struct manifest *manifest);

/* The file of that name, or NULL. */
const struct manifest_file *manifest_find(const struct manifest *manifest, const char *name);

/* Whether a vendored folder may have a file of that name: letters, digits and _ + - . that does not begin with a dot,
 * below the folder itself, src/ or kernels/. */
bool manifest_name_is_good(const char *name);

void manifest_hash(const char *bytes, size_t length, char sha256[VENDOR_SHA_SIZE]);

#endif

/* The parts of a vendored folder that depend on its kernels: build glue for CMake, Meson and make, the table of
 * embedded files, and the README. Made from the files of gen/vendor/, in which %{NAME} stands for what is made here. */
#ifndef GEN_VENDOR_GLUE_H
#define GEN_VENDOR_GLUE_H

#include "instance.h"

/* What the glue is made for. */
struct glue {
    const struct instance *const *instances; /* in the order of their names */
    const char *const *sha256;               /* of their texts, in the same order */
    size_t count;
    const char *index_sha256;
    const char *command; /* that makes the folder anew */
};

/* Appends the file of gen/vendor/ that `name` ("CMakeLists.txt") names. */
bool glue_add(const struct glue *glue, const char *name, struct text *out, struct error *error);

#endif

/* The parts of a vendored folder that depend on its kernels: build glue for CMake, Meson and make, the table of
 * embedded files, and the README. Made from the files of gen/vendor/, in which %{NAME} stands for what is made here. */
#ifndef GEN_VENDOR_GLUE_H
#define GEN_VENDOR_GLUE_H

#include "instance.h"
#include "vendor_manifest.h"

struct vendor_kernel {
    const struct instance *instance;
    int32_t rank;                 /* as in index_text.h */
    char sha256[VENDOR_SHA_SIZE]; /* of its text */
};

/* What the glue is made for. */
struct glue {
    const struct vendor_kernel *kernels; /* in the order of their names */
    size_t count;
    const char *index_sha256;
    const char *command; /* that makes the folder anew */
};

/* Appends the file of gen/vendor/ that `name` ("CMakeLists.txt") names. */
bool glue_add(const struct glue *glue, const char *name, struct text *out, struct error *error);

#endif

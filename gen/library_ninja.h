/* build.ninja of a library: the same compilations as fmhagen's own, so that other tools may spread or remember them. */
#ifndef GEN_LIBRARY_NINJA_H
#define GEN_LIBRARY_NINJA_H

#include "library_entries.h"

struct library_ninja {
    const char *launcher;  /* put in front of each compiler call, as a shell would read it; "" for none */
    const char *fmhagen;   /* the program's path */
    const char *arguments; /* quoted for a shell: what `fmhagen library . --index-only` needs to know the members */
};

/* Adds the file's text. Entries without a compiler are given clang++, wherever PATH has it. */
bool library_ninja_text(const struct library *library, const struct library_ninja *ninja, struct text *out,
                        struct error *error);

#endif

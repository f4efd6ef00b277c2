/* Instances that are linked into the program: what `fmhagen vendor` writes defines it, libfmha by itself has none. */
#ifndef FMHA_EMBEDDED_H
#define FMHA_EMBEDDED_H

#include <stddef.h>

struct fmha_embedded_file {
    const char *name; /* as the index names it; "fmha.index" is the index itself */
    const unsigned char *begin, *end;
};

/* Ends with a row whose name is NULL. A code object that was not compiled ahead has no row. */
extern const struct fmha_embedded_file fmha_embedded_files[];

#endif

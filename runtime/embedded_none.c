/* libfmha by itself has no instances; what `fmhagen vendor` writes takes the place of this file. */
#include "embedded.h"

const struct fmha_embedded_file fmha_embedded_files[] = {{NULL, NULL, NULL}};

/* What a code object's metadata note says of its kernels and their arguments. */
#ifndef ISA_METADATA_H
#define ISA_METADATA_H

#include "image.h"

/* The kernels of a whole code object (fmha_image_target), malloc'ed, with what metadata says of them: symbol, wave,
 * bytes of LDS, scratch and arguments, hidden arguments. On failure *kernels is NULL. An argument of a kind that the
 * device cannot provide is an error that names it. */
fmha_status isa_metadata_read(const unsigned char *object, isa_image_kernel **kernels, size_t *count);
void isa_metadata_free(isa_image_kernel *kernels, size_t count);

#endif

/* What a cubin, NVIDIA's code object, says of a kernel. */
#ifndef GEN_CUBIN_H
#define GEN_CUBIN_H

#include <elf.h>

#include "codeobject.h"

/* Fills all of `resources` but the waves, as codeobject_resources, which calls it: VGPRs are the registers of a thread,
 * scratch its stack frame, which holds what spills. `header` was read from the bytes. On error `resources` is zero. */
bool cubin_resources(const uint8_t *bytes, size_t length, const Elf64_Ehdr *header, const char *symbol,
                     struct resources *resources, struct error *error);

#endif

/* The text of compiled kernels, by way of llvm-objdump. */
#ifndef GEN_DISASSEMBLE_H
#define GEN_DISASSEMBLE_H

#include "error.h"
#include "text.h"

/* Disassembles an ELF code object, with labels in place of branch offsets. Tried in turn until one knows the chip and
 * lists the kernel `symbol`: llvm-objdump beside the compiler (`compiler_path`; NULL: none in mind), that of ROCm,
 * llvm-objdump-N on PATH and in /usr/lib/llvm-N/bin from the highest N down, llvm-objdump on PATH. `out` is added to;
 * unchanged on error. */
bool disassemble(const void *object, size_t length, const char *symbol, const char *compiler_path, struct text *out,
                 struct error *error);

#endif

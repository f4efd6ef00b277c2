/* LLVM's disassembler, from the shared library of whatever LLVM is here. */
#ifndef ISA_LLVM_H
#define ISA_LLVM_H

#include "fmha.h"

typedef struct isa_llvm isa_llvm; /* one for a chip and wave size */

/* `cpu` without features. NULL-safe errors as isa_decode says. */
fmha_status isa_llvm_open(const char *cpu, unsigned wave, isa_llvm **llvm);
void isa_llvm_close(isa_llvm *llvm);

/* Version of the libLLVM that is used, "22", for people; the same errors. */
fmha_status isa_llvm_version(char version[32]);

/* The text of the instruction at `code`, without blanks around it. Returns its bytes, 0 if it is none. */
size_t isa_llvm_text(isa_llvm *llvm, const unsigned char *code, size_t bytes, char *text, size_t text_bytes);

#endif

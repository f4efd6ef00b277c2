/* The arithmetic of the 16x16x16 matrix instructions with replicated operands, written for speed. */
#ifndef EMU_WMMA_H
#define EMU_WMMA_H

#include "emu_abi.h"

/* Multiplies block->a and block->b, laid out as ops_rdna3.c describes, and adds to block->c. */
void emu_wmma_f16(struct fmha_emu_block *block, unsigned lanes);
void emu_wmma_bf16(struct fmha_emu_block *block, unsigned lanes);

#endif

/* The arithmetic of the 16x16x16 matrix instructions with replicated operands, written for speed. */
#ifndef EMU_WMMA_H
#define EMU_WMMA_H

#include "engine.h"

/* Multiplies the lanes' a and b, laid out as ops_rdna3.c describes, and adds to their c. 32 or 64 lanes. */
void emu_wmma_f16(emu_lane *lanes, unsigned count);
void emu_wmma_bf16(emu_lane *lanes, unsigned count);

#endif

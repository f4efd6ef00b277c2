/* The arithmetic of the 16x16x16 matrix instructions, written for speed. */
#ifndef EMU_WMMA_H
#define EMU_WMMA_H

#include "engine.h"

/* Multiplies the lanes' a and b, laid out as ops_rdna3.c describes, and adds to their c. 32 or 64 lanes. */
void emu_wmma_f16(emu_lane *lanes, unsigned count);
void emu_wmma_bf16(emu_lane *lanes, unsigned count);

/* D += A B of matrices that stand as arrays: a[k][row], b[column][k], d[column][row], k below `depth` (at most 16); the
 * elements of A and B are float16 or bfloat16. */
void emu_wmma_arrays(const uint16_t a[16][16], const uint16_t b[16][16], float d[16][16], unsigned depth, bool bf16);

#endif

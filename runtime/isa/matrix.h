/* What matrix instructions of 16 x 16 x 16 share. */
#ifndef ISA_MATRIX_H
#define ISA_MATRIX_H

#include "half.h"
#include "isa.h"

enum { ISA_MATRIX = 16 };

/* Tells of lanes that are off; false after a finding: it has modifiers, which are not known. */
bool isa_matrix_begins(isa_wave *wave, const isa_instruction *instruction);

static inline float isa_matrix_element(uint32_t bits, bool bfloat) {
    return bfloat ? isa_bfloat_to_float(bits & 0xffffu) : isa_half_to_float(bits & 0xffffu);
}

/* d[row][column] += a[row][k] b[column][k]. The guide gives no order of the additions; products of 16-bit floats are
 * exact in float32, and each addition here is rounded once. */
void isa_matrix_multiply(float d[ISA_MATRIX][ISA_MATRIX], float a[ISA_MATRIX][ISA_MATRIX],
                         float b[ISA_MATRIX][ISA_MATRIX]);

#endif

/* Parts of 32 bits as operands (SDWA: sub-dword addressing; Vega ISA guide, 13.3.7 and 13.3.8). */
#ifndef ISA_SDWA_H
#define ISA_SDWA_H

#include "isa.h"

/* A source as its selection cuts it out, widened to 32 bits by its sign where the text says sext, and then, as what the
 * role's type is, with the signs that neg and abs ask for. `values` may be `room`. */
const uint32_t *isa_sdwa_source(const isa_wave *wave, const isa_instruction *instruction, unsigned source,
                                const isa_operand *operand, char type, const uint32_t *values,
                                uint32_t room[ISA_LANES_MAX]);

/* Writes the selected part of a register in the lanes of `mask`; the rest becomes what dst_unused says. `type`: of the
 * role. */
void isa_sdwa_write(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand, char type,
                    uint64_t mask, const uint32_t values[ISA_LANES_MAX]);

#endif

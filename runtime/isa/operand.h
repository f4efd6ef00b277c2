/* Reading and writing operands, for instructions that do it themselves. All of these tell the checks what was touched.
 */
#ifndef ISA_OPERAND_H
#define ISA_OPERAND_H

#include "isa.h"

static inline uint64_t isa_exec(const isa_wave *wave) {
    return wave->lanes == 64 ? (uint64_t)wave->sgpr[ISA_EXEC + 1] << 32 | wave->sgpr[ISA_EXEC] : wave->sgpr[ISA_EXEC];
}
void isa_set_exec(isa_wave *wave, uint64_t mask);

/* Scalar operands: one register, a constant, SCC, or two registers. Floats among constants become float32 bits, for
 * 64-bit operands float64 bits. */
uint32_t isa_read_scalar(isa_wave *wave, const isa_operand *operand);
uint32_t isa_read_scalar_half(isa_wave *wave, const isa_operand *operand); /* a float16, in the low half */
uint64_t isa_read_scalar64(isa_wave *wave, const isa_operand *operand);
void isa_write_scalar(isa_wave *wave, const isa_operand *operand, uint32_t value);
void isa_write_scalar64(isa_wave *wave, const isa_operand *operand, uint64_t value);

/* A lane mask in one or two scalar registers, as wide as the wave. */
uint64_t isa_read_mask(isa_wave *wave, const isa_operand *operand);
void isa_write_mask(isa_wave *wave, const isa_operand *operand, uint64_t mask);
uint64_t isa_vcc(isa_wave *wave);
void isa_set_vcc(isa_wave *wave, uint64_t mask);

/* Register `part` (0 and up) of a vector operand for every lane: a pointer into the register file, or `room` filled
 * with what all lanes share. No modifiers. `mask`: the lanes whose values matter. */
const uint32_t *isa_read_lanes(isa_wave *wave, const isa_operand *operand, unsigned part, uint64_t mask,
                               uint32_t room[ISA_LANES_MAX]);

/* The same as a float32 or a 16-bit value (in the low half), with neg and abs applied and .h, op_sel taken into
 * account. `index` is the operand's number among the sources, for op_sel. */
const uint32_t *isa_read_float(isa_wave *wave, const isa_operand *operand, uint64_t mask, uint32_t room[ISA_LANES_MAX]);
const uint32_t *isa_read_half(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand,
                              unsigned index, bool is_float, uint64_t mask, uint32_t room[ISA_LANES_MAX]);

/* Two 16-bit values as op_sel, op_sel_hi, neg_lo and neg_hi put them together; `type` is the role's letter. */
const uint32_t *isa_read_packed(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand,
                                unsigned index, char type, uint64_t mask, uint32_t room[ISA_LANES_MAX]);

/* One of two float32, of registers that op_sel (the low one of the result) or op_sel_hi (the high one) names, with
 * neg_lo or neg_hi. */
const uint32_t *isa_read_pair(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand,
                              unsigned index, bool high, uint64_t mask, uint32_t room[ISA_LANES_MAX]);

/* Writes the lanes of `mask`. */
void isa_write_lanes(isa_wave *wave, const isa_operand *operand, unsigned part, uint64_t mask,
                     const uint32_t values[ISA_LANES_MAX]);

/* One half of a register of each lane of `mask`; the other half stays, or is cleared where the family has it so. */
void isa_write_half(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand, uint64_t mask,
                    const uint32_t values[ISA_LANES_MAX]);

#endif

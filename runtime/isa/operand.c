#include "operand.h"

#include <string.h>

#include "checks.h"

void isa_set_exec(isa_wave *wave, uint64_t mask) {
    wave->sgpr[ISA_EXEC] = (uint32_t)mask;
    wave->sgpr[ISA_EXEC + 1] = wave->lanes == 64 ? (uint32_t)(mask >> 32) : 0;
}

static uint32_t float_bits(double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

/* The half precision bits of the inline constants 0.5, 1.0, 2.0, 4.0, their negatives, and 1/(2 pi), which is 0x3118
 * (RDNA3 guide, scalar operands). */
static uint32_t half_bits(double value) {
    static const struct {
        double value;
        uint32_t bits;
    } constants[] = {{0.5, 0x3800}, {1.0, 0x3c00}, {2.0, 0x4000}, {4.0, 0x4400}};
    double magnitude = value < 0 ? -value : value;
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (magnitude == constants[i].value) {
            return constants[i].bits | (value < 0 ? 0x8000u : 0);
        }
    }
    return 0x3118;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One scalar register as a source; what is not there reads as 0. */
static uint32_t read_register(isa_wave *wave, unsigned reg) {
    if (reg == ISA_NULL) {
        return 0;
    }
    if (wave->checks != NULL) {
        isa_check_sgpr_read(wave, reg);
    }
    return wave->sgpr[reg];
}

static void write_register(isa_wave *wave, unsigned reg, uint32_t value) {
    if (reg == ISA_NULL) {
        return;
    }
    if (wave->checks != NULL) {
        isa_check_sgpr_write(wave, reg);
    }
    wave->sgpr[reg] = value;
}

uint32_t isa_read_scalar(isa_wave *wave, const isa_operand *operand) {
    switch (operand->kind) {
    case ISA_OPERAND_SGPR:
        return read_register(wave, operand->reg);
    case ISA_OPERAND_SCC:
        return wave->scc;
    case ISA_OPERAND_CONSTANT:
        return operand->is_float ? float_bits(double_of(operand->constant)) : (uint32_t)operand->constant;
    default:
        isa_give_up(wave, "unsupported-operand", "expected a scalar operand");
        return 0;
    }
}

uint32_t isa_read_scalar_half(isa_wave *wave, const isa_operand *operand) {
    bool is_float = operand->kind == ISA_OPERAND_CONSTANT && operand->is_float;
    return is_float ? half_bits(double_of(operand->constant)) : isa_read_scalar(wave, operand) & 0xffffu;
}

uint64_t isa_read_scalar64(isa_wave *wave, const isa_operand *operand) {
    if (operand->kind == ISA_OPERAND_SGPR && operand->reg != ISA_NULL) {
        uint64_t low = read_register(wave, operand->reg);
        return (uint64_t)read_register(wave, operand->reg + 1u) << 32 | low;
    }
    return operand->kind == ISA_OPERAND_CONSTANT ? operand->constant : isa_read_scalar(wave, operand);
}

void isa_write_scalar(isa_wave *wave, const isa_operand *operand, uint32_t value) {
    if (operand->kind != ISA_OPERAND_SGPR) {
        isa_give_up(wave, "unsupported-operand", "expected a scalar register to write");
        return;
    }
    write_register(wave, operand->reg, value);
}

void isa_write_scalar64(isa_wave *wave, const isa_operand *operand, uint64_t value) {
    isa_write_scalar(wave, operand, (uint32_t)value);
    if (operand->reg != ISA_NULL) {
        write_register(wave, operand->reg + 1u, (uint32_t)(value >> 32));
    }
}

uint64_t isa_read_mask(isa_wave *wave, const isa_operand *operand) {
    return wave->lanes == 64 ? isa_read_scalar64(wave, operand) : isa_read_scalar(wave, operand);
}

void isa_write_mask(isa_wave *wave, const isa_operand *operand, uint64_t mask) {
    if (wave->lanes == 64) {
        isa_write_scalar64(wave, operand, mask);
    } else {
        isa_write_scalar(wave, operand, (uint32_t)mask);
    }
}

static const isa_operand vcc_one = {.kind = ISA_OPERAND_SGPR, .count = 1, .reg = ISA_VCC};

uint64_t isa_vcc(isa_wave *wave) {
    return isa_read_mask(wave, &vcc_one);
}

void isa_set_vcc(isa_wave *wave, uint64_t mask) {
    isa_write_mask(wave, &vcc_one, mask);
}

static const uint32_t *spread(const isa_wave *wave, uint32_t value, uint32_t *room) {
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        room[lane] = value;
    }
    return room;
}

/* Registers beyond those that the kernel was given are an error of the code object. */
static bool has_vgpr(isa_wave *wave, unsigned reg) {
    const isa_kernel *kernel = wave->group->launch->kernel;
    if (reg < kernel->vgprs || (reg >= ISA_AGPR && reg - ISA_AGPR < kernel->agprs)) {
        return true;
    }
    bool accumulates = kernel->agprs > 0 && reg >= ISA_AGPR;
    isa_give_up(wave, "register-outside", "uses %c%u, the kernel has %u vector registers%s", accumulates ? 'a' : 'v',
                accumulates ? reg - ISA_AGPR : reg, accumulates ? kernel->agprs : kernel->vgprs,
                accumulates ? " to accumulate in" : "");
    return false;
}

const uint32_t *isa_read_lanes(isa_wave *wave, const isa_operand *operand, unsigned part, uint64_t mask,
                               uint32_t room[ISA_LANES_MAX]) {
    switch (operand->kind) {
    case ISA_OPERAND_VGPR:
        if (!has_vgpr(wave, operand->reg + part)) {
            return spread(wave, 0, room);
        }
        if (wave->checks != NULL) {
            isa_check_vgpr_read(wave, operand->reg + part, mask);
        }
        return wave->vgpr[operand->reg + part];
    case ISA_OPERAND_SGPR:
        return spread(wave, operand->reg == ISA_NULL ? 0 : read_register(wave, operand->reg + part), room);
    case ISA_OPERAND_CONSTANT:
        if (operand->is_float) {
            return spread(wave, part == 0 ? float_bits(double_of(operand->constant)) : 0, room);
        }
        return spread(wave, part == 0 ? (uint32_t)operand->constant : (uint32_t)(operand->constant >> 32), room);
    default:
        return spread(wave, isa_read_scalar(wave, operand), room);
    }
}

const uint32_t *isa_read_float(isa_wave *wave, const isa_operand *operand, uint64_t mask,
                               uint32_t room[ISA_LANES_MAX]) {
    const uint32_t *values = isa_read_lanes(wave, operand, 0, mask, room);
    if (!operand->neg && !operand->abs) {
        return values;
    }
    uint32_t keep = operand->abs ? 0x7fffffffu : 0xffffffffu, flip = operand->neg ? 0x80000000u : 0;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        room[lane] = (values[lane] & keep) ^ flip;
    }
    return room;
}

const uint32_t *isa_read_half(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand,
                              unsigned index, bool is_float, uint64_t mask, uint32_t room[ISA_LANES_MAX]) {
    if (operand->kind == ISA_OPERAND_CONSTANT) {
        uint32_t bits =
            operand->is_float ? half_bits(double_of(operand->constant)) : (uint32_t)operand->constant & 0xffffu;
        bits = (bits & (operand->abs ? 0x7fffu : 0xffffu)) ^ (operand->neg ? 0x8000u : 0);
        return spread(wave, bits, room);
    }
    const uint32_t *values = isa_read_lanes(wave, operand, 0, mask, room);
    bool high = operand->half != 0 ? operand->half == 2 : (instruction->op_sel >> index & 1) != 0;
    unsigned shift = high ? 16 : 0;
    uint32_t keep = is_float && operand->abs ? 0x7fffu : 0xffffu, flip = is_float && operand->neg ? 0x8000u : 0;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        room[lane] = (values[lane] >> shift & keep) ^ flip;
    }
    return room;
}

/* What an inline constant or a literal is to packed instructions: an inline constant has a value in its low half alone;
 * two bfloat16 both get the upper half of the float32 (RDNA3 guide, 7.5.1). */
static uint32_t packed_constant(const isa_operand *operand, char type) {
    int64_t number = (int64_t)operand->constant;
    if (!operand->is_float) {
        bool inline_constant = number >= -16 && number <= 64;
        return (uint32_t)number & (inline_constant ? 0xffffu : 0xffffffffu);
    }
    double value = double_of(operand->constant);
    return type == 'w' ? (float_bits(value) >> 16) * 0x10001u : half_bits(value);
}

const uint32_t *isa_read_packed(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand,
                                unsigned index, char type, uint64_t mask, uint32_t room[ISA_LANES_MAX]) {
    const uint32_t *values = operand->kind == ISA_OPERAND_CONSTANT ? spread(wave, packed_constant(operand, type), room)
                                                                   : isa_read_lanes(wave, operand, 0, mask, room);
    bool low_high = (instruction->op_sel >> index & 1) != 0;
    bool high_high = !instruction->has_op_sel_hi || (instruction->op_sel_hi >> index & 1) != 0;
    uint32_t flip = (instruction->neg_lo >> index & 1) * 0x8000u | (instruction->neg_hi >> index & 1) * 0x80000000u;
    if (type == 'w' && operand->kind == ISA_OPERAND_CONSTANT && operand->is_float) {
        low_high = false;
        high_high = true;
    }
    if (!low_high && high_high && flip == 0) {
        return values;
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        uint32_t value = values[lane], low = low_high ? value >> 16 : value & 0xffffu;
        room[lane] = (low | (high_high ? value & 0xffff0000u : value << 16)) ^ flip;
    }
    return room;
}

const uint32_t *isa_read_pair(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand,
                              unsigned index, bool high, uint64_t mask, uint32_t room[ISA_LANES_MAX]) {
    unsigned part = high ? (!instruction->has_op_sel_hi || (instruction->op_sel_hi >> index & 1) != 0)
                         : instruction->op_sel >> index & 1;
    uint32_t flip = ((high ? instruction->neg_hi : instruction->neg_lo) >> index & 1) * 0x80000000u;
    const uint32_t *values = isa_read_lanes(wave, operand, part, mask, room);
    for (unsigned lane = 0; flip != 0 && lane < wave->lanes; lane++) {
        room[lane] = values[lane] ^ flip;
    }
    return flip != 0 ? room : values;
}

void isa_write_lanes(isa_wave *wave, const isa_operand *operand, unsigned part, uint64_t mask,
                     const uint32_t values[ISA_LANES_MAX]) {
    if (operand->kind != ISA_OPERAND_VGPR) {
        isa_give_up(wave, "unsupported-operand", "expected a vector register to write");
        return;
    }
    unsigned reg = operand->reg + part;
    if (!has_vgpr(wave, reg)) {
        return;
    }
    if (wave->checks != NULL) {
        isa_check_vgpr_write(wave, reg, mask);
    }
    uint32_t *to = wave->vgpr[reg];
    uint64_t all = wave->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    if (mask == all) {
        memcpy(to, values, wave->lanes * sizeof *to);
        return;
    }
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        to[lane] = values[lane];
    }
}

void isa_write_half(isa_wave *wave, const isa_instruction *instruction, const isa_operand *operand, uint64_t mask,
                    const uint32_t values[ISA_LANES_MAX]) {
    if (operand->kind != ISA_OPERAND_VGPR) {
        isa_give_up(wave, "unsupported-operand", "expected a vector register to write");
        return;
    }
    if (!has_vgpr(wave, operand->reg)) {
        return;
    }
    /* op_sel names sources first, the destination last. */
    bool by_op_sel = instruction->op_sel_count > 0 && (instruction->op_sel >> (instruction->op_sel_count - 1) & 1) != 0;
    bool high = operand->half != 0 ? operand->half == 2 : by_op_sel;
    if (wave->checks != NULL) {
        isa_check_vgpr_write(wave, operand->reg, mask);
    }
    uint32_t *to = wave->vgpr[operand->reg], rest = instruction->zeroes_half ? 0 : UINT32_MAX;
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint32_t old = to[lane] & rest;
        to[lane] = high ? (old & 0xffffu) | values[lane] << 16 : (old & 0xffff0000u) | (values[lane] & 0xffffu);
    }
}

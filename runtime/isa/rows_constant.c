/* Scalar loads. */
#include <string.h>

#include "access.h"
#include "checks.h"
#include "memory.h"
#include "operand.h"
#include "sources.h"

/* Of s_load_X sdata, sbase[2], soffset or a constant, offset. */
static uint64_t address_of(isa_wave *wave, const isa_instruction *i) {
    uint64_t address = isa_read_scalar64(wave, &i->operands[1]);
    const isa_operand *by = &i->operands[2];
    address += by->kind == ISA_OPERAND_CONSTANT ? (uint64_t)(int64_t)(int32_t)by->constant : isa_read_scalar(wave, by);
    return address + (uint64_t)(int64_t)i->offset;
}

static void fill(isa_wave *wave, const isa_instruction *i, unsigned n, uint32_t value, uint32_t ticket) {
    unsigned reg = i->operands[0].reg + n;
    wave->sgpr[reg] = value;
    if (wave->checks != NULL) {
        isa_check_sgpr_load(wave, reg, ticket);
    }
}

/* Addresses are taken down to a multiple of 4 (SMEM chapter). */
static void load_scalar(isa_wave *wave, const isa_instruction *i, unsigned count) {
    uint64_t address = address_of(wave, i) & ~UINT64_C(3);
    const unsigned char *from = isa_global(wave, -1, address, count * sizeof(uint32_t), false);
    uint32_t ticket = wave->checks != NULL ? isa_check_issue(wave, ISA_QUEUE_SCALAR) : 0;
    if (from == NULL) {
        return;
    }
    for (unsigned n = 0; n < count; n++) {
        uint32_t value;
        memcpy(&value, from + n * sizeof value, sizeof value);
        fill(wave, i, n, value, ticket);
    }
}

#define SCALAR_LOAD(name, count)                                                                                       \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        load_scalar(wave, i, count);                                                                                   \
    }
SCALAR_LOAD(s_load_b32, 1)
SCALAR_LOAD(s_load_b64, 2)
SCALAR_LOAD(s_load_b96, 3)
SCALAR_LOAD(s_load_b128, 4)
SCALAR_LOAD(s_load_b256, 8)
SCALAR_LOAD(s_load_b512, 16)

/* A value of less than 32 bits, widened. */
static void load_narrow(isa_wave *wave, const isa_instruction *i, isa_shape shape) {
    uint64_t address = address_of(wave, i);
    size_t bytes = isa_shape_bytes(shape, 1);
    if (address % bytes != 0) {
        isa_give_up(wave, "misaligned", "reads 2 bytes at 0x%llx, expected a multiple of 2",
                    (unsigned long long)address);
        return;
    }
    const unsigned char *from = isa_global(wave, -1, address, bytes, false);
    if (from != NULL) {
        fill(wave, i, 0, isa_widen(shape, from, 0), wave->checks != NULL ? isa_check_issue(wave, ISA_QUEUE_SCALAR) : 0);
    }
}

#define NARROW_LOAD(name, shape)                                                                                       \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        load_narrow(wave, i, shape);                                                                                   \
    }
NARROW_LOAD(s_load_u8, ISA_BYTE)
NARROW_LOAD(s_load_i8, ISA_SIGNED_BYTE)
NARROW_LOAD(s_load_u16, ISA_SHORT)
NARROW_LOAD(s_load_i16, ISA_SIGNED_SHORT)

/* Caches are not modelled. */
static void nothing(isa_wave *wave, const isa_instruction *i) {
    (void)wave;
    (void)i;
}

#define SCALAR(name, operands)                                                                                         \
    { #name, operands, ISA_CLASS_SMEM, NULL, name, ISA_GFX11, ISA_SMEM }

#define NEW(name, operands)                                                                                            \
    { #name, operands, ISA_CLASS_SMEM, NULL, name, ISA_GFX12, ISA_RDNA4_SMEM }

static const isa_row rows[] = {
    SCALAR(s_load_b32, "Ds Ss2 Sx"),
    SCALAR(s_load_b64, "Ds2 Ss2 Sx"),
    SCALAR(s_load_b128, "Ds4 Ss2 Sx"),
    SCALAR(s_load_b256, "Ds8 Ss2 Sx"),
    SCALAR(s_load_b512, "Ds16 Ss2 Sx"),
    NEW(s_load_b96, "Ds3 Ss2 Sx"),
    NEW(s_load_u8, "Ds Ss2 Sx"),
    NEW(s_load_i8, "Ds Ss2 Sx"),
    NEW(s_load_u16, "Ds Ss2 Sx"),
    NEW(s_load_i16, "Ds Ss2 Sx"),
    {"s_gl1_inv", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SMEM},
    {"s_dcache_inv", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SMEM},
    {"s_icache_inv", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
};

const isa_table isa_table_constant = {rows, sizeof rows / sizeof rows[0]};

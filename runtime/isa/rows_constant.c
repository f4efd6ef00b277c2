/* Scalar loads. */
#include <string.h>

#include "checks.h"
#include "memory.h"
#include "operand.h"
#include "sources.h"

/* s_load_bN sdata, sbase[2], soffset or a constant, offset. Addresses are taken down to a multiple of 4 (SMEM chapter).
 */
static void load_scalar(isa_wave *wave, const isa_instruction *i, unsigned count) {
    uint64_t address = isa_read_scalar64(wave, &i->operands[1]);
    const isa_operand *by = &i->operands[2];
    address += by->kind == ISA_OPERAND_CONSTANT ? (uint64_t)(int64_t)(int32_t)by->constant : isa_read_scalar(wave, by);
    address = (address + (uint64_t)(int64_t)i->offset) & ~UINT64_C(3);
    const unsigned char *from = isa_global(wave, -1, address, count * sizeof(uint32_t), false);
    uint32_t ticket = wave->checks != NULL ? isa_check_issue(wave, ISA_QUEUE_SCALAR) : 0;
    if (from == NULL) {
        return;
    }
    for (unsigned n = 0; n < count; n++) {
        unsigned reg = i->operands[0].reg + n;
        memcpy(&wave->sgpr[reg], from + n * sizeof(uint32_t), sizeof(uint32_t));
        if (wave->checks != NULL) {
            isa_check_sgpr_load(wave, reg, ticket);
        }
    }
}

#define SCALAR_LOAD(name, count)                                                                                       \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        load_scalar(wave, i, count);                                                                                   \
    }
SCALAR_LOAD(s_load_b32, 1)
SCALAR_LOAD(s_load_b64, 2)
SCALAR_LOAD(s_load_b128, 4)
SCALAR_LOAD(s_load_b256, 8)
SCALAR_LOAD(s_load_b512, 16)

/* Caches are not modelled. */
static void nothing(isa_wave *wave, const isa_instruction *i) {
    (void)wave;
    (void)i;
}

#define SCALAR(name, operands)                                                                                         \
    { #name, operands, ISA_CLASS_SMEM, NULL, name, ISA_GFX11, ISA_SMEM }

static const isa_row rows[] = {
    SCALAR(s_load_b32, "Ds Ss2 Sx"),
    SCALAR(s_load_b64, "Ds2 Ss2 Sx"),
    SCALAR(s_load_b128, "Ds4 Ss2 Sx"),
    SCALAR(s_load_b256, "Ds8 Ss2 Sx"),
    SCALAR(s_load_b512, "Ds16 Ss2 Sx"),
    {"s_gl1_inv", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SMEM},
    {"s_dcache_inv", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SMEM},
    {"s_icache_inv", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_SOPP},
};

const isa_table isa_table_constant = {rows, sizeof rows / sizeof rows[0]};

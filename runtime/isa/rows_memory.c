/* Loads and stores: scalar, global, scratch and LDS. What a load fills is filled at once and marked until the wait that
 * covers it. */
#include <string.h>

#include "checks.h"
#include "memory.h"
#include "operand.h"

#define SMEM "RDNA3 ISA guide, 16.6 SMEM"
#define FLAT "RDNA3 ISA guide, 16.20 FLAT, Scratch and Global"
#define LDS  "RDNA3 ISA guide, 16.15 LDS & GDS"

/* ---- Scalar loads ---------------------------------------------------------------------------------------- */

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

/* ---- Lanes' loads and stores ----------------------------------------------------------------------------- */

/* How a value lies in memory and in registers. */
typedef enum shape { WHOLE, BYTE, SIGNED_BYTE, SHORT, SIGNED_SHORT, LOW_HALF, HIGH_HALF } shape;

static size_t shape_bytes(shape form, unsigned registers) {
    return form == WHOLE ? registers * sizeof(uint32_t) : form == BYTE || form == SIGNED_BYTE ? 1 : 2;
}

/* What a register holds after a load of less than 32 bits; d16 forms keep the other half. */
static uint32_t widen(shape form, const unsigned char *from, uint32_t old) {
    uint16_t word = 0;
    memcpy(&word, from, form == BYTE || form == SIGNED_BYTE ? 1 : 2);
    switch (form) {
    case SIGNED_BYTE:
        return (uint32_t)(int32_t)(int8_t)word;
    case SIGNED_SHORT:
        return (uint32_t)(int32_t)(int16_t)word;
    case LOW_HALF:
        return (old & 0xffff0000u) | word;
    case HIGH_HALF:
        return (old & 0xffffu) | (uint32_t)word << 16;
    default:
        return word;
    }
}

static bool has_registers(isa_wave *wave, const isa_operand *operand, unsigned registers) {
    uint32_t most = wave->group->launch->kernel->vgprs;
    if (operand->kind == ISA_OPERAND_VGPR && operand->count == registers && operand->reg + registers <= most) {
        return true;
    }
    isa_give_up(wave, "register-outside", "expected %u vector registers below v%u for its data", registers, most);
    return false;
}

/* Gives a lane what stands at `from`. */
static void fill(isa_wave *wave, unsigned reg, unsigned registers, shape form, int lane, const unsigned char *from) {
    if (form != WHOLE) {
        wave->vgpr[reg][lane] = widen(form, from, wave->vgpr[reg][lane]);
        return;
    }
    for (unsigned n = 0; n < registers; n++) {
        memcpy(&wave->vgpr[reg + n][lane], from + n * sizeof(uint32_t), sizeof(uint32_t));
    }
}

static void drain(const isa_wave *wave, unsigned reg, unsigned registers, shape form, int lane, unsigned char *to) {
    uint32_t value = wave->vgpr[reg][lane];
    uint16_t half = (uint16_t)(form == HIGH_HALF ? value >> 16 : value);
    switch (form) {
    case WHOLE:
        for (unsigned n = 0; n < registers; n++) {
            memcpy(to + n * sizeof(uint32_t), &wave->vgpr[reg + n][lane], sizeof(uint32_t));
        }
        break;
    case BYTE:
    case SIGNED_BYTE:
        *to = (unsigned char)value;
        break;
    default:
        memcpy(to, &half, sizeof half);
    }
}

/* True16 registers in a load or store say which half by their name. */
static shape with_half(shape form, const isa_operand *operand) {
    return operand->half == 2 ? HIGH_HALF : operand->half == 1 && form == SHORT ? LOW_HALF : form;
}

static void mark_loaded(isa_wave *wave, const isa_operand *data, unsigned registers, uint64_t mask, isa_queue queue) {
    if (wave->checks == NULL) {
        return;
    }
    uint32_t ticket = isa_check_issue(wave, queue);
    for (unsigned n = 0; n < registers; n++) {
        isa_check_vgpr_load(wave, data->reg + n, mask, queue, ticket);
    }
}

static void mark_stored(isa_wave *wave, const isa_operand *data, unsigned registers, uint64_t mask, isa_queue queue) {
    if (wave->checks == NULL) {
        return;
    }
    isa_check_issue(wave, queue);
    for (unsigned n = 0; n < registers; n++) {
        isa_check_vgpr_read(wave, data->reg + n, mask);
    }
}

/* ---- Global ---------------------------------------------------------------------------------------------- */

/* vaddr of 64 bits with "off", or a 32-bit offset and a scalar base; and the constant offset. */
static void global_addresses(isa_wave *wave, const isa_instruction *i, const isa_operand *vaddr,
                             const isa_operand *saddr, uint64_t addresses[ISA_LANES_MAX]) {
    uint32_t low_room[ISA_LANES_MAX], high_room[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave), base = (uint64_t)(int64_t)i->offset;
    const uint32_t *low = isa_read_lanes(wave, vaddr, 0, exec, low_room), *high = NULL;
    if (saddr->kind == ISA_OPERAND_OFF) {
        high = isa_read_lanes(wave, vaddr, 1, exec, high_room);
    } else {
        base += isa_read_scalar64(wave, saddr);
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        addresses[lane] = base + low[lane] + (high != NULL ? (uint64_t)high[lane] << 32 : 0);
    }
}

static void load_global(isa_wave *wave, const isa_instruction *i, shape form, unsigned registers) {
    uint64_t addresses[ISA_LANES_MAX], exec = isa_exec(wave);
    const isa_operand *data = &i->operands[0];
    if (!has_registers(wave, data, registers)) {
        return;
    }
    form = with_half(form, data);
    size_t bytes = shape_bytes(form, registers);
    global_addresses(wave, i, &i->operands[1], &i->operands[2], addresses);
    mark_loaded(wave, data, registers, exec, ISA_QUEUE_LOAD);
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        const unsigned char *from = isa_global(wave, lane, addresses[lane], bytes, false);
        if (from == NULL) {
            return;
        }
        fill(wave, data->reg, registers, form, lane, from);
    }
    if (wave->counts != NULL) {
        isa_count_global(wave, exec, addresses, bytes, false);
    }
}

static void store_global(isa_wave *wave, const isa_instruction *i, shape form, unsigned registers) {
    uint64_t addresses[ISA_LANES_MAX], exec = isa_exec(wave);
    const isa_operand *data = &i->operands[1];
    if (!has_registers(wave, data, registers)) {
        return;
    }
    form = with_half(form, data);
    size_t bytes = shape_bytes(form, registers);
    global_addresses(wave, i, &i->operands[0], &i->operands[2], addresses);
    mark_stored(wave, data, registers, exec, ISA_QUEUE_STORE);
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        unsigned char *to = isa_global(wave, lane, addresses[lane], bytes, true);
        if (to == NULL) {
            return;
        }
        drain(wave, data->reg, registers, form, lane, to);
    }
    if (wave->counts != NULL) {
        isa_count_global(wave, exec, addresses, bytes, true);
    }
}

/* ---- Scratch: each lane has bytes of its own ------------------------------------------------------------- */

/* vaddr or "off", saddr or "off", and the constant offset; NULL after a finding. */
static unsigned char *scratch(isa_wave *wave, const isa_instruction *i, const isa_operand *vaddr,
                              const isa_operand *saddr, int lane, size_t bytes) {
    isa_group *group = wave->group;
    uint32_t room[ISA_LANES_MAX];
    uint64_t at = (uint64_t)(int64_t)i->offset;
    if (vaddr->kind != ISA_OPERAND_OFF) {
        at += isa_read_lanes(wave, vaddr, 0, UINT64_C(1) << lane, room)[lane];
    }
    if (saddr->kind != ISA_OPERAND_OFF) {
        at += isa_read_scalar(wave, saddr);
    }
    if (at >= group->scratch_bytes_lane || bytes > group->scratch_bytes_lane - at) {
        isa_report(wave, lane, "scratch-out-of-bounds", "touches byte %llu of scratch, of which a lane has %zu",
                   (unsigned long long)at, group->scratch_bytes_lane);
        wave->failed = true;
        return NULL;
    }
    return group->scratch + (wave->number * (size_t)wave->lanes + (unsigned)lane) * group->scratch_bytes_lane + at;
}

static void load_scratch(isa_wave *wave, const isa_instruction *i, shape form, unsigned registers) {
    const isa_operand *data = &i->operands[0];
    if (!has_registers(wave, data, registers)) {
        return;
    }
    form = with_half(form, data);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        const unsigned char *from =
            scratch(wave, i, &i->operands[1], &i->operands[2], lane, shape_bytes(form, registers));
        if (from == NULL) {
            return;
        }
        fill(wave, data->reg, registers, form, lane, from);
    }
    mark_loaded(wave, data, registers, isa_exec(wave), ISA_QUEUE_LOAD); /* its address may be in the same register */
}

static void store_scratch(isa_wave *wave, const isa_instruction *i, shape form, unsigned registers) {
    const isa_operand *data = &i->operands[1];
    if (!has_registers(wave, data, registers)) {
        return;
    }
    form = with_half(form, data);
    mark_stored(wave, data, registers, isa_exec(wave), ISA_QUEUE_STORE);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        unsigned char *to = scratch(wave, i, &i->operands[0], &i->operands[2], lane, shape_bytes(form, registers));
        if (to == NULL) {
            return;
        }
        drain(wave, data->reg, registers, form, lane, to);
    }
}

/* ---- LDS ------------------------------------------------------------------------------------------------- */

/* Lanes' addresses with a constant offset added. */
static void lds_addresses(isa_wave *wave, const isa_operand *operand, uint32_t offset,
                          uint32_t addresses[ISA_LANES_MAX]) {
    uint32_t room[ISA_LANES_MAX];
    const uint32_t *values = isa_read_lanes(wave, operand, 0, isa_exec(wave), room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        addresses[lane] = values[lane] + offset;
    }
}

/* Wide accesses need the alignment that the guide's LDS chapter asks for with unaligned mode off; with it on, as the
 * HSA ABI has it, that of 4 bytes. */
static bool is_aligned(isa_wave *wave, int lane, uint32_t address, size_t bytes) {
    size_t need = bytes > 4 ? 4 : bytes;
    if (address % need == 0) {
        return true;
    }
    isa_report(wave, lane, "misaligned", "touches byte %u of LDS, expected a multiple of %zu", address, need);
    return true; /* the hardware splits it */
}

static void load_lds_at(isa_wave *wave, unsigned reg, unsigned registers, shape form,
                        const uint32_t addresses[ISA_LANES_MAX]) {
    size_t bytes = shape_bytes(form, registers);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        static const unsigned char zeros[64];
        bool inside =
            is_aligned(wave, lane, addresses[lane], bytes) && isa_lds_check(wave, lane, addresses[lane], bytes, false);
        /* reads outside give 0 (guide, LDS out of range) */
        fill(wave, reg, registers, form, lane, inside ? wave->group->lds + addresses[lane] : zeros);
    }
    if (wave->counts != NULL) {
        isa_count_lds(wave, isa_exec(wave), addresses, bytes, false);
    }
}

static void store_lds_at(isa_wave *wave, unsigned reg, unsigned registers, shape form,
                         const uint32_t addresses[ISA_LANES_MAX]) {
    size_t bytes = shape_bytes(form, registers);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        if (is_aligned(wave, lane, addresses[lane], bytes) && isa_lds_check(wave, lane, addresses[lane], bytes, true)) {
            drain(wave, reg, registers, form, lane, wave->group->lds + addresses[lane]);
        }
    }
    if (wave->counts != NULL) {
        isa_count_lds(wave, isa_exec(wave), addresses, bytes, true);
    }
}

static void load_lds(isa_wave *wave, const isa_instruction *i, shape form, unsigned registers) {
    uint32_t addresses[ISA_LANES_MAX];
    if (!has_registers(wave, &i->operands[0], registers)) {
        return;
    }
    lds_addresses(wave, &i->operands[1], (uint32_t)i->offset, addresses);
    mark_loaded(wave, &i->operands[0], registers, isa_exec(wave), ISA_QUEUE_LDS);
    load_lds_at(wave, i->operands[0].reg, registers, with_half(form, &i->operands[0]), addresses);
}

static void store_lds(isa_wave *wave, const isa_instruction *i, shape form, unsigned registers) {
    uint32_t addresses[ISA_LANES_MAX];
    if (!has_registers(wave, &i->operands[1], registers)) {
        return;
    }
    lds_addresses(wave, &i->operands[0], (uint32_t)i->offset, addresses);
    mark_stored(wave, &i->operands[1], registers, isa_exec(wave), ISA_QUEUE_LDS);
    store_lds_at(wave, i->operands[1].reg, registers, with_half(form, &i->operands[1]), addresses);
}

/* Two values of `registers` each, at two offsets in units of `stride` values. */
static void load_lds_two(isa_wave *wave, const isa_instruction *i, unsigned registers, uint32_t stride) {
    uint32_t addresses[ISA_LANES_MAX], unit = registers * (uint32_t)sizeof(uint32_t) * stride;
    if (!has_registers(wave, &i->operands[0], 2 * registers)) {
        return;
    }
    lds_addresses(wave, &i->operands[1], i->offset0 * unit, addresses);
    uint32_t second[ISA_LANES_MAX];
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        second[lane] = addresses[lane] + i->offset1 * unit - i->offset0 * unit;
    }
    mark_loaded(wave, &i->operands[0], 2 * registers, isa_exec(wave), ISA_QUEUE_LDS);
    load_lds_at(wave, i->operands[0].reg, registers, WHOLE, addresses);
    load_lds_at(wave, i->operands[0].reg + registers, registers, WHOLE, second);
}

static void store_lds_two(isa_wave *wave, const isa_instruction *i, unsigned registers, uint32_t stride) {
    uint32_t addresses[ISA_LANES_MAX], second[ISA_LANES_MAX];
    uint32_t unit = registers * (uint32_t)sizeof(uint32_t) * stride;
    if (!has_registers(wave, &i->operands[1], registers) || !has_registers(wave, &i->operands[2], registers)) {
        return;
    }
    lds_addresses(wave, &i->operands[0], i->offset0 * unit, addresses);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        second[lane] = addresses[lane] + i->offset1 * unit - i->offset0 * unit;
    }
    mark_stored(wave, &i->operands[1], registers, isa_exec(wave), ISA_QUEUE_LDS);
    for (unsigned n = 0; wave->checks != NULL && n < registers; n++) {
        isa_check_vgpr_read(wave, i->operands[2].reg + n, isa_exec(wave));
    }
    store_lds_at(wave, i->operands[1].reg, registers, WHOLE, addresses);
    store_lds_at(wave, i->operands[2].reg, registers, WHOLE, second);
}

/* Lane n reads the lane whose number is in its address divided by 4; lanes that are off give 0. */
static void ds_bpermute_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t addresses[ISA_LANES_MAX], room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave), needed = 0;
    if (!has_registers(wave, &i->operands[0], 1)) {
        return;
    }
    lds_addresses(wave, &i->operands[1], (uint32_t)i->offset, addresses);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        addresses[lane] = addresses[lane] / 4 % 32 + (lane & 32); /* within 32 lanes */
        needed |= (exec >> lane & 1) << addresses[lane];
    }
    const uint32_t *from = isa_read_lanes(wave, &i->operands[2], 0, needed & exec, room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        values[lane] = (exec >> addresses[lane] & 1) != 0 ? from[addresses[lane]] : 0;
    }
    mark_loaded(wave, &i->operands[0], 1, exec, ISA_QUEUE_LDS);
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        wave->vgpr[i->operands[0].reg][__builtin_ctzll(left)] = values[__builtin_ctzll(left)];
    }
}

/* ---- The tables ------------------------------------------------------------------------------------------ */

#define ACCESS(name, function, form, registers)                                                                        \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        function(wave, i, form, registers);                                                                            \
    }
#define LOADS(X, prefix, function)                                                                                     \
    X(prefix##_load_u8, function, BYTE, 1)                                                                             \
    X(prefix##_load_i8, function, SIGNED_BYTE, 1)                                                                      \
    X(prefix##_load_u16, function, SHORT, 1)                                                                           \
    X(prefix##_load_i16, function, SIGNED_SHORT, 1)                                                                    \
    X(prefix##_load_b32, function, WHOLE, 1)                                                                           \
    X(prefix##_load_b64, function, WHOLE, 2)                                                                           \
    X(prefix##_load_b96, function, WHOLE, 3)                                                                           \
    X(prefix##_load_b128, function, WHOLE, 4)
#define STORES(X, prefix, function)                                                                                    \
    X(prefix##_store_b8, function, BYTE, 1)                                                                            \
    X(prefix##_store_b16, function, SHORT, 1)                                                                          \
    X(prefix##_store_b32, function, WHOLE, 1)                                                                          \
    X(prefix##_store_b64, function, WHOLE, 2)                                                                          \
    X(prefix##_store_b96, function, WHOLE, 3)                                                                          \
    X(prefix##_store_b128, function, WHOLE, 4)
#define HALF_LOADS(X, prefix, function)                                                                                \
    X(prefix##_load_d16_b16, function, LOW_HALF, 1)                                                                    \
    X(prefix##_load_d16_hi_b16, function, HIGH_HALF, 1)
#define LDS_HALF_LOADS(X, function)                                                                                    \
    X(ds_load_u16_d16, function, LOW_HALF, 1)                                                                          \
    X(ds_load_u16_d16_hi, function, HIGH_HALF, 1)

LOADS(ACCESS, global, load_global)
HALF_LOADS(ACCESS, global, load_global)
STORES(ACCESS, global, store_global)
ACCESS(global_store_d16_hi_b16, store_global, HIGH_HALF, 1)
LOADS(ACCESS, scratch, load_scratch)
HALF_LOADS(ACCESS, scratch, load_scratch)
STORES(ACCESS, scratch, store_scratch)
ACCESS(scratch_store_d16_hi_b16, store_scratch, HIGH_HALF, 1)
LOADS(ACCESS, ds, load_lds)
LDS_HALF_LOADS(ACCESS, load_lds)
STORES(ACCESS, ds, store_lds)
ACCESS(ds_store_b16_d16_hi, store_lds, HIGH_HALF, 1)

#define TWO(name, function, registers, stride)                                                                         \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        function(wave, i, registers, stride);                                                                          \
    }
TWO(ds_load_2addr_b32, load_lds_two, 1, 1)
TWO(ds_load_2addr_b64, load_lds_two, 2, 1)
TWO(ds_load_2addr_stride64_b32, load_lds_two, 1, 64)
TWO(ds_load_2addr_stride64_b64, load_lds_two, 2, 64)
TWO(ds_store_2addr_b32, store_lds_two, 1, 1)
TWO(ds_store_2addr_b64, store_lds_two, 2, 1)
TWO(ds_store_2addr_stride64_b32, store_lds_two, 1, 64)
TWO(ds_store_2addr_stride64_b64, store_lds_two, 2, 64)

#define NAMES (ISA_GFX11 | ISA_GFX12) /* of earlier families the mnemonics are others: they follow with their kernels  \
                                       */
#define GLOBAL_LOAD(name, function, form, registers)  {#name, "Dx Sx Sx", ISA_CLASS_LOAD, NULL, name, NAMES, FLAT},
#define GLOBAL_STORE(name, function, form, registers) {#name, "Sx Sx Sx", ISA_CLASS_STORE, NULL, name, NAMES, FLAT},
#define LDS_LOAD(name, function, form, registers)     {#name, "Dx Sx", ISA_CLASS_LDS, NULL, name, NAMES, LDS},
#define LDS_STORE(name, function, form, registers)    {#name, "Sx Sx", ISA_CLASS_LDS, NULL, name, NAMES, LDS},
#define LDS_TWO(name)                                                                                                  \
    { #name, "Dx Sx", ISA_CLASS_LDS, NULL, name, NAMES, LDS }
#define LDS_STORE_TWO(name)                                                                                            \
    { #name, "Sx Sx Sx", ISA_CLASS_LDS, NULL, name, NAMES, LDS }
#define SCALAR(name, operands)                                                                                         \
    { #name, operands, ISA_CLASS_SMEM, NULL, name, NAMES, SMEM }

static const isa_row global_rows[] = {
    LOADS(GLOBAL_LOAD, global, ) HALF_LOADS(GLOBAL_LOAD, global, ) STORES(GLOBAL_STORE, global, )
        GLOBAL_STORE(global_store_d16_hi_b16, , , ) LOADS(GLOBAL_LOAD, scratch, ) HALF_LOADS(GLOBAL_LOAD, scratch, )
            STORES(GLOBAL_STORE, scratch, ) GLOBAL_STORE(scratch_store_d16_hi_b16, , , ){
                "buffer_gl0_inv", "", ISA_CLASS_WAIT, NULL, nothing, NAMES, "RDNA3 ISA guide, 16.16 MUBUF"},
    {"buffer_gl1_inv", "", ISA_CLASS_WAIT, NULL, nothing, NAMES, "RDNA3 ISA guide, 16.16 MUBUF"},
};

static const isa_row lds_rows[] = {
    LOADS(LDS_LOAD, ds, ) LDS_HALF_LOADS(LDS_LOAD, ) STORES(LDS_STORE, ds, ) LDS_STORE(ds_store_b16_d16_hi, , , )
        LDS_TWO(ds_load_2addr_b32),
    LDS_TWO(ds_load_2addr_b64),
    LDS_TWO(ds_load_2addr_stride64_b32),
    LDS_TWO(ds_load_2addr_stride64_b64),
    LDS_STORE_TWO(ds_store_2addr_b32),
    LDS_STORE_TWO(ds_store_2addr_b64),
    LDS_STORE_TWO(ds_store_2addr_stride64_b32),
    LDS_STORE_TWO(ds_store_2addr_stride64_b64),
    {"ds_bpermute_b32", "Dx Sx Sx", ISA_CLASS_LDS, NULL, ds_bpermute_b32, NAMES, LDS},
};

static const isa_row constant_rows[] = {
    SCALAR(s_load_b32, "Ds Ss2 Sx"),
    SCALAR(s_load_b64, "Ds2 Ss2 Sx"),
    SCALAR(s_load_b128, "Ds4 Ss2 Sx"),
    SCALAR(s_load_b256, "Ds8 Ss2 Sx"),
    SCALAR(s_load_b512, "Ds16 Ss2 Sx"),
    {"s_gl1_inv", "", ISA_CLASS_WAIT, NULL, nothing, NAMES, SMEM},
    {"s_dcache_inv", "", ISA_CLASS_WAIT, NULL, nothing, NAMES, SMEM},
};

const isa_table isa_table_global = {global_rows, sizeof global_rows / sizeof global_rows[0]};
const isa_table isa_table_lds = {lds_rows, sizeof lds_rows / sizeof lds_rows[0]};
const isa_table isa_table_constant = {constant_rows, sizeof constant_rows / sizeof constant_rows[0]};

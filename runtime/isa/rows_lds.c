/* LDS, and the exchanges of lanes that go through it. */
#include "access.h"
#include "barrier.h"
#include "memory.h"
#include "sources.h"

/* ---- Loads and stores ------------------------------------------------------------------------------------ */

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

static void load_lds_at(isa_wave *wave, unsigned reg, unsigned registers, isa_shape shape,
                        const uint32_t addresses[ISA_LANES_MAX]) {
    size_t bytes = isa_shape_bytes(shape, registers);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        static const unsigned char zeros[64];
        bool inside =
            is_aligned(wave, lane, addresses[lane], bytes) && isa_lds_check(wave, lane, addresses[lane], bytes, false);
        /* reads outside give 0 (guide, LDS out of range) */
        isa_fill(wave, reg, registers, shape, lane, inside ? wave->group->lds + addresses[lane] : zeros);
    }
    if (wave->counts != NULL) {
        isa_count_lds(wave, isa_exec(wave), addresses, bytes, false);
    }
}

static void store_lds_at(isa_wave *wave, unsigned reg, unsigned registers, isa_shape shape,
                         const uint32_t addresses[ISA_LANES_MAX]) {
    size_t bytes = isa_shape_bytes(shape, registers);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        if (is_aligned(wave, lane, addresses[lane], bytes) && isa_lds_check(wave, lane, addresses[lane], bytes, true)) {
            isa_barrier_store(wave, addresses[lane], bytes);
            isa_drain(wave, reg, registers, shape, lane, wave->group->lds + addresses[lane]);
        }
    }
    if (wave->counts != NULL) {
        isa_count_lds(wave, isa_exec(wave), addresses, bytes, true);
    }
}

static void load_lds(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    uint32_t addresses[ISA_LANES_MAX];
    if (!isa_has_registers(wave, &i->operands[0], registers)) {
        return;
    }
    isa_lds_addresses(wave, &i->operands[1], (uint32_t)i->offset, addresses);
    isa_mark_loaded(wave, &i->operands[0], registers, isa_exec(wave), ISA_QUEUE_LDS);
    load_lds_at(wave, i->operands[0].reg, registers, isa_with_half(shape, &i->operands[0]), addresses);
}

static void store_lds(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    uint32_t addresses[ISA_LANES_MAX];
    if (!isa_has_registers(wave, &i->operands[1], registers)) {
        return;
    }
    isa_lds_addresses(wave, &i->operands[0], (uint32_t)i->offset, addresses);
    isa_mark_stored(wave, &i->operands[1], registers, isa_exec(wave), ISA_QUEUE_LDS);
    store_lds_at(wave, i->operands[1].reg, registers, isa_with_half(shape, &i->operands[1]), addresses);
}

/* Two values of `registers` each, at two offsets in units of `stride` values. */
static void load_lds_two(isa_wave *wave, const isa_instruction *i, unsigned registers, uint32_t stride) {
    uint32_t addresses[ISA_LANES_MAX], unit = registers * (uint32_t)sizeof(uint32_t) * stride;
    if (!isa_has_registers(wave, &i->operands[0], 2 * registers)) {
        return;
    }
    isa_lds_addresses(wave, &i->operands[1], i->offset0 * unit, addresses);
    uint32_t second[ISA_LANES_MAX];
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        second[lane] = addresses[lane] + i->offset1 * unit - i->offset0 * unit;
    }
    isa_mark_loaded(wave, &i->operands[0], 2 * registers, isa_exec(wave), ISA_QUEUE_LDS);
    load_lds_at(wave, i->operands[0].reg, registers, ISA_WHOLE, addresses);
    load_lds_at(wave, i->operands[0].reg + registers, registers, ISA_WHOLE, second);
}

static void store_lds_two(isa_wave *wave, const isa_instruction *i, unsigned registers, uint32_t stride) {
    uint32_t addresses[ISA_LANES_MAX], second[ISA_LANES_MAX];
    uint32_t unit = registers * (uint32_t)sizeof(uint32_t) * stride;
    if (!isa_has_registers(wave, &i->operands[1], registers) || !isa_has_registers(wave, &i->operands[2], registers)) {
        return;
    }
    isa_lds_addresses(wave, &i->operands[0], i->offset0 * unit, addresses);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        second[lane] = addresses[lane] + i->offset1 * unit - i->offset0 * unit;
    }
    isa_mark_stored(wave, &i->operands[1], registers, isa_exec(wave), ISA_QUEUE_LDS);
    for (unsigned n = 0; wave->checks != NULL && n < registers; n++) {
        isa_check_vgpr_read(wave, i->operands[2].reg + n, isa_exec(wave));
    }
    store_lds_at(wave, i->operands[1].reg, registers, ISA_WHOLE, addresses);
    store_lds_at(wave, i->operands[2].reg, registers, ISA_WHOLE, second);
}

/* ---- Exchanges of lanes ---------------------------------------------------------------------------------- */

/* What an exchange gives its lanes comes as of a load. */
static void give_lanes(isa_wave *wave, const isa_instruction *i, uint64_t exec, const uint32_t values[ISA_LANES_MAX]) {
    isa_mark_loaded(wave, &i->operands[0], 1, exec, ISA_QUEUE_LDS);
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        wave->vgpr[i->operands[0].reg][__builtin_ctzll(left)] = values[__builtin_ctzll(left)];
    }
}

/* The lane that an address names, modulo `span`, in the lane's own group of so many. */
static uint32_t lane_of(uint32_t address, unsigned lane, unsigned span) {
    return address / 4 % span + lane / span * span;
}

/* Lane n reads the lane whose number is in its address divided by 4; lanes that are off give 0 unless they are fetched
 * too. */
static void pull(isa_wave *wave, const isa_instruction *i, unsigned span, bool fetch_inactive) {
    uint32_t addresses[ISA_LANES_MAX], room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave), needed = 0;
    if (!isa_has_registers(wave, &i->operands[0], 1)) {
        return;
    }
    isa_lds_addresses(wave, &i->operands[1], (uint32_t)i->offset, addresses);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        addresses[lane] = lane_of(addresses[lane], lane, span);
        needed |= (exec >> lane & 1) << addresses[lane];
    }
    uint64_t readable = fetch_inactive ? UINT64_MAX : exec;
    const uint32_t *from = isa_read_lanes(wave, &i->operands[2], 0, needed & readable, room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        values[lane] = (readable >> addresses[lane] & 1) != 0 ? from[addresses[lane]] : 0;
    }
    give_lanes(wave, i, exec, values);
}

/* Lane n's value goes to the lane whose number is in its address divided by 4; of several the highest wins, and lanes
 * that nobody writes to get 0. */
static void push(isa_wave *wave, const isa_instruction *i, unsigned span) {
    uint32_t addresses[ISA_LANES_MAX], room[ISA_LANES_MAX], values[ISA_LANES_MAX] = {0};
    uint64_t exec = isa_exec(wave);
    if (!isa_has_registers(wave, &i->operands[0], 1)) {
        return;
    }
    isa_lds_addresses(wave, &i->operands[1], (uint32_t)i->offset, addresses);
    const uint32_t *from = isa_read_lanes(wave, &i->operands[2], 0, exec, room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        if ((exec >> lane & 1) != 0) {
            values[lane_of(addresses[lane], lane, span)] = from[lane];
        }
    }
    give_lanes(wave, i, exec, values);
}

/* In a wave of 64 each half is by itself: the guide's pseudocode takes the number modulo 32 and does not say of which
 * half; drivers that move values between halves do it otherwise because this instruction does not. */
static void ds_bpermute_b32(isa_wave *wave, const isa_instruction *i) {
    pull(wave, i, 32, false);
}

static void ds_permute_b32(isa_wave *wave, const isa_instruction *i) {
    push(wave, i, 32);
}

/* Over all lanes, in waves of 64 too (RDNA4's pseudocode). */
static void bpermute_of_wave(isa_wave *wave, const isa_instruction *i) {
    pull(wave, i, wave->lanes, false);
}

static void permute_of_wave(isa_wave *wave, const isa_instruction *i) {
    push(wave, i, wave->lanes);
}

static void ds_bpermute_fi_b32(isa_wave *wave, const isa_instruction *i) {
    pull(wave, i, wave->lanes, true);
}

/* The lane that a fixed pattern in the offset names: of four lanes each its own choice, a rotation of 32, or masks of
 * the lane's number. -1: the pattern for fast Fourier transforms, which is not known. */
static int swizzle_source(uint32_t offset, unsigned lane) {
    unsigned within = lane & 31, half = lane & 32;
    if (offset >= 0xe000) {
        return -1;
    }
    if (offset >= 0xc000) {
        unsigned mask = offset & 31, by = offset >> 5 & 31;
        unsigned turned = (offset >> 10 & 1) != 0 ? within - by : within + by;
        return (int)(((within & mask) | (turned & ~mask & 31)) + half);
    }
    if (offset >= 0x8000) {
        return (int)((lane & ~3u) + (offset >> 2 * (lane & 3) & 3));
    }
    return (int)((((within & offset & 31) | (offset >> 5 & 31)) ^ (offset >> 10 & 31)) + half);
}

static void ds_swizzle_b32(isa_wave *wave, const isa_instruction *i) {
    uint32_t room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    if (!isa_has_registers(wave, &i->operands[0], 1)) {
        return;
    }
    const uint32_t *from = isa_read_lanes(wave, &i->operands[1], 0, exec, room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        int source = swizzle_source((uint32_t)i->offset, lane);
        if (source < 0) {
            isa_give_up(wave, "unsupported-modifier", "the pattern of swizzle 0x%x is not known", (unsigned)i->offset);
            return;
        }
        values[lane] = (exec >> source & 1) != 0 ? from[source] : 0;
    }
    give_lanes(wave, i, exec, values);
}

/* ---- The table ------------------------------------------------------------------------------------------- */

#define LOADS(X)                                                                                                       \
    X(ds_load_u8, load_lds, ISA_BYTE, 1)                                                                               \
    X(ds_load_i8, load_lds, ISA_SIGNED_BYTE, 1)                                                                        \
    X(ds_load_u16, load_lds, ISA_SHORT, 1)                                                                             \
    X(ds_load_i16, load_lds, ISA_SIGNED_SHORT, 1)                                                                      \
    X(ds_load_b32, load_lds, ISA_WHOLE, 1)                                                                             \
    X(ds_load_b64, load_lds, ISA_WHOLE, 2)                                                                             \
    X(ds_load_b96, load_lds, ISA_WHOLE, 3)                                                                             \
    X(ds_load_b128, load_lds, ISA_WHOLE, 4)                                                                            \
    X(ds_load_u16_d16, load_lds, ISA_LOW_HALF, 1)                                                                      \
    X(ds_load_u16_d16_hi, load_lds, ISA_HIGH_HALF, 1)                                                                  \
    X(ds_load_u8_d16, load_lds, ISA_LOW_BYTE, 1)                                                                       \
    X(ds_load_i8_d16, load_lds, ISA_LOW_SIGNED_BYTE, 1)                                                                \
    X(ds_load_u8_d16_hi, load_lds, ISA_HIGH_BYTE, 1)                                                                   \
    X(ds_load_i8_d16_hi, load_lds, ISA_HIGH_SIGNED_BYTE, 1)
#define STORES(X)                                                                                                      \
    X(ds_store_b8, store_lds, ISA_BYTE, 1)                                                                             \
    X(ds_store_b16, store_lds, ISA_SHORT, 1)                                                                           \
    X(ds_store_b32, store_lds, ISA_WHOLE, 1)                                                                           \
    X(ds_store_b64, store_lds, ISA_WHOLE, 2)                                                                           \
    X(ds_store_b96, store_lds, ISA_WHOLE, 3)                                                                           \
    X(ds_store_b128, store_lds, ISA_WHOLE, 4)                                                                          \
    X(ds_store_b16_d16_hi, store_lds, ISA_HIGH_HALF, 1)                                                                \
    X(ds_store_b8_d16_hi, store_lds, ISA_HIGH_BYTE, 1)
/* Registers of one of the two values, and the stride of the offsets in values. */
#define TWO_LOADS(X)                                                                                                   \
    X(ds_load_2addr_b32, load_lds_two, 1, 1)                                                                           \
    X(ds_load_2addr_b64, load_lds_two, 2, 1)                                                                           \
    X(ds_load_2addr_stride64_b32, load_lds_two, 1, 64)                                                                 \
    X(ds_load_2addr_stride64_b64, load_lds_two, 2, 64)
#define TWO_STORES(X)                                                                                                  \
    X(ds_store_2addr_b32, store_lds_two, 1, 1)                                                                         \
    X(ds_store_2addr_b64, store_lds_two, 2, 1)                                                                         \
    X(ds_store_2addr_stride64_b32, store_lds_two, 1, 64)                                                               \
    X(ds_store_2addr_stride64_b64, store_lds_two, 2, 64)

#define DEFINE(name, function, first, second)                                                                          \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        function(wave, i, first, second);                                                                              \
    }
LOADS(DEFINE)
STORES(DEFINE)
TWO_LOADS(DEFINE)
TWO_STORES(DEFINE)

#define ROW(name, operands)                                                                                            \
    { #name, operands, ISA_CLASS_LDS, NULL, name, ISA_GFX11, ISA_LDS }
#define LOAD(name, function, first, second)  ROW(name, "Dx Sx"),
#define STORE(name, function, first, second) ROW(name, "Sx Sx"),
#define THREE(name, function, first, second) ROW(name, "Sx Sx Sx"),

static const isa_row rows[] = {
    LOADS(LOAD) STORES(STORE) TWO_LOADS(LOAD) TWO_STORES(THREE) ROW(ds_bpermute_b32, "Dx Sx Sx"),
    ROW(ds_permute_b32, "Dx Sx Sx"),
    ROW(ds_swizzle_b32, "Dx Sx"),
    {"ds_bpermute_b32@wave", "Dx Sx Sx", ISA_CLASS_LDS, NULL, bpermute_of_wave, ISA_GFX12, ISA_RDNA4_LDS},
    {"ds_permute_b32@wave", "Dx Sx Sx", ISA_CLASS_LDS, NULL, permute_of_wave, ISA_GFX12, ISA_RDNA4_LDS},
    {"ds_bpermute_fi_b32", "Dx Sx Sx", ISA_CLASS_LDS, NULL, ds_bpermute_fi_b32, ISA_GFX12, ISA_RDNA4_LDS},
};

const isa_table isa_table_lds = {rows, sizeof rows / sizeof rows[0]};

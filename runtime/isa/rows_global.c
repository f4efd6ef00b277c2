/* Loads and stores of lanes: global, scratch and flat. What a load fills is filled at once and marked until the wait
 * that covers it. */
#include "access.h"
#include "memory.h"
#include "sources.h"

/* ---- Global ---------------------------------------------------------------------------------------------- */

static void load_global(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    uint64_t addresses[ISA_LANES_MAX], exec = isa_exec(wave);
    const isa_operand *data = &i->operands[0];
    if (!isa_has_registers(wave, data, registers)) {
        return;
    }
    shape = isa_with_half(shape, data);
    size_t bytes = isa_shape_bytes(shape, registers);
    isa_global_addresses(wave, i, &i->operands[1], &i->operands[2], addresses);
    isa_mark_loaded(wave, data, registers, exec, ISA_QUEUE_LOAD);
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        const unsigned char *from = isa_global(wave, lane, addresses[lane], bytes, false);
        if (from == NULL) {
            return;
        }
        isa_fill(wave, data->reg, registers, shape, lane, from);
    }
    if (wave->counts != NULL) {
        isa_count_global(wave, exec, addresses, bytes, false);
    }
}

static void store_global(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    uint64_t addresses[ISA_LANES_MAX], exec = isa_exec(wave);
    const isa_operand *data = &i->operands[1];
    if (!isa_has_registers(wave, data, registers)) {
        return;
    }
    shape = isa_with_half(shape, data);
    size_t bytes = isa_shape_bytes(shape, registers);
    isa_global_addresses(wave, i, &i->operands[0], &i->operands[2], addresses);
    isa_mark_stored(wave, data, registers, exec, ISA_QUEUE_STORE);
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        unsigned char *to = isa_global(wave, lane, addresses[lane], bytes, true);
        if (to == NULL) {
            return;
        }
        isa_drain(wave, data->reg, registers, shape, lane, to);
    }
    if (wave->counts != NULL) {
        isa_count_global(wave, exec, addresses, bytes, true);
    }
}

/* ---- Scratch: each lane has bytes of its own ------------------------------------------------------------- */

/* vaddr or "off", saddr or "off", and the constant offset; NULL after a finding. */
static unsigned char *scratch(isa_wave *wave, const isa_instruction *i, const isa_operand *vaddr,
                              const isa_operand *saddr, int lane, size_t bytes) {
    uint32_t room[ISA_LANES_MAX];
    uint64_t at = (uint64_t)(int64_t)i->offset;
    if (vaddr->kind != ISA_OPERAND_OFF) {
        at += isa_read_lanes(wave, vaddr, 0, UINT64_C(1) << lane, room)[lane];
    }
    if (saddr->kind != ISA_OPERAND_OFF) {
        at += isa_read_scalar(wave, saddr);
    }
    return isa_scratch(wave, lane, at, bytes);
}

static void load_scratch(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    const isa_operand *data = &i->operands[0];
    if (!isa_has_registers(wave, data, registers)) {
        return;
    }
    shape = isa_with_half(shape, data);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        const unsigned char *from =
            scratch(wave, i, &i->operands[1], &i->operands[2], lane, isa_shape_bytes(shape, registers));
        if (from == NULL) {
            return;
        }
        isa_fill(wave, data->reg, registers, shape, lane, from);
    }
    /* its address may be in the same register */
    isa_mark_loaded(wave, data, registers, isa_exec(wave), ISA_QUEUE_LOAD);
}

static void store_scratch(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    const isa_operand *data = &i->operands[1];
    if (!isa_has_registers(wave, data, registers)) {
        return;
    }
    shape = isa_with_half(shape, data);
    isa_mark_kept(wave, data, registers);
    for (uint64_t left = isa_exec(wave); left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        unsigned char *to = scratch(wave, i, &i->operands[0], &i->operands[2], lane, isa_shape_bytes(shape, registers));
        if (to == NULL) {
            return;
        }
        isa_drain(wave, data->reg, registers, shape, lane, to);
    }
}

/* ---- Flat: generic addresses ----------------------------------------------------------------------------- */

static const isa_operand off = {.kind = ISA_OPERAND_OFF};

/* A flat access counts for vmcnt (vscnt) and for lgkmcnt, so that code waits for both. It is marked as one of LDS if a
 * lane's address is there, else as one of memory: the wait that its data need. */
static isa_queue queue_of(uint64_t exec, const uint64_t addresses[ISA_LANES_MAX], isa_queue memory) {
    for (uint64_t left = exec; left != 0; left &= left - 1) {
        if (isa_is_shared(addresses[__builtin_ctzll(left)])) {
            return ISA_QUEUE_LDS;
        }
    }
    return memory;
}

static void load_flat(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    static const unsigned char zeros[64];
    uint64_t addresses[ISA_LANES_MAX], exec = isa_exec(wave);
    const isa_operand *data = &i->operands[0];
    if (!isa_has_registers(wave, data, registers)) {
        return;
    }
    shape = isa_with_half(shape, data);
    isa_global_addresses(wave, i, &i->operands[1], &off, addresses);
    isa_mark_loaded(wave, data, registers, exec, queue_of(exec, addresses, ISA_QUEUE_LOAD));
    for (uint64_t left = exec; left != 0 && !wave->failed; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        const unsigned char *from = isa_generic(wave, lane, addresses[lane], isa_shape_bytes(shape, registers), false);
        isa_fill(wave, data->reg, registers, shape, lane, from != NULL ? from : zeros);
    }
    if (wave->counts != NULL && !wave->failed) {
        isa_count_generic(wave, exec, addresses, isa_shape_bytes(shape, registers), false);
    }
}

static void store_flat(isa_wave *wave, const isa_instruction *i, isa_shape shape, unsigned registers) {
    uint64_t addresses[ISA_LANES_MAX], exec = isa_exec(wave);
    const isa_operand *data = &i->operands[1];
    if (!isa_has_registers(wave, data, registers)) {
        return;
    }
    shape = isa_with_half(shape, data);
    isa_global_addresses(wave, i, &i->operands[0], &off, addresses);
    isa_mark_stored(wave, data, registers, exec, queue_of(exec, addresses, ISA_QUEUE_STORE));
    for (uint64_t left = exec; left != 0 && !wave->failed; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        unsigned char *to = isa_generic(wave, lane, addresses[lane], isa_shape_bytes(shape, registers), true);
        if (to != NULL) {
            isa_drain(wave, data->reg, registers, shape, lane, to);
        }
    }
    if (wave->counts != NULL && !wave->failed) {
        isa_count_generic(wave, exec, addresses, isa_shape_bytes(shape, registers), true);
    }
}

/* ---- The table ------------------------------------------------------------------------------------------- */

/* The accesses that each of the three has: name, how the value lies, registers. */
#define LOADS(X, prefix)                                                                                               \
    X(prefix, load_u8, load, ISA_BYTE, 1)                                                                              \
    X(prefix, load_i8, load, ISA_SIGNED_BYTE, 1)                                                                       \
    X(prefix, load_u16, load, ISA_SHORT, 1)                                                                            \
    X(prefix, load_i16, load, ISA_SIGNED_SHORT, 1)                                                                     \
    X(prefix, load_b32, load, ISA_WHOLE, 1)                                                                            \
    X(prefix, load_b64, load, ISA_WHOLE, 2)                                                                            \
    X(prefix, load_b96, load, ISA_WHOLE, 3)                                                                            \
    X(prefix, load_b128, load, ISA_WHOLE, 4)                                                                           \
    X(prefix, load_d16_b16, load, ISA_LOW_HALF, 1)                                                                     \
    X(prefix, load_d16_hi_b16, load, ISA_HIGH_HALF, 1)                                                                 \
    X(prefix, load_d16_u8, load, ISA_LOW_BYTE, 1)                                                                      \
    X(prefix, load_d16_i8, load, ISA_LOW_SIGNED_BYTE, 1)                                                               \
    X(prefix, load_d16_hi_u8, load, ISA_HIGH_BYTE, 1)                                                                  \
    X(prefix, load_d16_hi_i8, load, ISA_HIGH_SIGNED_BYTE, 1)
#define STORES(X, prefix)                                                                                              \
    X(prefix, store_b8, store, ISA_BYTE, 1)                                                                            \
    X(prefix, store_b16, store, ISA_SHORT, 1)                                                                          \
    X(prefix, store_b32, store, ISA_WHOLE, 1)                                                                          \
    X(prefix, store_b64, store, ISA_WHOLE, 2)                                                                          \
    X(prefix, store_b96, store, ISA_WHOLE, 3)                                                                          \
    X(prefix, store_b128, store, ISA_WHOLE, 4)                                                                         \
    X(prefix, store_d16_hi_b16, store, ISA_HIGH_HALF, 1)                                                               \
    X(prefix, store_d16_hi_b8, store, ISA_HIGH_BYTE, 1)

#define DEFINE(prefix, name, function, shape, registers)                                                               \
    static void prefix##_##name(isa_wave *wave, const isa_instruction *i) {                                            \
        function##_##prefix(wave, i, shape, registers);                                                                \
    }
LOADS(DEFINE, global)
STORES(DEFINE, global)
LOADS(DEFINE, scratch)
STORES(DEFINE, scratch)
LOADS(DEFINE, flat)
STORES(DEFINE, flat)

/* Caches are not modelled. */
static void nothing(isa_wave *wave, const isa_instruction *i) {
    (void)wave;
    (void)i;
}

#define SOURCE_global  ISA_GLOBAL
#define SOURCE_scratch ISA_SCRATCH
#define LOAD(prefix, name, function, shape, registers)                                                                 \
    {#prefix "_" #name, "Dx Sx Sx", ISA_CLASS_LOAD, NULL, prefix##_##name, ISA_GFX11, SOURCE_##prefix},
#define STORE(prefix, name, function, shape, registers)                                                                \
    {#prefix "_" #name, "Sx Sx Sx", ISA_CLASS_STORE, NULL, prefix##_##name, ISA_GFX11, SOURCE_##prefix},
#define FLAT_LOAD(prefix, name, function, shape, registers)                                                            \
    {#prefix "_" #name, "Dx Sv2", ISA_CLASS_LOAD, NULL, prefix##_##name, ISA_GFX11, ISA_FLAT},
#define FLAT_STORE(prefix, name, function, shape, registers)                                                           \
    {#prefix "_" #name, "Sv2 Sx", ISA_CLASS_STORE, NULL, prefix##_##name, ISA_GFX11, ISA_FLAT},

static const isa_row rows[] = {
    LOADS(LOAD, global) STORES(STORE, global) LOADS(LOAD, scratch) STORES(STORE, scratch) LOADS(FLAT_LOAD, flat)
        STORES(FLAT_STORE, flat){"buffer_gl0_inv", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_MUBUF},
    {"buffer_gl1_inv", "", ISA_CLASS_WAIT, NULL, nothing, ISA_GFX11, ISA_MUBUF},
};

const isa_table isa_table_global = {rows, sizeof rows / sizeof rows[0]};

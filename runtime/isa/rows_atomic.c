/* Atomic operations on LDS and on memory. A wave runs alone in its workgroup, so that only memory needs the host's
 * atomics: other workgroups may run at the same time. */
#include "access.h"
#include "barrier.h"
#include "floats.h"
#include "half.h"
#include "memory.h"
#include "sources.h"

/* ---- Operations ------------------------------------------------------------------------------------------ */

/* What stands there afterwards: of what stood there, the data, and of comparisons what it must equal. */
typedef uint64_t (*operation)(uint64_t old, uint64_t data, uint64_t expected);

#define OPERATION(name, type, expression)                                                                              \
    static uint64_t name(uint64_t old_bits, uint64_t data_bits, uint64_t expected_bits) {                              \
        const type old = (type)old_bits, data = (type)data_bits, expected = (type)expected_bits;                       \
        (void)old, (void)data, (void)expected;                                                                         \
        return (uint64_t)(expression);                                                                                 \
    }
OPERATION(op_add, uint64_t, old + data)
OPERATION(op_sub, uint64_t, old - data)
OPERATION(op_rsub, uint64_t, data - old)
OPERATION(op_and, uint64_t, old &data)
OPERATION(op_or, uint64_t, old | data)
OPERATION(op_xor, uint64_t, old ^ data)
OPERATION(op_swap, uint64_t, data)
OPERATION(op_umin, uint64_t, data < old ? data : old)
OPERATION(op_umax, uint64_t, data > old ? data : old)
OPERATION(op_smin32, int32_t, (uint32_t)(data < old ? data : old))
OPERATION(op_smax32, int32_t, (uint32_t)(data > old ? data : old))
OPERATION(op_smin64, int64_t, data < old ? data : old)
OPERATION(op_smax64, int64_t, data > old ? data : old)
OPERATION(op_inc, uint64_t, old >= data ? 0 : old + 1)
OPERATION(op_dec, uint64_t, old == 0 || old > data ? data : old - 1)
OPERATION(op_cmpswap, uint64_t, old == expected ? data : old)
OPERATION(op_sub_clamp, uint64_t, old < data ? 0 : old - data)
OPERATION(op_cond_sub, uint64_t, old < data ? old : old - data)

/* float32, in the low words. Chapter 13 of the RDNA3 guide: to op_fmin and op_fmax a NaN loses to a number, -0 is below
 * +0. */
#define FLOAT_OPERATION(name, expression)                                                                              \
    static uint64_t name(uint64_t old_bits, uint64_t data_bits, uint64_t expected) {                                   \
        const float old = isa_f32((uint32_t)old_bits), data = isa_f32((uint32_t)data_bits);                            \
        (void)expected;                                                                                                \
        return isa_bits(expression);                                                                                   \
    }
FLOAT_OPERATION(op_fadd, old + data)
FLOAT_OPERATION(op_fmin, isa_minimum(old, data))
FLOAT_OPERATION(op_fmax, isa_maximum(old, data))
FLOAT_OPERATION(op_min_num, isa_min_num(old, data))
FLOAT_OPERATION(op_max_num, isa_max_num(old, data))

/* Two 16-bit floats at once. */
#define PAIR_ADDITION(name, to_float, from_float)                                                                      \
    static uint64_t name(uint64_t old, uint64_t data, uint64_t expected) {                                             \
        (void)expected;                                                                                                \
        float low = to_float(old & 0xffff) + to_float(data & 0xffff);                                                  \
        float high = to_float(old >> 16 & 0xffff) + to_float(data >> 16 & 0xffff);                                     \
        return from_float(low) | from_float(high) << 16;                                                               \
    }
PAIR_ADDITION(op_pk_add_f16, isa_half_to_float, isa_float_to_half)
PAIR_ADDITION(op_pk_add_bf16, isa_bfloat_to_float, isa_float_to_bfloat)

static uint64_t load(const unsigned char *from, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, from, bytes);
    return value;
}

static uint64_t apply32(unsigned char *at, operation op, uint64_t data, uint64_t expected) {
    uint32_t *word = (uint32_t *)(void *)at, old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, (uint32_t)op(old, data, expected), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
    }
    return old;
}

static uint64_t apply64(unsigned char *at, operation op, uint64_t data, uint64_t expected) {
    uint64_t *word = (uint64_t *)(void *)at, old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(word, &old, op(old, data, expected), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    return old;
}

/* ---- Lanes ----------------------------------------------------------------------------------------------- */

/* Data of a lane: `registers` of them from the operand's first plus `from`. */
static uint64_t data_of(const isa_wave *wave, const isa_operand *data, unsigned from, unsigned registers, int lane) {
    uint64_t value = wave->vgpr[data->reg + from][lane];
    return registers == 2 ? (uint64_t)wave->vgpr[data->reg + from + 1][lane] << 32 | value : value;
}

static void give(isa_wave *wave, const isa_operand *to, unsigned registers, int lane, uint64_t old) {
    wave->vgpr[to->reg][lane] = (uint32_t)old;
    if (registers == 2) {
        wave->vgpr[to->reg + 1][lane] = (uint32_t)(old >> 32);
    }
}

static bool is_misaligned(isa_wave *wave, int lane, uint64_t address, size_t bytes) {
    if (address % bytes == 0) {
        return false;
    }
    isa_report(wave, lane, "misaligned", "an atomic operation at 0x%llx, expected a multiple of %zu",
               (unsigned long long)address, bytes);
    wave->failed = true;
    return true;
}

/* ds_X address, data [, expected], or with a result before them. */
static void lds_atomic(isa_wave *wave, const isa_instruction *i, operation op, unsigned registers, bool result,
                       bool compares) {
    uint32_t addresses[ISA_LANES_MAX];
    const isa_operand *operands = i->operands + result, *data = &operands[1], *expected = &operands[1 + compares];
    uint64_t exec = isa_exec(wave);
    size_t bytes = registers * sizeof(uint32_t);
    if (!isa_has_registers(wave, data, registers) || !isa_has_registers(wave, expected, registers) ||
        (result && !isa_has_registers(wave, &i->operands[0], registers))) {
        return;
    }
    isa_lds_addresses(wave, &operands[0], (uint32_t)i->offset, addresses);
    isa_mark_stored(wave, data, registers, exec, ISA_QUEUE_LDS);
    for (unsigned n = 0; wave->checks != NULL && n < registers; n++) {
        isa_check_vgpr_read(wave, expected->reg + n, exec);
    }
    uint64_t old[ISA_LANES_MAX];
    for (uint64_t left = exec; left != 0 && !wave->failed; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint32_t at = addresses[lane];
        old[lane] = 0;
        if (is_misaligned(wave, lane, at, bytes) || !isa_lds_check(wave, lane, at, bytes, false) ||
            !isa_lds_check(wave, lane, at, bytes, true)) {
            continue;
        }
        old[lane] = load(wave->group->lds + at, bytes);
        uint64_t value =
            op(old[lane], data_of(wave, data, 0, registers, lane), data_of(wave, expected, 0, registers, lane));
        memcpy(wave->group->lds + at, &value, bytes);
        isa_barrier_store(wave, at, bytes);
    }
    if (result && !wave->failed) {
        isa_mark_loaded(wave, &i->operands[0], registers, exec, ISA_QUEUE_LDS);
        for (uint64_t left = exec; left != 0; left &= left - 1) {
            give(wave, &i->operands[0], registers, __builtin_ctzll(left), old[__builtin_ctzll(left)]);
        }
    }
    if (wave->counts != NULL) {
        isa_count_lds(wave, exec, addresses, bytes, true);
    }
}

/* global_atomic_X [result,] address, data, base; flat_atomic_X without a base. A modifier asks for the result. Data of
 * a comparison are two values, what is stored before what it must equal. */
static void memory_atomic(isa_wave *wave, const isa_instruction *i, operation op, unsigned registers, bool compares,
                          bool flat) {
    static const isa_operand off = {.kind = ISA_OPERAND_OFF};
    uint64_t addresses[ISA_LANES_MAX], old[ISA_LANES_MAX], exec = isa_exec(wave);
    bool result = i->returns;
    const isa_operand *operands = i->operands + result, *data = &operands[1];
    size_t bytes = registers * sizeof(uint32_t);
    if (!isa_has_registers(wave, data, registers * (1u + compares)) ||
        (result && !isa_has_registers(wave, &i->operands[0], registers))) {
        return;
    }
    isa_global_addresses(wave, i, &operands[0], flat ? &off : &operands[2], addresses);
    isa_mark_stored(wave, data, registers * (1u + compares), exec, result ? ISA_QUEUE_LOAD : ISA_QUEUE_STORE);
    for (uint64_t left = exec; left != 0 && !wave->failed; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        old[lane] = 0;
        if (is_misaligned(wave, lane, addresses[lane], bytes)) {
            return;
        }
        unsigned char *at = flat ? isa_generic(wave, lane, addresses[lane], bytes, true)
                                 : isa_global_shared(wave, lane, addresses[lane], bytes);
        if (at != NULL) {
            uint64_t expected = compares ? data_of(wave, data, registers, registers, lane) : 0;
            old[lane] = (registers == 2 ? apply64 : apply32)(at, op, data_of(wave, data, 0, registers, lane), expected);
        }
    }
    if (result && !wave->failed) {
        isa_mark_loaded(wave, &i->operands[0], registers, exec, ISA_QUEUE_LOAD);
        for (uint64_t left = exec; left != 0; left &= left - 1) {
            give(wave, &i->operands[0], registers, __builtin_ctzll(left), old[__builtin_ctzll(left)]);
        }
    }
    if (wave->counts != NULL && !wave->failed) {
        (flat ? isa_count_generic : isa_count_global)(wave, exec, addresses, bytes, true);
    }
}

/* ---- The tables ------------------------------------------------------------------------------------------ */

/* Name in LDS without and with a result; name in memory; operation, registers, whether it compares. */
#define BOTH(X)                                                                                                        \
    X(add_u32, add_rtn_u32, add_u32, op_add, 1, false)                                                                 \
    X(sub_u32, sub_rtn_u32, sub_u32, op_sub, 1, false)                                                                 \
    X(min_i32, min_rtn_i32, min_i32, op_smin32, 1, false)                                                              \
    X(max_i32, max_rtn_i32, max_i32, op_smax32, 1, false)                                                              \
    X(min_u32, min_rtn_u32, min_u32, op_umin, 1, false)                                                                \
    X(max_u32, max_rtn_u32, max_u32, op_umax, 1, false)                                                                \
    X(and_b32, and_rtn_b32, and_b32, op_and, 1, false)                                                                 \
    X(or_b32, or_rtn_b32, or_b32, op_or, 1, false)                                                                     \
    X(xor_b32, xor_rtn_b32, xor_b32, op_xor, 1, false)                                                                 \
    X(inc_u32, inc_rtn_u32, inc_u32, op_inc, 1, false)                                                                 \
    X(dec_u32, dec_rtn_u32, dec_u32, op_dec, 1, false)                                                                 \
    X(add_f32, add_rtn_f32, add_f32, op_fadd, 1, false)                                                                \
    X(min_f32, min_rtn_f32, min_f32, op_fmin, 1, false)                                                                \
    X(max_f32, max_rtn_f32, max_f32, op_fmax, 1, false)                                                                \
    X(cmpstore_b32, cmpstore_rtn_b32, cmpswap_b32, op_cmpswap, 1, true)                                                \
    X(add_u64, add_rtn_u64, add_u64, op_add, 2, false)                                                                 \
    X(sub_u64, sub_rtn_u64, sub_u64, op_sub, 2, false)                                                                 \
    X(min_i64, min_rtn_i64, min_i64, op_smin64, 2, false)                                                              \
    X(max_i64, max_rtn_i64, max_i64, op_smax64, 2, false)                                                              \
    X(min_u64, min_rtn_u64, min_u64, op_umin, 2, false)                                                                \
    X(max_u64, max_rtn_u64, max_u64, op_umax, 2, false)                                                                \
    X(and_b64, and_rtn_b64, and_b64, op_and, 2, false)                                                                 \
    X(or_b64, or_rtn_b64, or_b64, op_or, 2, false)                                                                     \
    X(xor_b64, xor_rtn_b64, xor_b64, op_xor, 2, false)                                                                 \
    X(inc_u64, inc_rtn_u64, inc_u64, op_inc, 2, false)                                                                 \
    X(dec_u64, dec_rtn_u64, dec_u64, op_dec, 2, false)                                                                 \
    X(cmpstore_b64, cmpstore_rtn_b64, cmpswap_b64, op_cmpswap, 2, true)
#define LDS_ALONE(X)                                                                                                   \
    X(rsub_u32, rsub_rtn_u32, none, op_rsub, 1, false)                                                                 \
    X(rsub_u64, rsub_rtn_u64, none, op_rsub, 2, false)
#define SWAPS(X)                                                                                                       \
    X(none, storexchg_rtn_b32, swap_b32, op_swap, 1, false)                                                            \
    X(none, storexchg_rtn_b64, swap_b64, op_swap, 2, false)

/* Of gfx12. */
#define NEW(X)                                                                                                         \
    X(min_num_f32, min_num_rtn_f32, min_num_f32, op_min_num, 1, false)                                                 \
    X(max_num_f32, max_num_rtn_f32, max_num_f32, op_max_num, 1, false)                                                 \
    X(sub_clamp_u32, sub_clamp_rtn_u32, sub_clamp_u32, op_sub_clamp, 1, false)                                         \
    X(cond_sub_u32, cond_sub_rtn_u32, cond_sub_u32, op_cond_sub, 1, false)                                             \
    X(pk_add_f16, pk_add_rtn_f16, pk_add_f16, op_pk_add_f16, 1, false)                                                 \
    X(pk_add_bf16, pk_add_rtn_bf16, pk_add_bf16, op_pk_add_bf16, 1, false)

#define DEFINE_LDS(plain, returning, memory, op, registers, compares)                                                  \
    static void ds_##plain(isa_wave *wave, const isa_instruction *i) {                                                 \
        lds_atomic(wave, i, op, registers, false, compares);                                                           \
    }
#define DEFINE_RETURNING(plain, returning, memory, op, registers, compares)                                            \
    static void ds_##returning(isa_wave *wave, const isa_instruction *i) {                                             \
        lds_atomic(wave, i, op, registers, true, compares);                                                            \
    }
#define DEFINE_MEMORY(plain, returning, memory, op, registers, compares)                                               \
    static void global_atomic_##memory(isa_wave *wave, const isa_instruction *i) {                                     \
        memory_atomic(wave, i, op, registers, compares, false);                                                        \
    }                                                                                                                  \
    static void flat_atomic_##memory(isa_wave *wave, const isa_instruction *i) {                                       \
        memory_atomic(wave, i, op, registers, compares, true);                                                         \
    }
BOTH(DEFINE_LDS)
BOTH(DEFINE_RETURNING)
BOTH(DEFINE_MEMORY)
LDS_ALONE(DEFINE_LDS)
LDS_ALONE(DEFINE_RETURNING)
SWAPS(DEFINE_RETURNING)
SWAPS(DEFINE_MEMORY)
NEW(DEFINE_LDS)
NEW(DEFINE_RETURNING)
NEW(DEFINE_MEMORY)

/* "Dx?": there is a result if a modifier asks for it. */
#define PLAIN(plain, returning, memory, op, registers, compares)                                                       \
    {"ds_" #plain, compares ? "Sx Sx Sx" : "Sx Sx", ISA_CLASS_LDS, NULL, ds_##plain, ISA_GFX11, ISA_LDS},
#define RETURNING(plain, returning, memory, op, registers, compares)                                                   \
    {"ds_" #returning, compares ? "Dx Sx Sx Sx" : "Dx Sx Sx", ISA_CLASS_LDS, NULL, ds_##returning, ISA_GFX11, ISA_LDS},
#define MEMORY(plain, returning, memory, op, registers, compares)                                                      \
    {"global_atomic_" #memory, "Dx? Sx Sx Sx", ISA_CLASS_STORE, NULL, global_atomic_##memory, ISA_GFX11, ISA_GLOBAL},  \
        {"flat_atomic_" #memory, "Dx? Sv2 Sx", ISA_CLASS_STORE, NULL, flat_atomic_##memory, ISA_GFX11, ISA_FLAT},

#define NEW_LDS(plain, returning, memory, op, registers, compares)                                                     \
    {"ds_" #plain, "Sx Sx", ISA_CLASS_LDS, NULL, ds_##plain, ISA_GFX12, ISA_RDNA4_LDS},                                \
        {"ds_" #returning, "Dx Sx Sx", ISA_CLASS_LDS, NULL, ds_##returning, ISA_GFX12, ISA_RDNA4_LDS},
#define NEW_MEMORY(plain, returning, memory, op, registers, compares)                                                  \
    {"global_atomic_" #memory, "Dx? Sx Sx Sx", ISA_CLASS_STORE, NULL,                                                  \
     global_atomic_##memory,   ISA_GFX12,      ISA_RDNA4_GLOBAL},                                                      \
        {"flat_atomic_" #memory, "Dx? Sv2 Sx", ISA_CLASS_STORE, NULL, flat_atomic_##memory, ISA_GFX12, ISA_RDNA4_FLAT},

static const isa_row lds_rows[] = {BOTH(PLAIN) BOTH(RETURNING) LDS_ALONE(PLAIN) LDS_ALONE(RETURNING) SWAPS(RETURNING)
                                       NEW(NEW_LDS)};
static const isa_row memory_rows[] = {BOTH(MEMORY) SWAPS(MEMORY) NEW(NEW_MEMORY)};

const isa_table isa_table_lds_atomic = {lds_rows, sizeof lds_rows / sizeof lds_rows[0]};
const isa_table isa_table_global_atomic = {memory_rows, sizeof memory_rows / sizeof memory_rows[0]};

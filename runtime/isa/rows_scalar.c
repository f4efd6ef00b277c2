/* Scalar arithmetic. SCC is what the guide's pseudocode says of each. */
#include <math.h>
#include <string.h>

#include "floats.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

/* D = f(a, b) of 32 bits; SCC = g(a, b, D), or stays. `scc` is SCC before. */
#define SOP2(function, result, condition)                                                                              \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        uint32_t a = isa_read_scalar(wave, &i->operands[1]), b = isa_read_scalar(wave, &i->operands[2]);               \
        bool scc = wave->scc;                                                                                          \
        uint32_t d = (result);                                                                                         \
        (void)a, (void)b, (void)scc;                                                                                   \
        wave->scc = (condition);                                                                                       \
        isa_write_scalar(wave, &i->operands[0], d);                                                                    \
    }
#define SOP2_64(function, result, condition)                                                                           \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        uint64_t a = isa_read_scalar64(wave, &i->operands[1]), b = isa_read_scalar64(wave, &i->operands[2]);           \
        bool scc = wave->scc;                                                                                          \
        uint64_t d = (result);                                                                                         \
        (void)a, (void)b, (void)scc;                                                                                   \
        wave->scc = (condition);                                                                                       \
        isa_write_scalar64(wave, &i->operands[0], d);                                                                  \
    }
/* A 64-bit value shifted or cut by a 32-bit one. */
#define SOP2_64_32(function, result, condition)                                                                        \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        uint64_t a = isa_read_scalar64(wave, &i->operands[1]);                                                         \
        uint32_t b = isa_read_scalar(wave, &i->operands[2]);                                                           \
        uint64_t d = (result);                                                                                         \
        wave->scc = (condition);                                                                                       \
        isa_write_scalar64(wave, &i->operands[0], d);                                                                  \
    }
#define SOP1(function, result, condition)                                                                              \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        uint32_t a = isa_read_scalar(wave, &i->operands[1]);                                                           \
        bool scc = wave->scc;                                                                                          \
        uint32_t d = (result);                                                                                         \
        (void)scc;                                                                                                     \
        wave->scc = (condition);                                                                                       \
        isa_write_scalar(wave, &i->operands[0], d);                                                                    \
    }
#define SOP1_64(function, result, condition)                                                                           \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        uint64_t a = isa_read_scalar64(wave, &i->operands[1]);                                                         \
        bool scc = wave->scc;                                                                                          \
        uint64_t d = (result);                                                                                         \
        (void)scc;                                                                                                     \
        wave->scc = (condition);                                                                                       \
        isa_write_scalar64(wave, &i->operands[0], d);                                                                  \
    }
/* 32 bits of a 64-bit value. */
#define SOP1_32_64(function, result, condition)                                                                        \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        uint64_t a = isa_read_scalar64(wave, &i->operands[1]);                                                         \
        bool scc = wave->scc;                                                                                          \
        uint32_t d = (result);                                                                                         \
        (void)scc;                                                                                                     \
        wave->scc = (condition);                                                                                       \
        isa_write_scalar(wave, &i->operands[0], d);                                                                    \
    }
#define SOPC(function, condition)                                                                                      \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        uint32_t a = isa_read_scalar(wave, &i->operands[0]), b = isa_read_scalar(wave, &i->operands[1]);               \
        wave->scc = (condition);                                                                                       \
    }
#define SOPC_64(function, condition)                                                                                   \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        uint64_t a = isa_read_scalar64(wave, &i->operands[0]), b = isa_read_scalar64(wave, &i->operands[1]);           \
        wave->scc = (condition);                                                                                       \
    }

static uint32_t extract_u32(uint32_t value, uint32_t control) {
    uint32_t offset = control & 31, width = control >> 16 & 0x7f;
    return width == 0 ? 0 : width >= 32 ? value >> offset : value >> offset & ((1u << width) - 1);
}

static uint32_t extract_i32(uint32_t value, uint32_t control) {
    uint32_t offset = control & 31, width = control >> 16 & 0x7f;
    if (width == 0) {
        return 0;
    }
    uint32_t left = offset + width >= 32 ? 0 : 32 - offset - width;
    return (uint32_t)((int32_t)(value << left) >> (left + offset));
}

static uint64_t extract_u64(uint64_t value, uint32_t control) {
    uint32_t offset = control & 63, width = control >> 16 & 0x7f;
    return width == 0 ? 0 : width >= 64 ? value >> offset : value >> offset & ((UINT64_C(1) << width) - 1);
}

static uint64_t extract_i64(uint64_t value, uint32_t control) {
    uint32_t offset = control & 63, width = control >> 16 & 0x7f;
    if (width == 0) {
        return 0;
    }
    uint32_t left = offset + width >= 64 ? 0 : 64 - offset - width;
    return (uint64_t)((int64_t)(value << left) >> (left + offset));
}

/* How many bits below the sign equal it and it itself; all: -1. */
static uint32_t count_signs(uint32_t value) {
    uint32_t changes = value ^ (uint32_t)((int32_t)value >> 31);
    return changes != 0 ? (uint32_t)__builtin_clz(changes) : UINT32_MAX;
}

static uint32_t count_signs64(uint64_t value) {
    uint64_t changes = value ^ (uint64_t)((int64_t)value >> 63);
    return changes != 0 ? (uint32_t)__builtin_clzll(changes) : UINT32_MAX;
}

/* Each bit of a mask of `count` groups of four: whether any of the four is set. */
static uint64_t quads(uint64_t value, unsigned count) {
    uint64_t result = 0;
    for (unsigned at = 0; at < count; at++) {
        result |= (uint64_t)((value >> 4 * at & 15) != 0) << at;
    }
    return result;
}

/* The same, spread over the four again. */
static uint64_t whole_quads(uint64_t value) {
    uint64_t result = 0;
    for (unsigned at = 0; at < 64; at += 4) {
        result |= (value >> at & 15) != 0 ? UINT64_C(15) << at : 0;
    }
    return result;
}

static uint64_t replicate(uint32_t value) {
    uint64_t result = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        result |= (uint64_t)(value >> bit & 1) * 3 << 2 * bit;
    }
    return result;
}

static uint32_t reverse(uint32_t value) {
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; bit++) {
        reversed |= (value >> bit & 1) << (31 - bit);
    }
    return reversed;
}

static uint64_t reverse64(uint64_t value) {
    return (uint64_t)reverse((uint32_t)value) << 32 | reverse((uint32_t)(value >> 32));
}

/* Float to integer: truncated, saturated, NaN is 0. */
static uint32_t float_to_u32(float value) {
    return value >= 4294967296.0f ? UINT32_MAX : value > 0.0f ? (uint32_t)value : 0;
}

static uint32_t float_to_i32(float value) {
    return value >= 2147483648.0f    ? (uint32_t)INT32_MAX
           : value <= -2147483648.0f ? (uint32_t)INT32_MIN
           : value == value          ? (uint32_t)(int32_t)value
                                     : 0;
}

SOP2(s_add_u32, a + b, (uint64_t)a + b > UINT32_MAX)
SOP2(s_sub_u32, a - b, b > a)
SOP2(s_addc_u32, a + b + scc, (uint64_t)a + b + scc > UINT32_MAX)
SOP2(s_subb_u32, a - b - scc, (uint64_t)b + scc > a)
SOP2(s_add_i32, a + b, ((a ^ d) & (b ^ d)) >> 31 != 0)
SOP2(s_sub_i32, a - b, ((a ^ b) & (a ^ d)) >> 31 != 0)
SOP2(s_mul_i32, a *b, scc)
SOP2(s_mul_hi_u32, (uint32_t)((uint64_t)a *b >> 32), scc)
SOP2(s_mul_hi_i32, (uint32_t)((uint64_t)((int64_t)(int32_t)a *(int32_t)b) >> 32), scc)
SOP2(s_min_i32, (int32_t)a < (int32_t)b ? a : b, (int32_t)a < (int32_t)b)
SOP2(s_min_u32, a < b ? a : b, a < b)
SOP2(s_max_i32, (int32_t)a >= (int32_t)b ? a : b, (int32_t)a >= (int32_t)b)
SOP2(s_max_u32, a >= b ? a : b, a >= b)
SOP2(s_and_b32, a &b, d != 0)
SOP2(s_or_b32, a | b, d != 0)
SOP2(s_xor_b32, a ^ b, d != 0)
SOP2(s_nand_b32, ~(a &b), d != 0)
SOP2(s_nor_b32, ~(a | b), d != 0)
SOP2(s_xnor_b32, ~(a ^ b), d != 0)
SOP2(s_and_not1_b32, a & ~b, d != 0)
SOP2(s_or_not1_b32, a | ~b, d != 0)
SOP2(s_lshl_b32, a << (b & 31), d != 0)
SOP2(s_lshr_b32, a >> (b & 31), d != 0)
SOP2(s_ashr_i32, (uint32_t)((int32_t)a >> (b & 31)), d != 0)
SOP2(s_bfe_u32, extract_u32(a, b), d != 0)
SOP2(s_bfe_i32, extract_i32(a, b), d != 0)
SOP2(s_bfm_b32, ((1u << (a & 31)) - 1) << (b & 31), scc)
SOP2(s_lshl1_add_u32, (a << 1) + b, ((uint64_t)a << 1) + b > UINT32_MAX)
SOP2(s_lshl2_add_u32, (a << 2) + b, ((uint64_t)a << 2) + b > UINT32_MAX)
SOP2(s_lshl3_add_u32, (a << 3) + b, ((uint64_t)a << 3) + b > UINT32_MAX)
SOP2(s_lshl4_add_u32, (a << 4) + b, ((uint64_t)a << 4) + b > UINT32_MAX)
SOP2(s_pack_ll_b32_b16, (a & 0xffff) | b << 16, scc)
SOP2(s_pack_lh_b32_b16, (a & 0xffff) | (b & 0xffff0000u), scc)
SOP2(s_pack_hh_b32_b16, a >> 16 | (b & 0xffff0000u), scc)
SOP2(s_pack_hl_b32_b16, a >> 16 | b << 16, scc)
SOP2(s_cselect_b32, scc ? a : b, scc)
SOP2(s_absdiff_i32, (a - b) >> 31 != 0 ? b - a : a - b, d != 0) /* wraps as the guide's examples do */
SOP2(s_add_f32, isa_bits(isa_f32(a) + isa_f32(b)), scc)
SOP2(s_sub_f32, isa_bits(isa_f32(a) - isa_f32(b)), scc)
SOP2(s_mul_f32, isa_bits(isa_f32(a) * isa_f32(b)), scc)
SOP2(s_min_f32, isa_bits(isa_minimum(isa_f32(a), isa_f32(b))), scc)
SOP2(s_max_f32, isa_bits(isa_maximum(isa_f32(a), isa_f32(b))), scc)

/* float16 in the low half; the high half of the result is 0 (RDNA3.5 guide, 6.8). */
#define SOP2_HALF(function, expression)                                                                                \
    static void function(isa_wave *wave, const isa_instruction *i) {                                                   \
        const float a = isa_half_to_float(isa_read_scalar_half(wave, &i->operands[1]));                                \
        const float b = isa_half_to_float(isa_read_scalar_half(wave, &i->operands[2]));                                \
        isa_write_scalar(wave, &i->operands[0], isa_float_to_half(expression));                                        \
    }
SOP2_HALF(s_add_f16, a + b)
SOP2_HALF(s_sub_f16, a - b)
SOP2_HALF(s_mul_f16, a *b)
SOP2_HALF(s_min_f16, isa_minimum(a, b))
SOP2_HALF(s_max_f16, isa_maximum(a, b))
SOP2(s_cvt_pk_rtz_f16_f32, isa_float_to_half_truncated(isa_f32(a)) | isa_float_to_half_truncated(isa_f32(b)) << 16, scc)

SOP2_64(s_and_b64, a &b, d != 0)
SOP2_64(s_or_b64, a | b, d != 0)
SOP2_64(s_xor_b64, a ^ b, d != 0)
SOP2_64(s_nand_b64, ~(a &b), d != 0)
SOP2_64(s_nor_b64, ~(a | b), d != 0)
SOP2_64(s_xnor_b64, ~(a ^ b), d != 0)
SOP2_64(s_and_not1_b64, a & ~b, d != 0)
SOP2_64(s_or_not1_b64, a | ~b, d != 0)
SOP2_64(s_cselect_b64, scc ? a : b, scc)
SOP2_64_32(s_lshl_b64, a << (b & 63), d != 0)
SOP2_64_32(s_lshr_b64, a >> (b & 63), d != 0)
SOP2_64_32(s_ashr_i64, (uint64_t)((int64_t)a >> (b & 63)), d != 0)
SOP2_64_32(s_bfe_u64, extract_u64(a, b), d != 0)
SOP2_64_32(s_bfe_i64, extract_i64(a, b), d != 0)

static void s_bfm_b64(isa_wave *wave, const isa_instruction *i) {
    uint32_t width = isa_read_scalar(wave, &i->operands[1]) & 63, offset = isa_read_scalar(wave, &i->operands[2]) & 63;
    isa_write_scalar64(wave, &i->operands[0], ((UINT64_C(1) << width) - 1) << offset);
}

/* s_fmac: the destination is the third source. s_fmaak and s_fmamk have a constant among their three. */
static void fused(isa_wave *wave, const isa_instruction *i, unsigned third) {
    float a = isa_f32(isa_read_scalar(wave, &i->operands[1])), b = isa_f32(isa_read_scalar(wave, &i->operands[2]));
    isa_write_scalar(wave, &i->operands[0], isa_bits(fmaf(a, b, isa_f32(isa_read_scalar(wave, &i->operands[third])))));
}

static void s_fmac_f32(isa_wave *wave, const isa_instruction *i) {
    fused(wave, i, 0);
}

static void s_fmaak_f32(isa_wave *wave, const isa_instruction *i) {
    fused(wave, i, 3);
}

static void s_fmac_f16(isa_wave *wave, const isa_instruction *i) {
    uint32_t a = isa_read_scalar_half(wave, &i->operands[1]), b = isa_read_scalar_half(wave, &i->operands[2]);
    isa_write_scalar(wave, &i->operands[0], isa_half_fma(a, b, isa_read_scalar(wave, &i->operands[0]) & 0xffff));
}

SOP1(s_mov_b32, a, scc)
SOP1(s_not_b32, ~a, d != 0)
SOP1(s_brev_b32, reverse(a), scc)
SOP1(s_abs_i32, (int32_t)a < 0 ? 0 - a : a, d != 0)
SOP1(s_sext_i32_i8, (uint32_t)(int32_t)(int8_t)a, scc)
SOP1(s_sext_i32_i16, (uint32_t)(int32_t)(int16_t)a, scc)
SOP1(s_ctz_i32_b32, a != 0 ? (uint32_t)__builtin_ctz(a) : UINT32_MAX, scc)
SOP1(s_clz_i32_u32, a != 0 ? (uint32_t)__builtin_clz(a) : UINT32_MAX, scc)
SOP1(s_bcnt0_i32_b32, (uint32_t)__builtin_popcount(~a), d != 0)
SOP1(s_bcnt1_i32_b32, (uint32_t)__builtin_popcount(a), d != 0)
SOP1(s_cvt_f32_i32, isa_bits((float)(int32_t)a), scc)
SOP1(s_cvt_f32_u32, isa_bits((float)a), scc)
SOP1(s_cvt_i32_f32, float_to_i32(isa_f32(a)), scc)
SOP1(s_cvt_u32_f32, float_to_u32(isa_f32(a)), scc)
SOP1(s_floor_f32, isa_bits(floorf(isa_f32(a))), scc)
SOP1(s_ceil_f32, isa_bits(ceilf(isa_f32(a))), scc)
SOP1(s_trunc_f32, isa_bits(truncf(isa_f32(a))), scc)
SOP1(s_rndne_f32, isa_bits(rintf(isa_f32(a))), scc)
SOP1(s_cls_i32, count_signs(a), scc)
SOP1(s_quadmask_b32, (uint32_t)quads(a, 8), d != 0)
SOP1(s_wqm_b32, (uint32_t)whole_quads(a), d != 0)
SOP1(s_cvt_f16_f32, isa_float_to_half(isa_f32(a)), scc)
SOP1(s_cvt_f32_f16, isa_bits(isa_half_to_float(a & 0xffff)), scc)
SOP1(s_cvt_hi_f32_f16, isa_bits(isa_half_to_float(a >> 16)), scc)
SOP1(s_floor_f16, isa_float_to_half(floorf(isa_half_to_float(a & 0xffff))), scc)
SOP1(s_ceil_f16, isa_float_to_half(ceilf(isa_half_to_float(a & 0xffff))), scc)
SOP1(s_trunc_f16, isa_float_to_half(truncf(isa_half_to_float(a & 0xffff))), scc)
SOP1(s_rndne_f16, isa_float_to_half(rintf(isa_half_to_float(a & 0xffff))), scc)
SOP1_64(s_mov_b64, a, scc)
SOP1_64(s_brev_b64, reverse64(a), scc)
SOP1_64(s_quadmask_b64, quads(a, 16), d != 0)
SOP1_64(s_wqm_b64, whole_quads(a), d != 0)
SOP1_64(s_not_b64, ~a, d != 0)
SOP1_32_64(s_ctz_i32_b64, a != 0 ? (uint32_t)__builtin_ctzll(a) : UINT32_MAX, scc)
SOP1_32_64(s_clz_i32_u64, a != 0 ? (uint32_t)__builtin_clzll(a) : UINT32_MAX, scc)
SOP1_32_64(s_bcnt0_i32_b64, (uint32_t)__builtin_popcountll(~a), d != 0)
SOP1_32_64(s_cls_i32_i64, count_signs64(a), scc)
SOP1_32_64(s_bcnt1_i32_b64, (uint32_t)__builtin_popcountll(a), d != 0)

SOPC(s_cmp_eq_i32, a == b)
SOPC(s_cmp_lg_i32, a != b)
SOPC(s_cmp_gt_i32, (int32_t)a > (int32_t)b)
SOPC(s_cmp_ge_i32, (int32_t)a >= (int32_t)b)
SOPC(s_cmp_lt_i32, (int32_t)a < (int32_t)b)
SOPC(s_cmp_le_i32, (int32_t)a <= (int32_t)b)
SOPC(s_cmp_gt_u32, a > b)
SOPC(s_cmp_ge_u32, a >= b)
SOPC(s_cmp_lt_u32, a < b)
SOPC(s_cmp_le_u32, a <= b)
SOPC(s_bitcmp0_b32, (a >> (b & 31) & 1) == 0)
SOPC(s_bitcmp1_b32, (a >> (b & 31) & 1) != 0)
SOPC(s_cmp_eq_f32, isa_f32(a) == isa_f32(b))
SOPC(s_cmp_lg_f32, isa_f32(a) < isa_f32(b) || isa_f32(a) > isa_f32(b))
SOPC(s_cmp_lt_f32, isa_f32(a) < isa_f32(b))
SOPC(s_cmp_le_f32, isa_f32(a) <= isa_f32(b))
SOPC(s_cmp_gt_f32, isa_f32(a) > isa_f32(b))
SOPC(s_cmp_ge_f32, isa_f32(a) >= isa_f32(b))
SOPC(s_cmp_neq_f32, !(isa_f32(a) == isa_f32(b)))
SOPC(s_cmp_nlt_f32, !(isa_f32(a) < isa_f32(b)))
SOPC(s_cmp_nle_f32, !(isa_f32(a) <= isa_f32(b)))
SOPC(s_cmp_ngt_f32, !(isa_f32(a) > isa_f32(b)))
SOPC(s_cmp_nge_f32, !(isa_f32(a) >= isa_f32(b)))
SOPC(s_cmp_o_f32, isa_f32(a) == isa_f32(a) && isa_f32(b) == isa_f32(b))
SOPC(s_cmp_u_f32, isa_f32(a) != isa_f32(a) || isa_f32(b) != isa_f32(b))
SOPC(s_cmp_nlg_f32, !(isa_f32(a) < isa_f32(b) || isa_f32(a) > isa_f32(b)))

/* The comparisons of float16: the same of the low halves. */
#define SOPC_HALF(name, condition)                                                                                     \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        float a = isa_half_to_float(isa_read_scalar_half(wave, &i->operands[0]));                                      \
        float b = isa_half_to_float(isa_read_scalar_half(wave, &i->operands[1]));                                      \
        wave->scc = (condition);                                                                                       \
    }
SOPC_HALF(s_cmp_eq_f16, a == b)
SOPC_HALF(s_cmp_lg_f16, a<b || a> b)
SOPC_HALF(s_cmp_lt_f16, a < b)
SOPC_HALF(s_cmp_le_f16, a <= b)
SOPC_HALF(s_cmp_gt_f16, a > b)
SOPC_HALF(s_cmp_ge_f16, a >= b)
SOPC_HALF(s_cmp_neq_f16, !(a == b))
SOPC_HALF(s_cmp_nlg_f16, !(a < b || a > b))
SOPC_HALF(s_cmp_nlt_f16, !(a < b))
SOPC_HALF(s_cmp_nle_f16, !(a <= b))
SOPC_HALF(s_cmp_ngt_f16, !(a > b))
SOPC_HALF(s_cmp_nge_f16, !(a >= b))
SOPC_HALF(s_cmp_o_f16, a == a && b == b)
SOPC_HALF(s_cmp_u_f16, a != a || b != b)

static bool bit_of_64(isa_wave *wave, const isa_instruction *i) {
    uint64_t value = isa_read_scalar64(wave, &i->operands[0]);
    return (value >> (isa_read_scalar(wave, &i->operands[1]) & 63) & 1) != 0;
}

static void s_bitcmp0_b64(isa_wave *wave, const isa_instruction *i) {
    wave->scc = !bit_of_64(wave, i);
}

static void s_bitcmp1_b64(isa_wave *wave, const isa_instruction *i) {
    wave->scc = bit_of_64(wave, i);
}

SOPC_64(s_cmp_eq_u64, a == b)
SOPC_64(s_cmp_lg_u64, a != b)

/* SOPK: a 16-bit constant. */
static int32_t constant16(const isa_instruction *i, unsigned at) {
    return (int16_t)i->operands[at].constant;
}

static void s_movk_i32(isa_wave *wave, const isa_instruction *i) {
    isa_write_scalar(wave, &i->operands[0], (uint32_t)constant16(i, 1));
}

static void s_cmovk_i32(isa_wave *wave, const isa_instruction *i) {
    if (wave->scc) {
        s_movk_i32(wave, i);
    }
}

static void s_addk_i32(isa_wave *wave, const isa_instruction *i) {
    int32_t result;
    wave->scc = __builtin_add_overflow((int32_t)isa_read_scalar(wave, &i->operands[0]), constant16(i, 1), &result);
    isa_write_scalar(wave, &i->operands[0], (uint32_t)result);
}

static void s_mulk_i32(isa_wave *wave, const isa_instruction *i) {
    uint32_t value = isa_read_scalar(wave, &i->operands[0]);
    isa_write_scalar(wave, &i->operands[0], value * (uint32_t)constant16(i, 1));
}

/* s_cmpk: signed constants are sign-extended, unsigned ones are not. */
#define SOPK_COMPARE(relation, op)                                                                                     \
    static void s_cmpk_##relation##_i32(isa_wave *wave, const isa_instruction *i) {                                    \
        wave->scc = (int32_t)isa_read_scalar(wave, &i->operands[0]) op constant16(i, 1);                               \
    }                                                                                                                  \
    static void s_cmpk_##relation##_u32(isa_wave *wave, const isa_instruction *i) {                                    \
        wave->scc = isa_read_scalar(wave, &i->operands[0]) op(uint32_t)(uint16_t) i->operands[1].constant;             \
    }
SOPK_COMPARE(eq, ==)
SOPK_COMPARE(lg, !=)
SOPK_COMPARE(gt, >)
SOPK_COMPARE(ge, >=)
SOPK_COMPARE(lt, <)
SOPK_COMPARE(le, <=)

static void s_cmov_b32(isa_wave *wave, const isa_instruction *i) {
    if (wave->scc) {
        isa_write_scalar(wave, &i->operands[0], isa_read_scalar(wave, &i->operands[1]));
    }
}

static void s_cmov_b64(isa_wave *wave, const isa_instruction *i) {
    if (wave->scc) {
        isa_write_scalar64(wave, &i->operands[0], isa_read_scalar64(wave, &i->operands[1]));
    }
}

static void s_bitreplicate_b64_b32(isa_wave *wave, const isa_instruction *i) {
    isa_write_scalar64(wave, &i->operands[0], replicate(isa_read_scalar(wave, &i->operands[1])));
}

/* A register at a distance of M0; false after a finding. */
static bool move_register(isa_wave *wave, const isa_operand *operand, unsigned count, isa_operand *moved) {
    static const isa_operand m0 = {.kind = ISA_OPERAND_SGPR, .count = 1, .reg = ISA_M0};
    uint64_t reg = (uint64_t)operand->reg + isa_read_scalar(wave, &m0);
    *moved = *operand;
    moved->reg = (uint16_t)reg;
    if (operand->kind == ISA_OPERAND_SGPR && reg + count <= ISA_VCC) {
        return true;
    }
    isa_give_up(wave, "register-outside", "uses s%llu, the last is s%d", (unsigned long long)reg, ISA_VCC - 1);
    return false;
}

#define MOVE_RELATIVE(bits, read, write, count)                                                                        \
    static void s_movrels_b##bits(isa_wave *wave, const isa_instruction *i) {                                          \
        isa_operand moved;                                                                                             \
        if (move_register(wave, &i->operands[1], count, &moved)) {                                                     \
            write(wave, &i->operands[0], read(wave, &moved));                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void s_movreld_b##bits(isa_wave *wave, const isa_instruction *i) {                                          \
        isa_operand moved;                                                                                             \
        if (move_register(wave, &i->operands[0], count, &moved)) {                                                     \
            write(wave, &moved, read(wave, &i->operands[1]));                                                          \
        }                                                                                                              \
    }
MOVE_RELATIVE(32, isa_read_scalar, isa_write_scalar, 1)
MOVE_RELATIVE(64, isa_read_scalar64, isa_write_scalar64, 2)

/* One bit set or cleared; nothing else changes. */
static void set_bit(isa_wave *wave, const isa_instruction *i, bool value) {
    uint32_t bit = 1u << (isa_read_scalar(wave, &i->operands[1]) & 31), old = isa_read_scalar(wave, &i->operands[0]);
    isa_write_scalar(wave, &i->operands[0], value ? old | bit : old & ~bit);
}

static void s_bitset0_b32(isa_wave *wave, const isa_instruction *i) {
    set_bit(wave, i, false);
}

static void s_bitset1_b32(isa_wave *wave, const isa_instruction *i) {
    set_bit(wave, i, true);
}

static void set_bit64(isa_wave *wave, const isa_instruction *i, bool value) {
    uint64_t bit = UINT64_C(1) << (isa_read_scalar(wave, &i->operands[1]) & 63);
    uint64_t old = isa_read_scalar64(wave, &i->operands[0]);
    isa_write_scalar64(wave, &i->operands[0], value ? old | bit : old & ~bit);
}

static void s_bitset0_b64(isa_wave *wave, const isa_instruction *i) {
    set_bit64(wave, i, false);
}

static void s_bitset1_b64(isa_wave *wave, const isa_instruction *i) {
    set_bit64(wave, i, true);
}

/* D = EXEC; EXEC = what the operation makes of the source (S) and EXEC; SCC = EXEC is not 0. */
#define SAVEEXEC(function, result)                                                                                     \
    static void function##_b32(isa_wave *wave, const isa_instruction *i) {                                             \
        uint32_t s = isa_read_scalar(wave, &i->operands[1]), exec = wave->sgpr[ISA_EXEC];                              \
        isa_write_scalar(wave, &i->operands[0], exec);                                                                 \
        wave->sgpr[ISA_EXEC] = (result);                                                                               \
        wave->scc = wave->sgpr[ISA_EXEC] != 0;                                                                         \
    }                                                                                                                  \
    static void function##_b64(isa_wave *wave, const isa_instruction *i) {                                             \
        uint64_t s = isa_read_scalar64(wave, &i->operands[1]);                                                         \
        uint64_t exec = (uint64_t)wave->sgpr[ISA_EXEC + 1] << 32 | wave->sgpr[ISA_EXEC], after = (result);             \
        isa_write_scalar64(wave, &i->operands[0], exec);                                                               \
        wave->sgpr[ISA_EXEC] = (uint32_t)after;                                                                        \
        wave->sgpr[ISA_EXEC + 1] = (uint32_t)(after >> 32);                                                            \
        wave->scc = after != 0;                                                                                        \
    }
SAVEEXEC(s_and_saveexec, s &exec)
SAVEEXEC(s_or_saveexec, s | exec)
SAVEEXEC(s_xor_saveexec, s ^ exec)
SAVEEXEC(s_and_not0_saveexec, ~s &exec)
SAVEEXEC(s_and_not1_saveexec, s & ~exec)
SAVEEXEC(s_or_not1_saveexec, s | ~exec)
SAVEEXEC(s_or_not0_saveexec, ~s | exec)
SAVEEXEC(s_nand_saveexec, ~(s &exec))
SAVEEXEC(s_nor_saveexec, ~(s | exec))
SAVEEXEC(s_xnor_saveexec, ~(s ^ exec))

/* The same, but D is EXEC after. */
#define WREXEC(function, result)                                                                                       \
    static void function##_b32(isa_wave *wave, const isa_instruction *i) {                                             \
        uint32_t s = isa_read_scalar(wave, &i->operands[1]), exec = wave->sgpr[ISA_EXEC], after = (result);            \
        wave->sgpr[ISA_EXEC] = after;                                                                                  \
        isa_write_scalar(wave, &i->operands[0], after);                                                                \
        wave->scc = after != 0;                                                                                        \
    }                                                                                                                  \
    static void function##_b64(isa_wave *wave, const isa_instruction *i) {                                             \
        uint64_t s = isa_read_scalar64(wave, &i->operands[1]);                                                         \
        uint64_t exec = (uint64_t)wave->sgpr[ISA_EXEC + 1] << 32 | wave->sgpr[ISA_EXEC], after = (result);             \
        isa_set_exec(wave, after);                                                                                     \
        isa_write_scalar64(wave, &i->operands[0], after);                                                              \
        wave->scc = after != 0;                                                                                        \
    }
WREXEC(s_and_not0_wrexec, ~s &exec)
WREXEC(s_and_not1_wrexec, s & ~exec)

#define ROW2(name)                                                                                                     \
    { #name, "Ds Ss Ss", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOP2 }
#define ROW2_64(name)                                                                                                  \
    { #name, "Ds2 Ss2 Ss2", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOP2 }
#define ROW2_S(name)                                                                                                   \
    { #name, "Ds2 Ss2 Ss", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOP2 }
#define ROW1(name)                                                                                                     \
    { #name, "Ds Ss", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOP1 }
#define ROW1_64(name)                                                                                                  \
    { #name, "Ds2 Ss2", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOP1 }
#define ROW1_S(name)                                                                                                   \
    { #name, "Ds Ss2", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOP1 }
#define ROWC(name)                                                                                                     \
    { #name, "Ss Ss", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOPC }
#define ROWC_64(name)                                                                                                  \
    { #name, "Ss2 Ss2", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOPC }
#define ROW1_FLOAT(name)                                                                                               \
    { #name, "Ds Ss", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOP1_FLOAT }
#define ROWC_FLOAT(name)                                                                                               \
    { #name, "Ss Ss", ISA_CLASS_SALU, NULL, name, ISA_GFX11, ISA_SOPC_FLOAT }
#define ROW(name, operands, source)                                                                                    \
    { #name, operands, ISA_CLASS_SALU, NULL, name, ISA_GFX11, source }
#define ROWK(relation) ROW(s_cmpk_##relation##_i32, "Ss Sx", ISA_SOPK), ROW(s_cmpk_##relation##_u32, "Ss Sx", ISA_SOPK)
#define SAVE(name)     ROW1(name##_b32), ROW1_64(name##_b64)

static const isa_row rows[] = {
    ROW2(s_add_u32),
    ROW2(s_sub_u32),
    ROW2(s_addc_u32),
    ROW2(s_subb_u32),
    ROW2(s_add_i32),
    ROW2(s_sub_i32),
    ROW2(s_mul_i32),
    ROW2(s_mul_hi_u32),
    ROW2(s_mul_hi_i32),
    ROW2(s_min_i32),
    ROW2(s_min_u32),
    ROW2(s_max_i32),
    ROW2(s_max_u32),
    ROW2(s_and_b32),
    ROW2(s_or_b32),
    ROW2(s_xor_b32),
    ROW2(s_nand_b32),
    ROW2(s_nor_b32),
    ROW2(s_xnor_b32),
    ROW2(s_and_not1_b32),
    ROW2(s_or_not1_b32),
    ROW2(s_lshl_b32),
    ROW2(s_lshr_b32),
    ROW2(s_ashr_i32),
    ROW2(s_bfe_u32),
    ROW2(s_bfe_i32),
    ROW2(s_bfm_b32),
    ROW2(s_lshl1_add_u32),
    ROW2(s_lshl2_add_u32),
    ROW2(s_lshl3_add_u32),
    ROW2(s_lshl4_add_u32),
    ROW2(s_pack_ll_b32_b16),
    ROW2(s_pack_lh_b32_b16),
    ROW2(s_pack_hh_b32_b16),
    ROW2(s_pack_hl_b32_b16),
    ROW2(s_cselect_b32),
    ROW2(s_absdiff_i32),
    ROW2(s_add_f32),
    ROW2(s_sub_f32),
    ROW2(s_mul_f32),
    ROW2(s_min_f32),
    ROW2(s_max_f32),
    ROW2(s_add_f16),
    ROW2(s_sub_f16),
    ROW2(s_mul_f16),
    ROW2(s_min_f16),
    ROW2(s_max_f16),
    ROW2(s_cvt_pk_rtz_f16_f32),
    ROW(s_fmac_f32, "Bs Ss Ss", ISA_SOP2),
    ROW(s_fmaak_f32, "Ds Ss Ss Ss", ISA_SOP2),
    {"s_fmamk_f32", "Ds Ss Ss Ss", ISA_CLASS_SALU, NULL, s_fmaak_f32, ISA_GFX11, ISA_SOP2},
    ROW(s_fmac_f16, "Bs Ss Ss", ISA_SOP2),
    ROW(s_bfm_b64, "Ds2 Ss Ss", ISA_SOP2),
    ROW2_64(s_and_b64),
    ROW2_64(s_or_b64),
    ROW2_64(s_xor_b64),
    ROW2_64(s_nand_b64),
    ROW2_64(s_nor_b64),
    ROW2_64(s_xnor_b64),
    ROW2_64(s_and_not1_b64),
    ROW2_64(s_or_not1_b64),
    ROW2_64(s_cselect_b64),
    ROW2_S(s_lshl_b64),
    ROW2_S(s_lshr_b64),
    ROW2_S(s_ashr_i64),
    ROW2_S(s_bfe_u64),
    ROW2_S(s_bfe_i64),
    ROW1(s_mov_b32),
    ROW1(s_not_b32),
    ROW1(s_brev_b32),
    ROW1(s_abs_i32),
    ROW1(s_sext_i32_i8),
    ROW1(s_sext_i32_i16),
    ROW1(s_ctz_i32_b32),
    ROW1(s_clz_i32_u32),
    ROW1(s_bcnt0_i32_b32),
    ROW1(s_bcnt1_i32_b32),
    ROW1_FLOAT(s_cvt_f32_i32),
    ROW1_FLOAT(s_cvt_f32_u32),
    ROW1_FLOAT(s_cvt_i32_f32),
    ROW1_FLOAT(s_cvt_u32_f32),
    ROW1_FLOAT(s_floor_f32),
    ROW1_FLOAT(s_ceil_f32),
    ROW1_FLOAT(s_trunc_f32),
    ROW1_FLOAT(s_rndne_f32),
    ROW1(s_cls_i32),
    ROW1(s_quadmask_b32),
    ROW1(s_wqm_b32),
    ROW1_FLOAT(s_cvt_f16_f32),
    ROW1_FLOAT(s_cvt_f32_f16),
    ROW1_FLOAT(s_cvt_hi_f32_f16),
    ROW1_FLOAT(s_floor_f16),
    ROW1_FLOAT(s_ceil_f16),
    ROW1_FLOAT(s_trunc_f16),
    ROW1_FLOAT(s_rndne_f16),
    ROW1_64(s_mov_b64),
    ROW1_64(s_brev_b64),
    ROW1_64(s_quadmask_b64),
    ROW1_64(s_wqm_b64),
    ROW1_S(s_cls_i32_i64),
    ROW(s_cmov_b32, "Bs Ss", ISA_SOP1),
    ROW(s_cmov_b64, "Bs2 Ss2", ISA_SOP1),
    ROW(s_bitreplicate_b64_b32, "Ds2 Ss", ISA_SOP1),
    ROW(s_movrels_b32, "Ds Ss", ISA_SOP1),
    ROW(s_movreld_b32, "Ds Ss", ISA_SOP1),
    ROW(s_movrels_b64, "Ds2 Ss2", ISA_SOP1),
    ROW(s_movreld_b64, "Ds2 Ss2", ISA_SOP1),
    ROW(s_bitset0_b64, "Bs2 Ss", ISA_SOP1),
    ROW(s_bitset1_b64, "Bs2 Ss", ISA_SOP1),
    ROW1_64(s_not_b64),
    ROW1_S(s_ctz_i32_b64),
    ROW1_S(s_clz_i32_u64),
    ROW1_S(s_bcnt0_i32_b64),
    ROW1_S(s_bcnt1_i32_b64),
    SAVE(s_and_saveexec),
    SAVE(s_or_saveexec),
    SAVE(s_xor_saveexec),
    SAVE(s_and_not0_saveexec),
    SAVE(s_and_not1_saveexec),
    SAVE(s_or_not1_saveexec),
    SAVE(s_or_not0_saveexec),
    SAVE(s_nand_saveexec),
    SAVE(s_nor_saveexec),
    SAVE(s_xnor_saveexec),
    SAVE(s_and_not0_wrexec),
    SAVE(s_and_not1_wrexec),
    {"s_bitset0_b32", "Bs Ss", ISA_CLASS_SALU, NULL, s_bitset0_b32, ISA_GFX11, ISA_SOP1},
    {"s_bitset1_b32", "Bs Ss", ISA_CLASS_SALU, NULL, s_bitset1_b32, ISA_GFX11, ISA_SOP1},
    ROWC(s_cmp_eq_i32),
    ROWC(s_cmp_lg_i32),
    ROWC(s_cmp_gt_i32),
    ROWC(s_cmp_ge_i32),
    ROWC(s_cmp_lt_i32),
    ROWC(s_cmp_le_i32),
    {"s_cmp_eq_u32", "Ss Ss", ISA_CLASS_SALU, NULL, s_cmp_eq_i32, ISA_GFX11, ISA_SOPC},
    {"s_cmp_lg_u32", "Ss Ss", ISA_CLASS_SALU, NULL, s_cmp_lg_i32, ISA_GFX11, ISA_SOPC},
    ROWC(s_cmp_gt_u32),
    ROWC(s_cmp_ge_u32),
    ROWC(s_cmp_lt_u32),
    ROWC(s_cmp_le_u32),
    ROWC(s_bitcmp0_b32),
    ROWC(s_bitcmp1_b32),
    ROWC_FLOAT(s_cmp_eq_f32),
    ROWC_FLOAT(s_cmp_lg_f32),
    ROWC_FLOAT(s_cmp_lt_f32),
    ROWC_FLOAT(s_cmp_le_f32),
    ROWC_FLOAT(s_cmp_gt_f32),
    ROWC_FLOAT(s_cmp_ge_f32),
    ROWC_FLOAT(s_cmp_neq_f32),
    ROWC_FLOAT(s_cmp_nlt_f32),
    ROWC_FLOAT(s_cmp_nle_f32),
    ROWC_FLOAT(s_cmp_ngt_f32),
    ROWC_FLOAT(s_cmp_nge_f32),
    ROWC_FLOAT(s_cmp_o_f32),
    ROWC_FLOAT(s_cmp_u_f32),
    ROWC_FLOAT(s_cmp_nlg_f32),
    ROWC_FLOAT(s_cmp_eq_f16),
    ROWC_FLOAT(s_cmp_lg_f16),
    ROWC_FLOAT(s_cmp_lt_f16),
    ROWC_FLOAT(s_cmp_le_f16),
    ROWC_FLOAT(s_cmp_gt_f16),
    ROWC_FLOAT(s_cmp_ge_f16),
    ROWC_FLOAT(s_cmp_neq_f16),
    ROWC_FLOAT(s_cmp_nlg_f16),
    ROWC_FLOAT(s_cmp_nlt_f16),
    ROWC_FLOAT(s_cmp_nle_f16),
    ROWC_FLOAT(s_cmp_ngt_f16),
    ROWC_FLOAT(s_cmp_nge_f16),
    ROWC_FLOAT(s_cmp_o_f16),
    ROWC_FLOAT(s_cmp_u_f16),
    ROW(s_bitcmp0_b64, "Ss2 Ss", ISA_SOPC),
    ROW(s_bitcmp1_b64, "Ss2 Ss", ISA_SOPC),
    ROWK(eq),
    ROWK(lg),
    ROWK(gt),
    ROWK(ge),
    ROWK(lt),
    ROWK(le),
    ROWC_64(s_cmp_eq_u64),
    ROWC_64(s_cmp_lg_u64),
    {"s_movk_i32", "Ds Sx", ISA_CLASS_SALU, NULL, s_movk_i32, ISA_GFX11, ISA_SOPK},
    {"s_cmovk_i32", "Bs Sx", ISA_CLASS_SALU, NULL, s_cmovk_i32, ISA_GFX11, ISA_SOPK},
    {"s_addk_i32", "Bs Sx", ISA_CLASS_SALU, NULL, s_addk_i32, ISA_GFX11, ISA_SOPK},
    {"s_mulk_i32", "Bs Sx", ISA_CLASS_SALU, NULL, s_mulk_i32, ISA_GFX11, ISA_SOPK},
};

const isa_table isa_table_scalar = {rows, sizeof rows / sizeof rows[0]};

/* What scalar instructions must make of their operands, and of SCC and EXEC. */
#include <fenv.h>
#include <stdlib.h>

#include "rows.h"

/* SCC is the result's being not 0 unless a macro below says otherwise. */
#define KEEPS(function, expression)                                                                                    \
    ROWS_REFERENCE(function##_value, expression)                                                                       \
    static void function(rows_io *x) {                                                                                 \
        function##_value(x);                                                                                           \
    }
#define NOT_ZERO(function, expression)                                                                                 \
    ROWS_REFERENCE(function##_value, expression)                                                                       \
    static void function(rows_io *x) {                                                                                 \
        function##_value(x);                                                                                           \
        x->out = x->d != 0;                                                                                            \
    }
#define TELLS(function, condition)                                                                                     \
    ROWS_REFERENCE(function##_value, condition)                                                                        \
    static void function(rows_io *x) {                                                                                 \
        function##_value(x);                                                                                           \
        x->out = x->d != 0;                                                                                            \
    }
/* The exact value, of which the result is the low word and SCC whether it did not fit. */
#define EXACT(function, low, high, expression)                                                                         \
    static void function(rows_io *x) {                                                                                 \
        const int64_t ua = (uint32_t)x->a, ub = (uint32_t)x->b, sa = (int32_t)x->a, sb = (int32_t)x->b,                \
                      so = (int32_t)x->old, k = (int16_t)x->a;                                                         \
        (void)ua, (void)ub, (void)sa, (void)sb, (void)so, (void)k;                                                     \
        int64_t exact = (expression);                                                                                  \
        x->d = (uint32_t)exact;                                                                                        \
        x->out = exact < (low) || exact > (high);                                                                      \
    }

static uint64_t field(uint64_t value, uint32_t control, unsigned bits, bool is_signed) {
    uint32_t offset = control % bits, width = control >> 16 & 0x7f;
    uint64_t result = 0;
    for (uint32_t n = 0; n < width && n < bits; n++) {
        uint32_t at = offset + n;
        result |= (at < bits ? value >> at & 1 : is_signed ? value >> (bits - 1) & 1 : 0) << n;
    }
    if (is_signed && width > 0 && width < bits && (result >> (width - 1) & 1) != 0) {
        result |= UINT64_MAX << width;
    }
    return bits == 32 ? (uint32_t)result : result;
}

static uint64_t ones(uint64_t value) {
    uint64_t count = 0;
    for (; value != 0; value &= value - 1) {
        count++;
    }
    return count;
}

static uint64_t turned(uint64_t value, int bits) {
    uint64_t result = 0;
    for (int i = 0; i < bits; i++) {
        result |= (value >> i & 1) << (bits - 1 - i);
    }
    return result;
}

/* Bits before the first that is `bit`, from the top or from the bottom; none: -1 of 32 bits. */
static uint64_t find(uint64_t value, unsigned bits, uint64_t bit, bool from_top) {
    for (unsigned i = 0; i < bits; i++) {
        if ((value >> (from_top ? bits - 1 - i : i) & 1) == bit) {
            return i;
        }
    }
    return UINT32_MAX;
}

static uint64_t quads(uint64_t value, unsigned bits, bool whole) {
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; i++) {
        bool any = (value >> (i & ~3u) & 15) != 0;
        if (whole) {
            result |= (uint64_t)any << i;
        } else if (i % 4 == 0) {
            result |= (uint64_t)any << i / 4;
        }
    }
    return result;
}

static uint64_t doubled(uint32_t value) {
    uint64_t result = 0;
    for (int i = 31; i >= 0; i--) {
        result = result << 2 | ((value >> i & 1) != 0 ? 3 : 0);
    }
    return result;
}

static uint64_t arithmetic(uint64_t value, unsigned by, unsigned bits) {
    uint64_t top = value >> (bits - 1) & 1, result = value >> by;
    for (unsigned i = 0; i < by; i++) {
        result |= top << (bits - 1 - i);
    }
    return result;
}

static uint64_t to_signed(float value) {
    return (uint32_t)(isnan(value) ? 0 : value <= -0x1p31f ? INT32_MIN : value >= 0x1p31f ? INT32_MAX : (int64_t)value);
}

static uint64_t to_unsigned(float value) {
    return isnan(value) || value <= 0 ? 0 : value >= 0x1p32f ? UINT32_MAX : (uint64_t)value;
}

static uint64_t half_towards_zero(float value) {
    uint64_t half = rows_half_bits(value);
    return fabsf(rows_half(half)) > fabsf(value) ? half - 1 : half;
}

/* Word by word. */
static uint64_t long_product(uint64_t a, uint64_t b) {
    uint64_t crossed = (a >> 32) * (uint32_t)b + (uint64_t)(uint32_t)a * (b >> 32);
    return (uint64_t)(uint32_t)a * (uint32_t)b + (crossed << 32);
}

/* As of v_exp_f32 and its like: denormals are zeros of their sign. */
static double flushed(float value) {
    return fpclassify(value) == FP_SUBNORMAL ? copysign(0, value) : (double)value;
}

static float flushed_result(double value) {
    float result = (float)value;
    return fpclassify(result) == FP_SUBNORMAL ? copysignf(0, result) : result;
}

#define FLOAT(expression) rows_float_bits(expression)
#define HALF(expression)  rows_half_bits(expression)
#define SIGNED(x)         ((int64_t)(int32_t)(x))
#define CONSTANT          ((int64_t)(int16_t)b)

#define KEEPING(X)                                                                                                     \
    X(s_mul_i32, ROWS_BITS, (uint32_t)(SIGNED(a) * SIGNED(b)))                                                         \
    X(s_mul_hi_u32, ROWS_BITS, la *lb >> 32)                                                                           \
    X(s_mul_hi_i32, ROWS_BITS, (uint32_t)((uint64_t)(SIGNED(a) * SIGNED(b)) >> 32))                                    \
    X(s_bfm_b32, ROWS_BITS, (uint32_t)(((UINT64_C(1) << a % 32) - 1) << b % 32))                                       \
    X(s_bfm_b64, ROWS_BITS, ((UINT64_C(1) << a % 64) - 1) << b % 64)                                                   \
    X(s_pack_ll_b32_b16, ROWS_BITS, a % 0x10000 + (lb % 0x10000) * 0x10000)                                            \
    X(s_pack_lh_b32_b16, ROWS_BITS, a % 0x10000 + (lb & 0xffff0000))                                                   \
    X(s_pack_hh_b32_b16, ROWS_BITS, a / 0x10000 + (lb & 0xffff0000))                                                   \
    X(s_pack_hl_b32_b16, ROWS_BITS, a / 0x10000 + (lb % 0x10000) * 0x10000)                                            \
    X(s_cselect_b32, ROWS_BITS, in ? a : b)                                                                            \
    X(s_cselect_b64, ROWS_BITS, in ? la : lb)                                                                          \
    X(s_add_f32, ROWS_F32, FLOAT((float)((long double)fa + fb)))                                                       \
    X(s_sub_f32, ROWS_F32, FLOAT((float)((long double)fa - fb)))                                                       \
    X(s_mul_f32, ROWS_F32, FLOAT((float)((double)fa * (double)fb)))                                                    \
    X(s_min_f32, ROWS_F32, FLOAT(rows_extreme(fa, fb, false)))                                                         \
    X(s_max_f32, ROWS_F32, FLOAT(rows_extreme(fa, fb, true)))                                                          \
    X(s_add_nc_u64, ROWS_BITS, la + lb)                                                                                \
    X(s_sub_nc_u64, ROWS_BITS, la + ~lb + 1)                                                                           \
    X(s_mul_u64, ROWS_BITS, long_product(la, lb))                                                                      \
    X(v_s_exp_f32, ROWS_F32_1, FLOAT(flushed_result(pow(2, flushed(fa)))))                                             \
    X(v_s_log_f32, ROWS_F32_1, FLOAT((float)(log(flushed(fa)) / log(2))))                                              \
    X(v_s_rcp_f32, ROWS_F32_1, FLOAT(flushed_result(1 / flushed(fa))))                                                 \
    X(v_s_rsq_f32, ROWS_F32_1, FLOAT((float)(1 / sqrt(flushed(fa)))))                                                  \
    X(v_s_sqrt_f32, ROWS_F32_1, FLOAT((float)sqrt(flushed(fa))))                                                       \
    X(v_s_exp_f16, ROWS_F16_1, rows_half_bits_once(pow(2, (double)ha)))                                                \
    X(v_s_log_f16, ROWS_F16_1, rows_half_bits_once(log((double)ha) / log(2)))                                          \
    X(v_s_rcp_f16, ROWS_F16_1, rows_half_bits_once(1 / (double)ha))                                                    \
    X(v_s_rsq_f16, ROWS_F16_1, rows_half_bits_once(1 / sqrt((double)ha)))                                              \
    X(v_s_sqrt_f16, ROWS_F16_1, rows_half_bits_once(sqrt((double)ha)))                                                 \
    X(s_fmac_f32, ROWS_F32, FLOAT(__builtin_fmaf(fa, fb, fold)))                                                       \
    X(s_fmaak_f32, ROWS_F32, FLOAT(__builtin_fmaf(fa, fb, fc)))                                                        \
    X(s_fmamk_f32, ROWS_F32, FLOAT(__builtin_fmaf(fa, fb, fc)))                                                        \
    X(s_add_f16, ROWS_F16, rows_half_bits_once((double)ha + (double)hb))                                               \
    X(s_sub_f16, ROWS_F16, rows_half_bits_once((double)ha - (double)hb))                                               \
    X(s_mul_f16, ROWS_F16, rows_half_bits_once((double)ha *(double)hb))                                                \
    X(s_min_f16, ROWS_F16, HALF(rows_extreme(rows_exact_half(a), rows_exact_half(b), false)))                          \
    X(s_max_f16, ROWS_F16, HALF(rows_extreme(rows_exact_half(a), rows_exact_half(b), true)))                           \
    X(s_fmac_f16, ROWS_F16, rows_half_bits_once((double)ha *(double)hb + (double)hold))                                \
    X(s_cvt_pk_rtz_f16_f32, ROWS_PAIR, half_towards_zero(fa) | half_towards_zero(fb) << 16)                            \
    X(s_mov_b32, ROWS_BITS, a)                                                                                         \
    X(s_mov_b64, ROWS_BITS, la)                                                                                        \
    X(s_cmov_b32, ROWS_BITS, in ? a : old)                                                                             \
    X(s_cmov_b64, ROWS_BITS, in ? la : lold)                                                                           \
    X(s_brev_b32, ROWS_BITS, turned(a, 32))                                                                            \
    X(s_brev_b64, ROWS_BITS, turned(la, 64))                                                                           \
    X(s_sext_i32_i8, ROWS_BITS, (uint32_t)((a & 0xff) - ((a & 0x80) != 0 ? 0x100 : 0)))                                \
    X(s_sext_i32_i16, ROWS_BITS, (uint32_t)((a & 0xffff) - ((a & 0x8000) != 0 ? 0x10000 : 0)))                         \
    X(s_ctz_i32_b32, ROWS_BITS, find(a, 32, 1, false))                                                                 \
    X(s_ctz_i32_b64, ROWS_BITS, find(la, 64, 1, false))                                                                \
    X(s_clz_i32_u32, ROWS_BITS, find(a, 32, 1, true))                                                                  \
    X(s_clz_i32_u64, ROWS_BITS, find(la, 64, 1, true))                                                                 \
    X(s_cls_i32, ROWS_BITS, find(a, 32, a >> 31 == 0, true))                                                           \
    X(s_cls_i32_i64, ROWS_BITS, find(la, 64, la >> 63 == 0, true))                                                     \
    X(s_bitreplicate_b64_b32, ROWS_BITS, doubled(a))                                                                   \
    X(s_bitset0_b32, ROWS_BITS, (uint32_t)(lold & ~(UINT64_C(1) << a % 32)))                                           \
    X(s_bitset1_b32, ROWS_BITS, (uint32_t)(lold | UINT64_C(1) << a % 32))                                              \
    X(s_bitset0_b64, ROWS_BITS, lold & ~(UINT64_C(1) << a % 64))                                                       \
    X(s_bitset1_b64, ROWS_BITS, lold | UINT64_C(1) << a % 64)                                                          \
    X(s_cvt_f32_i32, ROWS_BITS, FLOAT((float)(double)(int32_t)a))                                                      \
    X(s_cvt_f32_u32, ROWS_BITS, FLOAT((float)(double)a))                                                               \
    X(s_cvt_i32_f32, ROWS_BITS, to_signed(fa))                                                                         \
    X(s_cvt_u32_f32, ROWS_BITS, to_unsigned(fa))                                                                       \
    X(s_cvt_f16_f32, ROWS_F16, HALF(fa))                                                                               \
    X(s_cvt_f32_f16, ROWS_F32, FLOAT(ha))                                                                              \
    X(s_cvt_hi_f32_f16, ROWS_F32, FLOAT(rows_half(a >> 16)))                                                           \
    X(s_floor_f32, ROWS_F32, FLOAT(rows_rounded(fa, FE_DOWNWARD)))                                                     \
    X(s_ceil_f32, ROWS_F32, FLOAT(rows_rounded(fa, FE_UPWARD)))                                                        \
    X(s_trunc_f32, ROWS_F32, FLOAT(rows_rounded(fa, FE_TOWARDZERO)))                                                   \
    X(s_rndne_f32, ROWS_F32, FLOAT(rows_rounded(fa, FE_TONEAREST)))                                                    \
    X(s_floor_f16, ROWS_F16, HALF(rows_rounded(ha, FE_DOWNWARD)))                                                      \
    X(s_ceil_f16, ROWS_F16, HALF(rows_rounded(ha, FE_UPWARD)))                                                         \
    X(s_trunc_f16, ROWS_F16, HALF(rows_rounded(ha, FE_TOWARDZERO)))                                                    \
    X(s_rndne_f16, ROWS_F16, HALF(rows_rounded(ha, FE_TONEAREST)))                                                     \
    X(s_movk_i32, ROWS_BITS, (uint32_t)(int32_t)(int16_t)a)                                                            \
    X(s_cmovk_i32, ROWS_BITS, in ? (uint32_t)(int32_t)(int16_t)a : old)                                                \
    X(s_mulk_i32, ROWS_BITS, (uint32_t)(SIGNED(old) * (int16_t)a))

#define CHANGING(X)                                                                                                    \
    X(s_and_b32, a - (a & ~b))                                                                                         \
    X(s_or_b32, a + (b & ~a))                                                                                          \
    X(s_xor_b32, (a | b) - (a & b))                                                                                    \
    X(s_nand_b32, UINT32_MAX - (a & b))                                                                                \
    X(s_nor_b32, UINT32_MAX - (a | b))                                                                                 \
    X(s_xnor_b32, UINT32_MAX - (a ^ b))                                                                                \
    X(s_and_not1_b32, a - (a & b))                                                                                     \
    X(s_or_not1_b32, UINT32_MAX - (b - (a & b)))                                                                       \
    X(s_and_b64, la - (la & ~lb))                                                                                      \
    X(s_or_b64, la + (lb & ~la))                                                                                       \
    X(s_xor_b64, (la | lb) - (la & lb))                                                                                \
    X(s_nand_b64, UINT64_MAX - (la & lb))                                                                              \
    X(s_nor_b64, UINT64_MAX - (la | lb))                                                                               \
    X(s_xnor_b64, UINT64_MAX - (la ^ lb))                                                                              \
    X(s_and_not1_b64, la - (la & lb))                                                                                  \
    X(s_or_not1_b64, UINT64_MAX - (lb - (la & lb)))                                                                    \
    X(s_lshl_b32, (uint32_t)(la << b % 32))                                                                            \
    X(s_lshr_b32, la >> b % 32)                                                                                        \
    X(s_ashr_i32, arithmetic(a, b % 32, 32))                                                                           \
    X(s_lshl_b64, la << b % 64)                                                                                        \
    X(s_lshr_b64, la >> b % 64)                                                                                        \
    X(s_ashr_i64, arithmetic(la, b % 64, 64))                                                                          \
    X(s_bfe_u32, field(a, b, 32, false))                                                                               \
    X(s_bfe_i32, field(a, b, 32, true))                                                                                \
    X(s_bfe_u64, field(la, b, 64, false))                                                                              \
    X(s_bfe_i64, field(la, b, 64, true))                                                                               \
    X(s_absdiff_i32, (uint32_t)((int32_t)(a - b) < 0 ? (uint64_t)(b - a) : (uint64_t)(a - b)))                         \
    X(s_not_b32, UINT32_MAX - a)                                                                                       \
    X(s_not_b64, UINT64_MAX - la)                                                                                      \
    X(s_abs_i32, (uint32_t)llabs(SIGNED(a)))                                                                           \
    X(s_bcnt0_i32_b32, 32 - ones(a))                                                                                   \
    X(s_bcnt1_i32_b32, ones(a))                                                                                        \
    X(s_bcnt0_i32_b64, 64 - ones(la))                                                                                  \
    X(s_bcnt1_i32_b64, ones(la))                                                                                       \
    X(s_quadmask_b32, quads(a, 32, false))                                                                             \
    X(s_quadmask_b64, quads(la, 64, false))                                                                            \
    X(s_wqm_b32, quads(a, 32, true))                                                                                   \
    X(s_wqm_b64, quads(la, 64, true))

/* Conditions. */
#define TELLING(X)                                                                                                     \
    X(s_cmp_eq_i32, a == b)                                                                                            \
    X(s_cmp_lg_i32, a != b)                                                                                            \
    X(s_cmp_gt_i32, SIGNED(a) - SIGNED(b) > 0)                                                                         \
    X(s_cmp_ge_i32, SIGNED(a) - SIGNED(b) >= 0)                                                                        \
    X(s_cmp_lt_i32, SIGNED(a) - SIGNED(b) < 0)                                                                         \
    X(s_cmp_le_i32, SIGNED(a) - SIGNED(b) <= 0)                                                                        \
    X(s_cmp_eq_u32, la - lb == 0)                                                                                      \
    X(s_cmp_lg_u32, la - lb != 0)                                                                                      \
    X(s_cmp_gt_u32, (int64_t)la - (int64_t)lb > 0)                                                                     \
    X(s_cmp_ge_u32, (int64_t)la - (int64_t)lb >= 0)                                                                    \
    X(s_cmp_lt_u32, (int64_t)la - (int64_t)lb < 0)                                                                     \
    X(s_cmp_le_u32, (int64_t)la - (int64_t)lb <= 0)                                                                    \
    X(s_cmp_eq_u64, (la ^ lb) == 0)                                                                                    \
    X(s_cmp_lg_u64, (la ^ lb) != 0)                                                                                    \
    X(s_bitcmp0_b32, (a & 1u << b % 32) == 0)                                                                          \
    X(s_bitcmp1_b32, (a & 1u << b % 32) != 0)                                                                          \
    X(s_bitcmp0_b64, (la & UINT64_C(1) << b % 64) == 0)                                                                \
    X(s_bitcmp1_b64, (la & UINT64_C(1) << b % 64) != 0)                                                                \
    X(s_cmpk_eq_i32, SIGNED(a) == CONSTANT)                                                                            \
    X(s_cmpk_lg_i32, SIGNED(a) != CONSTANT)                                                                            \
    X(s_cmpk_gt_i32, SIGNED(a) > CONSTANT)                                                                             \
    X(s_cmpk_ge_i32, SIGNED(a) >= CONSTANT)                                                                            \
    X(s_cmpk_lt_i32, SIGNED(a) < CONSTANT)                                                                             \
    X(s_cmpk_le_i32, SIGNED(a) <= CONSTANT)                                                                            \
    X(s_cmpk_eq_u32, la == (lb & 0xffff))                                                                              \
    X(s_cmpk_lg_u32, la != (lb & 0xffff))                                                                              \
    X(s_cmpk_gt_u32, la > (lb & 0xffff))                                                                               \
    X(s_cmpk_ge_u32, la >= (lb & 0xffff))                                                                              \
    X(s_cmpk_lt_u32, la < (lb & 0xffff))                                                                               \
    X(s_cmpk_le_u32, la <= (lb & 0xffff))
#define FLOATS(X, type, p, q)                                                                                          \
    X(s_cmp_eq_##type, isunordered(p, q) ? 0 : p == q)                                                                 \
    X(s_cmp_lg_##type, islessgreater(p, q))                                                                            \
    X(s_cmp_lt_##type, isless(p, q))                                                                                   \
    X(s_cmp_le_##type, islessequal(p, q))                                                                              \
    X(s_cmp_gt_##type, isgreater(p, q))                                                                                \
    X(s_cmp_ge_##type, isgreaterequal(p, q))                                                                           \
    X(s_cmp_neq_##type, isunordered(p, q) ? 1 : p != q)                                                                \
    X(s_cmp_nlg_##type, !islessgreater(p, q))                                                                          \
    X(s_cmp_nlt_##type, !isless(p, q))                                                                                 \
    X(s_cmp_nle_##type, !islessequal(p, q))                                                                            \
    X(s_cmp_ngt_##type, !isgreater(p, q))                                                                              \
    X(s_cmp_nge_##type, !isgreaterequal(p, q))                                                                         \
    X(s_cmp_o_##type, !isunordered(p, q))                                                                              \
    X(s_cmp_u_##type, isunordered(p, q))

#define DEFINE_KEEPING(name, how, expression) KEEPS(ref_##name, expression)
#define DEFINE_CHANGING(name, expression)     NOT_ZERO(ref_##name, expression)
#define DEFINE_TELLING(name, condition)       TELLS(ref_##name, condition)
KEEPING(DEFINE_KEEPING)
CHANGING(DEFINE_CHANGING)
TELLING(DEFINE_TELLING)
FLOATS(DEFINE_TELLING, f32, fa, fb)
FLOATS(DEFINE_TELLING, f16, ha, hb)

EXACT(ref_s_add_u32, 0, UINT32_MAX, ua + ub)
EXACT(ref_s_sub_u32, 0, UINT32_MAX, ua - ub)
EXACT(ref_s_addc_u32, 0, UINT32_MAX, ua + ub + x->in)
EXACT(ref_s_subb_u32, 0, UINT32_MAX, ua - ub - x->in)
EXACT(ref_s_add_i32, INT32_MIN, INT32_MAX, sa + sb)
EXACT(ref_s_sub_i32, INT32_MIN, INT32_MAX, sa - sb)
EXACT(ref_s_lshl1_add_u32, 0, UINT32_MAX, 2 * ua + ub)
EXACT(ref_s_lshl2_add_u32, 0, UINT32_MAX, 4 * ua + ub)
EXACT(ref_s_lshl3_add_u32, 0, UINT32_MAX, 8 * ua + ub)
EXACT(ref_s_lshl4_add_u32, 0, UINT32_MAX, 16 * ua + ub)
EXACT(ref_s_addk_i32, INT32_MIN, INT32_MAX, so + k)

/* The first one wins: SCC says whether it is the first operand. */
#define CHOICE(name, type, op)                                                                                         \
    static void ref_##name(rows_io *x) {                                                                               \
        const int64_t a = (type)x->a, b = (type)x->b;                                                                  \
        x->out = a op b;                                                                                               \
        x->d = (uint32_t)(x->out ? a : b);                                                                             \
    }
CHOICE(s_min_i32, int32_t, <)
CHOICE(s_min_u32, uint32_t, <)
CHOICE(s_max_i32, int32_t, >=)
CHOICE(s_max_u32, uint32_t, >=)

/* D is EXEC before, or (wrexec) after. */
#define SAVES(name, expression, saves)                                                                                 \
    static void ref_##name##_b64(rows_io *x) {                                                                         \
        const uint64_t s = x->a, exec = x->exec;                                                                       \
        x->exec = (expression);                                                                                        \
        x->d = (saves) ? exec : x->exec;                                                                               \
        x->out = x->exec != 0;                                                                                         \
    }                                                                                                                  \
    static void ref_##name##_b32(rows_io *x) {                                                                         \
        const uint64_t s = (uint32_t)x->a, exec = x->exec;                                                             \
        x->exec = (uint32_t)(expression);                                                                              \
        x->d = (saves) ? exec : x->exec;                                                                               \
        x->out = x->exec != 0;                                                                                         \
    }
#define SAVEEXECS(X)                                                                                                   \
    X(s_and_saveexec, s &exec, true)                                                                                   \
    X(s_or_saveexec, s | exec, true)                                                                                   \
    X(s_xor_saveexec, s ^ exec, true)                                                                                  \
    X(s_nand_saveexec, ~(s & exec), true)                                                                              \
    X(s_nor_saveexec, ~(s | exec), true)                                                                               \
    X(s_xnor_saveexec, ~(s ^ exec), true)                                                                              \
    X(s_and_not0_saveexec, ~s &exec, true)                                                                             \
    X(s_or_not0_saveexec, ~s | exec, true)                                                                             \
    X(s_and_not1_saveexec, s & ~exec, true)                                                                            \
    X(s_or_not1_saveexec, s | ~exec, true)                                                                             \
    X(s_and_not0_wrexec, ~s &exec, false)                                                                              \
    X(s_and_not1_wrexec, s & ~exec, false)
SAVEEXECS(SAVES)

#define ROW_KEEPING(name, how, expression) {#name, ref_##name, how},
#define CASE(name, expression)             {#name, ref_##name, ROWS_BITS},
#define ROW(name)                          CASE(name, )
#define ROW_SAVES(name, expression, saves)                                                                             \
    {#name "_b32", ref_##name##_b32, ROWS_BITS}, {#name "_b64", ref_##name##_b64, ROWS_BITS},

static const rows_case list[] = {
    KEEPING(ROW_KEEPING) CHANGING(CASE) TELLING(CASE) FLOATS(CASE, f32, , ) FLOATS(CASE, f16, , ) SAVEEXECS(ROW_SAVES)
        ROW(s_add_u32) ROW(s_sub_u32) ROW(s_addc_u32) ROW(s_subb_u32) ROW(s_add_i32) ROW(s_sub_i32) ROW(s_lshl1_add_u32)
            ROW(s_lshl2_add_u32) ROW(s_lshl3_add_u32) ROW(s_lshl4_add_u32) ROW(s_addk_i32) ROW(s_min_i32) ROW(s_min_u32)
                ROW(s_max_i32) ROW(s_max_u32)};

const rows_cases rows_of_scalars = {list, sizeof list / sizeof list[0]};

/* What 16-bit instructions of lanes must make, one value or two of a lane, and dot products. */
#include <fenv.h>

#include "rows.h"

/* ---- One value --------------------------------------------------------------------------------------------- */

static uint64_t largest(uint64_t a, uint64_t b) {
    return rows_half_bits(rows_extreme(rows_exact_half(a), rows_exact_half(b), true));
}

static uint64_t smallest(uint64_t a, uint64_t b) {
    return rows_half_bits(rows_extreme(rows_exact_half(a), rows_exact_half(b), false));
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c) {
    if (isnan(rows_half(a)) || isnan(rows_half(b)) || isnan(rows_half(c))) {
        return smallest(smallest(a, b), c);
    }
    uint64_t of[3] = {a, b, c}, most = largest(largest(a, b), c); /* the first that equals the largest goes */
    int gone = 0;
    while (rows_half(of[gone]) != rows_half(most)) {
        gone++;
    }
    return largest(of[gone == 0 ? 1 : 0], of[gone == 2 ? 1 : 2]);
}

static float fraction(float value) {
    float result = value - floorf(value);
    result = rows_half(rows_half_bits(result));
    return result >= 1 ? 0x1.ffcp-1f : result;
}

static float mantissa(float value) {
    return isfinite(value) && value != 0 ? scalbnf(value, -ilogbf(value) - 1) : value;
}

static uint64_t exponent(float value) {
    return isfinite(value) && value != 0 ? (uint16_t)(ilogbf(value) + 1) : 0;
}

/* Once rounded: the sum of the exact product in long double, of at most 64 bits, misses nothing that decides. */
static uint64_t fma16(uint64_t a, uint64_t b, uint64_t c) {
    double product = (double)rows_half(a) * (double)rows_half(b), third = (double)rows_half(c), sum = product + third;
    return rows_half_bits_once(sum);
}

static float div_fixup(float s0, float s1, float s2) {
    float sign = copysignf(1, s1) * copysignf(1, s2);
    if (isnan(s1) || isnan(s2) || (s1 == 0 && s2 == 0) || (isinf(s1) && isinf(s2))) {
        return NAN;
    }
    if (s1 == 0 || isinf(s2)) {
        return sign * INFINITY;
    }
    return isinf(s1) || s2 == 0 ? sign * 0.0f : sign * fabsf(s0);
}

static int32_t s16(uint64_t value) {
    return (int32_t)(value & 0xffff) - ((value & 0x8000) != 0 ? 0x10000 : 0);
}

static uint64_t low16(int64_t value) {
    return (uint64_t)value & 0xffff;
}

static int64_t limit(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

static int64_t middle(int64_t a, int64_t b, int64_t c) {
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

#define HALF(expression) rows_half_bits(expression)
#define MAX(a, b)        ((a) > (b) ? (a) : (b))
#define MIN(a, b)        ((a) < (b) ? (a) : (b))

#define CASES(X)                                                                                                       \
    X(v_add_f16, ROWS_F16, rows_half_bits_once((double)ha + (double)hb))                                               \
    X(v_sub_f16, ROWS_F16, rows_half_bits_once((double)ha - (double)hb))                                               \
    X(v_subrev_f16, ROWS_F16, rows_half_bits_once((double)hb - (double)ha))                                            \
    X(v_mul_f16, ROWS_F16, rows_half_bits_once((double)ha *(double)hb))                                                \
    X(v_max_f16, ROWS_F16, largest(a, b))                                                                              \
    X(v_min_f16, ROWS_F16, smallest(a, b))                                                                             \
    X(v_max3_f16, ROWS_F16, largest(largest(a, b), c))                                                                 \
    X(v_min3_f16, ROWS_F16, smallest(smallest(a, b), c))                                                               \
    X(v_med3_f16, ROWS_F16, median(a, b, c))                                                                           \
    X(v_maxmin_f16, ROWS_F16, smallest(largest(a, b), c))                                                              \
    X(v_minmax_f16, ROWS_F16, largest(smallest(a, b), c))                                                              \
    X(v_div_fixup_f16, ROWS_F16, HALF(div_fixup(ha, hb, hc)))                                                          \
    X(v_fma_f16, ROWS_F16, fma16(a, b, c))                                                                             \
    X(v_fmac_f16, ROWS_F16, fma16(a, b, old))                                                                          \
    X(v_rcp_f16, ROWS_F16_1, rows_half_bits_once(1 / (double)ha))                                                      \
    X(v_sqrt_f16, ROWS_F16_1, rows_half_bits_once(sqrt((double)ha)))                                                   \
    X(v_rsq_f16, ROWS_F16_1, rows_half_bits_once(1 / sqrt((double)ha)))                                                \
    X(v_exp_f16, ROWS_F16_1, rows_half_bits_once(pow(2, (double)ha)))                                                  \
    X(v_log_f16, ROWS_F16_1, rows_half_bits_once(log((double)ha) / log(2)))                                            \
    X(v_floor_f16, ROWS_F16, HALF(rows_rounded(ha, FE_DOWNWARD)))                                                      \
    X(v_ceil_f16, ROWS_F16, HALF(rows_rounded(ha, FE_UPWARD)))                                                         \
    X(v_trunc_f16, ROWS_F16, HALF(rows_rounded(ha, FE_TOWARDZERO)))                                                    \
    X(v_rndne_f16, ROWS_F16, HALF(rows_rounded(ha, FE_TONEAREST)))                                                     \
    X(v_fract_f16, ROWS_F16, HALF(fraction(ha)))                                                                       \
    X(v_frexp_mant_f16, ROWS_F16, HALF(mantissa(ha)))                                                                  \
    X(v_frexp_exp_i16_f16, ROWS_BITS, exponent(ha))                                                                    \
    X(v_ldexp_f16, ROWS_F16, HALF(scalblnf(ha, s16(b))))                                                               \
    X(v_mov_b16, ROWS_BITS, a)                                                                                         \
    X(v_not_b16, ROWS_BITS, 0xffff - a)                                                                                \
    X(v_add_nc_u16, ROWS_BITS, low16((int64_t)la + (int64_t)lb))                                                       \
    X(v_sub_nc_u16, ROWS_BITS, low16((int64_t)la - (int64_t)lb))                                                       \
    X(v_add_nc_i16, ROWS_BITS, low16(s16(a) + s16(b)))                                                                 \
    X(v_sub_nc_i16, ROWS_BITS, low16(s16(a) - s16(b)))                                                                 \
    X(v_mul_lo_u16, ROWS_BITS, low16((int64_t)(la * lb)))                                                              \
    X(v_and_b16, ROWS_BITS, a &b)                                                                                      \
    X(v_or_b16, ROWS_BITS, a | b)                                                                                      \
    X(v_xor_b16, ROWS_BITS, (a | b) - (a & b))                                                                         \
    X(v_lshlrev_b16, ROWS_BITS, low16((int64_t)lb *(INT64_C(1) << a % 16)))                                            \
    X(v_lshrrev_b16, ROWS_BITS, b / (1u << a % 16))                                                                    \
    X(v_ashrrev_i16, ROWS_BITS, low16((int64_t)floor((double)s16(b) / (1 << a % 16))))                                 \
    X(v_max_u16, ROWS_BITS, MAX(a, b))                                                                                 \
    X(v_min_u16, ROWS_BITS, MIN(a, b))                                                                                 \
    X(v_max_i16, ROWS_BITS, low16(MAX(s16(a), s16(b))))                                                                \
    X(v_min_i16, ROWS_BITS, low16(MIN(s16(a), s16(b))))                                                                \
    X(v_max3_u16, ROWS_BITS, MAX(MAX(a, b), c))                                                                        \
    X(v_min3_u16, ROWS_BITS, MIN(MIN(a, b), c))                                                                        \
    X(v_med3_u16, ROWS_BITS, middle(a, b, c))                                                                          \
    X(v_max3_i16, ROWS_BITS, low16(MAX(MAX(s16(a), s16(b)), s16(c))))                                                  \
    X(v_min3_i16, ROWS_BITS, low16(MIN(MIN(s16(a), s16(b)), s16(c))))                                                  \
    X(v_med3_i16, ROWS_BITS, low16(middle(s16(a), s16(b), s16(c))))                                                    \
    X(v_mad_u16, ROWS_BITS, low16((int64_t)(la * lb + lc)))                                                            \
    X(v_mad_i16, ROWS_BITS, low16((int64_t)s16(a) * s16(b) + s16(c)))                                                  \
    X(v_mad_u32_u16, ROWS_BITS, (uint32_t)(la * lb + lc))                                                              \
    X(v_mad_i32_i16, ROWS_BITS, (uint32_t)((int64_t)s16(a) * s16(b) + (int32_t)c))                                     \
    X(v_cndmask_b16, ROWS_BITS, in ? b : a)

#define DEFINE(name, how, expression) ROWS_REFERENCE(ref_##name, expression)
CASES(DEFINE)

ROWS_REFERENCE(ref_add_u16_clamp, limit((int64_t)la + (int64_t)lb, 0, 0xffff))
ROWS_REFERENCE(ref_sub_u16_clamp, limit((int64_t)la - (int64_t)lb, 0, 0xffff))
ROWS_REFERENCE(ref_add_i16_clamp, low16(limit(s16(a) + s16(b), -0x8000, 0x7fff)))
ROWS_REFERENCE(ref_sub_i16_clamp, low16(limit(s16(a) - s16(b), -0x8000, 0x7fff)))

#define ROW(name, how, expression) {#name, ref_##name, how},

static const rows_case list[] = {CASES(ROW){"v_add_nc_u16 clamp", ref_add_u16_clamp, ROWS_BITS},
                                 {"v_sub_nc_u16 clamp", ref_sub_u16_clamp, ROWS_BITS},
                                 {"v_add_nc_i16 clamp", ref_add_i16_clamp, ROWS_BITS},
                                 {"v_sub_nc_i16 clamp", ref_sub_i16_clamp, ROWS_BITS}};

const rows_cases rows_of_halves = {list, sizeof list / sizeof list[0]};

/* ---- Two values -------------------------------------------------------------------------------------------- */

/* The halves one after the other, with the reference of one value. */
static void each(rows_io *x, void (*of)(rows_io *x)) {
    rows_io low = {.a = x->a & 0xffff, .b = x->b & 0xffff, .c = x->c & 0xffff, .old = x->old & 0xffff};
    rows_io high = {.a = x->a >> 16, .b = x->b >> 16, .c = x->c >> 16, .old = x->old >> 16 & 0xffff};
    of(&low);
    of(&high);
    x->d = (low.d & 0xffff) | (high.d & 0xffff) << 16;
}

/* Name, comparison, reference of one value. */
#define PAIRS(X)                                                                                                       \
    X(v_pk_add_u16, ROWS_BITS, ref_v_add_nc_u16)                                                                       \
    X(v_pk_sub_u16, ROWS_BITS, ref_v_sub_nc_u16)                                                                       \
    X(v_pk_add_i16, ROWS_BITS, ref_v_add_nc_i16)                                                                       \
    X(v_pk_sub_i16, ROWS_BITS, ref_v_sub_nc_i16)                                                                       \
    X(v_pk_mul_lo_u16, ROWS_BITS, ref_v_mul_lo_u16)                                                                    \
    X(v_pk_mad_u16, ROWS_BITS, ref_v_mad_u16)                                                                          \
    X(v_pk_mad_i16, ROWS_BITS, ref_v_mad_i16)                                                                          \
    X(v_pk_lshlrev_b16, ROWS_BITS, ref_v_lshlrev_b16)                                                                  \
    X(v_pk_lshrrev_b16, ROWS_BITS, ref_v_lshrrev_b16)                                                                  \
    X(v_pk_ashrrev_i16, ROWS_BITS, ref_v_ashrrev_i16)                                                                  \
    X(v_pk_max_i16, ROWS_BITS, ref_v_max_i16)                                                                          \
    X(v_pk_min_i16, ROWS_BITS, ref_v_min_i16)                                                                          \
    X(v_pk_max_u16, ROWS_BITS, ref_v_max_u16)                                                                          \
    X(v_pk_min_u16, ROWS_BITS, ref_v_min_u16)                                                                          \
    X(v_pk_add_f16, ROWS_PAIR, ref_v_add_f16)                                                                          \
    X(v_pk_mul_f16, ROWS_PAIR, ref_v_mul_f16)                                                                          \
    X(v_pk_max_f16, ROWS_PAIR, ref_v_max_f16)                                                                          \
    X(v_pk_min_f16, ROWS_PAIR, ref_v_min_f16)                                                                          \
    X(v_pk_fma_f16, ROWS_PAIR, ref_v_fma_f16)                                                                          \
    X(v_pk_fmac_f16, ROWS_PAIR, ref_v_fmac_f16)

#define DEFINE_PAIR(name, how, reference)                                                                              \
    static void ref_##name(rows_io *x) {                                                                               \
        each(x, reference);                                                                                            \
    }
PAIRS(DEFINE_PAIR)

static uint64_t clamp_half(uint64_t bits) {
    float value = rows_half(bits);
    return isnan(value) || value <= 0 ? 0 : value > 1 ? 0x3c00 : bits;
}

#define DEFINE_CLAMP(function, reference, low, high)                                                                   \
    static void function##_one(rows_io *x) {                                                                           \
        reference(x);                                                                                                  \
    }                                                                                                                  \
    static void function(rows_io *x) {                                                                                 \
        each(x, function##_one);                                                                                       \
    }
DEFINE_CLAMP(ref_pk_add_u16_clamp, ref_add_u16_clamp, , )
DEFINE_CLAMP(ref_pk_sub_u16_clamp, ref_sub_u16_clamp, , )
DEFINE_CLAMP(ref_pk_add_i16_clamp, ref_add_i16_clamp, , )
DEFINE_CLAMP(ref_pk_sub_i16_clamp, ref_sub_i16_clamp, , )

static void clamp_both(rows_io *x, void (*of)(rows_io *x)) {
    of(x);
    x->d = clamp_half(x->d & 0xffff) | clamp_half(x->d >> 16) << 16;
}

static void ref_pk_add_f16_clamp(rows_io *x) {
    clamp_both(x, ref_v_pk_add_f16);
}

static void ref_pk_mul_f16_clamp(rows_io *x) {
    clamp_both(x, ref_v_pk_mul_f16);
}

static void ref_pk_fma_f16_clamp(rows_io *x) {
    clamp_both(x, ref_v_pk_fma_f16);
}

static float bfloat(uint64_t bits) {
    return rows_float((bits & 0xffff) << 16);
}

/* Each product and each addition in float32. */
static uint64_t dot(const float a[2], const float b[2], float c) {
    float low = (float)((double)a[0] * (double)b[0]), high = (float)((double)a[1] * (double)b[1]);
    float sum = (float)((long double)low + (long double)c);
    return rows_float_bits((float)((long double)high + (long double)sum));
}

static uint64_t dot_halves(uint64_t a, uint64_t b, uint64_t c) {
    return dot((float[]){rows_half(a), rows_half(a >> 16)}, (float[]){rows_half(b), rows_half(b >> 16)}, rows_float(c));
}

static uint64_t dot_bfloats(uint64_t a, uint64_t b, uint64_t c) {
    return dot((float[]){bfloat(a), bfloat(a >> 16)}, (float[]){bfloat(b), bfloat(b >> 16)}, rows_float(c));
}

ROWS_REFERENCE(ref_v_dot2_f32_f16, dot_halves(a, b, c))
ROWS_REFERENCE(ref_v_dot2acc_f32_f16, dot_halves(a, b, old))
ROWS_REFERENCE(ref_v_dot2_f32_bf16, dot_bfloats(a, b, c))
ROWS_REFERENCE(ref_v_dot2acc_f32_bf16, dot_bfloats(a, b, old))

static const rows_case pairs[] = {PAIRS(ROW){"v_pk_add_u16 clamp", ref_pk_add_u16_clamp, ROWS_BITS},
                                  {"v_pk_sub_u16 clamp", ref_pk_sub_u16_clamp, ROWS_BITS},
                                  {"v_pk_add_i16 clamp", ref_pk_add_i16_clamp, ROWS_BITS},
                                  {"v_pk_sub_i16 clamp", ref_pk_sub_i16_clamp, ROWS_BITS},
                                  {"v_pk_add_f16 clamp", ref_pk_add_f16_clamp, ROWS_PAIR},
                                  {"v_pk_mul_f16 clamp", ref_pk_mul_f16_clamp, ROWS_PAIR},
                                  {"v_pk_fma_f16 clamp", ref_pk_fma_f16_clamp, ROWS_PAIR},
                                  {"v_dot2_f32_f16", ref_v_dot2_f32_f16, ROWS_F32},
                                  {"v_dot2c_f32_f16", ref_v_dot2acc_f32_f16, ROWS_F32},
                                  {"v_dot2acc_f32_f16", ref_v_dot2acc_f32_f16, ROWS_F32},
                                  {"v_dot2_f32_bf16", ref_v_dot2_f32_bf16, ROWS_F32},
                                  {"v_dot2acc_f32_bf16", ref_v_dot2acc_f32_bf16, ROWS_F32}};

const rows_cases rows_of_pairs = {pairs, sizeof pairs / sizeof pairs[0]};

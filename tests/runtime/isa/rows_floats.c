/* What float32 instructions of lanes, the division sequence's parts and conversions must make. */
#include <fenv.h>

#include "rows.h"

/* The value of a float32 as flushed instructions see it. */
static double flushed(float value) {
    return fpclassify(value) == FP_SUBNORMAL ? copysign(0, value) : (double)value;
}

static float flushed_result(double value) {
    float result = (float)value;
    return fpclassify(result) == FP_SUBNORMAL ? copysignf(0, result) : result;
}

static float largest(float a, float b) {
    return rows_extreme(a, b, true);
}

static float smallest(float a, float b) {
    return rows_extreme(a, b, false);
}

static float median(float a, float b, float c) {
    if (isnan(a) || isnan(b) || isnan(c)) {
        return smallest(smallest(a, b), c);
    }
    float of[3] = {a, b, c}; /* the first that equals the largest goes; equal zeros of both signs do */
    int gone = 0;
    while (!(of[gone] >= a && of[gone] >= b && of[gone] >= c)) {
        gone++;
    }
    return largest(of[gone == 0 ? 1 : 0], of[gone == 2 ? 1 : 2]);
}

static float fraction(float value) {
    if (!isfinite(value)) {
        return NAN;
    }
    double part = (double)value - floor((double)value);
    float result = (float)part;
    return result >= 1 ? nextafterf(1, 0) : result;
}

static uint64_t to_unsigned(double value) {
    return isnan(value) || value < 0 ? 0 : value >= 0x1p32 ? UINT32_MAX : (uint64_t)value;
}

static uint64_t to_signed(double value) {
    return (uint32_t)(isnan(value)                 ? 0
                      : value <= (double)INT32_MIN ? INT32_MIN
                      : value >= (double)INT32_MAX ? INT32_MAX
                                                   : (int64_t)value);
}

static uint64_t clamp16(double value, double low, double high) {
    return isnan(value) ? 0 : (uint64_t)(int64_t)trunc(value < low ? low : value > high ? high : value) & 0xffff;
}

static uint64_t clamp_integer(int64_t value, int64_t low, int64_t high) {
    return (uint64_t)(value < low ? low : value > high ? high : value) & 0xffff;
}

/* By halves: the largest float16 whose magnitude is not above. */
static uint64_t half_towards_zero(float value) {
    uint64_t half = rows_half_bits(value);
    if (fabsf(rows_half(half)) > fabsf(value)) {
        half--;
    }
    return half;
}

static uint64_t exponent(float value) {
    return isfinite(value) && value != 0 ? (uint32_t)(ilogbf(value) + 1) : 0;
}

static float mantissa(float value) {
    return isfinite(value) && value != 0 ? scalbnf(value, -ilogbf(value) - 1) : value;
}

static uint64_t byte_of(uint32_t a, int n) {
    uint8_t in[4];
    memcpy(in, &a, 4);
    return rows_float_bits((float)in[n]);
}

static double turn(float value, double (*of)(double)) {
    return isfinite(value) ? of(6.28318530717958647693 * remainder((double)value, 1)) : NAN;
}

#define BITS(expression) rows_float_bits(expression)

#define CASES(X)                                                                                                       \
    X(v_add_f32, ROWS_F32, BITS((float)((long double)fa + fb)))                                                        \
    X(v_sub_f32, ROWS_F32, BITS((float)((long double)fa - fb)))                                                        \
    X(v_subrev_f32, ROWS_F32, BITS((float)((long double)fb - fa)))                                                     \
    X(v_mul_f32, ROWS_F32, BITS((float)((double)fa * (double)fb)))                                                     \
    X(v_mul_dx9_zero_f32, ROWS_F32, BITS(fa == 0 || fb == 0 ? 0 : (float)((double)fa * (double)fb)))                   \
    X(v_max_f32, ROWS_F32, BITS(largest(fa, fb)))                                                                      \
    X(v_min_f32, ROWS_F32, BITS(smallest(fa, fb)))                                                                     \
    X(v_fma_f32, ROWS_F32, BITS(__builtin_fmaf(fa, fb, fc)))                                                           \
    X(v_fma_dx9_zero_f32, ROWS_F32, BITS(fa == 0 || fb == 0 ? fc : __builtin_fmaf(fa, fb, fc)))                        \
    X(v_max3_f32, ROWS_F32, BITS(largest(largest(fa, fb), fc)))                                                        \
    X(v_min3_f32, ROWS_F32, BITS(smallest(smallest(fa, fb), fc)))                                                      \
    X(v_med3_f32, ROWS_F32, BITS(median(fa, fb, fc)))                                                                  \
    X(v_maxmin_f32, ROWS_F32, BITS(smallest(largest(fa, fb), fc)))                                                     \
    X(v_minmax_f32, ROWS_F32, BITS(largest(smallest(fa, fb), fc)))                                                     \
    X(v_floor_f32, ROWS_F32, BITS(rows_rounded(fa, FE_DOWNWARD)))                                                      \
    X(v_ceil_f32, ROWS_F32, BITS(rows_rounded(fa, FE_UPWARD)))                                                         \
    X(v_trunc_f32, ROWS_F32, BITS(rows_rounded(fa, FE_TOWARDZERO)))                                                    \
    X(v_rndne_f32, ROWS_F32, BITS(rows_rounded(fa, FE_TONEAREST)))                                                     \
    X(v_fract_f32, ROWS_F32, BITS(fraction(fa)))                                                                       \
    X(v_exp_f32, ROWS_F32_1, BITS(flushed_result(pow(2, flushed(fa)))))                                                \
    X(v_log_f32, ROWS_F32_1, BITS((float)(log(flushed(fa)) / log(2))))                                                 \
    X(v_rcp_f32, ROWS_F32_1, BITS(flushed_result(1 / flushed(fa))))                                                    \
    X(v_rcp_iflag_f32, ROWS_F32_1, BITS(flushed_result(1 / flushed(fa))))                                              \
    X(v_rsq_f32, ROWS_F32_1, BITS((float)(1 / sqrt(flushed(fa)))))                                                     \
    X(v_sqrt_f32, ROWS_F32_1, BITS((float)sqrt(flushed(fa))))                                                          \
    X(v_sin_f32, ROWS_TURN, fa == 0 ? a : BITS((float)turn(fa, sin)))                                                  \
    X(v_cos_f32, ROWS_TURN, BITS((float)turn(fa, cos)))                                                                \
    X(v_ldexp_f32, ROWS_F32, BITS(scalblnf(fa, (long)(int32_t)b)))                                                     \
    X(v_frexp_mant_f32, ROWS_F32, BITS(mantissa(fa)))                                                                  \
    X(v_frexp_exp_i32_f32, ROWS_BITS, exponent(fa))                                                                    \
    X(v_cvt_f32_i32, ROWS_BITS, BITS((float)(double)(int32_t)a))                                                       \
    X(v_cvt_f32_u32, ROWS_BITS, BITS((float)(double)a))                                                                \
    X(v_cvt_i32_f32, ROWS_BITS, to_signed((double)fa))                                                                 \
    X(v_cvt_u32_f32, ROWS_BITS, to_unsigned((double)fa))                                                               \
    X(v_cvt_nearest_i32_f32, ROWS_BITS, to_signed(floor((double)(fa + 0.5f))))                                         \
    X(v_cvt_floor_i32_f32, ROWS_BITS, to_signed(floor((double)fa)))                                                    \
    X(v_cvt_f32_f16, ROWS_F32, BITS(ha))                                                                               \
    X(v_cvt_f16_f32, ROWS_F16, rows_half_bits(fa))                                                                     \
    X(v_cvt_f32_ubyte0, ROWS_BITS, byte_of(a, 0))                                                                      \
    X(v_cvt_f32_ubyte1, ROWS_BITS, byte_of(a, 1))                                                                      \
    X(v_cvt_f32_ubyte2, ROWS_BITS, byte_of(a, 2))                                                                      \
    X(v_cvt_f32_ubyte3, ROWS_BITS, byte_of(a, 3))                                                                      \
    X(v_cvt_off_f32_i4, ROWS_BITS, BITS((float)((int)((a + 8) % 16) - 8) / 16))                                        \
    X(v_cvt_pk_rtz_f16_f32, ROWS_PAIR, half_towards_zero(fa) | half_towards_zero(fb) << 16)                            \
    X(v_pack_b32_f16, ROWS_BITS, (a & 0xffff) + (lb & 0xffff) * 0x10000)                                               \
    X(v_cvt_f16_u16, ROWS_BITS, rows_half_bits((float)(a & 0xffff)))                                                   \
    X(v_cvt_f16_i16, ROWS_BITS, rows_half_bits((float)(int16_t)a))                                                     \
    X(v_cvt_u16_f16, ROWS_BITS, clamp16((double)ha, 0, 65535))                                                         \
    X(v_cvt_i16_f16, ROWS_BITS, clamp16((double)ha, -32768, 32767))                                                    \
    X(v_cvt_i32_i16, ROWS_BITS, (uint32_t)(int32_t)(int16_t)a)                                                         \
    X(v_cvt_u32_u16, ROWS_BITS, a % 0x10000)                                                                           \
    X(v_sat_pk_u8_i16, ROWS_BITS, clamp_integer((int16_t)a, 0, 255) + clamp_integer((int16_t)(a >> 16), 0, 255) * 256) \
    X(v_cvt_pk_i16_f32, ROWS_BITS, clamp16((double)fa, -32768, 32767) | clamp16((double)fb, -32768, 32767) << 16)      \
    X(v_cvt_pk_u16_f32, ROWS_BITS, clamp16((double)fa, 0, 65535) | clamp16((double)fb, 0, 65535) << 16)                \
    X(v_cvt_pk_i16_i32, ROWS_BITS,                                                                                     \
      clamp_integer((int32_t)a, INT16_MIN, INT16_MAX) | clamp_integer((int32_t)b, INT16_MIN, INT16_MAX) << 16)         \
    X(v_cvt_pk_u16_u32, ROWS_BITS,                                                                                     \
      clamp_integer((int64_t)la, 0, UINT16_MAX) | clamp_integer((int64_t)lb, 0, UINT16_MAX) << 16)

#define DEFINE(name, how, expression) ROWS_REFERENCE(ref_##name, expression)
CASES(DEFINE)

ROWS_REFERENCE(ref_v_fmac_f32, BITS(__builtin_fmaf(fa, fb, fold)))
ROWS_REFERENCE(ref_v_fmac_dx9_zero_f32, BITS(fa == 0 || fb == 0 ? fold : __builtin_fmaf(fa, fb, fold)))

/* ---- The division sequence --------------------------------------------------------------------------------- */

/* The parts, case by case as the guide's pseudocode has them (with the three readings that rows_division.c names); that
 * they add up to a division is a test of its own. */
static int biased(double value, int bias) {
    return isfinite(value) ? (value == 0 || ilogb(value) + bias < 1 ? 0 : ilogb(value) + bias) : 2 * bias + 1;
}

static bool is_subnormal_quotient(long double n, long double d, int bias) {
    long double quotient =
        fabsl(n / d); /* no host of the tests has fewer than 11 bits of exponent to spare, or it is exact */
    return isfinite((double)n) && isfinite((double)d) && quotient < ldexpl(1, 1 - bias);
}

static double div_scale(double s0, double s1, double s2, int bias, int by, int limit, int tiny, bool *vcc) {
    bool rcp = s1 != 0 && is_subnormal_quotient(1, (long double)s1, bias);
    bool quotient = s1 != 0 && is_subnormal_quotient((long double)s2, (long double)s1, bias);
    *vcc = false;
    if (s1 == 0 || s2 == 0) {
        return NAN;
    }
    if (biased(s2, bias) - biased(s1, bias) >= limit) {
        *vcc = true;
        return s0 == s1 ? scalbn(s0, by) : s0;
    }
    if (biased(s1, bias) == 0) {
        return scalbn(s0, by);
    }
    if (rcp) {
        *vcc = quotient;
        return quotient && s0 != s1 ? s0 : scalbn(s0, -by);
    }
    if (quotient) {
        *vcc = true;
        return s0 == s2 ? scalbn(s0, by) : s0;
    }
    return biased(s2, bias) <= tiny ? scalbn(s0, by) : s0;
}

static void ref_v_div_scale_f32(rows_io *x) {
    x->d = BITS((float)div_scale((double)rows_float(x->a), (double)rows_float(x->b), (double)rows_float(x->c), 127, 64,
                                 96, 23, &x->out));
}

static void ref_v_div_scale_f64(rows_io *x) {
    x->d = rows_double_bits(
        div_scale(rows_double(x->a), rows_double(x->b), rows_double(x->c), 1023, 128, 768, 53, &x->out));
}

static double div_fixup(double s0, double s1, double s2, int bias, int limit) {
    double sign = copysign(1, s1) * copysign(1, s2);
    if (isnan(s1) || isnan(s2)) {
        return NAN;
    }
    if (s1 == 0 || isinf(s2)) {
        return s2 == 0 || isinf(s1) ? NAN : sign * HUGE_VAL;
    }
    if (isinf(s1) || s2 == 0 || biased(s2, bias) - biased(s1, bias) < limit) {
        return sign * 0.0;
    }
    return isnan(s0) ? sign * HUGE_VAL : sign * fabs(s0);
}

ROWS_REFERENCE(ref_v_div_fixup_f32, BITS((float)div_fixup((double)fa, (double)fb, (double)fc, 127, -150)))
ROWS_REFERENCE(ref_v_div_fixup_f64, rows_double_bits(div_fixup(da, db, dc, 1023, -1075)))

static double div_fmas(double product, double c, int bias, int by, bool in) {
    return in ? scalbn(product, biased(c, bias) > bias ? by : -by) : product;
}

ROWS_REFERENCE(ref_v_div_fmas_f32,
               BITS(in ? (float)div_fmas((double)((long double)fa *fb + fc), (double)fc, 127, 64, true)
                       : __builtin_fmaf(fa, fb, fc)))
ROWS_REFERENCE(ref_v_div_fmas_f64, rows_double_bits(div_fmas(__builtin_fma(da, db, dc), dc, 1023, 128, in)))

#define ROW(name, how, expression) {#name, ref_##name, how},

static const rows_case list[] = {
    CASES(ROW){"v_fmac_f32", ref_v_fmac_f32, ROWS_F32}, {"v_fmac_dx9_zero_f32", ref_v_fmac_dx9_zero_f32, ROWS_F32},
    {"v_div_scale_f32", ref_v_div_scale_f32, ROWS_F32}, {"v_div_scale_f64", ref_v_div_scale_f64, ROWS_F64},
    {"v_div_fixup_f32", ref_v_div_fixup_f32, ROWS_F32}, {"v_div_fixup_f64", ref_v_div_fixup_f64, ROWS_F64},
    {"v_div_fmas_f32", ref_v_div_fmas_f32, ROWS_F32_1}, {"v_div_fmas_f64", ref_v_div_fmas_f64, ROWS_F64_1}};

const rows_cases rows_of_floats = {list, sizeof list / sizeof list[0]};

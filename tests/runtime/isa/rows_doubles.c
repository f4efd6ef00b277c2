/* What float64 instructions of lanes must make. */
#include <fenv.h>

#include "rows.h"

static bool is_signaling(double value) {
    return isnan(value) && (rows_double_bits(value) >> 51 & 1) == 0;
}

static double extreme(double a, double b, bool largest) {
    if (is_signaling(a) || is_signaling(b) || (isnan(a) && isnan(b))) {
        return (double)NAN;
    }
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    if (a == b) {
        return (signbit(a) != 0) == largest ? b : a;
    }
    return (a > b) == largest ? a : b;
}

static double rounded(double value, int mode) {
    int kept = fegetround();
    fesetround(mode);
    double result = nearbyint(value);
    fesetround(kept);
    return result;
}

static double fraction(double value) {
    if (!isfinite(value)) {
        return (double)NAN;
    }
    double result = value - rounded(value, FE_DOWNWARD);
    return result >= 1 ? nextafter(1, 0) : result;
}

static double mantissa(double value) {
    return isfinite(value) && value != 0 ? scalbn(value, -ilogb(value) - 1) : value;
}

static uint64_t exponent(double value) {
    return isfinite(value) && value != 0 ? (uint32_t)(ilogb(value) + 1) : 0;
}

static uint64_t to_unsigned(double value) {
    return isnan(value) || value <= 0 ? 0 : value >= 0x1p32 ? UINT32_MAX : (uint64_t)value;
}

static uint64_t to_signed(double value) {
    return (uint32_t)(isnan(value) ? 0 : value <= -0x1p31 ? INT32_MIN : value >= 0x1p31 ? INT32_MAX : (int64_t)value);
}

#define BITS(expression) rows_double_bits(expression)

#define CASES(X)                                                                                                       \
    X(v_add_f64, ROWS_F64, BITS(__builtin_fma(da, 1.0, db)))                                                           \
    X(v_mul_f64, ROWS_F64, BITS(__builtin_fma(da, db, signbit(da) == signbit(db) ? 0.0 : -0.0)))                       \
    X(v_fma_f64, ROWS_F64, BITS(__builtin_fma(da, db, dc)))                                                            \
    X(v_max_f64, ROWS_F64, BITS(extreme(da, db, true)))                                                                \
    X(v_min_f64, ROWS_F64, BITS(extreme(da, db, false)))                                                               \
    X(v_ldexp_f64, ROWS_F64, BITS(scalbln(da, (long)(int32_t)b)))                                                      \
    X(v_rcp_f64, ROWS_F64_29, BITS(1 / da))                                                                            \
    X(v_rsq_f64, ROWS_F64_29, BITS(da == 0 ? 1 / da : (double)(1 / sqrtl((long double)da))))                           \
    X(v_sqrt_f64, ROWS_F64_29, BITS(sqrt(da)))                                                                         \
    X(v_floor_f64, ROWS_F64, BITS(rounded(da, FE_DOWNWARD)))                                                           \
    X(v_ceil_f64, ROWS_F64, BITS(rounded(da, FE_UPWARD)))                                                              \
    X(v_trunc_f64, ROWS_F64, BITS(rounded(da, FE_TOWARDZERO)))                                                         \
    X(v_rndne_f64, ROWS_F64, BITS(rounded(da, FE_TONEAREST)))                                                          \
    X(v_fract_f64, ROWS_F64, BITS(fraction(da)))                                                                       \
    X(v_frexp_mant_f64, ROWS_F64, BITS(mantissa(da)))                                                                  \
    X(v_frexp_exp_i32_f64, ROWS_BITS, exponent(da))                                                                    \
    X(v_cvt_f64_f32, ROWS_F64, BITS((double)fa))                                                                       \
    X(v_cvt_f64_i32, ROWS_BITS, BITS((double)(int64_t)(int32_t)a))                                                     \
    X(v_cvt_f64_u32, ROWS_BITS, BITS((double)la))                                                                      \
    X(v_cvt_f32_f64, ROWS_F32, rows_float_bits((float)da))                                                             \
    X(v_cvt_i32_f64, ROWS_BITS, to_signed(da))                                                                         \
    X(v_cvt_u32_f64, ROWS_BITS, to_unsigned(da))

#define DEFINE(name, how, expression) ROWS_REFERENCE(ref_##name, expression)
CASES(DEFINE)

#define ROW(name, how, expression) {#name, ref_##name, how},
static const rows_case list[] = {CASES(ROW)};
const rows_cases rows_of_doubles = {list, sizeof list / sizeof list[0]};

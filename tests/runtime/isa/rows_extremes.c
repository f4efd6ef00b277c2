/* What RDNA4's maxima and minima must make, of lanes and of scalars. */
#include "rows.h"

/* Exact in float64 whatever the operands are: kinds of NaN do not matter. */
static double extreme(double a, double b, bool largest, bool number_wins) {
    if (isnan(a) || isnan(b)) {
        return !number_wins ? NAN : isnan(a) ? b : a;
    }
    if (a == b) {
        return (signbit(a) != 0) == largest ? b : a;
    }
    return (a > b) == largest ? a : b;
}

static double max_num(double a, double b) {
    return extreme(a, b, true, true);
}

static double min_num(double a, double b) {
    return extreme(a, b, false, true);
}

static double maximum(double a, double b) {
    return extreme(a, b, true, false);
}

static double minimum(double a, double b) {
    return extreme(a, b, false, false);
}

/* Without the first operand that equals the largest the larger of the others. */
static double middle(double a, double b, double c) {
    if (isnan(a) || isnan(b) || isnan(c)) {
        return min_num(min_num(a, b), c);
    }
    const double of[] = {a, b, c}, most = max_num(max_num(a, b), c);
    int gone = 0;
    while (of[gone] != most) {
        gone++;
    }
    return max_num(of[gone == 0], of[gone == 2 ? 1 : 2]);
}

#define TWO(X)                                                                                                         \
    X(max_num, max_num(a, b))                                                                                          \
    X(min_num, min_num(a, b))                                                                                          \
    X(maximum, maximum(a, b))                                                                                          \
    X(minimum, minimum(a, b))
#define THREE(X)                                                                                                       \
    X(max3_num, max_num(max_num(a, b), c))                                                                             \
    X(min3_num, min_num(min_num(a, b), c))                                                                             \
    X(med3_num, middle(a, b, c))                                                                                       \
    X(maxmin_num, min_num(max_num(a, b), c))                                                                           \
    X(minmax_num, max_num(min_num(a, b), c))                                                                           \
    X(maximum3, maximum(maximum(a, b), c))                                                                             \
    X(minimum3, minimum(minimum(a, b), c))                                                                             \
    X(maximumminimum, minimum(maximum(a, b), c))                                                                       \
    X(minimummaximum, maximum(minimum(a, b), c))

#define DEFINE(name, expression)                                                                                       \
    static double of_##name(double a, double b, double c) {                                                            \
        (void)b, (void)c;                                                                                              \
        return expression;                                                                                             \
    }                                                                                                                  \
    ROWS_REFERENCE(ref_##name##_f32, rows_float_bits((float)of_##name((double)fa, (double)fb, (double)fc)))            \
    ROWS_REFERENCE(ref_##name##_f16, rows_half_bits_once(of_##name((double)ha, (double)hb, (double)hc)))
#define DEFINE_WIDE(name, expression)                                                                                  \
    ROWS_REFERENCE(ref_##name##_f64, rows_double_bits(of_##name(da, db, dc)))                                          \
    static void ref_pk_##name##_f16(rows_io *x) {                                                                      \
        rows_io low = {.a = x->a & 0xffff, .b = x->b & 0xffff}, high = {.a = x->a >> 16, .b = x->b >> 16};             \
        ref_##name##_f16(&low);                                                                                        \
        ref_##name##_f16(&high);                                                                                       \
        x->d = low.d | high.d << 16;                                                                                   \
    }
TWO(DEFINE)
THREE(DEFINE)
TWO(DEFINE_WIDE)

#define CASE(name, expression)                                                                                         \
    {"v_" #name "_f32", ref_##name##_f32, ROWS_F32}, {"v_" #name "_f16", ref_##name##_f16, ROWS_F16},
#define CASE_WIDE(name, expression)                                                                                    \
    {"v_" #name "_f64", ref_##name##_f64, ROWS_F64}, {"v_pk_" #name "_f16", ref_pk_##name##_f16, ROWS_PAIR},
#define CASE_SCALAR(name, expression)                                                                                  \
    {"s_" #name "_f32", ref_##name##_f32, ROWS_F32}, {"s_" #name "_f16", ref_##name##_f16, ROWS_F16},

static const rows_case list[] = {TWO(CASE) THREE(CASE) TWO(CASE_WIDE)};
static const rows_case scalars[] = {TWO(CASE_SCALAR)};

const rows_cases rows_of_extremes = {list, sizeof list / sizeof list[0]};
const rows_cases rows_of_scalar_extremes = {scalars, sizeof scalars / sizeof scalars[0]};

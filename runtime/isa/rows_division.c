/* The division sequence: v_div_scale, v_div_fmas, v_div_fixup. What they promise together is the quotient of two floats
 * rounded once, which the tests hold; three words of the guide cannot be meant and are read otherwise:
 *   - V_DIV_SCALE: "1 / S1 is denormal" is asked of the reciprocal in the format of the operands, and where the
 * quotient is denormal as well the denominator is scaled down (scaled up it would overflow);
 *   - V_DIV_FMAS: the factor is 2^64 (2^128) where the estimate is at least 2 and 2^-64 (2^-128) below, not 2^32
 * (2^64): so it undoes both kinds of scaling;
 *   - V_DIV_FIXUP: an estimate that is no number although both operands are has overflowed. */
#include "floats.h"
#include "sources.h"

/* What the two formats differ in. The functions below are written once, as float64, in which every float32 is exact. */
typedef struct format {
    int bias, fraction; /* of the exponent; bits behind the point */
    int scale;          /* exponent of the factor */
    int near_overflow;  /* difference of exponents */
    int underflow;      /* the same, negative */
} format;

static const format single = {127, 23, 64, 96, -150}, whole = {1023, 52, 128, 768, -1075};

/* The biased exponent, 0 for denormals. */
static int exponent_of(double value, const format *of) {
    int exponent;
    if (isnan(value) || isinf(value)) {
        return 2 * of->bias + 1;
    }
    if (value == 0) {
        return 0;
    }
    frexp(value, &exponent);
    exponent += of->bias - 1;
    return exponent > 0 ? exponent : 0;
}

/* Whether the exact quotient is below the smallest normal number and not 0. */
static bool is_quotient_denormal(double n, double d, const format *of) {
    int en, ed;
    double mn = fabs(frexp(n, &en)), md = fabs(frexp(d, &ed));
    int exponent = en - ed - (mn < md); /* of the quotient's leading bit */
    return isfinite(n) && isfinite(d) && exponent < 1 - of->bias;
}

static double scale(double s0, double s1, double s2, const format *of, bool *vcc) {
    *vcc = false;
    if (s2 == 0 || s1 == 0) {
        return NAN;
    }
    if (exponent_of(s2, of) - exponent_of(s1, of) >= of->near_overflow) {
        *vcc = true;
        return s0 == s1 ? ldexp(s0, of->scale) : s0;
    }
    if (exponent_of(s1, of) == 0) {
        return ldexp(s0, of->scale);
    }
    bool reciprocal = is_quotient_denormal(1, s1, of), quotient = is_quotient_denormal(s2, s1, of);
    if (reciprocal && quotient) {
        *vcc = true;
        return s0 == s1 ? ldexp(s0, -of->scale) : s0;
    }
    if (reciprocal) {
        return ldexp(s0, -of->scale);
    }
    if (quotient) {
        *vcc = true;
        return s0 == s2 ? ldexp(s0, of->scale) : s0;
    }
    return exponent_of(s2, of) <= (of == &single ? 23 : 53) ? ldexp(s0, of->scale) : s0;
}

static double fix_up(double s0, double s1, double s2, const format *of) {
    double sign = signbit(s1) != signbit(s2) ? -1.0 : 1.0;
    if (isnan(s2)) {
        return s2;
    }
    if (isnan(s1)) {
        return s1;
    }
    if ((s1 == 0 && s2 == 0) || (isinf(s1) && isinf(s2))) {
        return -NAN;
    }
    if (s1 == 0 || isinf(s2)) {
        return copysign(INFINITY, sign);
    }
    if (isinf(s1) || s2 == 0 || exponent_of(s2, of) - exponent_of(s1, of) < of->underflow) {
        return copysign(0, sign);
    }
    return isnan(s0) ? copysign(INFINITY, sign) : copysign(fabs(s0), sign);
}

static void v_div_scale_f32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        bool vcc;
        double value =
            scale((double)isa_f32(x->a[lane]), (double)isa_f32(x->b[lane]), (double)isa_f32(x->c[lane]), &single, &vcc);
        x->d[lane] = isa_bits((float)value);
        x->mask_out[lane] = vcc;
    }
}

static void v_div_scale_f64(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        bool vcc;
        uint64_t bits = isa_bits64(scale(isa_f64(x->a[lane], x->a_high[lane]), isa_f64(x->b[lane], x->b_high[lane]),
                                         isa_f64(x->c[lane], x->c_high[lane]), &whole, &vcc));
        x->d[lane] = (uint32_t)bits;
        x->d_high[lane] = (uint32_t)(bits >> 32);
        x->mask_out[lane] = vcc;
    }
}

/* a b + c times 2^by, rounded once. */
static float scaled_fma(float a, float b, float c, int by) {
    double product = (double)a * (double)b, sum = product + (double)c; /* the product is exact */
    if (!isfinite(sum)) {
        return (float)sum;
    }
    double part = sum - product, error = (product - (sum - part)) + ((double)c - part); /* sum + error is exact */
    uint64_t bits = isa_bits64(sum);
    if (error != 0 && (bits & 1) == 0) { /* round to odd, so that the second rounding ends where one would */
        bits += (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
    }
    return (float)ldexp(isa_f64((uint32_t)bits, (uint32_t)(bits >> 32)), by);
}

static void v_div_fmas_f32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        const float a = isa_f32(x->a[lane]), b = isa_f32(x->b[lane]), c = isa_f32(x->c[lane]);
        int by = exponent_of((double)c, &single) > single.bias ? single.scale : -single.scale;
        x->d[lane] = isa_bits(x->mask_in[lane] ? scaled_fma(a, b, c, by) : fmaf(a, b, c));
    }
}

/* The same of float64. Scaled down among the denormals the sum is rounded again: where that finds it halfway between
 * two, what the addition lost decides. */
static double scaled_fma64(double a, double b, double c, int by) {
    double value = fma(a, b, c), scaled = ldexp(value, by), over = value - ldexp(scaled, -by);
    if (by > 0 || !isfinite(value) || fabs(over) != ldexp(0x1p-1074, -by - 1)) {
        return scaled;
    }
    double product = a * b, sum = product + c, part = sum - product;
    double lost = (product - (sum - part)) + (c - part) + fma(a, b, -product) + (sum - value);
    return lost != 0 && (lost > 0) == (over > 0) ? scaled + copysign(0x1p-1074, over) : scaled;
}

static void v_div_fmas_f64(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        const double a = isa_f64(x->a[lane], x->a_high[lane]), b = isa_f64(x->b[lane], x->b_high[lane]);
        const double c = isa_f64(x->c[lane], x->c_high[lane]);
        int by = exponent_of(c, &whole) > whole.bias ? whole.scale : -whole.scale;
        uint64_t bits = isa_bits64(x->mask_in[lane] ? scaled_fma64(a, b, c, by) : fma(a, b, c));
        x->d[lane] = (uint32_t)bits;
        x->d_high[lane] = (uint32_t)(bits >> 32);
    }
}

static void v_div_fixup_f32(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        x->d[lane] = isa_bits((float)fix_up((double)isa_f32(x->a[lane]), (double)isa_f32(x->b[lane]),
                                            (double)isa_f32(x->c[lane]), &single));
    }
}

static void v_div_fixup_f64(const isa_lanes *x) {
    for (int lane = 0; lane < x->count; lane++) {
        uint64_t bits = isa_bits64(fix_up(isa_f64(x->a[lane], x->a_high[lane]), isa_f64(x->b[lane], x->b_high[lane]),
                                          isa_f64(x->c[lane], x->c_high[lane]), &whole));
        x->d[lane] = (uint32_t)bits;
        x->d_high[lane] = (uint32_t)(bits >> 32);
    }
}

#define DIVISION(name, operands) ISA_ROW(name, operands, ISA_CLASS_VALU, ISA_GFX11, ISA_VOP3)

static const isa_row rows[] = {
    DIVISION(v_div_scale_f32, "Df Dm Sf Sf Sf"), DIVISION(v_div_scale_f64, "Dd Dm Sd Sd Sd"),
    DIVISION(v_div_fmas_f32, "Df Sf Sf Sf Sm"),  DIVISION(v_div_fmas_f64, "Dd Sd Sd Sd Sm"),
    DIVISION(v_div_fixup_f32, "Df Sf Sf Sf"),    DIVISION(v_div_fixup_f64, "Dd Sd Sd Sd"),
};

const isa_table isa_table_division = {rows, sizeof rows / sizeof rows[0]};

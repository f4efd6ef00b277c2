/* Maxima, minima and medians as the guide has them, with MODE.IEEE set: a signaling NaN becomes a quiet one and wins,
 * of a quiet NaN and a number the number wins, and -0 is below +0 (16.7 VOP2, V_MIN_F32 and V_MAX_F32). */
#ifndef ISA_FLOATS_H
#define ISA_FLOATS_H

#include <math.h>

#include "lanewise.h"

#define ISA_QUIET_BIT   0x00400000u
#define ISA_QUIET_BIT64 UINT64_C(0x0008000000000000)

static inline bool isa_is_signaling(float value) {
    return value != value && (isa_bits(value) & ISA_QUIET_BIT) == 0;
}

static inline float isa_quiet(float value) {
    return isa_f32(isa_bits(value) | ISA_QUIET_BIT);
}

static inline float isa_maximum(float a, float b) {
    float larger = a > b ? a : b;
    larger = a == b ? (isa_bits(a) >> 31 ? b : a) : larger;
    larger = b != b ? a : a != a ? b : larger;
    return isa_is_signaling(a) ? isa_quiet(a) : isa_is_signaling(b) ? isa_quiet(b) : larger;
}

static inline float isa_minimum(float a, float b) {
    float smaller = a < b ? a : b;
    smaller = a == b ? (isa_bits(a) >> 31 ? a : b) : smaller;
    smaller = b != b ? a : a != a ? b : smaller;
    return isa_is_signaling(a) ? isa_quiet(a) : isa_is_signaling(b) ? isa_quiet(b) : smaller;
}

/* The middle one; with a NaN among them the smallest of the others (V_MED3_F32). */
static inline float isa_median(float a, float b, float c) {
    if (a != a || b != b || c != c) {
        return isa_minimum(isa_minimum(a, b), c);
    }
    float largest = isa_maximum(isa_maximum(a, b), c);
    return largest == a ? isa_maximum(b, c) : largest == b ? isa_maximum(a, c) : isa_maximum(a, b);
}

/* The same of float64. */
static inline bool isa_is_signaling64(double value) {
    return value != value && (isa_bits64(value) & ISA_QUIET_BIT64) == 0;
}

static inline double isa_quiet64(double value) {
    uint64_t bits = isa_bits64(value) | ISA_QUIET_BIT64;
    return isa_f64((uint32_t)bits, (uint32_t)(bits >> 32));
}

static inline double isa_maximum64(double a, double b) {
    double larger = a > b ? a : b;
    larger = a == b ? (signbit(a) ? b : a) : larger;
    larger = b != b ? a : a != a ? b : larger;
    return isa_is_signaling64(a) ? isa_quiet64(a) : isa_is_signaling64(b) ? isa_quiet64(b) : larger;
}

static inline double isa_minimum64(double a, double b) {
    double smaller = a < b ? a : b;
    smaller = a == b ? (signbit(a) ? a : b) : smaller;
    smaller = b != b ? a : a != a ? b : smaller;
    return isa_is_signaling64(a) ? isa_quiet64(a) : isa_is_signaling64(b) ? isa_quiet64(b) : smaller;
}

/* Maxima and minima as RDNA4 has them, after IEEE 754-2019: in those called "num" a number wins against a NaN of either
 * kind, in the others the NaN wins. A NaN comes out quiet, and -0 is below +0 (RDNA4 ISA guide, V_MAX_NUM_F32 and
 * V_MAXIMUM_F32). */
#define ISA_EXTREMES(type, suffix, quiet)                                                                              \
    static inline bool isa_is_above##suffix(type a, type b) {                                                          \
        return a > b || (a == b && signbit(a) == 0);                                                                   \
    }                                                                                                                  \
    static inline type isa_max_num##suffix(type a, type b) {                                                           \
        type number = a != a ? b : b != b ? a : isa_is_above##suffix(a, b) ? a : b;                                    \
        return number != number ? quiet(number) : number;                                                              \
    }                                                                                                                  \
    static inline type isa_min_num##suffix(type a, type b) {                                                           \
        type number = a != a ? b : b != b ? a : isa_is_above##suffix(a, b) ? b : a;                                    \
        return number != number ? quiet(number) : number;                                                              \
    }                                                                                                                  \
    static inline type isa_maximum_ieee##suffix(type a, type b) {                                                      \
        return a != a ? quiet(a) : b != b ? quiet(b) : isa_is_above##suffix(a, b) ? a : b;                             \
    }                                                                                                                  \
    static inline type isa_minimum_ieee##suffix(type a, type b) {                                                      \
        return a != a ? quiet(a) : b != b ? quiet(b) : isa_is_above##suffix(a, b) ? b : a;                             \
    }
ISA_EXTREMES(float, , isa_quiet)
ISA_EXTREMES(double, 64, isa_quiet64)

/* Denormals are 0 of their sign for instructions of which the guide says so. */
static inline float isa_flush(float value) {
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

#endif

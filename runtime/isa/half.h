/* float16 and bfloat16 as bits: IEEE 754 binary16, and the upper half of binary32. */
#ifndef ISA_HALF_H
#define ISA_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Exact; denormals are kept, NaN stays NaN. */
static inline float isa_half_to_float(uint32_t half) {
    uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
    uint32_t normal = (rest << 13) + (112u << 23); /* exponent bias 15 to 127 */
    uint32_t special = rest << 13 | 0x7f800000u;   /* infinity and NaN */
    float denormal = (float)rest * 0x1p-24f;       /* exact: rest has at most 10 bits */
    uint32_t denormal_bits, bits;
    memcpy(&denormal_bits, &denormal, sizeof denormal_bits);
    bits = sign | (rest >= 0x7c00u ? special : rest >= 0x0400u ? normal : denormal_bits);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounded to nearest, ties to even; overflow is infinity, results below 2^-14 are denormal. */
static inline uint32_t isa_float_to_half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) {
        return sign | 0x7e00u | (rest >> 13 & 0x3ffu);
    }
    if (rest >= 0x47800000u) { /* 65536 and more */
        return sign | 0x7c00u;
    }
    if (rest >= 0x38800000u) { /* 2^-14 and more: the carry of the rounding may reach the exponent, and infinity */
        return sign | ((rest + 0xfffu + (rest >> 13 & 1u) - (112u << 23)) >> 13);
    }
    if (rest < 0x33000000u) { /* below 2^-25 */
        return sign;
    }
    uint32_t mantissa = (rest & 0x7fffffu) | 0x800000u, shift = 126u - (rest >> 23); /* 14 to 24 */
    uint32_t kept = mantissa >> shift, lost = mantissa & ((1u << shift) - 1), half_way = 1u << (shift - 1);
    return sign | (kept + (lost > half_way || (lost == half_way && (kept & 1u) != 0)));
}

/* Rounded towards zero: what does not fit is the largest finite number, infinity stays. */
static inline uint32_t isa_float_to_half_truncated(float value) {
    uint32_t half = isa_float_to_half(value);
    float back = isa_half_to_float(half);
    bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
    return away ? half - 1 : half;
}

/* a b + c with one rounding. The product of two float16 is exact in float64, and so is a sum with a third, but for the
 * smallest: rounding to odd on the way to float32 keeps the second rounding from ending elsewhere than one would. */
static inline uint32_t isa_half_of_double(double value) {
    float nearest = (float)value;
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    if ((double)nearest != value && (bits & 1) == 0 && finite) {
        bool away = (nearest < 0 ? -(double)nearest : (double)nearest) > (value < 0 ? -value : value);
        bits = away ? bits - 1 : bits | 1;
        memcpy(&nearest, &bits, sizeof nearest);
    }
    return isa_float_to_half(nearest);
}

static inline uint32_t isa_half_fma(uint32_t a, uint32_t b, uint32_t c) {
    return isa_half_of_double((double)isa_half_to_float(a) * (double)isa_half_to_float(b) +
                              (double)isa_half_to_float(c));
}

static inline float isa_bfloat_to_float(uint32_t bfloat) {
    uint32_t bits = bfloat << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounded to nearest, ties to even. */
static inline uint32_t isa_float_to_bfloat(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return bits >> 16 | 0x40u;
    }
    return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

#endif

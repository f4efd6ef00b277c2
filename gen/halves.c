#include "halves.h"

#include <stdbool.h>
#include <string.h>

/* Bits of a format: sign, exponent, fraction; the exponent's bias is 2^(exponent_bits-1) - 1. */
struct format {
    int exponent_bits, fraction_bits;
};

static const struct format formats[] = {[HALF_F16] = {5, 10}, [HALF_BF16] = {8, 7}};

enum { DOUBLE_FRACTION_BITS = 52, DOUBLE_BIAS = 1023, DOUBLE_EXPONENT_MASK = 0x7ff };

static int format_bias(struct format format) {
    return (1 << (format.exponent_bits - 1)) - 1;
}

static double double_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double half_to_double(enum half_type type, uint16_t bits) {
    struct format format = formats[type];
    uint64_t sign = (uint64_t)(bits >> 15) << 63;
    int exponent_mask = (1 << format.exponent_bits) - 1;
    int exponent = (bits >> format.fraction_bits) & exponent_mask;
    uint64_t fraction = bits & ((1U << format.fraction_bits) - 1U);
    int widen = DOUBLE_FRACTION_BITS - format.fraction_bits;
    if (exponent == exponent_mask)
        return double_from_bits(sign | (uint64_t)DOUBLE_EXPONENT_MASK << DOUBLE_FRACTION_BITS | fraction << widen);
    if (exponent == 0) {
        if (fraction == 0)
            return double_from_bits(sign);
        /* A subnormal is fraction x 2^(1 - bias - fraction_bits): shift its leading one into the hidden place. */
        exponent = 1;
        while (!(fraction >> format.fraction_bits)) {
            fraction <<= 1;
            exponent--;
        }
        fraction &= (UINT64_C(1) << format.fraction_bits) - 1;
    }
    int biased = exponent - format_bias(format) + DOUBLE_BIAS;
    return double_from_bits(sign | (uint64_t)biased << DOUBLE_FRACTION_BITS | fraction << widen);
}

static uint16_t from_double(enum half_type type, double value, bool truncate) {
    struct format format = formats[type];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned sign = (unsigned)(bits >> 63) << 15;
    int exponent = (int)(bits >> DOUBLE_FRACTION_BITS) & DOUBLE_EXPONENT_MASK;
    uint64_t fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION_BITS) - 1);
    unsigned infinity = ((1U << format.exponent_bits) - 1U) << format.fraction_bits;
    if (exponent == DOUBLE_EXPONENT_MASK)
        return (uint16_t)(sign | infinity | (fraction ? 1U << (format.fraction_bits - 1) : 0U));
    if (exponent == 0)
        return (uint16_t)sign; /* zero, or a subnormal double, far below half of the smallest half */
    uint64_t significand = UINT64_C(1) << DOUBLE_FRACTION_BITS | fraction;
    int biased = exponent - DOUBLE_BIAS + format_bias(format);
    int drop = DOUBLE_FRACTION_BITS - format.fraction_bits;
    if (biased < 1) { /* subnormal: the significand moves right, its exponent reads 0 */
        drop += 1 - biased;
        biased = 0;
    }
    if (drop > DOUBLE_FRACTION_BITS + 1)
        return (uint16_t)sign; /* below half of the smallest subnormal */
    uint64_t kept = significand >> drop;
    uint64_t rest = significand & ((UINT64_C(1) << drop) - 1);
    uint64_t tie = UINT64_C(1) << (drop - 1);
    if (!truncate && (rest > tie || (rest == tie && (kept & 1))))
        kept++;
    /* The hidden bit of a normal number, and a carry out of the fraction, count up the exponent by themselves. */
    uint64_t magnitude = biased > 0 ? ((uint64_t)(biased - 1) << format.fraction_bits) + kept : kept;
    if (magnitude >= infinity)
        magnitude = truncate ? infinity - 1 : infinity;
    return (uint16_t)(sign | magnitude);
}

float half_to_float(enum half_type type, uint16_t bits) {
    return (float)half_to_double(type, bits);
}

uint16_t half_flush(enum half_type type, uint16_t bits) {
    uint16_t exponent = type == HALF_F16 ? 0x7c00 : 0x7f80;
    return (bits & exponent) == 0 ? bits & 0x8000 : bits;
}

uint16_t half_from_double(enum half_type type, double value) {
    return from_double(type, value, false);
}

uint16_t half_from_float(enum half_type type, float value) {
    return from_double(type, (double)value, false);
}

uint16_t half_truncate_double(enum half_type type, double value) {
    return from_double(type, value, true);
}

#include "formats.h"

#include <math.h>
#include <stdbool.h>

struct facts {
    const char *name;
    int bits, fraction_bits, bias;
    uint8_t largest;  /* magnitude of the largest number */
    uint8_t infinity; /* magnitude; 0: there is none */
    uint8_t nan;      /* magnitude of the NaN that is written; 0: there is none */
    bool fnuz;        /* the only NaN is the sign alone */
};

static const struct facts all[] = {
    [FORMAT_E4M3] = {"e4m3", 8, 3, 7, .largest = 0x7e, .nan = 0x7f},
    [FORMAT_E5M2] = {"e5m2", 8, 2, 15, .largest = 0x7b, .infinity = 0x7c, .nan = 0x7f},
    [FORMAT_E4M3FNUZ] = {"e4m3fnuz", 8, 3, 8, .largest = 0x7f, .fnuz = true},
    [FORMAT_E5M2FNUZ] = {"e5m2fnuz", 8, 2, 16, .largest = 0x7f, .fnuz = true},
    [FORMAT_E2M1] = {"e2m1", 4, 1, 1, .largest = 0x7},
};

const char *format_name(enum format format) {
    return all[format].name;
}

int format_codes(enum format format) {
    return 1 << all[format].bits;
}

double format_largest(enum format format) {
    return format_decode(format, all[format].largest);
}

double format_decode(enum format format, uint8_t bits) {
    struct facts facts = all[format];
    int sign = 1 << (facts.bits - 1), magnitude = bits & (sign - 1);
    double factor = bits & sign ? -1 : 1;
    if (facts.fnuz && bits == sign)
        return NAN;
    if (magnitude > facts.largest)
        return copysign(magnitude == facts.infinity ? INFINITY : NAN, factor);
    int exponent = magnitude >> facts.fraction_bits, fraction = magnitude & ((1 << facts.fraction_bits) - 1);
    if (exponent == 0) /* subnormal: the exponent of 1, and no hidden one */
        return factor * ldexp(fraction, 1 - facts.bias - facts.fraction_bits);
    return factor * ldexp((1 << facts.fraction_bits) + fraction, exponent - facts.bias - facts.fraction_bits);
}

/* Code of a magnitude rounded to nearest even, as if the format had no largest number. */
static int round_magnitude(struct facts facts, double magnitude) {
    /* In units of the step between the numbers around it, at least of that between subnormals. Steps are powers of two,
     * and so the quotient is exact. */
    int least = 1 - facts.bias;
    int exponent = magnitude == 0 || ilogb(magnitude) < least ? least : ilogb(magnitude);
    double units = ldexp(magnitude, facts.fraction_bits - exponent);
    int whole = (int)floor(units);
    double rest = units - whole;
    if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1))
        whole++;
    /* Codes are consecutive: each exponent has 2^fraction_bits of them, the least of all the subnormals' beside, and a
     * carry leads to the next. */
    return whole + (exponent - least) * (1 << facts.fraction_bits);
}

uint8_t format_encode(enum format format, double value, enum format_overflow overflow) {
    struct facts facts = all[format];
    int minus = 1 << (facts.bits - 1), sign = signbit(value) ? minus : 0;
    if (isnan(value))
        return (uint8_t)(facts.fnuz ? minus : facts.nan ? sign | facts.nan : facts.largest);
    int magnitude = isinf(value) ? facts.largest + 1 : round_magnitude(facts, fabs(value));
    if (magnitude <= facts.largest)
        return (uint8_t)(facts.fnuz && magnitude == 0 ? 0 : sign | magnitude);
    if (overflow == FORMAT_SATURATES)
        return (uint8_t)(sign | facts.largest);
    return (uint8_t)(facts.fnuz       ? minus
                     : facts.infinity ? sign | facts.infinity
                     : facts.nan      ? sign | facts.nan
                                      : sign | facts.largest);
}

double format_nibble(const uint8_t *row, int64_t at) {
    return format_decode(FORMAT_E2M1, at % 2 == 0 ? row[at / 2] & 15 : row[at / 2] >> 4);
}

double format_scale_decode(uint8_t bits) {
    return bits == 255 ? NAN : ldexp(1, bits - 127);
}

uint8_t format_scale_encode(int exponent) {
    return (uint8_t)(exponent < -127 ? 0 : exponent > 127 ? 254 : exponent + 127);
}

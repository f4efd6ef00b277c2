/* Numbers of 8 bits: "fp8" is e4m3 and "bf8" e5m2, as the OCP has them ("OCP 8-bit Floating Point Specification",
 * revision 1.0) on gfx950 and gfx12, and of the fnuz kind on gfx942, whose only NaN is 0x80, the code of -0 elsewhere
 * (CDNA3 ISA guide, Numeric Data Formats). */
#ifndef ISA_FP8_H
#define ISA_FP8_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum isa_small { ISA_E4M3, ISA_E5M2, ISA_E4M3FNUZ, ISA_E5M2FNUZ } isa_small;

static inline bool isa_is_fnuz(isa_small format) {
    return format >= ISA_E4M3FNUZ;
}

static inline int isa_small_fraction(isa_small format) {
    return format == ISA_E4M3 || format == ISA_E4M3FNUZ ? 3 : 2;
}

/* What 1 means as a code's exponent. */
static inline int isa_small_least(isa_small format) {
    static const int least[] = {-6, -14, -7, -15};
    return least[format];
}

/* Exact, but for the bits of NaNs. */
static inline float isa_small_to_float(uint32_t code, isa_small format) {
    const int fraction = isa_small_fraction(format), least = isa_small_least(format);
    const int exponent = (int)(code >> fraction) & ((1 << (7 - fraction)) - 1),
              rest = (int)code & ((1 << fraction) - 1);
    const float sign = (code & 0x80u) != 0 ? -1.0f : 1.0f;
    if (isa_is_fnuz(format) ? (code & 0xffu) == 0x80u : (code & 0x7fu) > (format == ISA_E4M3 ? 0x7eu : 0x7cu)) {
        return NAN;
    }
    if (format == ISA_E5M2 && (code & 0x7fu) == 0x7cu) {
        return sign * INFINITY;
    }
    return exponent == 0 ? sign * ldexpf((float)rest, least - fraction)
                         : sign * ldexpf((float)(rest + (1 << fraction)), exponent - 1 + least - fraction);
}

/* To nearest, ties to even; what rounds beyond the largest number becomes infinity, NaN where there is none: as with
 * MODE.FP16_OVFL clear, which is all that this device runs. (No guide says so of fp8; public code for these chips
 * clamps before it converts, since it would be NaN.) NaN: the one whose bits are all ones, of its sign. */
static inline uint32_t isa_float_to_small(double value, isa_small format) {
    static const double largest[] = {448, 57344, 240, 57344};
    const int fraction = isa_small_fraction(format), least = isa_small_least(format);
    const uint32_t sign = signbit(value) ? 0x80u : 0, nan = isa_is_fnuz(format) ? 0x80u : sign | 0x7fu;
    if (isnan(value)) {
        return nan;
    }
    const double magnitude = fabs(value), step = ldexp(1, fmax(magnitude, 0x1p-40) < ldexp(1, least)
                                                              ? least - fraction
                                                              : (isinf(magnitude) ? 128 : ilogb(magnitude)) - fraction);
    double units = floor(magnitude / step), over = magnitude / step - units;
    units += over > 0.5 || (over == 0.5 && fmod(units, 2) == 1);
    const double rounded = units * step;
    if (isinf(magnitude) || rounded > largest[format]) {
        return format == ISA_E5M2 ? sign | 0x7cu : nan;
    }
    if (rounded == 0) {
        return isa_is_fnuz(format) ? 0 : sign;
    }
    if (rounded < ldexp(1, least)) {
        return sign | (uint32_t)units;
    }
    const int exponent = ilogb(rounded);
    const uint32_t bits = (uint32_t)ldexp(rounded, fraction - exponent) - (1u << fraction);
    return sign | (uint32_t)(exponent - least + 1) << fraction | bits;
}

#endif

/* Half-precision conversions over all 65536 values of each type. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "halves.h"

/* What the bits mean, by the definition of the format. */
static double meaning(enum half_type type, unsigned bits) {
    int fraction_bits = type == HALF_F16 ? 10 : 7, exponent_bits = 15 - fraction_bits;
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    int fraction = (int)(bits & ((1U << fraction_bits) - 1U));
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

static void check_type(enum half_type type) {
    for (unsigned bits = 0; bits < 65536; bits++) {
        double expected = meaning(type, bits), got = half_to_double(type, (uint16_t)bits);
        float single = half_to_float(type, (uint16_t)bits);
        if (isnan(expected)) {
            cr_assert(isnan(got) && isnan(single), "type %d bits %04x: expected NaN, got %g", type, bits, got);
            cr_assert(isnan(meaning(type, half_from_double(type, got))), "type %d bits %04x: NaN lost", type, bits);
            continue;
        }
        cr_assert(got == expected && signbit(got) == signbit(expected), "type %d bits %04x: expected %a, got %a", type,
                  bits, expected, got);
        cr_assert(single == (float)expected, "type %d bits %04x: expected %a, got %a", type, bits, expected,
                  (double)single);
        cr_assert(half_from_double(type, expected) == bits, "type %d bits %04x: came back as %04x", type, bits,
                  half_from_double(type, expected));
        cr_assert(half_from_float(type, (float)expected) == bits, "type %d bits %04x: came back as %04x", type, bits,
                  half_from_float(type, (float)expected));
    }
}

Test(halves, every_f16_is_what_the_format_says_and_comes_back) {
    check_type(HALF_F16);
}

Test(halves, every_bf16_is_what_the_format_says_and_comes_back) {
    check_type(HALF_BF16);
}

/* Between each number and the next: below the middle, the middle (to the even one), above it. The step above the
 * largest number is as wide as the one below it, and leads to infinity. */
static void check_rounding(enum half_type type, unsigned infinity) {
    for (unsigned low = 0; low < infinity; low++) {
        double below = meaning(type, low);
        double above = low + 1 < infinity ? meaning(type, low + 1) : 2 * below - meaning(type, low - 1);
        double middle = below + (above - below) / 2;
        unsigned even = low & 1 ? low + 1 : low;
        for (unsigned sign = 0; sign <= 0x8000; sign += 0x8000) {
            double factor = sign ? -1 : 1;
            cr_assert(half_from_double(type, factor * nextafter(middle, 0)) == (sign | low), "type %d below %a", type,
                      middle);
            cr_assert(half_from_double(type, factor * middle) == (sign | even), "type %d at %a: got %04x", type, middle,
                      half_from_double(type, factor * middle));
            cr_assert(half_from_double(type, factor * nextafter(middle, INFINITY)) == (sign | (low + 1)),
                      "type %d above %a", type, middle);
            cr_assert(half_truncate_double(type, factor * nextafter(above, 0)) == (sign | low), "type %d truncating %a",
                      type, nextafter(above, 0));
            cr_assert(half_from_float(type, (float)(factor * middle)) == (sign | even), "type %d float %a", type,
                      middle);
        }
    }
}

Test(halves, f16_rounds_to_nearest_even) {
    check_rounding(HALF_F16, 0x7c00);
}

Test(halves, bf16_rounds_to_nearest_even) {
    check_rounding(HALF_BF16, 0x7f80);
}

Test(halves, values_outside_the_range) {
    for (int type = HALF_F16; type <= HALF_BF16; type++) {
        unsigned infinity = type == HALF_F16 ? 0x7c00 : 0x7f80;
        cr_assert(half_from_double(type, INFINITY) == infinity);
        cr_assert(half_from_double(type, -INFINITY) == (0x8000 | infinity));
        cr_assert(half_from_double(type, 1e300) == infinity);
        cr_assert(half_from_double(type, -1e300) == (0x8000 | infinity));
        cr_assert(half_truncate_double(type, 1e300) == infinity - 1);
        cr_assert(half_from_double(type, 1e-300) == 0);
        cr_assert(half_from_double(type, -4e-320) == 0x8000);
        cr_assert(half_from_double(type, NAN) == (infinity | (type == HALF_F16 ? 0x200 : 0x40)));
    }
}

/* A number below the smallest normal one becomes the zero of its sign; all others, infinities and NaNs too, stay. */
static void check_flush(enum half_type type, double smallest_normal) {
    for (unsigned bits = 0; bits < 65536; bits++) {
        unsigned expected = fabs(meaning(type, bits)) < smallest_normal ? bits & 0x8000 : bits;
        cr_assert_eq(half_flush(type, (uint16_t)bits), expected, "type %d bits %04x: expected %04x, got %04x", type,
                     bits, expected, half_flush(type, (uint16_t)bits));
    }
}

Test(halves, subnormals_are_flushed) {
    check_flush(HALF_F16, 0x1p-14);
    check_flush(HALF_BF16, 0x1p-126);
}

/* Small formats: every code of each, and every place where rounding turns. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "halves.h"
#include "text.h"

/* What the OCP's "8-bit Floating Point Specification" (1.0, table 1) and "Microscaling Formats" (1.0, table 5
 * and 5.3.3), and for the fnuz kind "8-bit Numerical Formats for Deep Neural Networks" (Noune et al., 2022) say. */
struct published {
    const char *name;
    int fraction_bits;
    double largest, smallest_normal, smallest_subnormal;
    int codes, nans, infinities;
    bool negative_zero;
};

static const struct published published[] = {
    [FORMAT_E4M3] = {"e4m3", 3, 448, 0x1p-6, 0x1p-9, 256, 2, 0, true},
    [FORMAT_E5M2] = {"e5m2", 2, 57344, 0x1p-14, 0x1p-16, 256, 6, 2, true},
    [FORMAT_E4M3FNUZ] = {"e4m3fnuz", 3, 240, 0x1p-7, 0x1p-10, 256, 1, 0, false},
    [FORMAT_E5M2FNUZ] = {"e5m2fnuz", 2, 57344, 0x1p-15, 0x1p-17, 256, 1, 0, false},
    [FORMAT_E2M1] = {"e2m1", 1, 6, 1, 0.5, 16, 0, 0, true},
};

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

/* Positive numbers from 0 up, one code after the other: the step is that of the subnormals for two exponents, and
 * doubles with each further one. A second way to the meaning of a code. */
static double counted(enum format format, int code) {
    double value = 0, step = published[format].smallest_subnormal;
    for (int i = 0; i < code; i++) {
        if (i >> published[format].fraction_bits > 1 && i % (1 << published[format].fraction_bits) == 0)
            step *= 2;
        value += step;
    }
    return value;
}

/* Codes of positive numbers, from 0 to the largest. */
static int numbers(enum format format) {
    const struct published *facts = &published[format];
    return (facts->codes - facts->nans - facts->infinities + (facts->negative_zero ? 0 : 1)) / 2;
}

Test(formats, names_and_largest_numbers) {
    for (int format = 0; format < FORMAT_COUNT; format++) {
        cr_assert_str_eq(format_name(format), published[format].name);
        cr_assert_eq(format_codes(format), published[format].codes);
        cr_assert_eq(format_largest(format), published[format].largest);
    }
}

Test(formats, every_code_is_what_the_format_says) {
    for (int format = 0; format < FORMAT_COUNT; format++) {
        const struct published *facts = &published[format];
        int half = facts->codes / 2, nans = 0, infinities = 0;
        for (int code = 0; code < facts->codes; code++) {
            double value = format_decode(format, (uint8_t)code), sign = code < half ? 1 : -1;
            nans += isnan(value);
            infinities += isinf(value) && signbit(value) == (sign < 0);
            if (code % half < numbers(format) && (facts->negative_zero || code != half))
                cr_assert(same(value, sign * counted(format, code % half)), "%s 0x%02x: expected %a, got %a",
                          facts->name, code, sign * counted(format, code % half), value);
            else
                cr_assert(!isfinite(value), "%s 0x%02x: expected no number, got %a", facts->name, code, value);
        }
        cr_assert_eq(nans, facts->nans, "%s: %d NaNs", facts->name, nans);
        cr_assert_eq(infinities, facts->infinities, "%s: %d infinities", facts->name, infinities);
        cr_assert_eq(counted(format, numbers(format) - 1), facts->largest, "%s", facts->name);
        cr_assert_eq(format_decode(format, (uint8_t)(1 << facts->fraction_bits)), facts->smallest_normal, "%s",
                     facts->name);
    }
}

/* Both have 5 bits of exponent: e5m2 is the upper byte of float16, NaNs and infinities too. */
Test(formats, e5m2_is_the_upper_byte_of_float16) {
    for (unsigned code = 0; code < 256; code++) {
        double half = half_to_double(HALF_F16, (uint16_t)(code << 8)), got = format_decode(FORMAT_E5M2, (uint8_t)code);
        cr_assert(same(got, half), "0x%02x: expected %a, got %a", code, half, got);
    }
}

/* The fnuz kinds are the OCP's with one more on the bias, as far as both have numbers. */
Test(formats, fnuz_is_half_of_the_other_kind) {
    for (int code = 0; code < 0x7c; code++) {
        cr_assert_eq(2 * format_decode(FORMAT_E4M3FNUZ, (uint8_t)code), format_decode(FORMAT_E4M3, (uint8_t)code));
        cr_assert_eq(2 * format_decode(FORMAT_E5M2FNUZ, (uint8_t)code), format_decode(FORMAT_E5M2, (uint8_t)code));
    }
}

Test(formats, some_published_bytes) {
    static const struct {
        enum format format;
        uint8_t code;
        double value;
    } bytes[] = {
        {FORMAT_E4M3, 0x38, 1},           {FORMAT_E4M3, 0x7e, 448},         {FORMAT_E4M3, 0xfe, -448},
        {FORMAT_E4M3, 0x01, 0x1p-9},      {FORMAT_E4M3, 0x07, 0x1.cp-7},    {FORMAT_E4M3, 0x08, 0x1p-6},
        {FORMAT_E4M3, 0x7f, NAN},         {FORMAT_E4M3, 0xff, NAN},         {FORMAT_E4M3, 0x80, -0.0},
        {FORMAT_E5M2, 0x3c, 1},           {FORMAT_E5M2, 0x7b, 57344},       {FORMAT_E5M2, 0x7c, INFINITY},
        {FORMAT_E5M2, 0xfc, -INFINITY},   {FORMAT_E5M2, 0x7d, NAN},         {FORMAT_E5M2, 0xff, NAN},
        {FORMAT_E5M2, 0x01, 0x1p-16},     {FORMAT_E5M2, 0x03, 0x1.8p-15},   {FORMAT_E5M2, 0x04, 0x1p-14},
        {FORMAT_E4M3FNUZ, 0x40, 1},       {FORMAT_E4M3FNUZ, 0x7f, 240},     {FORMAT_E4M3FNUZ, 0x80, NAN},
        {FORMAT_E4M3FNUZ, 0xff, -240},    {FORMAT_E4M3FNUZ, 0x01, 0x1p-10}, {FORMAT_E4M3FNUZ, 0x08, 0x1p-7},
        {FORMAT_E5M2FNUZ, 0x40, 1},       {FORMAT_E5M2FNUZ, 0x7f, 57344},   {FORMAT_E5M2FNUZ, 0x80, NAN},
        {FORMAT_E5M2FNUZ, 0x01, 0x1p-17},
    };
    static const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        cr_assert(same(format_decode(bytes[i].format, bytes[i].code), bytes[i].value), "%s 0x%02x",
                  format_name(bytes[i].format), bytes[i].code);
    for (int code = 0; code < 8; code++) {
        cr_assert(same(format_decode(FORMAT_E2M1, (uint8_t)code), e2m1[code]), "nibble %d", code);
        cr_assert(same(format_decode(FORMAT_E2M1, (uint8_t)(8 + code)), -e2m1[code]), "nibble %d", 8 + code);
    }
}

/* ---- Encoding ---- */

static void expect(enum format format, enum format_overflow overflow, double value, int code) {
    int got = format_encode(format, value, overflow);
    cr_assert_eq(got, code, "%s %s of %a: expected 0x%02x, got 0x%02x", format_name(format),
                 overflow == FORMAT_SATURATES ? "saturating" : "overflowing", value, (unsigned)code, (unsigned)got);
}

Test(formats, every_code_comes_back) {
    for (int format = 0; format < FORMAT_COUNT; format++)
        for (int code = 0; code < format_codes(format); code++) {
            double value = format_decode(format, (uint8_t)code);
            expect(format, FORMAT_OVERFLOWS, value, isnan(value) && format <= FORMAT_E5M2 ? code | 0x7f : code);
            if (isfinite(value))
                expect(format, FORMAT_SATURATES, value, code);
        }
}

/* Below the middle of two neighbours, on it, where the even code wins, and above it; as near as doubles go. The step
 * above the largest number is as wide as that below it: what is nearer to its other end is beyond. */
Test(formats, rounds_to_nearest_even) {
    for (int format = 0; format < FORMAT_COUNT; format++) {
        int largest = numbers(format) - 1, minus = format_codes(format) / 2;
        for (int low = 0; low < largest; low++) {
            double below = counted(format, low), above = counted(format, low + 1), middle = (below + above) / 2;
            int even = low % 2 ? low + 1 : low,
                negative = low == 0 && !published[format].negative_zero ? 0 : minus | low;
            for (int overflow = FORMAT_SATURATES; overflow <= FORMAT_OVERFLOWS; overflow++) {
                expect(format, overflow, nextafter(below, INFINITY), low);
                expect(format, overflow, nextafter(middle, 0), low);
                expect(format, overflow, middle, even);
                expect(format, overflow, nextafter(middle, INFINITY), low + 1);
                expect(format, overflow, nextafter(above, 0), low + 1);
                expect(format, overflow, -nextafter(middle, 0), negative);
                expect(format, overflow, -middle, even == low ? negative : minus | even);
                expect(format, overflow, -nextafter(middle, INFINITY), minus | (low + 1));
            }
        }
    }
}

Test(formats, beyond_the_largest_number) {
    /* The middle of the largest number and of what would follow it: the last to round down if the largest is even. */
    static const struct {
        enum format format;
        double middle;
        int largest, beyond, minus_beyond, at_middle;
    } edges[] = {
        {FORMAT_E4M3, 464, 0x7e, 0x7f, 0xff, 0x7e},     {FORMAT_E5M2, 61440, 0x7b, 0x7c, 0xfc, 0x7c},
        {FORMAT_E4M3FNUZ, 248, 0x7f, 0x80, 0x80, 0x80}, {FORMAT_E5M2FNUZ, 61440, 0x7f, 0x80, 0x80, 0x80},
        {FORMAT_E2M1, 7, 0x7, 0x7, 0xf, 0x7},
    };
    static const double far[] = {1e5, 1e300, 0x1.fffffffffffffp1023, INFINITY};
    for (int i = 0; i < FORMAT_COUNT; i++) {
        enum format format = edges[i].format;
        int minus = format_codes(format) / 2;
        expect(format, FORMAT_OVERFLOWS, nextafter(edges[i].middle, 0), edges[i].largest);
        expect(format, FORMAT_OVERFLOWS, edges[i].middle, edges[i].at_middle);
        expect(format, FORMAT_OVERFLOWS, nextafter(edges[i].middle, INFINITY), edges[i].beyond);
        expect(format, FORMAT_OVERFLOWS, -nextafter(edges[i].middle, INFINITY), edges[i].minus_beyond);
        expect(format, FORMAT_SATURATES, nextafter(edges[i].middle, INFINITY), edges[i].largest);
        for (size_t j = 0; j < sizeof far / sizeof far[0]; j++) {
            expect(format, FORMAT_OVERFLOWS, far[j], edges[i].beyond);
            expect(format, FORMAT_OVERFLOWS, -far[j], edges[i].minus_beyond);
            expect(format, FORMAT_SATURATES, far[j], edges[i].largest);
            expect(format, FORMAT_SATURATES, -far[j], minus | edges[i].largest);
        }
    }
}

Test(formats, zeros_and_nans) {
    static const struct {
        enum format format;
        int minus_zero, nan, minus_nan;
    } cases[] = {
        {FORMAT_E4M3, 0x80, 0x7f, 0xff},  {FORMAT_E5M2, 0x80, 0x7f, 0xff}, {FORMAT_E4M3FNUZ, 0, 0x80, 0x80},
        {FORMAT_E5M2FNUZ, 0, 0x80, 0x80}, {FORMAT_E2M1, 8, 7, 7},
    };
    for (int i = 0; i < FORMAT_COUNT; i++)
        for (int overflow = FORMAT_SATURATES; overflow <= FORMAT_OVERFLOWS; overflow++) {
            expect(cases[i].format, overflow, 0.0, 0);
            expect(cases[i].format, overflow, 4e-320, 0);
            expect(cases[i].format, overflow, -0.0, cases[i].minus_zero);
            expect(cases[i].format, overflow, -4e-320, cases[i].minus_zero);
            expect(cases[i].format, overflow, copysign(NAN, 1), cases[i].nan);
            expect(cases[i].format, overflow, copysign(NAN, -1), cases[i].minus_nan);
        }
}

/* No larger value has a smaller number, over all orders of magnitude. */
Test(formats, is_monotonous) {
    for (int format = 0; format < FORMAT_COUNT; format++)
        for (int overflow = FORMAT_SATURATES; overflow <= FORMAT_OVERFLOWS; overflow++) {
            double last = 0;
            for (double value = 0x1p-30; value < 1e6; value *= 1.0007) {
                double got = format_decode(format, format_encode(format, value, overflow));
                cr_assert(got >= last || (isnan(got) && value > format_largest(format)), "%s of %a: %g after %g",
                          format_name(format), value, got, last);
                last = isnan(got) ? INFINITY : got;
                double negative = format_decode(format, format_encode(format, -value, overflow));
                cr_assert(negative == -got || (isnan(negative) && isnan(got)), "%s of %a", format_name(format), -value);
            }
        }
}

/* ---- Rows of nibbles, and scales ---- */

Test(formats, the_low_nibble_comes_first) {
    static const uint8_t row[] = {0x21, 0xf7};
    static const double values[] = {0.5, 1, 6, -6};
    for (int at = 0; at < 4; at++)
        cr_assert_eq(format_nibble(row, at), values[at], "value %d: %g", at, format_nibble(row, at));
}

Test(formats, every_scale) {
    double power = 0x1p-127;
    for (unsigned bits = 0; bits < 255; bits++, power *= 2) {
        cr_assert_eq(format_scale_decode((uint8_t)bits), power, "%u", bits);
        cr_assert_eq(format_scale_encode(ilogb(power)), bits, "%u", bits);
    }
    cr_assert_eq(format_scale_decode(127), 1);
    cr_assert_eq(format_scale_decode(134), 128);
    cr_assert_eq(format_scale_decode(254), 0x1p127);
    cr_assert(isnan(format_scale_decode(255)));
    cr_assert_eq(format_scale_encode(-128), 0);
    cr_assert_eq(format_scale_encode(-100000), 0);
    cr_assert_eq(format_scale_encode(128), 254);
    cr_assert_eq(format_scale_encode(100000), 254);
}

/* ---- The manual ---- */

/* The rows of its table of formats say what the functions do. */
Test(formats, the_manual_has_these_numbers) {
    char *manual, row[256];
    size_t length;
    struct error error;
    cr_assert(file_read(FORMATS_MANUAL, &manual, &length, &error), "%s", error.text);
    for (int format = 0; format < FORMAT_COUNT; format++) {
        int minus = format_codes(format) / 2, fraction_bits = published[format].fraction_bits;
        double minus_zero = format_decode(format, (uint8_t)minus);
        snprintf(row, sizeof row, "| `%s` | %d | %g | 2^%d | 2^%d | %s | %s | %s |\n", format_name(format),
                 1 - ilogb(format_decode(format, (uint8_t)(1 << fraction_bits))), format_largest(format),
                 ilogb(format_decode(format, (uint8_t)(1 << fraction_bits))), ilogb(format_decode(format, 1)),
                 isnan(minus_zero)       ? "none"
                 : format == FORMAT_E2M1 ? "8"
                                         : "80",
                 format == FORMAT_E5M2 ? "7c, fc" : "none",
                 isnan(minus_zero)       ? "80"
                 : format == FORMAT_E4M3 ? "7f, ff"
                 : format == FORMAT_E5M2 ? "7d to 7f, fd to ff"
                                         : "none");
        cr_assert_not_null(strstr(manual, row), "expected in %s: %s", FORMATS_MANUAL, row);
    }
    free(manual);
}

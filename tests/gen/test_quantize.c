/* Quantizers: their scales by the rules of docs/formats.md, and what they make of every kind of block. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize.h"

/* ---- fp8 ---- */

static const struct quantize_shape shape = {2, 3, 4, 5};
enum { ELEMENTS = 2 * 3 * 4 * 5, ROWS = 2 * 3 * 4 };

/* Each row has another magnitude, so that no two scales are alike whatever shares one. */
static void fill(float *x) {
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < 5; i++)
            x[row * 5 + i] = (float)(i - 3) * 0.37f * (float)(1 + row * row);
}

Test(quantize, counts_and_places_of_scales) {
    cr_assert_eq(quantize_scales(QUANTIZE_PER_TENSOR, shape), 1);
    cr_assert_eq(quantize_scales(QUANTIZE_PER_HEAD, shape), 3);
    cr_assert_eq(quantize_scales(QUANTIZE_PER_TOKEN, shape), ROWS);
    cr_assert_eq(quantize_scale_of(QUANTIZE_PER_TENSOR, shape, 1, 2, 3), 0);
    cr_assert_eq(quantize_scale_of(QUANTIZE_PER_HEAD, shape, 1, 2, 3), 2);
    cr_assert_eq(quantize_scale_of(QUANTIZE_PER_TOKEN, shape, 1, 0, 3), 15);
    cr_assert_eq(quantize_scale_of(QUANTIZE_PER_TOKEN, shape, 1, 2, 3), ROWS - 1);
}

/* The largest magnitude of a row is 1.11 (1 + row^2): its -3. A head has rows 12 + 4 head + 3 at most. */
Test(quantize, fp8_scales) {
    float x[ELEMENTS], scales[ROWS];
    fill(x);
    for (int format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++) {
        float largest = (float)format_largest(format);
        quantize_fp8_choose(format, QUANTIZE_PER_TENSOR, shape, x, scales);
        cr_assert_eq(scales[0], -x[(ROWS - 1) * 5] / largest);
        quantize_fp8_choose(format, QUANTIZE_PER_HEAD, shape, x, scales);
        for (int head = 0; head < 3; head++)
            cr_assert_eq(scales[head], -x[(12 + 4 * head + 3) * 5] / largest, "head %d", head);
        quantize_fp8_choose(format, QUANTIZE_PER_TOKEN, shape, x, scales);
        for (int row = 0; row < ROWS; row++)
            cr_assert_eq(scales[row], -x[row * 5] / largest, "row %d", row);
    }
}

/* The largest magnitude becomes the largest number, and nothing is further from its value than half a step of it or of
 * the subnormals, and what the division rounds off. */
Test(quantize, fp8_values) {
    float x[ELEMENTS], scales[ROWS];
    uint8_t bytes[ELEMENTS];
    fill(x);
    for (int format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++)
        for (int share = QUANTIZE_PER_TENSOR; share <= QUANTIZE_PER_TOKEN; share++) {
            double step = format == FORMAT_E4M3 || format == FORMAT_E4M3FNUZ ? 0x1p-4 : 0x1p-3, largest = 0;
            quantize_fp8_choose(format, share, shape, x, scales);
            quantize_fp8(format, share, shape, x, scales, bytes);
            for (int at = 0; at < ELEMENTS; at++) {
                int row = at / 5;
                int64_t place = quantize_scale_of(share, shape, row / 12, row / 4 % 3, row % 4);
                double got = format_decode(format, bytes[at]) * (double)scales[place], value = (double)x[at];
                double bound = (step + 0x1p-23) * fabs(value) + format_decode(format, 1) / 2 * (double)scales[place];
                cr_assert(fabs(got - value) <= bound, "%s share %d element %d: %g became %g", format_name(format),
                          share, at, value, got);
                largest = fmax(largest, fabs(format_decode(format, bytes[at])));
            }
            cr_assert_eq(largest, format_largest(format));
        }
}

/* What is just below the tie of 0x39 and 0x3a is no float32: the quotient becomes the tie itself, and goes to the even
 * one. */
Test(quantize, fp8_rounds_the_quotient_to_float32_first) {
    const struct quantize_shape one = {1, 1, 1, 1};
    const float x = 0x1.300002p0f, scale = 0x1.000002p0f;
    double quotient = (double)x / (double)scale;
    uint8_t byte;
    cr_assert_lt(quotient, 1.1875);
    cr_assert_eq(format_encode(FORMAT_E4M3, quotient, FORMAT_SATURATES), 0x39);
    quantize_fp8(FORMAT_E4M3, QUANTIZE_PER_TENSOR, one, &x, &scale, &byte);
    cr_assert_eq(byte, 0x3a, "0x%02x", byte);
}

Test(quantize, fp8_of_zeros_and_of_nothing) {
    const struct quantize_shape row = {1, 1, 1, 3}, nothing = {1, 2, 0, 3};
    const float x[] = {0, -0.0f, 0x1p-149f};
    float scale;
    uint8_t bytes[3];
    quantize_fp8_choose(FORMAT_E4M3, QUANTIZE_PER_TOKEN, row, x, &scale);
    cr_assert_eq(scale, 0x1p-126f);
    quantize_fp8(FORMAT_E4M3, QUANTIZE_PER_TOKEN, row, x, &scale, bytes);
    cr_assert_arr_eq(bytes, ((uint8_t[]){0, 0x80, 0}), 3);
    quantize_fp8(FORMAT_E4M3FNUZ, QUANTIZE_PER_TOKEN, row, x, &scale, bytes);
    cr_assert_arr_eq(bytes, ((uint8_t[]){0, 0, 0}), 3);
    scale = 5;
    quantize_fp8_choose(FORMAT_E4M3, QUANTIZE_PER_TOKEN, nothing, x, &scale);
    cr_assert_eq(scale, 5);
}

/* They have no say in the scale. */
Test(quantize, fp8_of_nan_and_infinity) {
    const struct quantize_shape row = {1, 1, 1, 5};
    const float x[] = {NAN, INFINITY, -INFINITY, 3, -6};
    static const struct {
        enum format format;
        uint8_t bytes[5];
    } cases[] = {{FORMAT_E4M3, {0x7f, 0x7f, 0xff, 0x76, 0xfe}},
                 {FORMAT_E5M2, {0x7f, 0x7c, 0xfc, 0x77, 0xfb}},
                 {FORMAT_E4M3FNUZ, {0x80, 0x80, 0x80, 0x77, 0xff}},
                 {FORMAT_E5M2FNUZ, {0x80, 0x80, 0x80, 0x7b, 0xff}}};
    for (int i = 0; i < 4; i++) {
        float scale;
        uint8_t bytes[5];
        quantize_fp8_choose(cases[i].format, QUANTIZE_PER_TENSOR, row, x, &scale);
        cr_assert_eq(scale, 6 / (float)format_largest(cases[i].format));
        quantize_fp8(cases[i].format, QUANTIZE_PER_TENSOR, row, x, &scale, bytes);
        for (int at = 0; at < 5; at++)
            cr_assert_eq(bytes[at], cases[i].bytes[at], "%s element %d: 0x%02x", format_name(cases[i].format), at,
                         bytes[at]);
    }
}

/* A scale from elsewhere may be too small for what comes later. */
Test(quantize, fp8_saturates_with_a_given_scale) {
    const struct quantize_shape row = {1, 1, 1, 4};
    const float x[] = {1000, -1e30f, 0x1.fffffep127f, 449}, one = 1, tiny = 0x1p-126f;
    uint8_t bytes[4];
    quantize_fp8(FORMAT_E4M3, QUANTIZE_PER_TENSOR, row, x, &one, bytes);
    cr_assert_arr_eq(bytes, ((uint8_t[]){0x7e, 0xfe, 0x7e, 0x7e}), 4);
    quantize_fp8(FORMAT_E5M2, QUANTIZE_PER_TENSOR, row, x, &tiny, bytes); /* the quotient itself is infinite */
    cr_assert_arr_eq(bytes, ((uint8_t[]){0x7b, 0xfb, 0x7b, 0x7b}), 4);
}

/* ---- mxfp4 ---- */

static uint8_t scale_of(enum quantize_rule rule, float largest) {
    float block[32] = {0};
    block[17] = -largest;
    block[5] = largest / 3;
    return quantize_mxfp4_scale(rule, block, 32);
}

Test(quantize, mxfp4_scales) {
    static const struct {
        float largest;
        int floor, three_quarters;
    } cases[] = {
        {4, 127, 127},
        {6, 127, 127},
        {0x1.bfffep2f, 127, 127}, /* the last below 7 */
        {7, 127, 128},
        {0x1.fffffep2f, 127, 128},
        {8, 128, 128},
        {1, 125, 125},
        {0x1p-125f, 0, 0},
        {0x1.cp-125f, 0, 1},
        {0x1p-149f, 0, 0},
        {0x1.8p-127f, 0, 0}, /* a subnormal */
        {0x1.bfffep127f, 252, 252},
        {0x1.fffffep127f, 252, 252}, /* 253 would bring 4 * 2^126, which is no float32 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_assert_eq(scale_of(QUANTIZE_FLOOR, cases[i].largest), cases[i].floor, "%a", (double)cases[i].largest);
        cr_assert_eq(scale_of(QUANTIZE_THREE_QUARTERS, cases[i].largest), cases[i].three_quarters, "%a",
                     (double)cases[i].largest);
    }
}

/* As the rules are done on bits: the exponent's field, once a quarter was added to the fraction. */
Test(quantize, mxfp4_scales_of_many_floats) {
    for (uint32_t bits = 1; bits < 0x7f800000; bits += 0xffff) {
        float largest;
        memcpy(&largest, &bits, sizeof largest);
        int floor = (int)(bits >> 23) - 2, up = (int)((bits + 0x200000) >> 23) - 2;
        cr_assert_eq(scale_of(QUANTIZE_FLOOR, largest), floor < 0 ? 0 : floor, "%a", (double)largest);
        cr_assert_eq(scale_of(QUANTIZE_THREE_QUARTERS, largest),
                     up < 0     ? 0
                     : up > 252 ? 252
                                : up,
                     "%a", (double)largest);
    }
}

/* Ties between all neighbours, and what lies beyond 6; the scale is 2. */
Test(quantize, mxfp4_values) {
    static const struct {
        float x;
        double value;
    } cases[] = {{0, 0}, {0.5f, 0}, {0.5001f, 1}, {1, 1},     {1.5f, 2}, {2.5f, 2},     {3.5f, 4},    {5, 4},
                 {7, 8}, {10, 8},   {10.01f, 12}, {-12, -12}, {13, 12},  {-15.9f, -12}, {-0.1f, -0.0}};
    float row[32] = {0};
    uint8_t values[16], scale;
    row[31] = 15.99f; /* rounds to 8 times the scale, which there is not: saturates */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        row[i] = cases[i].x;
    quantize_mxfp4_row(QUANTIZE_FLOOR, row, 32, values, &scale, 1);
    cr_assert_eq(scale, 128);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double got = quantize_mxfp4_value(values, &scale, (int64_t)i);
        cr_assert(got == cases[i].value && !signbit(got) == !signbit(cases[i].value), "%g became %g",
                  (double)cases[i].x, got);
    }
    cr_assert_eq(quantize_mxfp4_value(values, &scale, 31), 12);
    quantize_mxfp4_row(QUANTIZE_THREE_QUARTERS, row, 32, values, &scale, 1);
    cr_assert_eq(scale, 129);
    cr_assert_eq(quantize_mxfp4_value(values, &scale, 31), 16);
}

/* Neither is in E2M1: the scale says NaN for the whole block, and for it alone. */
Test(quantize, mxfp4_of_zeros_nan_and_infinity) {
    static const float broken[] = {NAN, INFINITY, -INFINITY};
    for (int rule = QUANTIZE_FLOOR; rule <= QUANTIZE_THREE_QUARTERS; rule++)
        for (int i = 0; i < 3; i++) {
            float row[96] = {[3] = 4, [32 + 7] = 2, [32 + 9] = broken[i]};
            uint8_t values[48], scales[4];
            memset(values, 0xff, sizeof values);
            memset(scales, 0xff, sizeof scales);
            quantize_mxfp4_row(rule, row, 96, values, scales, 4);
            cr_assert_arr_eq(scales, ((uint8_t[]){127, 255, 0, 0}), 4);
            for (int64_t at = 0; at < 96; at++) {
                double got = quantize_mxfp4_value(values, scales, at);
                cr_assert(at / 32 == 1 ? isnan(got) : got == (double)row[at], "value %d: %g", (int)at, got);
                cr_assert(at == 3 || format_nibble(values, at) == 0, "nibble %d", (int)at);
            }
        }
}

/* A latent row of 576: 288 bytes of values, 18 scales and 6 bytes behind them. */
Test(quantize, mxfp4_row_of_576) {
    float row[576];
    uint8_t values[288 + 1], scales[QUANTIZE_MLA_SCALE_ROW_BYTES + 1];
    for (int at = 0; at < 576; at++)
        row[at] = ldexpf((float)(at % 13 - 6), at / 32 - 9);
    values[288] = scales[QUANTIZE_MLA_SCALE_ROW_BYTES] = 0xa5;
    quantize_mxfp4_row(QUANTIZE_FLOOR, row, 576, values, scales, QUANTIZE_MLA_SCALE_ROW_BYTES);
    for (int at = 0; at < 18; at++)
        cr_assert_eq(scales[at], 127 + at - 9, "scale %d: %d", at, scales[at]);
    for (int at = 18; at < QUANTIZE_MLA_SCALE_ROW_BYTES; at++)
        cr_assert_eq(scales[at], 0);
    cr_assert_eq(values[288], 0xa5);
    cr_assert_eq(scales[QUANTIZE_MLA_SCALE_ROW_BYTES], 0xa5);
    for (int at = 0; at < 576; at++) {
        double whole = at % 13 - 6, expected = fabs(whole) == 5 ? copysign(4, whole) : whole; /* 5 is a tie: to 4 */
        double got = quantize_mxfp4_value(values, scales, at);
        cr_assert_eq(got, ldexp(expected, at / 32 - 9), "value %d: %g", at, got);
    }
    cr_assert_eq(values[0], 0xef); /* -6 is nibble f, -5 rounds to -4: nibble e */
}

/* The values left over have a scale of their own; an odd one leaves half a byte. */
Test(quantize, mxfp4_row_that_no_block_divides) {
    float row[35] = {[0] = 4, [31] = -3, [32] = 64, [33] = -16, [34] = 48};
    uint8_t values[18], scales[2];
    quantize_mxfp4_row(QUANTIZE_FLOOR, row, 35, values, scales, 2);
    cr_assert_arr_eq(scales, ((uint8_t[]){127, 131}), 2);
    for (int at = 0; at < 35; at++)
        cr_assert_eq(quantize_mxfp4_value(values, scales, at), (double)row[at], "value %d", at);
    cr_assert_eq(values[17], 0x05);
}

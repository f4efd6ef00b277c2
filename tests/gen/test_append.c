/* The reference of appending, against numbers worked out by hand. */
#include <criterion/criterion.h>
#include <math.h>

#include "append.h"
#include "append_cases.h"

static const float cosines[] = {0.5f, -0.25f}, sines[] = {2, 4};

static void expect_row(enum append_rotary rotary, const double expected[6]) {
    static const double row[6] = {100, 1, 2, 3, 4, 200}; /* the four in the middle are rotated */
    const struct append_angles angles = {rotary, 1, 4, cosines, sines};
    for (int column = 0; column < 6; column++) {
        double error;
        cr_expect_eq(append_rotated(&angles, row, column, &error), expected[column], "column %d", column);
        bool rotated = rotary != APPEND_ROTARY_OFF && column > 0 && column < 5;
        cr_expect_eq(append_rotates(&angles, column), rotated);
        cr_expect_eq(error > 0, rotated);
    }
}

Test(append, pairs_are_rotated) {
    expect_row(APPEND_ROTARY_OFF, (double[]){100, 1, 2, 3, 4, 200});
    /* (1, 3) by 0.5 and 2: 0.5 - 6, 1.5 + 2. (2, 4) by -0.25 and 4: -0.5 - 16, -1 + 8. */
    expect_row(APPEND_ROTARY_NEOX, (double[]){100, -5.5, -16.5, 3.5, 7, 200});
    /* (1, 2): 0.5 - 4, 1 + 2. (3, 4): -0.75 - 16, -1 + 12. */
    expect_row(APPEND_ROTARY_INTERLEAVED, (double[]){100, -3.5, 3, -16.75, 11, 200});
}

/* Of x cos - y sin = 0 nothing is left but what its products are rounded by. */
Test(append, what_float32_may_be_off_by) {
    const double row[2] = {1, 1};
    const float one[] = {1};
    const struct append_angles angles = {APPEND_ROTARY_NEOX, 0, 2, one, one};
    double error;
    cr_assert_eq(append_rotated(&angles, row, 0, &error), 0);
    cr_assert(error >= 2 * 0x1p-24 && error < 2.001 * 0x1p-24);
    const double infinite[2] = {INFINITY, 1};
    cr_assert_eq(append_rotated(&angles, infinite, 0, &error), INFINITY);
    cr_assert_eq(error, 0);
}

Test(append, numbers_and_scales_of_each_kind) {
    const struct append_type f16 = {.cache = APPEND_SAME, .half = HALF_F16};
    const struct append_type fp8 = {.cache = APPEND_FP8, .format = FORMAT_E4M3};
    const struct append_type fp4 = {.cache = APPEND_MXFP4, .rule = QUANTIZE_THREE_QUARTERS};
    const uint16_t halves[] = {0x3c00, 0x4000};
    const uint8_t bytes[] = {0x38, 0x2e};
    cr_assert_eq(append_code_at(&f16, halves, 1), 0x4000);
    cr_assert_eq(append_code_at(&fp8, bytes, 1), 0x2e);
    cr_assert_eq(append_code_at(&fp4, bytes, 2), 0xe);
    cr_assert_eq(append_code_at(&fp4, bytes, 3), 2);
    cr_assert_eq(append_code_value(&f16, 0x4000), 2);
    cr_assert_eq(append_code_value(&fp8, 0x38), 1);
    cr_assert_eq(append_code_value(&fp4, 0xe), -4);
    cr_assert_eq(append_code_of(&f16, 2, 0), 0x4000);
    cr_assert_eq(append_code_of(&fp8, 8, 0x41000000), 0x38); /* by 8 */
    cr_assert_eq(append_code_of(&fp4, -8, 128), 0xe);
    cr_assert_eq(append_code_of(&fp4, NAN, 255), 0);
    cr_assert_eq(append_scale_of(&fp8, 448), 0x3f800000);
    cr_assert_eq(append_scale_of(&fp4, 7), 128);
}

Test(append, between_which_magnitudes_a_scale_is_chosen) {
    const struct append_type fp8 = {.cache = APPEND_FP8}, fp4 = {.cache = APPEND_MXFP4};
    const float low[] = {-3, -1, 2, NAN}, high[] = {-2.5f, 4, 2.25f, NAN};
    float magnitudes[2];
    append_magnitudes(&fp8, low, high, 4, magnitudes);
    cr_assert_eq(magnitudes[0], 2.5f); /* the second may be 0 */
    cr_assert_eq(magnitudes[1], 4);
    append_magnitudes(&fp4, low, high, 3, magnitudes);
    cr_assert_eq(magnitudes[0], 2.5f);
    append_magnitudes(&fp4, low, high, 4, magnitudes);
    cr_assert(isinf(magnitudes[0]) && isinf(magnitudes[1]));
}

/* New rows fit where they are not meant to be too many, and sequences of a ragged batch differ. */
Test(append, lengths_of_the_standing_cases) {
    struct append_case cases[APPEND_CASES_MAX];
    int count = append_standing(8, true, cases), beyond = 0, none = 0;
    cr_assert(count > 10 && count <= APPEND_CASES_MAX);
    for (int i = 0; i < count; i++) {
        int32_t before[64], added[64];
        cr_assert_leq(cases[i].shape.batch, 64);
        append_lengths(&cases[i], true, 1, before, added);
        for (int64_t b = 0; b < cases[i].shape.batch; b++) {
            cr_assert(before[b] >= 0 && added[b] >= 0 && added[b] <= cases[i].shape.seqlen_new, "%s", cases[i].what);
            cr_assert(cases[i].full || before[b] + added[b] <= cases[i].shape.seqlen_k, "%s", cases[i].what);
            beyond += before[b] + added[b] > cases[i].shape.seqlen_k;
            none += added[b] == 0 && cases[i].shape.seqlen_new > 0;
        }
    }
    cr_assert(beyond > 0 && none > 0);
}

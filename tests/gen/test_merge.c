/* The reference of merging, by values known otherwise, and its bounds: a merge simulated step by step in float32, with
 * sums in either direction and 2^x off by a unit, stays within them, and faulty ones do not. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>

#include "merge.h"
#include "merge_cases.h"

enum { SPLITS = 9, ROWS = 40, DIM = 8 };

static void row_of(const struct merge_problem *problem, int64_t row, struct merge_row *result, double o[DIM],
                   double error[DIM]) {
    *result = (struct merge_row){.o = o, .o_error = error};
    merge_row(problem, row, result);
}

Test(merge, weights_are_powers_of_e) {
    const float lse[] = {0, logf(3), -INFINITY}, o[] = {4, -0.0f, 8, -0.0f, NAN, INFINITY};
    const struct merge_problem problem = {3, 1, 2, o, lse};
    double values[DIM], errors[DIM];
    struct merge_row row;
    row_of(&problem, 0, &row, values, errors);
    cr_assert_eq(row.present, 2);
    cr_assert_float_eq(row.lse, log(4), 1e-7);
    cr_assert_float_eq(values[0], 7, 1e-6); /* a quarter of 4 and three quarters of 8 */
    cr_assert(values[1] == 0 && signbit(values[1]));
    cr_assert(errors[0] > 0 && errors[0] < 1e-5, "%g", errors[0]);
    cr_assert(row.lse_error > 0 && row.lse_error < 1e-6, "%g", row.lse_error);
}

Test(merge, one_is_exact_and_none_is_zero) {
    const float lse[] = {-INFINITY, -INFINITY, 5.5f, -INFINITY}, o[] = {NAN, NAN, 2.5f, NAN};
    const struct merge_problem problem = {2, 2, 1, o, lse};
    double values[DIM], errors[DIM];
    struct merge_row row;
    row_of(&problem, 0, &row, values, errors);
    cr_assert(row.present == 1 && row.lse == 5.5 && row.lse_error == 0 && values[0] == 2.5 && errors[0] == 0);
    row_of(&problem, 1, &row, values, errors);
    cr_assert(row.present == 0 && row.lse == -INFINITY && row.lse_error == 0 && values[0] == 0 && errors[0] == 0);
    cr_assert_not(signbit(values[0]));
}

Test(merge, what_is_not_finite) {
    const float lse[] = {NAN, 1, INFINITY, 1, 1, 1, -1e9f, 1}, o[] = {1, INFINITY, 1, INFINITY, 1, -1, INFINITY, 1};
    const struct merge_problem problem = {4, 2, 1, o, lse};
    double values[DIM], errors[DIM];
    struct merge_row row;
    row_of(&problem, 0, &row, values, errors); /* LSE NAN and +inf among others */
    cr_assert(isnan(row.lse) && isnan(row.lse_error) && isnan(values[0]) && isnan(errors[0]));
    row_of(&problem, 1, &row, values, errors); /* two infinities of one sign with weights */
    cr_assert(values[0] == INFINITY && errors[0] == 0 && isfinite(row.lse));
    const struct merge_problem faint = {2, 1, 1, (float[]){INFINITY, 1}, (float[]){-1e9f, 0}};
    row_of(&faint, 0, &row, values, errors); /* its weight is below what float32 has */
    cr_assert(values[0] == INFINITY && isnan(errors[0]));
}

/* ---- Simulated kernels ---- */

enum fault { RIGHT, BASE_2, NO_MAXIMUM, PRODUCT_FIRST, LOST_SPLIT, FAULTS };

struct manner {
    enum fault fault;
    bool backwards;
    int off; /* units in the last place by which 2^x is off */
};

static float power(float x, int off) {
    float y = exp2f(x);
    for (; off > 0 && x != 0; off--)
        y = nextafterf(y, INFINITY);
    for (; off < 0 && x != 0; off++)
        y = nextafterf(y, 0);
    return y < 0x1p-126f ? 0 : y;
}

static float weight_of(float lse, float m, const struct manner *manner) {
    const float log2e = manner->fault == BASE_2 ? 1.0f : 1.4426950408889634f;
    if (lse == -INFINITY)
        return 0;
    if (manner->fault == PRODUCT_FIRST)
        return power(lse * log2e - m * log2e, manner->off);
    return power((lse - (manner->fault == NO_MAXIMUM ? 0 : m)) * log2e, manner->off);
}

static float merged(const struct merge_problem *problem, int64_t row, int64_t d, const struct manner *manner,
                    float *lse) {
    float m = -INFINITY, l = 0, o = 0;
    int64_t splits = problem->splits - (manner->fault == LOST_SPLIT);
    for (int64_t s = 0; s < splits; s++)
        m = fmaxf(m, problem->lse[s * problem->rows + row]);
    for (int64_t i = 0; i < splits; i++)
        l += weight_of(problem->lse[(manner->backwards ? splits - 1 - i : i) * problem->rows + row], m, manner);
    for (int64_t i = 0; i < splits; i++) {
        int64_t at = (manner->backwards ? splits - 1 - i : i) * problem->rows + row;
        if (problem->lse[at] != -INFINITY)
            o = fmaf(weight_of(problem->lse[at], m, manner) * (1 / l), problem->o[at * problem->head_dim_v + d], o);
    }
    *lse = l == 1 ? m : m + 0.69314718055994531f * log2f(l);
    return o;
}

/* How many elements leave their bounds. */
static int count_outside(const struct manner *manner, enum merge_inputs inputs) {
    float lse[SPLITS * ROWS], o[SPLITS * ROWS * DIM];
    const struct merge_problem problem = {SPLITS, ROWS, DIM, o, lse};
    int outside = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        merge_inputs_make(inputs, SPLITS, ROWS, DIM, 1e38, seed, lse, o);
        for (int64_t i = 0; i < ROWS; i++) {
            double values[DIM], errors[DIM];
            struct merge_row row;
            row_of(&problem, i, &row, values, errors);
            for (int64_t d = 0; row.present && d < DIM; d++) {
                float got_lse, got = merged(&problem, i, d, manner, &got_lse);
                outside +=
                    !(fabs((double)got - values[d]) <= errors[d]) + !(fabs((double)got_lse - row.lse) <= row.lse_error);
            }
        }
    }
    return outside;
}

Test(merge, right_kernels_stay_within_the_bounds) {
    static const enum merge_inputs kinds[] = {MERGE_RANDOM, MERGE_EMPTY,  MERGE_ALONE,  MERGE_EQUAL,
                                              MERGE_LARGE,  MERGE_SPREAD, MERGE_LARGEST};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int backwards = 0; backwards < 2; backwards++)
            for (int off = -1; off <= 1; off++) {
                const struct manner manner = {RIGHT, backwards, off};
                cr_expect_eq(count_outside(&manner, kinds[kind]), 0, "%s, backwards %d, off by %d",
                             merge_inputs_name(kinds[kind]), backwards, off);
            }
}

Test(merge, faulty_kernels_leave_them) {
    static const enum merge_inputs kinds[FAULTS] = {
        [BASE_2] = MERGE_RANDOM, [NO_MAXIMUM] = MERGE_LARGE, [PRODUCT_FIRST] = MERGE_LARGE, [LOST_SPLIT] = MERGE_EQUAL};
    for (int fault = RIGHT + 1; fault < FAULTS; fault++) {
        const struct manner manner = {.fault = (enum fault)fault};
        cr_expect_gt(count_outside(&manner, kinds[fault]), 100, "fault %d", fault);
    }
}

Test(merge, standing_cases) {
    struct merge_case cases[MERGE_CASES_MAX];
    int count = merge_standing(64, cases);
    cr_assert(count > 0 && count <= MERGE_CASES_MAX);
    static const int64_t splits[] = {0, 1, 2, 3, 17, 200}, dims[] = {8, 64, 72, 128, 512};
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        bool found = false;
        for (int at = 0; at < count; at++)
            found = found || cases[at].shape.splits == splits[i];
        cr_expect(found, "%d partial results", (int)splits[i]);
    }
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        bool found = false;
        for (int at = 0; at < count; at++)
            found = found || cases[at].shape.head_dim == dims[i];
        cr_expect(found, "head dimension %d", (int)dims[i]);
    }
}

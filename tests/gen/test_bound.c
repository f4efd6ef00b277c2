/* The bounds against a kernel simulated in float32. A right one must stay inside; a wrong one must not. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulated_kernel.h"

/* One head without modifiers. */
static struct simulation run_case(const struct quirks *quirks, enum input_kind kind, enum half_type type,
                                  int64_t seqlen_q, int64_t seqlen_k, int64_t head_dim, enum reference_mask mask,
                                  double scale) {
    const struct reference_problem problem = {.batch = 1,
                                              .heads_q = 1,
                                              .heads_k = 1,
                                              .seqlen_q = seqlen_q,
                                              .seqlen_k = seqlen_k,
                                              .head_dim = head_dim,
                                              .head_dim_v = head_dim,
                                              .mask = mask,
                                              .scale = (double)(float)scale};
    return simulated_run(quirks, kind, type, &problem, &problem);
}

static const struct quirks honest[] = {
    {.block = 32},
    {.block = 16, .backward = true, .exp2_nudge = 2, .fused_exponent = false},
    {.block = 64, .adder_truncates = true, .exp2_nudge = 1},
    {.block = 16, .adder_truncates = true, .backward = true, .exp2_nudge = -1},
};

Test(bound, a_right_kernel_stays_inside_whatever_its_order) {
    static const double scales[] = {NAN, 0, -0.3, 2.5};
    for (size_t quirk = 0; quirk < sizeof honest / sizeof *honest; quirk++)
        for (size_t kind = 0; kind < FINITE_KINDS; kind++)
            for (int type = HALF_F16; type <= HALF_BF16; type++)
                for (size_t index = 0; index < sizeof scales / sizeof *scales; index++) {
                    int64_t head_dim = index % 2 ? 64 : 40;
                    double scale = isnan(scales[index]) ? 1 / sqrt((double)head_dim) : scales[index];
                    struct simulation result = run_case(&honest[quirk], finite_kinds[kind], type, 33, 97, head_dim,
                                                        (enum reference_mask)(quirk % 3), scale);
                    cr_assert(result.worst_output <= 1 && result.worst_lse <= 1,
                              "quirks %zu, %s, type %d, scale %g: O %g, LSE %g times the bound", quirk,
                              inputs_name(finite_kinds[kind]), type, scale, result.worst_output, result.worst_lse);
                    double mean, limit;
                    bound_bias_result(&result.bias, type, &mean, &limit);
                    if (!honest[quirk].adder_truncates)
                        cr_assert(isnan(mean) || fabs(mean) <= limit,
                                  "quirks %zu, %s, type %d, scale %g: mean %g, limit %g", quirk,
                                  inputs_name(finite_kinds[kind]), type, scale, mean, limit);
                }
}

/* The bound is worth something only if right kernels come near it. */
Test(bound, is_not_far_above_what_right_kernels_reach) {
    struct simulation result =
        run_case(&honest[0], INPUT_UNBALANCED, HALF_BF16, 64, 256, 64, REFERENCE_MASK_NONE, 0.125);
    cr_assert(result.worst_output > 0.3, "O reaches %g of the bound", result.worst_output);
    result = run_case(&honest[0], INPUT_RANDOM, HALF_F16, 64, 256, 64, REFERENCE_MASK_NONE, 0.125);
    cr_assert(result.worst_output > 0.15, "O reaches %g of the bound", result.worst_output);
}

static void expect_bias(const struct quirks *quirks, enum input_kind kind, enum half_type type, int64_t head_dim,
                        bool caught) {
    struct simulation result =
        run_case(quirks, kind, type, 65, 129, head_dim, REFERENCE_MASK_NONE, 1 / sqrt((double)head_dim));
    double mean, limit;
    bound_bias_result(&result.bias, type, &mean, &limit);
    cr_assert((fabs(mean) > limit) == caught, "%s, type %d, d%ld, P %s, O %s: mean %g, limit %g", inputs_name(kind),
              type, (long)head_dim, quirks->truncate_p ? "cut" : "rounded", quirks->truncate_o ? "cut" : "rounded",
              mean, limit);
    if (quirks->truncate_p || quirks->truncate_o)
        cr_assert(mean < 0, "mean %g", mean);
}

Test(bound, truncating_p_or_o_shows_in_the_mean_and_rounding_does_not) {
    const struct quirks rounds = {.block = 32}, cuts_p = {.block = 32, .truncate_p = true},
                        cuts_o = {.block = 32, .truncate_o = true},
                        cuts_both = {.block = 32, .truncate_p = true, .truncate_o = true};
    for (int type = HALF_F16; type <= HALF_BF16; type++)
        for (int64_t head_dim = 8; head_dim <= 128; head_dim *= 4) {
            expect_bias(&rounds, INPUT_RANDOM, type, head_dim, false);
            expect_bias(&rounds, INPUT_UNBALANCED, type, head_dim, false);
            expect_bias(&cuts_p, INPUT_RANDOM, type, head_dim, true);
            expect_bias(&cuts_o, INPUT_RANDOM, type, head_dim, true);
            expect_bias(&cuts_o, INPUT_UNBALANCED, type, head_dim, true);
            expect_bias(&cuts_both, INPUT_RANDOM, type, head_dim, true);
        }
}

/* Rows whose weights are all the same, or nearly, or one of which is all, are rounded alike: one sample many times. */
Test(bound, rows_that_repeat_each_other_are_no_samples) {
    const struct quirks rounds = {.block = 32};
    const struct {
        enum input_kind kind;
        double scale;
    } alike[] = {{INPUT_UNBALANCED, 1e-30}, {INPUT_UNBALANCED, 1e-4}, {INPUT_RANDOM, 0}, {INPUT_IMPULSE, 8}};
    for (size_t index = 0; index < sizeof alike / sizeof *alike; index++)
        for (int type = HALF_F16; type <= HALF_BF16; type++)
            cr_assert(run_case(&rounds, alike[index].kind, type, 33, 47, 64, REFERENCE_MASK_NONE, alike[index].scale)
                              .bias.rows == 0,
                      "%s, scale %g", inputs_name(alike[index].kind), alike[index].scale);
    cr_assert(run_case(&rounds, INPUT_UNBALANCED, HALF_BF16, 33, 47, 64, REFERENCE_MASK_NONE, 0.125).bias.rows == 33);
}

static void expect_outside(const struct quirks *quirks, enum input_kind kind, double scale, const char *what) {
    struct simulation result = run_case(quirks, kind, HALF_F16, 33, 97, 64, REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, scale);
    cr_assert(result.worst_output > 1 || result.worst_lse > 1, "%s passes: O %g, LSE %g times the bound", what,
              result.worst_output, result.worst_lse);
}

Test(bound, wrong_kernels_are_outside) {
    expect_outside(&(struct quirks){.block = 32, .never_rescale = true}, INPUT_UNBALANCED, 0.125, "no rescaling");
    expect_outside(&(struct quirks){.block = 32, .lse_base_two = true}, INPUT_RANDOM, 0.125, "LSE in log2");
    expect_outside(&(struct quirks){.block = 32, .first_tile_is_low = true}, INPUT_LARGE, 0.125,
                   "a finite first maximum");
    expect_outside(&(struct quirks){.block = 32, .skip_key = 33}, INPUT_RANDOM, 0.125, "a missing key");
    expect_outside(&(struct quirks){.block = 32, .fused_exponent = true}, INPUT_HUGE, 0.25,
                   "an exponent that rounds otherwise than the maximum");
}

Test(bound, rows_without_keys_are_exact_and_nan_has_no_bound) {
    struct reference_problem problem = {.batch = 1,
                                        .heads_q = 1,
                                        .heads_k = 1,
                                        .seqlen_q = 3,
                                        .seqlen_k = 2,
                                        .head_dim = 8,
                                        .head_dim_v = 8,
                                        .mask = REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT,
                                        .scale = 1};
    double q[24], k[16], v[16], output[24], lse[3], bounds[27];
    for (int index = 0; index < 24; index++)
        q[index] = 1;
    for (int index = 0; index < 16; index++)
        k[index] = v[index] = 1;
    v[1 * 8 + 2] = NAN; /* seen by the last query */
    problem.q = q, problem.k = k, problem.v = v;
    struct error error;
    cr_assert(reference_run(&problem, output, lse, simulated_bounds, bounds, 1, &error));
    for (int d = 0; d < 9; d++) {
        cr_assert(bounds[d] == 0);
        cr_assert(bounds[9 + d] > 0 && bounds[9 + d] < 0.002);
        cr_assert(d == 2 ? isnan(bounds[18 + d]) : bounds[18 + d] > 0, "column %d: %g", d, bounds[18 + d]);
    }
}

/* An infinity of V makes the output one, exactly; only where its weight may be rounded to zero is NaN allowed. Scores
 * are 0 and -score. */
Test(bound, an_infinity_is_exact_unless_its_weight_vanishes) {
    static const double scores[] = {10, 15, 18, 40};
    for (size_t index = 0; index < sizeof scores / sizeof *scores; index++) {
        double q[8] = {1}, k[16] = {0}, v[16] = {0}, output[8], lse, bounds[9];
        struct error error;
        k[8] = -scores[index];
        v[8 + 3] = -INFINITY;
        v[4] = INFINITY;
        struct reference_problem problem = {.batch = 1,
                                            .heads_q = 1,
                                            .heads_k = 1,
                                            .seqlen_q = 1,
                                            .seqlen_k = 2,
                                            .head_dim = 8,
                                            .head_dim_v = 8,
                                            .mask = REFERENCE_MASK_NONE,
                                            .scale = 1,
                                            .q = q,
                                            .k = k,
                                            .v = v};
        cr_assert(reference_run(&problem, output, &lse, simulated_bounds, bounds, 1, &error));
        cr_assert(output[3] == -INFINITY && output[4] == INFINITY);
        cr_assert(bounds[4] == 0 && isfinite(bounds[8]));
        cr_assert(index < 2 ? bounds[3] == 0 : isnan(bounds[3]), "score -%g: %g", scores[index], bounds[3]);
    }
}

/* The cheap way for small errors and the general one agree where they meet: four equal scores of 209715 have exponents
 * that are off by 1/16. */
Test(bound, the_two_ways_to_bound_a_weight_meet) {
    double q[8] = {1}, k[32] = {0}, v[32], output[8], lse, bounds[2][9];
    for (int index = 0; index < 32; index++) {
        k[index] = index % 8 == 0;
        v[index] = index / 8 - 1.5;
    }
    for (int way = 0; way < 2; way++) {
        struct reference_problem problem = {.batch = 1,
                                            .heads_q = 1,
                                            .heads_k = 1,
                                            .seqlen_q = 1,
                                            .seqlen_k = 4,
                                            .head_dim = 8,
                                            .head_dim_v = 8,
                                            .mask = REFERENCE_MASK_NONE,
                                            .scale = way ? 210500 : 209000,
                                            .q = q,
                                            .k = k,
                                            .v = v};
        struct error error;
        cr_assert(reference_run(&problem, output, &lse, simulated_bounds, bounds[way], 1, &error));
    }
    for (int d = 0; d < 9; d++)
        cr_assert(fabs(bounds[0][d] / bounds[1][d] - 1) < 0.05, "%d: %g below, %g above", d, bounds[0][d],
                  bounds[1][d]);
    /* A weight of 1/4 whose exponent is up while the others' are down: 0.25 (1 - 0.25) 2/16, times sum |v| = 4. */
    cr_assert(bounds[0][0] > 0.09 && bounds[0][0] < 0.12, "%g", bounds[0][0]);
    cr_assert(bounds[0][8] > 0.0625 && bounds[0][8] < 0.12, "LSE: %g", bounds[0][8]);
}

/* What modifiers of scores, sinks, dropout and lengths add to the bounds, against a kernel simulated in float32. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulated_kernel.h"

/* Modifiers, for two sequences of two heads. */
enum { QUERIES = 33, KEYS = 97 };
static double slopes[4], biases[2 * QUERIES * KEYS + 1], factors[2], sinks[2];
static uint8_t seen[QUERIES * KEYS], seen_blocks[5 * 7];
static const int64_t prefixes[2] = {70, 90}, lengths_k[2] = {KEYS, 50};

static void make_modifiers(void) {
    uint64_t state = 5;
    for (int index = 0; index < 4; index++)
        slopes[index] = (double)(0.3F / (float)(index + 1));
    for (int index = 0; index < 2 * QUERIES * KEYS; index++)
        biases[index] = inputs_next(&state) % 9 ? (double)(float)inputs_normal(&state) : -INFINITY;
    factors[0] = (double)1.3F;
    factors[1] = (double)0.7F;
    sinks[0] = (double)1.7F;
    sinks[1] = (double)4.3F;
    for (int index = 0; index < QUERIES * KEYS; index++)
        seen[index] = inputs_next(&state) % 3 > 0;
    for (int index = 0; index < 5 * 7; index++)
        seen_blocks[index] = inputs_next(&state) % 2 > 0;
}

/* More queries than keys make rows that see nothing. */
static struct reference_problem problem_with(enum reference_mask mask) {
    return (struct reference_problem){.batch = 2,
                                      .heads_q = 2,
                                      .heads_k = 1,
                                      .seqlen_q = QUERIES,
                                      .seqlen_k = KEYS,
                                      .head_dim = 32,
                                      .head_dim_v = 32,
                                      .mask = mask,
                                      .scale = (double)0.17677669F};
}

enum { MODIFIERS = 13 };

static struct reference_problem problem_modified(int which) {
    const struct reference_plane bias = {biases, QUERIES * KEYS, 0, KEYS}, mask = {seen, 0, 0, KEYS},
                                 blocks = {seen_blocks, 0, 0, 7};
    struct reference_problem problem = problem_with((enum reference_mask)(which % 3));
    bool all = which == 12;
    if (which == 0 || which == 1 || all)
        problem.softcap = which == 0 ? 50 : which == 1 ? 0.5 : 10;
    if (which == 2 || all)
        problem.alibi = slopes;
    if (which == 3 || which == 11 || all)
        problem.bias = bias;
    if (which == 4 || all)
        problem.head_scale = factors;
    if (which == 5 || which == 9 || which == 11 || all)
        problem.sink = sinks;
    if (which == 6 || which == 9 || all)
        problem.dropout = which == 6 ? (double)0.1F : (double)0.7F;
    if (which == 7 || all)
        problem.window = true, problem.window_left = 20, problem.window_right = 3, problem.sink_keys = 2;
    if (which == 8 || all)
        problem.attn_mask = mask;
    if (which == 10 || all)
        problem.modify = simulated_modifier;
    if (which == 11) {
        problem.block_mask = blocks;
        problem.block_mask_q = 8;
        problem.block_mask_k = 16;
        problem.prefix = prefixes;
        problem.lengths_k = lengths_k;
        problem.mask = REFERENCE_MASK_CAUSAL_TOP_LEFT;
    }
    return problem;
}

TestSuite(bound_modifiers, .init = make_modifiers);

Test(bound_modifiers, a_right_kernel_stays_inside) {
    static const struct quirks all[] = {
        {.block = 32},
        {.block = 16, .backward = true, .exp2_nudge = 2, .fused_sums = true, .sink_first = true},
        {.block = 64, .adder_truncates = true, .exp2_nudge = 1, .sink_unscaled = true, .dropout_at_end = true},
        {.block = 16, .adder_truncates = true, .backward = true, .exp2_nudge = -1, .fused_sums = true},
    };
    static const double sink_pairs[][2] = {{1.7F, 4.3F}, {-70, 70}, {-1e6, -INFINITY}, {1e4F, 0}};
    for (size_t quirk = 0; quirk < sizeof all / sizeof *all; quirk++)
        for (int which = 0; which < MODIFIERS; which++)
            for (size_t kind = 0; kind < FINITE_KINDS; kind++)
                for (int type = HALF_F16; type <= HALF_BF16; type++) {
                    struct reference_problem problem = problem_modified(which);
                    memcpy(sinks, sink_pairs[(kind + (size_t)which) % 4], sizeof sinks);
                    struct quirks quirks = all[quirk];
                    /* Far above the keys' scores l overflows; such a sink must become the maximum. */
                    quirks.sink_unscaled = quirks.sink_unscaled && sinks[0] == (double)1.7F && kind < 2;
                    struct simulation result = simulated_run(&quirks, finite_kinds[kind], type, &problem, &problem);
                    cr_expect(result.worst_output <= 1 && result.worst_lse <= 1,
                              "modifiers %d, quirks %zu, %s, type %d: O %g, LSE %g times the bound", which, quirk,
                              inputs_name(finite_kinds[kind]), type, result.worst_output, result.worst_lse);
                    double mean, limit;
                    bound_bias_result(&result.bias, type, &mean, &limit);
                    if (!quirks.adder_truncates)
                        cr_expect(isnan(mean) || fabs(mean) <= limit,
                                  "modifiers %d, quirks %zu, %s, type %d: mean %g, limit %g", which, quirk,
                                  inputs_name(finite_kinds[kind]), type, mean, limit);
                }
}

Test(bound_modifiers, is_not_far_above_what_right_kernels_reach) {
    for (int which = 0; which < MODIFIERS; which++)
        for (int type = HALF_F16; type <= HALF_BF16; type++) {
            struct reference_problem problem = problem_modified(which);
            struct simulation result =
                simulated_run(&(const struct quirks){.block = 32}, INPUT_RANDOM, type, &problem, &problem);
            cr_expect(result.worst_output > 0.2, "modifiers %d, type %d: O reaches %g of the bound", which, type,
                      result.worst_output);
        }
}

/* 0 and 3: what is added to scores is large and cancels, but its errors do not; in 3 they are larger than the scores.
 * 1: a sink far above the keys' scores, with which l nearly overflows. 2: a cap far above the scores. */
static struct reference_problem problem_cancelling(int which) {
    struct reference_problem problem = problem_with(REFERENCE_MASK_NONE);
    double slope = which == 0 ? (double)3000.1F : (double)2000000.1F;
    for (int64_t query = 0; query < QUERIES; query++)
        for (int64_t key = 0; key < KEYS; key++) {
            double added = which != 1 ? slope * fabs((double)(query + KEYS - QUERIES - key)) : -80.3;
            biases[query * KEYS + key] = (double)(float)added;
        }
    if (which != 2)
        problem.bias = (struct reference_plane){biases, 0, 0, KEYS};
    if (which == 0 || which == 3) {
        for (int index = 0; index < 4; index++)
            slopes[index] = slope;
        problem.alibi = slopes;
    }
    if (which == 1) {
        sinks[0] = sinks[1] = 0;
        problem.sink = sinks;
    }
    if (which == 2)
        problem.softcap = 30000;
    return problem;
}

Test(bound_modifiers, a_right_kernel_stays_inside_where_modifiers_rule_the_error) {
    for (int which = 0; which < 4; which++)
        for (int quirk = 0; quirk < 4; quirk++)
            for (int type = HALF_F16; type <= HALF_BF16; type++) {
                struct reference_problem problem = problem_cancelling(which);
                const struct quirks quirks = {.block = 32,
                                              .fused_sums = quirk % 2,
                                              .backward = quirk % 2,
                                              .exp2_nudge = quirk < 2 ? 2 : 0,
                                              .sink_unscaled = quirk < 2};
                struct simulation result = simulated_run(&quirks, INPUT_RANDOM, type, &problem, &problem);
                cr_expect(result.worst_output <= 1 && result.worst_lse <= 1,
                          "%d, quirks %d, type %d: O %g, LSE %g times the bound", which, quirk, type,
                          result.worst_output, result.worst_lse);
                double mean, limit;
                bound_bias_result(&result.bias, type, &mean, &limit);
                cr_expect(isnan(mean) || fabs(mean) <= limit, "%d, quirks %d, type %d: mean %g, limit %g", which, quirk,
                          type, mean, limit);
            }
}

/* Where a sink is so far above the scores that the factor of O is a subnormal and flushed, large V make more of it than
 * O's smallest numbers. */
Test(bound_modifiers, a_right_kernel_stays_inside_where_a_sink_makes_o_vanish) {
    for (int difference = 80; difference < 110; difference++)
        for (int type = HALF_F16; type <= HALF_BF16; type++) {
            struct reference_problem problem = problem_with(REFERENCE_MASK_NONE);
            problem.scale = 0;
            problem.sink = sinks;
            sinks[0] = sinks[1] = difference;
            struct simulation result =
                simulated_run(&(const struct quirks){.block = 32}, INPUT_IMPULSE, type, &problem, &problem);
            cr_expect(result.worst_output <= 1 && result.worst_lse <= 1, "%d, type %d: O %g, LSE %g times the bound",
                      difference, type, result.worst_output, result.worst_lse);
        }
}

/* One key that is seen: LSE is its score, and its bound that of the score and the few e of LSE itself. */
static double lse_bound_of(const struct reference_problem *problem, double q, double k) {
    static const uint8_t seen_keys[] = {1, 0};
    const double query[8] = {q}, keys[16] = {k}, v[16] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct reference_problem one = *problem;
    double output[8], lse, bounds[9];
    struct error error;
    one.batch = one.heads_q = one.heads_k = one.seqlen_q = 1;
    one.seqlen_k = 2;
    one.attn_mask.values = seen_keys;
    one.head_dim = one.head_dim_v = 8;
    one.q = query;
    one.k = keys;
    one.v = v;
    cr_assert(reference_run(&one, output, &lse, simulated_bounds, bounds, 1, &error));
    return bounds[8] / 0x1p-23 / (1 + 0x1p-6); /* in e, without the slack */
}

static double doubled(void *context, double score, const struct reference_place *place) {
    (void)context;
    (void)place;
    return 2 * score;
}

/* LSE itself errs by 1.5 e of a score far from 0, and by less than 20 e else. */
Test(bound_modifiers, each_modifier_adds_what_is_derived_for_it) {
    const double thousand[] = {1000}, minus_thousand[] = {-1000}, minus_eighty[] = {-80}, nothing[] = {0};
    const struct {
        const char *what;
        struct reference_problem problem;
        double q, k, expected;
    } rows[] = {
        {"nothing", {.scale = 1}, 1, 1000, (1 + 1.5 + 1.5) * 1000},
        {"a factor of the head", {.scale = 1, .head_scale = thousand}, 1, 1, (1 + 1.5 + 0.5 + 1.5) * 1000},
        {"ALiBi", {.scale = 1, .alibi = thousand}, 0, 0, (1.5 + 0.5 * 2 + 1.5) * 1000},
        {"bias", {.scale = 1, .bias = {thousand, 0, 0, 0}}, 0, 0, (1.5 + 0.5 * 2 + 1.5) * 1000},
        {"bias that cancels", {.scale = 1, .bias = {minus_thousand, 0, 0, 0}}, 1, 1000, (1 + 1.5 + 1.5 + 0.5) * 1000},
        {"a cap", {.scale = 1, .softcap = 1000}, 0, 0, 8 * 1000},
        {"a cap and a score", {.scale = 1, .softcap = 1e6}, 1, 1000, (1 + 1.5 + 1.5 + 1.5) * 1000 + 8e6},
        {"a cap that is reached", {.scale = 1, .softcap = 100}, 1, 1e6, (8 + 1.5) * 100},
        {"a modifier", {.scale = 1, .modify = doubled}, 1, 1000, (2 * 2.5 + 8 * 2 + 1.5 * 2) * 1000},
        {"a sink that joins l", {.scale = 1, .sink = nothing, .bias = {minus_eighty, 0, 0, 0}}, 0, 0, (1 + 2) * 80},
        {"a sink", {.scale = 1, .sink = thousand}, 0, 0, (1 + 1.5) * 1000},
    };
    for (size_t index = 0; index < sizeof rows / sizeof *rows; index++) {
        double got = lse_bound_of(&rows[index].problem, rows[index].q, rows[index].k);
        cr_expect(got >= rows[index].expected && got <= rows[index].expected * 1.003 + 20, "%s: expected %g, got %g",
                  rows[index].what, rows[index].expected, got);
    }
}

/* A factor of 1 that nothing is lost by adds three roundings to O. */
Test(bound_modifiers, dropout_adds_three_roundings) {
    double q[8] = {1}, k[8] = {1}, v[8] = {1, 1, 1, 1, 1, 1, 1, 1}, output[8], lse, bounds[2][9];
    for (int drops = 0; drops < 2; drops++) {
        struct reference_problem problem = {.batch = 1,
                                            .heads_q = 1,
                                            .heads_k = 1,
                                            .seqlen_q = 1,
                                            .seqlen_k = 1,
                                            .head_dim = 8,
                                            .head_dim_v = 8,
                                            .scale = 1,
                                            .q = q,
                                            .k = k,
                                            .v = v,
                                            .dropout = drops * 1e-12};
        struct error error;
        cr_assert(reference_run(&problem, output, &lse, simulated_bounds, bounds[drops], 1, &error));
    }
    double added = (bounds[1][0] - bounds[0][0]) / 0x1p-23;
    cr_assert(added > 3 && added < 3.1, "%g e", added);
    cr_assert(bounds[0][8] == bounds[1][8]);
}

/* A weight that is dropped is a zero without an error: V of a kept key is 0, and so is O but for subnormals. */
Test(bound_modifiers, what_is_dropped_has_no_error) {
    const double q[8] = {0}, k[16 * 8] = {0};
    double v[16 * 8], output[8], lse, bounds[9];
    struct reference_problem problem = {.batch = 1,
                                        .heads_q = 1,
                                        .heads_k = 1,
                                        .seqlen_q = 1,
                                        .seqlen_k = 16,
                                        .head_dim = 8,
                                        .head_dim_v = 8,
                                        .scale = 1,
                                        .q = q,
                                        .k = k,
                                        .v = v,
                                        .dropout = 0.5};
    int kept = 0;
    for (int64_t key = 0; key < 16; key++) {
        kept += reference_keeps(&problem, 0, 0, 0, key);
        for (int d = 0; d < 8; d++)
            v[key * 8 + d] = reference_keeps(&problem, 0, 0, 0, key) ? 0 : 1;
    }
    struct error error;
    cr_assert(kept > 0 && kept < 16);
    cr_assert(reference_run(&problem, output, &lse, simulated_bounds, bounds, 1, &error));
    cr_assert(output[0] == 0 && bounds[0] > 0 && bounds[0] < 0x1p-24, "%g", bounds[0]);
}

/* Equal scores far from 0 are no samples, whatever part of the denominator is the sink's. */
Test(bound_modifiers, rows_that_repeat_each_other_are_no_samples) {
    for (int type = HALF_F16; type <= HALF_BF16; type++) {
        struct reference_problem problem = problem_with(REFERENCE_MASK_NONE);
        problem.scale = 0x1p-11; /* scores of -256 */
        problem.sink = sinks;
        sinks[0] = sinks[1] = -254;
        struct simulation result =
            simulated_run(&(const struct quirks){.block = 32}, INPUT_FAR_BELOW_ZERO, type, &problem, &problem);
        cr_assert(result.bias.rows == 0, "type %d: %ld", type, (long)result.bias.rows);
        problem = problem_with(REFERENCE_MASK_NONE);
        problem.alibi = slopes; /* scores that scatter, but the same in all rows */
        problem.scale = 0;
        result = simulated_run(&(const struct quirks){.block = 32}, INPUT_RANDOM, type, &problem, &problem);
        cr_assert(result.bias.rows == 0, "type %d: %ld", type, (long)result.bias.rows);
    }
}

static void expect_found_out(const struct quirks *quirks, enum input_kind kind, const struct reference_problem *problem,
                             const struct reference_problem *wrong, const char *what) {
    for (int type = HALF_F16; type <= HALF_BF16; type++) {
        struct simulation result = simulated_run(quirks, kind, type, problem, problem);
        cr_expect(result.worst_output <= 1 && result.worst_lse <= 1, "%s, type %d: right is outside", what, type);
        result = simulated_run(quirks, kind, type, problem, wrong);
        cr_expect(result.worst_output > 1 || result.worst_lse > 1,
                  "%s, type %d: passes with O %g, LSE %g times the bound", what, type, result.worst_output,
                  result.worst_lse);
    }
}

#define EXPECT_FOUND_OUT(which, what, ...)                                                                             \
    do {                                                                                                               \
        struct reference_problem right = problem_modified(which), wrong = right;                                       \
        __VA_ARGS__;                                                                                                   \
        expect_found_out(&(const struct quirks){.block = 32}, INPUT_RANDOM, &right, &wrong, what);                     \
    } while (0)

Test(bound_modifiers, wrong_scores_are_found_out) {
    static double other[4];
    for (int index = 0; index < 4; index++)
        other[index] = (double)(float)(slopes[index] * 1.01);
    EXPECT_FOUND_OUT(0, "no cap of 50", right.scale = wrong.scale = 2, wrong.softcap = 0);
    EXPECT_FOUND_OUT(1, "no cap of 0.5", wrong.softcap = 0);
    EXPECT_FOUND_OUT(1, "a cap 1 % too large", wrong.softcap *= 1.01);
    EXPECT_FOUND_OUT(2, "no ALiBi", wrong.alibi = NULL);
    EXPECT_FOUND_OUT(2, "slopes 1 % too large", wrong.alibi = other);
    EXPECT_FOUND_OUT(3, "no bias", wrong.bias.values = NULL);
    EXPECT_FOUND_OUT(3, "the first row's bias", wrong.bias.stride_row = 0);
    EXPECT_FOUND_OUT(3, "the first sequence's bias", wrong.bias.stride_batch = 0);
    EXPECT_FOUND_OUT(3, "the next key's bias", wrong.bias.values = biases + 1);
    EXPECT_FOUND_OUT(4, "no factor of the head", wrong.head_scale = NULL);
    EXPECT_FOUND_OUT(10, "no modifier", wrong.modify = NULL);
}

Test(bound_modifiers, wrong_masks_are_found_out) {
    EXPECT_FOUND_OUT(7, "no window", wrong.window = false);
    EXPECT_FOUND_OUT(7, "one more to the left", wrong.window_left++);
    EXPECT_FOUND_OUT(7, "one fewer to the left", wrong.window_left--);
    EXPECT_FOUND_OUT(7, "a third key that stays", wrong.sink_keys++);
    EXPECT_FOUND_OUT(7, "one key that stays", wrong.sink_keys--);
    EXPECT_FOUND_OUT(7, "one more to the right", right.mask = wrong.mask = REFERENCE_MASK_NONE, wrong.window_right++);
    EXPECT_FOUND_OUT(7, "one fewer to the right", right.mask = wrong.mask = REFERENCE_MASK_NONE, wrong.window_right--);
    EXPECT_FOUND_OUT(8, "no mask", wrong.attn_mask.values = NULL);
    EXPECT_FOUND_OUT(8, "the first row's mask", wrong.attn_mask.stride_row = 0);
    EXPECT_FOUND_OUT(11, "no blocks", wrong.block_mask.values = NULL);
    EXPECT_FOUND_OUT(11, "blocks of other keys", wrong.block_mask_k = 17);
    EXPECT_FOUND_OUT(11, "blocks of other queries", wrong.block_mask_q = 9);
    EXPECT_FOUND_OUT(11, "no prefix", wrong.prefix = NULL);
    EXPECT_FOUND_OUT(11, "the next sequence's prefix", wrong.prefix = (const int64_t[]){90, 70});
    EXPECT_FOUND_OUT(11, "one key past a length", wrong.lengths_k = (const int64_t[]){KEYS, 51});
}

Test(bound_modifiers, wrong_sinks_and_dropout_are_found_out) {
    const double close[] = {1.7F * 1.01F, 4.3F * 1.01F};
    EXPECT_FOUND_OUT(5, "no sink", wrong.sink = NULL);
    EXPECT_FOUND_OUT(5, "a sink 1 % too large", wrong.sink = close);
    EXPECT_FOUND_OUT(6, "no dropout", wrong.dropout = 0);
    EXPECT_FOUND_OUT(6, "another seed", wrong.dropout_seed = 1);
    EXPECT_FOUND_OUT(6, "another seed in the high word", wrong.dropout_seed = UINT64_C(1) << 32);
    EXPECT_FOUND_OUT(6, "another offset", wrong.dropout_offset = 1);
}

Test(bound_modifiers, other_wrong_kernels_are_found_out) {
    static const struct {
        int which;
        struct quirks quirks;
    } wrong[] = {{2, {.block = 32, .alibi_top_left = true}},
                 {9, {.block = 32, .dropout_unscaled = true}},
                 {9, {.block = 32, .sinks_first_head = true}},
                 {12, {.block = 32, .cap_last = true}}};
    for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++)
        for (int type = HALF_F16; type <= HALF_BF16; type++) {
            struct reference_problem problem = problem_modified(wrong[index].which);
            if (wrong[index].which == 2)
                problem.mask = REFERENCE_MASK_NONE;
            struct simulation result = simulated_run(&wrong[index].quirks, INPUT_RANDOM, type, &problem, &problem);
            cr_expect(result.worst_output > 1, "%zu, type %d: passes with %g times the bound", index, type,
                      result.worst_output);
        }
}

/* A mean error shows with modifiers as without. */
Test(bound_modifiers, truncating_p_or_o_shows_in_the_mean) {
    const struct quirks quirks_of[] = {{.block = 32},
                                       {.block = 32, .truncate_p = true},
                                       {.block = 32, .truncate_o = true},
                                       {.block = 32, .truncate_p = true, .dropout_at_end = true}};
    for (int which = 0; which < MODIFIERS; which++)
        for (int quirk = 0; quirk < 4; quirk++)
            for (int type = HALF_F16; type <= HALF_BF16; type++) {
                struct reference_problem problem = problem_modified(which);
                struct simulation result = simulated_run(&quirks_of[quirk], INPUT_RANDOM, type, &problem, &problem);
                double mean, limit;
                bound_bias_result(&result.bias, type, &mean, &limit);
                cr_expect((fabs(mean) > limit) == (quirk > 0),
                          "modifiers %d, quirks %d, type %d: mean %g, limit %g, %ld rows", which, quirk, type, mean,
                          limit, (long)result.bias.rows);
            }
}

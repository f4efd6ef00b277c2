/* The float64 reference against values worked out by hand, and against the formula written in the plainest way. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "reference.h"

static double *doubles(int64_t count) {
    double *values = calloc((size_t)count + 1, sizeof *values);
    cr_assert(values);
    return values;
}

struct run {
    struct reference_problem problem;
    double *q, *k, *v, *output, *lse;
};

static struct run run_new(struct reference_problem problem, uint64_t seed) {
    struct run run = {.problem = problem};
    int64_t q_count = problem.batch * problem.heads_q * problem.seqlen_q;
    int64_t k_count = problem.batch * problem.heads_k * problem.seqlen_k;
    run.q = doubles(q_count * problem.head_dim);
    run.k = doubles(k_count * problem.head_dim);
    run.v = doubles(k_count * problem.head_dim_v);
    run.output = doubles(q_count * problem.head_dim_v);
    run.lse = doubles(q_count);
    for (int64_t index = 0; index < q_count * problem.head_dim; index++)
        run.q[index] = inputs_normal(&seed);
    for (int64_t index = 0; index < k_count * problem.head_dim; index++)
        run.k[index] = inputs_normal(&seed);
    for (int64_t index = 0; index < k_count * problem.head_dim_v; index++)
        run.v[index] = inputs_normal(&seed);
    run.problem.q = run.q;
    run.problem.k = run.k;
    run.problem.v = run.v;
    return run;
}

static void run_free(struct run *run) {
    free(run->q);
    free(run->k);
    free(run->v);
    free(run->output);
    free(run->lse);
}

static void run_reference(struct run *run) {
    struct error error;
    cr_assert(reference_run(&run->problem, run->output, run->lse, NULL, NULL, 2, &error), "%s", error.text);
}

static double at(const struct reference_plane *plane, int64_t b, int64_t h, int64_t i, int64_t j) {
    return (
        (const double *)plane->values)[b * plane->stride_batch + h * plane->stride_head + i * plane->stride_row + j];
}

/* The ends of what a row sees. */
static bool is_between_ends(const struct reference_problem *p, int64_t b, int64_t j, int64_t diagonal) {
    int64_t low = 0, keys = p->lengths_k ? p->lengths_k[b] : p->seqlen_k, high = keys;
    if (p->mask != REFERENCE_MASK_NONE && diagonal + 1 < high)
        high = diagonal + 1;
    if (p->window && p->window_left >= 0 && diagonal - p->window_left > low)
        low = diagonal - p->window_left;
    if (p->window && p->window_right >= 0 && diagonal + 1 + p->window_right < high)
        high = diagonal + 1 + p->window_right;
    int64_t prefix = !p->prefix ? 0 : p->prefix[b] < keys ? p->prefix[b] : keys;
    if (prefix > high)
        high = prefix;
    return j < high && (j >= low || j < p->sink_keys);
}

/* One loop over everything, mask as a condition on each pair. */
static void check_plainly(const struct run *run) {
    const struct reference_problem *p = &run->problem;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads_q; h++)
            for (int64_t i = 0; i < (p->lengths_q ? p->lengths_q[b] : p->seqlen_q); i++) {
                int64_t row = (b * p->heads_q + h) * p->seqlen_q + i;
                int64_t head_k = b * p->heads_k + h * p->heads_k / p->heads_q;
                int64_t queries = p->lengths_q ? p->lengths_q[b] : p->seqlen_q;
                int64_t keys = p->lengths_k ? p->lengths_k[b] : p->seqlen_k;
                int64_t diagonal = p->mask == REFERENCE_MASK_CAUSAL_TOP_LEFT ? i : i + keys - queries;
                double sum = p->sink ? exp(p->sink[h]) : 0, *o = doubles(p->head_dim_v);
                for (int64_t j = 0; j < p->seqlen_k; j++) {
                    if (!is_between_ends(p, b, j, diagonal))
                        continue;
                    double score = 0;
                    for (int64_t d = 0; d < p->head_dim; d++)
                        score += run->q[row * p->head_dim + d] * run->k[(head_k * p->seqlen_k + j) * p->head_dim + d];
                    score *= p->scale * (p->head_scale ? p->head_scale[h] : 1);
                    if (p->softcap > 0)
                        score = p->softcap * tanh(score / p->softcap);
                    if (p->alibi)
                        score -= p->alibi[b * p->heads_q + h] * fabs((double)(diagonal - j));
                    if (p->bias.values)
                        score += at(&p->bias, b, h, i, j);
                    double weight = exp(score);
                    sum += weight;
                    if (p->dropout > 0)
                        weight *= reference_keeps(p, b, h, i, j) ? 1 / (1 - p->dropout) : 0;
                    for (int64_t d = 0; d < p->head_dim_v; d++)
                        o[d] += weight * run->v[(head_k * p->seqlen_k + j) * p->head_dim_v + d];
                }
                for (int64_t d = 0; d < p->head_dim_v; d++) {
                    double expected = sum > 0 ? o[d] / sum : 0, got = run->output[row * p->head_dim_v + d];
                    cr_assert(fabs(got - expected) <= 1e-13 * (1 + fabs(expected)),
                              "b %ld h %ld i %ld d %ld: expected %.17g, got %.17g", (long)b, (long)h, (long)i, (long)d,
                              expected, got);
                }
                double lse = log(sum);
                cr_assert(run->lse[row] == lse || fabs(run->lse[row] - lse) <= 1e-13 * (1 + fabs(lse)),
                          "LSE of b %ld h %ld i %ld: expected %.17g, got %.17g", (long)b, (long)h, (long)i, lse,
                          run->lse[row]);
                free(o);
            }
}

Test(reference, agrees_with_the_plainest_formula) {
    const struct reference_problem problems[] = {
        {.batch = 1,
         .heads_q = 1,
         .heads_k = 1,
         .seqlen_q = 5,
         .seqlen_k = 7,
         .head_dim = 8,
         .head_dim_v = 8,
         .mask = REFERENCE_MASK_NONE,
         .scale = 0.3},
        {.batch = 2,
         .heads_q = 4,
         .heads_k = 2,
         .seqlen_q = 9,
         .seqlen_k = 17,
         .head_dim = 16,
         .head_dim_v = 24,
         .mask = REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT,
         .scale = 0.25},
        {.batch = 2,
         .heads_q = 6,
         .heads_k = 1,
         .seqlen_q = 19,
         .seqlen_k = 8,
         .head_dim = 10,
         .head_dim_v = 5,
         .mask = REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT,
         .scale = -0.2},
        {.batch = 1,
         .heads_q = 3,
         .heads_k = 3,
         .seqlen_q = 12,
         .seqlen_k = 20,
         .head_dim = 33,
         .head_dim_v = 9,
         .mask = REFERENCE_MASK_CAUSAL_TOP_LEFT,
         .scale = 0.1},
        {.batch = 1,
         .heads_q = 12,
         .heads_k = 2,
         .seqlen_q = 3,
         .seqlen_k = 4,
         .head_dim = 8,
         .head_dim_v = 8,
         .mask = REFERENCE_MASK_CAUSAL_TOP_LEFT,
         .scale = 0},
        {.batch = 3,
         .heads_q = 2,
         .heads_k = 1,
         .seqlen_q = 1,
         .seqlen_k = 1,
         .head_dim = 8,
         .head_dim_v = 8,
         .mask = REFERENCE_MASK_NONE,
         .scale = 1},
        {.batch = 1,
         .heads_q = 2,
         .heads_k = 1,
         .seqlen_q = 4,
         .seqlen_k = 0,
         .head_dim = 8,
         .head_dim_v = 8,
         .mask = REFERENCE_MASK_NONE,
         .scale = 1},
        {.batch = 1,
         .heads_q = 2,
         .heads_k = 1,
         .seqlen_q = 0,
         .seqlen_k = 4,
         .head_dim = 8,
         .head_dim_v = 8,
         .mask = REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT,
         .scale = 1},
    };
    for (size_t index = 0; index < sizeof problems / sizeof *problems; index++) {
        struct run run = run_new(problems[index], index + 1);
        run_reference(&run);
        check_plainly(&run);
        run_free(&run);
    }
}

/* Numbers of each head, sequence and row that no other has; one thing after the other is taken away again. */
Test(reference, agrees_with_the_plainest_formula_with_everything_on) {
    enum { BATCH = 3, HEADS = 4, QUERIES = 13, KEYS = 21 };
    double slopes[BATCH * HEADS], factors[HEADS], sinks[HEADS], *biases = doubles(BATCH * HEADS * QUERIES * KEYS);
    const int64_t lengths_q[] = {13, 0, 7}, lengths_k[] = {5, 21, 20}, prefixes[] = {2, 3, 30};
    uint64_t state = 1;
    for (int index = 0; index < BATCH * HEADS; index++)
        slopes[index] = 0.1 + 0.05 * index;
    for (int index = 0; index < HEADS; index++) {
        factors[index] = 1 + 0.3 * index;
        sinks[index] = index - 1.5;
    }
    for (int index = 0; index < BATCH * HEADS * QUERIES * KEYS; index++)
        biases[index] = inputs_next(&state) % 5 ? inputs_normal(&state) : -INFINITY;
    for (int taken = 0; taken < 10; taken++) {
        struct reference_problem problem = {.batch = BATCH,
                                            .heads_q = HEADS,
                                            .heads_k = 2,
                                            .seqlen_q = QUERIES,
                                            .seqlen_k = KEYS,
                                            .head_dim = 6,
                                            .head_dim_v = 11,
                                            .mask = (enum reference_mask)(taken % 3),
                                            .scale = 0.4,
                                            .lengths_q = lengths_q,
                                            .lengths_k = lengths_k,
                                            .window = true,
                                            .window_left = 5,
                                            .window_right = 1,
                                            .sink_keys = 2,
                                            .prefix = prefixes,
                                            .softcap = 2,
                                            .alibi = slopes,
                                            .bias = {biases, HEADS * QUERIES * KEYS, QUERIES * KEYS, KEYS},
                                            .sink = sinks,
                                            .head_scale = factors,
                                            .dropout = 0.3,
                                            .dropout_seed = 9};
        if (taken >= 1)
            problem.prefix = NULL;
        if (taken >= 2)
            problem.sink_keys = 0;
        if (taken >= 3)
            problem.dropout = 0;
        if (taken >= 4)
            problem.sink = NULL;
        if (taken >= 5)
            problem.bias = (struct reference_plane){NULL, 0, 0, 0};
        if (taken >= 6)
            problem.lengths_q = NULL;
        if (taken >= 7)
            problem.softcap = 0;
        if (taken >= 8)
            problem.window = false;
        if (taken >= 9)
            problem.alibi = NULL;
        struct run run = run_new(problem, 17);
        run_reference(&run);
        check_plainly(&run);
        run_free(&run);
    }
    free(biases);
}

Test(reference, two_keys_by_hand) {
    /* Scores ln 1 and ln 3: weights 1/4 and 3/4, LSE ln 4. */
    double q[] = {1}, k[] = {0, log(3)}, v[] = {8, 4}, output, lse;
    struct reference_problem problem = {.batch = 1,
                                        .heads_q = 1,
                                        .heads_k = 1,
                                        .seqlen_q = 1,
                                        .seqlen_k = 2,
                                        .head_dim = 1,
                                        .head_dim_v = 1,
                                        .mask = REFERENCE_MASK_NONE,
                                        .scale = 1,
                                        .q = q,
                                        .k = k,
                                        .v = v};
    struct error error;
    cr_assert(reference_run(&problem, &output, &lse, NULL, NULL, 1, &error));
    cr_assert(fabs(output - 5) < 1e-14, "got %.17g", output);
    cr_assert(fabs(lse - log(4)) < 1e-15, "got %.17g", lse);
}

/* How many keys a row sees, from key 0 on. */
static int64_t leading_keys(const struct reference_problem *problem, int64_t query) {
    int64_t count = 0;
    while (reference_sees(problem, 0, 0, query, count))
        count++;
    for (int64_t key = count; key < problem->seqlen_k; key++)
        cr_assert_not(reference_sees(problem, 0, 0, query, key));
    return count;
}

static struct reference_problem lengths(enum reference_mask mask, int64_t seqlen_q, int64_t seqlen_k) {
    return (struct reference_problem){
        .batch = 1, .heads_q = 1, .heads_k = 1, .seqlen_q = seqlen_q, .seqlen_k = seqlen_k, .mask = mask};
}

Test(reference, causal_masks) {
    /* 3 queries, 5 keys; then 5 queries, 3 keys. */
    const int64_t bottom_right[] = {3, 4, 5}, top_left[] = {1, 2, 3};
    struct reference_problem none = lengths(REFERENCE_MASK_NONE, 3, 5),
                             right = lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 3, 5),
                             left = lengths(REFERENCE_MASK_CAUSAL_TOP_LEFT, 3, 5);
    for (int64_t i = 0; i < 3; i++) {
        cr_assert(leading_keys(&none, i) == 5);
        cr_assert(leading_keys(&right, i) == bottom_right[i]);
        cr_assert(leading_keys(&left, i) == top_left[i]);
    }
    const int64_t tall_bottom_right[] = {0, 0, 1, 2, 3}, tall_top_left[] = {1, 2, 3, 3, 3};
    right = lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 5, 3);
    left = lengths(REFERENCE_MASK_CAUSAL_TOP_LEFT, 5, 3);
    for (int64_t i = 0; i < 5; i++) {
        cr_assert(leading_keys(&right, i) == tall_bottom_right[i]);
        cr_assert(leading_keys(&left, i) == tall_top_left[i]);
    }
    right = lengths(REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, 2048, 1024);
    cr_assert(leading_keys(&right, 1023) == 0);
    cr_assert(leading_keys(&right, 1024) == 1);
}

Test(reference, rows_that_see_no_key_are_zero_and_minus_infinity) {
    struct run run = run_new((struct reference_problem){.batch = 1,
                                                        .heads_q = 2,
                                                        .heads_k = 1,
                                                        .seqlen_q = 6,
                                                        .seqlen_k = 2,
                                                        .head_dim = 8,
                                                        .head_dim_v = 8,
                                                        .mask = REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT,
                                                        .scale = 1},
                             3);
    run_reference(&run);
    for (int64_t head = 0; head < 2; head++)
        for (int64_t i = 0; i < 6; i++) {
            double lse = run.lse[head * 6 + i];
            cr_assert(i < 4 ? lse == -INFINITY : isfinite(lse), "row %ld: LSE %g", (long)i, lse);
            for (int64_t d = 0; d < 8; d++)
                cr_assert((run.output[(head * 6 + i) * 8 + d] == 0) == (i < 4));
        }
    run_free(&run);
}

Test(reference, nan_reaches_what_sees_it_and_nothing_else) {
    const int64_t n = 6, d = 8;
    struct run run = run_new((struct reference_problem){.batch = 1,
                                                        .heads_q = 1,
                                                        .heads_k = 1,
                                                        .seqlen_q = n,
                                                        .seqlen_k = n,
                                                        .head_dim = d,
                                                        .head_dim_v = d,
                                                        .mask = REFERENCE_MASK_CAUSAL_TOP_LEFT,
                                                        .scale = 1},
                             5);
    run.q[1 * d + 3] = NAN; /* row 1 */
    run.v[3 * d + 2] = NAN; /* column 2 of rows 3 and later */
    run.k[5 * d + 0] = NAN; /* row 5 */
    run.v[5 * d + 0] = INFINITY;
    run_reference(&run);
    for (int64_t i = 0; i < n; i++) {
        bool row_nan = i == 1 || i == 5;
        cr_assert(!!isnan(run.lse[i]) == row_nan, "row %ld: LSE %g", (long)i, run.lse[i]);
        for (int64_t column = 0; column < d; column++) {
            bool expected = row_nan || (i >= 3 && column == 2);
            cr_assert(!!isnan(run.output[i * d + column]) == expected, "row %ld column %ld: %g", (long)i, (long)column,
                      run.output[i * d + column]);
        }
    }
    run_free(&run);
}

Test(reference, scores_of_any_size) {
    /* One key: O = V and LSE is its score. */
    double q[] = {1024}, k[] = {-512}, v[] = {0.5}, output, lse;
    struct reference_problem problem = {.batch = 1,
                                        .heads_q = 1,
                                        .heads_k = 1,
                                        .seqlen_q = 1,
                                        .seqlen_k = 1,
                                        .head_dim = 1,
                                        .head_dim_v = 1,
                                        .mask = REFERENCE_MASK_NONE,
                                        .scale = 1 / sqrt(128),
                                        .q = q,
                                        .k = k,
                                        .v = v};
    struct error error;
    cr_assert(reference_run(&problem, &output, &lse, NULL, NULL, 1, &error));
    cr_assert(output == 0.5);
    cr_assert(fabs(lse + 46340.95) < 0.001, "got %.17g", lse);
    q[0] = k[0] = 133120;
    problem.scale = 0.25;
    cr_assert(reference_run(&problem, &output, &lse, NULL, NULL, 1, &error));
    cr_assert(output == 0.5);
    cr_assert(lse == 0.25 * 133120.0 * 133120.0);
}

Test(reference, scale_zero_is_the_mean_of_the_visible_values) {
    struct run run = run_new((struct reference_problem){.batch = 1,
                                                        .heads_q = 1,
                                                        .heads_k = 1,
                                                        .seqlen_q = 2,
                                                        .seqlen_k = 3,
                                                        .head_dim = 8,
                                                        .head_dim_v = 1,
                                                        .mask = REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT,
                                                        .scale = 0},
                             7);
    run_reference(&run);
    cr_assert(fabs(run.output[0] - (run.v[0] + run.v[1]) / 2) < 1e-15);
    cr_assert(fabs(run.output[1] - (run.v[0] + run.v[1] + run.v[2]) / 3) < 1e-15);
    cr_assert(fabs(run.lse[0] - log(2)) < 1e-15 && fabs(run.lse[1] - log(3)) < 1e-15);
    run_free(&run);
}

struct seen {
    int rows;
    double weight_sum, mass;
};

static void count_row(void *context, const struct reference_row *row) {
    struct seen *seen = context;
    seen->rows++;
    for (int64_t j = 0; j < row->key_count; j++) {
        seen->weight_sum += row->weight[j];
        seen->mass += row->score_mass[j];
        cr_assert(row->score_mass[j] >= fabs(row->score[j]) * (1 - 1e-12));
    }
}

Test(reference, visits_each_row_with_its_weights) {
    double q[] = {1, -2}, k[] = {3, 4}, v[] = {1, 1, 1, 1}, output[4], lse[2];
    struct reference_problem problem = {.batch = 1,
                                        .heads_q = 2,
                                        .heads_k = 1,
                                        .seqlen_q = 1,
                                        .seqlen_k = 1,
                                        .head_dim = 1,
                                        .head_dim_v = 2,
                                        .mask = REFERENCE_MASK_NONE,
                                        .scale = -0.5,
                                        .q = q,
                                        .k = k,
                                        .v = v};
    struct seen seen = {0, 0, 0};
    struct error error;
    cr_assert(reference_run(&problem, output, lse, count_row, &seen, 1, &error));
    cr_assert(seen.rows == 2);
    cr_assert(seen.weight_sum == 2);
    cr_assert(seen.mass == 0.5 * (3 + 6), "got %g", seen.mass); /* both heads share the only key head's key, 3 */
}

/* The bounds against a kernel simulated in float32 on the host, step by step as the recurrence is written, with the
 * liberties that hardware and templates may take. A right one must stay inside; a wrong one must not. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "inputs.h"
#include "reference.h"

struct quirks {
    int block;            /* keys per tile */
    bool backward;        /* sums run from the last term to the first */
    bool adder_truncates; /* float32 sums of products are cut, not rounded */
    int exp2_nudge;       /* ulps by which 2^x is off: -1, 0, 1, or 2 for a pattern of these */
    bool fused_exponent;  /* fma(c, s, -m) instead of c * s - m */
    bool truncate_p, truncate_o;
    bool never_rescale;     /* o and l keep what older maxima gave */
    bool lse_base_two;      /* LSE in log2 */
    bool first_tile_is_low; /* starting maximum -5e4 instead of -infinity */
    int skip_key;           /* 1 + key that is left out */
    /* of modifiers */
    bool fused_sums;       /* ALiBi and bias by fused multiply-adds */
    bool sink_first;       /* m starts as the sink and l as 1 */
    bool sink_unscaled;    /* the sink is added to l at the end without becoming the maximum */
    bool dropout_at_end;   /* its factor is applied to O, not to the weights */
    bool dropout_unscaled; /* its factor is forgotten */
    bool alibi_top_left;   /* distances from key i, not from i + seqlen_k - seqlen_q */
    bool cap_last;         /* the cap takes ALiBi and bias in */
    bool sinks_first_head; /* every head has the first one's sink */
};

static float add(const struct quirks *quirks, float a, double b) {
    double exact = (double)a + b;
    float sum = (float)exact;
    if (quirks->adder_truncates && fabs((double)sum) > fabs(exact))
        sum = nextafterf(sum, 0);
    return sum;
}

static float power_of_two(const struct quirks *quirks, float x) {
    static unsigned call;
    float result = (float)exp2((double)x);
    int nudge = quirks->exp2_nudge == 2 ? (int)(call++ * 2654435761U >> 30) % 3 - 1 : quirks->exp2_nudge;
    if (x != 0 && nudge)
        result = nextafterf(result, nudge > 0 ? INFINITY : 0);
    return fabsf(result) < 0x1p-126F ? 0 : result;
}

struct simulation {
    const struct quirks *quirks;
    const struct reference_problem *problem; /* as the simulated kernel takes it */
    enum half_type type;
    /* results */
    double worst_output, worst_lse; /* error over bound */
    bool bound_failed;
    struct bound_bias bias;
};

static const float LOG2_E = 1.44269504F, LN_2 = 0.693147181F;

static float dot(const struct simulation *simulation, const struct reference_row *row, int64_t key) {
    const struct reference_problem *problem = simulation->problem;
    int64_t head_k = row->batch * problem->heads_k + row->head / (problem->heads_q / problem->heads_k);
    const double *k = problem->k + (head_k * problem->seqlen_k + key) * problem->head_dim;
    float sum = 0;
    for (int64_t step = 0; step < problem->head_dim; step++) {
        int64_t d = simulation->quirks->backward ? problem->head_dim - 1 - step : step;
        sum = add(simulation->quirks, sum, row->q[d] * k[d]);
    }
    return sum;
}

static float capped(const struct quirks *quirks, float cap, float x) {
    float reciprocal = 1 / (1 + power_of_two(quirks, x * (2 / cap)));
    return cap * LOG2_E - 2 * (cap * LOG2_E) * reciprocal;
}

static double bend(void *context, double score, const struct reference_place *place) {
    (void)context;
    if ((place->query + place->key) % 7 == 0)
        return -INFINITY;
    return score * (1 + (double)(place->key % 3) / 4) - (double)place->query / 64;
}

static float bend_single(float score, int64_t query, int64_t key) {
    return score * (1 + (float)(key % 3) / 4) - (float)query / 64;
}

/* A score times log2 e. Without modifiers one rounded product with a factor that has log2 e in it. */
static float score_of(const struct simulation *simulation, const struct reference_row *row, int64_t key) {
    const struct reference_problem *problem = simulation->problem;
    const struct quirks *quirks = simulation->quirks;
    float factor = (float)problem->scale * LOG2_E, cap = (float)problem->softcap;
    if (problem->head_scale)
        factor *= (float)problem->head_scale[row->head];
    float score = factor * dot(simulation, row, key);
    if (cap > 0 && !quirks->cap_last)
        score = capped(quirks, cap, score);
    if (problem->alibi) {
        int64_t diagonal = problem->mask == REFERENCE_MASK_CAUSAL_TOP_LEFT || quirks->alibi_top_left
                               ? row->query
                               : row->query + problem->seqlen_k - problem->seqlen_q;
        float slope = (float)problem->alibi[row->batch * problem->heads_q + row->head] * LOG2_E;
        float distance = fabsf((float)(diagonal - key));
        score = quirks->fused_sums ? fmaf(-slope, distance, score) : score - slope * distance;
    }
    if (problem->bias.values) {
        const double *values = problem->bias.values;
        float bias = (float)values[row->batch * problem->bias.stride_batch + row->head * problem->bias.stride_head +
                                   row->query * problem->bias.stride_row + key];
        score = quirks->fused_sums ? fmaf(bias, LOG2_E, score) : score + bias * LOG2_E;
    }
    if (cap > 0 && quirks->cap_last)
        score = capped(quirks, cap, score);
    if (problem->modify)
        score = bend_single(score * LN_2, row->query, key) * LOG2_E;
    return score;
}

static void simulate(const struct simulation *simulation, const struct reference_row *row, double *output,
                     double *lse) {
    const struct quirks *quirks = simulation->quirks;
    const struct reference_problem *problem = simulation->problem;
    float sink = problem->sink ? (float)problem->sink[quirks->sinks_first_head ? 0 : row->head] * LOG2_E : -INFINITY;
    float m = quirks->first_tile_is_low ? -5e4F
              : quirks->sink_first      ? sink
                                        : -INFINITY,
          l = m > -INFINITY && quirks->sink_first ? 1 : 0;
    float factor = problem->dropout > 0 && !quirks->dropout_unscaled ? 1 / (1 - (float)problem->dropout) : 1;
    float *o = calloc((size_t)problem->head_dim_v, sizeof *o);
    float *s = calloc((size_t)quirks->block, sizeof *s);
    cr_assert(o && s);
    for (int64_t first = 0; first < problem->seqlen_k; first += quirks->block) {
        int64_t end = first + quirks->block < problem->seqlen_k ? first + quirks->block : problem->seqlen_k;
        float m_new = m;
        for (int64_t j = first; j < end; j++) {
            bool seen = reference_sees(problem, row->batch, row->head, row->query, j);
            s[j - first] = seen ? score_of(simulation, row, j) : -INFINITY;
            m_new = fmaxf(m_new, s[j - first]);
        }
        if (m_new == -INFINITY)
            continue;
        float alpha = m == m_new ? 1 : power_of_two(quirks, m - m_new);
        m = m_new;
        if (!quirks->never_rescale) {
            l *= alpha;
            for (int64_t d = 0; d < problem->head_dim_v; d++)
                o[d] *= alpha;
        }
        for (int64_t step = first; step < end; step++) {
            int64_t j = quirks->backward ? end - 1 - (step - first) : step;
            if (j + 1 == quirks->skip_key || s[j - first] == -INFINITY)
                continue;
            float exponent = s[j - first] - m;
            if (quirks->fused_exponent)
                exponent = fmaf((float)problem->scale * LOG2_E, dot(simulation, row, j), -m);
            float p = power_of_two(quirks, exponent);
            l = add(quirks, l, (double)p);
            if (problem->dropout > 0 && !reference_keeps(problem, row->batch, row->head, row->query, j))
                continue;
            if (!quirks->dropout_at_end)
                p *= factor;
            double rounded =
                half_to_double(simulation->type, quirks->truncate_p ? half_truncate_double(simulation->type, (double)p)
                                                                    : half_from_float(simulation->type, p));
            for (int64_t d = 0; d < problem->head_dim_v; d++)
                o[d] = add(quirks, o[d], rounded * row->v[j * problem->head_dim_v + d]);
        }
    }
    if (sink != -INFINITY && !quirks->sink_first) {
        bool becomes_maximum = sink > m && (!quirks->sink_unscaled || m == -INFINITY);
        float m_new = becomes_maximum ? sink : m, alpha = power_of_two(quirks, m - m_new);
        l = l * alpha + power_of_two(quirks, sink - m_new);
        for (int64_t d = 0; d < problem->head_dim_v; d++)
            o[d] *= alpha;
        m = m_new;
    }
    for (int64_t d = 0; d < problem->head_dim_v; d++) {
        float quotient = l > 0 ? o[d] * (1 / l) : 0;
        if (quirks->dropout_at_end)
            quotient *= factor;
        output[d] = half_to_double(simulation->type, quirks->truncate_o
                                                         ? half_truncate_double(simulation->type, (double)quotient)
                                                         : half_from_float(simulation->type, quotient));
    }
    float log2_l = log2f(l);
    *lse = quirks->lse_base_two ? (double)(m + log2_l) : (double)(LN_2 * m + LN_2 * log2_l);
    free(o);
    free(s);
}

static double over(double error, double bound) {
    return error == 0 ? 0 : error <= bound ? error / bound : bound > 0 && error == error ? error / bound : INFINITY;
}

static void check_row(void *context, const struct reference_row *row) {
    struct simulation *simulation = context;
    int64_t head_dim_v = row->problem->head_dim_v;
    double *output = calloc((size_t)head_dim_v * 2, sizeof *output);
    cr_assert(output);
    double *bound = output + head_dim_v, lse, lse_bound;
    simulate(simulation, row, output, &lse);
    if (!bound_row(simulation->type, row, row->problem->head_dim, head_dim_v, bound, &lse_bound))
        simulation->bound_failed = true;
    for (int64_t d = 0; d < head_dim_v; d++)
        simulation->worst_output = fmax(simulation->worst_output, over(fabs(output[d] - row->output[d]), bound[d]));
    if (lse != row->lse)
        simulation->worst_lse = fmax(simulation->worst_lse, over(fabs(lse - row->lse), lse_bound));
    bound_bias_add(&simulation->bias, simulation->type, row, head_dim_v, output);
    free(output);
}

/* Inputs of a kind through the simulated kernel, which takes the problem to be `simulated`. */
static struct simulation run_problem(const struct quirks *quirks, enum input_kind kind, enum half_type type,
                                     const struct reference_problem *problem,
                                     const struct reference_problem *simulated) {
    struct reference_problem right = *problem, taken = *simulated;
    size_t rows = (size_t)(problem->batch * problem->heads_q * problem->seqlen_q);
    size_t q_count = rows * (size_t)problem->head_dim;
    size_t k_count = (size_t)(problem->batch * problem->heads_k * problem->seqlen_k * problem->head_dim);
    uint16_t *bits = calloc(q_count + 2 * k_count, sizeof *bits);
    double *values = calloc(q_count + 2 * k_count, sizeof *values);
    double *output = calloc(q_count, sizeof *output), *lse = calloc(rows, sizeof *lse);
    cr_assert(bits && values && output && lse);
    inputs_make(kind, problem, type, 11, bits, bits + q_count, bits + q_count + k_count);
    for (size_t index = 0; index < q_count + 2 * k_count; index++)
        values[index] = half_to_double(type, bits[index]);
    right.q = taken.q = values;
    right.k = taken.k = values + q_count;
    right.v = taken.v = values + q_count + k_count;
    struct simulation simulation = {.quirks = quirks, .problem = &taken, .type = type};
    struct error error;
    cr_assert(reference_run(&right, output, lse, check_row, &simulation, 1, &error));
    cr_assert(!simulation.bound_failed);
    free(bits);
    free(values);
    free(output);
    free(lse);
    return simulation;
}

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
    return run_problem(quirks, kind, type, &problem, &problem);
}

static const struct quirks honest[] = {
    {.block = 32},
    {.block = 16, .backward = true, .exp2_nudge = 2, .fused_exponent = false},
    {.block = 64, .adder_truncates = true, .exp2_nudge = 1},
    {.block = 16, .adder_truncates = true, .backward = true, .exp2_nudge = -1},
};

static const enum input_kind kinds[] = {INPUT_RANDOM,         INPUT_UNBALANCED, INPUT_IMPULSE,        INPUT_LARGE,
                                        INPUT_FAR_BELOW_ZERO, INPUT_HUGE,       INPUT_BELOW_SENTINELS};

Test(bound, a_right_kernel_stays_inside_whatever_its_order) {
    static const double scales[] = {NAN, 0, -0.3, 2.5};
    for (size_t quirk = 0; quirk < sizeof honest / sizeof *honest; quirk++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
            for (int type = HALF_F16; type <= HALF_BF16; type++)
                for (size_t index = 0; index < sizeof scales / sizeof *scales; index++) {
                    int64_t head_dim = index % 2 ? 64 : 40;
                    double scale = isnan(scales[index]) ? 1 / sqrt((double)head_dim) : scales[index];
                    struct simulation result = run_case(&honest[quirk], kinds[kind], type, 33, 97, head_dim,
                                                        (enum reference_mask)(quirk % 3), scale);
                    cr_assert(result.worst_output <= 1 && result.worst_lse <= 1,
                              "quirks %zu, %s, type %d, scale %g: O %g, LSE %g times the bound", quirk,
                              inputs_name(kinds[kind]), type, scale, result.worst_output, result.worst_lse);
                    double mean, limit;
                    bound_bias_result(&result.bias, type, &mean, &limit);
                    if (!honest[quirk].adder_truncates)
                        cr_assert(isnan(mean) || fabs(mean) <= limit,
                                  "quirks %zu, %s, type %d, scale %g: mean %g, limit %g", quirk,
                                  inputs_name(kinds[kind]), type, scale, mean, limit);
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

static void bounds_of_row(void *context, const struct reference_row *row) {
    double *bounds = context;
    cr_assert(bound_row(HALF_F16, row, 8, 8, bounds + row->query * 9, bounds + row->query * 9 + 8));
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
    cr_assert(reference_run(&problem, output, lse, bounds_of_row, bounds, 1, &error));
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
        cr_assert(reference_run(&problem, output, &lse, bounds_of_row, bounds, 1, &error));
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
        cr_assert(reference_run(&problem, output, &lse, bounds_of_row, bounds[way], 1, &error));
    }
    for (int d = 0; d < 9; d++)
        cr_assert(fabs(bounds[0][d] / bounds[1][d] - 1) < 0.05, "%d: %g below, %g above", d, bounds[0][d],
                  bounds[1][d]);
    /* A weight of 1/4 whose exponent is up while the others' are down: 0.25 (1 - 0.25) 2/16, times sum |v| = 4. */
    cr_assert(bounds[0][0] > 0.09 && bounds[0][0] < 0.12, "%g", bounds[0][0]);
    cr_assert(bounds[0][8] > 0.0625 && bounds[0][8] < 0.12, "LSE: %g", bounds[0][8]);
}

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
        problem.modify = bend;
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
            for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
                for (int type = HALF_F16; type <= HALF_BF16; type++) {
                    struct reference_problem problem = problem_modified(which);
                    memcpy(sinks, sink_pairs[(kind + (size_t)which) % 4], sizeof sinks);
                    struct quirks quirks = all[quirk];
                    /* Far above the keys' scores l overflows; such a sink must become the maximum. */
                    quirks.sink_unscaled = quirks.sink_unscaled && sinks[0] == (double)1.7F && kind < 2;
                    struct simulation result = run_problem(&quirks, kinds[kind], type, &problem, &problem);
                    cr_expect(result.worst_output <= 1 && result.worst_lse <= 1,
                              "modifiers %d, quirks %zu, %s, type %d: O %g, LSE %g times the bound", which, quirk,
                              inputs_name(kinds[kind]), type, result.worst_output, result.worst_lse);
                    double mean, limit;
                    bound_bias_result(&result.bias, type, &mean, &limit);
                    if (!quirks.adder_truncates)
                        cr_expect(isnan(mean) || fabs(mean) <= limit,
                                  "modifiers %d, quirks %zu, %s, type %d: mean %g, limit %g", which, quirk,
                                  inputs_name(kinds[kind]), type, mean, limit);
                }
}

Test(bound_modifiers, is_not_far_above_what_right_kernels_reach) {
    for (int which = 0; which < MODIFIERS; which++)
        for (int type = HALF_F16; type <= HALF_BF16; type++) {
            struct reference_problem problem = problem_modified(which);
            struct simulation result =
                run_problem(&(const struct quirks){.block = 32}, INPUT_RANDOM, type, &problem, &problem);
            cr_expect(result.worst_output > 0.2, "modifiers %d, type %d: O reaches %g of the bound", which, type,
                      result.worst_output);
        }
}

static void expect_found_out(const struct quirks *quirks, enum input_kind kind, const struct reference_problem *problem,
                             const struct reference_problem *wrong, const char *what) {
    for (int type = HALF_F16; type <= HALF_BF16; type++) {
        struct simulation result = run_problem(quirks, kind, type, problem, problem);
        cr_expect(result.worst_output <= 1 && result.worst_lse <= 1, "%s, type %d: right is outside", what, type);
        result = run_problem(quirks, kind, type, problem, wrong);
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
            struct simulation result = run_problem(&wrong[index].quirks, INPUT_RANDOM, type, &problem, &problem);
            cr_expect(result.worst_output > 1, "%zu, type %d: passes with %g times the bound", index, type,
                      result.worst_output);
        }
}

/* A mean error shows with modifiers as without. */
Test(bound_modifiers, truncating_p_or_o_shows_in_the_mean) {
    const struct quirks kinds_of[] = {{.block = 32},
                                      {.block = 32, .truncate_p = true},
                                      {.block = 32, .truncate_o = true},
                                      {.block = 32, .truncate_p = true, .dropout_at_end = true}};
    for (int which = 0; which < MODIFIERS; which++)
        for (int quirk = 0; quirk < 4; quirk++)
            for (int type = HALF_F16; type <= HALF_BF16; type++) {
                struct reference_problem problem = problem_modified(which);
                struct simulation result = run_problem(&kinds_of[quirk], INPUT_RANDOM, type, &problem, &problem);
                double mean, limit;
                bound_bias_result(&result.bias, type, &mean, &limit);
                cr_expect((fabs(mean) > limit) == (quirk > 0),
                          "modifiers %d, quirks %d, type %d: mean %g, limit %g, %ld rows", which, quirk, type, mean,
                          limit, (long)result.bias.rows);
            }
}

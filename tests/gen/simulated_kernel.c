#include "simulated_kernel.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

const enum input_kind finite_kinds[FINITE_KINDS] = {INPUT_RANDOM,         INPUT_UNBALANCED,     INPUT_IMPULSE,
                                                    INPUT_LARGE,          INPUT_FAR_BELOW_ZERO, INPUT_HUGE,
                                                    INPUT_BELOW_SENTINELS};

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

double simulated_modifier(void *context, double score, const struct reference_place *place) {
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
    float factor_of_o = 1;
    if (sink != -INFINITY && !quirks->sink_first) {
        bool becomes_maximum = sink > m && (!quirks->sink_unscaled || m == -INFINITY);
        float m_new = becomes_maximum ? sink : m, alpha = power_of_two(quirks, m - m_new);
        l = l * alpha + power_of_two(quirks, sink - m_new);
        factor_of_o *= alpha;
        m = m_new;
    }
    factor_of_o *= l > 0 ? 1 / l : 0;
    if (quirks->dropout_at_end)
        factor_of_o *= factor;
    for (int64_t d = 0; d < problem->head_dim_v; d++) {
        float quotient = o[d] * (fabsf(factor_of_o) < 0x1p-126F ? 0 : factor_of_o);
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

struct simulation simulated_run(const struct quirks *quirks, enum input_kind kind, enum half_type type,
                                const struct reference_problem *problem, const struct reference_problem *simulated) {
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

void simulated_bounds(void *context, const struct reference_row *row) {
    double *bounds = context;
    cr_assert(bound_row(HALF_F16, row, 8, 8, bounds + row->query * 9, bounds + row->query * 9 + 8));
}

#include "bound.h"

#include <math.h>
#include <stdlib.h>

/* Notation of this file: e is one unit in the last place of float32, relative; s_j the exact scaled score of key j, m
 * their maximum, w_j = exp(s_j - m), l = sum w_j, a_j = w_j / l, o = sum a_j v_j.
 *
 * The ISA documents do not say how a matrix instruction rounds the sums inside it, so every addition may err by a whole
 * e (a truncating adder does), in whatever order and blocking. Everything else rounds to nearest: e / 2. */
static const double E = 0x1p-23;
static const double FLUSHED = 0x1p-126;   /* largest absolute error of a float32 result that underflows to zero */
static const double SLACK = 1.0 + 0x1p-6; /* products of two errors, and the rounding of the reference itself */

enum { KEYS_PER_TILE_MIN = 16, LANES = 8 };

double bound_unit(enum half_type type) {
    return type == HALF_F16 ? 0x1p-11 : 0x1p-8;
}

/* Half the distance of neighbouring subnormals; bf16's are flushed as float32's are. */
static double bound_absolute(enum half_type type) {
    return type == HALF_F16 ? 0x1p-25 : FLUSHED;
}

/* n factors of (1 + e) are 1 + gamma at most. */
static double gamma_of(double n) {
    return n * E < 1 ? n * E / (1 - n * E) : INFINITY;
}

/* What one row's bound is put together from. */
struct terms {
    int64_t keys;
    double rescales; /* tiles of keys at most: times that o and l may be rescaled */
    double *delta;   /* [keys]: |log of computed weight / exact weight|, up to a factor common to the row */
    double delta_max;
    double
        *weight_error; /* [keys]: |computed a_j - a_j| at most, if P, l and o were exact sums of the computed weights */
    double lse_error;  /* the same of ln sum exp s_j */
};

/* delta_j, in four parts: the dot product (zeros of q add nothing, exactly); three roundings on the way to the exponent
 * (log2 e in float32, times the scale, times the sum); the subtraction of the maximum, together with those of the
 * maxima of later tiles from each other, which telescope to m - s_j; the hardware's 2^x, one e, in P and in each
 * rescaling. */
static void exponent_errors(struct terms *terms, const struct reference_row *row, int64_t head_dim) {
    double nonzero = 0, scale_floor = FLUSHED;
    for (int64_t d = 0; d < head_dim; d++)
        nonzero += row->q[d] != 0;
    double relative = gamma_of(nonzero) + 1.5 * E;
    terms->delta_max = 0;
    for (int64_t j = 0; j < terms->keys; j++) {
        double delta = relative * row->score_mass[j] + E * (row->max - row->score[j]) + (terms->rescales + 1) * E +
                       (nonzero + 2) * scale_floor;
        terms->delta[j] = delta;
        terms->delta_max = fmax(terms->delta_max, delta);
    }
}

/* When every delta is small: exp(delta) <= 1 + delta + delta^2 and exp(-delta) >= 1 - delta. A weight is largest when
 * its own error is up and all others' are down, and the other way round. */
static void weight_errors_small(struct terms *terms, const struct reference_row *row) {
    double low_sum = 0, high_sum = 0, up = 0, down = 0;
    for (int64_t j = 0; j < terms->keys; j++) {
        double a = row->weight[j], delta = terms->delta[j];
        low_sum += a * (1 - delta);
        high_sum += a * (1 + delta + delta * delta);
        up += a * (delta + delta * delta);
        down += a * delta;
    }
    for (int64_t j = 0; j < terms->keys; j++) {
        double a = row->weight[j], delta = terms->delta[j];
        double low = a * (1 - delta), high = a * (1 + delta + delta * delta);
        double largest = high / (high + fmax(low_sum - low, 0)), smallest = low / (low + fmax(high_sum - high, 0));
        terms->weight_error[j] = fmax(largest - a, a - smallest);
    }
    terms->lse_error = fmax(up, down); /* ln(1 + x) <= x; the mean of exp(-x) is exp(-mean x) at least */
}

/* x / (x + rest) with x = exp(log_x) and rest = exp(log_rest) * rest_factor, where either exponential may overflow. */
static double share(double log_x, double log_rest, double rest_factor) {
    return rest_factor > 0 ? 1 / (1 + rest_factor * exp(log_rest - log_x)) : 1;
}

/* The same for any delta, in logarithms. */
static void weight_errors_any(struct terms *terms, const struct reference_row *row) {
    double low_max = -INFINITY, high_max = -INFINITY, low_sum = 0, high_sum = 0;
    for (int64_t j = 0; j < terms->keys; j++) {
        low_max = fmax(low_max, row->score[j] - row->max - terms->delta[j]);
        high_max = fmax(high_max, row->score[j] - row->max + terms->delta[j]);
    }
    for (int64_t j = 0; j < terms->keys; j++) {
        low_sum += exp(row->score[j] - row->max - terms->delta[j] - low_max);
        high_sum += exp(row->score[j] - row->max + terms->delta[j] - high_max);
    }
    for (int64_t j = 0; j < terms->keys; j++) {
        double low = row->score[j] - row->max - terms->delta[j], high = row->score[j] - row->max + terms->delta[j];
        double largest = share(high, low_max, low_sum - exp(low - low_max));
        double smallest = share(low, high_max, high_sum - exp(high - high_max));
        terms->weight_error[j] = fmax(0, fmax(largest - row->weight[j], row->weight[j] - smallest));
    }
    terms->lse_error = fmax(high_max + log(high_sum) - log(row->sum), log(row->sum) - (low_max + log(low_sum)));
}

/* output[d] = sum_j coefficient_j |v_jd| */
static void sum_magnitudes(const struct reference_row *row, int64_t head_dim_v, const double *coefficient,
                           double *output) {
    int64_t d = 0;
    for (; d + LANES <= head_dim_v; d += LANES) {
        double sum[LANES] = {0};
        for (int64_t j = 0; j < row->key_count; j++)
            for (int lane = 0; lane < LANES; lane++)
                sum[lane] += coefficient[j] * fabs(row->v[row->key[j] * head_dim_v + d + lane]);
        for (int lane = 0; lane < LANES; lane++)
            output[d + lane] = sum[lane];
    }
    for (; d < head_dim_v; d++) {
        output[d] = 0;
        for (int64_t j = 0; j < row->key_count; j++)
            output[d] += coefficient[j] * fabs(row->v[row->key[j] * head_dim_v + d]);
    }
}

static double column_maximum(const struct reference_row *row, int64_t head_dim_v, int64_t d) {
    double maximum = 0;
    for (int64_t j = 0; j < row->key_count; j++)
        if (!(fabs(row->v[row->key[j] * head_dim_v + d]) <= maximum))
            maximum = fabs(row->v[row->key[j] * head_dim_v + d]);
    return maximum;
}

/* Whether an infinity of V may meet a weight that the kernel rounds to zero, or a maximum of a later tile that rescales
 * it by zero: their product is NaN. */
static bool infinity_may_vanish(enum half_type type, const struct terms *terms, const struct reference_row *row,
                                int64_t head_dim_v, int64_t d) {
    double least = 4 * bound_absolute(type);
    for (int64_t j = 0; j < row->key_count; j++)
        if (isinf(row->v[row->key[j] * head_dim_v + d]) &&
            row->weight[j] * row->sum * exp(-fmin(terms->delta[j] + terms->delta_max, 1000)) < least)
            return true;
    return false;
}

static void output_bounds(enum half_type type, const struct terms *terms, const struct reference_row *row,
                          int64_t head_dim_v, double *coefficient, double *output) {
    double unit = bound_unit(type);
    /* P rounded, then a sum of its products that is rescaled on the way; l is such a sum of the unrounded weights. */
    double sum_error = gamma_of((double)terms->keys + terms->rescales);
    double product_error = (1 + unit) * (1 + sum_error) - 1;
    /* The key that set the maximum has weight 1, so the computed l is 1 at least, whatever the scores' errors. */
    double l_least = fmax(1, row->sum * exp(-2 * terms->delta_max));
    double p_absolute = bound_absolute(type) / l_least;
    double weight_error_sum = 0;
    for (int64_t j = 0; j < terms->keys; j++) {
        double error = terms->weight_error[j];
        weight_error_sum += error;
        coefficient[j] = error + (row->weight[j] + error) * product_error + p_absolute;
    }
    sum_magnitudes(row, head_dim_v, coefficient, output);
    /* The quotient: l's own error, then a reciprocal and a multiplication. */
    double quotient_error = (1 + 2 * E) / (1 - fmin(sum_error, 0.5)) - 1;
    double underflow = (2 * (double)terms->keys + terms->rescales + 2) * FLUSHED;
    for (int64_t d = 0; d < head_dim_v; d++) {
        double bound = output[d], magnitude = fabs(row->output[d]);
        /* Where scores cannot be told apart: both outputs are means of the same values, so their distance has an end.
         */
        if (weight_error_sum > 1)
            bound = fmin(bound,
                         (2 + product_error + (double)terms->keys * p_absolute) * column_maximum(row, head_dim_v, d));
        bound += (magnitude + bound) * quotient_error + underflow;
        bound += (magnitude + bound) * unit + bound_absolute(type); /* O rounded */
        if (isinf(row->output[d]))
            output[d] = infinity_may_vanish(type, terms, row, head_dim_v, d) ? NAN : 0;
        else
            output[d] = isnan(row->output[d]) ? NAN : bound * SLACK;
    }
}

/* ln 2 * m + ln l in float32: l's own error; m and log2 l each times a rounded ln 2; log2 to one e, near 1 absolute;
 * the sum. */
static double lse_bound(const struct terms *terms, const struct reference_row *row) {
    double sum_error = gamma_of((double)terms->keys + terms->rescales);
    double bound = terms->lse_error + sum_error + E * fabs(row->max) + 2 * E * fabs(log(row->sum)) + E +
                   0.5 * E * fabs(row->lse) + FLUSHED;
    return bound * SLACK;
}

bool bound_row(enum half_type type, const struct reference_row *row, int64_t head_dim, int64_t head_dim_v,
               double *output, double *lse) {
    for (int64_t d = 0; d < head_dim_v; d++)
        output[d] = row->key_count && !isfinite(row->lse) ? NAN : 0;
    *lse = row->key_count && !isfinite(row->lse) ? NAN : 0;
    if (!row->key_count || !isfinite(row->lse))
        return true;
    double *scratch = malloc((size_t)row->key_count * 3 * sizeof(double));
    if (!scratch)
        return false;
    int64_t tiles_at_most = (row->key_count + KEYS_PER_TILE_MIN - 1) / KEYS_PER_TILE_MIN;
    struct terms terms = {.keys = row->key_count,
                          .rescales = (double)tiles_at_most,
                          .delta = scratch,
                          .weight_error = scratch + row->key_count};
    exponent_errors(&terms, row, head_dim);
    if (terms.delta_max <= 0x1p-4)
        weight_errors_small(&terms, row);
    else
        weight_errors_any(&terms, row);
    output_bounds(type, &terms, row, head_dim_v, scratch + 2 * row->key_count, output);
    *lse = lse_bound(&terms, row);
    free(scratch);
    return true;
}

/* Whether the weights of a row differ by enough of the type's steps to be rounded in another way than another row's.
 * Scores scatter, as the weights count them, by about what the weights do, relative. */
static bool weights_differ(enum half_type type, const struct reference_row *row) {
    const double steps = 32;
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < row->key_count; j++)
        mean += row->weight[j] * (row->score[j] - row->max);
    for (int64_t j = 0; j < row->key_count; j++) {
        double difference = row->score[j] - row->max - mean;
        variance += row->weight[j] * difference * difference;
    }
    return sqrt(variance) >= steps * bound_unit(type);
}

/* A row is one sample: P's rounding errors are shared by its elements, and rows are as good as independent. Rows whose
 * weights are all alike, or one of which is nearly all, repeat each other: they are no samples. */
void bound_bias_add(struct bound_bias *bias, enum half_type type, const struct reference_row *row, int64_t head_dim_v,
                    const double *got) {
    if (!weights_differ(type, row))
        return;
    double error[2] = {0, 0}, unit = 0;
    for (int64_t d = 0; d < head_dim_v; d++) {
        double difference = got[d] - row->output[d];
        error[0] += signbit(row->output[d]) ? -difference : difference;
        error[1] += difference;
        unit += bound_unit(type) * fabs(row->output[d]);
    }
    if (!isfinite(error[0]) || !isfinite(unit) || unit == 0)
        return;
    bias->rows++;
    if (row->key_count > bias->keys_max)
        bias->keys_max = row->key_count;
    for (int direction = 0; direction < 2; direction++) {
        bias->sum[direction] += error[direction] / unit;
        bias->sum_squared[direction] += error[direction] / unit * (error[direction] / unit);
    }
}

void bound_bias_merge(struct bound_bias *into, const struct bound_bias *from) {
    into->rows += from->rows;
    if (from->keys_max > into->keys_max)
        into->keys_max = from->keys_max;
    for (int direction = 0; direction < 2; direction++) {
        into->sum[direction] += from->sum[direction];
        into->sum_squared[direction] += from->sum_squared[direction];
    }
}

void bound_bias_result(const struct bound_bias *bias, enum half_type type, double *mean, double *limit) {
    *mean = *limit = NAN;
    if (bias->rows < 32) /* the scatter of fewer says little */
        return;
    /* Six standard errors of the mean, as the rows scatter about it; and what may be left on average: float32 sums that
     * truncate, half an e for each key, and 1/16 for the rest. Truncating P or O to the type makes about -0.7. */
    double systematic = 0x1p-4 + (double)bias->keys_max * 0.5 * E / bound_unit(type);
    double rows = (double)bias->rows;
    for (int direction = 0; direction < 2; direction++) {
        double average = bias->sum[direction] / rows;
        double variance = fmax(bias->sum_squared[direction] / rows - average * average, 0) * rows / (rows - 1);
        double allowed = 6 * sqrt(variance / rows) + systematic;
        if (direction == 0 || fabs(average) / allowed > fabs(*mean) / *limit) {
            *mean = average;
            *limit = allowed;
        }
    }
}

#include "bound.h"

#include <math.h>
#include <stdlib.h>

/* Notation of this file: e is one unit in the last place of float32, relative; s_j the exact scaled score of key j, m
 * their maximum, w_j = exp(s_j - m), l = sum w_j, a_j = w_j / l, o = sum a_j v_j.
 *
 * The ISA documents do not say how a matrix instruction rounds the sums inside it, so every addition may err by a whole
 * e (a truncating adder does), in whatever order and blocking. Everything else rounds to nearest: e / 2. */
static const double E = 0x1p-23;
static const double FLUSHED = 0x1p-126; /* largest absolute error of a float32 result that underflows to zero */
static const double LN_FLT_MAX = 88.7;
static const double SLACK = 1.0 + 0x1p-6; /* products of two errors, and the rounding of the reference itself */

enum { KEYS_PER_TILE_MIN = 16, LANES = 8 };

double bound_unit(enum half_type type) {
    return type == HALF_F16 ? 0x1p-11 : 0x1p-8;
}

/* Half the distance of neighbouring subnormals; bf16's are flushed as float32's are. */
static double bound_absolute(enum half_type type) {
    return type == HALF_F16 ? 0x1p-25 : FLUSHED;
}

/* Weights as operands: of a type, or fp8 of e4m3's kind, whose numbers have three bits of fraction; the largest
 * weight lies at 2^7 or above, of the fnuz kind at 2^6, and neighbouring subnormals are 2^-9 apart, 2^-10. */
static double weight_unit(enum half_type type, const struct reference_problem *problem) {
    return problem->fp8_weights ? 0x1p-4 : bound_unit(type);
}

static double weight_absolute(enum half_type type, const struct reference_problem *problem) {
    return problem->fp8_weights ? 0x1p-17 : bound_absolute(type);
}

/* n factors of (1 + e) are 1 + gamma at most. */
static double gamma_of(double n) {
    return n * E < 1 ? n * E / (1 - n * E) : INFINITY;
}

/* What one row's bound is put together from. Arrays are indexed as the row's are; a sink is one entry more. */
struct terms {
    int64_t keys, entries;
    double rescales;      /* tiles of keys at most: times that o and l may be rescaled; the sink may do so once */
    double *share;        /* [entries]: a_j */
    double *below;        /* [entries]: s_j - m, 0 or less */
    double *delta;        /* [entries]: |log of computed weight / exact weight|, up to a factor common to the row */
    double *weight_error; /* [entries]: |computed a_j - a_j| at most, if P, l and o were exact sums of the weights */
    double delta_max;
    double lse_error; /* of ln sum exp s_j */
};

/* cap tanh(x / cap), computed as cap - 2 cap / (1 + 2^t) with t = 2 log2 e / cap x. What x is off by passes through the
 * function as it is: that is the difference of two values of it. Of the rest, 2^t errs by one e, which moves
 * r = 1 / (1 + 2^t) by e r (1 - r), e / 4 at most; the sum by half an e of r, its reciprocal by one, r being 1 or less;
 * the factor 2 cap log2 e has log2 e and a product rounded, and its product with r: 2 cap (1/4 + 3) e. The minuend is
 * off by e cap, the difference rounded by e / 2 cap: 8 e cap. Forms of |x| and of (2^t - 1) / (2^t + 1) stay below. */
static double capped_error(double cap, double x, double error) {
    double value = cap * tanh(x / cap);
    double passed = fmax(cap * tanh((x + error) / cap) - value, value - cap * tanh((x - error) / cap));
    return passed + 8 * E * cap;
}

/* A user's modifier may bend the score as it likes between what it may be given; and is trusted to err by 8 e of the
 * larger of what it is given and what it returns, once multiplied by log2 e. */
static double modified_error(const struct reference_row *row, int64_t j, double error) {
    const struct reference_problem *problem = row->problem;
    struct reference_place place = {row->batch,
                                    row->head,
                                    row->query,
                                    row->key[j],
                                    reference_seqlen_q(problem, row->batch),
                                    reference_seqlen_k(problem, row->batch)};
    double given = row->unmodified[j], returned = row->score[j];
    double above = fabs(problem->modify(problem->modify_context, given + error, &place) - returned);
    double under = fabs(problem->modify(problem->modify_context, given - error, &place) - returned);
    return fmax(above, under) + 8 * E * fmax(fabs(given), fabs(returned));
}

/* How far a score may be off, in natural units, and what is common to all keys of a row left out. First the dot product
 * (zeros of q add nothing, exactly) and three roundings (log2 e in float32, times the scale, times the sum); a factor
 * of the head is a fourth. With a cap the factor is divided by it as well: a reciprocal and a product, 1.5 e.
 *
 * ALiBi: the distance is exact below 2^24; log2 e, the slope times it and the product with the distance are rounded.
 * Bias: exact as it comes; log2 e and the product are rounded. So 1.5 e of either, and half an e for each sum, whose
 * result is the last score or less than all that was added away from it. Fused multiply-adds round less often. */
static double score_error(const struct reference_row *row, int64_t j, double nonzero) {
    const struct reference_problem *problem = row->problem;
    double relative = gamma_of(nonzero) + 1.5 * E + (problem->head_scale ? 0.5 * E : 0);
    relative += (problem->k_scaled ? 0.5 * E : 0) + (problem->fp8_weights ? 0.5 * E : 0);
    if (problem->softcap > 0)
        relative += 1.5 * E;
    double error = relative * row->score_mass[j] + (nonzero + 2) * FLUSHED;
    if (problem->softcap > 0)
        error = capped_error(problem->softcap, row->scaled[j], error);
    int sums = (problem->alibi != NULL) + (problem->bias.values != NULL);
    if (sums)
        error += 1.5 * E * row->added_mass[j] + 0.5 * E * sums * (fabs(row->unmodified[j]) + row->added_mass[j]) +
                 2 * sums * FLUSHED;
    return problem->modify ? modified_error(row, j, error) : error;
}

/* Where the keys were split, each part's weights are weighed by its LSE: that of lse_bound, whose sizes are at most
 * those of all scores. A key's own part may lie as far off as all others together. */
static void add_split_errors(struct terms *terms, const struct reference_row *row) {
    double largest = 0;
    for (int64_t j = 0; j < terms->keys; j++)
        largest = fmax(largest, fabs(row->score[j]));
    double log_sum = log((double)terms->entries + 1);
    double of_lse = 1.5 * E * largest + 2.5 * E * log_sum + E + gamma_of((double)terms->keys + terms->rescales);
    for (int64_t j = 0; j < terms->entries; j++) {
        terms->delta[j] += of_lse;
        terms->delta_max = fmax(terms->delta_max, terms->delta[j]);
    }
}

/* delta_j, in three parts: the score; the subtraction of the maximum, together with those of the maxima of later tiles
 * from each other, which telescope to m - s_j; the hardware's 2^x, one e, in P and in each rescaling. A sink is a score
 * that is log2 e, rounded, times what was given, rounded. */
static void exponent_errors(struct terms *terms, const struct reference_row *row, int64_t head_dim) {
    double nonzero = 0;
    for (int64_t d = 0; d < head_dim; d++)
        nonzero += row->q[d] != 0;
    terms->delta_max = 0;
    for (int64_t j = 0; j < terms->entries; j++) {
        bool is_key = j < terms->keys;
        terms->below[j] = (is_key ? row->score[j] : row->sink) - row->max;
        terms->share[j] = is_key ? row->weight[j] : exp(terms->below[j]) / row->sum;
        terms->delta[j] = (is_key ? score_error(row, j, nonzero) : E * fabs(row->sink) + FLUSHED) -
                          E * terms->below[j] + (terms->rescales + 1) * E;
        terms->delta_max = fmax(terms->delta_max, terms->delta[j]);
    }
    if (row->problem->splits > 1)
        add_split_errors(terms, row);
}

/* When every delta is small: exp(delta) <= 1 + delta + delta^2 and exp(-delta) >= 1 - delta. A weight is largest when
 * its own error is up and all others' are down, and the other way round. */
static void weight_errors_small(struct terms *terms) {
    double low_sum = 0, high_sum = 0, up = 0, down = 0;
    for (int64_t j = 0; j < terms->entries; j++) {
        double a = terms->share[j], delta = terms->delta[j];
        low_sum += a * (1 - delta);
        high_sum += a * (1 + delta + delta * delta);
        up += a * (delta + delta * delta);
        down += a * delta;
    }
    for (int64_t j = 0; j < terms->entries; j++) {
        double a = terms->share[j], delta = terms->delta[j];
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
static void weight_errors_any(struct terms *terms, double sum) {
    double low_max = -INFINITY, high_max = -INFINITY, low_sum = 0, high_sum = 0;
    for (int64_t j = 0; j < terms->entries; j++) {
        low_max = fmax(low_max, terms->below[j] - terms->delta[j]);
        high_max = fmax(high_max, terms->below[j] + terms->delta[j]);
    }
    for (int64_t j = 0; j < terms->entries; j++) {
        low_sum += exp(terms->below[j] - terms->delta[j] - low_max);
        high_sum += exp(terms->below[j] + terms->delta[j] - high_max);
    }
    for (int64_t j = 0; j < terms->entries; j++) {
        double low = terms->below[j] - terms->delta[j], high = terms->below[j] + terms->delta[j];
        double largest = share(high, low_max, low_sum - exp(low - low_max));
        double smallest = share(low, high_max, high_sum - exp(high - high_max));
        terms->weight_error[j] = fmax(0, fmax(largest - terms->share[j], terms->share[j] - smallest));
    }
    terms->lse_error = fmax(high_max + log(high_sum) - log(sum), log(sum) - (low_max + log(low_sum)));
}

/* output[d] = sum_j coefficient_j |v_jd| */
static void sum_magnitudes(const struct reference_row *row, int64_t head_dim_v, const double *coefficient,
                           double *output) {
    int64_t d = 0;
    for (; d + LANES <= head_dim_v; d += LANES) {
        double sum[LANES] = {0};
        for (int64_t j = 0; j < row->key_count; j++)
            for (int lane = 0; lane < LANES; lane++)
                sum[lane] += coefficient[j] * fabs(row->v[row->key[j] * row->v_stride + d + lane]);
        for (int lane = 0; lane < LANES; lane++)
            output[d + lane] = sum[lane];
    }
    for (; d < head_dim_v; d++) {
        output[d] = 0;
        for (int64_t j = 0; j < row->key_count; j++)
            output[d] += coefficient[j] * fabs(row->v[row->key[j] * row->v_stride + d]);
    }
}

/* Of the row's key head, by key number. */
static const double *v_scales_of(const struct reference_row *row) {
    const struct reference_problem *problem = row->problem;
    int64_t head_k = row->batch * problem->heads_k + row->head / (problem->heads_q / problem->heads_k);
    return problem->v_scale + head_k * problem->seqlen_k;
}

/* The largest finite scale of V that the row sees. */
static double largest_v_scale(const struct reference_row *row) {
    double largest = 0;
    for (int64_t j = 0; row->problem->v_scale && j < row->key_count; j++)
        if (isfinite(v_scales_of(row)[row->key[j]]))
            largest = fmax(largest, v_scales_of(row)[row->key[j]]);
    return largest;
}

static double column_maximum(const struct reference_row *row, int64_t d) {
    double maximum = 0;
    for (int64_t j = 0; j < row->key_count; j++)
        if (!(fabs(row->v[row->key[j] * row->v_stride + d]) <= maximum))
            maximum = fabs(row->v[row->key[j] * row->v_stride + d]);
    return maximum;
}

/* A weight that becomes an operand times its key's scale is smaller by it than the largest such one at most, as which
 * f16 keeps it; bf16 has exponents for all. 1 without such scales. */
static double operand_share(enum half_type type, const struct reference_row *row, int64_t j, double largest) {
    const struct reference_problem *problem = row->problem;
    if (!problem->v_scale)
        return 1;
    double scale = v_scales_of(row)[row->key[j]];
    return scale > 0 ? (type == HALF_F16 || problem->fp8_weights ? largest : 1) / scale : 1;
}

/* Whether an infinity of V may meet a weight that the kernel rounds to zero or drops, or a maximum of a later tile that
 * rescales it by zero: their product is NaN. */
static bool infinity_may_vanish(enum half_type type, const struct terms *terms, const struct reference_row *row,
                                int64_t d) {
    double largest = largest_v_scale(row);
    for (int64_t j = 0; j < row->key_count; j++)
        if (isinf(row->v[row->key[j] * row->v_stride + d]) &&
            ((row->kept && !row->kept[j]) ||
             row->weight[j] * row->sum * exp(-fmin(terms->delta[j] + terms->delta_max, 1000)) <
                 4 * weight_absolute(type, row->problem) * operand_share(type, row, j, largest)))
            return true;
    return false;
}

static void output_bounds(enum half_type type, const struct terms *terms, const struct reference_row *row,
                          int64_t head_dim_v, double *coefficient, double *output) {
    const enum half_type weights = row->problem->bf16_weights ? HALF_BF16 : type;
    /* P rounded, then a sum of its products that is rescaled on the way; l is such a sum of the unrounded weights. */
    double sum_error = gamma_of((double)terms->keys + terms->rescales);
    double product_error =
        (1 + weight_unit(weights, row->problem)) * (1 + sum_error) * (row->problem->v_scale ? 1 + 0.5 * E : 1) - 1;
    double largest_scale = largest_v_scale(row), operand_shares = 0;
    /* The key that set the maximum has weight 1, so the computed l is 1 at least, whatever the scores' errors. */
    double l_least = fmax(1, row->sum * exp(-2 * terms->delta_max));
    double p_absolute = weight_absolute(weights, row->problem) / l_least;
    double weight_error_sum = 0, factor = row->keep_factor;
    for (int64_t j = 0; j < terms->keys; j++) {
        double error = terms->weight_error[j];
        double absolute = p_absolute * operand_share(weights, row, j, largest_scale);
        weight_error_sum += error;
        operand_shares += absolute;
        coefficient[j] = factor * (error + (row->weight[j] + error) * product_error + absolute);
        if (row->kept && !row->kept[j])
            coefficient[j] = 0; /* a dropped weight is a zero */
    }
    sum_magnitudes(row, head_dim_v, coefficient, output);
    /* The quotient: l's own error, then a reciprocal and a multiplication. Dropout's factor has a difference rounded, a
     * reciprocal, and a product: of each weight before it becomes P, or of O. */
    double quotient_error =
        (1 + ((row->kept ? 5 : 2) + (row->problem->v_scaled ? 1 : 0)) * E) / (1 - fmin(sum_error, 0.5)) - 1;
    double underflow = (2 * (double)terms->keys + terms->rescales + 2) * FLUSHED;
    for (int64_t d = 0; d < head_dim_v; d++) {
        double bound = output[d], magnitude = fabs(row->output[d]);
        /* Where scores cannot be told apart: both outputs are means of the same values, so their distance has an end.
         */
        if (weight_error_sum > 1)
            bound = fmin(bound, factor * (2 + product_error + operand_shares) * column_maximum(row, d));
        bound += (magnitude + bound) * quotient_error + underflow;
        bound += (magnitude + bound) * bound_unit(type) + bound_absolute(type); /* O rounded */
        if (isinf(row->output[d]))
            output[d] = infinity_may_vanish(weights, terms, row, d) ? NAN : 0;
        else
            output[d] = isnan(row->output[d]) ? NAN : bound * SLACK;
    }
}

/* ln 2 * m + ln l in float32: l's own error; m and log2 l each times a rounded ln 2; log2 to one e, near 1 absolute;
 * the sum. A sink may join l without becoming its maximum as long as l does not overflow: m is then that of the keys.
 */
static double lse_bound(const struct terms *terms, const struct reference_row *row) {
    double sum_error = gamma_of((double)terms->keys + terms->rescales);
    double maximum = fabs(row->max), log_sum = fabs(log(row->sum)), of_keys = -INFINITY;
    for (int64_t j = 0; j < terms->keys; j++)
        of_keys = fmax(of_keys, row->score[j]);
    if (terms->keys && row->sink - of_keys < LN_FLT_MAX) {
        maximum = fmax(maximum, fabs(of_keys));
        log_sum = fmax(log_sum, fabs(row->lse - of_keys));
    }
    double bound =
        terms->lse_error + sum_error + E * maximum + 2 * E * log_sum + E + 0.5 * E * fabs(row->lse) + FLUSHED;
    return bound * SLACK;
}

/* Blocks of 16 keys in which the row sees one: no kernel has more tiles with a key of the row. (Where tiles begin
 * elsewhere there may be one more; but the first one has nothing to rescale.) */
static int64_t tiles_at_most(const struct reference_row *row) {
    int64_t tiles = 0;
    for (int64_t j = 0; j < row->key_count; j++)
        tiles += j == 0 || row->key[j] / KEYS_PER_TILE_MIN != row->key[j - 1] / KEYS_PER_TILE_MIN;
    return tiles;
}

bool bound_row(enum half_type type, const struct reference_row *row, int64_t head_dim, int64_t head_dim_v,
               double *output, double *lse) {
    bool has_sink = row->sink != -INFINITY;
    int64_t entries = row->key_count + has_sink;
    for (int64_t d = 0; d < head_dim_v; d++)
        output[d] = row->key_count && !isfinite(row->lse) ? NAN : 0;
    *lse = entries && !isfinite(row->lse) ? NAN : 0;
    if (!entries || !isfinite(row->lse))
        return true;
    double *scratch = malloc((size_t)entries * 5 * sizeof *scratch);
    if (!scratch)
        return false;
    struct terms terms = {.keys = row->key_count,
                          .entries = entries,
                          .rescales = (double)(tiles_at_most(row) + has_sink),
                          .share = scratch,
                          .below = scratch + entries,
                          .delta = scratch + 2 * entries,
                          .weight_error = scratch + 3 * entries};
    exponent_errors(&terms, row, head_dim);
    if (terms.delta_max <= 0x1p-4)
        weight_errors_small(&terms);
    else
        weight_errors_any(&terms, row->sum);
    if (row->key_count)
        output_bounds(type, &terms, row, head_dim_v, scratch + 4 * entries, output);
    *lse = lse_bound(&terms, row);
    free(scratch);
    return true;
}

/* The score as far as a capped one follows it. */
static double followed(double cap, double score) {
    double ratio = cap > 0 ? tanh(score / cap) : 0, slope = 1 - ratio * ratio;
    return slope > 0 ? slope * score : 0; /* also of an infinite one */
}

/* Whether a row's rounding errors are its own and the type's. They are not
 * - where its weights differ by too little to be rounded in another way than those of other rows. q.k scatters, as the
 *   weights count it, by about what they do, relative; where a cap is reached it moves them no more, and what else is
 *   added to scores is the same in many rows;
 * - where float32's errors of scores are as large as the type's of weights;
 * - where a sink outweighs all keys by so much that P is made of subnormals, or of zeros. */
static bool is_sample(enum half_type type, const struct reference_row *row) {
    const double steps = 32, cap = row->problem->softcap;
    double mean = 0, square = 0, of_keys = 0, mass = 0, largest = 0;
    for (int64_t j = 0; j < row->key_count; j++) {
        double a = row->weight[j];
        of_keys += a; /* less than 1 with a sink */
        largest = fmax(largest, a);
        mass += a * (row->score_mass[j] + row->added_mass[j] + cap);
        mean += a * followed(cap, row->scaled[j]);
    }
    for (int64_t j = 0; j < row->key_count; j++) {
        double difference = followed(cap, row->scaled[j]) - mean / of_keys;
        square += row->weight[j] * difference * difference;
    }
    return sqrt(square / of_keys) >= steps * weight_unit(type, row->problem) &&
           E * mass / of_keys <= bound_unit(type) / 8 && largest * row->sum >= 0x1p-4;
}

/* The heaviest key's weight is 1. Dropout's factor times it is rounded alike in each row, unless it is applied to O,
 * and so is the key's scale of V: so much of a row's error, in units of the type, may be the same in all rows. */
static double common_error(enum half_type type, const struct reference_row *row, int64_t head_dim_v, double unit) {
    int64_t heaviest = 0;
    for (int64_t j = 1; j < row->key_count; j++)
        heaviest = row->weight[j] > row->weight[heaviest] ? j : heaviest;
    double factor = row->keep_factor * (row->problem->v_scale ? v_scales_of(row)[row->key[heaviest]] : 1);
    if ((row->kept && !row->kept[heaviest]) || (!row->kept && !row->problem->v_scale) || !(factor > 0))
        return 0;
    double magnitude = 0, digits = ldexp(factor, -ilogb(factor));
    double relative = fabs(half_to_double(type, half_from_double(type, digits)) - digits) / digits;
    for (int64_t d = 0; d < head_dim_v; d++)
        magnitude += fabs(row->v[row->key[heaviest] * row->v_stride + d]);
    return relative * row->keep_factor * row->weight[heaviest] * magnitude / unit;
}

/* A row is one sample: P's rounding errors are shared by its elements, and rows are as good as independent. */
void bound_bias_add(struct bound_bias *bias, enum half_type type, const struct reference_row *row, int64_t head_dim_v,
                    const double *got) {
    if (!is_sample(type, row))
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
    bias->common += common_error(type, row, head_dim_v, unit);
    if (row->key_count > bias->keys_max)
        bias->keys_max = row->key_count;
    for (int direction = 0; direction < 2; direction++) {
        bias->sum[direction] += error[direction] / unit;
        bias->sum_squared[direction] += error[direction] / unit * (error[direction] / unit);
    }
}

void bound_bias_merge(struct bound_bias *into, const struct bound_bias *from) {
    into->rows += from->rows;
    into->common += from->common;
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
     * truncate, half an e for each key, what is common to all, and 1/16 for the rest. Truncating P or O to the type
     * makes about -0.7. */
    double rows = (double)bias->rows;
    double systematic = 0x1p-4 + (double)bias->keys_max * 0.5 * E / bound_unit(type) + bias->common / rows;
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

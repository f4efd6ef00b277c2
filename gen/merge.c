#include "merge.h"

#include <math.h>

/* Notation of this file: e is one unit in the last place of float32, relative; m the largest LSE_s of the row,
 * d_s = LSE_s - m, w_s = exp(d_s), l = sum w_s, a_s = w_s / l, O = sum a_s O_s. Sums run over the n partial results
 * that are present: one with an LSE of -inf has the weight 0, and what stands in its O is not looked at. */
static const double E = 0x1p-23;
static const double FLUSHED = 0x1p-126;   /* largest absolute error of a float32 result that underflows to zero */
static const double SLACK = 1.0 + 0x1p-6; /* products of two errors, and the rounding of the reference itself */

/* n factors of (1 + e) are 1 + gamma at most. */
static double gamma_of(double n) {
    return n * E / (1 - n * E);
}

static float lse_of(const struct merge_problem *problem, int64_t split, int64_t row) {
    return problem->lse[split * problem->rows + row];
}

static float o_of(const struct merge_problem *problem, int64_t split, int64_t row, int64_t d) {
    return problem->o[(split * problem->rows + row) * problem->head_dim_v + d];
}

/* How far a computed weight may be from exp(d). The difference of two LSE is rounded, so is log2 e and so is their
 * product: half an e of d each. 2^x errs by one e, and what is below 2^-126 becomes 0. Of the largest LSE all that is
 * exact. */
static double weight_error(double d) {
    double delta = -1.5 * E * d + E;
    return d == 0 ? 0 : fmax(exp(d + delta) - exp(d), exp(d) - exp(d - delta)) + FLUSHED;
}

/* What a row's bounds are put together from. */
struct terms {
    double m, l, l_error; /* l_error: of the sum of computed weights, were it exact */
    double sum_error;     /* of l, relative: n - 1 additions, each of a whole e */
};

static struct terms sum_weights(const struct merge_problem *problem, int64_t row, struct merge_row *result) {
    struct terms terms = {.m = -INFINITY};
    result->present = 0;
    for (int64_t s = 0; s < problem->splits; s++) {
        float lse = lse_of(problem, s, row);
        result->present += lse != -INFINITY;
        terms.m = lse > terms.m ? lse : terms.m;
    }
    for (int64_t s = 0; s < problem->splits; s++) {
        float lse = lse_of(problem, s, row);
        if (lse == -INFINITY)
            continue;
        terms.l += exp((double)lse - terms.m); /* NAN where an LSE is NAN or +inf */
        terms.l_error += weight_error((double)lse - terms.m);
    }
    terms.sum_error = gamma_of((double)(result->present > 1 ? result->present - 1 : 0));
    return terms;
}

/* m + ln 2 log2 l: the error of l, relative; one e of log2 l, which near 1 is taken as absolute; ln 2 and its product,
 * half an e each; and the sum rounded. Without a second partial result l is 1, and LSE that of the first. */
static double lse_error(const struct terms *terms, const struct merge_row *result) {
    if (isnan(result->lse))
        return NAN;
    if (result->present < 2)
        return 0;
    double of_l = (terms->l_error / terms->l + terms->sum_error) / (1 - terms->l_error / terms->l);
    return (of_l + 2 * E * log(terms->l) + E + 0.5 * E * fabs(result->lse)) * SLACK;
}

/* The weight a_s that a kernel computes is (w_s + dw_s) / (l + dl) with l + dl >= 1, for the largest weight is 1: off
 * by dw_s + a_s dl at most. The sum of weights errs, its reciprocal by e, and their product by e / 2; then n products
 * are added up. With one partial result its weight is 1 and nothing is rounded. */
static void add_output(const struct merge_problem *problem, const struct terms *terms, int64_t row, int64_t d,
                       struct merge_row *result) {
    double n = (double)result->present, error = 0, least_weight = INFINITY;
    double o = result->present ? -0.0 : 0; /* which adds nothing, not even to a zero's sign */
    double sums = (1 + 1.5 * E) * (1 + gamma_of(n)) / (1 - terms->sum_error) - 1;
    for (int64_t s = 0; s < problem->splits; s++) {
        float lse = lse_of(problem, s, row);
        if (lse == -INFINITY)
            continue;
        double below = (double)lse - terms->m, a = exp(below) / terms->l, value = o_of(problem, s, row, d);
        double off = weight_error(below) + a * terms->l_error;
        o += a > 0 || isfinite(value) ? a * value : value; /* a weight that float64 does not hold is none of 0 */
        error += (off + (a + off) * sums) * fabs(value);
        least_weight = isinf(value) ? fmin(least_weight, a) : least_weight;
    }
    result->o[d] = o;
    if (isnan(o) || (isinf(o) && least_weight < 4 * FLUSHED))
        result->o_error[d] = NAN; /* an infinity whose weight may be rounded to 0 may become NAN */
    else
        result->o_error[d] = isinf(o) || result->present < 2 ? 0 : (error + (2 * n + 2) * FLUSHED) * SLACK;
}

void merge_row(const struct merge_problem *problem, int64_t row, struct merge_row *result) {
    struct terms terms = sum_weights(problem, row, result);
    result->lse = result->present ? terms.m + log(terms.l) : -INFINITY;
    result->lse_error = lse_error(&terms, result);
    for (int64_t d = 0; d < problem->head_dim_v; d++)
        add_output(problem, &terms, row, d, result);
}

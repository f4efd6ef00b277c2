/* How far a right kernel may be from the float64 reference, element by element, and how far on average. The derivation
 * is in docs/verification.md; the steps are named beside the code. */
#ifndef GEN_BOUND_H
#define GEN_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "halves.h"
#include "reference.h"

/* Bounds of one row from what the reference saw of it: output[head_dim_v] and *lse, absolute, 0 where the value must be
 * exact (O without a visible key, LSE without one and without a sink, an infinity), NAN where the kernel may give NAN:
 * the reference is NAN, or it is an infinity of V whose weight the kernel may round to zero. `type`: of the inputs, of
 * P and of O. Returns false when there is no memory. Safe with threads. */
bool bound_row(enum half_type type, const struct reference_row *row, int64_t head_dim, int64_t head_dim_v,
               double *output, double *lse);

/* Half a unit in the last place, relative: 2^-11 of f16, 2^-8 of bf16. */
double bound_unit(enum half_type type);

/* The signed mean error, in two directions: away from zero (a truncated P or O makes it negative) and upward. A row's
 * error is that of its elements together, in units of bound_unit x sum |expected|. */
struct bound_bias {
    int64_t rows, keys_max;
    double sum[2], sum_squared[2]; /* of the rows' errors; [0] away from zero, [1] upward */
    double common;                 /* sum of what of each row's error may be the same in all */
};

/* Adds the errors of one row, got - expected. Left out are rows with a value that is not finite and rows whose
 * errors are not their own and the type's: weights too much alike, scores or a sink too large. */
void bound_bias_add(struct bound_bias *bias, enum half_type type, const struct reference_row *row, int64_t head_dim_v,
                    const double *got);

/* Joins what two threads have counted. */
void bound_bias_merge(struct bound_bias *into, const struct bound_bias *from);

/* The mean of the direction that is nearer to its limit, in units of bound_unit x |expected|, and that limit. Both NAN
 * when there are too few rows for a statement. */
void bound_bias_result(const struct bound_bias *bias, enum half_type type, double *mean, double *limit);

#endif

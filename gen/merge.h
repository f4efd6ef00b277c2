/* The reference of the operation merge: partial results of attention over parts of the keys put together, in float64 by
 * plain loops; and how far a right kernel may be from it, as docs/verification.md derives it. */
#ifndef GEN_MERGE_H
#define GEN_MERGE_H

#include <stdint.h>

struct merge_problem {
    int64_t splits, rows, head_dim_v; /* 0 and up */
    const float *o;                   /* [splits][rows][head_dim_v] */
    const float *lse;                 /* [splits][rows], natural logarithms */
};

struct merge_row {
    int64_t present;       /* partial results with another LSE than -inf */
    double lse, lse_error; /* lse_error: 0 where it must be exact; NAN with an LSE of NAN */
    double *o;             /* [head_dim_v] */
    double *o_error;       /* [head_dim_v]: of O before it is rounded; NAN: NAN is right as well as o */
};

/* Computes one row; its arrays are the caller's. Needs no memory of its own; safe with threads. */
void merge_row(const struct merge_problem *problem, int64_t row, struct merge_row *result);

#endif

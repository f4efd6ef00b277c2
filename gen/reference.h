/* Attention in float64, the yardstick of verification. It shares nothing with templates or runtime: inputs are the
 * doubles that the kernel's rounded inputs stand for, the mask is written down here again. */
#ifndef GEN_REFERENCE_H
#define GEN_REFERENCE_H

#include <stdint.h>

#include "error.h"

enum reference_mask {
    REFERENCE_MASK_NONE,
    REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, /* query i sees keys j <= i + (seqlen_k - seqlen_q) */
    REFERENCE_MASK_CAUSAL_TOP_LEFT      /* query i sees keys j <= i */
};

struct reference_problem {
    int64_t batch, heads_q, heads_k, seqlen_q, seqlen_k, head_dim, head_dim_v; /* heads_q a multiple of heads_k */
    enum reference_mask mask;
    double scale;
    const double *q; /* [batch][heads_q][seqlen_q][head_dim] */
    const double *k; /* [batch][heads_k][seqlen_k][head_dim] */
    const double *v; /* [batch][heads_k][seqlen_k][head_dim_v] */
};

/* One query row, seen while its weights exist. Arrays are indexed by key, from 0 to key_count - 1: those that the row
 * sees. */
struct reference_row {
    int64_t batch, head, query;
    int64_t key_count;
    const double *q;          /* [head_dim] */
    const double *v;          /* of the row's key head, [seqlen_k][head_dim_v] */
    const double *score;      /* scale * sum_d q_d k_jd; NaN and infinities as arithmetic gives them */
    const double *score_mass; /* |scale| * sum_d |q_d| |k_jd| */
    const double *weight;     /* exp(score - max) / sum: they sum to 1; all NaN when a score is */
    double max, sum;          /* of the scores, and of exp(score - max); -inf and 0 when no key is seen */
    double lse;               /* max + ln sum; -inf when no key is seen */
    const double *output;     /* [head_dim_v]: sum_j weight_j v_j; zeros when no key is seen */
};

/* Called once for each row, by several threads at once, rows of one head by one thread. */
typedef void (*reference_visit)(void *context, const struct reference_row *row);

/* Fills output [batch][heads_q][seqlen_q][head_dim_v] and lse [batch][heads_q][seqlen_q]. `visit` may be NULL.
 * `threads`: 0 for as many as there are processors. */
bool reference_run(const struct reference_problem *problem, double *output, double *lse, reference_visit visit,
                   void *context, int threads, struct error *error);

/* How many keys query `query` sees, from key 0 on. */
int64_t reference_visible_keys(enum reference_mask mask, int64_t query, int64_t seqlen_q, int64_t seqlen_k);

#endif

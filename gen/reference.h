/* Attention in float64, the yardstick of verification. It shares nothing with templates or runtime: inputs are the
 * doubles that the kernel's rounded inputs stand for, masks and modifiers of scores are written down here again.
 *
 * Tensors are rectangular whatever the kernel's layout is: a packed, padded or paged batch is one with `lengths_q` and
 * `lengths_k`, and what lies past a sequence's length does not exist. */
#ifndef GEN_REFERENCE_H
#define GEN_REFERENCE_H

#include <stdint.h>

#include "error.h"

enum reference_mask {
    REFERENCE_MASK_NONE,
    REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, /* query i sees keys j <= i + (seqlen_k - seqlen_q) of its sequence */
    REFERENCE_MASK_CAUSAL_TOP_LEFT      /* query i sees keys j <= i */
};

/* A value for each batch, head, row and column: strides in elements, any of them 0; columns are contiguous. */
struct reference_plane {
    const void *values; /* NULL: off */
    int64_t stride_batch, stride_head, stride_row;
};

struct reference_place {
    int64_t batch, head, query, key;
    int64_t seqlen_q, seqlen_k; /* of the sequence */
};

/* What is zero or NULL is off. */
struct reference_problem {
    int64_t batch, heads_q, heads_k, seqlen_q, seqlen_k, head_dim, head_dim_v; /* heads_q a multiple of heads_k */
    enum reference_mask mask;
    double scale;
    const double *q; /* [batch][heads_q][seqlen_q][head_dim] */
    const double *k; /* [batch][heads_k][seqlen_k][head_dim] */
    const double *v; /* [batch][heads_k][seqlen_k][head_dim_v]; not looked at where it is a view of k */
    bool v_in_k;     /* V is the first head_dim_v elements of K's rows */

    const int64_t *lengths_q, *lengths_k; /* [batch], rows of a sequence that exist; NULL: all */

    /* Which keys a row sees: see reference_sees. */
    bool window;
    int64_t window_left, window_right; /* keys beside the diagonal; -1: unbounded */
    int64_t sink_keys;                 /* the first keys, exempt from window_left */
    const int64_t *prefix;             /* [batch]: keys that all rows see, whatever the diagonal and window_right say */
    struct reference_plane attn_mask;  /* uint8_t of each query and key; 0 hides */
    struct reference_plane block_mask; /* uint8_t of each block of queries and keys; 0 hides */
    int64_t block_mask_q, block_mask_k; /* queries and keys of such a block */

    /* Scores, in this order: scale * head_scale * q.k, capped, plus ALiBi, plus bias, modified. */
    const double *head_scale;    /* [heads_q] */
    double softcap;              /* score = softcap * tanh(score / softcap) */
    const double *alibi;         /* [batch][heads_q], slopes: -slope * |diagonal - key| is added */
    struct reference_plane bias; /* double of each query and key; at or below -FLT_MAX ln 2 it hides */
    /* A user's own. -INFINITY hides the key; whether it is returned must not depend on the score. */
    double (*modify)(void *context, double score, const struct reference_place *place);
    void *modify_context;

    const double *sink; /* [heads_q]: a score without a value, in the denominator and LSE; -INFINITY: none */

    /* Of values that a kernel reads as numbers with float32 scales, for bounds alone. */
    bool bf16_weights;       /* weights become bf16, whatever the type of O; for bounds alone, too */
    bool k_scaled, v_scaled; /* it multiplies scores, and O or weights, by them */
    const double *v_scale;   /* [batch][heads_k][seqlen_k]: magnitudes where weights are multiplied; NULL: O is */
    bool fp8_weights;        /* they become fp8, and Q is fp8 times a scale of its row */

    int64_t splits; /* more than 1: what is held against it was merged from so many parts of the keys by float32 LSEs */
    double dropout; /* probability: see reference_keeps */
    uint64_t dropout_seed, dropout_offset;
};

/* One query row, seen while its weights exist. Arrays without a unit of their own are indexed by position among the
 * keys that the row sees, from 0 to key_count - 1. */
struct reference_row {
    const struct reference_problem *problem;
    int64_t batch, head, query;
    int64_t key_count;
    const int64_t *key;       /* their numbers, ascending */
    const double *q;          /* [head_dim] */
    const double *v;          /* of the row's key head, by key number: [seqlen_k] rows of v_stride elements */
    int64_t v_stride;         /* head_dim_v, or head_dim where V is a view of K */
    const double *scaled;     /* scale * head_scale * sum_d q_d k_jd; NaN and infinities as arithmetic gives them */
    const double *score_mass; /* |scale * head_scale| * sum_d |q_d| |k_jd| */
    const double *added_mass; /* |ALiBi| + |bias| */
    const double *unmodified; /* the score as a user's modifier gets it */
    const double *score;      /* after all modifiers */
    const double *weight;     /* exp(score - max) / sum; all NaN when a score is */
    const bool *kept;         /* by dropout; NULL without */
    double keep_factor;       /* of the weights that are kept: 1 / (1 - dropout) */
    double sink;              /* -INFINITY: none */
    double max, sum;          /* of scores and sink, and of exp(score - max) and the sink's; -inf and 0 without any */
    double lse;               /* max + ln sum; the sink when no key is seen, -inf without one */
    const double *output;     /* [head_dim_v]: sum_j weight_j v_j, kept ones times keep_factor, of dropped ones what is
                                 not finite; zeros without a key */
};

/* Called once for each row that exists, by several threads at once, rows of one head by one thread. */
typedef void (*reference_visit)(void *context, const struct reference_row *row);

/* Fills output [batch][heads_q][seqlen_q][head_dim_v] and lse [batch][heads_q][seqlen_q] where rows exist; the others
 * are left as they are. `visit` may be NULL. `threads`: 0 for as many as there are processors. */
bool reference_run(const struct reference_problem *problem, double *output, double *lse, reference_visit visit,
                   void *context, int threads, struct error *error);

/* Rows of a sequence that exist. */
int64_t reference_seqlen_q(const struct reference_problem *problem, int64_t batch);
int64_t reference_seqlen_k(const struct reference_problem *problem, int64_t batch);

/* Whether a query sees a key; false for what does not exist. q, k and v are not read. */
bool reference_sees(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query, int64_t key);

/* Whether some of `queries` rows from `query` on sees some of `keys` keys from `key` on. Either may reach past the end.
 */
bool reference_sees_some(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query,
                         int64_t queries, int64_t key, int64_t keys);

/* Whether dropout keeps the weight of a query and a key that it sees. */
bool reference_keeps(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query, int64_t key);

#endif

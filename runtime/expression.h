/* Expressions over the values of a problem, as descriptors hold them (grids, constraints): integers, names, + - * / %,
 * parentheses, ceil_div(a, b), max(a, b), min(a, b). Compiled once to a postfix program, evaluated without allocation.
 */
#ifndef FMHA_EXPRESSION_H
#define FMHA_EXPRESSION_H

#include <stdbool.h>

#include "fmha.h"

/* The integers that problems of any operation have. What a problem lacks is 0. */
enum fmha_value {
    FMHA_VALUE_BATCH,
    FMHA_VALUE_HEADS_Q,
    FMHA_VALUE_HEADS_K,
    FMHA_VALUE_SEQLEN_Q,
    FMHA_VALUE_SEQLEN_K,
    FMHA_VALUE_HEAD_DIM,
    FMHA_VALUE_HEAD_DIM_V,
    FMHA_VALUE_STRIDE_Q_BATCH, /* elements, as all strides; batch, head, row in this order for each tensor */
    FMHA_VALUE_STRIDE_Q_HEAD,
    FMHA_VALUE_STRIDE_Q_ROW,
    FMHA_VALUE_STRIDE_K_BATCH,
    FMHA_VALUE_STRIDE_K_HEAD,
    FMHA_VALUE_STRIDE_K_ROW,
    FMHA_VALUE_STRIDE_V_BATCH,
    FMHA_VALUE_STRIDE_V_HEAD,
    FMHA_VALUE_STRIDE_V_ROW,
    FMHA_VALUE_STRIDE_O_BATCH,
    FMHA_VALUE_STRIDE_O_HEAD,
    FMHA_VALUE_STRIDE_O_ROW,
    FMHA_VALUE_STRIDE_FROM_BATCH, /* of what is packed, and of where it goes */
    FMHA_VALUE_STRIDE_FROM_HEAD,
    FMHA_VALUE_STRIDE_FROM_ROW,
    FMHA_VALUE_STRIDE_TO_BATCH,
    FMHA_VALUE_STRIDE_TO_HEAD,
    FMHA_VALUE_STRIDE_TO_ROW,
    FMHA_VALUE_SPLITS, /* partial results that are merged into one */
    FMHA_VALUE_STRIDE_O_PARTIAL_SPLIT,
    FMHA_VALUE_STRIDE_O_PARTIAL_BATCH,
    FMHA_VALUE_STRIDE_O_PARTIAL_HEAD,
    FMHA_VALUE_STRIDE_O_PARTIAL_ROW,
    FMHA_VALUE_STRIDE_KV_BATCH,
    FMHA_VALUE_STRIDE_KV_ROW,
    FMHA_VALUE_WINDOW_LEFT, /* keys left of the diagonal, -1: unbounded; and to its right */
    FMHA_VALUE_WINDOW_RIGHT,
    FMHA_VALUE_SINK_KEYS,    /* first keys that the window does not hide */
    FMHA_VALUE_PAGE_SIZE,    /* keys of a page */
    FMHA_VALUE_BLOCK_MASK_Q, /* queries of a bit of the block mask, and keys */
    FMHA_VALUE_BLOCK_MASK_K,
    FMHA_VALUE_TOKENS_Q,           /* rows of Q of all sequences of a packed batch */
    FMHA_VALUE_STRIDE_BLOCK_TABLE, /* elements, as all strides */
    FMHA_VALUE_STRIDE_ALIBI_BATCH,
    FMHA_VALUE_STRIDE_BIAS_BATCH, /* batch, head, row (of a query) in this order */
    FMHA_VALUE_STRIDE_BIAS_HEAD,
    FMHA_VALUE_STRIDE_BIAS_ROW,
    FMHA_VALUE_STRIDE_MASK_BATCH,
    FMHA_VALUE_STRIDE_MASK_HEAD,
    FMHA_VALUE_STRIDE_MASK_ROW,
    FMHA_VALUE_STRIDE_BLOCK_MASK_BATCH,
    FMHA_VALUE_STRIDE_BLOCK_MASK_HEAD,
    FMHA_VALUE_STRIDE_BLOCK_MASK_ROW,
    FMHA_VALUE_DROPOUT_SEED,         /* a word of 64 bits */
    FMHA_VALUE_DROPOUT_OFFSET,       /* 32 bits */
    FMHA_VALUE_STRIDE_K_SCALE_BATCH, /* batch or page, head, row (of a key) in this order, as of V */
    FMHA_VALUE_STRIDE_K_SCALE_HEAD,
    FMHA_VALUE_STRIDE_K_SCALE_ROW,
    FMHA_VALUE_STRIDE_V_SCALE_BATCH,
    FMHA_VALUE_STRIDE_V_SCALE_HEAD,
    FMHA_VALUE_STRIDE_V_SCALE_ROW,
    FMHA_VALUE_STRIDE_KV_SCALE_BATCH, /* of latent rows, which have no heads */
    FMHA_VALUE_STRIDE_KV_SCALE_ROW,
    FMHA_VALUE_SEQLEN_NEW, /* keys that are appended to the longest sequence, and to all of a packed batch */
    FMHA_VALUE_TOKENS_NEW,
    FMHA_VALUE_STRIDE_K_NEW_BATCH,
    FMHA_VALUE_STRIDE_K_NEW_HEAD,
    FMHA_VALUE_STRIDE_K_NEW_ROW,
    FMHA_VALUE_STRIDE_V_NEW_BATCH,
    FMHA_VALUE_STRIDE_V_NEW_HEAD,
    FMHA_VALUE_STRIDE_V_NEW_ROW,
    FMHA_VALUE_ROTARY_DIM, /* columns of K that are rotated, and the first of them */
    FMHA_VALUE_ROTARY_FIRST,
    FMHA_VALUE_STRIDE_ROTARY_COS_ROW,
    FMHA_VALUE_STRIDE_ROTARY_SIN_ROW,
    FMHA_VALUE_PARTS, /* of what a scale is found from, and scales that are made */
    FMHA_VALUE_SCALES,
    FMHA_VALUE_STRIDE_SCALE_PARTIAL_BATCH,
    FMHA_VALUE_STRIDE_SCALE_PARTIAL_HEAD,
    FMHA_VALUE_STRIDE_TO_SCALE_BATCH,
    FMHA_VALUE_STRIDE_TO_SCALE_HEAD,
    FMHA_VALUE_STRIDE_TO_SCALE_ROW,
    FMHA_VALUE_COUNT,
    FMHA_VALUE_OF_MODIFIERS = FMHA_VALUE_WINDOW_LEFT /* the first that only problems with modifiers and layouts have */
};

/* "batch", "heads_q", "stride_q_batch", … */
extern const char *const fmha_value_names[FMHA_VALUE_COUNT];

#define FMHA_EXPRESSION_STEPS_MAX 24
#define FMHA_EXPRESSION_STACK_MAX 8

struct fmha_expression {
    uint8_t count;
    uint8_t operation[FMHA_EXPRESSION_STEPS_MAX]; /* private to expression.c */
    int64_t operand[FMHA_EXPRESSION_STEPS_MAX];
};

/* Compiles `length` bytes of `text`. Errors (FMHA_ERROR_ARGUMENT) read "expression '…': expected X, got Y": a syntax
 * error, a name that no problem has, too many steps or levels. */
fmha_status fmha_expression_compile(const char *text, size_t length, struct fmha_expression *expression);

/* '/' and '%' truncate; ceil_div rounds up. False, without an error text, on a division by 0 and on what 64 bits do not
 * hold. `values` has FMHA_VALUE_COUNT entries. */
bool fmha_expression_evaluate(const struct fmha_expression *expression, const int64_t *values, int64_t *result);

/* Whether the expression is a value alone (*mask is -1) or its remainder by 2^n (*mask is 2^n - 1). It is then 0
 * exactly when values[*value] & *mask is, and a value alone is that number. */
bool fmha_expression_is_simple(const struct fmha_expression *expression, uint8_t *value, int64_t *mask);

/* The first value from `from` on that the expression names, or FMHA_VALUE_COUNT. */
enum fmha_value fmha_expression_names(const struct fmha_expression *expression, enum fmha_value from);

/* Whether the expression is the remainder of one value by another. */
bool fmha_expression_is_remainder(const struct fmha_expression *expression, uint8_t *left, uint8_t *right);

/* Whether the expression is a value alone (*divisor is 1) or ceil_div(value, *divisor) by a constant of 1 to 2^31. */
bool fmha_expression_is_tiles(const struct fmha_expression *expression, uint8_t *value, uint32_t *divisor);

#endif

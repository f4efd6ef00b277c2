/* Inputs of verification, made from a seed alone: the same on every machine. Each kind is there for a family of faults.
 */
#ifndef GEN_INPUTS_H
#define GEN_INPUTS_H

#include <stdint.h>

#include "halves.h"
#include "reference.h"

enum input_kind {
    INPUT_RANDOM,         /* bell-shaped, standard deviation 1 */
    INPUT_UNBALANCED,     /* scores rise along the keys, some keys stick out: the maximum changes in later tiles */
    INPUT_IMPULSE,        /* one key of its own dominates each row; V tells where each of its values came from */
    INPUT_LARGE,          /* scores of about +-1e5, rows of nothing but such negative ones, bf16 also +-1e9 */
    INPUT_FAR_BELOW_ZERO, /* every raw score is -524288 */
    INPUT_HUGE,           /* every element of q and k is the same large number: 133120 in bf16, 60000 in f16 */
    INPUT_NAN_VISIBLE,    /* random; NAN in an element of q, of k and of v that some rows see and others do not */
    INPUT_NAN_HIDDEN,     /* random; NAN and infinities at each key that no row of its key head sees */
    INPUT_INFINITE_V,     /* random; infinities of one sign, of both and NAN in V, at keys that all, some or one see */
    INPUT_LONE_V,         /* random; of each head's V one element is infinite or NAN, at a key and column of its own */
    INPUT_STREWN_V, /* random; one element of each of V's columns is infinite or NAN, at another key in each head */
    INPUT_BELOW_SENTINELS, /* raw scores from -1.2e9 down to -2.4e9, each key's another, to be scaled further down */
    INPUT_STEPS            /* raw scores 2^27, of the first key one unit of float32 (16) more, of the last one two */
};

/* "random", "nan-visible", …: constant words. */
const char *inputs_name(enum input_kind kind);

/* Fills q [batch][heads_q][seqlen_q][head_dim], k [batch][heads_k][seqlen_k][head_dim] and v [..][head_dim_v] with bits
 * of `type`; v is not looked at where it is a view of k, for which the kinds that are about V alone are not. Of the
 * problem everything but q, k, v and scores is read: what is put at a key depends on which rows see
 * it. */
void inputs_make(enum input_kind kind, const struct reference_problem *problem, enum half_type type, uint64_t seed,
                 uint16_t *q, uint16_t *k, uint16_t *v);

/* The generator: splitmix64. Each call advances *state. */
uint64_t inputs_next(uint64_t *state);

/* Bell-shaped, mean 0, standard deviation 1, within +-3.5. */
double inputs_normal(uint64_t *state);

#endif

/* What a kernel's modifiers and layouts take in verification: windows, biases, masks, lengths of sequences. Made from a
 * seed alone, by the rows of the instance's spec. */
#ifndef GEN_MODIFIERS_H
#define GEN_MODIFIERS_H

#include <stdint.h>

#include "error.h"
#include "inputs.h"
#include "instance.h"
#include "reference.h"

#define MODIFIERS_OWN INT64_MIN /* no number was given: the case's own, or the usual one */

/* Values of arguments; reals that are not given are NAN. */
struct modifiers_values {
    int64_t window_left, window_right, sink_keys;
    int64_t prefix; /* of each sequence; MODIFIERS_OWN: each another */
    double softcap, dropout;
};

/* Nothing given. */
struct modifiers_values modifiers_values_none(void);

/* What one case asks for. */
struct modifiers_choice {
    struct modifiers_values values;
    /* Which axes of bias and masks share their values, by turns; whether slopes are those of each batch; how many tiles
     * a bit of the block mask stands for. */
    unsigned variant;
    bool rows_hidden;  /* in bias and masks some rows have every key hidden, the first among them */
    bool flat_softcap; /* scores of about 1: a small cap, so that it matters */
    /* [batch], of instances that have lengths: NULL: the first sequence is the longest, the others are shorter */
    const int64_t *lengths_q, *lengths_k;
};

/* For inputs of a kind. Cases that count up get each another variant, some of them hidden rows. */
struct modifiers_choice modifiers_usual(enum input_kind inputs, unsigned variant);

/* Owns what a problem's modifiers point at. */
struct modifiers {
    void *blocks[16];
    int count;
};

/* Sets all of the problem but tensors, lengths, mask and scale. Free on failure too; the problem, and copies of it,
 * must not outlive it. */
bool modifiers_make(const struct instance *instance, const struct modifiers_choice *choice, uint64_t seed,
                    struct reference_problem *problem, struct modifiers *modifiers, struct error *error);
void modifiers_free(struct modifiers *modifiers);

#endif

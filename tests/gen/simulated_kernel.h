/* Attention simulated in float32 on the host, step by step as the recurrence is written, with the liberties that
 * hardware and templates may take and with faults; and a test's way to hold it against the bounds. */
#ifndef TESTS_GEN_SIMULATED_KERNEL_H
#define TESTS_GEN_SIMULATED_KERNEL_H

#include <stdbool.h>

#include "bound.h"
#include "inputs.h"
#include "reference.h"

struct quirks {
    int block;            /* keys per tile */
    bool backward;        /* sums run from the last term to the first */
    bool adder_truncates; /* float32 sums of products are cut, not rounded */
    int exp2_nudge;       /* ulps by which 2^x is off: -1, 0, 1, or 2 for a pattern of these */
    bool fused_exponent;  /* fma(c, s, -m) instead of c * s - m */
    bool truncate_p, truncate_o;
    bool never_rescale;     /* o and l keep what older maxima gave */
    bool lse_base_two;      /* LSE in log2 */
    bool first_tile_is_low; /* starting maximum -5e4 instead of -infinity */
    int skip_key;           /* 1 + key that is left out */
    /* of modifiers */
    bool fused_sums;       /* ALiBi and bias by fused multiply-adds */
    bool sink_first;       /* m starts as the sink and l as 1 */
    bool sink_unscaled;    /* the sink is added to l at the end without becoming the maximum */
    bool dropout_at_end;   /* its factor is applied to O, not to the weights */
    bool dropout_unscaled; /* its factor is forgotten */
    bool alibi_top_left;   /* distances from key i, not from i + seqlen_k - seqlen_q */
    bool cap_last;         /* the cap takes ALiBi and bias in */
    bool sinks_first_head; /* every head has the first one's sink */
};

struct simulation {
    const struct quirks *quirks;
    const struct reference_problem *problem; /* as the simulated kernel takes it */
    enum half_type type;
    /* results */
    double worst_output, worst_lse; /* error over bound */
    bool bound_failed;
    struct bound_bias bias;
};

/* Kinds of inputs that are finite. */
#define FINITE_KINDS 7
extern const enum input_kind finite_kinds[FINITE_KINDS];

/* Inputs of a kind through the simulated kernel, which takes the problem to be `simulated`. A modifier must be
 * simulated_modifier. */
struct simulation simulated_run(const struct quirks *quirks, enum input_kind kind, enum half_type type,
                                const struct reference_problem *problem, const struct reference_problem *simulated);

double simulated_modifier(void *context, double score, const struct reference_place *place);

/* A visit of reference_run that puts a row's bounds into double[seqlen_q][9]: eight columns of f16, then LSE. */
void simulated_bounds(void *context, const struct reference_row *row);

#endif

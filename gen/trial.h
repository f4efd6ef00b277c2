/* One run of an instance beside its reference: the same inputs through both, then every element compared. */
#ifndef GEN_TRIAL_H
#define GEN_TRIAL_H

#include "bound.h"
#include "execute.h"
#include "findings.h"
#include "halves.h"
#include "kv_cache.h"
#include "reference.h"

struct trial {
    struct reference_problem problem; /* its tensors belong to the trial */
    enum half_type type;
    int64_t rows;             /* batch x heads_q x seqlen_q, those that do not exist included */
    uint16_t *q, *k, *v;      /* inputs, packed as execute.h says; filled by the caller; v of no elements where it is a
                                 view of k */
    uint64_t seed;            /* of the scales of small formats; the caller's too */
    struct kv_cache cache;    /* of instances whose K and V are small: what is made of k and v */
    uint16_t *o;              /* what the kernel wrote */
    float *lse;               /* the same */
    double *values;           /* of q, then k, then v */
    double *expected, *bound; /* of O */
    double *lse_expected, *lse_bound;
    struct bound_bias *bias; /* of each batch and head */
    struct bound_bias bias_total;
    void (*progress)(void *context, const char *stage); /* called as a run goes on, by one thread at a time; or NULL */
    void *progress_context;
};

/* How far the worst element is from its reference, over its bound: at most 1 is right; INFINITY: no bound could excuse
 * it. */
struct trial_errors {
    double output, lse;
};

/* Of `problem` all but the tensors is taken; what it points at must outlive the trial. On failure the trial needs no
 * free. */
bool trial_new(struct trial *trial, const struct reference_problem *problem, enum half_type type, struct error *error);
void trial_free(struct trial *trial);

/* Runs the kernel and the reference. The request's layouts are used; its problem and pointers are the trial's own.
 * Scores beyond float32 are an ERROR_USAGE. */
bool trial_run(struct trial *trial, const struct execute_target *target, const struct execute_request *layouts,
               bool with_lse, struct findings *findings, struct error *error);

/* Runs the kernel once more and compares with what it wrote before, bit by bit; `what` names the run in findings. */
bool trial_repeat(struct trial *trial, const struct execute_target *target, const struct execute_request *layouts,
                  bool with_lse, const char *what, struct findings *findings, struct error *error);

/* Compares every element, adding a finding for each kind of fault. */
void trial_compare(const struct trial *trial, bool with_lse, struct trial_errors *errors, struct findings *findings);

/* |got - expected| over the bound, where NaN and infinities must be met exactly; NaN will do for an infinity whose
 * bound is NaN. */
double trial_error_over_bound(double expected, double got, double bound);

#endif

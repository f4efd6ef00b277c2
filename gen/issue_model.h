/* Bound on the speed of a loop from what its instructions cost to issue. A bound, not a measurement: it knows nothing
 * of latency, bank conflicts or clocks. */
#ifndef GEN_ISSUE_MODEL_H
#define GEN_ISSUE_MODEL_H

#include "assembly.h"
#include "issue/cost.h"

/* One way through a loop from its header to its end. */
struct issue_way {
    const char *name; /* "skip": conditional work left out; "take": all of it done */
    int *blocks;      /* in the order in which they run */
    int block_count;
    struct mix mix;
    struct issue_bound bound;
    double vector_cycles; /* of the SIMD, in VALU and transcendental instructions that are not the useful work */
};

/* Work that the SIMD has between the issue of a load and the wait for it, in issue cycles, over one pass. */
struct issue_cover {
    const char *kind; /* "global", "lds", "scalar" */
    int loads;
    double least_cycles, mean_cycles;
};

struct issue_loop {
    struct mix total; /* every block once */
    bool *always;     /* per block of the loop: whether each pass runs it */
    struct issue_way ways[2];
    int way_count; /* 1: no choice (ways[0] is "skip"); 2: skip and take */
    struct issue_cover covers[3];
    int cover_count;
    bool inner; /* holds another loop, counted as if it ran once */
};

/* `target` as in struct resources; `wave` 32 or 64. False only when memory is exhausted. */
bool issue_loop_analyse(const struct assembly *assembly, const struct assembly_loop *loop, const char *target, int wave,
                        struct issue_loop *result, struct error *error);
void issue_loop_free(struct issue_loop *result);

/* The bound of a run of instructions given as blocks of `assembly`. */
void issue_bound_of(const struct assembly *assembly, const int *blocks, int block_count, const char *target, int wave,
                    struct issue_bound *bound);

/* Adds what a block costs that is run so many times by a wave. */
void issue_work_add(const struct assembly *assembly, int block, const struct issue_family *family, int wave,
                    double times, struct issue_work *work);

/* SIMDs of one compute unit of a chip; 0: unknown. */
int issue_simds_per_compute_unit(const char *target);

#endif

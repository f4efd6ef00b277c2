/* Runs a launch's workgroups on several threads. */
#ifndef ISA_LAUNCH_H
#define ISA_LAUNCH_H

#include "checks.h"
#include "counters.h"
#include "isa.h"

enum { ISA_SEEN_MAX = 256 }; /* different findings of which a worker keeps account; a power of two */

/* A finding that was told of: the same again only counts. */
typedef struct isa_seen {
    const char *kind; /* NULL: free */
    const isa_instruction *at;
    unsigned long long again;
} isa_seen;

/* A thread's place to run one workgroup after another. */
typedef struct isa_worker {
    isa_group group; /* first: reports find the worker by a wave's group */
    struct isa_checks checks[ISA_WAVES_MAX];
    struct isa_counts counts; /* its tallies NULL: nothing is counted */
    isa_seen seen[ISA_SEEN_MAX];
    emu_lds *lds;
    unsigned char *lds_area;
    uint32_t (*vgprs)[ISA_LANES_MAX]; /* of all waves */
    unsigned char *scratch;
    unsigned order[ISA_WAVES_MAX]; /* of the waves between two barriers */
    uint64_t waves;
} isa_worker;

/* Returns when every workgroup has ended or was given up. `threads` 0: as many as there are processors for us. What
 * was counted is added to launch->counters. */
fmha_status isa_launch_run(isa_launch *launch, unsigned threads);

/* For reports: what a worker told of once is added to the findings when it has done its share. */
void isa_report_end(isa_worker *worker);

#endif

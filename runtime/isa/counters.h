/* What a device's launches did, summed over workers. */
#ifndef ISA_COUNTERS_H
#define ISA_COUNTERS_H

#include <pthread.h>

#include "../emu/traffic.h"
#include "counts.h"

/* The order of the names in counters.c. */
enum {
    ISA_COUNT_LAUNCHES,
    ISA_COUNT_WORKGROUPS,
    ISA_COUNT_WAVES,
    ISA_COUNT_INSTRUCTIONS,
    ISA_COUNT_LDS_READS,
    ISA_COUNT_LDS_WRITES,
    ISA_COUNT_LDS_BYTES_READ,
    ISA_COUNT_LDS_BYTES_WRITTEN,
    ISA_COUNT_LDS_CYCLES,
    ISA_COUNT_LDS_CONFLICTS,
    ISA_COUNT_GLOBAL_READS,
    ISA_COUNT_GLOBAL_WRITES,
    ISA_COUNT_GLOBAL_BYTES_READ,
    ISA_COUNT_GLOBAL_BYTES_WRITTEN,
    ISA_COUNT_GLOBAL_LINES_READ,
    ISA_COUNT_GLOBAL_LINES_WRITTEN,
    ISA_COUNT_CLASSES,                                     /* instructions of each isa_class */
    ISA_COUNT_LOADS = ISA_COUNT_CLASSES + ISA_CLASS_COUNT, /* of each issue_load: waited, work, least work */
    ISA_COUNT_TOTALS = ISA_COUNT_LOADS + 3 * (int)ISSUE_LOADS
};

/* What a kernel's instructions did, kept beyond its module. */
typedef struct isa_account {
    char symbol[512];
    uint32_t count;
    uint64_t *addresses; /* of each instruction */
    char *labels;        /* "SYMBOL:0x1a30" of each, of `label_bytes` */
    size_t label_bytes;
    isa_tally *tallies;
} isa_account;

typedef struct isa_counters {
    pthread_mutex_t lock;
    uint64_t total[ISA_COUNT_TOTALS];
    struct issue_work work; /* its clocks and exchanges */
    const struct issue_family *family;
    emu_traffic traffic;
    isa_account *accounts; /* of launches that were counted by instruction */
    size_t account_count;
    bool lost;          /* out of memory */
    fmha_counter *seen; /* handed out */
} isa_counters;

void isa_counters_init(isa_counters *counters);
void isa_counters_clear(isa_counters *counters);

/* Adds what one worker did of a launch. Thread-safe. */
void isa_counters_add(isa_counters *counters, const isa_launch *launch, const struct isa_counts *counts,
                      uint64_t waves);
/* A launch with so many workgroups has ended. */
void isa_counters_launched(isa_counters *counters, unsigned long long groups);

/* Nothing if no launch was counted. */
fmha_status isa_counters_list(isa_counters *counters, const fmha_counter **list, size_t *count);

/* The bound of what was counted, in cycles of one compute unit that does all of it (docs/isa.md). */
fmha_status isa_counters_cycles(const isa_counters *counters, double *cycles);

#endif

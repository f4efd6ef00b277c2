/* What a device's launches did, summed over workers. */
#ifndef ISA_COUNTERS_H
#define ISA_COUNTERS_H

#include <pthread.h>

#include "counts.h"

/* The order of the names in counters.c; the classes of instructions stand behind. */
enum {
    ISA_COUNT_LAUNCHES,
    ISA_COUNT_WORKGROUPS,
    ISA_COUNT_WAVES,
    ISA_COUNT_INSTRUCTIONS,
    ISA_COUNT_LDS_CYCLES,
    ISA_COUNT_LDS_CONFLICTS,
    ISA_COUNT_LDS_BYTES_READ,
    ISA_COUNT_LDS_BYTES_WRITTEN,
    ISA_COUNT_GLOBAL_BYTES_READ,
    ISA_COUNT_GLOBAL_BYTES_WRITTEN,
    ISA_COUNT_GLOBAL_LINES_READ,
    ISA_COUNT_GLOBAL_LINES_WRITTEN,
    ISA_COUNT_CLASSES,
    ISA_COUNT_TOTALS = ISA_COUNT_CLASSES + ISA_CLASS_COUNT
};

typedef struct isa_counters {
    pthread_mutex_t lock;
    uint64_t total[ISA_COUNT_TOTALS];
    fmha_counter seen[ISA_COUNT_TOTALS]; /* handed out */
} isa_counters;

void isa_counters_init(isa_counters *counters);
void isa_counters_clear(isa_counters *counters);

/* Adds what one worker did of a launch of `kernel`. Thread-safe. */
void isa_counters_add(isa_counters *counters, const isa_kernel *kernel, const struct isa_counts *counts,
                      uint64_t waves);
/* A launch with so many workgroups has ended. */
void isa_counters_launched(isa_counters *counters, unsigned long long groups);

/* Nothing if no launch was counted. */
void isa_counters_list(isa_counters *counters, const fmha_counter **list, size_t *count);

#endif

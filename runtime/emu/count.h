/* What kernels do, counted: matrix instructions, LDS accesses and their bank conflicts, bytes of each tensor. */
#ifndef EMU_COUNT_H
#define EMU_COUNT_H

#include <pthread.h>

#include "banks.h"
#include "engine.h"
#include "traffic.h"

enum {
    EMU_COUNT_SITES = 4096
}; /* accesses to LDS and reads of memory in a kernel's code of which account is kept; a power of two */

/* One instruction of a wave: the n-th time that its lanes come to one place between two meeting points. */
typedef struct emu_count_instruction {
    const emu_views *views; /* of the memory that is read; NULL: LDS */
    size_t bytes;           /* of a lane */
    uint64_t lanes;
    size_t place[FMHA_EMU_WAVE_MAX]; /* in LDS, or in the allocation */
} emu_count_instruction;

typedef struct emu_count_site {
    const void *at; /* NULL: free */
    emu_count_instruction *list;
    unsigned count, capacity; /* of the list */
    unsigned lane, time;      /* the lane that came last, counting from 1, and how often it did */
    size_t bytes;
    bool write;
} emu_count_site;

/* The order of the names in count.c. */
enum {
    EMU_COUNT_LAUNCHES,
    EMU_COUNT_WORKGROUPS,
    EMU_COUNT_MATRIX,
    EMU_COUNT_LDS_READS,
    EMU_COUNT_LDS_WRITES,
    EMU_COUNT_LDS_BYTES_READ,
    EMU_COUNT_LDS_BYTES_WRITTEN,
    EMU_COUNT_LDS_CYCLES,
    EMU_COUNT_LDS_CONFLICTS,
    EMU_COUNT_TOTALS
};

/* A worker's account of one launch. */
struct emu_count {
    const emu_bank_rule *banks;
    uint64_t total[EMU_COUNT_TOTALS];
    emu_count_site sites[EMU_COUNT_SITES];
    unsigned used[EMU_COUNT_SITES]; /* sites with instructions that are not added up yet */
    unsigned used_count;
    bool lost; /* out of memory or of sites */
};

/* A device's totals since they were last cleared. */
struct emu_counters {
    pthread_mutex_t lock;
    uint64_t total[EMU_COUNT_TOTALS];
    emu_traffic traffic;
    bool lost;
    fmha_counter *seen; /* handed out */
    size_t seen_count;
};
typedef struct emu_counters emu_counters;

void emu_counters_init(emu_counters *counters);
void emu_counters_clear(emu_counters *counters);
fmha_status emu_counters_list(emu_counters *counters, const fmha_counter **list, size_t *count);

/* What was counted as cycles of one compute unit on which nothing overlaps (docs/emulator.md). */
fmha_status emu_counters_cycles(const emu_counters *counters, double *cycles);

/* A launch that emu_traffic_begin preceded has ended. */
void emu_count_end(emu_counters *counters, const emu_memory *memory);

/* A worker begins with a launch that is counted and ends with it. False without memory. */
bool emu_count_worker_begin(emu_worker *worker);
void emu_count_worker_end(emu_worker *worker, emu_counters *counters);

void emu_count_lds(emu_lane *lane, size_t place, size_t bytes, bool write, const void *at);
void emu_count_read(emu_lane *lane, const emu_views *views, size_t offset, size_t bytes, const void *at);
/* The lanes of a wave have met or ended: what they did since they last met is added up. */
void emu_count_met(emu_worker *worker);

#endif

/* What a worker counts of one launch. */
#ifndef ISA_COUNTS_H
#define ISA_COUNTS_H

#include "emu/banks.h"
#include "isa.h"
#include "issue/cost.h"

/* Of each instruction of a kernel, what the issue model says of it. */
typedef struct isa_cost {
    uint16_t matrix, simd;         /* cycles */
    uint16_t exchange_bytes;       /* of all lanes, through the LDS pipe beside memory */
    int8_t counter;                /* issue_counter that it raises; -1: none */
    int8_t load;                   /* issue_load; -1: none */
    int8_t limits[ISSUE_COUNTERS]; /* of a wait; -1: any number may be under way */
} isa_cost;

typedef struct isa_costs {
    const struct issue_family *family;
    const emu_bank_rule *banks;
    isa_cost *list; /* one for each instruction */
    bool known;     /* of all matrix instructions */
} isa_costs;

/* False without memory. */
bool isa_costs_init(isa_costs *costs, const isa_kernel *kernel, const char *arch);
void isa_costs_free(isa_costs *costs);

/* What one instruction of a kernel did, summed over waves. */
typedef struct isa_tally {
    uint64_t executed;
    uint64_t entered;                   /* how often control came to the basic block that it begins */
    uint64_t accesses, bytes;           /* to LDS or to global memory; of all lanes */
    uint64_t lines;                     /* of caches, touched by an access */
    uint64_t lds_cycles, lds_conflicts; /* of the banks, and those beyond the fewest */
    /* Loads that a wait has ended; cycles of issue between load and wait: the sum, and the least. */
    uint64_t waited, work, work_least;
} isa_tally;

typedef struct isa_flight {
    uint32_t instruction;
    uint64_t matrix, simd; /* the wave's clocks when it was issued */
} isa_flight;

/* Loads and stores under way, the oldest first. The hardware's counters do not reach further either. */
enum { ISA_FLIGHTS = 64 };

typedef struct isa_flights {
    isa_flight list[ISA_FLIGHTS];
    uint32_t first, end; /* modulo ISA_FLIGHTS */
} isa_flights;

/* Where a wave is in the issue model. */
typedef struct isa_progress {
    uint64_t matrix, simd; /* cycles that it has taken */
    uint32_t next, block;  /* the instruction behind the last one, and that one's basic block; UINT32_MAX: none */
    isa_flights flights[ISSUE_COUNTERS];
} isa_progress;

struct isa_counts {
    const isa_costs *costs;
    isa_tally *tallies; /* one for each instruction of the kernel */
    isa_progress progress[ISA_WAVES_MAX];
    uint64_t lds_reads, lds_writes, lds_bytes_read, lds_bytes_written;
    uint64_t global_reads, global_writes, global_bytes_read, global_bytes_written;
    uint64_t global_lines_read, global_lines_written;
};

/* A wave begins. */
void isa_count_begin(isa_wave *wave);

/* The instruction at `wave->pc` is about to be executed. */
void isa_count_step(isa_wave *wave);

#endif

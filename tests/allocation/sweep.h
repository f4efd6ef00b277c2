/* Every allocation of a piece of work fails once: it must come to an error, and lose no memory. The linker leads the
 * allocations of the program (not those inside of shared libraries) to the functions here. */
#ifndef TESTS_ALLOCATION_SWEEP_H
#define TESTS_ALLOCATION_SWEEP_H

#include <stdbool.h>

typedef enum sweep_outcome { SWEEP_DONE, SWEEP_ERROR, SWEEP_SILENT_ERROR } sweep_outcome;

/* Does the work from beginning to end, and cleans up. SWEEP_SILENT_ERROR: it failed without an error text. */
typedef sweep_outcome (*sweep_work)(void *context);

typedef struct sweep_result {
    unsigned visited;   /* allocations that failed, one in each run */
    unsigned recovered; /* runs that were done nevertheless */
    unsigned first_bad; /* number of the first allocation whose failure lost memory or said nothing; 0: none */
    char what[128];     /* what was wrong then */
} sweep_result;

typedef enum sweep_mode {
    SWEEP_ONE,   /* one allocation fails, those after it do not */
    SWEEP_ALL_ON /* every allocation from that one on fails */
} sweep_mode;

/* Runs the work again and again, each time with the next allocation failing, until a run makes fewer allocations. The
 * work must first have been done once without failure, so that what is kept for the life of the process is there. */
sweep_result sweep(sweep_work work, void *context, sweep_mode mode);

/* Blocks that are allocated through the program's own code and not freed. */
long sweep_blocks(void);

/* free() of what a shared library allocated, which is not counted. */
void __real_free(void *block);

#endif

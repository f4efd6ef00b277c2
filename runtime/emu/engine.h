/* Runs one workgroup at a time on one thread. Every work item is a fiber (a "lane") that runs until it meets the others
 * of its wave: at a cross-lane instruction, a matrix instruction or a barrier. The lanes of a wave stand in a ring; a
 * lane that arrives jumps straight to the next one, and the last to arrive executes the operation for all and goes on.
 */
#ifndef EMU_ENGINE_H
#define EMU_ENGINE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chips.h"
#include "copies.h"
#include "emu_abi.h"
#include "findings.h"
#include "lds.h"
#include "lds_loads.h"
#include "memory.h"
#include "place.h"
#include "products.h"
#include "state.h"

enum {
    EMU_WAVES_MAX = 32,
    EMU_SEEN_MAX = 256 /* different faulty accesses of which a worker keeps account; a power of two */
};

/* A lane's stack stands in the upper part of a block of this size and alignment, below it what must not be touched. Any
 * address in its stack tells a running lane's block; at the stack's lower end is a pointer to the lane. */
#define EMU_STACK_BLOCK ((uintptr_t)512 * 1024)
#define EMU_STACK_GUARD ((uintptr_t)256 * 1024)

typedef struct emu_lane emu_lane;

/* One kernel launch; constant while it runs, but for the two last members. */
typedef struct emu_launch {
    void (*run)(const void *arguments);
    const void *arguments;
    const emu_chip *chip;
    const emu_memory *memory;
    size_t argument_bytes;          /* of the block at `arguments` */
    uintptr_t text_begin, text_end; /* the kernel's machine code */
    uintptr_t base, end;            /* all of the kernel's object in memory */
    emu_lines *lines;
    uint32_t number;               /* of the device's launches */
    struct emu_counters *counters; /* NULL: nothing is counted */
    unsigned wave;                 /* lanes of a wave */
    unsigned grid[3], workgroup[3];
    unsigned long long groups;
    size_t lds_dynamic_bytes;
    uint64_t seed;
    unsigned seconds;
    emu_findings *findings;
    atomic_ullong next_group;
    atomic_ullong given_up; /* workgroups */
} emu_launch;

struct emu_lane {
    struct fmha_emu_lane seen; /* first: kernels hold pointers to it */
    void *context;             /* where it stands while it does not run */
    emu_wave *wave;            /* NULL: the thread itself, outside any kernel */
    emu_lane *next, *previous; /* ring of the wave's lanes that have not returned */
    emu_lane **current;        /* its thread's emu_current, found without a look-up */
    emu_lds *lds;              /* the workgroup's, and where it begins */
    uintptr_t lds_begin;
    emu_copies *copies;
    uint16_t number;              /* in the workgroup */
    uint16_t shown;               /* how often it showed what it has written to LDS */
    uint16_t shown_before;        /* the same, before the first time since `shown_met` */
    uint32_t shown_met;           /* emu_lds.met when it did so last */
    uint8_t wave_mark, lane_mark; /* in emu_lds's shadows */
};

typedef enum emu_wave_state {
    EMU_WAVE_READY,
    EMU_WAVE_WAITING, /* at s_barrier */
    EMU_WAVE_ENDED
} emu_wave_state;

struct emu_wave {
    emu_worker *worker;
    emu_lane *lanes;                  /* launch->wave of them, also where the workgroup has fewer */
    const struct fmha_emu_site *site; /* where lanes wait, if arrived > 0; else where they met last, NULL at first */
    emu_lane *first;                  /* the first that waits there */
    emu_lane *resume;                 /* the lane with which the wave goes on */
    uint64_t present, ended;          /* lanes that exist; those of them that have returned */
    unsigned arrived, live;
    unsigned number;
    emu_wave_state state;
    emu_lds_loads lds_loads;
};

/* A faulty access that was told of: the same again only counts. */
typedef struct emu_seen {
    const char *kind; /* NULL: free */
    const void *at;   /* in the kernel's code */
    emu_place place;
    unsigned long long again;
} emu_seen;

/* A thread's place to run workgroups in; its memory is kept from launch to launch. */
struct emu_worker {
    emu_lane host; /* the thread itself, while no lane runs */
    emu_wave waves[EMU_WAVES_MAX];
    emu_seen seen[EMU_SEEN_MAX];
    emu_lds *lds;
    struct emu_count *count;            /* NULL: nothing is counted */
    const emu_allocation *recent;       /* that was touched last */
    uintptr_t static_begin, static_end; /* the kernel's variables of this thread, once they are known */
    emu_launch *launch;
    emu_lane *lanes;
    emu_copies *copies;     /* of each lane */
    emu_products *products; /* of each wave */
    unsigned char *stacks, *stacks_map, *lds_map, *signal_stack;
    uint64_t random;
    unsigned long long group; /* the workgroup's number */
    emu_lane *fault_lane;     /* that crashed */
    const void *fault_address;
    atomic_ullong started;         /* workgroups begun: for the watchdog, which reads from another thread */
    unsigned order[EMU_WAVES_MAX]; /* of the waves between two barriers */
    unsigned turn;                 /* whose it is in that order */
    unsigned wave_count, live_waves;
    unsigned lds_loads; /* of all waves */
    unsigned group_at[3];
    int fault_signal; /* 0 if no lane crashed */
    bool fault_has_address;
    atomic_bool finished, overdue; /* for the watchdog */
};

/* The lane that runs on the calling thread; NULL outside workers. */
extern _Thread_local emu_lane *emu_current;

/* What kernels call. */
void emu_engine_fill(struct fmha_emu_engine *engine);

fmha_status emu_worker_init(emu_worker *worker);
void emu_worker_free(emu_worker *worker);

/* Takes workgroups of the launch until there are none left. */
void emu_worker_run(emu_worker *worker, emu_launch *launch);

/* For operations: gives the thread to another lane until this one is chosen again. */
void emu_switch(emu_lane *from, emu_lane *to);
/* For operations: the wave has come to a barrier, with `resume` to go on; returns the lane that runs next. */
emu_lane *emu_wave_waits(emu_wave *wave, emu_lane *resume);

/* Ends the workgroup whose lane is running, which never runs again. */
void emu_abandon(emu_worker *worker);

/* From the signal handler: a lane of this worker crashed; `address` NULL: the processor did not say where. The lane
 * never runs again. */
void emu_crashed(emu_worker *worker, int signal, void *const *address);

#endif

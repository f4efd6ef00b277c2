#include "launch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../emu/emu_abi.h"
#include "../emu/state.h"
#include "barrier.h"
#include "initial.h"
#include "wave.h"

enum {
    STEPS = 1 << 16, /* instructions of a wave, after which the time is looked at and other waves get their turn */
    POISON = 0xff    /* NaN in every float format, -1 as a number */
};

/* ---- A workgroup begins ---------------------------------------------------------------------------------------------
 */

/* Splitmix64: a sequence of well mixed numbers from any seed. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void begin_wave(isa_worker *worker, unsigned number) {
    isa_group *group = &worker->group;
    const isa_launch *launch = group->launch;
    const isa_kernel *kernel = launch->kernel;
    isa_wave *wave = &group->waves[number];
    unsigned items = launch->workgroup[0] * launch->workgroup[1] * launch->workgroup[2];
    unsigned left = items - number * kernel->wave;
    memset(wave, 0, sizeof *wave);
    memset(wave->sgpr, POISON, sizeof wave->sgpr);
    wave->vgpr = worker->vgprs + (size_t)number * kernel->registers;
    memset(wave->vgpr, POISON, kernel->registers * sizeof *wave->vgpr);
    wave->pc = kernel->entry;
    wave->mode = kernel->mode;
    wave->lanes = kernel->wave;
    wave->number = number;
    wave->present = left >= 64 ? UINT64_MAX : ((uint64_t)1 << left) - 1;
    if (kernel->wave == 32) {
        wave->present &= UINT32_MAX;
    }
    wave->state = ISA_WAVE_READY;
    wave->group = group;
    if (launch->checks) {
        wave->checks = &worker->checks[number];
        isa_checks_begin(wave->checks);
    }
    wave->counts = launch->count > 0 ? &worker->counts : NULL;
    if (wave->counts != NULL) {
        isa_count_begin(wave);
    }
    isa_initial_registers(wave);
}

static void begin_lds(isa_worker *worker) {
    static const struct fmha_emu_site site = {.file = "", .line = 0};
    isa_group *group = &worker->group;
    group->lds = worker->lds_area + EMU_LDS_GAP_BYTES;
    isa_barrier_begin(group);
    if (worker->lds == NULL) {
        memset(group->lds, POISON, group->lds_bytes);
        return;
    }
    emu_lds_begin(worker->lds);
    if (group->lds_bytes > 0) {
        emu_lds_add(worker->lds, &site, group->lds_bytes);
    }
    group->lds_state = worker->lds;
}

static void begin_group(isa_worker *worker, unsigned long long number) {
    isa_group *group = &worker->group;
    const isa_launch *launch = group->launch;
    group->number = number;
    group->at[0] = (unsigned)(number % launch->grid[0]);
    group->at[1] = (unsigned)(number / launch->grid[0] % launch->grid[1]);
    group->at[2] = (unsigned)(number / launch->grid[0] / launch->grid[1]);
    group->arriving = 0;
    group->random = launch->seed ^ number * 0xd1342543de82ef95u;
    begin_lds(worker);
    group->scratch = worker->scratch;
    if (worker->scratch != NULL) {
        memset(worker->scratch, POISON, group->scratch_bytes_lane * group->wave_count * launch->kernel->wave);
    }
    for (unsigned i = 0; i < group->wave_count; i++) {
        begin_wave(worker, i);
    }
}

/* ---- A workgroup runs -----------------------------------------------------------------------------------------------
 */

/* Draws the order of the waves until they meet next; seed 0: that of their numbers. */
static void draw_order(isa_worker *worker) {
    unsigned count = worker->group.wave_count;
    for (unsigned i = 0; i < count; i++) {
        worker->order[i] = i;
    }
    for (unsigned i = count; i > 1 && worker->group.launch->seed != 0; i--) {
        unsigned other = (unsigned)(next_random(&worker->group.random) % i), kept = worker->order[i - 1];
        worker->order[i - 1] = worker->order[other];
        worker->order[other] = kept;
    }
}

static double thread_seconds(void) {
    struct timespec used;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + 1e-9 * (double)used.tv_nsec : 0;
}

/* Whether the workgroup has computed for longer than it may, which is told of at a wave that goes on. */
static bool is_overdue(isa_wave *wave, double began) {
    unsigned limit = wave->group->launch->seconds;
    if (limit == 0 || thread_seconds() - began <= limit) {
        return false;
    }
    isa_give_up(wave, "no-end",
                "no end within %u s of computing: look for a loop that does not advance, or raise FMHA_ISA_SECONDS",
                limit);
    return true;
}

/* Runs every wave until it waits or has ended. False: one of them has failed. */
static bool run_to_barrier(isa_worker *worker, double began) {
    isa_group *group = &worker->group;
    bool going = true;
    draw_order(worker);
    while (going) {
        going = false;
        for (unsigned i = 0; i < group->wave_count; i++) {
            isa_wave *wave = &group->waves[worker->order[i]];
            if (wave->state != ISA_WAVE_READY) {
                continue;
            }
            isa_wave_run(wave, STEPS);
            if (wave->failed || (wave->state == ISA_WAVE_READY && is_overdue(wave, began))) {
                return false;
            }
            going = going || wave->state == ISA_WAVE_READY;
        }
    }
    return true;
}

/* All waves wait or have ended. An ended wave counts as arrived: "If some waves in the work-group have already
 * terminated, this waits on only the surviving waves" (RDNA3 guide, SOPP, S_BARRIER). Returns one that goes on; NULL:
 * none waits. */
static isa_wave *pass_barrier(isa_group *group) {
    isa_wave *waiting = NULL;
    for (unsigned i = 0; i < group->wave_count; i++) {
        group->waves[i].signaled = false;
        if (group->waves[i].state == ISA_WAVE_WAITING) {
            group->waves[i].state = ISA_WAVE_READY;
            waiting = &group->waves[i];
        }
    }
    if (waiting != NULL && group->lds_state != NULL) {
        isa_barrier_passed(group);
    }
    return waiting;
}

static void run_group(isa_worker *worker, unsigned long long number) {
    isa_group *group = &worker->group;
    begin_group(worker, number);
    double began = thread_seconds();
    isa_wave *next = NULL;
    bool failed = false;
    do {
        failed = !run_to_barrier(worker, began);
        next = failed ? NULL : pass_barrier(group);
    } while (next != NULL && !(failed = is_overdue(next, began)));
    if (failed) {
        atomic_fetch_add(&group->launch->given_up, 1);
    }
    worker->waves += group->wave_count;
}

/* ---- Workers --------------------------------------------------------------------------------------------------------
 */

static void worker_free(isa_worker *worker) {
    if (worker != NULL) {
        free(worker->counts.tallies);
        isa_barrier_free(&worker->group);
        free(worker->lds);
        free(worker->lds_area);
        free(worker->vgprs);
        free(worker->scratch);
        free(worker);
    }
}

static size_t rounded(size_t bytes) {
    return (bytes + alignof(max_align_t) * 4) / 64 * 64 + 64;
}

/* NULL without memory. */
static isa_worker *worker_new(isa_launch *launch) {
    const isa_kernel *kernel = launch->kernel;
    isa_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        return NULL;
    }
    isa_group *group = &worker->group;
    unsigned items = launch->workgroup[0] * launch->workgroup[1] * launch->workgroup[2];
    group->launch = launch;
    group->wave_count = (items + kernel->wave - 1) / kernel->wave;
    group->lds_bytes = kernel->lds_bytes + launch->lds_dynamic_bytes;
    group->scratch_bytes_lane = kernel->scratch_bytes;
    size_t scratch_bytes = (size_t)kernel->scratch_bytes * group->wave_count * kernel->wave;
    worker->lds_area = aligned_alloc(64, EMU_LDS_AREA_BYTES);
    worker->vgprs = aligned_alloc(64, rounded((size_t)group->wave_count * kernel->registers * sizeof *worker->vgprs));
    bool complete = worker->lds_area != NULL && worker->vgprs != NULL;
    if (scratch_bytes > 0) {
        worker->scratch = aligned_alloc(64, rounded(scratch_bytes));
        complete = complete && worker->scratch != NULL;
    }
    if (launch->checks) {
        worker->lds = calloc(1, sizeof *worker->lds);
        complete = complete && worker->lds != NULL;
    }
    if (complete && worker->lds != NULL) {
        worker->lds->area = worker->lds_area;
    }
    if (launch->count > 0) {
        worker->counts.costs = launch->costs;
        worker->counts.tallies = calloc(kernel->count, sizeof *worker->counts.tallies);
        complete = complete && worker->counts.tallies != NULL;
    }
    if (!complete) {
        worker_free(worker);
        return NULL;
    }
    return worker;
}

static void *work(void *argument) {
    isa_worker *worker = argument;
    isa_launch *launch = worker->group.launch;
    for (;;) {
        unsigned long long number = atomic_fetch_add(&launch->next_group, 1);
        if (number >= launch->groups) {
            break;
        }
        run_group(worker, number);
    }
    isa_report_end(worker);
    if (launch->count > 0) {
        isa_counters_add(launch->counters, launch, &worker->counts, worker->waves);
    }
    return NULL;
}

/* That this process may use. */
static unsigned processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

fmha_status isa_launch_run(isa_launch *launch, unsigned threads) {
    pthread_t thread[EMU_THREADS_MAX];
    isa_worker *workers[EMU_THREADS_MAX];
    threads = threads > 0 ? threads : processors();
    threads = threads < EMU_THREADS_MAX ? threads : EMU_THREADS_MAX;
    threads = threads < launch->groups ? threads : (unsigned)launch->groups;
    unsigned made = 0, started = 0;
    int problem = 0;
    while (made < threads && (workers[made] = worker_new(launch)) != NULL) {
        made++;
    }
    /* Fewer threads than wanted do all the work; none is an error. */
    while (started < made && (problem = pthread_create(&thread[started], NULL, work, workers[started])) == 0) {
        started++;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(thread[i], NULL);
    }
    for (unsigned i = 0; i < made; i++) {
        worker_free(workers[i]);
    }
    if (made == 0) {
        return isa_fail(FMHA_ERROR_MEMORY, "isa: out of memory for a workgroup of %s: free memory and run again",
                        launch->kernel->symbol);
    }
    if (started == 0) {
        return isa_fail(FMHA_ERROR_DRIVER, "isa: cannot start a thread (%s): raise ulimit -u", strerror(problem));
    }
    if (launch->count > 0) {
        isa_counters_launched(launch->counters, launch->groups);
    }
    return FMHA_OK;
}

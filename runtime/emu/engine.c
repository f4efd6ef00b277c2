#include "engine.h"

#include <errno.h>
#include <fenv.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "access.h"
#include "count.h"
#include "emu.h"
#include "fcontext.h"
#include "ops.h"
#include "report.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

/* Stacks that began at the same offset in their pages would share the same few cache sets, so each begins a little
 * lower than the one before. */
enum {
    STACK_BYTES = EMU_STACK_BLOCK - EMU_STACK_GUARD,
    OWNER_BYTES = 64, /* for the pointer at the lower end */
    COLOUR_BYTES = 1088,
    COLOURS = 64,
    USABLE_BYTES = STACK_BYTES - OWNER_BYTES - COLOURS * COLOUR_BYTES,
    LDS_MAP_BYTES = 3 * EMU_LDS_AREA_BYTES,               /* the area between two of inaccessible memory */
    PRODUCTS_BYTES = EMU_WAVES_MAX * sizeof(emu_products) /* only what multiplies so touches it */
};
#define STACKS_BYTES (EMU_LANES_MAX * EMU_STACK_BLOCK)

#define SIGNAL_STACK_BYTES (64 * 1024)

/* Kept out of the way of meet(), which runs for every lane of every operation. */
#define COLD __attribute__((noinline, cold))

_Thread_local emu_lane *emu_current;

/* ---- Lanes ----------------------------------------------------------------------------------------------------------
 */

void emu_switch(emu_lane *from, emu_lane *to) {
    *from->current = to;
    emu_transfer back = jump_fcontext(to->context, from);
    ((emu_lane *)back.data)->context = back.context;
}

static uint64_t next_random(emu_worker *worker) {
    uint64_t x = worker->random += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void draw_order(emu_worker *worker) {
    worker->turn = 0;
    if (worker->launch->seed == 0) {
        return;
    }
    for (unsigned left = worker->wave_count; left > 1; left--) {
        unsigned chosen = (unsigned)(next_random(worker) % left);
        unsigned wave = worker->order[left - 1];
        worker->order[left - 1] = worker->order[chosen];
        worker->order[chosen] = wave;
    }
}

/* The lane to run when the wave whose turn it was can go no further. */
static emu_lane *next_wave(emu_worker *worker) {
    for (;;) {
        for (; worker->turn < worker->wave_count; worker->turn++) {
            emu_wave *wave = &worker->waves[worker->order[worker->turn]];
            if (wave->state == EMU_WAVE_READY) {
                return wave->resume;
            }
        }
        if (worker->live_waves == 0) {
            return &worker->host;
        }
        for (unsigned i = 0; i < worker->wave_count; i++) { /* all that live wait at a barrier: it opens */
            if (worker->waves[i].state == EMU_WAVE_WAITING) {
                worker->waves[i].state = EMU_WAVE_READY;
            }
        }
        emu_lds_waves_met(worker->lds);
        draw_order(worker);
    }
}

emu_lane *emu_wave_waits(emu_wave *wave, emu_lane *resume) {
    wave->state = EMU_WAVE_WAITING;
    wave->resume = resume;
    return next_wave(wave->worker);
}

void emu_abandon(emu_worker *worker) {
    emu_lane *self = emu_current;
    atomic_fetch_add(&worker->launch->given_up, 1);
    emu_switch(self, &worker->host);
}

void emu_crashed(emu_worker *worker, int signal, void *const *address) {
    worker->fault_signal = signal;
    worker->fault_has_address = address != NULL;
    worker->fault_address = address != NULL ? *address : NULL;
    worker->fault_lane = emu_current;
    emu_abandon(worker);
}

/* ---- Divergence -----------------------------------------------------------------------------------------------------
 */

static const char divergence_cure[] =
    "all lanes of a wave must reach the same one: move it out of the branch or loop, or "
    "make the condition the same for the whole wave";

COLD static void report_divergence(const emu_lane *lane, const struct fmha_emu_site *site) {
    emu_wave *wave = lane->wave;
    char place[EMU_WHERE_BYTES];
    emu_report(wave->worker, "divergent-collective", site,
               "lane %u reaches %s while lane %u waits for it in %s at %s:%d (%s): %s", lane->seen.index, site->name,
               wave->first->seen.index, wave->site->name, wave->site->file, wave->site->line, emu_where(wave, place),
               divergence_cure);
    emu_abandon(wave->worker);
}

COLD static void report_ended(emu_wave *wave) {
    char place[EMU_WHERE_BYTES];
    emu_report(
        wave->worker, "divergent-collective", wave->site,
        "%s lacks lane %d, which has returned, while lane %u waits in it (%s): lanes without work must stay to the "
        "end; guard their loads and stores instead",
        wave->site->name, __builtin_ctzll(wave->ended), wave->first->seen.index, emu_where(wave, place));
    emu_abandon(wave->worker);
}

COLD static void report_partial(emu_wave *wave) {
    char place[EMU_WHERE_BYTES];
    emu_report(wave->worker, "divergent-collective", wave->site,
               "%s needs all %u lanes of the wave, got %d (%s): launch a multiple of %u work items", wave->site->name,
               wave->worker->launch->wave, __builtin_popcountll(wave->present), emu_where(wave, place),
               wave->worker->launch->wave);
    emu_abandon(wave->worker);
}

/* ---- Meeting --------------------------------------------------------------------------------------------------------
 */

/* A wave with lanes missing is about to execute. */
COLD static void check_missing(emu_wave *wave, emu_need need) {
    if (need != EMU_NEED_LIVE && wave->ended != 0) {
        report_ended(wave);
    }
    if (need == EMU_NEED_WHOLE) {
        report_partial(wave);
    }
}

static void meet(struct fmha_emu_lane *seen, const struct fmha_emu_site *site) {
    emu_lane *lane = (emu_lane *)seen;
    emu_wave *wave = lane->wave;
    if (wave->arrived == 0) {
        wave->site = site;
        wave->first = lane;
    } else if (wave->site != site) {
        report_divergence(lane, site);
    }
    if (++wave->arrived < wave->live) {
        emu_switch(lane, lane->next);
        return;
    }
    wave->arrived = 0;
    const emu_operation *operation = &emu_operations[site->operation];
    if (wave->live != wave->worker->launch->wave) {
        check_missing(wave, operation->need);
    }
    if (wave->worker->count != NULL) {
        emu_count_met(wave->worker);
    }
    operation->execute(wave, site);
}

/* A lane returns from its kernel; the lane that runs next. */
static emu_lane *end_lane(emu_lane *lane) {
    emu_wave *wave = lane->wave;
    emu_worker *worker = wave->worker;
    lane->next->previous = lane->previous;
    lane->previous->next = lane->next;
    wave->ended |= (uint64_t)1 << lane->seen.index;
    wave->live--;
    if (wave->live == 0) {
        wave->state = EMU_WAVE_ENDED;
        worker->live_waves--;
        emu_count_met(worker);
        return next_wave(worker);
    }
    if (wave->arrived > 0 && emu_operations[wave->site->operation].need != EMU_NEED_LIVE) {
        report_ended(wave);
    }
    if (wave->arrived < wave->live) {
        return lane->next;
    }
    wave->arrived = 0; /* all that live wait at a barrier */
    emu_count_met(worker);
    emu_lds_lanes_met(worker->lds);
    return wave->site->operation == FMHA_EMU_S_BARRIER ? emu_wave_waits(wave, lane->next) : lane->next;
}

static void lane_main(emu_transfer from) {
    ((emu_lane *)from.data)->context = from.context;
    emu_lane *lane = emu_current;
    const emu_launch *launch = lane->wave->worker->launch;
    launch->run(launch->arguments);
    emu_switch(lane, end_lane(lane));
}

static struct fmha_emu_lane *this_lane(void) {
    return &emu_current->seen;
}

/* ---- LDS ------------------------------------------------------------------------------------------------------------
 */

static void *lds(struct fmha_emu_lane *seen, const struct fmha_emu_site *site, unsigned long bytes) {
    emu_wave *wave = ((emu_lane *)seen)->wave;
    emu_worker *worker = wave->worker;
    emu_lds *own = worker->lds;
    const emu_lds_block *block = emu_lds_find(own, site, bytes);
    if (block != NULL) {
        return own->area + block->place;
    }
    size_t limit = worker->launch->chip->lds_bytes_workgroup, used = (own->used + 15) / 16 * 16;
    char place[EMU_WHERE_BYTES];
    if (bytes > limit || used + bytes > limit) {
        emu_report(worker, "lds-overflow", site,
                   "%lu bytes of LDS on top of %zu, expected at most %zu on %s (%s): use smaller tiles", bytes, used,
                   limit, worker->launch->chip->arch, emu_where(wave, place));
        emu_abandon(worker);
    }
    if (own->block_count == EMU_LDS_BLOCKS_MAX) {
        emu_report(worker, "lds-overflow", site, "more than %d LDS blocks (%s): declare LDS once, outside loops",
                   (int)EMU_LDS_BLOCKS_MAX, emu_where(wave, place));
        emu_abandon(worker);
    }
    return own->area + emu_lds_add(own, site, bytes)->place;
}

static void *lds_dynamic(struct fmha_emu_lane *seen, const struct fmha_emu_site *site) {
    return lds(seen, site, ((emu_lane *)seen)->wave->worker->launch->lds_dynamic_bytes);
}

static void wait_lds_loads(struct fmha_emu_lane *seen, unsigned left) {
    emu_lds_loads_wait(((emu_lane *)seen)->wave, left);
}

void emu_engine_fill(struct fmha_emu_engine *engine) {
    *engine = (struct fmha_emu_engine){
        .lane = this_lane,
        .meet = meet,
        .lds = lds,
        .lds_dynamic = lds_dynamic,
        .wait_lds_loads = wait_lds_loads,
        .copy_begin = emu_copy_begin,
        .copy_commit = emu_copy_commit,
        .copy_wait = emu_copy_wait,
        .shared = emu_products_shared,
        .show = emu_products_show,
        .read_bytes = emu_access_read_bytes,
        .write_bytes = emu_access_write_bytes,
        .copy = emu_access_copy,
        .fill = emu_access_fill,
        .misaligned = emu_access_misaligned,
    };
    memcpy(engine->read, emu_access_read, sizeof engine->read);
    memcpy(engine->write, emu_access_write, sizeof engine->write);
}

/* ---- Workgroups -----------------------------------------------------------------------------------------------------
 */

static unsigned char *stack_block(const emu_worker *worker, unsigned lane) {
    return worker->stacks + lane * EMU_STACK_BLOCK;
}

static void *stack_top(const emu_worker *worker, unsigned lane) {
    return stack_block(worker, lane + 1) - (size_t)(lane % COLOURS) * COLOUR_BYTES;
}

static bool in_stack_guard(const emu_worker *worker, const emu_lane *lane, const void *address) {
    const unsigned char *guard = stack_block(worker, (unsigned)(lane - worker->lanes)), *at = address;
    return at >= guard && at < guard + EMU_STACK_GUARD;
}

static void set_lane(emu_worker *worker, unsigned number) {
    const emu_launch *launch = worker->launch;
    emu_wave *wave = &worker->waves[number / launch->wave];
    emu_lane *lane = &worker->lanes[number];
    struct fmha_emu_lane *seen = &lane->seen;
    seen->index = number % launch->wave;
    seen->workitem[0] = number % launch->workgroup[0];
    seen->workitem[1] = number / launch->workgroup[0] % launch->workgroup[1];
    seen->workitem[2] = number / launch->workgroup[0] / launch->workgroup[1];
    for (int i = 0; i < 3; i++) {
        seen->workgroup[i] = worker->group_at[i];
        seen->workgroup_size[i] = launch->workgroup[i];
        seen->grid[i] = launch->grid[i];
    }
    lane->wave = wave;
    lane->current = worker->host.current;
    lane->lds = worker->lds;
    lane->lds_begin = (uintptr_t)worker->lds->area;
    lane->copies = &worker->copies[number];
    lane->copies->count = lane->copies->groups = 0;
    lane->number = (uint16_t)number;
    lane->shown = lane->shown_before = 0;
    lane->shown_met = worker->lds->met;
    lane->wave_mark = (uint8_t)(wave->number + 1);
    lane->lane_mark = (uint8_t)(seen->index + 1);
    memcpy(stack_block(worker, number) + EMU_STACK_GUARD, &lane, sizeof(emu_lane *));
    lane->context = make_fcontext(stack_top(worker, number), USABLE_BYTES, lane_main);
}

static void set_wave(emu_worker *worker, unsigned number, unsigned lanes) {
    emu_lane *first = &worker->lanes[number * worker->launch->wave];
    worker->waves[number] = (emu_wave){
        .worker = worker,
        .lanes = first,
        .resume = first,
        .present = lanes == 64 ? UINT64_MAX : ((uint64_t)1 << lanes) - 1,
        .live = lanes,
        .number = number,
        .state = EMU_WAVE_READY,
    };
    for (unsigned i = 0; i < lanes; i++) {
        first[i].next = &first[i + 1 < lanes ? i + 1 : 0];
        first[i].previous = &first[i > 0 ? i - 1 : lanes - 1];
    }
    worker->order[number] = number;
}

/* Where a lane was: faults have no place in the text of their own, so the last meeting point stands for it. */
static const char *fault_place(const emu_worker *worker, char text[160]) {
    const emu_lane *lane = worker->fault_lane;
    char place[EMU_WHERE_BYTES];
    snprintf(text, 160, "%s meeting point (%s, lane %u)", lane->wave->site != NULL ? "after this" : "before the first",
             emu_where(lane->wave, place), lane->seen.index);
    return text;
}

static void report_bad_access(emu_worker *worker) {
    const struct fmha_emu_site *site = worker->fault_lane->wave->site;
    char place[160], address[256];
    if (!worker->fault_has_address) {
        emu_report(worker, "crash", site, "access to an address that no memory has, %s: check pointers and strides",
                   fault_place(worker, place));
    } else if (in_stack_guard(worker, worker->fault_lane, worker->fault_address)) {
        emu_report(worker, "crash", site, "more than %d KiB of private arrays, %s: keep less in a lane",
                   USABLE_BYTES / 1024, fault_place(worker, place));
    } else {
        emu_memory_describe(worker->launch->memory, worker->fault_address, address, sizeof address);
        emu_report(worker, "crash", site, "access to address 0x%llx, %s, %s: check pointers, strides and bounds",
                   (unsigned long long)(uintptr_t)worker->fault_address, address, fault_place(worker, place));
    }
}

static void report_fault(emu_worker *worker) {
    const struct fmha_emu_site *site = worker->fault_lane->wave->site;
    char place[160];
    switch (worker->fault_signal) {
    case SIGXCPU:
        emu_report(worker, "no-end", site,
                   "no end within %u s of computing, %s: look for a loop that does not advance, or raise "
                   "FMHA_EMU_SECONDS",
                   worker->launch->seconds, fault_place(worker, place));
        break;
    case SIGFPE:
        emu_report(worker, "crash", site, "integer division by zero or overflow, %s: look for a divisor of 0",
                   fault_place(worker, place));
        break;
    case SIGILL:
        emu_report(worker, "crash", site,
                   "illegal instruction, %s: look for code that the compiler could take to be unreachable",
                   fault_place(worker, place));
        break;
    default:
        report_bad_access(worker);
    }
}

static void run_group(emu_worker *worker, unsigned long long group) {
    const emu_launch *launch = worker->launch;
    unsigned lanes = launch->workgroup[0] * launch->workgroup[1] * launch->workgroup[2];
    worker->group = group;
    worker->group_at[0] = (unsigned)(group % launch->grid[0]);
    worker->group_at[1] = (unsigned)(group / launch->grid[0] % launch->grid[1]);
    worker->group_at[2] = (unsigned)(group / launch->grid[0] / launch->grid[1]);
    worker->random = launch->seed * 0xd1342543de82ef95u + group;
    worker->wave_count = worker->live_waves = (lanes + launch->wave - 1) / launch->wave;
    emu_lds_begin(worker->lds);
    worker->lds_loads = 0;
    if (worker->count != NULL) {
        emu_count_met(worker); /* of a workgroup that was given up */
        worker->count->total[EMU_COUNT_WORKGROUPS]++;
    }
    for (unsigned i = 0; i < worker->wave_count; i++) {
        unsigned left = lanes - i * launch->wave;
        set_wave(worker, i, left < launch->wave ? left : launch->wave);
    }
    for (unsigned i = 0; i < lanes; i++) {
        set_lane(worker, i);
    }
    emu_products_begin(worker);
    worker->fault_signal = 0;
    draw_order(worker);
    emu_switch(&worker->host, next_wave(worker));
    if (worker->fault_signal != 0) {
        report_fault(worker);
    } else if (worker->live_waves == 0) {
        emu_products_end(worker);
    }
}

void emu_worker_run(emu_worker *worker, emu_launch *launch) {
    stack_t ours = {.ss_sp = worker->signal_stack, .ss_size = SIGNAL_STACK_BYTES}, before;
    sigaltstack(&ours, &before);
    fesetenv(FE_DFL_ENV); /* the caller's rounding and flush-to-zero modes are not the chip's */
    worker->launch = launch;
    worker->recent = NULL;
    worker->static_begin = worker->static_end = 0;
    emu_report_begin(worker);
    if (launch->counters != NULL) {
        emu_count_worker_begin(worker);
    }
    worker->host = (emu_lane){.current = &emu_current};
    emu_current = &worker->host;
    for (;;) {
        unsigned long long group = atomic_fetch_add(&launch->next_group, 1);
        if (group >= launch->groups) {
            break;
        }
        atomic_fetch_add(&worker->started, 1);
        run_group(worker, group);
    }
    emu_current = NULL;
    emu_report_end(worker);
    if (launch->counters != NULL) {
        emu_count_worker_end(worker, launch->counters);
    }
    sigaltstack(&before, NULL);
    atomic_store(&worker->finished, true);
}

static unsigned char *map(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

fmha_status emu_worker_init(emu_worker *worker) {
    memset(worker, 0, sizeof *worker);
    worker->lanes = aligned_alloc(alignof(emu_lane), EMU_LANES_MAX * sizeof *worker->lanes);
    worker->copies = calloc(EMU_LANES_MAX, sizeof *worker->copies);
    worker->stacks_map = map(STACKS_BYTES + EMU_STACK_BLOCK);
    worker->stacks = worker->stacks_map; /* the first block boundary in it */
    worker->stacks += -(uintptr_t)worker->stacks & (EMU_STACK_BLOCK - 1);
    worker->lds = calloc(1, sizeof *worker->lds);
    worker->lds_map = map(LDS_MAP_BYTES);
    unsigned char *products = map(PRODUCTS_BYTES);
    worker->products = (emu_products *)(void *)products;
    worker->signal_stack = malloc(SIGNAL_STACK_BYTES);
    bool made = worker->lanes != NULL && worker->copies != NULL && products != NULL && worker->stacks_map != NULL &&
                worker->lds != NULL && worker->lds_map != NULL && worker->signal_stack != NULL;
    for (size_t i = 0; made && i < EMU_LANES_MAX; i++) {
        made = mprotect(stack_block(worker, (unsigned)i), EMU_STACK_GUARD, PROT_NONE) == 0;
    }
    made = made && mprotect(worker->lds_map, EMU_LDS_AREA_BYTES, PROT_NONE) == 0 &&
           mprotect(worker->lds_map + 2 * (size_t)EMU_LDS_AREA_BYTES, EMU_LDS_AREA_BYTES, PROT_NONE) == 0;
    if (!made) {
        int problem = errno;
        emu_worker_free(worker);
        return emu_fail(FMHA_ERROR_MEMORY,
                        "emulated device: no memory for the stacks of %d lanes (%s): set FMHA_EMU_THREADS=1, or raise "
                        "ulimit -v or vm.max_map_count",
                        (int)EMU_LANES_MAX, strerror(problem));
    }
    worker->lds->area = worker->lds_map + EMU_LDS_AREA_BYTES;
    return FMHA_OK;
}

void emu_worker_free(emu_worker *worker) {
    free(worker->lanes);
    free(worker->copies);
    free(worker->lds);
    free(worker->signal_stack);
    if (worker->products != NULL) {
        munmap(worker->products, PRODUCTS_BYTES);
    }
    if (worker->stacks_map != NULL) {
        /* Lanes end in the middle of their calls: the address sanitizer would hold their frames against whoever gets
         * this memory next. */
        ASAN_UNPOISON_MEMORY_REGION(worker->stacks_map, STACKS_BYTES + EMU_STACK_BLOCK);
        munmap(worker->stacks_map, STACKS_BYTES + EMU_STACK_BLOCK);
    }
    if (worker->lds_map != NULL) {
        munmap(worker->lds_map, LDS_MAP_BYTES);
    }
    memset(worker, 0, sizeof *worker);
}

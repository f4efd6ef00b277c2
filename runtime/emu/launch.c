#include "launch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu.h"
#include "fault.h"

enum {
    WATCH_MS = 100 /* how often the watchdog looks at a launch that lasts */
};

typedef struct running {
    pthread_t thread;
    emu_worker *worker;
    emu_launch *launch;
    unsigned long long seen_started; /* the workgroup that the watchdog saw last, and the thread's time then */
    double seen_seconds;
    bool joined;
} running;

static void *run(void *argument) {
    running *self = argument;
    emu_worker_run(self->worker, self->launch);
    return NULL;
}

static fmha_status make_workers(emu_workers *workers, unsigned count) {
    while (workers->count < count) {
        emu_worker *worker = aligned_alloc(alignof(emu_worker), sizeof *worker);
        if (worker == NULL) {
            return emu_fail(FMHA_ERROR_MEMORY, "emulated device: out of memory for a thread");
        }
        fmha_status status = emu_worker_init(worker);
        if (status != FMHA_OK) {
            free(worker);
            return status;
        }
        workers->list[workers->count++] = worker;
    }
    return FMHA_OK;
}

static double thread_seconds(pthread_t thread) {
    clockid_t clock;
    struct timespec used;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static void watch(running *one) {
    unsigned long long started = atomic_load(&one->worker->started);
    double seconds = thread_seconds(one->thread);
    if (started != one->seen_started) {
        one->seen_started = started;
        one->seen_seconds = seconds;
        atomic_store(&one->worker->overdue, false);
    } else if (one->launch->seconds > 0 && seconds - one->seen_seconds > one->launch->seconds) {
        emu_fault_interrupt(one->thread, one->worker);
    }
}

/* Waits for all, and looks in between whether a workgroup has no end. */
static void join(running *all, unsigned count) {
    for (unsigned i = 0; i < count;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WATCH_MS * 1000000L;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_nsec -= 1000000000L;
            until.tv_sec++;
        }
        if (pthread_timedjoin_np(all[i].thread, NULL, &until) != ETIMEDOUT) {
            all[i].joined = true;
            i++;
            continue;
        }
        for (unsigned j = i; j < count; j++) {
            if (!atomic_load(&all[j].worker->finished)) {
                watch(&all[j]);
            }
        }
    }
}

/* That this process may use. */
static unsigned processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

fmha_status emu_launch_run(emu_workers *workers, emu_launch *launch, unsigned threads) {
    threads = threads > 0 ? threads : processors();
    threads = threads < EMU_THREADS_MAX ? threads : EMU_THREADS_MAX;
    threads = threads < launch->groups ? threads : (unsigned)launch->groups;
    threads = threads > 0 ? threads : 1;
    fmha_status status = make_workers(workers, threads);
    if (status != FMHA_OK) {
        return status;
    }
    running *all = calloc(threads, sizeof *all);
    if (all == NULL) {
        return emu_fail(FMHA_ERROR_MEMORY, "emulated device: out of memory for %u threads", threads);
    }
    emu_fault_begin();
    unsigned started = 0;
    int problem = 0;
    for (; started < threads && problem == 0; started += problem == 0) {
        running *one = &all[started];
        one->worker = workers->list[started];
        one->launch = launch;
        atomic_store(&one->worker->started, 0);
        atomic_store(&one->worker->finished, false);
        atomic_store(&one->worker->overdue, false);
        problem = pthread_create(&one->thread, NULL, run, one);
    }
    join(all, started); /* fewer threads than wanted do all the work; none is an error */
    emu_fault_end();
    free(all);
    if (started == 0) {
        return emu_fail(FMHA_ERROR_DRIVER, "emulated device: cannot start a thread (%s): raise ulimit -u",
                        strerror(problem));
    }
    return FMHA_OK;
}

void emu_workers_free(emu_workers *workers) {
    for (unsigned i = 0; i < workers->count; i++) {
        emu_worker_free(workers->list[i]);
        free(workers->list[i]);
    }
    workers->count = 0;
}

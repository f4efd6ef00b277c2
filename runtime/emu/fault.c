#include "fault.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

/* SIGXCPU is the watchdog's: it is sent to one thread, by emu_fault_interrupt. */
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU};
enum { SIGNAL_COUNT = sizeof signals / sizeof signals[0] };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static struct sigaction before[SIGNAL_COUNT];

static uintptr_t program_counter(void *context) {
    const ucontext_t *machine = context;
#if defined(__x86_64__)
    return (uintptr_t)machine->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)machine->uc_mcontext.pc;
#else
#error "emulated device: say here where this processor's signal context holds the program counter"
#endif
}

static void pass_on(int signal, siginfo_t *info, void *context) {
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (signals[i] != signal) {
            continue;
        }
        if ((before[i].sa_flags & SA_SIGINFO) != 0) {
            before[i].sa_sigaction(signal, info, context);
        } else if (before[i].sa_handler == SIG_DFL) {
            sigaction(signal, &before[i], NULL); /* the fault repeats and ends the process, as it would have */
            if (info->si_code <= 0) {
                raise(signal);
            }
        } else if (before[i].sa_handler != SIG_IGN) {
            before[i].sa_handler(signal);
        }
    }
}

static void on_signal(int signal, siginfo_t *info, void *context) {
    emu_lane *lane = emu_current;
    emu_worker *worker = lane != NULL && lane->wave != NULL ? lane->wave->worker : NULL;
    if (signal == SIGXCPU && info->si_code <= 0) {
        /* Sent by a process: by our watchdog, unless the worker was not asked to stop. Elsewhere than in the kernel's
         * code, a lock may be held or the engine be between two states; the watchdog tries again. */
        if (worker != NULL && atomic_load(&worker->overdue)) {
            uintptr_t at = program_counter(context);
            if (at >= worker->launch->text_begin && at < worker->launch->text_end) {
                emu_crashed(worker, signal, NULL);
            }
            return;
        }
        if (emu_current != NULL) {
            return; /* the workgroup ended meanwhile */
        }
    } else if (worker != NULL && info->si_code > 0) {
        emu_crashed(worker, signal, info->si_code == SI_KERNEL ? NULL : &info->si_addr);
    }
    pass_on(signal, info, context);
}

void emu_fault_begin(void) {
    pthread_mutex_lock(&lock);
    if (users++ == 0) {
        struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        sigemptyset(&action.sa_mask);
        for (int i = 0; i < SIGNAL_COUNT; i++) {
            sigaction(signals[i], &action, &before[i]);
        }
    }
    pthread_mutex_unlock(&lock);
}

void emu_fault_end(void) {
    pthread_mutex_lock(&lock);
    if (--users == 0) {
        for (int i = 0; i < SIGNAL_COUNT; i++) {
            struct sigaction now;
            if (sigaction(signals[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
                now.sa_sigaction == on_signal) {
                sigaction(signals[i], &before[i], NULL);
            }
        }
    }
    pthread_mutex_unlock(&lock);
}

void emu_fault_interrupt(pthread_t thread, emu_worker *worker) {
    atomic_store(&worker->overdue, true);
    pthread_kill(thread, SIGXCPU);
}

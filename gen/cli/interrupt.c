/* Signals are blocked everywhere and awaited by a thread, which may do what a handler may not: look for children, walk
 * a folder. Libraries of drivers start children of their own, so children are found in /proc and not in a list. */
#include "interrupt.h"

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 20, FREEZE_TRIES = 100 };

static enum command_children mode;
static char folder[4096]; /* "": none */
static sigset_t awaited;  /* those that were not ignored when the command started */
static atomic_int came;   /* the first signal */
static atomic_int frozen; /* threads that stand in `freeze` */

static void pause_ms(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* ---- Children --------------------------------------------------------------------------------------------------- */

/* Kills the process if it is a child of ours that leads a group of its own, and with it that group. */
static void kill_child(const char *number) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%.32s/stat", number);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    /* "1234 (name) S parent group": the name may hold anything */
    size_t end = length;
    while (end > 0 && line[end] != ')')
        end--;
    int parent = 0, group = 0;
    if (sscanf(line + end, ") %*c %d %d", &parent, &group) == 2 && parent == (int)getpid() && group == atoi(number))
        kill(-(pid_t)group, SIGKILL);
}

static void kill_children(void) {
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    while (processes && (entry = readdir(processes)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            kill_child(entry->d_name);
    if (processes)
        closedir(processes);
}

/* ---- Other threads ------------------------------------------------------------------------------------------------
 */

static void freeze(int signal_number) {
    (void)signal_number;
    atomic_fetch_add(&frozen, 1);
    for (;;)
        pause();
}

/* Stops all other threads, so that none starts another child or another file. One that is starting a child is stopped
 * when the child is there. */
static void freeze_others(void) {
    struct sigaction action = {.sa_handler = freeze, .sa_flags = SA_ONSTACK};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    int others = 0;
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *entry;
    while (threads && (entry = readdir(threads))) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread > 0 && thread != (pid_t)syscall(SYS_gettid))
            others += syscall(SYS_tgkill, getpid(), thread, SIGUSR2) == 0;
    }
    if (threads)
        closedir(threads);
    for (int i = 0; i < FREEZE_TRIES && atomic_load(&frozen) < others; i++)
        pause_ms(LOOK_MS);
}

/* ---- The folder ---------------------------------------------------------------------------------------------------
 */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *position) {
    (void)status, (void)type, (void)position;
    remove(path); /* what cannot be removed stays; the others go */
    return 0;
}

static void make_folder(void) {
    const char *parent = getenv("TMPDIR");
    int length = snprintf(folder, sizeof folder, "%s/fmhagen-XXXXXX", parent && *parent ? parent : "/tmp");
    /* Without a folder the command goes on: whoever needs one says why there is none. */
    if (length >= (int)sizeof folder || !mkdtemp(folder) || setenv("TMPDIR", folder, 1) != 0)
        folder[0] = '\0';
}

static void remove_folder(void) {
    if (folder[0])
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- The thread ---------------------------------------------------------------------------------------------------
 */

static void die(int signal_number) {
    freeze_others();
    kill_children();
    remove_folder();
    if (isatty(STDERR_FILENO))
        fputs("\r\033[Kfmhagen: interrupted\n", stderr);
    signal(signal_number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &awaited, NULL);
    raise(signal_number);
}

static void *watch(void *context) {
    (void)context;
    int signal_number = 0;
    while (sigwait(&awaited, &signal_number) != 0)
        continue;
    if (mode == CHILDREN_FINISH) {
        const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
        int second = -1;
        for (atomic_store(&came, signal_number); second < 0; second = sigtimedwait(&awaited, NULL, &pause))
            kill_children(); /* again and again: another thread may just have started one */
        signal_number = second;
    }
    die(signal_number);
    return NULL;
}

void interrupt_begin(enum command_children children) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    mode = children;
    if (mode == CHILDREN_NONE)
        return;
    sigemptyset(&awaited);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before;
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaddset(&awaited, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &awaited, NULL);
    make_folder();
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &awaited, NULL); /* the signals' defaults are all that is left */
}

void interrupt_end(void) {
    remove_folder();
}

bool interrupt_came(void) {
    return atomic_load(&came) != 0;
}

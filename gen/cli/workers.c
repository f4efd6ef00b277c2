#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct shift {
    const struct workers *workers;
    atomic_int next, finished;
    bool terminal;
};

static void *work(void *context) {
    struct shift *shift = context;
    const struct workers *workers = shift->workers;
    for (;;) {
        int item = atomic_fetch_add(&shift->next, 1);
        if (item >= workers->count || interrupt_came())
            return NULL;
        workers->work(workers->context, item);
        int finished = atomic_fetch_add(&shift->finished, 1) + 1;
        if (shift->terminal)
            fprintf(stderr, "\r\033[K[%d/%d] %s", finished, workers->count, workers->label(workers->context, item));
    }
}

void workers_run(const struct workers *workers) {
    struct shift shift = {.workers = workers, .terminal = isatty(STDERR_FILENO) != 0};
    int64_t wanted = workers->jobs ? workers->jobs : (int64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted > workers->count)
        wanted = workers->count;
    pthread_t *threads = wanted > 1 ? calloc((size_t)wanted - 1, sizeof *threads) : NULL;
    int started = 0;
    while (threads && started < wanted - 1 && pthread_create(&threads[started], NULL, work, &shift) == 0)
        started++;
    work(&shift);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    if (shift.terminal)
        fprintf(stderr, "\r\033[K");
}

bool compilers_find(const struct kernels *kernels, const char *command, struct compilers *compilers,
                    struct error *error) {
    size_t found = 0;
    compilers->found = calloc(kernels->count, sizeof *compilers->found);
    compilers->of = calloc(kernels->count, sizeof *compilers->of);
    if (!compilers->found || !compilers->of)
        return error_set(error, ERROR_RUN, "%s: out of memory", command);
    for (size_t i = 0; i < kernels->count; i++) {
        const char *arch = kernels->specs[i].arch;
        for (size_t j = 0; j < i && !compilers->of[i]; j++)
            if (strcmp(kernels->specs[j].arch, arch) == 0)
                compilers->of[i] = compilers->of[j];
        if (compilers->of[i])
            continue;
        bool serves = fmha_compiler_find(arch, &compilers->found[found]) == FMHA_OK;
        if (interrupt_came())
            return error_set(error, ERROR_RUN, "%s: interrupted; nothing was compiled", command);
        if (!serves)
            return error_set(error, ERROR_RUN, "%s", fmha_last_error());
        compilers->of[i] = &compilers->found[found++];
    }
    return true;
}

void compilers_free(struct compilers *compilers) {
    free(compilers->found);
    free(compilers->of);
    *compilers = (struct compilers){0};
}

/* Many instances through the compiler at once: threads that take one after the other, with progress on a terminal, and
 * the compilers that they use. */
#ifndef GEN_CLI_WORKERS_H
#define GEN_CLI_WORKERS_H

#include "compiler.h"
#include "kernels.h"

struct workers {
    int count;                                     /* of items */
    int64_t jobs;                                  /* threads; 0: one for each processor */
    void (*work)(void *context, int item);         /* called once for each item, by any thread */
    const char *(*label)(void *context, int item); /* what progress calls it */
    void *context;
};

/* Returns when every item is done, or after an interrupt when those that had begun are. */
void workers_run(const struct workers *workers);

/* The compiler of each emitted instance. */
struct compilers {
    fmha_compiler *found;     /* one for each chip */
    const fmha_compiler **of; /* of kernels->instances[i] */
};

/* Looks for one compiler for each chip. `command` names who was interrupted meanwhile. Free with compilers_free, on
 * failure too. */
bool compilers_find(const struct kernels *kernels, const char *command, struct compilers *compilers,
                    struct error *error);
void compilers_free(struct compilers *compilers);

#endif

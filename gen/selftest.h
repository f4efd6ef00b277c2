/* What a person with a certain chip can try and send: short verification and timing of a few kernels on each device,
 * with all that a reader of a report must know of the machine. */
#ifndef GEN_SELFTEST_H
#define GEN_SELFTEST_H

#include <stdbool.h>

#include "error.h"
#include "text.h"

struct template_engine;

#define SELFTEST_DEVICES_MAX 32

struct selftest_request {
    struct template_engine *engine;
    const char *const *devices; /* "hip:0", "emu:gfx1151" */
    int device_count;
    bool quick;                                        /* two kernels, one shape */
    void (*progress)(void *context, const char *what); /* NULL: never */
    void *progress_context;
};

struct selftest_counts {
    int devices, kernels, right; /* right: of the kernels */
};

/* Names the GPUs that are here, "hip:0", "cuda:0" and so on, in malloc'ed texts; at most SELFTEST_DEVICES_MAX. Without
 * any `why` says what was looked for. */
int selftest_find(char *devices[SELFTEST_DEVICES_MAX], struct text *why);

/* Adds the report. What does not work is part of it; false means out of memory alone. */
bool selftest_run(const struct selftest_request *request, struct text *out, struct selftest_counts *counts,
                  struct error *error);

#endif

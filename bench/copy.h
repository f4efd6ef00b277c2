/* A copy within the device's memory, as the yardstick of what reads memory and computes little. */
#ifndef BENCH_COPY_H
#define BENCH_COPY_H

#include "device.h"

struct copy {
    fmha_device *device;
    fmha_module *module;
    fmha_kernel *kernel;
    void *from, *to;
    size_t bytes; /* copied: a multiple of COPY_UNIT */
};

enum { COPY_UNIT = 4096 }; /* bytes of a workgroup */

/* Compiles the kernel and makes room for both sides. On failure there is nothing to free. */
fmha_status copy_begin(fmha_device *device, size_t bytes, struct copy *copy);
void copy_end(struct copy *copy);

/* Copies once and says what it took, in the driver's unit. */
fmha_status copy_measure(const struct copy *copy, double *amount);

#endif

/* Attention by three kernels that go through memory, as a baseline. */
#ifndef BENCH_UNFUSED_H
#define BENCH_UNFUSED_H

#include "device.h"

struct unfused {
    fmha_device *device;
    fmha_module *modules[3]; /* one for each kernel: an emulated device has no others */
    fmha_kernel *scores, *softmax, *product;
    void *score_memory, *weight_memory;
};

/* Bytes of scores (float32) and weights that a problem needs room for. */
size_t unfused_score_bytes(const fmha_forward_problem *problem);
size_t unfused_weight_bytes(const fmha_forward_problem *problem);

/* Compiles the kernels and makes room. FMHA_ERROR_MEMORY: the device has none. On failure there is nothing to free. */
fmha_status unfused_begin(fmha_device *device, const fmha_forward_problem *problem, struct unfused *unfused);
void unfused_end(struct unfused *unfused);

/* Runs it on dense contiguous tensors and says what all three took, in the driver's unit. */
fmha_status unfused_measure(const struct unfused *unfused, const fmha_forward_problem *problem, double *amount);

#endif

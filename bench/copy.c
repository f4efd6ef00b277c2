#include "copy.h"

#include "tools.h"

static const char text[] =
#include "copy_text.h"
    ;

/* As copy.hip has them. */
struct arguments {
    const void *from;
    void *to;
};

fmha_status copy_measure(const struct copy *copy, double *amount) {
    const struct arguments arguments = {copy->from, copy->to};
    const fmha_launch_config config = {.grid = {(uint32_t)(copy->bytes / COPY_UNIT), 1, 1},
                                       .workgroup = {256, 1, 1},
                                       .arguments = &arguments,
                                       .argument_bytes = sizeof arguments};
    return fmha_kernel_measure(copy->kernel, &config, amount);
}

fmha_status copy_begin(fmha_device *device, size_t bytes, struct copy *copy) {
    *copy = (struct copy){.device = device, .bytes = bytes};
    fmha_status status = bench_load(device, text, "bench_copy", "copy.hip", &copy->module, &copy->kernel);
    status = status == FMHA_OK ? fmha_memory_alloc(device, bytes, "copy from", &copy->from) : status;
    status = status == FMHA_OK ? fmha_memory_alloc(device, bytes, "copy to", &copy->to) : status;
    if (status != FMHA_OK) {
        copy_end(copy);
    }
    return status;
}

void copy_end(struct copy *copy) {
    if (copy->device == NULL) {
        return;
    }
    fmha_module_unload(copy->module);
    fmha_memory_free(copy->device, copy->from);
    fmha_memory_free(copy->device, copy->to);
    *copy = (struct copy){0};
}

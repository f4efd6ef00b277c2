/* What the tests of HIP and CUDA devices share, over the simulated runtimes of fake/. Everything asserts. */
#ifndef TESTS_RUNTIME_GPU_SUPPORT_H
#define TESTS_RUNTIME_GPU_SUPPORT_H

#include <stdint.h>

#include "fake/gpu.h"
#include "gpu.h"

#define GPU_SUPPORT_DMESG                                                                                              \
    "; the kernel log (dmesg) may say more, and a kernel that is at fault shows it on the emulated device"

/* A variable of a simulated library, fake_gpu_state or fake_rtc_state. */
void *gpu_symbol(const char *library, const char *name);

void gpu_expect_error(fmha_status got, fmha_status expected, const char *text);
void gpu_expect_open_error(const char *name, fmha_status expected, const char *text);

fmha_device *gpu_open(const char *name);

/* The kernel fmha_forward of a module for `target`. */
fmha_kernel *gpu_load_kernel(fmha_device *device, const char *target);

/* What a device is used with. */
typedef struct gpu_use {
    const char *target;
    size_t lds_bytes;                      /* of the launch */
    const char *names[GPU_FUNCTION_COUNT]; /* of the runtime's functions */
} gpu_use;

/* Goes through every call that a device offers, in the order of a program; the status of each goes to `report`, with
 * the name of the runtime's function. What cannot be done because of an earlier failure is left out. The launch has
 * the arguments "0123456789abcde". */
void gpu_use_device(fmha_device *device, const gpu_use *use, void (*report)(const char *call, fmha_status status));

extern const fmha_source gpu_source; /* of the kernel "k" */

/* The source does not compile, and the program is released. */
void gpu_expect_compile_error(fmha_device *device, const fake_rtc *rtc, fmha_status status, const char *text);

#endif

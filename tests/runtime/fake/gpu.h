/* A HIP runtime or a CUDA driver that simulates up to two devices: memory is the host's, kernels do nothing. It checks
 * what the real one leaves undefined (calls before it is initialized, memory and modules of another device) and records
 * what it is asked for. A test sees its state through the symbol fake_gpu_state. With $FAKE_GPU_LAUNCH_MS, for tests of
 * programs, every module has every kernel, and each launch takes that time. What the two have in the same form is in
 * gpu.c, under the names of gpu_names.h; what each has of its own, in hip.c and cuda.c. */
#ifndef TESTS_RUNTIME_FAKE_GPU_H
#define TESTS_RUNTIME_FAKE_GPU_H

#include <stddef.h>

#define FAKE_GPU_ALLOCATIONS 64

typedef struct fake_gpu {
    int device_count;
    const char *archs[2];
    int version;         /* of the runtime */
    int capability[2];   /* of CUDA devices, major·10 + minor */
    const char *fail_in; /* the function that fails with fail_code; NULL: none */
    int fail_code;
    int fail_after; /* calls of it that still succeed */
    int current;    /* the current device */
    int last_error; /* kept until hipGetLastError, if there is one */
    int memories, modules, launches, set_devices;
    int writes, reads;         /* copies to and from a device */
    void *synchronized_stream; /* -1: the whole device */
    int events;                /* alive */
    int contexts;              /* of CUDA, retained */
    void *lds_wanted; /* memory of the device that says what LDS the kernels of modules want; NULL: they do not */
    int lds_dynamic;  /* that launches of the last kernel may have */
    float launch_ms;  /* what each launch takes between two events */
    int row;          /* launches between the two events that were compared last */
    struct {
        void *function, *stream;
        unsigned grid[3], block[3], lds_bytes;
        size_t argument_bytes;
        unsigned char arguments[1024];
        int device;
    } launched;
} fake_gpu;

extern fake_gpu fake_gpu_state;

/* For the parts of the simulation. */
int fake_begin(const char *function); /* every function's first line: the result that it must return at once, or 0 */
int fake_give(int result);
extern int fake_initialized;
int fake_device_of(const void *address); /* -1: of none */

typedef struct fake_rtc {
    const char *fail_in;
    int programs;      /* alive */
    char options[512]; /* of the last compilation, joined by spaces */
    char name[128];
    const char *target; /* of what it makes; NULL: the chip of the options */
    const char *log;
    int newer; /* added to the minor version */
} fake_rtc;

#endif

/* A HIP runtime that simulates up to two devices: memory is the host's, kernels do nothing. It checks what the real one
 * leaves undefined (calls before hipInit, memory and modules of another device) and records what it is asked for. A
 * test sees its state through the symbol fake_hip_state. With $FAKE_HIP_LAUNCH_MS, for tests of programs, every module
 * has every kernel, and each launch takes that time. */
#ifndef TESTS_RUNTIME_FAKE_HIP_H
#define TESTS_RUNTIME_FAKE_HIP_H

#include <stddef.h>

#define FAKE_HIP_ALLOCATIONS 64

typedef struct fake_hip {
    int device_count;
    const char *archs[2];
    int version;         /* of the runtime */
    const char *fail_in; /* the function that fails with fail_code; NULL: none */
    int fail_code;
    int fail_after; /* calls of it that still succeed */
    int current;    /* the current device */
    int last_error; /* kept until hipGetLastError */
    int memories, modules, launches, set_devices;
    int copied_kind;
    void *synchronized_stream; /* -1: the whole device */
    int events;                /* alive */
    float launch_ms;           /* what each launch takes between two events */
    int row;                   /* launches between the two events that were compared last */
    struct {
        void *function, *stream;
        unsigned grid[3], block[3], lds_bytes;
        size_t argument_bytes;
        unsigned char arguments[1024];
        int device;
    } launched;
} fake_hip;

typedef struct fake_hiprtc {
    const char *fail_in;
    int programs;      /* alive */
    char options[512]; /* of the last compilation, joined by spaces */
    char name[128];
    const char *target; /* of what it makes; NULL: the chip of the options */
    const char *log;
    int newer; /* added to the minor version */
} fake_hiprtc;

#endif

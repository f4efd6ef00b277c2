/* Built three times: with the properties of ROCm 6 (FAKE_REVISION 6), those of 5 (0), and one function short (-1). */
#include "hip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT fake_hip fake_hip_state = {.device_count = 2, .archs = {"gfx1151", "gfx1100"}, .version = 60443484};

#define S fake_hip_state

typedef struct module {
    int device;
} module;

static struct {
    void *address;
    int device;
} allocations[FAKE_HIP_ALLOCATIONS];

static int initialized;

/* Every function's first line: the result that it has to return at once, or 0. */
static int begin(const char *function) {
    int result = initialized || strcmp(function, "hipInit") == 0 ? 0 : 3; /* hipErrorNotInitialized */
    if (S.fail_in != NULL && strcmp(S.fail_in, function) == 0 && S.fail_after-- <= 0) {
        result = S.fail_code;
    }
    if (result != 0) {
        S.last_error = result;
    }
    return result;
}

static int give(int result) {
    if (result != 0) {
        S.last_error = result;
    }
    return result;
}

EXPORT int hipInit(unsigned flags);
EXPORT int hipGetDeviceCount(int *count);
EXPORT int hipGetDevice(int *ordinal);
EXPORT int hipSetDevice(int ordinal);
EXPORT int hipMalloc(void **address, size_t bytes);
EXPORT int hipFree(void *address);
EXPORT int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
EXPORT int hipModuleLoadData(void **made, const void *image);
EXPORT int hipModuleUnload(void *unloaded);
EXPORT int hipModuleGetFunction(void **function, void *of, const char *name);
EXPORT int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned lds_bytes, void *stream,
                                 void **kernel_parameters, void **extra);
EXPORT int hipStreamSynchronize(void *stream);
EXPORT int hipDeviceSynchronize(void);
EXPORT int hipPointerGetAttributes(void *attributes, const void *address);
EXPORT int hipEventCreate(void **made);
EXPORT int hipEventDestroy(void *destroyed);
EXPORT int hipEventRecord(void *recorded, void *stream);
EXPORT int hipEventSynchronize(void *waited_for);
EXPORT int hipEventElapsedTime(float *milliseconds, void *first, void *last);
EXPORT const char *hipGetErrorString(int error);
EXPORT const char *hipGetErrorName(int error);
EXPORT int hipGetLastError(void);
EXPORT int hipRuntimeGetVersion(int *version);
EXPORT int hipGetDeviceProperties(void *properties, int ordinal);
EXPORT int hipGetDevicePropertiesR0600(void *properties, int ordinal);

int hipInit(unsigned flags) {
    (void)flags;
    int result = begin("hipInit");
    initialized = result == 0 && S.device_count > 0;
    return result != 0 ? result : give(S.device_count > 0 ? 0 : 100);
}

int hipGetDeviceCount(int *count) {
    int result = begin("hipGetDeviceCount");
    *count = result == 0 ? S.device_count : 0;
    return result;
}

int hipGetDevice(int *ordinal) {
    int result = begin("hipGetDevice");
    *ordinal = result == 0 ? S.current : -1;
    return result;
}

int hipSetDevice(int ordinal) {
    int result = begin("hipSetDevice");
    if (result == 0 && ordinal >= 0 && ordinal < S.device_count) {
        S.current = ordinal;
        S.set_devices++;
        return 0;
    }
    return result != 0 ? result : give(101);
}

int hipMalloc(void **address, size_t bytes) {
    int result = begin("hipMalloc");
    for (int i = 0; result == 0 && i < FAKE_HIP_ALLOCATIONS; i++) {
        if (allocations[i].address == NULL) {
            *address = allocations[i].address = aligned_alloc(256, (bytes + 255) / 256 * 256);
            allocations[i].device = S.current;
            S.memories++;
            return 0;
        }
    }
    return result != 0 ? result : give(2);
}

/* The allocation that holds `address` on the current device, -1 if there is none. */
static int find(const void *address) {
    for (int i = 0; i < FAKE_HIP_ALLOCATIONS; i++) {
        if (allocations[i].address == address && allocations[i].device == S.current) {
            return i;
        }
    }
    return -1;
}

int hipPointerGetAttributes(void *attributes, const void *address) {
    int result = begin("hipPointerGetAttributes");
    for (int i = 0; result == 0 && i < FAKE_HIP_ALLOCATIONS; i++) {
        if (allocations[i].address != NULL && allocations[i].address == address) {
            memcpy((char *)attributes + 4, &allocations[i].device, sizeof allocations[i].device);
            return 0;
        }
    }
    return result != 0 ? result : give(1);
}

int hipFree(void *address) {
    int result = begin("hipFree"), at = find(address);
    if (at >= 0) { /* also when it is told to fail, as when an earlier kernel's error comes to light */
        free(address);
        allocations[at].address = NULL;
        S.memories--;
        return result;
    }
    return result != 0 ? result : give(1);
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
    int result = begin("hipMemcpy");
    if (result == 0 && find(kind == 1 ? to : from) >= 0) {
        S.copied_kind = kind;
        memcpy(to, from, bytes);
        return 0;
    }
    return result != 0 ? result : give(1);
}

int hipModuleLoadData(void **made, const void *image) {
    int result = begin("hipModuleLoadData");
    if (result != 0) {
        return result;
    }
    module *loaded = memcmp(image, "\177ELF", 4) == 0 ? malloc(sizeof *loaded) : NULL;
    if (loaded == NULL) {
        return give(200);
    }
    loaded->device = S.current;
    S.modules++;
    *made = loaded;
    return 0;
}

int hipModuleUnload(void *unloaded) {
    int result = begin("hipModuleUnload");
    if (((module *)unloaded)->device == S.current) {
        free(unloaded);
        S.modules--;
        return result;
    }
    return result != 0 ? result : give(400);
}

int hipModuleGetFunction(void **function, void *of, const char *name) {
    int result = begin("hipModuleGetFunction");
    bool known = strcmp(name, "fmha_forward") == 0 || getenv("FAKE_HIP_LAUNCH_MS") != NULL;
    if (result == 0 && known && ((module *)of)->device == S.current) {
        *function = of;
        return 0;
    }
    return result != 0 ? result : give(500);
}

#if FAKE_REVISION >= 0
int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned lds_bytes, void *stream,
                          void **kernel_parameters, void **extra) {
    int result = begin("hipModuleLaunchKernel");
    if (result != 0) {
        return result;
    }
    const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
    memcpy(S.launched.grid, grid, sizeof grid);
    memcpy(S.launched.block, block, sizeof block);
    S.launched.function = function;
    S.launched.stream = stream;
    S.launched.lds_bytes = lds_bytes;
    S.launched.device = S.current;
    S.launched.argument_bytes = 0;
    if (kernel_parameters != NULL) {
        return give(1);
    }
    if (extra != NULL) {
        if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3 ||
            *(size_t *)extra[3] > sizeof S.launched.arguments) {
            return give(1);
        }
        S.launched.argument_bytes = *(size_t *)extra[3];
        memcpy(S.launched.arguments, extra[1], S.launched.argument_bytes);
    }
    S.launches++;
    return 0;
}
#endif

int hipStreamSynchronize(void *stream) {
    int result = begin("hipStreamSynchronize");
    S.synchronized_stream = stream;
    return result;
}

int hipDeviceSynchronize(void) {
    int result = begin("hipDeviceSynchronize");
    S.synchronized_stream = (void *)(intptr_t)-1;
    return result;
}

typedef struct event {
    int device, launches; /* launches: those before it; -1: it was not recorded */
    void *stream;
} event;

int hipEventCreate(void **made) {
    int result = begin("hipEventCreate");
    if (result != 0) {
        return result;
    }
    event *created = malloc(sizeof *created);
    *created = (event){S.current, -1, NULL};
    S.events++;
    *made = created;
    return 0;
}

int hipEventDestroy(void *destroyed) {
    free(destroyed);
    S.events--;
    return begin("hipEventDestroy");
}

int hipEventRecord(void *recorded, void *stream) {
    int result = begin("hipEventRecord");
    event *e = recorded;
    if (result != 0 || e->device != S.current) {
        return result != 0 ? result : give(400);
    }
    e->launches = S.launches;
    e->stream = stream;
    return 0;
}

int hipEventSynchronize(void *waited_for) {
    int result = begin("hipEventSynchronize");
    return result != 0 ? result : ((event *)waited_for)->launches >= 0 ? 0 : give(400);
}

int hipEventElapsedTime(float *milliseconds, void *first, void *last) {
    int result = begin("hipEventElapsedTime");
    const event *from = first, *to = last;
    if (result != 0 || from->launches < 0 || to->launches < 0 || from->stream != to->stream) {
        return result != 0 ? result : give(400);
    }
    const char *launch_ms = getenv("FAKE_HIP_LAUNCH_MS");
    S.row = to->launches - from->launches;
    S.launch_ms = launch_ms != NULL ? strtof(launch_ms, NULL) : S.launch_ms;
    *milliseconds = (float)S.row * S.launch_ms;
    return 0;
}

const char *hipGetErrorString(int error) {
    return error == 719 ? "unspecified launch failure" : "simulated";
}

const char *hipGetErrorName(int error) {
    return error == 719 ? "hipErrorLaunchFailure" : error == 999 ? "hipErrorUnknown" : "hipErrorSimulated";
}

int hipGetLastError(void) {
    int error = S.last_error;
    S.last_error = 0;
    return error;
}

int hipRuntimeGetVersion(int *version) {
    *version = S.version;
    return begin("hipRuntimeGetVersion");
}

/* Fills the struct of one revision: its size, and where the number of compute units, the LDS bytes and the chip lie. */
static int fill(void *properties, int ordinal, size_t bytes, size_t units_at, size_t lds_at, size_t arch_at) {
    int result = begin("hipGetDeviceProperties");
    if (result != 0 || ordinal < 0 || ordinal >= S.device_count) {
        return result != 0 ? result : give(101);
    }
    const int units = 20;
    const size_t lds_bytes = 65536;
    unsigned char *filled = properties;
    memset(filled, 0xa5, bytes);
    memcpy(filled, "Simulated Radeon", sizeof "Simulated Radeon");
    memcpy(filled + units_at, &units, sizeof units);
    memcpy(filled + lds_at, &lds_bytes, sizeof lds_bytes);
    memcpy(filled + arch_at, S.archs[ordinal], strlen(S.archs[ordinal]) + 1);
    return 0;
}

#if FAKE_REVISION == 6
int hipGetDevicePropertiesR0600(void *properties, int ordinal) {
    return fill(properties, ordinal, 1472, 388, 296, 1160);
}
#endif

/* ROCm 6 and later still export the struct of ROCm 5 under the plain name. */
int hipGetDeviceProperties(void *properties, int ordinal) {
    return fill(properties, ordinal, 792, 336, 264, 396);
}

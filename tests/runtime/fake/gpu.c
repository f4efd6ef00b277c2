/* What HIP and CUDA have in the same form. FAKE_REVISION below 0: one function short. */
#include "gpu.h"
#include "gpu_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define S fake_gpu_state

typedef struct module {
    int device;
} module;

static struct {
    void *address;
    int device;
} allocations[FAKE_GPU_ALLOCATIONS];

int fake_initialized;

int fake_give(int result) {
    if (result != 0) {
        S.last_error = result;
    }
    return result;
}

int fake_begin(const char *function) {
    if (S.fail_in != NULL && strcmp(S.fail_in, function) == 0 && S.fail_after-- <= 0) {
        return fake_give(S.fail_code);
    }
    return fake_give(fake_initialized ? 0 : 3); /* not initialized */
}

EXPORT int gpuMalloc(void **address, size_t bytes);
EXPORT int gpuFree(void *address);
EXPORT int gpuMemcpyHtoD(void *to, const void *from, size_t bytes);
EXPORT int gpuMemcpyDtoH(void *to, const void *from, size_t bytes);
EXPORT int gpuModuleLoadData(void **made, const void *image);
EXPORT int gpuModuleUnload(void *unloaded);
EXPORT int gpuModuleGetFunction(void **function, void *of, const char *name);
EXPORT int gpuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned lds_bytes, void *stream,
                           void **kernel_parameters, void **extra);
EXPORT int gpuStreamSynchronize(void *stream);
EXPORT int gpuSynchronize(void);
EXPORT int gpuEventCreate(void **made, unsigned flags);
EXPORT int gpuEventDestroy(void *destroyed);
EXPORT int gpuEventRecord(void *recorded, void *stream);
EXPORT int gpuEventSynchronize(void *waited_for);
EXPORT int gpuEventElapsedTime(float *milliseconds, void *first, void *last);

int gpuMalloc(void **address, size_t bytes) {
    int result = fake_begin(NAME_OF(gpuMalloc));
    for (int i = 0; result == 0 && i < FAKE_GPU_ALLOCATIONS; i++) {
        if (allocations[i].address == NULL) {
            *address = allocations[i].address = aligned_alloc(256, (bytes + 255) / 256 * 256);
            allocations[i].device = S.current;
            S.memories++;
            return 0;
        }
    }
    return result != 0 ? result : fake_give(2);
}

/* The allocation that holds `address` on the current device, -1 if there is none. */
static int find(const void *address) {
    for (int i = 0; i < FAKE_GPU_ALLOCATIONS; i++) {
        if (allocations[i].address == address && allocations[i].device == S.current) {
            return i;
        }
    }
    return -1;
}

int fake_device_of(const void *address) {
    for (int i = 0; i < FAKE_GPU_ALLOCATIONS; i++) {
        if (allocations[i].address != NULL && allocations[i].address == address) {
            return allocations[i].device;
        }
    }
    return -1;
}

int gpuFree(void *address) {
    int result = fake_begin(NAME_OF(gpuFree)), at = find(address);
    if (at >= 0) { /* also when it is told to fail, as when an earlier kernel's error comes to light */
        free(address);
        allocations[at].address = NULL;
        S.memories--;
        return result;
    }
    return result != 0 ? result : fake_give(1);
}

static int copy(void *to, const void *from, size_t bytes, const void *on_device, int *count, int result) {
    if (result == 0 && find(on_device) >= 0) {
        memcpy(to, from, bytes);
        ++*count;
        return 0;
    }
    return result != 0 ? result : fake_give(1);
}

int gpuMemcpyHtoD(void *to, const void *from, size_t bytes) {
    return copy(to, from, bytes, to, &S.writes, fake_begin(NAME_OF(gpuMemcpyHtoD)));
}

int gpuMemcpyDtoH(void *to, const void *from, size_t bytes) {
    return copy(to, from, bytes, from, &S.reads, fake_begin(NAME_OF(gpuMemcpyDtoH)));
}

int gpuModuleLoadData(void **made, const void *image) {
    int result = fake_begin(NAME_OF(gpuModuleLoadData));
    if (result != 0) {
        return result;
    }
    module *loaded = memcmp(image, "\177ELF", 4) == 0 ? malloc(sizeof *loaded) : NULL;
    if (loaded == NULL) {
        return fake_give(200);
    }
    loaded->device = S.current;
    S.modules++;
    *made = loaded;
    return 0;
}

int gpuModuleUnload(void *unloaded) {
    int result = fake_begin(NAME_OF(gpuModuleUnload));
    if (((module *)unloaded)->device == S.current) {
        free(unloaded);
        S.modules--;
        return result;
    }
    return result != 0 ? result : fake_give(400);
}

int gpuModuleGetFunction(void **function, void *of, const char *name) {
    int result = fake_begin(NAME_OF(gpuModuleGetFunction));
    bool known = strcmp(name, "fmha_forward") == 0 || getenv("FAKE_GPU_LAUNCH_MS") != NULL;
    if (result == 0 && known && ((module *)of)->device == S.current) {
        *function = of;
        return 0;
    }
    return result != 0 ? result : fake_give(500);
}

#if FAKE_REVISION >= 0
int gpuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                    unsigned block_y, unsigned block_z, unsigned lds_bytes, void *stream, void **kernel_parameters,
                    void **extra) {
    int result = fake_begin(NAME_OF(gpuLaunchKernel));
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
        return fake_give(1);
    }
    if (extra != NULL) {
        if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != LAUNCH_END ||
            *(size_t *)extra[3] > sizeof S.launched.arguments) {
            return fake_give(1);
        }
        S.launched.argument_bytes = *(size_t *)extra[3];
        memcpy(S.launched.arguments, extra[1], S.launched.argument_bytes);
    }
    S.launches++;
    return 0;
}
#endif

int gpuStreamSynchronize(void *stream) {
    int result = fake_begin(NAME_OF(gpuStreamSynchronize));
    S.synchronized_stream = stream;
    return result;
}

int gpuSynchronize(void) {
    int result = fake_begin(NAME_OF(gpuSynchronize));
    S.synchronized_stream = (void *)(intptr_t)-1;
    return result;
}

typedef struct event {
    int device, launches; /* launches: those before it; -1: it was not recorded */
    void *stream;
} event;

int gpuEventCreate(void **made, unsigned flags) {
    (void)flags;
    int result = fake_begin(NAME_OF(gpuEventCreate));
    if (result != 0) {
        return result;
    }
    event *created = malloc(sizeof *created);
    if (created == NULL) {
        return fake_give(2);
    }
    *created = (event){S.current, -1, NULL};
    S.events++;
    *made = created;
    return 0;
}

int gpuEventDestroy(void *destroyed) {
    free(destroyed);
    S.events--;
    return fake_begin(NAME_OF(gpuEventDestroy));
}

int gpuEventRecord(void *recorded, void *stream) {
    int result = fake_begin(NAME_OF(gpuEventRecord));
    event *e = recorded;
    if (result != 0 || e->device != S.current) {
        return result != 0 ? result : fake_give(400);
    }
    e->launches = S.launches;
    e->stream = stream;
    return 0;
}

int gpuEventSynchronize(void *waited_for) {
    int result = fake_begin(NAME_OF(gpuEventSynchronize));
    return result != 0 ? result : ((event *)waited_for)->launches >= 0 ? 0 : fake_give(400);
}

int gpuEventElapsedTime(float *milliseconds, void *first, void *last) {
    int result = fake_begin(NAME_OF(gpuEventElapsedTime));
    const event *from = first, *to = last;
    if (result != 0 || from->launches < 0 || to->launches < 0 || from->stream != to->stream) {
        return result != 0 ? result : fake_give(400);
    }
    const char *launch_ms = getenv("FAKE_GPU_LAUNCH_MS");
    S.row = to->launches - from->launches;
    S.launch_ms = launch_ms != NULL ? strtof(launch_ms, NULL) : S.launch_ms;
    *milliseconds = (float)S.row * S.launch_ms;
    return 0;
}

/* CUDA devices, by their primary contexts: what a program's own use of CUDA shares. What they have in common with
 * others is in gpu.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"
#include "driver_find.h"
#include "gpu.h"

typedef struct cuda_state {
    gpu gpu; /* first; its `current` is the context, NULL until it is retained */
    cuda_api cuda;
    int device;
    int version; /* of CUDA that the driver knows: major·1000 + minor·10 */
    char name[256];
    int compute_units, lds_bytes;
} cuda_state;

static const cuda_state *state_of(const gpu *g) {
    return (const cuda_state *)(const void *)g;
}

static int get_current(const gpu *g, void **current) {
    return state_of(g)->cuda.call.context_get_current(current);
}

static int set_current(const gpu *g, void *current) {
    return state_of(g)->cuda.call.context_set_current(current);
}

static void describe(const gpu *g, int result, char text[256]) {
    fmha_cuda_api_describe(&state_of(g)->cuda, result, text);
}

/* Lets launches have all dynamic LDS that the device has beside the kernel's own. */
static fmha_status allow_lds(const gpu *g, void *kernel) {
    const cuda_state *s = state_of(g);
    int fixed = 0;
    fmha_status status = fmha_gpu_check(g, s->cuda.call.function_get_attribute(&fixed, CUDA_KERNEL_LDS_FIXED, kernel),
                                        "cuFuncGetAttribute");
    return status != FMHA_OK
               ? status
               : fmha_gpu_check(
                     g, s->cuda.call.function_set_attribute(kernel, CUDA_KERNEL_LDS_DYNAMIC, s->lds_bytes - fixed),
                     "cuFuncSetAttribute");
}

/* The constant in which a text says what LDS its kernel wants; one of up to 48 KiB may have it fixed. */
static fmha_status read_lds(const gpu *g, void *module, size_t *lds_bytes) {
    const cuda_state *s = state_of(g);
    void *address;
    size_t size;
    uint32_t wanted = 0;
    int result = s->cuda.call.module_get_global(&address, &size, module, "fmha_lds_bytes");
    if (result == GPU_NOT_FOUND) {
        return FMHA_OK;
    }
    fmha_status status = fmha_gpu_check(g, result, "cuModuleGetGlobal_v2");
    if (status == FMHA_OK && size == sizeof wanted) {
        status = fmha_gpu_check(g, g->call.copy_to_host(&wanted, address, sizeof wanted), "cuMemcpyDtoH_v2");
    }
    *lds_bytes = wanted;
    return status;
}

/* A launch with more arguments is refused as one that wants too much of the device. */
static fmha_status read_arguments(const gpu *g, void *kernel, size_t *bytes) {
    const cuda_state *s = state_of(g);
    int result = GPU_SUCCESS;
    for (size_t i = 0; result == GPU_SUCCESS; i++) {
        size_t offset, size;
        result = s->cuda.call.function_get_parameter(kernel, i, &offset, &size);
        if (result == GPU_SUCCESS) {
            *bytes = offset + size;
        }
    }
    return fmha_gpu_check(g, result == CUDA_INVALID_VALUE ? GPU_SUCCESS : result, "cuFuncGetParamInfo");
}

static fmha_status needs(const gpu *g, void *module, void *kernel, fmha_kernel_needs *found) {
    fmha_status status = allow_lds(g, kernel);
    if (status == FMHA_OK) {
        status = read_arguments(g, kernel, &found->argument_bytes);
    }
    return status == FMHA_OK ? read_lds(g, module, &found->lds_bytes) : status;
}

static fmha_status read_attribute(cuda_state *s, int attribute, int *value) {
    return fmha_gpu_check(&s->gpu, s->cuda.call.device_get_attribute(value, attribute, s->device),
                          "cuDeviceGetAttribute");
}

static fmha_status read_properties(cuda_state *s) {
    const cuda_functions *call = &s->cuda.call;
    int major = 0, minor = 0;
    fmha_status status = fmha_gpu_check(&s->gpu, call->driver_get_version(&s->version), "cuDriverGetVersion");
    if (status == FMHA_OK) {
        status = fmha_gpu_check(&s->gpu, call->device_get(&s->device, s->gpu.ordinal), "cuDeviceGet");
    }
    if (status == FMHA_OK) {
        status = fmha_gpu_check(&s->gpu, call->device_get_name(s->name, sizeof s->name, s->device), "cuDeviceGetName");
    }
    if (status == FMHA_OK) {
        status = read_attribute(s, CUDA_CAPABILITY_MAJOR, &major);
    }
    if (status == FMHA_OK) {
        status = read_attribute(s, CUDA_CAPABILITY_MINOR, &minor);
    }
    if (status == FMHA_OK) {
        status = read_attribute(s, CUDA_COMPUTE_UNITS, &s->compute_units);
    }
    if (status == FMHA_OK) {
        status = read_attribute(s, CUDA_LDS_BYTES_WORKGROUP, &s->lds_bytes);
    }
    if (status == FMHA_OK) {
        snprintf(s->gpu.arch, sizeof s->gpu.arch, "sm_%d%d", major, minor);
        s->gpu.rtc_major = s->version / 1000;
    }
    return status;
}

static void cuda_close(void *state) {
    cuda_state *s = state;
    fmha_gpu_release(&s->gpu);
    if (s->gpu.current != NULL) {
        s->cuda.call.primary_context_release(s->device);
    }
    fmha_cuda_api_close(&s->cuda);
    free(s);
}

static fmha_status open_device(gpu *g, fmha_device_info *info) {
    cuda_state *s = (cuda_state *)(void *)g;
    fmha_status status = fmha_cuda_api_open(&s->cuda, g->runtime->names, &g->call);
    if (status == FMHA_OK) {
        status = fmha_gpu_find_device(g);
    }
    if (status == FMHA_OK) {
        status = read_properties(s);
    }
    if (status == FMHA_OK) {
        status =
            fmha_gpu_check(g, s->cuda.call.primary_context_retain(&g->current, s->device), "cuDevicePrimaryCtxRetain");
    }
    *info = (fmha_device_info){
        .name = s->name, .compute_units = s->compute_units, .lds_bytes_workgroup = (size_t)s->lds_bytes};
    return status;
}

static const gpu_absence absence = {
    .gpu = "an NVIDIA GPU",
    .devices = "CUDA devices",
    .error = "CUDA_ERROR_NO_DEVICE",
    .tool = "nvidia-smi",
    .node = "/dev/nvidiactl",
    .missing = "load the kernel driver nvidia; in a container, pass --gpus all",
    .hiding = {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"},
    .hides = "CUDA_VISIBLE_DEVICES",
    .check = "check with nvidia-smi that the driver works",
};

static const gpu_runtime runtime = {
    .library = &fmha_cuda_library,
    .absence = &absence,
    .state_bytes = sizeof(cuda_state),
    .open = open_device,
    .close = cuda_close,
    .names = {[GPU_FUNCTION(init)] = "cuInit",
              [GPU_FUNCTION(device_count)] = "cuDeviceGetCount",
              [GPU_FUNCTION(memory_alloc)] = "cuMemAlloc_v2",
              [GPU_FUNCTION(memory_free)] = "cuMemFree_v2",
              [GPU_FUNCTION(copy_to_device)] = "cuMemcpyHtoD_v2",
              [GPU_FUNCTION(copy_to_host)] = "cuMemcpyDtoH_v2",
              [GPU_FUNCTION(module_load)] = "cuModuleLoadData",
              [GPU_FUNCTION(module_unload)] = "cuModuleUnload",
              [GPU_FUNCTION(module_kernel)] = "cuModuleGetFunction",
              [GPU_FUNCTION(launch)] = "cuLaunchKernel",
              [GPU_FUNCTION(stream_synchronize)] = "cuStreamSynchronize",
              [GPU_FUNCTION(synchronize)] = "cuCtxSynchronize",
              [GPU_FUNCTION(event_create)] = "cuEventCreate",
              [GPU_FUNCTION(event_destroy)] = "cuEventDestroy_v2",
              [GPU_FUNCTION(event_record)] = "cuEventRecord",
              [GPU_FUNCTION(event_synchronize)] = "cuEventSynchronize",
              [GPU_FUNCTION(event_elapsed)] = "cuEventElapsedTime"},
    .get_current_name = "cuCtxGetCurrent",
    .set_current_name = "cuCtxSetCurrent",
    .get_current = get_current,
    .set_current = set_current,
    .describe = describe,
    .launch_end = NULL,
    .grid_yz_max = 65535,
    .needs = needs,
    .rtc = &fmha_rtc_cuda,
};

static fmha_status cuda_open(const char *selector, void **state, fmha_device_info *info) {
    return fmha_gpu_open(&runtime, selector, state, info);
}

static void cuda_about(void *state, char *text, size_t room) {
    const cuda_state *s = state;
    snprintf(text, room, "CUDA %d.%d", s->version / 1000, s->version % 1000 / 10);
}

static fmha_status cuda_locate(const void *address, int *ordinal) {
    cuda_api cuda;
    gpu_functions call;
    int device = -1;
    fmha_status status = fmha_cuda_api_open(&cuda, runtime.names, &call);
    if (status != FMHA_OK) {
        return status;
    }
    int result = call.init(0);
    if (result == GPU_SUCCESS) {
        result = cuda.call.pointer_get_attribute(&device, CUDA_POINTER_ORDINAL, address);
    }
    if (result != GPU_SUCCESS || device < 0) {
        status = fmha_fail(FMHA_ERROR_ARGUMENT,
                           "cuda: expected an address in a CUDA device's memory, got %p, which no "
                           "device of this process knows",
                           address);
    }
    fmha_cuda_api_close(&cuda);
    *ordinal = device;
    return status;
}

const fmha_driver fmha_driver_cuda = {
    .version = FMHA_DRIVER_VERSION,
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    FMHA_GPU_FUNCTIONS,
    .about = cuda_about,
    .locate = cuda_locate,
};

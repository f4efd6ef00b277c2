/* HIP devices. What they share with others is in gpu.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_find.h"
#include "gpu.h"
#include "hip_api.h"

typedef struct hip_state {
    gpu gpu; /* first */
    hip_api hip;
    int version; /* of the runtime: major·10^7 + minor·10^5 + patch */
    hip_properties properties;
} hip_state;

static const hip_api *api(const gpu *g) {
    return &((const hip_state *)(const void *)g)->hip;
}

static int get_current(const gpu *g, void **current) {
    int ordinal = -1, result = api(g)->call.get_device(&ordinal);
    *current = (void *)(intptr_t)ordinal;
    return result;
}

static int set_current(const gpu *g, void *current) {
    return api(g)->call.set_device((int)(intptr_t)current);
}

static void describe(const gpu *g, int result, char text[256]) {
    fmha_hip_api_describe(api(g), result, text);
}

static int take_error(const gpu *g) {
    return api(g)->call.get_last_error();
}

static fmha_status read_properties(hip_state *s) {
    const int ordinal = s->gpu.ordinal;
    unsigned char *filled = calloc(1, HIP_PROPERTIES_BYTES);
    if (filled == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "hip:%d: no host memory for the device's properties", ordinal);
    }
    fmha_status status = fmha_gpu_check(&s->gpu, s->hip.get_properties(filled, ordinal), "hipGetDeviceProperties");
    if (status == FMHA_OK) {
        status = fmha_gpu_check(&s->gpu, s->hip.call.runtime_get_version(&s->version), "hipRuntimeGetVersion");
        s->gpu.rtc_major = s->version / 10000000;
    }
    if (status == FMHA_OK && !fmha_hip_api_read_properties(&s->hip, filled, &s->properties)) {
        status = fmha_fail(FMHA_ERROR_NO_DRIVER,
                           "hip:%d: expected the device properties of ROCm 5 to 7, got another layout "
                           "from the HIP runtime of version %d.%d; a newer libfmha may know it",
                           ordinal, s->version / 10000000, s->version / 100000 % 100);
    }
    memcpy(s->gpu.arch, s->properties.arch, sizeof s->gpu.arch);
    free(filled);
    return status;
}

static void hip_close(void *state) {
    hip_state *s = state;
    fmha_gpu_release(&s->gpu);
    fmha_hip_api_close(&s->hip);
    free(s);
}

static fmha_status open_device(gpu *g, fmha_device_info *info) {
    hip_state *s = (hip_state *)(void *)g;
    fmha_status status = fmha_hip_api_open(&s->hip, g->runtime->names, &g->call);
    g->rtc_library = s->hip.library;
    g->current = (void *)(intptr_t)g->ordinal;
    if (status == FMHA_OK) {
        status = fmha_gpu_find_device(g);
    }
    if (status == FMHA_OK) {
        status = read_properties(s);
    }
    *info = (fmha_device_info){
        .name = s->properties.name,
        .compute_units = s->properties.compute_units,
        .lds_bytes_workgroup = s->properties.lds_bytes,
    };
    return status;
}

static const gpu_runtime runtime = {
    .library = &fmha_hip_library,
    .absence = &fmha_hip_absence,
    .state_bytes = sizeof(hip_state),
    .open = open_device,
    .close = hip_close,
    .names = {[GPU_FUNCTION(init)] = "hipInit",
              [GPU_FUNCTION(device_count)] = "hipGetDeviceCount",
              [GPU_FUNCTION(memory_alloc)] = "hipMalloc",
              [GPU_FUNCTION(memory_free)] = "hipFree",
              [GPU_FUNCTION(copy_to_device)] = "hipMemcpyHtoD",
              [GPU_FUNCTION(copy_to_host)] = "hipMemcpyDtoH",
              [GPU_FUNCTION(module_load)] = "hipModuleLoadData",
              [GPU_FUNCTION(module_unload)] = "hipModuleUnload",
              [GPU_FUNCTION(module_kernel)] = "hipModuleGetFunction",
              [GPU_FUNCTION(launch)] = "hipModuleLaunchKernel",
              [GPU_FUNCTION(stream_synchronize)] = "hipStreamSynchronize",
              [GPU_FUNCTION(synchronize)] = "hipDeviceSynchronize",
              [GPU_FUNCTION(event_create)] = "hipEventCreateWithFlags",
              [GPU_FUNCTION(event_destroy)] = "hipEventDestroy",
              [GPU_FUNCTION(event_record)] = "hipEventRecord",
              [GPU_FUNCTION(event_synchronize)] = "hipEventSynchronize",
              [GPU_FUNCTION(event_elapsed)] = "hipEventElapsedTime"},
    .get_current_name = "hipGetDevice",
    .set_current_name = "hipSetDevice",
    .get_current = get_current,
    .set_current = set_current,
    .describe = describe,
    .take_error = take_error,
    .launch_end = (void *)3,
    .grid_yz_max = UINT32_MAX,
    .rtc = &fmha_rtc_hip,
};

static fmha_status hip_open(const char *selector, void **state, fmha_device_info *info) {
    return fmha_gpu_open(&runtime, selector, state, info);
}

static void hip_about(void *state, char *text, size_t room) {
    const hip_state *s = state;
    snprintf(text, room, "HIP %d.%d.%d", s->version / 10000000, s->version / 100000 % 100, s->version % 100000);
}

static fmha_status hip_locate(const void *address, int *ordinal) {
    hip_api hip;
    gpu_functions call;
    unsigned char attributes[HIP_POINTER_ATTRIBUTES_BYTES] = {0};
    int device = -1;
    fmha_status status = fmha_hip_api_open(&hip, runtime.names, &call);
    if (status != FMHA_OK) {
        return status;
    }
    int result = hip.call.pointer_get_attributes(attributes, address);
    memcpy(&device, attributes + HIP_POINTER_ATTRIBUTES_DEVICE, sizeof device);
    if (result != GPU_SUCCESS || device < 0) {
        hip.call.get_last_error();
        status = fmha_fail(FMHA_ERROR_ARGUMENT,
                           "hip: expected an address in a HIP device's memory, got %p, which no "
                           "device of this process knows",
                           address);
    }
    fmha_hip_api_close(&hip);
    *ordinal = device;
    return status;
}

const fmha_driver fmha_driver_hip = {
    .version = FMHA_DRIVER_VERSION,
    .name = "hip",
    .open = hip_open,
    .close = hip_close,
    FMHA_GPU_FUNCTIONS,
    .about = hip_about,
    .locate = hip_locate,
};

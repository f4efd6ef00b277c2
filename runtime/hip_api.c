#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_api.h"

static const char *const library_names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                            "libamdhip64.so", NULL};

#define NAME(member, symbol) [offsetof(hip_functions, member) / sizeof(void (*)(void))] = symbol

static const char *const own_names[] = {
    NAME(get_device, "hipGetDevice"),
    NAME(set_device, "hipSetDevice"),
    NAME(pointer_get_attributes, "hipPointerGetAttributes"),
    NAME(get_error_string, "hipGetErrorString"),
    NAME(get_error_name, "hipGetErrorName"),
    NAME(get_last_error, "hipGetLastError"),
    NAME(runtime_get_version, "hipRuntimeGetVersion"),
};

static void *find_library(library_search *search, const char *const *names) {
    void *library = NULL;
    const char *rocm = getenv("ROCM_PATH");
    if (rocm != NULL && rocm[0] != '\0') {
        char folder[1024];
        snprintf(folder, sizeof folder, "%.1000s/lib", rocm);
        library = fmha_library_open_in(search, folder, names);
    } else {
        fmha_library_note(search, "$ROCM_PATH/lib", "ROCM_PATH is not set");
    }
    return library != NULL ? library : fmha_library_open_in(search, "/opt/rocm/lib", names);
}

const gpu_library fmha_hip_library = {
    .driver = "hip",
    .word = "HIP runtime",
    .file = "libamdhip64 of ROCm 5 to 7",
    .version = "of ROCm 5 to 7",
    .install = "it (Debian: libamdhip64-5, -6, …)",
    .variable = "FMHA_HIP_LIBRARY",
    .names = library_names,
    .find = find_library,
    .functions = own_names,
    .function_count = sizeof own_names / sizeof own_names[0],
};

fmha_status fmha_hip_api_open(hip_api *hip, const char *const *names, gpu_functions *shared) {
    static const char *const properties[] = {"hipGetDevicePropertiesR0600", "hipGetDeviceProperties"};
    *hip = (hip_api){0};
    fmha_status status = fmha_gpu_library_open(&fmha_hip_library, names, &hip->call, shared, &hip->library);
    if (status != FMHA_OK) {
        return status;
    }
    if (fmha_library_bind(hip->library, properties, 1, &hip->get_properties) == NULL) {
        hip->properties_revision = 6;
    } else if (fmha_library_bind(hip->library, properties + 1, 1, &hip->get_properties) != NULL) {
        status = fmha_gpu_library_lacks(&fmha_hip_library, hip->library, properties[1]);
        fmha_hip_api_close(hip);
    }
    return status;
}

void fmha_hip_api_close(hip_api *hip) {
    fmha_library_close(hip->library);
    hip->library = NULL;
}

/* Where the fields lie in hipDeviceProp_t, in bytes. */
bool fmha_hip_api_read_properties(const hip_api *hip, const unsigned char *filled, hip_properties *properties) {
    const bool old = hip->properties_revision == 0;
    const size_t lds_at = old ? 264 : 296, units_at = old ? 336 : 388, arch_at = old ? 396 : 1160;
    memcpy(properties->name, filled, sizeof properties->name);
    memcpy(properties->arch, filled + arch_at, sizeof properties->arch);
    memcpy(&properties->compute_units, filled + units_at, sizeof properties->compute_units);
    memcpy(&properties->lds_bytes, filled + lds_at, sizeof properties->lds_bytes);
    properties->name[sizeof properties->name - 1] = '\0';
    properties->arch[sizeof properties->arch - 1] = '\0';
    return strncmp(properties->arch, "gfx", 3) == 0 && properties->compute_units >= 1 && properties->lds_bytes >= 1;
}

void fmha_hip_api_describe(const hip_api *hip, int error, char text[256]) {
    const char *name = hip->call.get_error_name(error), *meaning = hip->call.get_error_string(error);
    snprintf(text, 256, "%s (%d): %s", name != NULL ? name : "hipError", error, meaning != NULL ? meaning : "no text");
}

const gpu_absence fmha_hip_absence = {
    .gpu = "an AMD GPU",
    .devices = "HIP devices",
    .error = "hipErrorNoDevice",
    .tool = "rocminfo",
    .node = "/dev/kfd",
    .missing = "load the kernel driver amdgpu; in a container, pass --device=/dev/kfd --device=/dev/dri",
    .hiding = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"},
    .hides = "HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES",
    .check = "check with rocminfo that this ROCm knows the chip",
};

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "hip_api.h"
#include "library.h"

static const char *const library_names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                            "libamdhip64.so", NULL};

#define MEMBER(member, symbol)                                                                                         \
    { symbol, offsetof(hip_api, member) }

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    MEMBER(init, "hipInit"),
    MEMBER(get_device_count, "hipGetDeviceCount"),
    MEMBER(get_device, "hipGetDevice"),
    MEMBER(set_device, "hipSetDevice"),
    MEMBER(malloc, "hipMalloc"),
    MEMBER(free, "hipFree"),
    MEMBER(memcpy, "hipMemcpy"),
    MEMBER(module_load_data, "hipModuleLoadData"),
    MEMBER(module_unload, "hipModuleUnload"),
    MEMBER(module_get_function, "hipModuleGetFunction"),
    MEMBER(module_launch_kernel, "hipModuleLaunchKernel"),
    MEMBER(stream_synchronize, "hipStreamSynchronize"),
    MEMBER(event_create, "hipEventCreate"),
    MEMBER(event_destroy, "hipEventDestroy"),
    MEMBER(event_record, "hipEventRecord"),
    MEMBER(event_synchronize, "hipEventSynchronize"),
    MEMBER(event_elapsed_time, "hipEventElapsedTime"),
    MEMBER(device_synchronize, "hipDeviceSynchronize"),
    MEMBER(pointer_get_attributes, "hipPointerGetAttributes"),
    MEMBER(get_error_string, "hipGetErrorString"),
    MEMBER(get_error_name, "hipGetErrorName"),
    MEMBER(get_last_error, "hipGetLastError"),
    MEMBER(runtime_get_version, "hipRuntimeGetVersion"),
};

static bool bind(hip_api *hip, const char *name, size_t offset) {
    void *found = dlsym(hip->library, name);
    memcpy((char *)hip + offset, &found, sizeof found);
    return found != NULL;
}

static void *find_library(library_search *search) {
    const char *chosen = getenv("FMHA_HIP_LIBRARY");
    if (chosen != NULL && chosen[0] != '\0') {
        return fmha_library_open(search, chosen);
    }
    fmha_library_note(search, "$FMHA_HIP_LIBRARY", "not set");
    void *library = fmha_library_loaded(library_names); /* memory of one HIP runtime means nothing to a second one */
    for (size_t i = 0; library == NULL && library_names[i] != NULL; i++) {
        library = fmha_library_open(search, library_names[i]);
    }
    const char *rocm = getenv("ROCM_PATH");
    if (library == NULL && rocm != NULL && rocm[0] != '\0') {
        char folder[1024];
        snprintf(folder, sizeof folder, "%.1000s/lib", rocm);
        library = fmha_library_open_in(search, folder, library_names);
    } else if (library == NULL) {
        fmha_library_note(search, "$ROCM_PATH/lib", "ROCM_PATH is not set");
    }
    return library != NULL ? library : fmha_library_open_in(search, "/opt/rocm/lib", library_names);
}

fmha_status fmha_hip_api_open(hip_api *hip) {
    *hip = (hip_api){0};
    library_search *search = calloc(1, sizeof *search);
    if (search == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "hip: no memory to look for the HIP runtime");
    }
    hip->library = find_library(search);
    fmha_status status = FMHA_OK;
    if (hip->library == NULL) {
        status = fmha_fail(FMHA_ERROR_NO_DRIVER,
                           "hip: expected the HIP runtime libamdhip64 of ROCm 5 to 7, looked at%s\n"
                           "install it (Debian: libamdhip64-5, -6, …), or set FMHA_HIP_LIBRARY to its path",
                           search->places);
    }
    free(search);
    if (status != FMHA_OK) {
        return status;
    }
    const char *missing = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && missing == NULL; i++) {
        missing = bind(hip, functions[i].name, functions[i].offset) ? NULL : functions[i].name;
    }
    if (bind(hip, "hipGetDevicePropertiesR0600", offsetof(hip_api, get_properties))) {
        hip->properties_revision = 6;
    } else if (!bind(hip, "hipGetDeviceProperties", offsetof(hip_api, get_properties))) {
        missing = "hipGetDeviceProperties";
    }
    if (missing != NULL) {
        status = fmha_fail(FMHA_ERROR_NO_DRIVER,
                           "hip: expected the HIP runtime of ROCm 5 to 7, got %s without the function "
                           "%s; install another, or set FMHA_HIP_LIBRARY to its path",
                           fmha_library_path(hip->library), missing);
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
    const char *name = hip->get_error_name(error), *meaning = hip->get_error_string(error);
    snprintf(text, 256, "%s (%d): %s", name != NULL ? name : "hipError", error, meaning != NULL ? meaning : "no text");
}

void fmha_hip_api_explain_no_device(const char *kfd_path, char text[512]) {
    if (access(kfd_path, R_OK | W_OK) != 0) {
        if (errno == ENOENT) {
            snprintf(text, 512,
                     "%s is missing: load the kernel driver amdgpu; in a container, pass --device=/dev/kfd "
                     "--device=/dev/dri",
                     kfd_path);
        } else {
            snprintf(text, 512,
                     "%s cannot be opened: %s; add this user to the group that owns it (usually render) and "
                     "log in again",
                     kfd_path, strerror(errno));
        }
        return;
    }
    static const char *const hiding[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                                         "GPU_DEVICE_ORDINAL"};
    for (size_t i = 0; i < sizeof hiding / sizeof hiding[0]; i++) {
        const char *value = getenv(hiding[i]);
        if (value != NULL) {
            snprintf(text, 512, "%s='%.200s' may hide it: unset it", hiding[i], value);
            return;
        }
    }
    snprintf(text, 512, "%s can be opened: check with rocminfo that this ROCm knows the chip", kfd_path);
}

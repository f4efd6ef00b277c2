#include <stddef.h>
#include <stdio.h>

#include "cuda_api.h"

static const char *const library_names[] = {"libcuda.so.1", NULL};

#define NAME(member, symbol) [offsetof(cuda_functions, member) / sizeof(void (*)(void))] = symbol

static const char *const own_names[] = {
    NAME(driver_get_version, "cuDriverGetVersion"),
    NAME(device_get, "cuDeviceGet"),
    NAME(device_get_name, "cuDeviceGetName"),
    NAME(device_get_attribute, "cuDeviceGetAttribute"),
    NAME(primary_context_retain, "cuDevicePrimaryCtxRetain"),
    NAME(primary_context_release, "cuDevicePrimaryCtxRelease_v2"),
    NAME(context_get_current, "cuCtxGetCurrent"),
    NAME(context_set_current, "cuCtxSetCurrent"),
    NAME(module_get_global, "cuModuleGetGlobal_v2"),
    NAME(function_get_attribute, "cuFuncGetAttribute"),
    NAME(function_set_attribute, "cuFuncSetAttribute"),
    NAME(function_get_parameter, "cuFuncGetParamInfo"),
    NAME(pointer_get_attribute, "cuPointerGetAttribute"),
    NAME(get_error_name, "cuGetErrorName"),
    NAME(get_error_string, "cuGetErrorString"),
};

static void *find_library(library_search *search, const char *const *names) {
    static const char *const folders[] = {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"};
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof folders / sizeof folders[0]; i++) {
        library = fmha_library_open_in(search, folders[i], names);
    }
    return library;
}

const gpu_library fmha_cuda_library = {
    .driver = "cuda",
    .word = "CUDA driver",
    .file = "libcuda.so.1",
    .version = "of version 12.4 or later",
    .install = "NVIDIA's driver (it is no part of the CUDA toolkit)",
    .variable = "FMHA_CUDA_LIBRARY",
    .names = library_names,
    .find = find_library,
    .functions = own_names,
    .function_count = sizeof own_names / sizeof own_names[0],
};

fmha_status fmha_cuda_api_open(cuda_api *cuda, const char *const *names, gpu_functions *shared) {
    *cuda = (cuda_api){0};
    return fmha_gpu_library_open(&fmha_cuda_library, names, &cuda->call, shared, &cuda->library);
}

void fmha_cuda_api_close(cuda_api *cuda) {
    fmha_library_close(cuda->library);
    cuda->library = NULL;
}

void fmha_cuda_api_describe(const cuda_api *cuda, int error, char text[256]) {
    const char *name = NULL, *meaning = NULL;
    cuda->call.get_error_name(error, &name);
    cuda->call.get_error_string(error, &meaning);
    snprintf(text, 256, "%s (%d): %s", name != NULL ? name : "CUDA error", error,
             meaning != NULL ? meaning : "no text");
}

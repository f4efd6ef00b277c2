/* NVRTC, CUDA's compiler as a library. */
#include <stdio.h>
#include <stdlib.h>

#include "rtc.h"

#define MAJOR_MIN 12

/* The library of version `major` that the process has open already (PyTorch brings one), where the loader looks, and of
 * the toolkit. */
static void *find_major(library_search *search, int major) {
    char file[40], folder[1024];
    snprintf(file, sizeof file, "libnvrtc.so.%d", major);
    const char *names[] = {file, NULL};
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    void *library = fmha_library_loaded(names);
    library = library != NULL ? library : fmha_library_open(search, file);
    for (size_t i = 0; library == NULL && i < sizeof variables / sizeof variables[0]; i++) {
        const char *home = getenv(variables[i]);
        if (home != NULL && home[0] != '\0') {
            snprintf(folder, sizeof folder, "%.1000s/lib64", home);
            library = fmha_library_open_in(search, folder, names);
        }
    }
    return library != NULL ? library : fmha_library_open_in(search, "/usr/local/cuda/lib64", names);
}

/* A driver runs what a compiler of its own major version makes, and of earlier ones. */
static void *find(const rtc_kind *kind, library_search *search, int major, rtc_functions *call) {
    void *library = NULL;
    for (int at = major; library == NULL && at >= MAJOR_MIN; at--) {
        library = fmha_rtc_try(kind, find_major(search, at), call);
    }
    return library;
}

static const char *const driver_only[] = {"-x", "cu", "-cubin", "-O3", NULL};
static const char *const beside[] = {"libnvrtc-builtins.so", NULL};

const rtc_kind fmha_rtc_cuda = {
    .word = "NVRTC",
    .driver = "cuda",
    .variable = "FMHA_NVRTC_LIBRARY",
    .file = "libnvrtc.so",
    .major_min = MAJOR_MIN,
    .names = {[RTC_FUNCTION(create_program)] = "nvrtcCreateProgram",
              [RTC_FUNCTION(destroy_program)] = "nvrtcDestroyProgram",
              [RTC_FUNCTION(compile_program)] = "nvrtcCompileProgram",
              [RTC_FUNCTION(get_log_size)] = "nvrtcGetProgramLogSize",
              [RTC_FUNCTION(get_log)] = "nvrtcGetProgramLog",
              [RTC_FUNCTION(get_code_size)] = "nvrtcGetCUBINSize",
              [RTC_FUNCTION(get_code)] = "nvrtcGetCUBIN",
              [RTC_FUNCTION(get_error_string)] = "nvrtcGetErrorString",
              [RTC_FUNCTION(version)] = "nvrtcVersion"},
    .beside = beside,
    .find = find,
    .driver_only = driver_only,
};

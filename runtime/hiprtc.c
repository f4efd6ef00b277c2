/* hipRTC, the HIP runtime's own compiler. */
#include <stdio.h>

#include "rtc.h"

static void *find(const rtc_kind *kind, library_search *search, int major, rtc_functions *call) {
    char versioned[40];
    snprintf(versioned, sizeof versioned, "libhiprtc.so.%d", major);
    void *library = fmha_rtc_try(kind, fmha_library_open(search, versioned), call);
    return library != NULL ? library : fmha_rtc_try(kind, fmha_library_open(search, kind->file), call);
}

static const char *const driver_only[] = {
    "-x", "hip", "-nogpuinc", "-nogpulib", "--offload-device-only", "--no-gpu-bundle-output", NULL};
static const char *const beside[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so", NULL};

const rtc_kind fmha_rtc_hip = {
    .word = "hipRTC",
    .driver = "hip",
    .variable = "FMHA_HIPRTC_LIBRARY",
    .file = "libhiprtc.so",
    .major_min = 6, /* older ones come with a clang that is too old */
    .names = {[RTC_FUNCTION(create_program)] = "hiprtcCreateProgram",
              [RTC_FUNCTION(destroy_program)] = "hiprtcDestroyProgram",
              [RTC_FUNCTION(compile_program)] = "hiprtcCompileProgram",
              [RTC_FUNCTION(get_log_size)] = "hiprtcGetProgramLogSize",
              [RTC_FUNCTION(get_log)] = "hiprtcGetProgramLog",
              [RTC_FUNCTION(get_code_size)] = "hiprtcGetCodeSize",
              [RTC_FUNCTION(get_code)] = "hiprtcGetCode",
              [RTC_FUNCTION(get_error_string)] = "hiprtcGetErrorString",
              [RTC_FUNCTION(version)] = "hiprtcVersion"},
    .beside = beside,
    .find = find,
    .driver_only = driver_only,
};

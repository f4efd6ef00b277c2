/* The functions of the HIP runtime that libfmha calls, declared here because the library is opened at run time. They
 * have the same meaning in every version from 5 to 7. */
#ifndef FMHA_HIP_API_H
#define FMHA_HIP_API_H

#include <stdbool.h>

#include "gpu.h"

/* hipGetDeviceProperties fills a struct of 792 (5.x) or 1472 bytes (6.0 and later); a later version may append to it.
 */
#define HIP_PROPERTIES_BYTES 8192

/* hipPointerGetAttributes fills a struct that begins with the kind of memory and the ordinal of its device, both of 4
 * bytes, in every version; its size differs. Memory that no device knows has an ordinal below 0, or is an error. */
#define HIP_POINTER_ATTRIBUTES_BYTES  256
#define HIP_POINTER_ATTRIBUTES_DEVICE 4

/* Functions and nothing else, so that they can be filled from a list of names. Those that CUDA has in the same form are
 * in gpu.h. */
typedef struct hip_functions {
    int (*get_device)(int *ordinal);
    int (*set_device)(int ordinal);
    int (*pointer_get_attributes)(void *attributes, const void *address);
    const char *(*get_error_string)(int error);
    const char *(*get_error_name)(int error);
    int (*get_last_error)(void);
    int (*runtime_get_version)(int *version); /* major·10^7 + minor·10^5 + patch */
} hip_functions;

typedef struct hip_api {
    void *library;
    hip_functions call;
    int (*get_properties)(void *properties, int ordinal);
    int properties_revision; /* 6: the struct of 6.0 and later, 0: that of 5.x */
} hip_api;

/* What is needed of the properties of a device. */
typedef struct hip_properties {
    char name[256];
    char arch[256]; /* "gfx90a:sramecc+:xnack-" */
    int compute_units;
    size_t lds_bytes;
} hip_properties;

/* libamdhip64.so.7, .6, .5 and libamdhip64.so; also in $ROCM_PATH/lib and /opt/rocm/lib. */
extern const gpu_library fmha_hip_library;

/* Opens the HIP runtime, as fmha_gpu_library_open does. Close with fmha_hip_api_close. */
fmha_status fmha_hip_api_open(hip_api *hip, const char *const *names, gpu_functions *shared);
void fmha_hip_api_close(hip_api *hip);

/* Takes the needed fields out of what get_properties has filled. False when they are not where they should be. */
bool fmha_hip_api_read_properties(const hip_api *hip, const unsigned char *filled, hip_properties *properties);

/* "hipErrorNoDevice (100): no ROCm-capable device is detected", for messages. */
void fmha_hip_api_describe(const hip_api *hip, int error, char text[256]);

extern const gpu_absence fmha_hip_absence;

#endif

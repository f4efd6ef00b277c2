/* The functions of the HIP runtime that libfmha calls, declared here because the library is opened at run time. They
 * have the same meaning in every version from 5 to 7. */
#ifndef FMHA_HIP_API_H
#define FMHA_HIP_API_H

#include <stdbool.h>

#include "fmha.h"

/* Values of hipError_t that are told apart. */
#define HIP_SUCCESS           0
#define HIP_OUT_OF_MEMORY     2
#define HIP_NO_DEVICE         100
#define HIP_INVALID_DEVICE    101
#define HIP_NO_BINARY_FOR_GPU 209
#define HIP_NOT_FOUND         500

/* Values of hipMemcpyKind. */
#define HIP_HOST_TO_DEVICE 1
#define HIP_DEVICE_TO_HOST 2

/* Words in the `extra` list of hipModuleLaunchKernel. */
#define HIP_LAUNCH_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_BUFFER_SIZE    ((void *)2)
#define HIP_LAUNCH_END            ((void *)3)

/* hipGetDeviceProperties fills a struct of 792 (5.x) or 1472 bytes (6.0 and later); a later version may append to it.
 */
#define HIP_PROPERTIES_BYTES 8192

/* hipPointerGetAttributes fills a struct that begins with the kind of memory and the ordinal of its device, both of 4
 * bytes, in every version; its size differs. Memory that no device knows has an ordinal below 0, or is an error. */
#define HIP_POINTER_ATTRIBUTES_BYTES  256
#define HIP_POINTER_ATTRIBUTES_DEVICE 4

typedef struct hip_api {
    void *library;
    int (*init)(unsigned flags);
    int (*get_device_count)(int *count);
    int (*get_device)(int *ordinal);
    int (*set_device)(int ordinal);
    int (*malloc)(void **address, size_t bytes);
    int (*free)(void *address);
    int (*memcpy)(void *to, const void *from, size_t bytes, int kind);
    int (*module_load_data)(void **module, const void *image);
    int (*module_unload)(void *module);
    int (*module_get_function)(void **function, void *module, const char *name);
    int (*module_launch_kernel)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                unsigned block_y, unsigned block_z, unsigned lds_bytes, void *stream,
                                void **kernel_parameters, void **extra);
    int (*stream_synchronize)(void *stream);
    int (*event_create)(void **event);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_synchronize)(void *event);
    int (*event_elapsed_time)(float *milliseconds, void *begin, void *end);
    int (*device_synchronize)(void);
    int (*pointer_get_attributes)(void *attributes, const void *address);
    const char *(*get_error_string)(int error);
    const char *(*get_error_name)(int error);
    int (*get_last_error)(void);
    int (*runtime_get_version)(int *version); /* major·10^7 + minor·10^5 + patch */
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

/* Opens the HIP runtime: $FMHA_HIP_LIBRARY alone when it is set; else the one this process has open already, then
 * libamdhip64.so.7, .6, .5 and libamdhip64.so in the system's library folders, $ROCM_PATH/lib and /opt/rocm/lib.
 * FMHA_ERROR_NO_DRIVER lists the places. Close with fmha_hip_api_close. */
fmha_status fmha_hip_api_open(hip_api *hip);
void fmha_hip_api_close(hip_api *hip);

/* Takes the needed fields out of what get_properties has filled. False when they are not where they should be. */
bool fmha_hip_api_read_properties(const hip_api *hip, const unsigned char *filled, hip_properties *properties);

/* "hipErrorNoDevice (100): no ROCm-capable device is detected", for messages. */
void fmha_hip_api_describe(const hip_api *hip, int error, char text[256]);

/* Why no device may be there, and the cure: looks at `kfd_path` (/dev/kfd), and at the variables that hide devices. */
void fmha_hip_api_explain_no_device(const char *kfd_path, char text[512]);

#endif

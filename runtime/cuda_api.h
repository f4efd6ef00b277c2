/* The functions of the CUDA driver that libfmha calls, declared here because the library is opened at run time. They
 * have the same meaning in every version from 12.4 on. */
#ifndef FMHA_CUDA_API_H
#define FMHA_CUDA_API_H

#include "gpu.h"

/* Values of CUdevice_attribute, CUfunction_attribute and CUpointer_attribute. */
#define CUDA_COMPUTE_UNITS       16
#define CUDA_CAPABILITY_MAJOR    75
#define CUDA_CAPABILITY_MINOR    76
#define CUDA_LDS_BYTES_WORKGROUP 97 /* that a kernel may ask for; without asking it has 48 KiB */
#define CUDA_KERNEL_LDS_FIXED    1
#define CUDA_KERNEL_LDS_DYNAMIC  8 /* the most that a launch may have */
#define CUDA_POINTER_ORDINAL     9

#define CUDA_INVALID_VALUE 1 /* a result: there is no parameter of that number */

/* Functions and nothing else, so that they can be filled from a list of names. Those that HIP has in the same form are
 * in gpu.h. */
typedef struct cuda_functions {
    int (*driver_get_version)(int *version); /* major·1000 + minor·10 */
    int (*device_get)(int *device, int ordinal);
    int (*device_get_name)(char *name, int room, int device);
    int (*device_get_attribute)(int *value, int attribute, int device);
    int (*primary_context_retain)(void **context, int device);
    int (*primary_context_release)(int device);
    int (*context_get_current)(void **context);
    int (*context_set_current)(void *context);
    int (*module_get_global)(void **address, size_t *bytes, void *module, const char *name);
    int (*function_get_attribute)(int *value, int attribute, void *function);
    int (*function_set_attribute)(void *function, int attribute, int value);
    int (*function_get_parameter)(void *function, size_t index, size_t *offset, size_t *bytes);
    int (*pointer_get_attribute)(void *value, int attribute, const void *address);
    int (*get_error_name)(int error, const char **name);
    int (*get_error_string)(int error, const char **text);
} cuda_functions;

typedef struct cuda_api {
    void *library;
    cuda_functions call;
} cuda_api;

/* libcuda.so.1; also where containers mount it. */
extern const gpu_library fmha_cuda_library;

/* Opens the CUDA driver, as fmha_gpu_library_open does. Close with fmha_cuda_api_close. */
fmha_status fmha_cuda_api_open(cuda_api *cuda, const char *const *names, gpu_functions *shared);
void fmha_cuda_api_close(cuda_api *cuda);

/* "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected", for messages. */
void fmha_cuda_api_describe(const cuda_api *cuda, int error, char text[256]);

#endif

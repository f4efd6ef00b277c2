/* What HIP and CUDA devices have in common. Their runtimes offer functions of the same form under two names, with the
 * same numbers for errors; a driver names them, finds its device and describes it, and takes the rest from here. The
 * thread's current device is whatever the caller made it, before and after every call. */
#ifndef FMHA_GPU_H
#define FMHA_GPU_H

#include <pthread.h>

#include "driver.h"
#include "library.h"
#include "rtc.h"

/* Results that are told apart. */
#define GPU_SUCCESS           0
#define GPU_OUT_OF_MEMORY     2
#define GPU_NO_DEVICE         100
#define GPU_NO_BINARY_FOR_GPU 209
#define GPU_NOT_FOUND         500

/* Functions and nothing else, so that they can be filled from a list of names. */
typedef struct gpu_functions {
    int (*init)(unsigned flags);
    int (*device_count)(int *count);
    int (*memory_alloc)(void **address, size_t bytes);
    int (*memory_free)(void *address);
    int (*copy_to_device)(void *to, const void *from_host, size_t bytes);
    int (*copy_to_host)(void *to_host, const void *from, size_t bytes);
    int (*module_load)(void **module, const void *image);
    int (*module_unload)(void *module);
    int (*module_kernel)(void **kernel, void *module, const char *name);
    int (*launch)(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned lds_bytes, void *stream, void **kernel_parameters, void **extra);
    int (*stream_synchronize)(void *stream);
    int (*synchronize)(void);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_synchronize)(void *event);
    int (*event_elapsed)(float *milliseconds, void *begin, void *end);
} gpu_functions;

/* The place of a function in the list of names. */
#define GPU_FUNCTION(member) (offsetof(gpu_functions, member) / sizeof(void (*)(void)))
#define GPU_FUNCTION_COUNT   (sizeof(gpu_functions) / sizeof(void (*)(void)))

/* A runtime's library, and how errors speak of it. */
typedef struct gpu_library {
    const char *driver;                                              /* "hip" */
    const char *word;                                                /* "HIP runtime" */
    const char *file;                                                /* "libamdhip64 of ROCm 5 to 7" */
    const char *version;                                             /* "of ROCm 5 to 7" */
    const char *install;                                             /* the cure where it is not there */
    const char *variable;                                            /* "FMHA_HIP_LIBRARY" */
    const char *const *names;                                        /* of its file, NULL-terminated */
    void *(*find)(library_search *search, const char *const *names); /* where the loader does not look */
    const char *const *functions;                                    /* that this runtime alone has */
    size_t function_count;
} gpu_library;

/* Opens a runtime: the file that the variable names alone when it is set; else the one this process has open already,
 * then where the loader looks, then what `find` finds. FMHA_ERROR_NO_DRIVER lists the places. Fills `own` with the
 * runtime's own functions, and `shared` with those that have `names`. Close with fmha_library_close. */
fmha_status fmha_gpu_library_open(const gpu_library *kind, const char *const *names, void *own, gpu_functions *shared,
                                  void **library);

/* The error that an open library lacks a function. */
fmha_status fmha_gpu_library_lacks(const gpu_library *kind, void *library, const char *function);

typedef struct gpu gpu;

/* What to say, and what to look at, where a runtime finds no device. */
typedef struct gpu_absence {
    const char *gpu;       /* "an AMD GPU" */
    const char *devices;   /* "HIP devices" */
    const char *error;     /* "hipErrorNoDevice" */
    const char *tool;      /* "rocminfo" */
    const char *node;      /* the kernel driver's file */
    const char *missing;   /* the cure where it is not there */
    const char *hiding[5]; /* variables that hide devices, NULL-terminated */
    const char *hides;     /* those of them that are most used, "HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES" */
    const char *check;     /* what is left to do where nothing was found */
} gpu_absence;

/* A runtime: its words and what it does in its own way. */
typedef struct gpu_runtime {
    const gpu_library *library;
    const gpu_absence *absence;
    size_t state_bytes; /* of the driver's state, which begins with a gpu */
    /* Opens the library and the device; what `info` says but for `arch`, `ordinal` and `image_kind`. Whatever comes of
     * it, `close` follows. */
    fmha_status (*open)(gpu *g, fmha_device_info *info);
    void (*close)(void *state);
    const char *names[GPU_FUNCTION_COUNT]; /* of gpu_functions, in their order */
    const char *get_current_name, *set_current_name;
    int (*get_current)(const gpu *g, void **current);
    int (*set_current)(const gpu *g, void *current);
    void (*describe)(const gpu *g, int result, char text[256]); /* "hipErrorNoDevice (100): no device is detected" */
    int (*take_error)(const gpu *g); /* NULL: the runtime keeps no last error for its caller to find */
    void *launch_end;                /* ends the `extra` list of a launch */
    uint32_t grid_yz_max;            /* of workgroups */
    fmha_status (*needs)(const gpu *g, void *module, void *kernel, fmha_kernel_needs *needs); /* NULL: none */
    const rtc_kind *rtc;
} gpu_runtime;

/* The beginning of each driver's state. */
struct gpu {
    const gpu_runtime *runtime;
    gpu_functions call;
    int ordinal;
    char arch[256];           /* "gfx90a:sramecc+:xnack-", "sm_90" */
    void *current;            /* what set_current makes this device current with */
    void *rtc_library;        /* where the compiler may be part of the runtime's library; else NULL */
    int rtc_major;            /* version of the runtime that the compiler must suit */
    pthread_mutex_t rtc_lock; /* of the search, which the first compilation makes; never changed afterwards */
    bool rtc_looked_for, rtc_found;
    rtc_api rtc;
};

/* Why no device may be there, and the cure. */
void fmha_gpu_explain_absence(const gpu_absence *absence, char text[512]);

/* `result` of the runtime's function `name` as a status with a text. */
fmha_status fmha_gpu_check(const gpu *g, int result, const char *name);

/* A driver's `open`, for a runtime. */
fmha_status fmha_gpu_open(const gpu_runtime *runtime, const char *selector, void **state, fmha_device_info *info);
void fmha_gpu_release(gpu *g); /* closes the compiler */

/* Starts the runtime and looks whether it has a device of this number. */
fmha_status fmha_gpu_find_device(const gpu *g);

/* These are a driver's functions as they stand; `state` begins with a gpu. */
fmha_status fmha_gpu_memory_alloc(void *state, size_t bytes, const char *label, void **address);
fmha_status fmha_gpu_memory_free(void *state, void *address);
fmha_status fmha_gpu_memory_write(void *state, void *to, const void *from_host, size_t bytes);
fmha_status fmha_gpu_memory_read(void *state, void *to_host, const void *from, size_t bytes);
fmha_status fmha_gpu_compile(void *state, const fmha_source *source, void **image, size_t *image_bytes);
fmha_status fmha_gpu_compile_identity(void *state, int wave, char **text);
fmha_status fmha_gpu_module_load(void *state, const void *image, size_t image_bytes, void **module);
fmha_status fmha_gpu_module_unload(void *state, void *module);
fmha_status fmha_gpu_module_kernel(void *state, void *module, const char *symbol, void **kernel);
fmha_status fmha_gpu_needs(void *state, void *module, void *kernel, fmha_kernel_needs *needs);
fmha_status fmha_gpu_launch(void *state, void *kernel, const fmha_launch_config *config);
fmha_status fmha_gpu_synchronize(void *state, void *stream);
fmha_status fmha_gpu_measure(void *state, void *kernel, const fmha_launch_config *config, double *us);

/* All of the above, for a driver's table. */
#define FMHA_GPU_FUNCTIONS                                                                                             \
    .memory_alloc = fmha_gpu_memory_alloc, .memory_free = fmha_gpu_memory_free, .memory_write = fmha_gpu_memory_write, \
    .memory_read = fmha_gpu_memory_read, .compile = fmha_gpu_compile, .compile_identity = fmha_gpu_compile_identity,   \
    .module_load = fmha_gpu_module_load, .module_unload = fmha_gpu_module_unload,                                      \
    .module_kernel = fmha_gpu_module_kernel, .needs = fmha_gpu_needs, .launch = fmha_gpu_launch,                       \
    .synchronize = fmha_gpu_synchronize, .measure = fmha_gpu_measure, .measure_unit = "us", .concurrent = true

#endif

/* libfmha: attention kernels for AMD GPUs, found, loaded and launched.
 *
 * Conventions of this header
 *   - Every function returns an fmha_status; FMHA_OK is 0. On any other value fmha_last_error() says, for the calling
 *     thread, what was expected, what was got and what to do about it. No function aborts, exits or prints.
 *   - Sizes ending in _bytes are bytes; strides are in elements.
 *   - A pointer parameter must not be NULL unless its comment says that NULL is accepted; a NULL that is not accepted
 *     returns FMHA_ERROR_ARGUMENT.
 *   - A device may be used by one thread at a time; different devices by different threads at once.
 */
#ifndef FMHA_H
#define FMHA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface between generated kernels and this library. Generated text refuses to compile under another.
 */
#define FMHA_ABI_VERSION 1

#if defined(__GNUC__)
#define FMHA_API __attribute__((visibility("default")))
#else
#define FMHA_API
#endif

typedef enum fmha_status {
    FMHA_OK = 0,
    FMHA_ERROR_ARGUMENT,    /* a parameter is outside what this header promises to accept */
    FMHA_ERROR_NO_DRIVER,   /* the driver's library is not on this machine or is too old */
    FMHA_ERROR_NO_DEVICE,   /* the driver is there and reports no device, or not the one asked for */
    FMHA_ERROR_WRONG_CHIP,  /* the code is for another chip than the device */
    FMHA_ERROR_NO_COMPILER, /* no compiler that knows the chip was found */
    FMHA_ERROR_COMPILE,     /* a compiler ran and failed; its own words are in the message */
    FMHA_ERROR_MEMORY,      /* host or device memory is exhausted */
    FMHA_ERROR_IO,          /* a file could not be read or written */
    FMHA_ERROR_DRIVER,      /* the driver returned an error of its own */
    FMHA_ERROR_UNSUPPORTED, /* the driver cannot do this */
    FMHA_ERROR_KERNEL       /* the kernel ran and did something that a kernel must not do (emulated devices) */
} fmha_status;

/* Text of the last error of the calling thread, never NULL, "" if there was none. Valid until the thread's next call.
 */
FMHA_API const char *fmha_last_error(void);

/* Short constant name of a status, for logs: "FMHA_ERROR_NO_DEVICE". Never NULL. */
FMHA_API const char *fmha_status_name(fmha_status status);

/* ---- Devices ------------------------------------------------------------------------------------------------------
 */

typedef struct fmha_device fmha_device;
typedef struct fmha_module fmha_module;
typedef struct fmha_kernel fmha_kernel;

/* What a driver's `load` takes. */
typedef enum fmha_image_kind {
    FMHA_IMAGE_CODE_OBJECT, /* ELF code object as `fmhagen build` writes it (drivers hip, isa) */
    FMHA_IMAGE_HOST_OBJECT /* shared object for the host, made by the emulated device's own compile step (driver emu) */
} fmha_image_kind;

typedef struct fmha_device_info {
    const char *driver; /* "emu", "hip"; owned by the library, valid while the device is open (as the two below) */
    const char *arch;   /* gfx target with its feature suffixes, "gfx1151", "gfx942:sramecc+:xnack-" */
    const char *name;   /* for people: "AMD Radeon 8060S", "emulated gfx1151" */
    fmha_image_kind image_kind;
    int ordinal;                /* the driver's number of the device, from 0 */
    int compute_units;          /* at least 1, as the driver counts them (HIP on RDNA: workgroup processors) */
    size_t lds_bytes_workgroup; /* largest LDS allocation of one workgroup */
} fmha_device_info;

/* Opens a device by name: "emu:gfx1151" (the emulated device for a chip), "hip" (the first HIP device), "hip:1".
 * On success *device must be closed by fmha_device_close. On failure *device is set to NULL. */
FMHA_API fmha_status fmha_device_open(const char *name, fmha_device **device);

/* Closes a device and everything that was made with it. NULL is accepted and does nothing. */
FMHA_API void fmha_device_close(fmha_device *device);

FMHA_API fmha_status fmha_device_get_info(const fmha_device *device, fmha_device_info *info);

/* Device memory of `bytes` bytes (1 and up), aligned to at least 256. `label` names the buffer in the findings of an
 * emulated device ("q", "lse"); NULL is accepted. Free with fmha_memory_free or by closing the device. */
FMHA_API fmha_status fmha_memory_alloc(fmha_device *device, size_t bytes, const char *label, void **address);
FMHA_API fmha_status fmha_memory_free(fmha_device *device, void *address); /* NULL is accepted and does nothing */

/* Copies; complete when they return. Both ranges must lie in one allocation each. bytes may be 0. */
FMHA_API fmha_status fmha_memory_write(fmha_device *device, void *to, const void *from_host, size_t bytes);
FMHA_API fmha_status fmha_memory_read(fmha_device *device, void *to_host, const void *from, size_t bytes);

/* What kernels may do with a tensor. */
typedef enum fmha_access { FMHA_ACCESS_READ = 1, FMHA_ACCESS_WRITE = 2, FMHA_ACCESS_READ_WRITE = 3 } fmha_access;

#define FMHA_VIEW_DIMENSIONS_MAX 6

/* A tensor in device memory: element (i, j, …) stands at address + element_bytes * (i * strides[0] + j * strides[1] +
 * …).
 */
typedef struct fmha_tensor_view {
    const char *label; /* names the tensor in findings and counters; copied, up to 31 bytes of it */
    void *address;     /* of element (0, 0, …) */
    size_t element_bytes;
    int dimensions;                            /* 1 to FMHA_VIEW_DIMENSIONS_MAX */
    int64_t shape[FMHA_VIEW_DIMENSIONS_MAX];   /* 0 and up; with a 0 the tensor has no element */
    int64_t strides[FMHA_VIEW_DIMENSIONS_MAX]; /* elements, 0 and up */
    fmha_access access;
} fmha_tensor_view;

/* Declares a tensor. On an emulated device kernels may from then on touch nothing of that allocation but the elements
 * of the tensors declared in it, each only as its access allows, and every element of one with FMHA_ACCESS_WRITE must
 * have been written when the device is next synchronized after a launch. Where tensors overlap, the one declared last
 * holds. All elements must lie in one allocation, at most 254 tensors in each. A declaration ends with its allocation.
 * Real devices check the view and ignore it. */
FMHA_API fmha_status fmha_memory_view(fmha_device *device, const fmha_tensor_view *view);

/* Source text that a device can make into an image of its kind. */
typedef struct fmha_source {
    const char *text;   /* HIP C as fmhagen emits it, NUL-terminated */
    const char *symbol; /* the kernel's name in it */
    const char *path;   /* file name for diagnostics; NULL: "<symbol>.hip" */
    int wave;           /* 32 or 64: lanes of a wave */
} fmha_source;

/* Compiles source for the device. On success *image is malloc'ed, *image_bytes long; the caller frees it with free().
 */
FMHA_API fmha_status fmha_source_compile(fmha_device *device, const fmha_source *source, void **image,
                                         size_t *image_bytes);

/* Loads an image of the device's kind; the bytes are copied. Unload with fmha_module_unload or by closing the device.
 */
FMHA_API fmha_status fmha_module_load(fmha_device *device, const void *image, size_t image_bytes, fmha_module **module);
FMHA_API fmha_status fmha_module_unload(fmha_module *module); /* NULL is accepted and does nothing */

/* A kernel of a module by its symbol. It lives as long as the module. */
FMHA_API fmha_status fmha_module_kernel(fmha_module *module, const char *symbol, fmha_kernel **kernel);

typedef struct fmha_launch_config {
    uint32_t grid[3];         /* workgroups, 1 and up; times the workgroup below 2^32 in each dimension */
    uint32_t workgroup[3];    /* work items, product 1 to 1024 */
    size_t lds_dynamic_bytes; /* beside what the kernel declares; usually 0 */
    const void *arguments;    /* the kernel's argument block, laid out as its NAME.json says; copied */
    size_t argument_bytes;    /* its size */
    void *stream;             /* the driver's stream (hipStream_t); NULL: the default stream */
} fmha_launch_config;

/* Starts a kernel. A zero in grid or workgroup returns FMHA_ERROR_ARGUMENT. Returns before the kernel ends. */
FMHA_API fmha_status fmha_kernel_launch(fmha_kernel *kernel, const fmha_launch_config *config);

/* Waits for everything started on the stream (NULL: the whole device) and returns the first error of it. On an emulated
 * device FMHA_ERROR_KERNEL means that there are findings. */
FMHA_API fmha_status fmha_device_synchronize(fmha_device *device, void *stream);

/* What an emulated device found wrong in the kernels it ran. */
typedef struct fmha_finding {
    const char *kind; /* constant word: "divergent-collective", "out-of-bounds", … */
    const char *text; /* one line: what, where (kernel's file:line, workgroup, wave, lane), and what would cure it */
} fmha_finding;

/* The findings since the device was opened or they were last cleared; 0 on a real device. *findings is owned by the
 * device and valid until its next launch, clear or close. */
FMHA_API fmha_status fmha_device_findings(fmha_device *device, const fmha_finding **findings, size_t *count);
FMHA_API fmha_status fmha_device_clear_findings(fmha_device *device);

/* Sets an option of an emulated device; real devices have none and return FMHA_ERROR_UNSUPPORTED. An unknown option and
 * a value out of bounds return FMHA_ERROR_ARGUMENT. "seed"     order of the waves between barriers in the launches that
 * follow, 0 and up; 0: of their numbers (default) "threads"  threads that run workgroups, 0 to 256; 0 (default): one
 * for each processor "seconds"  processor time that a workgroup may take, 0 to 1000000; 0: any; default 120 "checks" 1
 * (default): kernels compiled from now on have every access to memory checked; 0: they run faster "count"    1: the
 * launches that follow are counted (fmha_device_counters), which takes longer; default 0 */
FMHA_API fmha_status fmha_device_set(fmha_device *device, const char *option, int64_t value);

/* One number that an emulated device counted. */
typedef struct fmha_counter {
    const char *name;   /* "matrix_instructions", "bytes_read", … (docs/emulator.md lists them) */
    const char *tensor; /* label of the tensor or buffer that it is about; NULL: of the whole */
    uint64_t value;
} fmha_counter;

/* What was counted in the launches since the device was opened or its counters were last cleared; 0 counters on a real
 * device or where nothing was counted. *counters is owned by the device and valid until its next launch, clear or
 * close.
 */
FMHA_API fmha_status fmha_device_counters(fmha_device *device, const fmha_counter **counters, size_t *count);
FMHA_API fmha_status fmha_device_clear_counters(fmha_device *device);

#ifdef __cplusplus
}
#endif

#endif

/* The boundary between libfmha and a kind of device. A driver is a const table of functions; everything above it is
 * shared and never asks which driver it runs on. Drivers that need more than libc are shared objects of their own
 * (libfmha_emu.so), opened when such a device is asked for, that export `fmha_driver_entry`. */
#ifndef FMHA_DRIVER_H
#define FMHA_DRIVER_H

#include <stdbool.h>

#include "fmha.h"

/* Texts are cut where they do not fit, on purpose: messages to their room, paths after a look at their length. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wformat-truncation"
#endif

#define FMHA_DRIVER_VERSION 4

typedef struct fmha_kernel_needs {
    size_t argument_bytes; /* from the first argument to the end of the last, beyond which a launch may have none; 0:
                              what it has beyond is ignored */
    size_t lds_bytes;      /* dynamic LDS of a launch that asks for none itself */
} fmha_kernel_needs;

typedef struct fmha_driver {
    int version; /* FMHA_DRIVER_VERSION, so that a stale shared object is refused */
    const char *name;
    /* `selector` is what follows the colon of the device's name, "" if nothing does. */
    fmha_status (*open)(const char *selector, void **state, fmha_device_info *info);
    void (*close)(void *state);
    fmha_status (*memory_alloc)(void *state, size_t bytes, const char *label, void **address);
    fmha_status (*memory_free)(void *state, void *address);
    fmha_status (*memory_write)(void *state, void *to, const void *from_host, size_t bytes);
    fmha_status (*memory_read)(void *state, void *to_host, const void *from, size_t bytes);
    fmha_status (*compile)(void *state, const fmha_source *source, void **image, size_t *image_bytes);
    fmha_status (*module_load)(void *state, const void *image, size_t image_bytes, void **module);
    fmha_status (*module_unload)(void *state, void *module);
    fmha_status (*module_kernel)(void *state, void *module, const char *symbol, void **kernel);
    fmha_status (*launch)(void *state, void *kernel, const fmha_launch_config *config);
    fmha_status (*synchronize)(void *state, void *stream);
    fmha_status (*findings)(void *state, const fmha_finding **findings, size_t *count); /* NULL: never any */
    fmha_status (*clear_findings)(void *state);                                         /* NULL: never any */
    fmha_status (*memory_view)(void *state, const fmha_tensor_view *view);              /* NULL: ignored */
    fmha_status (*set)(void *state, const char *option, int64_t value);                 /* NULL: no option */
    fmha_status (*counters)(void *state, const fmha_counter **list, size_t *count);     /* NULL: never any */
    fmha_status (*clear_counters)(void *state);                                         /* NULL: never any */
    /* What decides, beside the source, which image `compile` makes: compiler with its version, flags, chip, and for a
     * driver that adds text of its own a hash of it. Lines of "name value". *text is malloc'ed. Costs no child process
     * when it was asked before on this machine (compiler_memo.h). */
    fmha_status (*compile_identity)(void *state, int wave, char **text);
    /* Runs the launch once, waits, and says what it cost, in `measure_unit`. */
    fmha_status (*measure)(void *state, void *kernel, const fmha_launch_config *config, double *amount);
    const char *measure_unit; /* "us", or of an emulated device "counted cycles" */
    /* The ordinal of the device whose memory holds `address`. NULL: this driver cannot tell. */
    fmha_status (*locate)(const void *address, int *ordinal);
    /* What runs kernels, with its version, for people: "HIP 6.4.43484". NULL: there is nothing to say. */
    void (*about)(void *state, char *text, size_t room);
    /* What a launch of the kernel must be like. NULL: nothing that a module can tell. */
    fmha_status (*needs)(void *state, void *module, void *kernel, fmha_kernel_needs *needs);
    bool concurrent; /* every function may run on several threads at once; else the device layer locks */
} fmha_driver;

/* Records the calling thread's error text, printf style, and returns `status`. The text may quote fmha_last_error(). */
fmha_status fmha_fail(fmha_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Drivers in shared objects get it as a pointer, so that they need no symbol of libfmha. */
typedef fmha_status (*fmha_fail_function)(fmha_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What a driver's shared object exports under the name "fmha_driver_entry". */
typedef const fmha_driver *(*fmha_driver_entry_function)(fmha_fail_function fail);

#endif

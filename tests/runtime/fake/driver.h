/* A driver that simulates nothing but records what it is asked for. It is built as libfmha_emu.so in a folder of its
 * own; a test sees its record through the symbol fake_driver_state. */
#ifndef TESTS_RUNTIME_FAKE_DRIVER_H
#define TESTS_RUNTIME_FAKE_DRIVER_H

#include <stdbool.h>

#include "../../../runtime/driver.h"

typedef struct fake_driver_record {
    int version;                    /* what the driver claims; 0: the right one */
    const char *fail_in;            /* the function that fails, "memory_alloc"; NULL: none */
    bool without_findings;          /* the table has no functions for findings */
    char selector[64];              /* of the last open */
    char label[64], symbol[64];     /* of the last allocation, of the last kernel lookup */
    int devices, memories, modules; /* alive */
    int launches, lookups, clears, copies;
    int compiles, loads;
    fmha_launch_config launched;
    char launched_symbol[256], launched_image[256]; /* the kernel and its image as a text, cut */
    unsigned char launched_arguments[1024];
    void *synchronized_stream;
    /* How it behaves. What an open device is asked for at once may be changed at any time, the rest before it opens. */
    fmha_status failure;           /* what the function that fails returns; 0: FMHA_ERROR_DRIVER */
    int failures;                  /* how many more times it fails; 0: always */
    const char *refused_image;     /* module_load refuses an image that begins so; NULL: none */
    bool code_objects;             /* images are code objects, not host objects */
    bool concurrent, quiet;        /* of the table; and launches are not recorded */
    const char *arch;              /* NULL: "gfx1151" */
    const char *identity;          /* of its compiler; NULL: the table has no compile_identity */
    const char *measure_unit;      /* NULL: the table has no measure. A launch costs the number that its image begins
                                      with, and 0.25 more each time; one whose image has none fails */
    char measured[4096];           /* the kernels that were measured, each with a blank before it, cut */
    unsigned compile_ms;           /* how long it compiles */
    int compiling, compiling_most; /* at once: now, and at most so far */
} fake_driver_record;

#endif

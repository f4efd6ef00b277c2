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
    fmha_launch_config launched;
    void *synchronized_stream;
} fake_driver_record;

#endif

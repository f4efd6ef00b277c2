/* Kernels of a text that a test makes, on an emulated device or as machine code. A failed call fails the test. */
#ifndef TESTS_TEMPLATES_RUNNING_H
#define TESTS_TEMPLATES_RUNNING_H

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "fmha.h"

/* What template_render is given to prepare for text that is of no chip: a table `arch` that has nothing. */
void any_chip(lua_State *L, void *context);

struct target {
    const char *name;
    fmha_device *device;
    fmha_module *module;
};

/* Compiles the text for the device, "isa:gfx1151", and loads it. `symbol`: one of its kernels; `wave`: lanes. Close
 * target.device. */
struct target open_target(const char *name, int wave, const char *text, const char *symbol);

/* Runs a kernel (const u32 *in, u32 *out, u32 which) with `groups` workgroups of `items` work items. */
void run_kernel(struct target *target, const char *symbol, uint32_t which, uint32_t groups, uint32_t items,
                const uint32_t *in, size_t in_bytes, uint32_t *out, size_t out_bytes);

/* With FMHA_TEST_LONG=1: machine code of the chips that the ordinary run leaves out. */
void on_other_chips(void (*check)(const char *name, int wave));

#endif

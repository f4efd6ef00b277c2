/* A device with instances that fmhagen makes. */
#ifndef TESTS_RUNTIME_MADE_SUPPORT_H
#define TESTS_RUNTIME_MADE_SUPPORT_H

#include "fmha.h"

extern fmha_device *device; /* emu:gfx1151, with no instances to begin with */

/* Fixtures of a suite: a cache of its own, and nothing of the user's environment. */
void made_set_up(void);
void made_tear_down(void);

/* Adds a library, called `name`, of the instances that the options of `fmhagen library` describe, for gfx1151
 * unless they name another chip. */
void made_add_library(const char *name, const char *options);

/* Memory of the device with a copy of `contents`. */
void *made_copy(const char *label, const void *contents, size_t bytes);

/* Waits for a launch, which must have succeeded. */
void made_finish(fmha_status launched);

/* What a function must have returned, and its error text as a whole. */
void made_expect(fmha_status got, fmha_status expected, const char *text);

/* The same of a problem of `bytes`, when the function of that name accepts no less than `least`. */
void made_expect_short(fmha_status got, const char *function, size_t least, size_t bytes);

#endif

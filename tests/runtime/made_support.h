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

#endif

/* What a code object says of the chip it is for, read without trusting its bytes. */
#ifndef FMHA_IMAGE_H
#define FMHA_IMAGE_H

#include <stdbool.h>

#include "fmha.h"

#define FMHA_TARGET_BYTES 64

/* Checks that `image` is one whole ELF code object for an AMD GPU, or a cubin, and stores its target,
 * "gfx942:sramecc+", "sm_90", in `target`. `what` names it in errors. Anything else (a bundle, a host object, a torn
 * file) is FMHA_ERROR_ARGUMENT. */
fmha_status fmha_image_target(const char *what, const void *image, size_t image_bytes, char target[FMHA_TARGET_BYTES]);

/* True when a device of `arch` can run code for `target`: one processor, and no feature that the code fixes is set the
 * other way. A generic target ("gfx11-generic") passes; the driver knows what it covers. */
bool fmha_image_fits(const char *target, const char *arch);

#endif

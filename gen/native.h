/* What the reference takes where the matrix unit multiplies numbers of a small format itself (--kv-math native): Q is
 * quantized to it by the kernel, which is part of what is computed, so that the reference does the same. */
#ifndef GEN_NATIVE_H
#define GEN_NATIVE_H

#include "halves.h"
#include "reference.h"
#include "spec.h"

/* Whether Q becomes mxfp4. */
bool native_is_scaled(const struct spec *spec);

/* Whether the weights meet V as bf16, whatever the type of Q; rows of scales are then multiples of four bytes. */
bool native_has_bf16_weights(const struct spec *spec);

/* Replaces q, [batch][heads_q][seqlen_q][head_dim], by what is left of it as mxfp4, rounded by the rule of the
 * instance. False: no memory. */
bool native_quantize_q(const struct spec *spec, const struct reference_problem *problem, double *q);

#endif

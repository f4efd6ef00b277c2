/* The runtime's shape key of an instance: its facts, none of its knobs. */
#ifndef GEN_SHAPE_KEY_H
#define GEN_SHAPE_KEY_H

#include "key.h"
#include "spec.h"

/* The key of a resolved spec. */
bool spec_key(const struct spec *spec, struct fmha_key *key, struct error *error);

#endif

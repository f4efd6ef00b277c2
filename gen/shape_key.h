/* The runtime's shape key of an instance: its facts, none of its knobs. */
#ifndef GEN_SHAPE_KEY_H
#define GEN_SHAPE_KEY_H

#include "key.h"
#include "spec.h"

/* The field of the key that a fact is, by its number in fmha_key_field_names; -1 for a knob. */
int spec_key_field(enum spec_field_id id);

/* The key of a resolved spec. */
bool spec_key(const struct spec *spec, struct fmha_key *key, struct error *error);

#endif

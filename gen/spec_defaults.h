/* What a chip's table in templates/arch/ says of a spec. For spec.c alone. */
#ifndef GEN_SPEC_DEFAULTS_H
#define GEN_SPEC_DEFAULTS_H

#include "spec.h"
#include "text.h"

/* The spec's operation and facts are set. Sets an unset wave and orientation to the chip's defaults and refuses a wave
 * and a type that the chip does not have; `row` receives the table's values of knobs, SPEC_UNSET where it has none. */
bool spec_defaults(struct spec *spec, struct template_engine *engine, int32_t row[SPEC_FIELD_COUNT],
                   struct error *error);

/* Stores whether the chip has the spec's type and its wave, as far as they are set. */
bool spec_chip_has(const struct spec *spec, struct template_engine *engine, bool *has, struct error *error);

/* Appends the operations that the chip's table has defaults for, none where it has them for that of the spec. */
bool spec_chip_operations(const struct spec *spec, struct template_engine *engine, struct text *all,
                          struct error *error);

/* Sets --kv-dtype to the e4m3 that the chip computes with: `fp8` of its table, that of the OCP without it. */
bool spec_chip_fp8(struct spec *spec, struct template_engine *engine, struct error *error);

/* Whether a NUMBER may have this value. */
bool spec_number_fits(const struct spec_field *field, long number);

#endif

#include "shape_key.h"

#include <stdio.h>
#include <string.h>

int spec_key_field(enum spec_field_id id) {
    const char *name = id == SPEC_OP ? "operation" : spec_fields[id].name;
    int field = 0;
    while (field < FMHA_KEY_FIELDS && strcmp(fmha_key_field_names[field], name) != 0)
        field++;
    return field < FMHA_KEY_FIELDS ? field : -1;
}

/* Sets what a fact says, as the text by which the runtime knows it: its words and their numbers stand in key.c alone.
 */
static bool set_fact(const struct spec *spec, enum spec_field_id id, struct fmha_key *key, struct error *error) {
    const struct spec_field *fact = &spec_fields[id];
    char number[16];
    snprintf(number, sizeof number, "%d", (int)spec->value[id]);
    const char *text = fact->words ? spec_word(spec, id) : number;
    int field = spec_key_field(id);
    return (field >= 0 && fmha_key_set_value(key, field, text, strlen(text))) ||
           error_set(error, ERROR_RUN, "%s: expected a value that shape keys can have, got '%s'", fact->name, text);
}

bool spec_key(const struct spec *spec, struct fmha_key *key, struct error *error) {
    fmha_key_init(key);
    if (!fmha_key_set_target(key, spec->arch))
        return error_set(error, ERROR_RUN, "--arch: expected a target such as gfx1151 or sm_90, got '%s'", spec->arch);
    key->modifier = spec->modifier_hash;
    bool done = true;
    for (int id = 0; done && id < SPEC_FIELD_COUNT; id++)
        if (!spec_fields[id].knob && spec_has(spec, (enum spec_field_id)id))
            done = set_fact(spec, (enum spec_field_id)id, key, error);
    if (spec_has(spec, SPEC_VALUES) && key->modifiers & FMHA_KEY_VALUES)
        key->head_dim_v = 0; /* there is no V */
    return done;
}

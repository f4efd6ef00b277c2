#include "shape_key.h"

#include <string.h>

/* Words and the numbers that stand for them in keys: a word may move in its list, its number stays. */
static const struct {
    enum spec_field_id field;
    const char *word;
    uint8_t number;
} numbers[] = {
    {SPEC_OP, "forward", FMHA_KEY_FORWARD},
    {SPEC_OP, "decode", FMHA_KEY_DECODE},
    {SPEC_OP, "merge", FMHA_KEY_MERGE},
    {SPEC_OP, "backward", FMHA_KEY_BACKWARD},
    {SPEC_OP, "pack", FMHA_KEY_PACK},
    {SPEC_DTYPE, "f16", FMHA_KEY_F16},
    {SPEC_DTYPE, "bf16", FMHA_KEY_BF16},
    {SPEC_MASK, "none", FMHA_KEY_MASK_NONE},
    {SPEC_MASK, "causal-bottom-right", FMHA_KEY_CAUSAL_BOTTOM_RIGHT},
    {SPEC_MASK, "causal-top-left", FMHA_KEY_CAUSAL_TOP_LEFT},
    {SPEC_V_LAYOUT, "row", FMHA_KEY_V_ROW},
    {SPEC_V_LAYOUT, "transposed", FMHA_KEY_V_TRANSPOSED},
};

/* Of a row that the operation does not have: 0. */
static int32_t number_of(const struct spec *spec, enum spec_field_id id) {
    return spec_has(spec, id) ? spec->value[id] : 0;
}

static bool take_word(const struct spec *spec, enum spec_field_id id, uint8_t *number, struct error *error) {
    if (!spec_has(spec, id))
        return true;
    const char *word = spec_word(spec, id);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].field == id && !strcmp(numbers[i].word, word)) {
            *number = numbers[i].number;
            return true;
        }
    return error_set(error, ERROR_RUN, "%s: expected a word that shape keys have a number for, got '%s'",
                     spec_fields[id].name, word);
}

bool spec_key(const struct spec *spec, struct fmha_key *key, struct error *error) {
    fmha_key_init(key);
    if (!fmha_key_set_target(key, spec->arch))
        return error_set(error, ERROR_RUN, "--arch: expected a gfx target such as gfx1151, got '%s'", spec->arch);
    key->head_dim = (uint16_t)number_of(spec, SPEC_HEAD_DIM);
    key->head_dim_v = (uint16_t)number_of(spec, SPEC_HEAD_DIM_V);
    key->align = (uint8_t)number_of(spec, SPEC_ALIGN);
    return take_word(spec, SPEC_OP, &key->operation, error) && take_word(spec, SPEC_DTYPE, &key->dtype, error) &&
           take_word(spec, SPEC_MASK, &key->mask, error) && take_word(spec, SPEC_V_LAYOUT, &key->v_layout, error);
}

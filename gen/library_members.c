#include "library_members.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_HEAD_DIM                                                                                                 \
    "8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248,"  \
    "256"
#define MODEL_HEAD_DIM "64,80,96,112,128,160,192,256"

/* What callers bring K and V into the form of the others with (fmha_pack). */
#define PACK_FIELDS [SPEC_OP] = "pack", [SPEC_V_LAYOUT] = "row,transposed", [SPEC_ALIGN] = "16,2"

/* docs/library.md and `fmhagen library --help` tell what they are. */
const struct library_preset library_presets[LIBRARY_PRESET_COUNT] = {
    {.name = "minimal",
     .rows = {{{[SPEC_HEAD_DIM] = "64,128",
                [SPEC_DTYPE] = "f16",
                [SPEC_MASK] = "none,bottom-right",
                [SPEC_V_LAYOUT] = "row",
                [SPEC_ALIGN] = "16",
                [SPEC_GQA] = "1"}},
              {{PACK_FIELDS}}},
     .row_count = 2},
    {.name = "llm-inference",
     .rows =
         {{{[SPEC_HEAD_DIM] = MODEL_HEAD_DIM,
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "none,bottom-right",
            [SPEC_V_LAYOUT] = "row",
            [SPEC_ALIGN] = "16,2",
            [SPEC_GQA] = "1,4"}},
          {{[SPEC_HEAD_DIM] = MODEL_HEAD_DIM,
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "none,bottom-right",
            [SPEC_V_LAYOUT] = "transposed",
            [SPEC_ALIGN] = "16",
            [SPEC_GQA] = "1,4"}},
          {{[SPEC_HEAD_DIM] = "192",
            [SPEC_HEAD_DIM_V] = "128",
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "none,bottom-right",
            [SPEC_V_LAYOUT] = "row",
            [SPEC_ALIGN] = "16,2",
            [SPEC_GQA] = "1,4"}},
          {{[SPEC_HEAD_DIM] = "192",
            [SPEC_HEAD_DIM_V] = "128",
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "none,bottom-right",
            [SPEC_V_LAYOUT] = "transposed",
            [SPEC_ALIGN] = "16",
            [SPEC_GQA] = "1,4"}},
          {{[SPEC_HEAD_DIM] = "256",
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "bottom-right",
            [SPEC_VARLEN] = "packed",
            [SPEC_PAGED] = "off,on",
            [SPEC_V_LAYOUT] = "row",
            [SPEC_ALIGN] = "16",
            [SPEC_GQA] = "1,4"}},
          {{[SPEC_HEAD_DIM] = "64,128",
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "bottom-right",
            [SPEC_WINDOW] = "none,sliding",
            [SPEC_VARLEN] = "packed",
            [SPEC_PAGED] = "off,on",
            [SPEC_V_LAYOUT] = "row",
            [SPEC_ALIGN] = "16",
            [SPEC_GQA] = "1,4"}},
          {{[SPEC_OP] = "append",
            [SPEC_HEAD_DIM] = "64,128",
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_VARLEN] = "packed",
            [SPEC_PAGED] = "off,on",
            [SPEC_ROTARY] = "off,neox",
            [SPEC_ALIGN] = "16"}},
          {{[SPEC_OP] = "decode",
            [SPEC_HEAD_DIM] = "64,128",
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "bottom-right",
            [SPEC_VARLEN] = "none,packed",
            [SPEC_PAGED] = "on",
            [SPEC_V_LAYOUT] = "row",
            [SPEC_ALIGN] = "16",
            [SPEC_ROWS] = "16,64"}},
          {{[SPEC_OP] = "decode",
            [SPEC_HEAD_DIM] = "256",
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "bottom-right",
            [SPEC_VARLEN] = "none,packed",
            [SPEC_PAGED] = "on",
            [SPEC_V_LAYOUT] = "row",
            [SPEC_ALIGN] = "16"}},
          {{[SPEC_OP] = "decode",
            [SPEC_HEAD_DIM] = "64,128",
            [SPEC_DTYPE] = "f16,bf16",
            [SPEC_MASK] = "bottom-right",
            [SPEC_VARLEN] = "none,padded",
            [SPEC_V_LAYOUT] = "row",
            [SPEC_ALIGN] = "16"}},
          {{[SPEC_OP] = "merge", [SPEC_DTYPE] = "f16,bf16", [SPEC_VARLEN] = "none,packed,padded", [SPEC_ALIGN] = "16"}},
          {{PACK_FIELDS}}},
     .row_count = 12},
    {.name = "all",
     .rows = {{{[SPEC_HEAD_DIM] = EVERY_HEAD_DIM,
                [SPEC_DTYPE] = "f16,bf16",
                [SPEC_MASK] = "none,bottom-right,top-left",
                [SPEC_V_LAYOUT] = "row,transposed",
                [SPEC_ALIGN] = "16,2",
                [SPEC_GQA] = "1"}},
              {{PACK_FIELDS}}},
     .row_count = 2},
};

const char *const library_preset_words[LIBRARY_PRESET_COUNT + 1] = {"minimal", "llm-inference", "all", NULL};

const struct library_preset *library_preset_find(const char *name) {
    for (int i = 0; i < LIBRARY_PRESET_COUNT; i++)
        if (strcmp(library_presets[i].name, name) == 0)
            return &library_presets[i];
    return NULL;
}

/* ---- Members ---- */

static bool lists(const struct library_preset *preset, int id) {
    for (int row = 0; row < preset->row_count; row++)
        if (preset->rows[row].field[id])
            return true;
    return false;
}

/* Whether a comma list has the word. */
static bool has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    while (*list) {
        size_t part = strcspn(list, ",");
        if (part == length && strncmp(list, word, length) == 0)
            return true;
        list += part + (list[part] == ',');
    }
    return false;
}

static bool add_row(const struct library_row *row, const struct spec_choices *choices, struct template_engine *engine,
                    struct spec **specs, size_t *count, struct error *error) {
    struct spec_choices product = *choices;
    struct spec *added, *all;
    size_t added_count;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        product.field[id] = row->field[id] ? row->field[id] : product.field[id];
    product.if_chip_has = UINT64_C(1) << SPEC_DTYPE;
    if (!spec_product(&product, engine, &added, &added_count, error))
        return false;
    if (!added_count) {
        free(added);
        return true;
    }
    all = realloc(*specs, (*count + added_count) * sizeof *all);
    if (all) {
        memcpy(all + *count, added, added_count * sizeof *all);
        *specs = all;
        *count += added_count;
    }
    free(added);
    return all || error_set(error, ERROR_RUN, "library: out of memory");
}

static void swap(struct spec *a, struct spec *b) {
    struct spec kept = *a;
    *a = *b;
    *b = kept;
}

/* Options beside a preset are about the operations that --op lists; without it about forward, and members of other
 * operations stay as they are. */
static bool is_meant(const struct spec *spec, const struct spec_choices *choices) {
    return choices->field[SPEC_OP] || spec->value[SPEC_OP] == SPEC_OP_FORWARD;
}

/* Keeps the members whose field has one of the values that are chosen; each value must keep one. */
static bool keep(const struct library_preset *preset, enum spec_field_id id, const struct spec_choices *choices,
                 struct spec *specs, size_t *count, struct error *error) {
    const char *list = choices->field[id];
    size_t kept = 0;
    for (bool last = false; !last;) {
        char word[32];
        size_t length = strcspn(list, ","), before = kept;
        struct spec wanted;
        last = list[length] == '\0';
        if (length >= sizeof word)
            return error_set(error, ERROR_USAGE, "--%s: expected a value of preset %s, got '%.100s'",
                             spec_fields[id].option, preset->name, list);
        memcpy(word, list, length);
        word[length] = '\0';
        list += length + !last;
        spec_init(&wanted);
        if (!spec_set(&wanted, id, word, error))
            return false;
        for (size_t i = kept; i < *count; i++)
            if (is_meant(&specs[i], choices) && specs[i].value[id] == wanted.value[id])
                swap(&specs[i], &specs[kept++]);
        if (kept == before)
            return error_set(error, ERROR_USAGE,
                             "--%s: expected a value that members of preset %s have beside the other options, got "
                             "'%s'; leave out --preset to name every member yourself",
                             spec_fields[id].option, preset->name, word);
    }
    for (size_t i = kept; i < *count; i++)
        if (!is_meant(&specs[i], choices))
            swap(&specs[i], &specs[kept++]);
    *count = kept;
    return true;
}

bool library_members(const struct library_preset *preset, const struct spec_choices *choices,
                     struct template_engine *engine, struct spec **specs, size_t *count, struct error *error) {
    *specs = NULL;
    *count = 0;
    if (!choices->arch) {
        struct spec chipless; /* its error names the chips, and no member */
        spec_init(&chipless);
        return spec_resolve(&chipless, engine, error);
    }
    if (!preset)
        return spec_product(choices, engine, specs, count, error);
    struct spec_choices added = *choices; /* what the preset leaves open */
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (lists(preset, id))
            added.field[id] = NULL;
    bool done = true;
    const struct spec_choices chip = {.arch = choices->arch};
    for (int row = 0; done && row < preset->row_count; row++) {
        const char *operation = preset->rows[row].field[SPEC_OP], *asked = choices->field[SPEC_OP];
        bool forward = !operation;
        operation = forward ? spec_operation_words[SPEC_OP_FORWARD] : operation;
        if (!asked || has_word(asked, operation))
            done = add_row(&preset->rows[row], asked || forward ? &added : &chip, engine, specs, count, error);
    }
    for (int id = 0; done && id < SPEC_FIELD_COUNT; id++)
        if (lists(preset, id) && choices->field[id])
            done = keep(preset, (enum spec_field_id)id, choices, *specs, count, error);
    if (!done) {
        free(*specs);
        *specs = NULL;
    }
    return done;
}

/* ---- Ranks ---- */

bool library_rank(const struct spec *spec, struct template_engine *engine, int32_t *rank, struct error *error) {
    struct spec usual = *spec;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (spec_fields[id].knob && id != SPEC_GQA && spec_has(spec, (enum spec_field_id)id))
            usual.value[id] = SPEC_UNSET;
    if (!spec_resolve(&usual, engine, error))
        return false;
    bool same = spec->set_count == 0 && memcmp(usual.value, spec->value, sizeof usual.value) == 0;
    int32_t fused = spec_has(spec, SPEC_GQA) ? spec->value[SPEC_GQA] : 1;
    *rank = same ? -fused : LIBRARY_RANK_CANDIDATE;
    return true;
}

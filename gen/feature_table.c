#include "feature_table.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"
#include "template.h"

const struct feature features[] = {
    {"full attention", ""},
    {"causal", "--causal"},
    {"causal, top-left", "--causal=top-left"},
    {"window", "--window"},
    {"window, sink keys", "--window --sink-keys"},
    {"prefix", "--causal --prefix"},
    {"block mask", "--block-mask"},
    {"mask", "--mask"},
    {"bias", "--bias"},
    {"bias, f32", "--bias=f32"},
    {"softcap", "--softcap"},
    {"alibi", "--alibi"},
    {"sink", "--sink"},
    {"head scale", "--head-scale"},
    {"dropout", "--dropout"},
    {"packed", "--varlen=packed"},
    {"padded", "--varlen=padded"},
    {"paged", "--paged"},
    {"packed, paged", "--varlen=packed --paged"},
    {"V given transposed", "--v-layout=transposed"},
    {"head dimensions 192, 128", "--hd=192 --hd-v=128"},
    {"head dimensions 576, 512", "--hd=576 --hd-v=512"},
    {"fused heads", "--gqa=2"},
    {"window, softcap, causal", "--causal --window --softcap"},
    {"packed, causal, window", "--causal --window --varlen=packed"},
    {"paged, window, sink keys", "--window --sink-keys --paged"},
    {"packed, paged, causal", "--causal --varlen=packed --paged"},
    {"alibi, padded", "--alibi --varlen=padded"},
    {"bias, mask", "--bias --mask"},
    {"sink, window, causal", "--causal --window --sink"},
    {"sink, window, softcap", "--window --softcap --sink"},
    {"dropout, packed", "--dropout --varlen=packed"},
    {"fp8 K and V", "--kv-dtype=e4m3"},
    {"fp8, token scales, paged", "--kv-dtype=e5m2fnuz --kv-scale=token --paged"},
    {"mxfp4 K and V, packed", "--kv-dtype=mxfp4 --causal --varlen=packed"},
    {"priority of products", "--prio=matrix"},
    {"causal, paired blocks", "--causal --causal-order=paired"},
    {"three dies, packed", "--xcds=3 --varlen=packed"},
};
const size_t feature_count = sizeof features / sizeof features[0];

/* What features are asked about beside each other: knobs and layouts that a template could have a reason to exclude. */
static const char *const besides[] = {
    "--gqa=2",         "--orientation=qk --pipeline=2 --k-path=direct",
    "--k-path=async",  "--k-path=direct",
    "--v-path=gather", "--v-layout=transposed",
    "--align=2",
};
enum { BESIDES = sizeof besides / sizeof besides[0] };

static bool set_word(struct spec *spec, const char *word, size_t length, struct error *error) {
    char option[64];
    snprintf(option, sizeof option, "%.*s", (int)length, word);
    char *value = strchr(option, '=');
    if (value)
        *value++ = '\0';
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (strncmp(option, "--", 2) == 0 && strcmp(option + 2, spec_fields[id].option) == 0)
            return spec_set(spec, (enum spec_field_id)id, value ? value : "", error);
    return error_set(error, ERROR_USAGE, "features: expected options of a kernel, got '%s'", option);
}

bool feature_set(struct spec *spec, const char *words, struct error *error) {
    for (const char *word = words; *word;) {
        size_t length = strcspn(word, " ");
        if (!set_word(spec, word, length, error))
            return false;
        word += length;
        word += strspn(word, " ");
    }
    return true;
}

/* What is asked of the templates. */
struct question {
    const char *words, *beside;
    const char *arch;
    int dtype;
    const char *orientation; /* NULL: the chip's default */
};

/* Whether the templates make it; a refusal is their text. False: something else went wrong, and `refusal` says what. */
static bool ask(struct template_engine *engine, const struct question *question, bool *made, struct error *refusal) {
    struct spec spec;
    struct instance instance;
    spec_init(&spec);
    spec.value[SPEC_DTYPE] = question->dtype;
    *made = spec_set_arch(&spec, engine, question->arch, refusal) &&
            (!question->orientation || spec_set(&spec, SPEC_ORIENTATION, question->orientation, refusal)) &&
            feature_set(&spec, question->words, refusal) && feature_set(&spec, question->beside, refusal);
    if (spec.value[SPEC_HEAD_DIM] == SPEC_UNSET)
        spec.value[SPEC_HEAD_DIM] = FEATURE_HEAD_DIM;
    *made = *made && spec_resolve(&spec, engine, refusal) && instance_emit(engine, &spec, &instance, refusal);
    if (*made)
        instance_free(&instance);
    return *made || refusal->kind == ERROR_USAGE;
}

/* ---- Chips -------------------------------------------------------------------------------------- */

static void read_text(lua_State *L, const char *field, char *to, size_t size) {
    lua_getfield(L, -1, field);
    snprintf(to, size, "%s", lua_isstring(L, -1) ? lua_tostring(L, -1) : "");
    lua_pop(L, 1);
}

static void read_chip(lua_State *L, void *context) {
    struct feature_chip *chip = context;
    const int table = lua_gettop(L);
    read_text(L, "name", chip->arch, sizeof chip->arch);
    read_text(L, "family", chip->family, sizeof chip->family);
    for (int dtype = 0; dtype < FEATURE_DTYPES; dtype++) {
        chip->has[dtype] = lua_getfield(L, -1, "atoms") == LUA_TTABLE &&
                           lua_getfield(L, -1, spec_fields[SPEC_DTYPE].words[dtype]) != LUA_TNIL;
        lua_settop(L, table);
    }
    chip->text_alone = lua_getfield(L, -1, "dialect") != LUA_TNIL; /* of another vendor */
    lua_settop(L, table);
}

static int compare_chips(const void *a, const void *b) {
    const struct feature_chip *one = a, *other = b;
    int families = strcmp(one->family, other->family);
    return families ? families : strcmp(one->arch, other->arch);
}

static bool read_chips(struct template_engine *engine, struct feature_table *table, struct error *error) {
    const char *const *paths = template_chips(engine, &table->chip_count);
    table->chips = calloc(table->chip_count + 1, sizeof *table->chips);
    if (!table->chips)
        return error_set(error, ERROR_RUN, "features: out of memory");
    for (size_t i = 0; i < table->chip_count; i++)
        if (!template_with_table(engine, paths[i], read_chip, &table->chips[i], error))
            return false;
    qsort(table->chips, table->chip_count, sizeof *table->chips, compare_chips);
    return true;
}

/* ---- What is refused ---------------------------------------------------------------------------- */

static bool add_refusal(struct feature_table *table, size_t feature, const char *beside, const char *because,
                        struct error *error) {
    struct feature_refusal *row = &table->refusals[table->refusal_count];
    *row = (struct feature_refusal){feature, beside, strdup(because)};
    if (!row->because)
        return error_set(error, ERROR_RUN, "features: out of memory");
    table->refusal_count++;
    return true;
}

/* The first chip on which the words alone are made. */
static bool find_chip(struct template_engine *engine, const struct feature_table *table, const char *words,
                      const char **arch, struct error *error) {
    *arch = NULL;
    for (size_t i = 0; !*arch && i < table->chip_count; i++) {
        struct question alone = {.words = words, .beside = "", .arch = table->chips[i].arch};
        bool made;
        if (!ask(engine, &alone, &made, error))
            return false;
        *arch = made ? alone.arch : NULL;
    }
    return true;
}

static bool ask_besides(struct template_engine *engine, struct feature_table *table, struct error *error) {
    for (int i = 0; i < BESIDES; i++) {
        const char *arch;
        if (!find_chip(engine, table, besides[i], &arch, error))
            return false;
        for (size_t feature = 0; arch && feature < feature_count; feature++) {
            struct question question = {.words = features[feature].words, .beside = besides[i], .arch = arch};
            bool made;
            if (!ask(engine, &question, &made, error) ||
                (!made && !add_refusal(table, feature, besides[i], error->text, error)))
                return false;
        }
    }
    return true;
}

/* ---- The sample --------------------------------------------------------------------------------- */

/* One run for each feature and family. Devices, formats, orientations and the family's chips take turns such that each
 * feature meets both of the first three, and each chip both devices. What a chip refuses or has no instructions for
 * passes the turn on. */
static bool choose_run(struct template_engine *engine, struct feature_table *table, size_t feature, size_t first,
                       size_t count, size_t family, struct error *error) {
    for (size_t turn = feature; turn < feature + 8 * count; turn++) {
        /* Of an even number of chips each would meet the same device again. */
        size_t shift = count % 2 == 0 ? turn / count : 0;
        struct feature_run run = {.feature = feature,
                                  .chip = first + (turn + shift) % count,
                                  .dtype = (int)((turn / 2 + family) % FEATURE_DTYPES),
                                  .isa = (turn + family) % 2,
                                  .qk = (turn / 4 + family / 2) % 2};
        const struct feature_chip *chip = &table->chips[run.chip];
        if (!chip->has[run.dtype])
            run.dtype = 0;
        run.isa = run.isa && !chip->text_alone;
        struct question question = {features[feature].words, "", chip->arch, run.dtype, run.qk ? "qk" : "kq"};
        bool made;
        if (!ask(engine, &question, &made, error))
            return false;
        if (!made)
            continue;
        table->states[(feature * table->chip_count + run.chip) * FEATURE_DTYPES + (size_t)run.dtype] = FEATURE_TESTED;
        table->runs[table->run_count++] = run;
        return true;
    }
    return true;
}

static bool choose_runs(struct template_engine *engine, struct feature_table *table, struct error *error) {
    size_t family = 0;
    for (size_t first = 0, count; first < table->chip_count; first += count, family++) {
        for (count = 1; first + count < table->chip_count; count++)
            if (strcmp(table->chips[first].family, table->chips[first + count].family) != 0)
                break;
        for (size_t feature = 0; feature < feature_count; feature++)
            if (!choose_run(engine, table, feature, first, count, family, error))
                return false;
    }
    return true;
}

/* What each chip makes of each feature with its defaults. */
static bool ask_chips(struct template_engine *engine, struct feature_table *table, struct error *error) {
    enum feature_state *state = table->states;
    for (size_t feature = 0; feature < feature_count; feature++)
        for (size_t i = 0; i < table->chip_count; i++)
            for (int dtype = 0; dtype < FEATURE_DTYPES; dtype++, state++) {
                struct question question = {features[feature].words, "", table->chips[i].arch, dtype, NULL};
                bool made;
                if (!table->chips[i].has[dtype]) {
                    *state = FEATURE_NO_INSTRUCTIONS;
                    continue;
                }
                if (!ask(engine, &question, &made, error) ||
                    (!made && !add_refusal(table, feature, "", error->text, error)))
                    return false;
                *state = made ? FEATURE_LONG : FEATURE_REFUSED;
            }
    return true;
}

bool feature_table_make(struct template_engine *engine, struct feature_table *table, struct error *error) {
    memset(table, 0, sizeof *table);
    bool done = read_chips(engine, table, error);
    if (done) {
        const size_t cells = feature_count * table->chip_count * FEATURE_DTYPES;
        table->states = calloc(cells + 1, sizeof *table->states);
        table->runs = calloc(feature_count * table->chip_count + 1, sizeof *table->runs);
        table->refusals = calloc(cells + feature_count * BESIDES, sizeof *table->refusals);
        done = table->states && table->runs && table->refusals;
        if (!done)
            error_set(error, ERROR_RUN, "features: out of memory");
    }
    done = done && ask_chips(engine, table, error) && choose_runs(engine, table, error) &&
           ask_besides(engine, table, error);
    if (!done)
        feature_table_free(table);
    return done;
}

void feature_table_free(struct feature_table *table) {
    for (size_t i = 0; i < table->refusal_count; i++)
        free(table->refusals[i].because);
    free(table->refusals);
    free(table->runs);
    free(table->states);
    free(table->chips);
    memset(table, 0, sizeof *table);
}

enum feature_state feature_state_of(const struct feature_table *table, size_t feature, size_t chip, int dtype) {
    return table->states[(feature * table->chip_count + chip) * FEATURE_DTYPES + (size_t)dtype];
}

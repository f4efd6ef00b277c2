#include "spec.h"

#include <ctype.h>
#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec_defaults.h"
#include "template.h"
#include "user_modifier.h"

enum { FACT = 0, KNOB = 1, CHOICE = 2, FIRST = 0 };
#define ALWAYS    SPEC_UNSET
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SAME      NULL
#define OFF_ON    LIST("off", "on")

const char *const spec_operation_words[SPEC_OPERATION_COUNT + 1] = {
#define SPEC_OPERATION(identifier, word) word,
    SPEC_OPERATIONS(SPEC_OPERATION)
#undef SPEC_OPERATION
        NULL};

enum {
#define SPEC_OPERATION(identifier, word) identifier = 1 << SPEC_OP_##identifier,
    SPEC_OPERATIONS(SPEC_OPERATION)
#undef SPEC_OPERATION
        EVERY = (1 << SPEC_OPERATION_COUNT) - 1,
    CACHED = FORWARD | DECODE | BACKWARD | MLA, /* attention of any kind */
    ATTENTION = FORWARD | DECODE | BACKWARD     /* with K and V apart */
};

const struct spec_field spec_fields[SPEC_FIELD_COUNT] = {
#define WORD(identifier, operations_, name_, option_, bare_, role, neutral_, help_, words_, shorts_, typed_)           \
    {.name = (name_),                                                                                                  \
     .operations = (operations_),                                                                                      \
     .option = (option_),                                                                                              \
     .bare = (bare_),                                                                                                  \
     .words = (words_),                                                                                                \
     .shorts = (shorts_),                                                                                              \
     .typed = (typed_),                                                                                                \
     .neutral = (neutral_),                                                                                            \
     .knob = (role) != FACT,                                                                                           \
     .choice = (role) == CHOICE,                                                                                       \
     .always = (neutral_) == ALWAYS,                                                                                   \
     .help = (help_)},
#define NUMBER(identifier, operations_, name_, option_, role, neutral_, minimum_, maximum_, multiple_of_, symbol_,     \
               help_)                                                                                                  \
    {.name = (name_),                                                                                                  \
     .operations = (operations_),                                                                                      \
     .option = (option_),                                                                                              \
     .minimum = (minimum_),                                                                                            \
     .maximum = (maximum_),                                                                                            \
     .multiple_of = (multiple_of_),                                                                                    \
     .neutral = (neutral_),                                                                                            \
     .knob = (role) != FACT,                                                                                           \
     .choice = (role) == CHOICE,                                                                                       \
     .always = (neutral_) == ALWAYS,                                                                                   \
     .symbol = (symbol_),                                                                                              \
     .help = (help_)},
#include "spec_fields.h"
#undef WORD
#undef NUMBER
};

const char *const *spec_typed_words(const struct spec_field *field) {
    return field->typed ? field->typed : field->words;
}

void spec_init(struct spec *spec) {
    *spec = (struct spec){0};
    for (int i = 0; i < SPEC_FIELD_COUNT; i++)
        spec->value[i] = SPEC_UNSET;
}

static size_t word_count(const char *const *words) {
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

/* ---- Operations ---- */

bool spec_operation_has(enum spec_operation operation, enum spec_field_id id) {
    return (spec_fields[id].operations >> operation & 1) != 0;
}

static enum spec_operation operation_of(const struct spec *spec) {
    int32_t value = spec->value[SPEC_OP];
    return value == SPEC_UNSET ? SPEC_OP_FORWARD : (enum spec_operation)value;
}

bool spec_has(const struct spec *spec, enum spec_field_id id) {
    return spec_operation_has(operation_of(spec), id);
}

int32_t spec_number(const struct spec *spec, enum spec_field_id id) {
    return spec_has(spec, id) ? spec->value[id] : spec_fields[id].neutral;
}

const char *spec_word(const struct spec *spec, enum spec_field_id id) {
    return spec_fields[id].words[spec_number(spec, id)];
}

void spec_operation_options(enum spec_operation operation, struct text *out) {
    int last = SPEC_FIELD_COUNT - 1;
    while (last > 0 && !spec_operation_has(operation, (enum spec_field_id)last))
        last--;
    const char *separator = "";
    for (int id = 0; id <= last; id++) {
        if (id == SPEC_OP || !spec_operation_has(operation, (enum spec_field_id)id))
            continue;
        text_printf(out, "%s--%s", *separator && id == last ? " and " : separator, spec_fields[id].option);
        separator = ", ";
    }
}

/* Appends "a, b or c". */
static void add_words(struct text *out, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        text_printf(out, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", words[i]);
}

/* ---- One field ---- */

bool spec_number_fits(const struct spec_field *field, long number) {
    if (number < field->minimum || number > field->maximum)
        return false;
    return field->multiple_of ? number % field->multiple_of == 0 : number == field->minimum || number == field->maximum;
}

static bool is_pair(const struct spec_field *field) {
    return !field->multiple_of || field->maximum - field->minimum == field->multiple_of;
}

/* Appends what the field accepts: "a multiple of 8 from 8 to 576". */
static void add_expected(struct text *out, const struct spec_field *field) {
    if (field->words)
        add_words(out, spec_typed_words(field), word_count(spec_typed_words(field)));
    else if (is_pair(field))
        text_printf(out, "%d or %d", (int)field->minimum, (int)field->maximum);
    else if (field->multiple_of == 1)
        text_printf(out, "a whole number from %d to %d", (int)field->minimum, (int)field->maximum);
    else
        text_printf(out, "a multiple of %d from %d to %d", (int)field->multiple_of, (int)field->minimum,
                    (int)field->maximum);
}

static bool refuse_field(const struct spec_field *field, const char *text, struct error *error) {
    struct text expected = {0};
    add_expected(&expected, field);
    if (!*text)
        text_puts(&expected, ", got none");
    else
        text_printf(&expected, ", got '%.64s'", text);
    char *end;
    long number = strtol(text, &end, 10);
    if (field->words) {
        const char *nearest = text_nearest(text, spec_typed_words(field), word_count(spec_typed_words(field)));
        if (nearest)
            text_printf(&expected, "; did you mean '%s'?", nearest);
    } else if (*text && !*end && !is_pair(field) && number > field->minimum && number < field->maximum) {
        long below = number - number % field->multiple_of;
        text_printf(&expected, "; the nearest are %ld and %ld", below, below + field->multiple_of);
    }
    error_set(error, ERROR_USAGE, "--%s: expected %s", field->option,
              expected.failed ? "another value" : expected.bytes);
    text_free(&expected);
    return false;
}

bool spec_set(struct spec *spec, enum spec_field_id id, const char *text, struct error *error) {
    const struct spec_field *field = &spec_fields[id];
    if (!*text && field->bare)
        text = field->bare;
    if (field->words) {
        const char *const *words = spec_typed_words(field);
        for (int32_t i = 0; words[i]; i++)
            if (!strcmp(words[i], text)) {
                spec->value[id] = i;
                return true;
            }
        return refuse_field(field, text, error);
    }
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || !spec_number_fits(field, number))
        return refuse_field(field, text, error);
    spec->value[id] = (int32_t)number;
    return true;
}

static bool is_set_value(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("_+-.", text[i]))
            return false;
    return length > 0;
}

bool spec_add_set(struct spec *spec, const char *text, struct error *error) {
    const char *equals = strchr(text, '=');
    size_t name = equals ? (size_t)(equals - text) : 0, value = equals ? strlen(equals + 1) : 0;
    bool is_name = name && !isdigit((unsigned char)text[0]);
    for (size_t i = 0; i < name; i++)
        is_name = is_name && (isalnum((unsigned char)text[i]) || text[i] == '_');
    if (!is_name || !is_set_value(equals + 1, value))
        return error_set(error, ERROR_USAGE,
                         "--set: expected NAME=VALUE, a name as in C and a value of letters, digits and _ + - ., got "
                         "'%.100s'",
                         text);
    if (name >= sizeof spec->set[0].name || value >= sizeof spec->set[0].value)
        return error_set(error, ERROR_USAGE,
                         "--set: expected at most %zu characters before and after '=', got '%.200s'",
                         sizeof spec->set[0].name - 1, text);
    if (spec->set_count == SPEC_SET_MAX)
        return error_set(error, ERROR_USAGE, "--set: expected it at most %d times, got more", SPEC_SET_MAX);
    int at = 0;
    while (at < spec->set_count) {
        int order = strncmp(spec->set[at].name, text, name);
        order = order ? order : spec->set[at].name[name] != '\0';
        if (order == 0)
            return error_set(error, ERROR_USAGE, "--set: expected %s once, got it twice", spec->set[at].name);
        if (order > 0)
            break;
        at++;
    }
    memmove(&spec->set[at + 1], &spec->set[at], (size_t)(spec->set_count - at) * sizeof spec->set[0]);
    memset(&spec->set[at], 0, sizeof spec->set[0]);
    memcpy(spec->set[at].name, text, name);
    memcpy(spec->set[at].value, equals + 1, value);
    spec->set_count++;
    return true;
}

/* ---- The target ---- */

void spec_arch_path(const struct spec *spec, char path[SPEC_ARCH_MAX + 16]) {
    snprintf(path, SPEC_ARCH_MAX + 16, "arch/%.*s.lua", (int)strcspn(spec->arch, ":"), spec->arch);
}

/* Appends the known chips. `nearest` (may be NULL) receives the one most like `text`. */
static void add_chips(struct text *out, struct template_engine *engine, const char *text, char nearest[SPEC_ARCH_MAX]) {
    size_t count;
    const char *const *paths = template_chips(engine, &count);
    char(*names)[SPEC_ARCH_MAX] = calloc(count + 1, sizeof *names);
    const char **words = calloc(count + 1, sizeof *words);
    if (names && words) {
        size_t chips = 0;
        for (size_t i = 0; i < count; i++) {
            const char *name = paths[i] + strlen("arch/");
            size_t length = strlen(name);
            if (length > 4 && length - 4 < SPEC_ARCH_MAX && !strcmp(name + length - 4, ".lua")) {
                memcpy(names[chips], name, length - 4);
                words[chips] = names[chips];
                chips++;
            }
        }
        add_words(out, words, chips);
        const char *found = nearest ? text_nearest(text, words, chips) : NULL;
        if (found)
            memcpy(nearest, found, SPEC_ARCH_MAX);
    } else
        out->failed = true;
    free(names);
    free(words);
}

static bool refuse_arch(struct template_engine *engine, const char *text, const char *why, struct error *error) {
    struct text known = {0};
    char nearest[SPEC_ARCH_MAX] = "";
    add_chips(&known, engine, text, *text ? nearest : NULL);
    error_set(error, ERROR_USAGE, "--arch: expected %s, got %s%.64s%s%s%s%s%s", known.bytes ? known.bytes : "a chip",
              *text ? "'" : "none", text, *text ? "'" : "", why, *nearest ? "; did you mean '" : "", nearest,
              *nearest ? "'?" : "");
    text_free(&known);
    return false;
}

struct feature_check {
    const char *feature;
    size_t length;
    bool known;
    struct text all;
};

static void check_feature(lua_State *L, void *context) {
    struct feature_check *check = context;
    if (lua_getfield(L, -1, "features") == LUA_TNIL)
        return;
    lua_Integer count = luaL_len(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_geti(L, -1, i);
        const char *feature = lua_tostring(L, -1);
        if (!feature)
            luaL_error(L, "expected a list of names as 'features', got a %s in it", luaL_typename(L, -1));
        check->known =
            check->known || (strlen(feature) == check->length && !memcmp(feature, check->feature, check->length));
        text_printf(&check->all, "%s%s", i > 1 ? ", " : "", feature);
        lua_pop(L, 1);
    }
}

static int compare_features(const void *a, const void *b) {
    return strcmp(a, b);
}

bool spec_set_arch(struct spec *spec, struct template_engine *engine, const char *text, struct error *error) {
    size_t base = strcspn(text, ":"), length = strlen(text);
    if (!*text || length >= SPEC_ARCH_MAX)
        return refuse_arch(engine, text, "", error);
    struct spec parsed = {0};
    memcpy(parsed.arch, text, base);
    char path[SPEC_ARCH_MAX + 16];
    spec_arch_path(&parsed, path);
    size_t count;
    const char *const *paths = template_list(engine, path, &count);
    if (!count || strcmp(paths[0], path) != 0 || !template_is_chip(path))
        return refuse_arch(engine, text, "", error);

    char features[SPEC_ARCH_MAX / 3][SPEC_ARCH_MAX];
    size_t feature_count = 0;
    for (const char *at = text + base; *at;) {
        const char *feature = at + 1;
        size_t feature_length = strcspn(feature, ":");
        at = feature + feature_length;
        if (feature_length < 2 || !strchr("+-", feature[feature_length - 1]))
            return error_set(error, ERROR_USAGE, "--arch: expected features as ':name+' or ':name-', got '%s'", text);
        struct feature_check check = {.feature = feature, .length = feature_length - 1};
        bool read = template_with_table(engine, path, check_feature, &check, error);
        if (read && !check.known)
            error_set(error, ERROR_USAGE, "--arch: expected a feature that %s has (%s), got '%.*s'; leave ':%.*s' out",
                      parsed.arch, check.all.length ? check.all.bytes : "none", (int)feature_length, feature,
                      (int)feature_length, feature);
        text_free(&check.all);
        if (!read || !check.known)
            return false;
        for (size_t i = 0; i < feature_count; i++)
            if (!strncmp(features[i], feature, feature_length - 1) && features[i][feature_length] == '\0')
                return error_set(error, ERROR_USAGE, "--arch: expected each feature once, got '%s'", text);
        memcpy(features[feature_count], feature, feature_length);
        features[feature_count++][feature_length] = '\0';
    }
    qsort(features, feature_count, sizeof features[0], compare_features);
    size_t end = base;
    for (size_t i = 0; i < feature_count; i++)
        end += (size_t)snprintf(parsed.arch + end, sizeof parsed.arch - end, ":%s", features[i]);
    memcpy(spec->arch, parsed.arch, sizeof spec->arch);
    return true;
}

/* ---- Resolving ---- */

int32_t spec_wave_rows(const char *shape) {
    int32_t rows = (int32_t)strtol(shape, NULL, 10); /* of "32x32" */
    return rows == 64 ? rows / 4 : rows;
}

/* Rows of a wave: those of a matrix instruction, so that a workgroup whose size is given in one way has the other. */
static void couple_rows_and_waves(struct spec *spec, const int32_t row[SPEC_FIELD_COUNT]) {
    const struct spec_field *block_m = &spec_fields[SPEC_BLOCK_M], *waves = &spec_fields[SPEC_WAVES];
    int32_t *m = &spec->value[SPEC_BLOCK_M], *w = &spec->value[SPEC_WAVES];
    if (!spec_has(spec, SPEC_BLOCK_M))
        return;
    int32_t matrix = spec->value[SPEC_MATRIX] != SPEC_UNSET ? spec->value[SPEC_MATRIX] : row[SPEC_MATRIX];
    const char *shape =
        spec_fields[SPEC_MATRIX].words[matrix != SPEC_UNSET ? matrix : spec_fields[SPEC_MATRIX].neutral];
    int32_t rows = spec_wave_rows(shape);
    int32_t sharing = spec->value[SPEC_V_WAVES] != SPEC_UNSET ? spec->value[SPEC_V_WAVES] : row[SPEC_V_WAVES];
    if (sharing == SPEC_UNSET)
        sharing = spec_fields[SPEC_V_WAVES].neutral;
    if (*w != SPEC_UNSET && *w % sharing != 0 &&
        spec->value[SPEC_V_WAVES] == SPEC_UNSET) /* waves that were asked for */
        sharing = spec->value[SPEC_V_WAVES] = spec_fields[SPEC_V_WAVES].neutral;
    if (*m != SPEC_UNSET && *w == SPEC_UNSET) {
        int32_t wanted = *m < rows ? sharing : *m / rows * sharing;
        *w = wanted < waves->maximum ? wanted : waves->maximum;
    } else if (*w != SPEC_UNSET && *m == SPEC_UNSET) {
        int32_t wanted = *w < sharing ? rows : *w / sharing * rows;
        *m = wanted < block_m->maximum ? wanted : block_m->maximum;
    }
}

static bool check_operation(const struct spec *spec, struct template_engine *engine, struct error *error) {
    const char *word = spec_word(spec, SPEC_OP);
    char path[64];
    snprintf(path, sizeof path, "ops/%s.hip", word);
    size_t count;
    const char *const *paths = template_list(engine, path, &count);
    if (count && !strcmp(paths[0], path))
        return true;
    return error_set(error, ERROR_USAGE,
                     "--op: expected an operation that is built, got '%s': %s is reserved until it is built", word,
                     word);
}

/* An option that the operation does not have. */
static bool check_rows(const struct spec *spec, struct error *error) {
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        if (spec_has(spec, (enum spec_field_id)id) || spec->value[id] == SPEC_UNSET)
            continue;
        struct text options = {0};
        spec_operation_options(operation_of(spec), &options);
        error_set(error, ERROR_USAGE,
                  "--%s: expected an option that --op %s has (%s), got one that it does not have; "
                  "leave it out",
                  spec_fields[id].option, spec_word(spec, SPEC_OP), options.failed ? "see --help" : options.bytes);
        text_free(&options);
        return false;
    }
    if (spec->modifier_hash && !spec_has(spec, SPEC_SOFTCAP))
        return error_set(error, ERROR_USAGE,
                         "--modifier: expected an operation that has modifiers, got --op %s; leave it out",
                         spec_word(spec, SPEC_OP));
    return true;
}

/* What is typed for another word of --kv-dtype: "fp8", and the type of Q. */
static bool settle_kv_dtype(struct spec *spec, struct template_engine *engine, struct error *error) {
    if (!spec_has(spec, SPEC_KV_DTYPE))
        return true;
    const char *word = spec_typed_words(&spec_fields[SPEC_KV_DTYPE])[spec->value[SPEC_KV_DTYPE]];
    const char *dtype = spec_has(spec, SPEC_DTYPE) ? spec_word(spec, SPEC_DTYPE) : NULL;
    if (!strcmp(word, "fp8") && !spec_chip_fp8(spec, engine, error))
        return false;
    if (!strcmp(word, "f16") || !strcmp(word, "bf16")) {
        if (!dtype)
            return error_set(error, ERROR_USAGE,
                             "--kv-dtype: expected a small format for --op %s, got '%s'; use e4m3, e5m2, e4m3fnuz, "
                             "e5m2fnuz or mxfp4",
                             spec_word(spec, SPEC_OP), word);
        if (strcmp(word, dtype) != 0)
            return error_set(error, ERROR_USAGE,
                             "--kv-dtype: expected the type of Q, %s, or a smaller one, got '%s'; use --dtype %s, or "
                             "leave --kv-dtype out",
                             dtype, word, word);
        spec->value[SPEC_KV_DTYPE] = 0;
    }
    word = spec_word(spec, SPEC_KV_DTYPE);
    if (spec->value[SPEC_KV_SCALE] != 0 && word[0] != 'e')
        return error_set(error, ERROR_USAGE,
                         "--kv-scale: expected it with an fp8 type of K and V, got '%s' with --kv-dtype %s; leave it "
                         "out, or use --kv-dtype e4m3, e5m2, e4m3fnuz or e5m2fnuz",
                         spec_word(spec, SPEC_KV_SCALE), word);
    return true;
}

static bool fill_facts(struct spec *spec, struct template_engine *engine, struct error *error) {
    if (spec->value[SPEC_OP] == SPEC_UNSET)
        spec->value[SPEC_OP] = SPEC_OP_FORWARD;
    if (!check_operation(spec, engine, error) || !check_rows(spec, error))
        return false;
    if (!*spec->arch)
        return refuse_arch(engine, "", "; the chip is never guessed", error);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        const struct spec_field *field = &spec_fields[id];
        if (field->knob || spec->value[id] != SPEC_UNSET || !spec_has(spec, (enum spec_field_id)id))
            continue;
        if (id == SPEC_HEAD_DIM && spec->value[SPEC_OP] == SPEC_OP_MLA)
            spec->value[id] = field->maximum; /* of the models that have it: 512, and 64 that turn with the position */
        else if (id == SPEC_HEAD_DIM_V)
            spec->value[id] = spec->value[SPEC_OP] != SPEC_OP_MLA || spec->value[SPEC_HEAD_DIM] < field->maximum
                                  ? spec->value[SPEC_HEAD_DIM]
                                  : field->maximum;
        else if (field->words)
            spec->value[id] = 0;
        else if (!field->always)
            spec->value[id] = field->neutral;
        else
            return refuse_field(field, "", error);
    }
    return settle_kv_dtype(spec, engine, error);
}

/* The chip's table has no value for a knob that has no neutral one. */
static bool refuse_default(const struct spec *spec, const struct spec_field *field, struct template_engine *engine,
                           struct error *error) {
    char path[SPEC_ARCH_MAX + 16], orientation[32] = "", head_dim[40] = "";
    struct text operations = {0};
    if (!spec_chip_operations(spec, engine, &operations, error)) {
        text_free(&operations);
        return false;
    }
    spec_arch_path(spec, path);
    if (spec_has(spec, SPEC_ORIENTATION))
        snprintf(orientation, sizeof orientation, " in orientation %s", spec_word(spec, SPEC_ORIENTATION));
    if (spec_has(spec, SPEC_HEAD_DIM))
        snprintf(head_dim, sizeof head_dim, " and head dimension %d", (int)spec->value[SPEC_HEAD_DIM]);
    if (operations.length)
        error_set(error, ERROR_USAGE, "--op: expected an operation that %s has (%s), got '%s'; take another chip",
                  spec->arch, operations.bytes, spec_word(spec, SPEC_OP));
    else
        error_set(error, ERROR_USAGE,
                  "--%s: expected a value, got none: templates/%s has no default for %s%s with waves of %d lanes%s",
                  field->option, path, spec_word(spec, SPEC_OP), orientation, (int)spec->value[SPEC_WAVE], head_dim);
    text_free(&operations);
    return false;
}

bool spec_resolve(struct spec *spec, struct template_engine *engine, struct error *error) {
    struct spec resolved = *spec;
    if (!fill_facts(&resolved, engine, error))
        return false;
    int32_t row[SPEC_FIELD_COUNT];
    if (!spec_defaults(&resolved, engine, row, error))
        return false;
    couple_rows_and_waves(&resolved, row);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        const struct spec_field *field = &spec_fields[id];
        if (!spec_has(&resolved, (enum spec_field_id)id))
            continue;
        resolved.tabled[id] = row[id] != SPEC_UNSET;
        if (resolved.value[id] == SPEC_UNSET)
            resolved.value[id] = row[id];
        if (resolved.value[id] == SPEC_UNSET && !field->always)
            resolved.value[id] = field->neutral;
        if (resolved.value[id] == SPEC_UNSET)
            return refuse_default(&resolved, field, engine, error);
    }
    *spec = resolved;
    return true;
}

/* ---- Name and command ---- */

static bool appears(const struct spec *spec, enum spec_field_id id) {
    if (!spec_has(spec, id))
        return false;
    if (id == SPEC_HEAD_DIM_V)
        return spec->value[id] != spec->value[SPEC_HEAD_DIM];
    return spec_fields[id].always || spec->value[id] != spec_fields[id].neutral;
}

/* FNV-1a of the sorted --set options. */
static uint32_t hash_sets(const struct spec *spec) {
    uint32_t hash = 2166136261u;
    for (int i = 0; i < spec->set_count; i++) {
        char line[sizeof spec->set[0] + 2];
        int length = snprintf(line, sizeof line, "%s=%s\n", spec->set[i].name, spec->set[i].value);
        for (int j = 0; j < length; j++)
            hash = (hash ^ (unsigned char)line[j]) * 16777619u;
    }
    return hash;
}

/* "gfx942:sramecc+:xnack-" as a part of a C identifier: "_gfx942_sramecc1_xnack0". */
static void name_target(const char *arch, char target[SPEC_ARCH_MAX + 2]) {
    bool feature = false;
    *target++ = '_';
    for (; *arch; arch++) {
        feature = feature || *arch == ':';
        *target++ = *arch == ':'              ? '_'
                    : feature && *arch == '+' ? '1'
                    : feature && *arch == '-' ? '0'
                    : *arch == '-'            ? '_'
                                              : *arch;
    }
    *target = '\0';
}

void spec_name(const struct spec *spec, char name[SPEC_NAME_MAX]) {
    size_t end = (size_t)snprintf(name, SPEC_NAME_MAX, "fmha");
    for (int id = 0; id < SPEC_FIELD_COUNT && end < SPEC_NAME_MAX; id++) {
        const struct spec_field *field = &spec_fields[id];
        char part[SPEC_ARCH_MAX + 2] = "";
        if (!appears(spec, (enum spec_field_id)id))
            continue;
        if (field->words)
            snprintf(part, sizeof part, "_%s", field->shorts[spec->value[id]]);
        else {
            /* A form without a dash in front belongs to the row before, "m64k32"; where there is no such row it stands
             * alone. */
            bool alone = *field->symbol != '_' && !spec_has(spec, (enum spec_field_id)(id - 1));
            part[0] = '_';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(part + alone, sizeof part - alone, field->symbol, (int)spec->value[id]);
#pragma GCC diagnostic pop
        }
        end += (size_t)snprintf(name + end, SPEC_NAME_MAX - end, "%s", part);
        if (id == SPEC_OP && end < SPEC_NAME_MAX) {
            name_target(spec->arch, part);
            end += (size_t)snprintf(name + end, SPEC_NAME_MAX - end, "%s", part);
        }
    }
    if (spec->modifier_hash && end < SPEC_NAME_MAX)
        end += (size_t)snprintf(name + end, SPEC_NAME_MAX - end, "_u%08x", (unsigned)spec->modifier_hash);
    if (spec->set_count && end < SPEC_NAME_MAX)
        snprintf(name + end, SPEC_NAME_MAX - end, "_x%08x", (unsigned)hash_sets(spec));
}

/* Appends " --option value". */
static void add_option(struct text *out, const struct spec_field *field, int32_t value) {
    const char *word = field->words ? spec_typed_words(field)[value] : NULL;
    if (!word)
        text_printf(out, " --%s %d", field->option, (int)value);
    else if (!field->bare)
        text_printf(out, " --%s %s", field->option, word);
    else if (strcmp(word, field->bare) != 0)
        text_printf(out, " --%s=%s", field->option, word);
    else
        text_printf(out, " --%s", field->option);
}

/* Whether the command would mean another instance, or its reader might think so, without the option. */
static bool is_spelled(const struct spec *spec, enum spec_field_id id) {
    if (id == SPEC_OP)
        return spec->value[id] != SPEC_OP_FORWARD;
    bool told = spec_fields[id].knob && (!spec_fields[id].choice || spec->tabled[id]);
    return (told && spec_has(spec, id)) || appears(spec, id);
}

void spec_command(const struct spec *spec, struct text *out) {
    text_printf(out, "fmhagen generate --arch %s", spec->arch);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (is_spelled(spec, (enum spec_field_id)id))
            add_option(out, &spec_fields[id], spec->value[id]);
    if (spec->modifier_hash) /* of an absolute path the name: the text must not tell of a machine */
        text_printf(out, " --modifier %s",
                    spec->modifier[0] == '/' ? strrchr(spec->modifier, '/') + 1 : spec->modifier);
    for (int i = 0; i < spec->set_count; i++)
        text_printf(out, " --set %s=%s", spec->set[i].name, spec->set[i].value);
}

/* ---- Products ---- */

/* One option's comma list, each entry already parsed into a spec. */
struct axis {
    struct spec *entries; /* of which only the axis' own field counts */
    size_t count;
};

#define AXIS_ARCH  SPEC_FIELD_COUNT
#define AXIS_COUNT (SPEC_FIELD_COUNT + 1)

static bool axis_add(struct axis *axis, int id, struct template_engine *engine, const char *entry,
                     struct error *error) {
    struct spec *entries = realloc(axis->entries, (axis->count + 1) * sizeof *entries);
    if (!entries)
        return error_set(error, ERROR_RUN, "out of memory");
    axis->entries = entries;
    struct spec *added = &entries[axis->count];
    spec_init(added);
    if (!(id == AXIS_ARCH ? spec_set_arch(added, engine, entry, error)
                          : spec_set(added, (enum spec_field_id)id, entry, error)))
        return false;
    for (size_t i = 0; i < axis->count; i++)
        if (id == AXIS_ARCH ? !strcmp(entries[i].arch, added->arch) : entries[i].value[id] == added->value[id])
            return error_set(error, ERROR_USAGE, "--%s: expected each entry of the list once, got '%s' twice",
                             id == AXIS_ARCH ? "arch" : spec_fields[id].option, entry);
    axis->count++;
    return true;
}

static bool axis_parse(struct axis *axis, int id, struct template_engine *engine, const char *list,
                       struct error *error) {
    char *entry = strdup(list), *rest = entry;
    bool done = entry || error_set(error, ERROR_RUN, "out of memory");
    while (done && rest) {
        char *comma = strchr(rest, ',');
        if (comma)
            *comma = '\0';
        done = *rest || !strchr(list, ',')
                   ? axis_add(axis, id, engine, rest, error)
                   : error_set(error, ERROR_USAGE, "--%s: expected an entry on both sides of each comma, got '%.200s'",
                               id == AXIS_ARCH ? "arch" : spec_fields[id].option, list);
        rest = comma ? comma + 1 : NULL;
    }
    free(entry);
    return done;
}

/* Puts in front of an error which member of the product it is about. */
static void name_member(const struct spec *member, const struct axis *axes, struct error *error) {
    struct text text = {0};
    if (*member->arch)
        text_printf(&text, " --arch %s", member->arch);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (axes[id].count)
            add_option(&text, &spec_fields[id], member->value[id]);
    struct error copy = *error;
    if (!text.failed)
        error_set(error, copy.kind, "%s (for the member%s of the product)", copy.text, text.bytes ? text.bytes : "");
    text_free(&text);
}

_Static_assert(SPEC_FIELD_COUNT <= 64, "a field is a bit of spec_choices.if_chip_has");

/* Whether the member is for its chip at all; of the values of the fields that are bits of `fields`, the chip decides.
 */
static bool is_wanted(const struct spec *member, uint64_t fields, struct template_engine *engine, bool *wanted,
                      struct error *error) {
    struct spec asked;
    *wanted = true;
    if (!fields || !*member->arch)
        return true;
    spec_init(&asked);
    memcpy(asked.arch, member->arch, sizeof asked.arch);
    asked.value[SPEC_OP] = member->value[SPEC_OP];
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (fields >> id & 1)
            asked.value[id] = member->value[id];
    return spec_chip_has(&asked, engine, wanted, error);
}

static bool multiply(const struct axis *axes, const struct spec *base, uint64_t if_chip_has,
                     struct template_engine *engine, struct spec **specs, size_t *count, struct error *error) {
    size_t total = 1;
    for (int id = 0; id < AXIS_COUNT; id++) {
        total *= axes[id].count ? axes[id].count : 1;
        if (total > SPEC_PRODUCT_MAX)
            return error_set(error, ERROR_USAGE, "expected at most %d instances in the product of all lists, got more",
                             SPEC_PRODUCT_MAX);
    }
    *specs = calloc(total, sizeof **specs);
    if (!*specs)
        return error_set(error, ERROR_RUN, "out of memory");
    for (size_t i = 0; i < total; i++) {
        struct spec *spec = &(*specs)[*count];
        bool wanted;
        *spec = *base;
        size_t rest = i;
        for (int id = SPEC_FIELD_COUNT - 1; id >= 0; id--)
            if (axes[id].count) {
                spec->value[id] = axes[id].entries[rest % axes[id].count].value[id];
                rest /= axes[id].count;
            }
        if (axes[AXIS_ARCH].count)
            memcpy(spec->arch, axes[AXIS_ARCH].entries[rest].arch, sizeof spec->arch);
        struct spec member = *spec;
        if (!is_wanted(spec, if_chip_has, engine, &wanted, error))
            return false;
        if (!wanted)
            continue;
        if (!spec_resolve(spec, engine, error)) {
            if (total > 1)
                name_member(&member, axes, error);
            return false;
        }
        ++*count;
    }
    return true;
}

bool spec_product(const struct spec_choices *choices, struct template_engine *engine, struct spec **specs,
                  size_t *count, struct error *error) {
    struct axis axes[AXIS_COUNT] = {{0}};
    struct spec base;
    spec_init(&base);
    *specs = NULL;
    *count = 0;
    bool done = !choices->arch || axis_parse(&axes[AXIS_ARCH], AXIS_ARCH, engine, choices->arch, error);
    for (int id = 0; done && id < SPEC_FIELD_COUNT; id++)
        done = !choices->field[id] || axis_parse(&axes[id], id, engine, choices->field[id], error);
    for (int i = 0; done && i < choices->set_count; i++)
        done = spec_add_set(&base, choices->set[i], error);
    done = done && (!choices->modifier || user_modifier_open(choices->modifier, engine, &base, error));
    done = done && multiply(axes, &base, choices->if_chip_has, engine, specs, count, error);
    if (!done) {
        free(*specs);
        *specs = NULL;
        *count = 0;
    }
    for (int id = 0; id < AXIS_COUNT; id++)
        free(axes[id].entries);
    return done;
}

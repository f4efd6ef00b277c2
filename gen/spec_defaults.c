#include "spec_defaults.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "template.h"
#include "text.h"

struct chip {
    struct spec *spec;
    char path[SPEC_ARCH_MAX + 16];
    int32_t *row;  /* what the table says of knobs */
    bool failed;   /* `error` says why; else a Lua error was raised or all is well */
    bool no_dtype; /* the chip has no instructions for the type; the caller says so */
    struct error *error;
};

/* A row of defaults, one in it of knobs that belong together, rows in both for a fact that is a number or in the first
 * for a word of a choice, and rows in each for a word of a fact. */
enum level { ROW, ROW_TOGETHER, ROW_OF_NUMBER, ROW_OF_WORD };

static const char together[] = "together";

static void read_row(lua_State *L, struct chip *chip, enum level level);

/* Whether a row of this level may hold rows under what names the fact: its words, or the fact itself, for its number or
 * for every word but the neutral one; of a choice its words. */
static bool holds_rows(const struct spec_field *field, enum level level, const char *key) {
    if (field->knob && (!field->choice || level != ROW))
        return false;
    const bool has_neutral = !field->knob && (!field->words || !field->always);
    bool named = has_neutral && level < (field->words ? ROW_OF_WORD : ROW_OF_NUMBER) && !strcmp(field->name, key);
    for (int i = 0; level < ROW_OF_WORD && field->words && field->words[i]; i++)
        named = named || !strcmp(field->words[i], key);
    return named;
}

/* Sets what the row with the least number from `number` on says, of those in the table on top of the stack. */
static void read_numbered(lua_State *L, struct chip *chip, int32_t number, int32_t most, enum level level) {
    bool found = false;
    for (; number <= most && !found; number++) {
        found = lua_geti(L, -1, number) == LUA_TTABLE;
        if (found)
            read_row(L, chip, level);
        lua_pop(L, 1);
    }
}

/* Whether the value that was asked for, if one was, leaves a row that says another one its room: more rows and waves
 * share the registers of what is on its way, and fewer keys take fewer. */
static bool leaves_room(enum spec_field_id id, int32_t asked, int32_t row) {
    if (asked == SPEC_UNSET || row == SPEC_UNSET || asked == row)
        return true;
    if (id == SPEC_BLOCK_K)
        return asked < row;
    return (id == SPEC_BLOCK_M || id == SPEC_WAVES) && asked > row;
}

/* Sets what the row on top of the stack says, of knobs that belong together, where all that was asked for leaves room
 * for it. The neutral value of a choice serves this question alone. */
static void read_together(lua_State *L, struct chip *chip) {
    int32_t row[SPEC_FIELD_COUNT], *const outer = chip->row;
    bool holds = true;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        row[id] = SPEC_UNSET;
    chip->row = row;
    read_row(L, chip, ROW_TOGETHER);
    chip->row = outer;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        holds = holds && leaves_room((enum spec_field_id)id, chip->spec->value[id], row[id]);
    for (int id = 0; holds && id < SPEC_FIELD_COUNT; id++)
        if (row[id] != SPEC_UNSET && !(spec_fields[id].choice && row[id] == spec_fields[id].neutral))
            outer[id] = row[id];
}

/* Sets what the row under that name in the row at `row` says, if there is one. */
static void read_word(lua_State *L, struct chip *chip, int row, const char *name, enum level level) {
    if (lua_getfield(L, row, name) == LUA_TTABLE)
        read_row(L, chip, level);
    lua_settop(L, row);
}

/* Sets what the row on top of the stack says; rows in it that are named by a word of a fact hold when the spec has it,
 * those that are named by the fact when it has any but the neutral word, and after them those for its number, that of
 * knobs that belong together, and those for the word of a choice that was made. */
static void read_row(lua_State *L, struct chip *chip, enum level level) {
    int row = lua_gettop(L);
    luaL_checkstack(L, 8, "");
    for (lua_pushnil(L); template_table_next(L, row); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "templates/%s: expected names of knobs in a row of defaults, got a %s", chip->path,
                       luaL_typename(L, -2));
        const char *key = lua_tostring(L, -2);
        bool known = false;
        for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
            const struct spec_field *field = &spec_fields[id];
            if (!spec_has(chip->spec, (enum spec_field_id)id))
                continue;
            known = known ||
                    (lua_istable(L, -1) && (holds_rows(field, level, key) || (level == ROW && !strcmp(key, together))));
            if (!field->knob || strcmp(field->name, key) != 0)
                continue;
            known = true;
            int32_t value = SPEC_UNSET;
            for (int32_t i = 0; field->words && field->words[i]; i++)
                if (lua_type(L, -1) == LUA_TSTRING && !strcmp(field->words[i], lua_tostring(L, -1)))
                    value = i;
            if (!field->words && lua_isinteger(L, -1) && spec_number_fits(field, (long)lua_tointeger(L, -1)))
                value = (int32_t)lua_tointeger(L, -1);
            if (value == SPEC_UNSET)
                luaL_error(L, "templates/%s: expected a value of --%s as '%s', got '%s'", chip->path, field->option,
                           key, luaL_tolstring(L, -1, NULL));
            chip->row[id] = value;
        }
        if (!known)
            luaL_error(L, "templates/%s: expected a knob or a word of a fact in a row of defaults, got '%s'",
                       chip->path, key);
    }
    for (int id = 0; level < ROW_OF_WORD && id < SPEC_FIELD_COUNT; id++) {
        const struct spec_field *field = &spec_fields[id];
        if (field->knob || !field->words || !spec_has(chip->spec, (enum spec_field_id)id))
            continue;
        if (!field->always && chip->spec->value[id] != field->neutral)
            read_word(L, chip, row, field->name, ROW_OF_WORD);
        read_word(L, chip, row, spec_word(chip->spec, (enum spec_field_id)id), ROW_OF_WORD);
    }
    for (int id = 0; level < ROW_OF_NUMBER && id < SPEC_FIELD_COUNT; id++) {
        const struct spec_field *field = &spec_fields[id];
        if (field->knob || field->words || !spec_has(chip->spec, (enum spec_field_id)id))
            continue;
        if (lua_getfield(L, row, field->name) == LUA_TTABLE)
            read_numbered(L, chip, chip->spec->value[id], field->maximum, ROW_OF_NUMBER);
        lua_settop(L, row);
    }
    if (level == ROW && lua_getfield(L, row, together) == LUA_TTABLE)
        read_together(L, chip);
    lua_settop(L, row);
    for (int id = 0; level == ROW && id < SPEC_FIELD_COUNT; id++)
        if (spec_fields[id].choice && spec_fields[id].words && spec_has(chip->spec, (enum spec_field_id)id) &&
            chip->spec->value[id] != SPEC_UNSET)
            read_word(L, chip, row, spec_word(chip->spec, (enum spec_field_id)id), ROW_OF_NUMBER);
}

static bool chip_refuse(struct chip *chip) {
    chip->failed = true;
    return false;
}

/* Of the chip's table on top of the stack: whether it has an atom for the type that is a word of --dtype; `otherwise`
 * where it has no such list. */
static bool has_dtype(lua_State *L, int32_t dtype, bool otherwise) {
    const int chip = lua_gettop(L);
    bool has = otherwise;
    if (lua_getfield(L, -1, "atoms") == LUA_TTABLE)
        has = lua_getfield(L, -1, spec_fields[SPEC_DTYPE].words[dtype]) != LUA_TNIL;
    lua_settop(L, chip);
    return has;
}

/* Likewise whether it lists waves of so many lanes. */
static bool has_wave(lua_State *L, int32_t wave, bool otherwise) {
    const int chip = lua_gettop(L);
    bool listed = lua_getfield(L, -1, "waves") == LUA_TTABLE, has = !listed && otherwise;
    for (lua_Integer i = listed ? luaL_len(L, -1) : 0; i > 0; i--) {
        lua_geti(L, -1, i);
        has = has || lua_tointeger(L, -1) == wave;
        lua_pop(L, 1);
    }
    lua_settop(L, chip);
    return has;
}

static bool check_wave(lua_State *L, struct chip *chip) {
    struct spec *spec = chip->spec;
    lua_getfield(L, -1, "waves");
    lua_Integer count = lua_istable(L, -1) ? luaL_len(L, -1) : 0;
    if (count < 1)
        luaL_error(L, "templates/%s: expected a list as 'waves', got none", chip->path);
    char all[64] = "";
    for (lua_Integer i = 1; i <= count; i++) {
        lua_geti(L, -1, i);
        lua_Integer wave = lua_tointeger(L, -1);
        lua_pop(L, 1);
        if (spec->value[SPEC_WAVE] == SPEC_UNSET && spec_number_fits(&spec_fields[SPEC_WAVE], (long)wave))
            spec->value[SPEC_WAVE] = (int32_t)wave;
        size_t end = strlen(all);
        snprintf(all + end, sizeof all - end, "%s%d", i > 1 ? " or " : "", (int)wave);
    }
    lua_pop(L, 1);
    bool known = has_wave(L, spec->value[SPEC_WAVE], false);
    if (!known) {
        error_set(chip->error, ERROR_USAGE, "--wave: expected %s on %s, got '%d'", all, spec->arch,
                  (int)spec->value[SPEC_WAVE]);
        chip_refuse(chip);
    }
    return known;
}

static bool multiplies_fp8(const struct spec *spec) {
    return spec_has(spec, SPEC_KV_MATH) && spec->value[SPEC_KV_MATH] != SPEC_UNSET &&
           strcmp(spec_word(spec, SPEC_KV_MATH), "native") == 0 && spec_word(spec, SPEC_KV_DTYPE)[0] == 'e';
}

/* Of `matrix` in a chip's table, on top of the stack, whether it has instructions of the shape: for fp8, or others than
 * for fp8. */
static bool has_matrix(lua_State *L, const char *shape, bool fp8) {
    const int matrix = lua_gettop(L);
    bool has = lua_getfield(L, -1, shape) != LUA_TNIL, has_fp8 = false, has_other = has;
    if (lua_istable(L, -1)) {
        has_fp8 = lua_getfield(L, -1, "fp8") != LUA_TNIL;
        lua_pop(L, 1);
        has_other = !has_fp8;
        for (int i = 0; spec_fields[SPEC_DTYPE].words[i]; i++, lua_pop(L, 1))
            has_other = lua_getfield(L, -1, spec_fields[SPEC_DTYPE].words[i]) != LUA_TNIL || has_other;
    }
    lua_settop(L, matrix);
    return fp8 ? has_fp8 : has_other;
}

/* `matrix` of the table names the shapes of matrix instructions that a chip has; without it, it has the first alone.
 * Whether it has any for fp8 is the template's to say. */
static bool check_matrix(lua_State *L, struct chip *chip) {
    const char *const *words = spec_fields[SPEC_MATRIX].words;
    int32_t wanted = chip->spec->value[SPEC_MATRIX];
    if (wanted == SPEC_UNSET)
        return true;
    bool known = false, listed = lua_getfield(L, -1, "matrix") == LUA_TTABLE;
    char all[64] = "";
    bool fp8 = false;
    for (int i = 0; listed && words[i]; i++)
        fp8 = fp8 || (multiplies_fp8(chip->spec) && has_matrix(L, words[i], true));
    for (int i = 0; words[i]; i++) {
        bool has = listed ? has_matrix(L, words[i], fp8) : i == 0;
        if (!has)
            continue;
        known = known || i == wanted;
        size_t end = strlen(all);
        snprintf(all + end, sizeof all - end, "%s%s", end ? " or " : "", words[i]);
    }
    lua_pop(L, 1);
    if (!known) {
        error_set(chip->error, ERROR_USAGE, "--matrix: expected %s on %s, got '%s'", all, chip->spec->arch,
                  words[wanted]);
        chip_refuse(chip);
    }
    return known;
}

static bool check_dtype(lua_State *L, struct chip *chip) {
    lua_getfield(L, -1, "atoms");
    if (!lua_istable(L, -1))
        luaL_error(L, "templates/%s: expected a table as 'atoms', got %s", chip->path, luaL_typename(L, -1));
    lua_pop(L, 1);
    chip->no_dtype = !has_dtype(L, chip->spec->value[SPEC_DTYPE], false);
    return !chip->no_dtype;
}

struct question {
    const struct spec *spec;
    bool has;
};

/* Tables that are not as they should be are spec_defaults' to refuse. */
static void answer(lua_State *L, void *context) {
    struct question *asked = context;
    const int32_t dtype = asked->spec->value[SPEC_DTYPE], wave = asked->spec->value[SPEC_WAVE];
    bool about_dtype = dtype != SPEC_UNSET && spec_has(asked->spec, SPEC_DTYPE);
    asked->has = (!about_dtype || has_dtype(L, dtype, true)) && (wave == SPEC_UNSET || has_wave(L, wave, true));
}

bool spec_chip_has(const struct spec *spec, struct template_engine *engine, bool *has, struct error *error) {
    struct question asked = {.spec = spec, .has = true};
    char path[SPEC_ARCH_MAX + 16];
    spec_arch_path(spec, path);
    bool done = template_with_table(engine, path, answer, &asked, error);
    *has = asked.has;
    return done;
}

struct operations {
    const struct spec *spec;
    struct text *all;
};

static void list_operations(lua_State *L, void *context) {
    const struct operations *asked = context;
    const char *const *words = spec_fields[SPEC_OP].words;
    if (lua_getfield(L, -1, "defaults") != LUA_TTABLE ||
        lua_getfield(L, -1, spec_word(asked->spec, SPEC_OP)) != LUA_TNIL)
        return;
    lua_pop(L, 1);
    for (int i = 0; words[i]; i++, lua_pop(L, 1))
        if (lua_getfield(L, -1, words[i]) != LUA_TNIL)
            text_printf(asked->all, "%s%s", asked->all->length ? ", " : "", words[i]);
}

bool spec_chip_operations(const struct spec *spec, struct template_engine *engine, struct text *all,
                          struct error *error) {
    struct operations asked = {.spec = spec, .all = all};
    char path[SPEC_ARCH_MAX + 16];
    spec_arch_path(spec, path);
    return template_with_table(engine, path, list_operations, &asked, error);
}

static void read_fp8(lua_State *L, void *context) {
    struct spec *spec = context;
    const char *const *words = spec_fields[SPEC_KV_DTYPE].words;
    const char *wanted = lua_getfield(L, -1, "fp8") == LUA_TNIL ? "e4m3" : lua_tostring(L, -1);
    int32_t word = 0;
    while (words[word] && (!wanted || strcmp(words[word], wanted) != 0))
        word++;
    if (!words[word])
        luaL_error(L, "expected e4m3 or e4m3fnuz as 'fp8', got '%s'", luaL_tolstring(L, -1, NULL));
    spec->value[SPEC_KV_DTYPE] = word;
}

bool spec_chip_fp8(struct spec *spec, struct template_engine *engine, struct error *error) {
    char path[SPEC_ARCH_MAX + 16];
    spec_arch_path(spec, path);
    return template_with_table(engine, path, read_fp8, spec, error);
}

/* Which types a chip's table has atoms for, one bit for each word of --dtype. */
static void read_dtypes(lua_State *L, void *context) {
    unsigned *types = context;
    *types = 0;
    for (int i = 0; spec_fields[SPEC_DTYPE].words[i]; i++)
        *types |= (unsigned)has_dtype(L, i, false) << i;
}

/* Says which types the chip has, and which chips have the type. */
static bool refuse_dtype(struct chip *chip, struct template_engine *engine) {
    const int32_t wanted = chip->spec->value[SPEC_DTYPE];
    const char *const *words = spec_fields[SPEC_DTYPE].words;
    struct text own = {0}, chips = {0};
    unsigned types;
    size_t count;
    const char *const *paths = template_chips(engine, &count);
    bool done = template_with_table(engine, chip->path, read_dtypes, &types, chip->error);
    for (int i = 0; done && words[i]; i++)
        if (types >> i & 1)
            text_printf(&own, "%s%s", own.length ? " or " : "", words[i]);
    for (size_t i = 0; done && i < count; i++) {
        const char *name = paths[i] + strlen("arch/");
        done = template_with_table(engine, paths[i], read_dtypes, &types, chip->error);
        if (done && types >> wanted & 1)
            text_printf(&chips, "%s%.*s", chips.length ? ", " : "", (int)(strlen(name) - strlen(".lua")), name);
    }
    if (done)
        error_set(chip->error, ERROR_USAGE, "--dtype: expected %s on %s, got '%s'; chips with instructions for %s: %s",
                  own.length ? own.bytes : "no type", chip->spec->arch, words[wanted], words[wanted],
                  chips.length ? chips.bytes : "none");
    text_free(&own);
    text_free(&chips);
    return false;
}

/* Pushes field `name` of the table on top, an empty stack slot (nil) when there is none. */
static bool descend(lua_State *L, const char *name) {
    return lua_getfield(L, -1, name) == LUA_TTABLE;
}

/* Sets an unset orientation from the table of the operation's defaults, which is on top of the stack. */
static void read_orientation(lua_State *L, struct chip *chip) {
    int32_t *value = &chip->spec->value[SPEC_ORIENTATION];
    const struct spec_field *orientation = &spec_fields[SPEC_ORIENTATION];
    if (*value != SPEC_UNSET)
        return;
    *value = orientation->neutral;
    if (lua_getfield(L, -1, "orientation") != LUA_TNIL) {
        int32_t i = 0;
        while (orientation->words[i] && strcmp(orientation->words[i], luaL_tolstring(L, -1, NULL)) != 0) {
            lua_pop(L, 1);
            i++;
        }
        if (!orientation->words[i])
            luaL_error(L, "templates/%s: expected kq or qk as 'orientation' of defaults", chip->path);
        *value = i;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* defaults.<operation>, then in it .<orientation>, .wave<N> and [head dimension], each if the operation has it. */
static void read_chip(lua_State *L, void *context) {
    struct chip *chip = context;
    struct spec *spec = chip->spec;
    if ((spec_has(spec, SPEC_DTYPE) && !check_dtype(L, chip)) || !check_wave(L, chip) ||
        (spec_has(spec, SPEC_MATRIX) && !check_matrix(L, chip)) || !descend(L, "defaults") ||
        !descend(L, spec_word(spec, SPEC_OP)))
        return;
    if (spec_has(spec, SPEC_ORIENTATION)) {
        read_orientation(L, chip);
        if (!descend(L, spec_word(spec, SPEC_ORIENTATION)))
            return;
    }
    char wave[16];
    snprintf(wave, sizeof wave, "wave%d", (int)spec->value[SPEC_WAVE]);
    if (!descend(L, wave))
        return;
    if (!spec_has(spec, SPEC_HEAD_DIM)) {
        read_row(L, chip, ROW);
        return;
    }
    int32_t head_dim = spec->value[SPEC_HEAD_DIM] > spec->value[SPEC_HEAD_DIM_V] ? spec->value[SPEC_HEAD_DIM]
                                                                                 : spec->value[SPEC_HEAD_DIM_V];
    read_numbered(L, chip, head_dim, spec_fields[SPEC_HEAD_DIM].maximum, ROW);
}

bool spec_defaults(struct spec *spec, struct template_engine *engine, int32_t row[SPEC_FIELD_COUNT],
                   struct error *error) {
    struct chip chip = {.spec = spec, .row = row, .error = error};
    spec_arch_path(spec, chip.path);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        row[id] = SPEC_UNSET;
    if (!template_with_table(engine, chip.path, read_chip, &chip, error))
        return false;
    return chip.no_dtype ? refuse_dtype(&chip, engine) : !chip.failed;
}

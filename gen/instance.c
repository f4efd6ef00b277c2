#include "instance.h"

#include <ctype.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expression.h"
#include "fmha.h"
#include "sandbox.h"
#include "template.h"
#include "user_modifier.h"

#define NAME_MAX_BYTES 32  /* of arguments and --set options, with the NUL */
#define ALIGN_MAX      256 /* of a buffer's address, in bytes */
#define ASKED_MAX      32
#define EXACT_MAX      (INT64_C(1) << 53) /* whole numbers up to here are exact as double */

/* What one run of a template collects. */
struct emission {
    struct template_engine *engine;
    struct instance *instance;
    char arch_path[SPEC_ARCH_MAX + 16];
    int64_t arch_lds_bytes;
    bool has_kernel;
    char asked[ASKED_MAX][NAME_MAX_BYTES]; /* names of --set that the template looked for */
    int asked_count;
};

static struct emission *emission_of(lua_State *L) {
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* ---- Reading what a template passes ---- */

static bool is_identifier(const char *name) {
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

/* The one argument must be a table that has no other keys than `keys`. */
static void check_table(lua_State *L, const char *function, const char *const *keys) {
    if (lua_gettop(L) != 1 || !lua_istable(L, 1))
        luaL_error(L, "%s: expected one table, got %s", function,
                   lua_gettop(L) == 1 ? luaL_typename(L, 1) : "another number of arguments");
    for (lua_pushnil(L); sandbox_next(L, 1); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "(a number)";
        size_t count = 0;
        bool known = false;
        for (; keys[count]; count++)
            known = known || !strcmp(keys[count], key);
        const char *nearest = known ? NULL : text_nearest(key, keys, count);
        if (!known)
            luaL_error(L, "%s: unknown field '%s'%s%s%s", function, key, nearest ? "; did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?" : "");
    }
}

/* Copies the string field `key` of the table at 1; `words` (NULL: any) are what it may be. */
static void get_string(lua_State *L, const char *function, const char *key, const char *const *words, char *to,
                       size_t size) {
    if (lua_getfield(L, 1, key) != LUA_TSTRING)
        luaL_error(L, "%s: expected a string as '%s', got %s", function, key, luaL_typename(L, -1));
    const char *string = lua_tostring(L, -1);
    bool known = !words;
    for (; words && *words; words++)
        known = known || !strcmp(*words, string);
    if (!known)
        luaL_error(L, "%s: expected another word as '%s', got '%s'", function, key, string);
    if (strlen(string) >= size)
        luaL_error(L, "%s: expected at most %d characters as '%s', got '%s'", function, (int)size - 1, key, string);
    memcpy(to, string, strlen(string) + 1);
    lua_pop(L, 1);
}

static double get_number(lua_State *L, const char *function, const char *key, lua_Integer minimum,
                         lua_Integer maximum) {
    lua_getfield(L, 1, key);
    double number = lua_tonumber(L, -1);
    if (lua_type(L, -1) != LUA_TNUMBER || !(number >= (double)minimum && number <= (double)maximum) ||
        number != floor(number))
        luaL_error(L, "%s: expected a whole number from %I to %I as '%s', got %s", function, (LUAI_UACINT)minimum,
                   (LUAI_UACINT)maximum, key,
                   lua_type(L, -1) == LUA_TNUMBER ? lua_tostring(L, -1) : luaL_typename(L, -1));
    lua_pop(L, 1);
    return number;
}

static int word_count(const char *words) {
    int count = 0;
    for (; *words; words += strcspn(words, " ")) {
        words += strspn(words, " ");
        count += *words != '\0';
    }
    return count;
}

/* ---- What templates call ---- */

/* The field 'align' of a buffer; without it that of one element. */
static uint32_t get_align(lua_State *L, const struct argument *argument) {
    uint32_t element = !strcmp(argument->type, "u8") ? 1 : strstr(argument->type, "16") ? 2 : 4;
    if (lua_getfield(L, 1, "align") == LUA_TNIL)
        return element;
    uint32_t align = (uint32_t)get_number(L, "argument", "align", element, ALIGN_MAX);
    if (align & (align - 1))
        luaL_error(L, "argument: expected a power of two as 'align' of '%s', got %d", argument->name, (int)align);
    return align;
}

/* argument{…}; upvalues: the emission, the list `arguments` */
static int lua_argument(lua_State *L) {
    static const char *const keys[] = {"name", "kind", "type", "access", "optional", "shape", "strides", "align", NULL};
    static const char *const kinds[] = {"buffer", "value", NULL};
    static const char *const buffer_types[] = {"f16", "bf16", "b16", "f32", "i32", "u32", "u8", NULL};
    static const char *const value_types[] = {"i32", "i64", "f32", NULL};
    static const char *const accesses[] = {"read", "write", NULL};
    struct instance *instance = emission_of(L)->instance;
    check_table(L, "argument", keys);
    if (instance->argument_count == INSTANCE_ARGUMENTS_MAX)
        return luaL_error(L, "argument: expected at most %d arguments, got more", INSTANCE_ARGUMENTS_MAX);
    struct argument argument = {0};
    char kind[8];
    get_string(L, "argument", "name", NULL, argument.name, sizeof argument.name);
    if (!is_identifier(argument.name))
        return luaL_error(L, "argument: expected a C identifier as 'name', got '%s'", argument.name);
    for (int i = 0; i < instance->argument_count; i++)
        if (!strcmp(instance->arguments[i].name, argument.name))
            return luaL_error(L, "argument: expected each name once, got '%s' twice", argument.name);
    get_string(L, "argument", "kind", kinds, kind, sizeof kind);
    argument.kind = strcmp(kind, "buffer") ? ARGUMENT_VALUE : ARGUMENT_BUFFER;
    if (argument.kind == ARGUMENT_BUFFER) {
        get_string(L, "argument", "type", buffer_types, argument.type, sizeof argument.type);
        get_string(L, "argument", "access", accesses, argument.access, sizeof argument.access);
        get_string(L, "argument", "shape", NULL, argument.shape, sizeof argument.shape);
        get_string(L, "argument", "strides", NULL, argument.strides, sizeof argument.strides);
        argument.align_bytes = get_align(L, &argument);
        argument.optional = lua_getfield(L, 1, "optional") != LUA_TNIL && lua_toboolean(L, -1);
        if (word_count(argument.shape) == 0 || word_count(argument.shape) != word_count(argument.strides))
            return luaL_error(L,
                              "argument: expected as many words in 'strides' as in 'shape' of '%s', got '%s' and '%s'",
                              argument.name, argument.strides, argument.shape);
    } else {
        get_string(L, "argument", "type", value_types, argument.type, sizeof argument.type);
        for (const char *const *key = keys + 3; *key; key++)
            if (lua_getfield(L, 1, *key) != LUA_TNIL)
                return luaL_error(L, "argument: expected no '%s' of a value, got one of '%s'", *key, argument.name);
    }
    argument.size_bytes = argument.kind == ARGUMENT_BUFFER || !strcmp(argument.type, "i64") ? 8 : 4;
    uint32_t align = argument.size_bytes;
    argument.offset_bytes = (instance->argument_bytes + align - 1) / align * align;
    instance->argument_bytes = argument.offset_bytes + argument.size_bytes;
    instance->arguments[instance->argument_count++] = argument;

    lua_createtable(L, 0, 5);
    lua_pushstring(L, argument.name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, kind);
    lua_setfield(L, -2, "kind");
    lua_pushstring(L, argument.type);
    lua_setfield(L, -2, "type");
    if (argument.kind == ARGUMENT_BUFFER) {
        lua_pushstring(L, argument.access);
        lua_setfield(L, -2, "access");
    }
    lua_pushinteger(L, argument.offset_bytes);
    lua_setfield(L, -2, "offset");
    lua_rawseti(L, lua_upvalueindex(2), instance->argument_count);
    return 0;
}

/* Raises an error if libfmha could not evaluate the expression for any problem. */
static void check_expression(lua_State *L, const char *function, const char *expression) {
    struct fmha_expression compiled;
    if (fmha_expression_compile(expression, strlen(expression), &compiled) != FMHA_OK)
        luaL_error(L, "%s: %s", function, fmha_last_error());
}

static int lua_kernel(lua_State *L) {
    static const char *const keys[] = {
        "workgroup",          "grid", "lds_bytes", "flop_per_tile", "bytes_per_tile", "matrix_per_tile",
        "flushes_subnormals", NULL};
    struct emission *emission = emission_of(L);
    struct instance *instance = emission->instance;
    check_table(L, "kernel", keys);
    if (emission->has_kernel)
        return luaL_error(L, "kernel: expected one call, got a second");
    instance->workgroup = (uint32_t)get_number(L, "kernel", "workgroup", 1, 1024);
    int32_t wave = instance->spec.value[SPEC_WAVE];
    if (instance->workgroup % (uint32_t)wave)
        return luaL_error(L, "kernel: expected a multiple of the wave (%d) as 'workgroup', got %d", (int)wave,
                          (int)instance->workgroup);
    instance->lds_bytes = (uint32_t)get_number(L, "kernel", "lds_bytes", 0, UINT32_MAX);
    instance->flop_per_tile = get_number(L, "kernel", "flop_per_tile", 0, EXACT_MAX);
    instance->bytes_per_tile = get_number(L, "kernel", "bytes_per_tile", 0, EXACT_MAX);
    lua_getfield(L, 1, "matrix_per_tile");
    instance->matrix_per_tile = lua_isnil(L, -1) ? 0 : get_number(L, "kernel", "matrix_per_tile", 0, EXACT_MAX);
    lua_pop(L, 1);
    lua_getfield(L, 1, "flushes_subnormals");
    if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
        return luaL_error(L, "kernel: expected true or false as 'flushes_subnormals', got %s", luaL_typename(L, -1));
    instance->flushes_subnormals = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (lua_getfield(L, 1, "grid") != LUA_TTABLE || luaL_len(L, -1) != 3)
        return luaL_error(L, "kernel: expected a list of three expressions as 'grid', got %s", luaL_typename(L, -1));
    for (int i = 0; i < 3; i++) {
        lua_geti(L, -1, i + 1);
        const char *expression = lua_tostring(L, -1);
        if (!expression || strlen(expression) >= sizeof instance->grid[i])
            return luaL_error(L, "kernel: expected an expression of at most %d characters as grid[%d]",
                              (int)sizeof instance->grid[i] - 1, i + 1);
        check_expression(L, "kernel", expression);
        memcpy(instance->grid[i], expression, strlen(expression) + 1);
        lua_pop(L, 1);
    }
    emission->has_kernel = true;
    return 0;
}

/* constraint(field, relation, value) */
static int lua_constraint(lua_State *L) {
    struct instance *instance = emission_of(L)->instance;
    struct constraint constraint = {0};
    const char *field = luaL_checkstring(L, 1), *relation = luaL_checkstring(L, 2);
    constraint.value = luaL_checkinteger(L, 3);
    if (instance->constraint_count == INSTANCE_CONSTRAINTS_MAX)
        return luaL_error(L, "constraint: expected at most %d constraints, got more", INSTANCE_CONSTRAINTS_MAX);
    if (strcmp(relation, "equals") != 0 && strcmp(relation, "max") != 0 && strcmp(relation, "min") != 0)
        return luaL_error(L, "constraint: expected equals, max or min as relation, got '%s'", relation);
    if (strlen(field) >= sizeof constraint.field)
        return luaL_error(L, "constraint: expected an expression of at most %d characters, got '%s'",
                          (int)sizeof constraint.field - 1, field);
    check_expression(L, "constraint", field);
    snprintf(constraint.field, sizeof constraint.field, "%s", field);
    snprintf(constraint.relation, sizeof constraint.relation, "%s", relation);
    instance->constraints[instance->constraint_count++] = constraint;
    return 0;
}

/* Pushes a --set value, nil if it was not given; notes that the template knows the name. */
static void push_set(lua_State *L, const char *name) {
    struct emission *emission = emission_of(L);
    if (!is_identifier(name) || strlen(name) >= NAME_MAX_BYTES)
        luaL_error(L, "set: expected a C identifier of at most %d characters, got '%s'", NAME_MAX_BYTES - 1, name);
    int i = 0;
    while (i < emission->asked_count && strcmp(emission->asked[i], name) != 0)
        i++;
    if (i == ASKED_MAX)
        luaL_error(L, "set: expected at most %d names, got one more: '%s'", ASKED_MAX, name);
    if (i == emission->asked_count)
        snprintf(emission->asked[emission->asked_count++], NAME_MAX_BYTES, "%s", name);
    const struct spec *spec = &emission->instance->spec;
    for (i = 0; i < spec->set_count; i++)
        if (!strcmp(spec->set[i].name, name)) {
            if (!lua_stringtonumber(L, spec->set[i].value))
                lua_pushstring(L, spec->set[i].value);
            return;
        }
    lua_pushnil(L);
}

/* set_or("NAME", default) */
static int lua_set_or(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    luaL_checkany(L, 2);
    push_set(L, name);
    if (lua_isnil(L, -1))
        lua_pushvalue(L, 2);
    else if (lua_type(L, 2) == LUA_TNUMBER && lua_type(L, -1) != LUA_TNUMBER)
        return luaL_error(L, "--set %s: expected a number, got '%s'", name, lua_tostring(L, -1));
    return 1;
}

/* __index of `set` */
static int lua_set_index(lua_State *L) {
    const char *name = luaL_checkstring(L, 2);
    push_set(L, name);
    if (lua_isnil(L, -1))
        return luaL_error(L, "expected --set %s, which was not given; set_or(\"%s\", default) reads it with a default",
                          name, name);
    return 1;
}

static int lua_set_newindex(lua_State *L) {
    return luaL_error(L, "expected no assignment to the read-only table 'set'");
}

/* Whether templates of the operation know the row. MLA is made from the text of decoding, to which the rows that MLA
 * does not have are neutral. */
static bool is_known(enum spec_operation operation, enum spec_field_id id) {
    return spec_operation_has(operation, id) || (operation == SPEC_OP_MLA && spec_operation_has(SPEC_OP_DECODE, id));
}

/* __index of the real table behind `spec`: reached when a field is not there. */
static int lua_no_field(lua_State *L) {
    enum spec_operation operation = (enum spec_operation)lua_tointeger(L, lua_upvalueindex(1));
    const char *name = luaL_tolstring(L, 2, NULL);
    const char *names[SPEC_FIELD_COUNT + 3] = {"arch", "name", "modifier"};
    size_t count = 2;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        if (is_known(operation, (enum spec_field_id)id))
            names[count++] = spec_fields[id].name;
        else if (!strcmp(spec_fields[id].name, name))
            return luaL_error(L, "expected a field of spec that %s has, got '%s'", spec_operation_words[operation],
                              name);
    }
    const char *nearest = text_nearest(name, names, count);
    return luaL_error(L, "expected a field of spec, got '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
                      nearest ? nearest : "", nearest ? "'?" : "");
}

void instance_push_spec(lua_State *L, const struct instance *instance) {
    const struct spec *spec = &instance->spec;
    lua_newtable(L);
    lua_pushstring(L, spec->arch);
    lua_setfield(L, -2, "arch");
    lua_pushstring(L, instance->name);
    lua_setfield(L, -2, "name");
    lua_pushboolean(L, spec->modifier_hash != 0);
    lua_setfield(L, -2, "modifier");
    enum spec_operation operation = (enum spec_operation)spec->value[SPEC_OP];
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        if (!is_known(operation, (enum spec_field_id)id))
            continue;
        if (spec_fields[id].words)
            lua_pushstring(L, spec_word(spec, (enum spec_field_id)id));
        else
            lua_pushinteger(L, spec_number(spec, (enum spec_field_id)id));
        lua_setfield(L, -2, spec_fields[id].name);
    }
    lua_newtable(L);
    lua_pushinteger(L, spec->value[SPEC_OP]);
    lua_pushcclosure(L, lua_no_field, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    sandbox_freeze(L);
}

static void prepare(lua_State *L, void *context) {
    struct emission *emission = context;
    int env = lua_gettop(L);
    instance_push_spec(L, emission->instance);
    lua_setfield(L, env, "spec");

    struct error error;
    if (!template_load_table(emission->engine, emission->arch_path, &error))
        luaL_error(L, "%s", error.text);
    if (lua_getfield(L, -1, "lds_bytes") != LUA_TNUMBER)
        luaL_error(L, "templates/%s: expected a number as 'lds_bytes', got %s", emission->arch_path,
                   luaL_typename(L, -1));
    emission->arch_lds_bytes = lua_tointeger(L, -1);
    lua_pop(L, 1);
    lua_setfield(L, env, "arch");
    lua_pushinteger(L, FMHA_ABI_VERSION);
    lua_setfield(L, env, "abi_version");

    static const luaL_Reg functions[] = {
        {"kernel", lua_kernel}, {"constraint", lua_constraint}, {"set_or", lua_set_or}, {NULL, NULL}};
    lua_pushlightuserdata(L, emission);
    luaL_setfuncs(L, functions, 1);
    lua_newtable(L); /* arguments */
    lua_pushlightuserdata(L, emission);
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, lua_argument, 2);
    lua_setfield(L, env, "argument");
    lua_setfield(L, env, "arguments");

    lua_newtable(L); /* set */
    lua_newtable(L);
    lua_pushlightuserdata(L, emission);
    lua_pushcclosure(L, lua_set_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, lua_set_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_setfield(L, env, "set");
}

/* ---- The file ---- */

static bool check_sets(const struct emission *emission, struct error *error) {
    const struct spec *spec = &emission->instance->spec;
    for (int i = 0; i < spec->set_count; i++) {
        bool read = false;
        for (int j = 0; j < emission->asked_count; j++)
            read = read || !strcmp(emission->asked[j], spec->set[i].name);
        if (read)
            continue;
        struct text known = {0};
        for (int j = 0; j < emission->asked_count; j++)
            text_printf(&known, "%s%s", j ? ", " : "", emission->asked[j]);
        error_set(error, ERROR_USAGE, "--set: expected a name that the template reads (%s), got '%s'",
                  known.length ? known.bytes : "it reads none", spec->set[i].name);
        text_free(&known);
        return false;
    }
    return true;
}

static bool check_emission(const struct emission *emission, const char *path, struct error *error) {
    const struct instance *instance = emission->instance;
    if (!emission->has_kernel)
        return error_set(error, ERROR_RUN, "templates/%s: expected one call of kernel{…}, got none", path);
    if (instance->argument_count == 0)
        return error_set(error, ERROR_RUN, "templates/%s: expected calls of argument{…}, got none", path);
    if (instance->spec.modifier_hash && !template_engine_used(emission->engine, USER_MODIFIER_TEMPLATE))
        return error_set(error, ERROR_RUN,
                         "templates/%s: expected it to include " USER_MODIFIER_TEMPLATE
                         " when spec.modifier is true, which "
                         "--modifier asks for; it did not",
                         path);
    if (instance->lds_bytes > emission->arch_lds_bytes)
        return error_set(error, ERROR_USAGE,
                         "%s: expected at most %lld bytes of LDS on %s, got %u; make --block-k or --block-m smaller",
                         instance->name, (long long)emission->arch_lds_bytes, instance->spec.arch,
                         (unsigned)instance->lds_bytes);
    return check_sets(emission, error);
}

static void add_head(const struct instance *instance, struct text *out) {
    text_printf(out, "/* %s\n *\n * Made by fmhagen %s. DO NOT EDIT: this command makes it anew.\n *     ",
                instance->name, FMHA_VERSION);
    spec_command(&instance->spec, out);
    text_puts(out, "\n *\n");
    if (instance->flop_per_tile > 0)
        text_printf(out, " * Cost of one key tile of a workgroup: %.0f FLOP, %.0f bytes of K and V.\n",
                    instance->flop_per_tile, instance->bytes_per_tile);
    else
        text_printf(out, " * Cost of one tile, which is what a workgroup has: %.0f bytes read and as many written.\n",
                    instance->bytes_per_tile);
    text_printf(
        out,
        " * A workgroup has %u threads and %u bytes of LDS.\n"
        " */\n"
        "#if defined(FMHA_ABI_VERSION) && FMHA_ABI_VERSION != %d\n"
        "#error \"this kernel is for ABI version %d of libfmha: make it anew with the fmhagen of your libfmha\"\n"
        "#endif\n\n",
        (unsigned)instance->workgroup, (unsigned)instance->lds_bytes, FMHA_ABI_VERSION, FMHA_ABI_VERSION);
}

bool instance_emit(struct template_engine *engine, const struct spec *spec, struct instance *instance,
                   struct error *error) {
    *instance = (struct instance){.spec = *spec};
    spec_name(spec, instance->name);
    struct emission emission = {.engine = engine, .instance = instance};
    spec_arch_path(spec, emission.arch_path);
    char path[64];
    snprintf(path, sizeof path, "ops/%s.hip", spec_word(spec, SPEC_OP));

    struct text body = {0};
    bool done =
        template_render(engine, path, prepare, &emission, &body, error) && check_emission(&emission, path, error);
    if (done) {
        uint32_t align = 4;
        for (int i = 0; i < instance->argument_count; i++)
            align = instance->arguments[i].size_bytes > align ? instance->arguments[i].size_bytes : align;
        instance->argument_bytes = (instance->argument_bytes + align - 1) / align * align;
        add_head(instance, &instance->text);
        text_add(&instance->text, body.bytes ? body.bytes : "", body.length);
        done = !instance->text.failed || error_set(error, ERROR_RUN, "%s: out of memory", instance->name);
    }
    text_free(&body);
    if (!done)
        instance_free(instance);
    return done;
}

void instance_free(struct instance *instance) {
    text_free(&instance->text);
}

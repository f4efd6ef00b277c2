#include "user_modifier.h"

#include <lauxlib.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "template.h"

#define BYTES_MAX ((size_t)1 << 20)

/* FNV-1a; 0 stands for no modifier. */
static uint32_t hash_of(const char *bytes, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash ? hash : 1;
}

bool user_modifier_open(const char *path, struct template_engine *engine, struct spec *spec, struct error *error) {
    char *bytes = NULL;
    size_t length = 0;
    struct error why;
    if (!*path || strlen(path) >= sizeof spec->modifier)
        return error_set(error, ERROR_USAGE,
                         "--modifier: expected the path of a file, of 1 to %zu characters, got '%.60s%s'",
                         sizeof spec->modifier - 1, path, *path ? "…" : "");
    if (!file_read(path, &bytes, &length, &why))
        return error_set(error, ERROR_USAGE, "--modifier: %s", why.text);
    bool done = (length > 0 && length <= BYTES_MAX && !memchr(bytes, '\0', length)) ||
                error_set(error, ERROR_USAGE,
                          "--modifier: expected a template of 1 to %zu bytes of text, got '%s', which has %zu%s",
                          BYTES_MAX, path, length, length > 0 && length <= BYTES_MAX ? " and a NUL among them" : "");
    done = done && template_engine_add(engine, USER_MODIFIER_TEMPLATE, bytes, length, error);
    if (done) {
        snprintf(spec->modifier, sizeof spec->modifier, "%s", path);
        spec->modifier_hash = hash_of(bytes, length);
    }
    free(bytes);
    return done;
}

/* ---- What verification takes of it ---- */

struct user_reference {
    struct template_engine *engine;
    const struct instance *instance;
    char arch_path[SPEC_ARCH_MAX + 16];
    int table; /* reference to what the file gave to modifier{…} */
    double values[FMHA_MODIFIER_VALUES];
    pthread_mutex_t mutex;
    bool failed;
    struct error error;
};

/* modifier{…} of this run; upvalue: the reference. */
static int take_modifier(lua_State *L) {
    struct user_reference *reference = lua_touserdata(L, lua_upvalueindex(1));
    luaL_checktype(L, 1, LUA_TTABLE);
    if (reference->table != LUA_NOREF)
        return luaL_error(L, "modifier: expected one call, got a second");
    if (lua_getfield(L, 1, "reference") != LUA_TFUNCTION)
        return luaL_error(L, "modifier: expected a function as 'reference', got %s", luaL_typename(L, -1));
    for (const char *const *name = (const char *const[]){"weight", "finish", NULL}; *name; name++)
        if (lua_getfield(L, 1, *name) != LUA_TNIL)
            return luaL_error(L, "modifier: expected no '%s' in verification, whose reference has scores alone", *name);
    if (lua_getfield(L, 1, "values") == LUA_TTABLE)
        for (int i = 0; i < FMHA_MODIFIER_VALUES; i++) {
            lua_geti(L, -1, i + 1);
            reference->values[i] = (double)(float)lua_tonumber(L, -1);
            lua_pop(L, 1);
        }
    lua_pushvalue(L, 1);
    reference->table = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

/* Names that the kernel's templates have are there, and empty: a file may keep them for its hooks. */
static void prepare(lua_State *L, void *context) {
    static const char *const empty[] = {"atom", "forward", "score", "tiles", NULL};
    struct user_reference *reference = context;
    struct error error;
    int env = lua_gettop(L);
    instance_push_spec(L, reference->instance);
    lua_setfield(L, env, "spec");
    if (!template_load_table(reference->engine, reference->arch_path, &error))
        luaL_error(L, "%s", error.text);
    lua_setfield(L, env, "arch");
    for (const char *const *name = empty; *name; name++) {
        lua_newtable(L);
        lua_setfield(L, env, *name);
    }
    lua_pushlightuserdata(L, reference);
    lua_pushcclosure(L, take_modifier, 1);
    lua_setfield(L, env, "modifier");
}

bool user_reference_open(struct template_engine *engine, const struct instance *instance,
                         struct user_reference **opened, struct error *error) {
    struct user_reference *reference = calloc(1, sizeof *reference);
    struct text ignored = {0};
    *opened = NULL;
    if (!reference)
        return error_set(error, ERROR_RUN, "out of memory");
    *reference = (struct user_reference){.engine = engine, .instance = instance, .table = LUA_NOREF};
    pthread_mutex_init(&reference->mutex, NULL);
    spec_arch_path(&instance->spec, reference->arch_path);
    bool done = template_render(engine, USER_MODIFIER_TEMPLATE, prepare, reference, &ignored, error);
    text_free(&ignored);
    if (done && reference->table == LUA_NOREF)
        done = error_set(error, ERROR_USAGE,
                         "templates/" USER_MODIFIER_TEMPLATE ": expected a call of modifier{…}, got none");
    if (!done) {
        user_reference_free(reference);
        return false;
    }
    *opened = reference;
    return true;
}

void user_reference_free(struct user_reference *reference) {
    if (!reference)
        return;
    luaL_unref(template_engine_lua(reference->engine), LUA_REGISTRYINDEX, reference->table);
    pthread_mutex_destroy(&reference->mutex);
    free(reference);
}

static void set_number(lua_State *L, const char *name, int64_t number) {
    lua_pushinteger(L, number);
    lua_setfield(L, -2, name);
}

static bool get_number(lua_State *L, const char *what, double *number, struct error *error) {
    bool is_number = lua_type(L, -1) == LUA_TNUMBER;
    *number = lua_tonumber(L, -1);
    if (!is_number)
        error_set(error, ERROR_USAGE, "templates/" USER_MODIFIER_TEMPLATE ": expected a number from %s, got %s", what,
                  luaL_typename(L, -1));
    lua_pop(L, 1);
    return is_number;
}

double user_reference_score(void *context, double score, const struct reference_place *place) {
    struct user_reference *reference = context;
    lua_State *L = template_engine_lua(reference->engine);
    double result = NAN;
    pthread_mutex_lock(&reference->mutex);
    if (!reference->failed) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, reference->table);
        lua_getfield(L, -1, "reference");
        lua_remove(L, -2);
        lua_pushnumber(L, score);
        lua_createtable(L, 0, 6);
        set_number(L, "batch", place->batch);
        set_number(L, "head", place->head);
        set_number(L, "query", place->query);
        set_number(L, "key", place->key);
        set_number(L, "seqlen_q", place->seqlen_q);
        set_number(L, "seqlen_k", place->seqlen_k);
        reference->failed = !template_call(reference->engine, 2, 1, &reference->error) ||
                            !get_number(L, "'reference'", &result, &reference->error);
    }
    pthread_mutex_unlock(&reference->mutex);
    return result;
}

bool user_reference_failed(const struct user_reference *reference, struct error *error) {
    if (reference->failed)
        *error = reference->error;
    return reference->failed;
}

double user_reference_value(const struct user_reference *reference, int i) {
    return reference->values[i];
}

/* The product of the words of a shape. */
static bool count_elements(const char *shape, const struct reference_problem *problem, int64_t *elements,
                           struct error *error) {
    const struct {
        const char *word;
        int64_t size;
    } sizes[] = {{"batch", problem->batch},       {"heads_q", problem->heads_q},   {"heads_k", problem->heads_k},
                 {"seqlen_q", problem->seqlen_q}, {"seqlen_k", problem->seqlen_k}, {"head_dim", problem->head_dim}};
    *elements = 1;
    for (const char *at = shape + strspn(shape, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " "), i = 0, count = sizeof sizes / sizeof *sizes;
        while (i < count && (strlen(sizes[i].word) != length || strncmp(sizes[i].word, at, length) != 0))
            i++;
        if (i == count)
            return error_set(error, ERROR_USAGE,
                             "templates/" USER_MODIFIER_TEMPLATE
                             ": expected batch, heads_q, heads_k, seqlen_q, seqlen_k or head_dim in the 'shape' of a "
                             "buffer, got '%.*s'",
                             (int)length, at);
        *elements *= sizes[i].size;
        at += length;
    }
    return true;
}

static bool fill(struct user_reference *reference, const char *type, void *contents, int64_t elements,
                 struct error *error) {
    lua_State *L = template_engine_lua(reference->engine);
    for (int64_t n = 0; n < elements; n++) {
        double number;
        lua_getfield(L, -1, "fill");
        lua_pushinteger(L, n);
        if (!template_call(reference->engine, 1, 1, error) || !get_number(L, "'fill'", &number, error))
            return false;
        if (strcmp(type, "f32") == 0)
            ((float *)contents)[n] = (float)number;
        else if (strcmp(type, "i32") == 0)
            ((int32_t *)contents)[n] = (int32_t)number;
        else
            ((uint8_t *)contents)[n] = (uint8_t)number;
    }
    return true;
}

bool user_reference_buffer(struct user_reference *reference, int i, const struct reference_problem *problem,
                           void **contents, int64_t *elements, size_t *element_bytes, struct error *error) {
    lua_State *L = template_engine_lua(reference->engine);
    int top = lua_gettop(L);
    *contents = NULL;
    *elements = -1;
    lua_rawgeti(L, LUA_REGISTRYINDEX, reference->table);
    bool done = lua_getfield(L, -1, "buffers") != LUA_TTABLE || lua_geti(L, -1, i + 1) != LUA_TTABLE;
    if (!done) {
        lua_getfield(L, -1, "type");
        lua_getfield(L, -2, "shape");
        lua_getfield(L, -3, "fill");
        const char *type = lua_tostring(L, -3), *shape = lua_tostring(L, -2);
        bool good = type && shape && lua_isfunction(L, -1) &&
                    (strcmp(type, "f32") == 0 || strcmp(type, "i32") == 0 || strcmp(type, "u8") == 0);
        lua_pop(L, 3);
        done = good || error_set(error, ERROR_USAGE,
                                 "templates/" USER_MODIFIER_TEMPLATE
                                 ": expected a buffer of type f32, i32 or u8, with a shape and a function 'fill', got "
                                 "another table");
        done = done && count_elements(shape, problem, elements, error);
        *element_bytes = done && strcmp(type, "u8") == 0 ? 1 : 4;
        if (done && !(*contents = calloc((size_t)*elements + 1, *element_bytes)))
            done =
                error_set(error, ERROR_RUN, "no memory for %lld elements of a modifier's buffer", (long long)*elements);
        done = done && fill(reference, type, *contents, *elements, error);
        if (!done) {
            free(*contents);
            *contents = NULL;
        }
    }
    lua_settop(L, top);
    return done;
}

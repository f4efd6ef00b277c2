#include "sandbox.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Read-only views: an empty table whose metatable leads to the real one ---- */

static const char frozen_key = 0; /* its address marks the metatable of a view */

/* If the table at `index` is a view, pushes the real table behind it. */
static bool push_behind_view(lua_State *L, int index) {
    if (!lua_getmetatable(L, index))
        return false;
    if (lua_rawgetp(L, -1, &frozen_key) == LUA_TTABLE) {
        lua_remove(L, -2);
        return true;
    }
    lua_pop(L, 2);
    return false;
}

/* Pushes the real table behind the table at `index`, which is itself when it is no view. */
static void push_real(lua_State *L, int index) {
    index = lua_absindex(L, index);
    if (!push_behind_view(L, index))
        lua_pushvalue(L, index);
}

int sandbox_next(lua_State *L, int index) {
    index = lua_absindex(L, index);
    push_real(L, index);
    lua_insert(L, -2);
    int more = lua_next(L, -2);
    lua_remove(L, more ? -3 : -1);
    return more;
}

static int view_newindex(lua_State *L) {
    if (lua_type(L, 2) == LUA_TSTRING)
        return luaL_error(L,
                          "expected no assignment to a read-only table, got one to '%s'; copy what you want to change",
                          lua_tostring(L, 2));
    return luaL_error(L, "expected no assignment to a read-only table; copy what you want to change");
}

static int view_len(lua_State *L) {
    push_real(L, 1);
    lua_pushinteger(L, luaL_len(L, -1));
    return 1;
}

/* Replaces the table on top by its view. `done` is the index of a table from real tables to views. */
static void freeze(lua_State *L, int done) {
    luaL_checkstack(L, 8, "tables nested too deep");
    int real = lua_gettop(L);
    if (push_behind_view(L, real)) { /* of another file's table */
        lua_settop(L, real);
        return;
    }
    lua_pushvalue(L, real);
    if (lua_rawget(L, done) != LUA_TNIL) {
        lua_replace(L, real);
        return;
    }
    lua_pop(L, 1);
    lua_newtable(L); /* the view */
    lua_pushvalue(L, real);
    lua_pushvalue(L, -2);
    lua_rawset(L, done);
    lua_pushnil(L);
    while (lua_next(L, real)) {
        if (lua_type(L, -1) == LUA_TTABLE) {
            freeze(L, done);
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, real); /* of a key that is there: allowed while walking */
        } else
            lua_pop(L, 1);
    }
    lua_createtable(L, 0, 5);
    lua_pushvalue(L, real);
    lua_setfield(L, -2, "__index");
    lua_pushvalue(L, real);
    lua_rawsetp(L, -2, &frozen_key);
    lua_pushcfunction(L, view_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, view_len);
    lua_setfield(L, -2, "__len");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_replace(L, real);
}

void sandbox_freeze(lua_State *L) {
    lua_newtable(L);
    lua_insert(L, -2);
    freeze(L, lua_absindex(L, -2));
    lua_remove(L, -2);
}

/* ---- Tables walked in the order of their keys: numbers, then strings ---- */

struct key {
    bool is_string, is_integer;
    lua_Number number; /* of an integer too, rounded */
    lua_Integer integer;
    const char *string; /* lives as long as it is a key */
    size_t length;
};

static struct key key_at(lua_State *L, int index) {
    struct key key = {0};
    int type = lua_type(L, index);
    if (type == LUA_TNUMBER) {
        key.number = lua_tonumber(L, index);
        key.is_integer = lua_isinteger(L, index);
        key.integer = key.is_integer ? lua_tointeger(L, index) : 0;
    } else if (type == LUA_TSTRING) {
        key.is_string = true;
        key.string = lua_tolstring(L, index, &key.length);
    } else
        luaL_error(L,
                   "expected numbers and strings as keys of a table that is walked, got a %s: the order would "
                   "change from run to run",
                   lua_typename(L, type));
    return key;
}

static int compare_keys(const void *first, const void *second) {
    const struct key *a = first, *b = second;
    if (a->is_string != b->is_string)
        return a->is_string ? 1 : -1;
    if (!a->is_string && a->is_integer && b->is_integer)
        return (a->integer > b->integer) - (a->integer < b->integer);
    if (!a->is_string)
        return (a->number > b->number) - (a->number < b->number);
    size_t shared = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->string, b->string, shared);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static void push_key(lua_State *L, const struct key *key) {
    if (key->is_string)
        lua_pushlstring(L, key->string, key->length);
    else if (key->is_integer)
        lua_pushinteger(L, key->integer);
    else
        lua_pushnumber(L, key->number);
}

static int pairs_step(lua_State *L) {
    lua_Integer at = lua_tointeger(L, lua_upvalueindex(3));
    for (;;) {
        lua_pushinteger(L, ++at);
        lua_replace(L, lua_upvalueindex(3));
        if (lua_rawgeti(L, lua_upvalueindex(2), at) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
            return 2;
        lua_pop(L, 2); /* it was removed during the walk */
    }
}

static int sorted_pairs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    push_real(L, 1);
    lua_Integer count = 0;
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1))
        count++;
    struct key *keys = lua_newuserdatauv(L, (size_t)(count ? count : 1) * sizeof *keys, 0);
    count = 0;
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1))
        keys[count++] = key_at(L, -2);
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    lua_pushvalue(L, 2);
    lua_createtable(L, count < 1000 ? (int)count : 1000, 0);
    for (lua_Integer i = 0; i < count; i++) {
        push_key(L, &keys[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, pairs_step, 3);
    return 1;
}

static int sorted_next(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    push_real(L, 1);
    bool any = lua_isnil(L, 2), found = false;
    struct key after = {0}, best = {0};
    if (!any)
        after = key_at(L, 2);
    for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1)) {
        struct key key = key_at(L, -2);
        if ((any || compare_keys(&key, &after) > 0) && (!found || compare_keys(&key, &best) < 0)) {
            best = key;
            found = true;
        }
    }
    if (!found) {
        lua_pushnil(L);
        return 1;
    }
    push_key(L, &best);
    lua_pushvalue(L, -1);
    lua_rawget(L, 3);
    return 2;
}

/* ---- No addresses in the text ---- */

static bool has_address(int type) {
    return type != LUA_TNIL && type != LUA_TBOOLEAN && type != LUA_TNUMBER && type != LUA_TSTRING;
}

static int plain_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    int type = lua_type(L, 1);
    if (has_address(type))
        return luaL_error(L,
                          "tostring: expected a string, a number, a boolean or nil, got a %s: its address would "
                          "change from run to run",
                          lua_typename(L, type));
    luaL_tolstring(L, 1, NULL);
    return 1;
}

/* Upvalue: the library's string.format, which uses no upvalue of its own. */
static int plain_format(lua_State *L) {
    const char *format = luaL_checkstring(L, 1);
    for (int i = 2; i <= lua_gettop(L); i++) {
        if (has_address(lua_type(L, i)))
            return luaL_error(L,
                              "string.format: expected a string, a number, a boolean or nil as argument %d, got a "
                              "%s: its address would change from run to run",
                              i, luaL_typename(L, i));
    }
    for (const char *percent = strchr(format, '%'); percent; percent = strchr(percent, '%')) {
        percent += 1 + strspn(percent + 1, "-+ #0123456789.");
        if (*percent == 'p')
            return luaL_error(L, "string.format: expected no '%%p': an address changes from run to run");
        if (*percent)
            percent++;
    }
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* ---- Work that one call can do ---- */

#define REP_BYTES_MAX      ((size_t)64 << 20) /* as much as a whole run may write */
#define REP_BYTES_PER_STEP 64
#define MATCHES_PER_STEP   4
#define CHARGE_UPVALUE     lua_upvalueindex(2)

static void charge(lua_State *L, double steps) {
    (*(sandbox_charge *)lua_touserdata(L, CHARGE_UPVALUE))(L, steps);
}

/* The end of the set that begins at `set`, a '['; its first member may be a ']'. */
static const char *set_end(const char *set, const char *end) {
    set += set + 1 < end && set[1] == '^' ? 2 : 1;
    do {
        if (set == end)
            return end;
        set += *set == '%' && set + 1 < end ? 2 : 1;
    } while (set < end && *set != ']');
    return set;
}

/* The most comparisons that a search for the pattern makes: each of its repetitions has as many ways to go on as the
 * subject has characters, and the search may begin at each of these. */
static double matching_work(size_t subject_length, const char *pattern, size_t length) {
    const char *end = pattern + length;
    double ways = (double)subject_length + 1, work = (double)length + 1;
    if (!length || *pattern != '^')
        work *= ways;
    for (const char *at = pattern; at < end; at++) {
        bool repeats = strchr("*+-?", *at) != NULL;
        if (*at == '%' && ++at < end)
            repeats = *at == 'b' || (*at >= '0' && *at <= '9');
        else if (at < end && *at == '[')
            at = set_end(at, end);
        if (repeats)
            work *= ways;
    }
    return work;
}

/* string.find, match, gmatch and gsub. Upvalues: the library's own function, which uses none, and what is charged. */
static int bounded_match(lua_State *L) {
    size_t subject_length, length;
    luaL_checklstring(L, 1, &subject_length);
    const char *pattern = luaL_checklstring(L, 2, &length);
    charge(L, matching_work(subject_length, pattern, length) / MATCHES_PER_STEP);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* string.rep; upvalues as above */
static int bounded_rep(lua_State *L) {
    size_t length, separator_length;
    luaL_checklstring(L, 1, &length);
    lua_Integer count = luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &separator_length);
    if (length + separator_length == 0 || count <= 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if ((lua_Unsigned)count > REP_BYTES_MAX / (length + separator_length))
        return luaL_error(L, "string.rep: expected a result of at most %I bytes, got more", (LUAI_UACINT)REP_BYTES_MAX);
    charge(L, (double)count * (double)(length + separator_length) / REP_BYTES_PER_STEP);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* Replaces a function of the library on top of the stack. */
static void wrap(lua_State *L, const char *name, lua_CFunction wrapper, sandbox_charge function) {
    lua_getfield(L, -1, name);
    *(sandbox_charge *)lua_newuserdatauv(L, sizeof function, 0) = function;
    lua_pushcclosure(L, wrapper, 2);
    lua_setfield(L, -2, name);
}

static void remove_fields(lua_State *L, const char *const *names) {
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
}

void sandbox_push(lua_State *L, sandbox_charge function) {
    lua_newtable(L);
    int allowed = lua_gettop(L);

    static const char *const base[] = {"ipairs", "tonumber", "type", "select", "error", "assert", NULL};
    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    for (const char *const *name = base; *name; name++) {
        lua_getfield(L, -1, *name);
        lua_setfield(L, allowed, *name);
    }
    lua_pop(L, 1);
    lua_pushcfunction(L, sorted_pairs);
    lua_setfield(L, allowed, "pairs");
    lua_pushcfunction(L, sorted_next);
    lua_setfield(L, allowed, "next");
    lua_pushcfunction(L, plain_tostring);
    lua_setfield(L, allowed, "tostring");

    /* The library's own table is changed, for the metatable of strings leads to it. */
    static const char *const not_of_string[] = {"dump", NULL};
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
    remove_fields(L, not_of_string);
    lua_getfield(L, -1, "format");
    lua_pushcclosure(L, plain_format, 1);
    lua_setfield(L, -2, "format");
    static const char *const matching[] = {"find", "match", "gmatch", "gsub", NULL};
    for (const char *const *name = matching; *name; name++)
        wrap(L, *name, bounded_match, function);
    wrap(L, "rep", bounded_rep, function);
    sandbox_freeze(L);
    lua_setfield(L, allowed, LUA_STRLIBNAME);

    /* table.move can be told to take a year in one instruction, which the step limit would not see. */
    static const char *const not_of_table[] = {"move", NULL};
    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 0);
    remove_fields(L, not_of_table);
    sandbox_freeze(L);
    lua_setfield(L, allowed, LUA_TABLIBNAME);

    static const char *const not_of_math[] = {"random", "randomseed", NULL};
    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 0);
    remove_fields(L, not_of_math);
    sandbox_freeze(L);
    lua_setfield(L, allowed, LUA_MATHLIBNAME);
}

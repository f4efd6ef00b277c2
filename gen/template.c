#include "template.h"

#include <dirent.h>
#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "embed.h"
#include "sandbox.h"
#include "scan.h"

#define STEPS_DEFAULT        100000000LL
#define MEMORY_DEFAULT_BYTES ((size_t)256 << 20)
#define OUTPUT_MAX_BYTES     ((size_t)64 << 20)
#define INCLUDE_DEPTH_MAX    16
#define HOOK_INTERVAL        1000 /* Lua instructions between two looks at the limits */
#define FRAMES_MAX           100  /* looked at when an error is described: reaching a deep one takes long */
#define FROM_LINES_MAX       6    /* callers named under an error */

struct engine_file {
    char *path;        /* below templates/ */
    const char *bytes; /* NULL: not yet read from the folder */
    char *owned_bytes;
    size_t length;
    bool overridden, active; /* active: being rendered or loaded right now */
    bool used;               /* in the last render */
    int function_ref;        /* the compiled chunk, LUA_NOREF before that */
    int value_ref;           /* .lua: its value */
};

struct template_engine {
    lua_State *L;
    struct engine_file *files;   /* sorted by path */
    const char **paths, **chips; /* all files, and those that are chips' tables */
    size_t file_count, chip_count;
    char *override_dir;

    size_t memory_bytes, memory_limit_bytes;
    long long steps, steps_limit;
    int library_ref;     /* what every template may name */
    int table_env_ref;   /* environment of .lua files */
    int run_env_ref;     /* environment of the current render */
    int protected_depth; /* calls of protect() under way */
    int include_depth, load_depth;
    struct text *out; /* of the current render, else NULL */

    struct error raised; /* what the last error in protected mode says */
    bool raised_whole;   /* `raised` is complete, nothing is to be added */
    bool raised_located; /* `raised` says where; only the callers are to be added */
};

static struct template_engine *engine_of(lua_State *L) {
    return *(struct template_engine **)lua_getextraspace(L);
}

static void *allocate(void *context, void *pointer, size_t old_bytes, size_t new_bytes) {
    struct template_engine *engine = context;
    if (!pointer)
        old_bytes = 0; /* Lua passes a type there */
    if (new_bytes == 0) {
        free(pointer);
        engine->memory_bytes -= old_bytes;
        return NULL;
    }
    if (new_bytes > old_bytes && new_bytes - old_bytes > engine->memory_limit_bytes - engine->memory_bytes)
        return NULL;
    void *moved = realloc(pointer, new_bytes);
    if (moved)
        engine->memory_bytes += new_bytes - old_bytes;
    return moved;
}

/* In a hook luaL_error would name the caller's position; describe_error finds that of the running function. */
static void raise_limit(lua_State *L, const char *format, lua_Integer limit) {
    lua_pushfstring(L, format, limit);
    lua_error(L);
}

static void charge(lua_State *L, double steps) {
    struct template_engine *engine = engine_of(L);
    if (steps > (double)(engine->steps_limit - engine->steps))
        raise_limit(L,
                    "expected to match a pattern or repeat a string within what is left of %I steps, got more; is "
                    "the pattern simple, and the string short?",
                    engine->steps_limit);
    engine->steps += (long long)steps;
}

static void hook(lua_State *L, lua_Debug *where) {
    (void)where;
    struct template_engine *engine = engine_of(L);
    engine->steps += HOOK_INTERVAL;
    if (engine->steps > engine->steps_limit)
        raise_limit(L, "expected an end within %I steps, got none; is there a loop that never ends?",
                    engine->steps_limit);
    /* A template that grows is stopped here, where its line is known, before the allocator has to refuse. */
    if (engine->memory_bytes > engine->memory_limit_bytes / 4 * 3) {
        lua_gc(L, LUA_GCCOLLECT);
        if (engine->memory_bytes > engine->memory_limit_bytes / 4 * 3)
            raise_limit(L, "expected at most %I bytes of memory, got more; is there a table that grows for ever?",
                        (lua_Integer)engine->memory_limit_bytes);
    }
}

/* ---- Files ---- */

static const char *extension(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? dot : "";
}

static int compare_path(const void *path, const void *file) {
    return strcmp(path, ((const struct engine_file *)file)->path);
}

static int compare_files(const void *a, const void *b) {
    return strcmp(((const struct engine_file *)a)->path, ((const struct engine_file *)b)->path);
}

/* Among the first `count` files, which are in order. */
static struct engine_file *find_among(struct template_engine *engine, size_t count, const char *path) {
    return engine->files ? bsearch(path, engine->files, count, sizeof *engine->files, compare_path) : NULL;
}

static struct engine_file *find_file(struct template_engine *engine, const char *path) {
    return find_among(engine, engine->file_count, path);
}

static struct engine_file *add_file(struct template_engine *engine, const char *path, struct error *error) {
    struct engine_file *files = realloc(engine->files, (engine->file_count + 1) * sizeof *files);
    char *copy = strdup(path);
    if (files)
        engine->files = files;
    if (!files || !copy) {
        free(copy);
        error_set(error, ERROR_RUN, "out of memory");
        return NULL;
    }
    files[engine->file_count] = (struct engine_file){.path = copy, .function_ref = LUA_NOREF, .value_ref = LUA_NOREF};
    return &files[engine->file_count++];
}

/* Adds what the folder `below` (a path under override_dir) holds. Only the first `sorted` files are in order. */
static bool add_folder(struct template_engine *engine, const char *below, size_t sorted, int depth,
                       struct error *error) {
    struct text folder = {0}, path = {0};
    text_printf(&folder, "%s%s%s", engine->override_dir, *below ? "/" : "", below);
    bool named = folder.bytes && !folder.failed;
    DIR *handle = named ? opendir(folder.bytes) : NULL;
    bool done = handle || error_set(error, ERROR_USAGE, "--template-dir: expected a folder of templates, got '%s': %s",
                                    named ? folder.bytes : below, strerror(errno));
    const struct dirent *entry;
    while (handle && done && depth < 8 && (entry = readdir(handle))) {
        if (entry->d_name[0] == '.')
            continue;
        path.length = 0;
        text_printf(&path, "%s/%s", folder.bytes, entry->d_name);
        struct stat status;
        if (path.failed || stat(path.bytes, &status) != 0)
            continue;
        const char *inside = path.bytes + strlen(engine->override_dir) + 1;
        bool template = !strcmp(extension(inside), ".hip") || !strcmp(extension(inside), ".lua");
        if (template && !S_ISREG(status.st_mode))
            done = error_set(error, ERROR_USAGE, "--template-dir: expected a file, got '%s', which is %s", path.bytes,
                             S_ISDIR(status.st_mode) ? "a folder" : "no regular file");
        else if (S_ISDIR(status.st_mode))
            done = add_folder(engine, inside, sorted, depth + 1, error);
        else if (template) {
            struct engine_file *file = find_among(engine, sorted, inside);
            file = file ? file : add_file(engine, inside, error);
            done = file != NULL;
            if (done) {
                file->overridden = true;
                file->bytes = NULL;
            }
        }
    }
    if (handle)
        closedir(handle);
    text_free(&folder);
    text_free(&path);
    return done;
}

bool template_is_chip(const char *path) {
    return !strncmp(path, "arch/gfx", strlen("arch/gfx")) || !strncmp(path, "arch/sm_", strlen("arch/sm_"));
}

static bool order_files(struct template_engine *engine, struct error *error) {
    const char **paths = realloc(engine->paths, (engine->file_count + 1) * sizeof *paths);
    engine->paths = paths ? paths : engine->paths;
    const char **chips = realloc(engine->chips, (engine->file_count + 1) * sizeof *chips);
    engine->chips = chips ? chips : engine->chips;
    if (!paths || !chips)
        return error_set(error, ERROR_RUN, "out of memory");
    if (engine->file_count)
        qsort(engine->files, engine->file_count, sizeof *engine->files, compare_files);
    engine->chip_count = 0;
    for (size_t i = 0; i < engine->file_count; i++) {
        engine->paths[i] = engine->files[i].path;
        if (template_is_chip(engine->paths[i]))
            engine->chips[engine->chip_count++] = engine->paths[i];
    }
    return true;
}

static bool list_files(struct template_engine *engine, const struct template_file *files, size_t count,
                       struct error *error) {
    for (size_t i = 0; i < count; i++) {
        struct engine_file *file = add_file(engine, files[i].path, error);
        if (!file)
            return false;
        file->bytes = files[i].bytes;
        file->length = files[i].length;
    }
    if (engine->override_dir && !add_folder(engine, "", count, 0, error))
        return false;
    return order_files(engine, error);
}

bool template_engine_add(struct template_engine *engine, const char *path, const char *bytes, size_t length,
                         struct error *error) {
    struct engine_file *file = find_file(engine, path);
    bool known = file != NULL;
    file = known ? file : add_file(engine, path, error);
    if (!file)
        return false;
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, bytes, length);
        copy[length] = '\0';
        free(file->owned_bytes);
        file->owned_bytes = copy;
        file->bytes = copy;
        file->length = length;
    }
    return (known || order_files(engine, error)) && (copy || error_set(error, ERROR_RUN, "out of memory"));
}

bool template_engine_used(struct template_engine *engine, const char *path) {
    const struct engine_file *file = find_file(engine, path);
    return file && file->used;
}

static bool read_file(struct template_engine *engine, struct engine_file *file, struct error *error) {
    if (file->bytes)
        return true;
    struct text path = {0};
    text_printf(&path, "%s/%s", engine->override_dir, file->path);
    bool done = path.failed ? error_set(error, ERROR_RUN, "out of memory")
                            : file_read(path.bytes, &file->owned_bytes, &file->length, error);
    file->bytes = file->owned_bytes;
    text_free(&path);
    return done;
}

const char *const *template_list(struct template_engine *engine, const char *prefix, size_t *count) {
    size_t first = 0, length = strlen(prefix);
    while (first < engine->file_count && strncmp(engine->paths[first], prefix, length) < 0)
        first++;
    size_t end = first;
    while (end < engine->file_count && strncmp(engine->paths[end], prefix, length) == 0)
        end++;
    *count = end - first;
    return engine->paths + first;
}

const char *const *template_chips(struct template_engine *engine, size_t *count) {
    *count = engine->chip_count;
    return engine->chips;
}

/* ---- Errors: where they happened, in the words of the template ---- */

static void raised_add(struct template_engine *engine, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void raised_add(struct template_engine *engine, const char *format, ...) {
    size_t length = strlen(engine->raised.text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(engine->raised.text + length, sizeof engine->raised.text - length, format, arguments);
    va_end(arguments);
}

/* Chunks are named "=templates/<path>". */
static struct engine_file *file_of_source(struct template_engine *engine, const char *source) {
    static const char prefix[] = "=templates/";
    size_t length = sizeof prefix - 1;
    return strncmp(source, prefix, length) != 0 ? NULL : find_file(engine, source + length);
}

static void raised_add_line(struct template_engine *engine, const struct engine_file *file, int number) {
    size_t length;
    const char *line = scan_line(file->bytes, file->length, number, &length);
    if (line)
        raised_add(engine, "\n%.*s", length < 300 ? (int)length : 300, line);
}

/* Takes "short source:line: " from the front of a message that Lua itself put there; returns the line, 0 if it is not
 * there. */
static int strip_position(const char **message, const char *short_source) {
    size_t length = strlen(short_source);
    char *end;
    if (strncmp(*message, short_source, length) != 0 || (*message)[length] != ':')
        return 0;
    long line = strtol(*message + length + 1, &end, 10);
    if (line <= 0 || line > INT32_MAX || strncmp(end, ": ", 2) != 0)
        return 0;
    *message = end + 2;
    return (int)line;
}

static bool lua_frame(lua_State *L, int level, lua_Debug *frame) {
    return lua_getstack(L, level, frame) && lua_getinfo(L, "Sl", frame);
}

/* Message handler of every protected call: fills `raised`. */
static int describe_error(lua_State *L) {
    struct template_engine *engine = engine_of(L);
    if (engine->raised_whole)
        return 1;
    lua_Debug frame;
    int level = 1;
    if (!engine->raised_located) {
        const char *message = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
        struct engine_file *file = NULL;
        int line = 0, first = 0;
        /* error("…", 2) speaks of the caller: the frame whose position stands in the message, else the innermost. */
        for (int i = 1; !line && (message || !first) && i < FRAMES_MAX && lua_frame(L, i, &frame); i++) {
            struct engine_file *candidate = file_of_source(engine, frame.source);
            first = candidate && !first ? i : first;
            const char *rest = message;
            if (candidate && message && strip_position(&rest, frame.short_src) == frame.currentline) {
                file = candidate;
                line = frame.currentline;
                level = i;
                message = rest;
            }
        }
        if (!file && first && lua_frame(L, first, &frame)) {
            file = file_of_source(engine, frame.source);
            line = frame.currentline;
            level = first;
        }
        engine->raised.kind = ERROR_RUN;
        engine->raised.text[0] = '\0';
        if (file)
            raised_add(engine, "templates/%s:%d: ", file->path, line);
        if (message)
            raised_add(engine, "%s", message);
        else
            raised_add(engine, "expected a string as error, got a %s", luaL_typename(L, 1));
        if (file)
            raised_add_line(engine, file, line);
        level++;
    }
    int named = 0;
    for (int end = level + FRAMES_MAX; named < FROM_LINES_MAX && level < end && lua_frame(L, level, &frame); level++) {
        const struct engine_file *file = file_of_source(engine, frame.source);
        if (file && frame.currentline > 0) {
            raised_add(engine, "\nfrom templates/%s:%d", file->path, frame.currentline);
            named++;
        }
    }
    engine->raised_whole = true;
    return 1;
}

/* Raises what `raised` already says. */
static int raise_located(lua_State *L) {
    engine_of(L)->raised_located = true;
    lua_pushnil(L);
    return lua_error(L);
}

/* Calls the function below its `arguments` on the stack; on failure the stack is cut to below the function. */
static bool protect(struct template_engine *engine, int arguments, int results, struct error *error) {
    lua_State *L = engine->L;
    int base = lua_gettop(L) - arguments - 1;
    if (engine->protected_depth++ == 0)
        engine->steps = 0;
    engine->raised_whole = engine->raised_located = false;
    lua_pushcfunction(L, describe_error);
    lua_insert(L, base + 1);
    int status = lua_pcall(L, arguments, results, base + 1);
    lua_remove(L, base + 1);
    engine->protected_depth--;
    if (status == LUA_OK)
        return true;
    lua_settop(L, base);
    if (status == LUA_ERRMEM)
        error_set(error, ERROR_RUN, "expected at most %zu bytes of memory for templates, got more",
                  engine->memory_limit_bytes);
    else if (engine->raised_whole)
        *error = engine->raised;
    else
        error_set(error, ERROR_RUN, "an error while an error was described, probably a recursion without end");
    engine->raised_whole = engine->raised_located = false;
    return false;
}

bool template_call(struct template_engine *engine, int arguments, int results, struct error *error) {
    return protect(engine, arguments, results, error);
}

/* ---- Compiling ---- */

/* Fills `raised` from Lua's message about a chunk that does not compile. */
static void describe_syntax_error(struct template_engine *engine, const struct engine_file *file, const char *name,
                                  const char *message) {
    char short_source[LUA_IDSIZE];
    snprintf(short_source, sizeof short_source, "%s", name);
    int line = strip_position(&message, short_source);
    engine->raised.kind = ERROR_RUN;
    engine->raised.text[0] = '\0';
    size_t length = 0;
    const char *near = strstr(message, " near ");
    if (near && !strcmp(near, " near <eof>")) {
        raised_add(engine, "%s: %.*s before the end of the file", name, (int)(near - message), message);
        return;
    }
    raised_add(engine, "%s:%d: ", name, line);
    const char *source = scan_line(file->bytes, file->length, line, &length);
    if (near && !strcmp(extension(file->path), ".hip") && source && !scan_is_control(source, length))
        /* what Lua read there is ours, not the template's */
        raised_add(engine, "%.*s before this line of text", (int)(near - message), message);
    else
        raised_add(engine, "%s", message);
    if (strstr(message, "too many local variables"))
        raised_add(engine, "; a template is one Lua function: put names into a table, or close blocks with do … end");
    raised_add_line(engine, file, line);
}

/* Pushes the compiled chunk of a file; raises an error if it does not compile. */
static void push_chunk(lua_State *L, struct engine_file *file) {
    struct template_engine *engine = engine_of(L);
    if (file->function_ref != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, file->function_ref);
        return;
    }
    if (!read_file(engine, file, &engine->raised))
        raise_located(L);
    const char *chunk = lua_pushfstring(L, "=templates/%s", file->path);
    int status;
    if (!strcmp(extension(file->path), ".lua"))
        status = luaL_loadbufferx(L, file->bytes, file->length, chunk, "t");
    else {
        struct text lua = {0};
        bool scanned = scan_template(chunk + 1, file->bytes, file->length, &lua, &engine->raised);
        status = scanned ? luaL_loadbufferx(L, lua.bytes ? lua.bytes : "", lua.length, chunk, "t") : LUA_OK;
        text_free(&lua);
        if (!scanned)
            raise_located(L);
    }
    if (status == LUA_ERRSYNTAX) {
        describe_syntax_error(engine, file, chunk + 1, lua_tostring(L, -1));
        raise_located(L);
    }
    if (status != LUA_OK)
        lua_error(L);
    lua_remove(L, -2);
    lua_pushvalue(L, -1);
    file->function_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Raises the message on top of the stack. */
static _Noreturn void raise_message(lua_State *L) {
    lua_error(L);
    __builtin_unreachable();
}

/* The file that a template names in include() or load(); raises an error if it cannot be. */
static struct engine_file *check_file(lua_State *L, const char *function, const char *path, const char *suffix) {
    struct template_engine *engine = engine_of(L);
    struct engine_file *file = find_file(engine, path);
    if (!file) {
        const char *nearest = text_nearest(path, engine->paths, engine->file_count);
        lua_pushfstring(L, "%s: expected the path of a file below templates/, got '%s'%s%s%s", function, path,
                        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
        raise_message(L);
    }
    if (strcmp(extension(path), suffix) != 0)
        luaL_error(L, "%s: expected a %s file, got '%s'; %s", function, suffix, path,
                   *suffix == '.' && suffix[1] == 'l' ? "a template is rendered by include()"
                                                      : "the value of a .lua file is had by load()");
    if (file->active)
        luaL_error(L, "%s: expected no circle, got 'templates/%s', which is being read already", function, path);
    return file;
}

static void call_in(lua_State *L, int environment_ref, int results) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, environment_ref);
    lua_setupvalue(L, -2, 1); /* _ENV */
    lua_call(L, 0, results);
}

/* ---- What templates call ---- */

/* Adds a value as a token of C; false if it is none. */
static bool add_value(lua_State *L, int index, struct text *out) {
    if (lua_type(L, index) == LUA_TSTRING) {
        size_t length;
        const char *string = lua_tolstring(L, index, &length);
        text_add(out, string, length);
        return true;
    }
    if (lua_type(L, index) != LUA_TNUMBER)
        return false;
    lua_Number number = lua_tonumber(L, index);
    lua_Integer integer;
    if (lua_isinteger(L, index))
        text_printf(out, LUA_INTEGER_FMT, lua_tointeger(L, index));
    else if (!isfinite(number))
        return false;
    else if (number == floor(number) && lua_numbertointeger(number, &integer))
        text_printf(out, LUA_INTEGER_FMT, integer);
    else {
        char digits[40];
        for (int precision = 1; precision <= 17; precision++) {
            snprintf(digits, sizeof digits, "%.*g", precision, number);
            if (strtod(digits, NULL) == number)
                break;
        }
        text_puts(out, digits);
    }
    return true;
}

static struct text *check_out(lua_State *L, const char *function) {
    struct template_engine *engine = engine_of(L);
    if (!engine->out || engine->load_depth)
        luaL_error(L, "%s: expected a template that is being rendered, got a .lua file that is being loaded", function);
    return engine->out;
}

static void check_output(lua_State *L, const struct text *out) {
    if (out->failed)
        luaL_error(L, "out of memory");
    if (out->length > OUTPUT_MAX_BYTES)
        luaL_error(L, "expected at most %I bytes of text, got more; is there a loop that never ends?",
                   (LUAI_UACINT)OUTPUT_MAX_BYTES);
}

static int refuse_value(lua_State *L, int index, int substitution) {
    struct template_engine *engine = engine_of(L);
    lua_Debug frame;
    size_t length = 0;
    const char *expression = NULL;
    if (lua_frame(L, 1, &frame)) {
        const struct engine_file *file = file_of_source(engine, frame.source);
        const char *line = file ? scan_line(file->bytes, file->length, frame.currentline, &length) : NULL;
        expression = line ? scan_expression(line, length, substitution, &length) : NULL;
    }
    lua_pushlstring(L, expression ? expression : "?", expression ? length : 1);
    const char *got = luaL_typename(L, index);
    if (lua_type(L, index) == LUA_TNUMBER)
        got = lua_tonumber(L, index) != lua_tonumber(L, index) ? "not a number (NaN)" : "an infinite number";
    return luaL_error(L, "expected a string or a finite number in $(%s), got %s", lua_tostring(L, -1), got);
}

/* __text(values before, literal, value, literal, …) */
static int lua_text(lua_State *L) {
    struct text *out = check_out(L, "text");
    int count = lua_gettop(L);
    for (int i = 2; i <= count; i++)
        if (!add_value(L, i, out))
            return refuse_value(L, i, (int)lua_tointeger(L, 1) + (i - 3) / 2);
    check_output(L, out);
    return 0;
}

static int lua_emit(lua_State *L) {
    struct text *out = check_out(L, "emit");
    if (lua_gettop(L) != 1 || !add_value(L, 1, out))
        return luaL_error(L, "emit: expected one string or finite number, got %s",
                          lua_gettop(L) == 1 ? luaL_typename(L, 1) : "another number of arguments");
    check_output(L, out);
    return 0;
}

static int lua_fail(lua_State *L) {
    struct template_engine *engine = engine_of(L);
    const char *message = luaL_checkstring(L, 1);
    error_set(&engine->raised, ERROR_USAGE, "%s", message);
    engine->raised_whole = true;
    lua_pushnil(L);
    return lua_error(L);
}

static int lua_include(lua_State *L) {
    struct template_engine *engine = engine_of(L);
    const char *path = luaL_checkstring(L, 1);
    check_out(L, "include");
    struct engine_file *file = check_file(L, "include", path, ".hip");
    if (engine->include_depth >= INCLUDE_DEPTH_MAX)
        return luaL_error(L, "include: expected at most %d templates inside one another, got more", INCLUDE_DEPTH_MAX);
    push_chunk(L, file);
    file->active = file->used = true;
    engine->include_depth++;
    call_in(L, engine->run_env_ref, 0);
    engine->include_depth--;
    file->active = false;
    return 0;
}

/* Pushes the value of a .lua file. */
static void push_value(lua_State *L, const char *path) {
    struct template_engine *engine = engine_of(L);
    struct engine_file *file = check_file(L, "load", path, ".lua");
    if (file->value_ref == LUA_NOREF) {
        if (engine->load_depth >= INCLUDE_DEPTH_MAX)
            luaL_error(L, "load: expected at most %d files inside one another, got more", INCLUDE_DEPTH_MAX);
        push_chunk(L, file);
        file->active = true;
        engine->load_depth++;
        call_in(L, engine->table_env_ref, 1);
        engine->load_depth--;
        file->active = false;
        if (lua_type(L, -1) != LUA_TTABLE)
            luaL_error(L, "templates/%s: expected a file that returns a table, got %s", path, luaL_typename(L, -1));
        sandbox_freeze(L);
        file->value_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, file->value_ref);
}

static int lua_load_table(lua_State *L) {
    push_value(L, luaL_checkstring(L, 1));
    return 1;
}

struct candidates {
    const char **names;
    size_t count, capacity;
};

/* Names live in Lua's strings, which the walk keeps alive; what does not fit is not suggested. */
static void add_candidate(struct candidates *candidates, const char *name) {
    if (candidates->count < candidates->capacity && name[0] != '(' && strncmp(name, "__", 2) != 0)
        candidates->names[candidates->count++] = name;
}

static void add_candidates(lua_State *L, struct candidates *candidates, int table_ref) {
    if (lua_rawgeti(L, LUA_REGISTRYINDEX, table_ref) == LUA_TTABLE)
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
            if (lua_type(L, -2) == LUA_TSTRING)
                add_candidate(candidates, lua_tostring(L, -2));
    lua_pop(L, 1);
}

/* __index of the library: reached when a name is nowhere else. */
static int lua_undefined(lua_State *L) {
    struct template_engine *engine = engine_of(L);
    if (lua_type(L, 2) != LUA_TSTRING)
        return luaL_error(L, "expected a name, got a %s", luaL_typename(L, 2));
    const char *name = lua_tostring(L, 2);
    const char *names[512];
    struct candidates candidates = {names, 0, sizeof names / sizeof *names};
    lua_Debug frame;
    if (lua_getstack(L, 1, &frame)) {
        const char *local;
        for (int i = 1; (local = lua_getlocal(L, &frame, i)); i++) {
            add_candidate(&candidates, local);
            lua_pop(L, 1);
        }
    }
    if (engine->load_depth == 0)
        add_candidates(L, &candidates, engine->run_env_ref);
    add_candidates(L, &candidates, engine->library_ref);
    const char *nearest = text_nearest(name, candidates.names, candidates.count);
    if (nearest)
        return luaL_error(L, "undefined name '%s'; did you mean '%s'?", name, nearest);
    return luaL_error(L, "undefined name '%s'", name);
}

static int lua_table_global(lua_State *L) {
    return luaL_error(L, "expected no global name in a .lua file, got '%s'; write 'local %s'",
                      luaL_tolstring(L, 2, NULL), luaL_tolstring(L, 2, NULL));
}

/* ---- Engine ---- */

static int open_state(lua_State *L) {
    struct template_engine *engine = engine_of(L);
    static const luaL_Reg functions[] = {{"include", lua_include}, {"load", lua_load_table}, {"emit", lua_emit},
                                         {"fail", lua_fail},       {"__text", lua_text},     {NULL, NULL}};
    sandbox_push(L, charge);
    luaL_setfuncs(L, functions, 0);
    lua_newtable(L);
    lua_pushcfunction(L, lua_undefined);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    engine->library_ref = luaL_ref(L, LUA_REGISTRYINDEX);

    lua_newtable(L); /* environment of .lua files: the library, and no names of its own */
    lua_newtable(L);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, lua_table_global);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    engine->table_env_ref = luaL_ref(L, LUA_REGISTRYINDEX);

    lua_newtable(L);
    engine->run_env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_sethook(L, hook, LUA_MASKCOUNT, HOOK_INTERVAL);
    return 0;
}

struct template_engine *template_engine_new_from(const struct template_file *files, size_t file_count,
                                                 const char *override_dir, struct error *error) {
    struct template_engine *engine = calloc(1, sizeof *engine);
    if (!engine) {
        error_set(error, ERROR_RUN, "out of memory");
        return NULL;
    }
    template_engine_limit(engine, STEPS_DEFAULT, MEMORY_DEFAULT_BYTES);
    engine->override_dir = override_dir ? strdup(override_dir) : NULL;
    engine->L = lua_newstate(allocate, engine);
    bool done = engine->L && (engine->override_dir || !override_dir);
    if (!done)
        error_set(error, ERROR_RUN, "out of memory");
    if (done) {
        *(struct template_engine **)lua_getextraspace(engine->L) = engine;
        lua_pushcfunction(engine->L, open_state);
        done = protect(engine, 0, 0, error) && list_files(engine, files, file_count, error);
    }
    if (!done) {
        template_engine_free(engine);
        return NULL;
    }
    return engine;
}

struct template_engine *template_engine_new(const char *override_dir, struct error *error) {
    return template_engine_new_from(template_files, template_file_count, override_dir, error);
}

void template_engine_free(struct template_engine *engine) {
    if (!engine)
        return;
    if (engine->L)
        lua_close(engine->L);
    for (size_t i = 0; i < engine->file_count; i++) {
        free(engine->files[i].path);
        free(engine->files[i].owned_bytes);
    }
    free(engine->files);
    free(engine->paths);
    free(engine->chips);
    free(engine->override_dir);
    free(engine);
}

void template_engine_limit(struct template_engine *engine, long long steps, size_t memory_bytes) {
    engine->steps_limit = steps;
    engine->memory_limit_bytes = memory_bytes > engine->memory_bytes ? memory_bytes : engine->memory_bytes;
}

lua_State *template_engine_lua(struct template_engine *engine) {
    return engine->L;
}

struct run {
    const char *path;
    void (*function)(lua_State *, void *);
    void *context;
};

static int run_render(lua_State *L) {
    struct template_engine *engine = engine_of(L);
    const struct run *run = lua_touserdata(L, 1);
    struct engine_file *file = check_file(L, "template", run->path, ".hip");
    lua_newtable(L);
    lua_newtable(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, engine->library_ref);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawseti(L, LUA_REGISTRYINDEX, engine->run_env_ref);
    if (run->function)
        run->function(L, run->context);
    push_chunk(L, file);
    file->active = file->used = true;
    call_in(L, engine->run_env_ref, 0);
    return 0;
}

/* After an error flags of what was under way may still be set. */
static void end_run(struct template_engine *engine) {
    engine->include_depth = engine->load_depth = 0;
    for (size_t i = 0; i < engine->file_count; i++)
        engine->files[i].active = false;
}

bool template_render(struct template_engine *engine, const char *path, void (*prepare)(lua_State *, void *),
                     void *context, struct text *out, struct error *error) {
    if (engine->out)
        return error_set(error, ERROR_RUN, "templates/%s: expected no render inside a render", path);
    size_t before = out->length;
    struct run run = {path, prepare, context};
    for (size_t i = 0; i < engine->file_count; i++)
        engine->files[i].used = false;
    engine->out = out;
    lua_pushcfunction(engine->L, run_render);
    lua_pushlightuserdata(engine->L, &run);
    bool done = protect(engine, 1, 0, error);
    engine->out = NULL;
    end_run(engine);
    if (!done && out->bytes) {
        out->length = before;
        out->bytes[before] = '\0';
    }
    return done;
}

static int run_load(lua_State *L) {
    const struct run *run = lua_touserdata(L, 1);
    push_value(L, run->path);
    if (!run->function)
        return 1;
    run->function(L, run->context);
    return 0;
}

static bool load_protected(struct template_engine *engine, struct run *run, struct error *error) {
    if (!lua_checkstack(engine->L, 8))
        return error_set(error, ERROR_RUN, "out of memory");
    lua_pushcfunction(engine->L, run_load);
    lua_pushlightuserdata(engine->L, run);
    bool done = protect(engine, 1, run->function ? 0 : 1, error);
    if (!done && engine->protected_depth == 0)
        end_run(engine);
    return done;
}

bool template_load_table(struct template_engine *engine, const char *path, struct error *error) {
    return load_protected(engine, &(struct run){.path = path}, error);
}

bool template_with_table(struct template_engine *engine, const char *path, void (*function)(lua_State *, void *),
                         void *context, struct error *error) {
    return load_protected(engine, &(struct run){path, function, context}, error);
}

int template_table_next(lua_State *L, int index) {
    return sandbox_next(L, index);
}

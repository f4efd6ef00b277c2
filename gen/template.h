/* The template engine: `//% lua` lines, `$(expr)` values, `$$(` for a literal `$(`. See docs/templates.md.
 * An engine holds one Lua state in which every template is compiled once; rendering again costs only its run. */
#ifndef GEN_TEMPLATE_H
#define GEN_TEMPLATE_H

#include <lua.h>

#include "error.h"
#include "text.h"

struct template_engine;
struct template_file;

/* `override_dir`: a folder whose files replace those compiled into the binary (--template-dir); NULL: none. */
struct template_engine *template_engine_new(const char *override_dir, struct error *error);

/* As above with other files than those compiled into the binary; `files`, sorted by path, must outlive the engine. */
struct template_engine *template_engine_new_from(const struct template_file *files, size_t file_count,
                                                 const char *override_dir, struct error *error);
void template_engine_free(struct template_engine *engine); /* NULL is accepted */

/* Gives the engine one more file, or one in the place of that of the same path, whose text is `bytes`; they are copied.
 * Nothing may have been rendered or loaded from a file of that path before. */
bool template_engine_add(struct template_engine *engine, const char *path, const char *bytes, size_t length,
                         struct error *error);

/* Whether the last render included or rendered the file. */
bool template_engine_used(struct template_engine *engine, const char *path);

/* What one render or load may use: `steps` Lua instructions and `memory_bytes` for the whole engine. */
void template_engine_limit(struct template_engine *engine, long long steps, size_t memory_bytes);

/* Runs `templates/<path>`, appending its text to `out` (unchanged on error). `prepare`, called in protected mode with
 * the environment table of this run on top of the Lua stack, adds what the template may name (tables `spec`, `arch`,
 * functions); it must leave the stack as it was. NULL: nothing to add. A render inside a render is an error.
 * Names that a run defines as globals last for that run. Errors read
 * "templates/ops/forward.hip:41: undefined name 'block_q'" followed by the source line. A template's call of fail("…")
 * becomes an ERROR_USAGE with exactly that text, everything else ERROR_RUN. */
bool template_render(struct template_engine *engine, const char *path, void (*prepare)(lua_State *, void *),
                     void *context, struct text *out, struct error *error);

/* Runs `templates/<path>`, a plain Lua file that returns a value (a chip table), in the same restricted environment and
 * leaves the value on the stack of template_engine_lua(). The value is cached and read-only (writing to it is a Lua
 * error; lua_rawget and lua_next see an empty table, lua_getfield and template_table_next the contents). Inside,
 * load("path") returns another such file's value. */
bool template_load_table(struct template_engine *engine, const char *path, struct error *error);

/* As template_load_table, but calls `function` with the value on top of the stack, in protected mode: it may raise Lua
 * errors, which become `error` (ERROR_RUN). The stack is as before afterwards. */
bool template_with_table(struct template_engine *engine, const char *path, void (*function)(lua_State *, void *),
                         void *context, struct error *error);

/* As lua_next, for a table that template_load_table gave or one in it. */
int template_table_next(lua_State *L, int index);

/* Calls the function that stands on the Lua stack below its `arguments`, in protected mode and within the limits of one
 * render; they are replaced by `results` values. On an error the stack is cut to below the function. */
bool template_call(struct template_engine *engine, int arguments, int results, struct error *error);

lua_State *template_engine_lua(struct template_engine *engine);

/* The paths below templates/ that the engine can see, sorted; `prefix` filters ("arch/"). Owned by the engine. */
const char *const *template_list(struct template_engine *engine, const char *prefix, size_t *count);

/* Of them the tables of chips: "arch/gfx….lua", "arch/sm_….lua". */
const char *const *template_chips(struct template_engine *engine, size_t *count);
bool template_is_chip(const char *path);

#endif

/* The template engine: `//% lua` lines, `$(expr)` values, `$$(` for a literal `$(`. See docs/templates.md.
 * An engine holds one Lua state in which every template is compiled once; rendering again costs only its run. */
#ifndef GEN_TEMPLATE_H
#define GEN_TEMPLATE_H

#include <lua.h>

#include "error.h"
#include "text.h"

struct template_engine;

/* `override_dir`: a folder whose files replace those compiled into the binary (--template-dir); NULL: none. */
struct template_engine *template_engine_new(const char *override_dir, struct error *error);
void template_engine_free(struct template_engine *engine); /* NULL is accepted */

/* Runs `templates/<path>`, appending its text to `out` (unchanged on error). `prepare`, called with the environment table of this run on top of
 * the Lua stack, adds what the template may name (tables `spec`, `arch`, functions); it must leave the stack as it was.
 * Names that a run defines as globals last for that run. Errors read
 * "templates/ops/forward.hip:41: undefined name 'block_q'" followed by the source line. A template's call of fail("…")
 * becomes an ERROR_USAGE with exactly that text, everything else ERROR_RUN. */
bool template_render(struct template_engine *engine, const char *path, void (*prepare)(lua_State *, void *),
                     void *context, struct text *out, struct error *error);

/* Runs `templates/<path>`, a plain Lua file that returns a value (a chip table), in the same restricted environment and
 * leaves the value on the stack of template_engine_lua(). The value is cached and must not be changed. Inside, load("path") returns another such file's value. */
bool template_load_table(struct template_engine *engine, const char *path, struct error *error);

lua_State *template_engine_lua(struct template_engine *engine);

/* The paths below templates/ that the engine can see, sorted; `prefix` filters ("arch/"). Owned by the engine. */
const char *const *template_list(struct template_engine *engine, const char *prefix, size_t *count);

#endif

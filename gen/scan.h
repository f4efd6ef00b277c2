/* Translates a template into Lua: one line of the template is one line of Lua, so that Lua's line numbers are right.
 * A line of text becomes `;;__text("literal", value, "literal", …);`: the semicolons keep it from completing a
 * statement that a control line left unfinished. */
#ifndef GEN_SCAN_H
#define GEN_SCAN_H

#include "error.h"
#include "text.h"

/* Appends the Lua text to `lua`. `name` is what errors call the file ("templates/ops/forward.hip"). */
bool scan_template(const char *name, const char *bytes, size_t length, struct text *lua, struct error *error);

/* The part of `line` between the parentheses of its `index`th (from 0) substitution, NULL if there is none. */
const char *scan_expression(const char *line, size_t length, int index, size_t *expression_length);

/* The `number`th line (from 1) of a file, without its end; NULL if there is none. */
const char *scan_line(const char *bytes, size_t length, int number, size_t *line_length);

/* Whether a line of a template is control, that is, begins with //%. */
bool scan_is_control(const char *line, size_t length);

#endif

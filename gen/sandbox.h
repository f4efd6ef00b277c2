/* What templates may name: a part of Lua's library in which equal input gives equal text (no addresses, no random
 * numbers, tables walked in the order of their keys), and nothing that reaches the machine. */
#ifndef GEN_SANDBOX_H
#define GEN_SANDBOX_H

#include <lua.h>

/* Takes `steps` from what a run may use, as if so many instructions had run; raises an error when they are used up. */
typedef void (*sandbox_charge)(lua_State *L, double steps);

/* Pushes a table of the allowed functions and libraries. A function whose work its arguments decide (patterns,
 * string.rep) is charged for the most that it may do. Call once per state, in protected mode. */
void sandbox_push(lua_State *L, sandbox_charge charge);

/* Replaces the table on top of the stack, and every table in it, by read-only views. */
void sandbox_freeze(lua_State *L);

/* As lua_next, for a table or a read-only view at `index`. */
int sandbox_next(lua_State *L, int index);

#endif

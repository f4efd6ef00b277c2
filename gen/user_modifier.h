/* A modifier from outside: the template that a user gives with --modifier. */
#ifndef GEN_USER_MODIFIER_H
#define GEN_USER_MODIFIER_H

#include "spec.h"

/* The path below templates/ under which other templates include it. */
#define USER_MODIFIER_TEMPLATE "modifiers/user.hip"

/* Reads the file, gives its text to the engine and puts its path and its hash into the spec. */
bool user_modifier_open(const char *path, struct template_engine *engine, struct spec *spec, struct error *error);

#endif

/* Options of the spec that may bring numbers in place of a word: --window 1024,0. They mean that the feature is on; the
 * numbers are arguments of the kernel, which verification runs it with, and change nothing in its text. */
#ifndef GEN_CLI_NUMBERS_H
#define GEN_CLI_NUMBERS_H

#include <stdbool.h>

#include "error.h"
#include "modifiers.h"
#include "spec.h"

/* How the numbers of a field are written, for people: "L,R"; NULL: it takes none. */
const char *numbers_form(const struct spec_field *field);

/* Whether the text begins as a number does. */
bool numbers_begin(const char *text);

/* Takes the numbers of a field that has a form. */
bool numbers_parse(const struct spec_field *field, const char *text, struct modifiers_values *values,
                   struct error *error);

#endif

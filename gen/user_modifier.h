/* A modifier from outside: the template that a user gives with --modifier. */
#ifndef GEN_USER_MODIFIER_H
#define GEN_USER_MODIFIER_H

#include "instance.h"
#include "reference.h"
#include "spec.h"

/* The path below templates/ under which other templates include it. */
#define USER_MODIFIER_TEMPLATE "modifiers/user.hip"

/* Reads the file, gives its text to the engine and puts its path and its hash into the spec. */
bool user_modifier_open(const char *path, struct template_engine *engine, struct spec *spec, struct error *error);

/* What verification takes of a modifier: the values and buffers of its arguments, and its reference. */
struct user_reference;

/* Asks the file of an instance that has a modifier. Errors name the file as templates/modifiers/user.hip. */
bool user_reference_open(struct template_engine *engine, const struct instance *instance,
                         struct user_reference **reference, struct error *error);
void user_reference_free(struct user_reference *reference); /* NULL is accepted */

/* A score as the file's `reference` gives it, for reference_problem.modify: `context` is the reference. One thread
 * after another; NAN from the first error on. */
double user_reference_score(void *context, double score, const struct reference_place *place);

/* The first error of user_reference_score, if there was one. */
bool user_reference_failed(const struct user_reference *reference, struct error *error);

/* The i-th value, as the kernel gets it; 0 where the file has none. */
double user_reference_value(const struct user_reference *reference, int i);

/* The i-th buffer for a problem: *elements of *element_bytes bytes each, which the caller frees with free(); *elements
 * is -1 and *contents NULL if the file has no such buffer. */
bool user_reference_buffer(struct user_reference *reference, int i, const struct reference_problem *problem,
                           void **contents, int64_t *elements, size_t *element_bytes, struct error *error);

#endif

/* Expressions over the values of a problem, as a descriptor holds them: grids and constraints. */
#ifndef GEN_EVALUATE_H
#define GEN_EVALUATE_H

#include "instance.h"

/* As instance_evaluate. */
bool evaluate(const char *expression, const struct problem_value *values, int value_count, int64_t *result,
              struct error *error);

/* Whether the text is an expression, whatever its names mean. */
bool evaluate_check(const char *expression, struct error *error);

#endif

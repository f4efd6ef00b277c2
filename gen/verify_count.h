/* What a case's kernel did, as an emulated device counted it. */
#ifndef GEN_VERIFY_COUNT_H
#define GEN_VERIFY_COUNT_H

#include "execute.h"
#include "verify_report.h"

/* Takes the device's counters since the last call into `result`, if it has none yet, and clears them. */
bool verify_counters(const struct execute_target *target, struct verify_case *result, struct error *error);

/* The same for attention. Two more follow from the problem: "key_tiles" and "key_tiles_needed", in tiles of block_m
 * queries and block_k keys; that they differ is a finding. */
bool verify_count(const struct execute_target *target, const struct reference_problem *problem,
                  struct verify_case *result, struct findings *findings, struct error *error);

/* The value of a counter; NAN if the case has none of that name. */
double verify_counter_value(const struct verify_case *one, const char *name, const char *tensor);

#endif

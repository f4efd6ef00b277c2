#include "verify_count.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add(struct verify_case *result, const char *name, const char *tensor, double value) {
    if (result->counter_count == VERIFY_COUNTERS_MAX)
        return;
    struct verify_counter *added = &result->counters[result->counter_count++];
    snprintf(added->name, sizeof added->name, "%s", name);
    snprintf(added->tensor, sizeof added->tensor, "%s", tensor ? tensor : "");
    added->value = value;
}

/* Tiles in which some query of a workgroup, of one of its heads, sees some key. */
static int64_t tiles_needed(const int32_t *field, const struct reference_problem *problem) {
    int64_t fused = field[SPEC_GQA] > 1 ? field[SPEC_GQA] : 1, rows = field[SPEC_BLOCK_M] / fused, tiles = 0;
    int64_t keys = field[SPEC_BLOCK_K];
    for (int64_t head = 0; head < problem->batch * problem->heads_q; head += fused)
        for (int64_t first = 0; first < problem->seqlen_q; first += rows)
            for (int64_t key = 0; key < problem->seqlen_k; key += keys) {
                bool seen = false;
                for (int64_t of = head; of < head + fused && !seen; of++)
                    seen = reference_sees_some(problem, of / problem->heads_q, of % problem->heads_q, first, rows, key,
                                               keys);
                tiles += seen;
            }
    return tiles;
}

bool verify_counters(const struct execute_target *target, struct verify_case *result, struct error *error) {
    const fmha_counter *list;
    size_t count;
    if (fmha_device_counters(target->device, &list, &count) != FMHA_OK)
        return error_set(error, ERROR_RUN, "counters: %s", fmha_last_error());
    for (size_t index = result->counter_count ? count : 0; index < count; index++)
        if (!list[index].tensor || !strstr(list[index].tensor, ":0x")) /* of an instruction: report_run.h */
            add(result, list[index].name, list[index].tensor, (double)list[index].value);
    if (fmha_device_clear_counters(target->device) != FMHA_OK)
        return error_set(error, ERROR_RUN, "counters: %s", fmha_last_error());
    return true;
}

bool verify_count(const struct execute_target *target, const struct reference_problem *problem,
                  struct verify_case *result, struct error *error) {
    bool first = !result->counter_count;
    if (!verify_counters(target, result, error))
        return false;
    if (first && result->counter_count) {
        double matrix = verify_counter_value(result, "matrix_instructions", "");
        if (target->instance->matrix_per_tile > 0)
            add(result, "key_tiles", NULL, matrix / target->instance->matrix_per_tile);
        add(result, "key_tiles_needed", NULL, (double)tiles_needed(target->instance->spec.value, problem));
    }
    return true;
}

double verify_counter_value(const struct verify_case *one, const char *name, const char *tensor) {
    for (int index = 0; index < one->counter_count; index++)
        if (strcmp(one->counters[index].name, name) == 0 && strcmp(one->counters[index].tensor, tensor) == 0)
            return one->counters[index].value;
    return NAN;
}

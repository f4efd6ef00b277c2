#include "verify_report.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "json.h"
#include "verify_count.h"

/* What three decimals show as zero is not shown as -0.000. */
static double without_sign_of_zero(double value) {
    return fabs(value) < 5e-4 ? 0 : value;
}

static void put_number(struct text *out, int width, double value) {
    if (isnan(value))
        text_printf(out, "  %*s", width, "-");
    else
        text_printf(out, "  %*.3f", width, without_sign_of_zero(value));
}

/* The numbers of a shape as --shape has them. */
static int shape_numbers(enum spec_operation operation, const struct verify_case *one, int64_t numbers[5]) {
    const struct verify_shape *s = &one->shape;
    const struct verify_pack_shape *p = &one->pack_shape;
    const struct verify_merge_shape *m = &one->merge_shape;
    const struct verify_append_shape *a = &one->append_shape;
    const struct verify_quantize_shape *q = &one->quantize_shape;
    switch (operation) {
    case SPEC_OP_PACK:
        memcpy(numbers, (int64_t[]){p->batch, p->heads, p->seqlen, p->head_dim}, 4 * sizeof *numbers);
        return 4;
    case SPEC_OP_APPEND:
        memcpy(numbers, (int64_t[]){a->batch, a->heads, a->seqlen_new, a->seqlen_k}, 4 * sizeof *numbers);
        return 4;
    case SPEC_OP_QUANTIZE:
        memcpy(numbers, (int64_t[]){q->batch, q->heads, q->seqlen}, 3 * sizeof *numbers);
        return 3;
    case SPEC_OP_MERGE:
        memcpy(numbers, (int64_t[]){m->splits, m->batch, m->heads, m->seqlen, m->head_dim}, 5 * sizeof *numbers);
        return 5;
    default:
        memcpy(numbers, (int64_t[]){s->batch, s->heads_q, s->heads_k, s->seqlen_q, s->seqlen_k}, 5 * sizeof *numbers);
        return 5;
    }
}

void verify_shape_text(const int64_t *numbers, int count, char text[VERIFY_SHAPE_BYTES]) {
    for (int i = 0, end = 0; i < count; i++)
        end += snprintf(text + end, VERIFY_SHAPE_BYTES - (size_t)end, "%s%" PRId64, i ? "," : "", numbers[i]);
}

/* The first columns of each table: what a case is about and its shape. */
static void put_case(const struct verify_report *report, const struct verify_case *one, struct text *out) {
    int64_t numbers[5];
    char shape[VERIFY_SHAPE_BYTES];
    verify_shape_text(numbers, shape_numbers(report->operation, one, numbers), shape);
    text_printf(out, "%-32s  %-16s", one->what, shape);
}

static void put_count(struct text *out, int width, const struct verify_case *one, const char *name,
                      const char *tensor) {
    double value = verify_counter_value(one, name, tensor);
    if (isnan(value))
        text_printf(out, "  %*s", width, "-");
    else
        text_printf(out, "  %*.10g", width, value);
}

static bool is_counted(const struct verify_report *report) {
    for (size_t index = 0; index < report->case_count; index++)
        if (report->cases[index].counter_count)
            return true;
    return false;
}

static void put_counts(const struct verify_report *report, struct text *out) {
    const bool of_cache = report->operation != SPEC_OP_FORWARD;
    text_printf(out, "\n%-32s  %-16s  %9s  %9s  %9s  %9s  %9s  %9s  %10s  %10s  %10s  %10s  %10s%s\n", "counted",
                "B,HQ,HK,SQ,SK", "key tiles", "needed", "matrix", "LDS read", "LDS write", "conflicts", "q read",
                "k read", "v read", "o written", "lse writ.", of_cache ? "   cache/key  asked/key" : "");
    for (size_t index = 0; index < report->case_count; index++) {
        const struct verify_case *one = &report->cases[index];
        put_case(report, one, out);
        put_count(out, 9, one, "key_tiles", "");
        put_count(out, 9, one, "key_tiles_needed", "");
        put_count(out, 9, one, "matrix_instructions", "");
        put_count(out, 9, one, "lds_reads", "");
        put_count(out, 9, one, "lds_writes", "");
        put_count(out, 9, one, "lds_conflict_cycles", "");
        put_count(out, 10, one, "bytes_read", "q");
        put_count(out, 10, one, "bytes_read", "k");
        put_count(out, 10, one, "bytes_read", "v");
        put_count(out, 10, one, "bytes_written", "o");
        put_count(out, 10, one, "bytes_written", "lse");
        if (of_cache) {
            put_count(out, 10, one, "cache_bytes_per_key", "");
            put_count(out, 9, one, "cache_bytes_asked_per_key", "");
        }
        text_puts(out, "\n");
    }
}

/* ---- Right or wrong: no bounds, another shape ---- */

/* Of an operation whose elements are right or wrong. */
struct exact_table {
    const char *shape, *right;        /* what its numbers are; what passing means */
    const char *read[3], *written[3]; /* tensors that are counted, NULL behind the last */
    bool lds;                         /* what happens there is counted */
};

static const struct exact_table *exact_table(enum spec_operation operation) {
    static const struct exact_table pack = {"B,H,S,D", "every bit as it must be", {"from"}, {"to"}, true};
    static const struct exact_table append = {
        "B,H,N,S", "every element as it must be", {"k_new", "v_new"}, {"k", "v"}, false};
    static const struct exact_table quantize = {"B,H,S", "every element as it must be", {"from"}, {"to"}, false};
    switch (operation) {
    case SPEC_OP_PACK:
        return &pack;
    case SPEC_OP_APPEND:
        return &append;
    case SPEC_OP_QUANTIZE:
        return &quantize;
    default:
        return NULL;
    }
}

/* Below the line of a case. Whether it has any. */
static bool put_findings(const struct verify_case *one, struct text *out) {
    for (size_t line = 0; line < one->finding_count; line++)
        text_printf(out, "    %s\n", one->findings[line]);
    return one->finding_count > 0;
}

/* The last line; `right`: what passing means. */
static void put_verdict(const struct verify_report *report, size_t failed, const char *right, struct text *out) {
    if (failed)
        text_printf(out, "\nFAILED: %zu of %zu cases\n", failed, report->case_count);
    else
        text_printf(out, "\npassed: %zu case%s, %s\n", report->case_count, report->case_count == 1 ? "" : "s", right);
}

static void put_exact_counts(const struct verify_report *report, const struct exact_table *table, struct text *out) {
    text_printf(out, "\n%-32s  %-16s", "counted", table->shape);
    if (table->lds)
        text_printf(out, "  %9s  %9s  %9s", "LDS read", "LDS write", "conflicts");
    for (int i = 0; table->read[i]; i++)
        text_printf(out, "  %5s read", table->read[i]);
    for (int i = 0; table->written[i]; i++)
        text_printf(out, "  %2s written", table->written[i]);
    text_puts(out, "\n");
    for (size_t index = 0; index < report->case_count; index++) {
        const struct verify_case *one = &report->cases[index];
        put_case(report, one, out);
        static const char *const of_lds[] = {"lds_reads", "lds_writes", "lds_conflict_cycles"};
        for (int i = 0; table->lds && i < 3; i++)
            put_count(out, 9, one, of_lds[i], "");
        for (int i = 0; table->read[i]; i++)
            put_count(out, 10, one, "bytes_read", table->read[i]);
        for (int i = 0; table->written[i]; i++)
            put_count(out, 10, one, "bytes_written", table->written[i]);
        text_puts(out, "\n");
    }
}

static void put_exact_table(const struct verify_report *report, const struct exact_table *table, struct text *out) {
    size_t failed = 0;
    text_printf(out, "%s on %s\n\n", report->instance, report->device);
    text_printf(out, "%-32s  %-16s  %-20s  %s\n", "case", table->shape, "layout", "findings");
    for (size_t index = 0; index < report->case_count; index++) {
        const struct verify_case *one = &report->cases[index];
        put_case(report, one, out);
        text_printf(out, "  %-20s  %zu\n", one->layout, one->finding_count);
        failed += put_findings(one, out);
    }
    if (is_counted(report))
        put_exact_counts(report, table, out);
    put_verdict(report, failed, table->right, out);
}

/* ---- Merge: no mean, another shape ---- */

static void put_merge_counts(const struct verify_report *report, struct text *out) {
    text_printf(out, "\n%-32s  %-16s  %10s  %11s  %10s  %10s\n", "counted", "N,B,H,S,D", "o_p. read", "lse_p. read",
                "o written", "lse writ.");
    for (size_t index = 0; index < report->case_count; index++) {
        const struct verify_case *one = &report->cases[index];
        put_case(report, one, out);
        put_count(out, 10, one, "bytes_read", "o_partial");
        put_count(out, 11, one, "bytes_read", "lse_partial");
        put_count(out, 10, one, "bytes_written", "o");
        put_count(out, 10, one, "bytes_written", "lse");
        text_puts(out, "\n");
    }
}

static void put_merge_table(const struct verify_report *report, struct text *out) {
    size_t failed = 0;
    text_printf(out, "%s on %s\n\n", report->instance, report->device);
    text_printf(out, "%-32s  %-16s  %-10s  %-15s  %7s  %7s  %s\n", "case", "N,B,H,S,D", "inputs", "layout", "O/bound",
                "LSE/bnd", "findings");
    for (size_t index = 0; index < report->case_count; index++) {
        const struct verify_case *one = &report->cases[index];
        put_case(report, one, out);
        text_printf(out, "  %-10s  %-15s", one->inputs, one->layout);
        put_number(out, 7, one->max_error_over_bound);
        put_number(out, 7, one->lse_error_over_bound);
        text_printf(out, "  %zu\n", one->finding_count);
        failed += put_findings(one, out);
    }
    if (is_counted(report))
        put_merge_counts(report, out);
    put_verdict(report, failed, "each element within its bound", out);
}

/* ---- Tables ---- */

void verify_report_table(const struct verify_report *report, struct text *out) {
    size_t failed = 0;
    const struct exact_table *exact = exact_table(report->operation);
    if (exact) {
        put_exact_table(report, exact, out);
        return;
    }
    if (report->operation == SPEC_OP_MERGE) {
        put_merge_table(report, out);
        return;
    }
    text_printf(out, "%s on %s\n\n", report->instance, report->device);
    text_printf(out, "%-32s  %-16s  %-15s  %-20s  %7s  %7s  %7s  %7s  %s\n", "case", "B,HQ,HK,SQ,SK", "inputs",
                "layout", "O/bound", "LSE/bnd", "mean", "mean/bd", "findings");
    for (size_t index = 0; index < report->case_count; index++) {
        const struct verify_case *one = &report->cases[index];
        put_case(report, one, out);
        text_printf(out, "  %-15s  %-20s", one->inputs, one->layout);
        put_number(out, 7, one->max_error_over_bound);
        put_number(out, 7, one->lse_error_over_bound);
        put_number(out, 7, one->mean_error);
        put_number(out, 7, one->mean_error_over_bound);
        text_printf(out, "  %zu\n", one->finding_count);
        failed += put_findings(one, out);
    }
    if (is_counted(report))
        put_counts(report, out);
    if (!isnan(report->mean_error))
        text_printf(out,
                    "\nmean error of O in all random cases: %.3f half units in the last place, %.3f times its bound\n",
                    without_sign_of_zero(report->mean_error), report->mean_error_over_bound);
    if (!failed && !report->passed)
        text_printf(
            out, "\nFAILED: each element is within its bound, but O is off on average: P or O may be truncated where "
                 "it must be rounded to nearest even\n");
    else
        put_verdict(report, failed, "each element within its bound", out);
}

/* cJSON writes NAN and infinities as null. */
static bool add_number(cJSON *object, const char *name, double value) {
    return cJSON_AddNumberToObject(object, name, value) != NULL;
}

/* {"matrix_instructions": 64, ..., "tensors": {"k": {"bytes_read": 8192, ...}}} */
static bool add_counters(cJSON *object, const struct verify_case *one) {
    cJSON *counters = cJSON_AddObjectToObject(object, "counters");
    cJSON *tensors = counters ? cJSON_AddObjectToObject(counters, "tensors") : NULL;
    bool done = tensors != NULL;
    for (int index = 0; done && index < one->counter_count; index++) {
        const struct verify_counter *counter = &one->counters[index];
        cJSON *to = counters;
        if (counter->tensor[0]) {
            to = cJSON_GetObjectItemCaseSensitive(tensors, counter->tensor);
            to = to ? to : cJSON_AddObjectToObject(tensors, counter->tensor);
        }
        done = to && add_number(to, counter->name, counter->value);
    }
    return done;
}

static bool add_errors(cJSON *object, const struct verify_case *one, bool attention) {
    return add_number(object, "max_error_over_bound", one->max_error_over_bound) &&
           add_number(object, "lse_error_over_bound", one->lse_error_over_bound) &&
           (!attention || (add_number(object, "mean_error", one->mean_error) &&
                           add_number(object, "mean_error_over_bound", one->mean_error_over_bound)));
}

static bool add_list(cJSON *object, const char *name, const int64_t *list, int64_t count) {
    cJSON *array = list ? cJSON_AddArrayToObject(object, name) : NULL;
    for (int64_t index = 0; array && index < count; index++)
        if (!cJSON_AddItemToArray(array, cJSON_CreateNumber((double)list[index])))
            return false;
    return !list || array;
}

/* Of what the instance has: "window": [37, 11], "softcap": 20, "seqlens_q": [5, 0], ... */
static bool add_values(cJSON *object, const struct verify_case *one) {
    const struct modifiers_values *values = &one->values;
    const int64_t window[] = {values->window_left, values->window_right};
    return add_list(object, "window", values->window_left == MODIFIERS_OWN ? NULL : window, 2) &&
           (values->sink_keys == MODIFIERS_OWN || add_number(object, "sink_keys", (double)values->sink_keys)) &&
           add_list(object, "prefix", one->prefix, one->shape.batch) &&
           (isnan(values->softcap) || add_number(object, "softcap", values->softcap)) &&
           (isnan(values->dropout) || add_number(object, "dropout", values->dropout)) &&
           add_list(object, "seqlens_q", one->lengths_q, one->shape.batch) &&
           add_list(object, "seqlens_k", one->lengths_k, one->shape.batch) &&
           (!one->page_size || add_number(object, "page_size", (double)one->page_size));
}

static bool add_case(cJSON *cases, const struct verify_case *one, enum spec_operation operation) {
    cJSON *object = cJSON_CreateObject();
    if (!object || !cJSON_AddItemToArray(cases, object)) {
        cJSON_Delete(object);
        return false;
    }
    bool exact = exact_table(operation) != NULL, attention = !exact && operation != SPEC_OP_MERGE;
    int64_t numbers[5];
    int count = shape_numbers(operation, one, numbers);
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, one->seed);
    cJSON *shape = cJSON_AddArrayToObject(object, "shape");
    bool done = shape != NULL;
    for (int index = 0; done && index < count; index++)
        done = cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)numbers[index]));
    done = done && cJSON_AddStringToObject(object, "what", one->what) &&
           cJSON_AddStringToObject(object, "inputs", one->inputs) &&
           cJSON_AddStringToObject(object, "layout", one->layout) &&
           (!attention || (add_number(object, "scale", one->scale) && add_values(object, one))) &&
           cJSON_AddRawToObject(object, "seed", seed) && /* 64 bits do not pass through a double */
           (exact || add_errors(object, one, attention));
    cJSON *findings = done ? cJSON_AddArrayToObject(object, "findings") : NULL;
    done = done && findings;
    for (size_t line = 0; done && line < one->finding_count; line++)
        done = cJSON_AddItemToArray(findings, cJSON_CreateString(one->findings[line]));
    return done && (one->counter_count == 0 || add_counters(object, one));
}

bool verify_report_json(const struct verify_report *report, struct text *out, struct error *error) {
    cJSON *object = cJSON_CreateObject(), *cases = NULL;
    bool attention = !exact_table(report->operation) && report->operation != SPEC_OP_MERGE,
         done = object && cJSON_AddStringToObject(object, "instance", report->instance) &&
                cJSON_AddStringToObject(object, "device", report->device) &&
                cJSON_AddBoolToObject(object, "passed", report->passed) &&
                (!attention || (add_number(object, "mean_error", report->mean_error) &&
                                add_number(object, "mean_error_over_bound", report->mean_error_over_bound))) &&
                (cases = cJSON_AddArrayToObject(object, "cases")) != NULL;
    for (size_t index = 0; done && index < report->case_count; index++)
        done = add_case(cases, &report->cases[index], report->operation);
    return json_print(object, done, out) || error_set(error, ERROR_RUN, "no memory for the report as JSON");
}

bool verify_report_run(struct verify_report *report, size_t count, bool fail_fast, verify_run_case run, void *context,
                       struct error *error) {
    report->cases = calloc(count + 1, sizeof *report->cases);
    if (!report->cases)
        return error_set(error, ERROR_RUN, "no memory for a report of %zu cases", count);
    report->passed = true;
    for (size_t index = 0; index < count; index++) {
        struct verify_case *one = &report->cases[index];
        report->case_count++; /* what there is of it is freed with the report */
        if (!run(context, index, one))
            return false;
        report->passed = report->passed && one->finding_count == 0;
        if (fail_fast && !report->passed)
            break;
    }
    return true;
}

bool verify_case_end(struct verify_case *result, struct findings *findings, bool done, struct error *error) {
    if (done && findings->failed)
        done = error_set(error, ERROR_RUN, "no memory for the findings of case '%s'", result->what);
    if (!done) {
        findings_free(findings);
        return false;
    }
    result->findings = findings->lines;
    result->finding_count = findings->count;
    return true;
}

void verify_report_free(struct verify_report *report) {
    for (size_t index = 0; index < report->case_count; index++) {
        for (size_t line = 0; line < report->cases[index].finding_count; line++)
            free(report->cases[index].findings[line]);
        free(report->cases[index].findings);
        free(report->cases[index].lengths_q);
        free(report->cases[index].lengths_k);
        free(report->cases[index].prefix);
    }
    free(report->cases);
    *report = (struct verify_report){.passed = false, .mean_error = NAN, .mean_error_over_bound = NAN};
}

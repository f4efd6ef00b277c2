/* What a kernel does for whole problems: it is run on the device that executes machine code, and counted. */
#ifndef GEN_REPORT_RUN_H
#define GEN_REPORT_RUN_H

#include "instance.h"
#include "json.h"
#include "report.h"

/* Of one instruction of report.assembly, summed over waves. */
struct report_counts {
    double executed, entered; /* entered: how often control came to the basic block that it begins */
    double accesses, bytes, lines, bank_cycles, bank_conflict_cycles;
    double waits, wait_work, wait_work_least;
};

struct report_problem {
    struct verify_shape shape;
    double pairs;               /* of queries of all heads and keys that they see */
    struct verify_case counted; /* its counters; findings are an error */
    struct report_counts *instructions;
    double *executions; /* of each block */
    double useful,
        useful_in_body; /* instructions (or multiply-adds) that were executed, and those of them in the body */
    struct issue_work work;
    struct issue_bound bound;          /* the static costs of each block times its executions */
    struct issue_bound bound_conflict; /* with the bank cycles that were counted */
};

/* Runs `object`, the instance's, for each shape of the request, after report->assembly was filled. What was found is
 * an ERROR_RUN. Resources are the report's. */
bool report_run_shapes(const struct report_request *request, const struct instance *instance, const void *object,
                       size_t object_bytes, struct report *report, struct error *error);
void report_run_free(struct report *report);

/* Once the report's loops are known: what of each run lay in the body. */
void report_run_roles(struct report *report);

/* Different bytes of all tensors that a run read and wrote. */
double report_run_bytes(const struct report_problem *problem);

/* Their parts of the report's two forms; nothing where nothing was run. */
void report_run_table(const struct report *report, struct text *out);
void report_run_json(struct json *json, cJSON *root, const struct report *report);

#endif

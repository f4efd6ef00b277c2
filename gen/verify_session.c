#include "verify_session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "index_text.h"
#include "verify_count.h"

bool verify_session_options(const struct verify_session *session, const char *no_scores, const char *own_inputs) {
    const struct verify_options *options = session->options;
    if (!isnan(options->scale))
        return error_set(session->error, ERROR_USAGE, "--scale: expected none, for %s, got %g; leave it out", no_scores,
                         options->scale);
    if (options->inputs != VERIFY_INPUTS_DEFAULT)
        return error_set(session->error, ERROR_USAGE, "--inputs: expected none, for %s, got one; leave it out",
                         own_inputs);
    return true;
}

void *verify_session_room(const struct verify_session *session, size_t count, size_t case_bytes) {
    void *cases = calloc(count, case_bytes);
    if (!cases)
        error_set(session->error, ERROR_RUN, "no memory for %zu cases; ask for fewer shapes", count);
    return cases;
}

/* A real device has no such memory, and counting looks at each byte between. */
bool verify_session_reaches(const struct verify_session *session) {
    return !session->options->count && verify_device_is_here(session->options->device);
}

bool verify_session_keeps(const struct verify_session *session, enum array_placing *placing) {
    enum verify_layout layout = session->options->layout;
    if (*placing == ARRAY_FAR)
        return verify_session_reaches(session);
    if (layout != VERIFY_LAYOUT_DEFAULT)
        *placing = layout == VERIFY_LAYOUT_BSHD ? ARRAY_ROWS_OUTSIDE : ARRAY_PLAIN;
    return true;
}

bool verify_session_too_large(const struct verify_session *session, const char *shape) {
    return error_set(session->error, ERROR_USAGE,
                     "shape %s: expected tensors that fit into memory, got more bytes than 63 bits count; use a "
                     "smaller shape",
                     shape);
}

bool verify_session_serves(const struct verify_session *session, verify_name_call name, void *context) {
    struct fmha_index *index = NULL;
    bool served = index_of_instance(session->instance, &index, session->error);
    for (size_t at = 0; served && at < session->case_count; at++) {
        struct verify_call call;
        served = name(context, at, &call);
        for (int buffer = 0; buffer < FMHA_BUFFER_COUNT; buffer++)
            call.operands.buffer[buffer] = (void *)(uintptr_t)256;
        served = served && execute_serves(fmha_index_at(index, 0), &call.operands, call.shape, session->error);
    }
    fmha_index_free(index);
    return served;
}

bool verify_session_run(struct verify_session *session, const struct execute_options *execution,
                        struct verify_report *report, verify_run_case run, void *context) {
    const struct verify_options *options = session->options;
    if (!execute_open(report->device, session->instance, execution, &session->target, session->error))
        return false;
    bool done = execute_seed(&session->target, options->seed, session->error) &&
                verify_report_run(report, session->case_count, options->fail_fast, run, context, session->error);
    execute_close(&session->target);
    return done;
}

void verify_session_begin(const struct verify_session *session, size_t index, const char *what, const char *inputs,
                          const char *layout, struct verify_case *result) {
    const struct verify_options *options = session->options;
    *result = (struct verify_case){.scale = NAN,
                                   .seed = options->seed + index,
                                   .max_error_over_bound = NAN,
                                   .lse_error_over_bound = NAN,
                                   .mean_error = NAN,
                                   .mean_error_over_bound = NAN};
    snprintf(result->what, sizeof result->what, "%s", what);
    snprintf(result->inputs, sizeof result->inputs, "%s", inputs);
    snprintf(result->layout, sizeof result->layout, "%s", layout);
    if (options->progress)
        options->progress(options->progress_context, index, session->case_count, what);
}

bool verify_session_schedules(struct verify_session *session, struct verify_case *result,
                              const struct findings *findings, verify_run_once run, void *context) {
    const struct verify_options *options = session->options;
    bool done = run(context, "") && verify_counters(&session->target, result, session->error);
    for (int schedule = 1; done && schedule < options->schedules && !findings->count; schedule++) {
        char when[48];
        snprintf(when, sizeof when, " in schedule %d", schedule + 1);
        done = execute_seed(&session->target, options->seed + (uint64_t)schedule, session->error) && run(context, when);
    }
    return done && execute_seed(&session->target, options->seed, session->error);
}

bool verify_session_launch(const struct verify_session *session, struct verify_call *call, void *const *contents,
                           void *const *results, struct findings *findings) {
    fmha_device *device = session->target.device;
    bool done = true;
    for (int side = 0; done && side < session->side_count; side++) {
        struct array *array = &call->arrays[side];
        if (!contents[side] && !results[side])
            continue;
        done = array_send(array, device, contents[side], session->error);
        call->operands.buffer[session->sides[side].buffer] = done ? array_address(array) : NULL;
    }
    done = done && execute_launch(&session->target, &call->operands, call->shape, findings, session->error);
    for (int side = 0; done && side < session->side_count; side++)
        if (contents[side] || results[side])
            done = array_check(&call->arrays[side], device, results[side], findings, session->error);
    for (int side = 0; side < session->side_count; side++)
        array_release(&call->arrays[side], device);
    return done;
}

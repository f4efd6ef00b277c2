/* Forward attention: the public functions. */
#include <stddef.h>

#include "attention.h"
#include "driver.h"
#include "problem.h"

/* Of the fields that every version has had: up to `stream`, whatever comes after it. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_forward_problem, stream) + sizeof(void *))

/* Reads the problem. `launch`: its tensors must be there. */
static fmha_status read_problem(const fmha_device *device, const void *given, bool launch,
                                struct fmha_request *request) {
    fmha_forward_problem room;
    const fmha_forward_problem *p = fmha_problem_begin("fmha_forward", "fmha_forward_problem", device, given,
                                                       STRUCT_BYTES_FIRST, &room, sizeof room);
    return p == NULL ? FMHA_ERROR_ARGUMENT
                     : fmha_attention_read("fmha_forward", device, FMHA_KEY_FORWARD, p, launch, request);
}

fmha_status fmha_forward(fmha_device *device, const fmha_forward_problem *problem) {
    return fmha_problem_launch(device, read_problem, problem);
}

fmha_status fmha_forward_prepare(fmha_device *device, const fmha_forward_problem *problem) {
    return fmha_problem_prepare(device, read_problem, problem);
}

fmha_status fmha_forward_workspace_bytes(fmha_device *device, const fmha_forward_problem *problem, size_t *bytes) {
    if (bytes == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_forward_workspace_bytes: expected a place for the size, got NULL; "
                                              "pass a valid pointer");
    }
    *bytes = 0; /* no instance of this operation needs any */
    return fmha_forward_prepare(device, problem);
}

fmha_status fmha_forward_explain(fmha_device *device, const fmha_forward_problem *problem, fmha_explain_visit visit,
                                 void *context) {
    struct fmha_request request;
    if (visit == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_forward_explain: expected a function to call, got NULL; pass a "
                                              "valid pointer");
    }
    fmha_status status = read_problem(device, problem, false, &request);
    return status != FMHA_OK ? status : fmha_dispatch_explain(device, &request.key, &request.operands, visit, context);
}

fmha_status fmha_forward_tune(fmha_device *device, const fmha_forward_problem *problem,
                              const fmha_tune_options *options, fmha_tune_visit visit, void *context) {
    struct fmha_request request;
    fmha_status status = read_problem(device, problem, true, &request);
    return status != FMHA_OK ? status
                             : fmha_tune(device, "fmha_forward_tune", &request.key, &request.operands, request.stream,
                                         options, visit, context);
}

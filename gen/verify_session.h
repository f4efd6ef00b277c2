/* How instances of small operations are verified: append, quantize, merge and pack, whose cases are a few tensors each.
 * Which options such an operation has, which cases run, on what device, in how many orders of the waves, and how each
 * begins and ends. */
#ifndef GEN_VERIFY_SESSION_H
#define GEN_VERIFY_SESSION_H

#include "array.h"
#include "execute.h"
#include "verify.h"

/* What kernels of an operation take and give: its name and where libfmha has it. */
struct verify_side {
    const char *name;
    enum fmha_buffer buffer;
};
enum { VERIFY_SIDES_MAX = 12 };

/* What is fixed for all cases of one instance; sessions of operations begin with it. */
struct verify_session {
    const struct verify_options *options;
    const struct instance *instance;
    const struct verify_side *sides;
    int side_count;
    struct execute_target target; /* of the cases that run */
    size_t case_count;
    struct error *error; /* of every function that gives false */
};

/* One launch. */
struct verify_call {
    struct fmha_operands operands; /* but for buffers of arrays */
    char shape[VERIFY_SHAPE_BYTES];
    struct array arrays[VERIFY_SIDES_MAX]; /* of each side that is sent, laid out */
};

/* Refuses --scale and --inputs: `no_scores` and `own_inputs` say why, "merge has no scores". */
bool verify_session_options(const struct verify_session *session, const char *no_scores, const char *own_inputs);

/* Zeroed room for `count` cases of so many bytes, which the caller frees; NULL without memory. */
void *verify_session_room(const struct verify_session *session, size_t count, size_t case_bytes);

/* Whether cases run whose tensors span gigabytes of addresses, of which few are memory. */
bool verify_session_reaches(const struct verify_session *session);

/* Whether a case runs whose tensors are so placed; --layout may place them otherwise. */
bool verify_session_keeps(const struct verify_session *session, enum array_placing *placing);

/* Refuses a case whose tensors array_lay could not lay out. False. */
bool verify_session_too_large(const struct verify_session *session, const char *shape);

/* Before anything runs: does the instance serve every case? `name` fills the call of a case, but for its buffers. */
typedef bool (*verify_name_call)(void *context, size_t index, struct verify_call *call);
bool verify_session_serves(const struct verify_session *session, verify_name_call name, void *context);

/* Opens the device, runs the cases into the report as verify_report_run does, and closes it. */
bool verify_session_run(struct verify_session *session, const struct execute_options *execution,
                        struct verify_report *report, verify_run_case run, void *context);

/* Says that a case begins and fills what the report has of any, without errors of elements. */
void verify_session_begin(const struct verify_session *session, size_t index, const char *what, const char *inputs,
                          const char *layout, struct verify_case *result);

/* Runs a case as often as there are schedules, each time with the waves in another order; `when`: " in schedule 2", of
 * the first "". Takes the counters of the first run. After a run that has findings there is no other: they would repeat
 * too. */
typedef bool (*verify_run_once)(void *context, const char *when);
bool verify_session_schedules(struct verify_session *session, struct verify_case *result,
                              const struct findings *findings, verify_run_once run, void *context);

/* Sends the arrays of all sides that have contents or room for results, launches, reads them back and frees them.
 * contents[side], NULL: NaN patterns; results[side], NULL: of an input. */
bool verify_session_launch(const struct verify_session *session, struct verify_call *call, void *const *contents,
                           void *const *results, struct findings *findings);

#endif

/* Which of the instances that serve a problem is best on a device: libfmha's tuning, on tensors that are made here. */
#ifndef GEN_TUNE_H
#define GEN_TUNE_H

#include "fmha.h"
#include "key.h"
#include "modifiers.h"
#include "spec.h"
#include "verify_report.h"

struct tune_request {
    fmha_device *device;
    const struct spec *spec; /* resolved; what it computes counts, no knob */
    struct verify_shape shape;
    struct modifiers_values values; /* of its modifiers, where they are given */
    const char *const *libraries;   /* folders whose instances are run, ended by NULL */
    int rounds, warmup_rounds;      /* as fmha_tune_options has them */
    uint64_t seed;
    void (*progress)(void *context, int32_t round, int32_t rounds, const char *instance); /* NULL: never */
    void *progress_context;
};

/* One instance, and what its runs cost; or why it was not run or failed. */
struct tune_member {
    char *instance;
    double median, least, most;
    int runs; /* 0: it was not run to the end */
    bool best;
    char *reason; /* "" where it was; of what was modelled, why it stands behind others */
    /* By the model, in place of runs: `median` is its figure. */
    bool modelled, behind;
    double percent; /* bound of its body, of the matrix rate */
    int waves_per_simd, vgpr, fused;
};

struct tune_outcome {
    struct verify_shape shape;
    struct fmha_key key; /* of the problem */
    char unit[32];       /* "us", "counted cycles", "thousands of cycles of one SIMD" */
    bool modelled;
    struct tune_member *members; /* those that ran first, the best one of all */
    size_t count;
};

/* Tunes; the best becomes the device's choice. False, with nothing to free: no instance serves the problem, there is no
 * memory for its tensors, a driver's error. */
bool tune_run(const struct tune_request *request, struct tune_outcome *outcome, struct error *error);
void tune_outcome_free(struct tune_outcome *outcome);

/* Adds an instance that was never a candidate, and why. False without memory. */
bool tune_outcome_add(struct tune_outcome *outcome, const char *instance, const char *reason);

/* A table for people. */
void tune_table(const struct tune_outcome *outcome, struct text *out);

/* What `fmhagen tune --json` prints: docs/tuning.md. `choices` is the file that was written. */
bool tune_json(const struct tune_outcome *outcomes, size_t count, const char *device, const char *about,
               const char *choices, struct text *out, struct error *error);

#endif

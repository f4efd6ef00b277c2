/* What verification found, for people and for programs. */
#ifndef GEN_VERIFY_REPORT_H
#define GEN_VERIFY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "modifiers.h"
#include "spec.h"
#include "text.h"

struct verify_shape {
    int64_t batch, heads_q, heads_k, seqlen_q, seqlen_k; /* 0 and up; heads 1 and up */
};

/* The same of pack, whose instances serve any head dimension. */
struct verify_pack_shape {
    int64_t batch, heads, seqlen, head_dim; /* 0 and up; heads 1 and up */
};

/* And of merge. */
struct verify_merge_shape {
    int64_t splits, batch, heads, seqlen, head_dim; /* 0 and up; heads and head_dim 1 and up */
};

/* And of append. */
struct verify_append_shape {
    int64_t batch, heads, seqlen_new, seqlen_k; /* 0 and up, seqlen_new at most seqlen_k; heads 1 and up */
};

/* And of quantize. */
struct verify_quantize_shape {
    int64_t batch, heads, seqlen; /* 0 and up; heads 1 and up */
};

/* A shape as --shape has it: "1,2,3" of so many numbers, at most five. */
enum { VERIFY_SHAPE_BYTES = 128 };
void verify_shape_text(const int64_t *numbers, int count, char text[VERIFY_SHAPE_BYTES]);

enum { VERIFY_COUNTERS_MAX = 96 };

/* A number that an emulated device counted, or that follows from such: "matrix_instructions", "bytes_read" of "k". */
struct verify_counter {
    char name[32], tensor[32]; /* tensor: "" if it is about no tensor */
    double value;
};

struct verify_case {
    struct verify_shape shape;
    struct verify_pack_shape pack_shape;         /* in its place, of pack */
    struct verify_merge_shape merge_shape;       /* and of merge */
    struct verify_append_shape append_shape;     /* and of append */
    struct verify_quantize_shape quantize_shape; /* and of quantize */
    char what[64];                               /* what the case is for: "one past each tile" */
    char inputs[24];                             /* "random", "unbalanced", "impulse", "large", "nan-masked", … */
    char layout[32]; /* "bshd", "bhsd", "bhsd, v bshd", with ", padded" where rows are; of pack "bshd to bhsd" */
    double scale;
    struct modifiers_values values;          /* of modifiers that the instance has */
    int64_t page_size;                       /* 0: no pages */
    int64_t *lengths_q, *lengths_k, *prefix; /* [batch]; NULL: the instance has none; owned */
    uint64_t seed;
    double max_error_over_bound; /* of O, over all elements; at most 1 passes */
    double lse_error_over_bound; /* of LSE; NAN where the instance or the case has none */
    double mean_error;           /* signed, in half units in the last place of O; NAN: too few rows to tell */
    double mean_error_over_bound;
    char **findings; /* one line each; none: passed */
    size_t finding_count;
    struct verify_counter counters[VERIFY_COUNTERS_MAX]; /* of the case's first run */
    int counter_count;                                   /* 0: nothing was counted */
};

struct verify_report {
    char instance[SPEC_NAME_MAX];
    enum spec_operation operation;
    char device[64];
    bool passed; /* no case has a finding, and the mean error of all random cases together is within its bound */
    double mean_error, mean_error_over_bound; /* of the random cases together, as in a case */
    struct verify_case *cases;
    size_t case_count;
};

/* Runs `count` cases one after the other into the report, which passes if none has a finding; with `fail_fast` none
 * after the first that has. `run` fills the case of that index. False, and no more cases, when one could not be run. */
typedef bool (*verify_run_case)(void *context, size_t index, struct verify_case *result);
bool verify_report_run(struct verify_report *report, size_t count, bool fail_fast, verify_run_case run, void *context,
                       struct error *error);

/* Ends a case: it gets the findings, or where it could not be run (`done` false) they are freed. */
struct findings;
bool verify_case_end(struct verify_case *result, struct findings *findings, bool done, struct error *error);

void verify_report_free(struct verify_report *report);

/* A table for people: one line a case, the findings below it; a second table of what was counted. */
void verify_report_table(const struct verify_report *report, struct text *out);

/* One JSON object, ending in a newline: instance, device, passed, cases[] of shape, what, inputs, layout, scale, seed,
 * max_error_over_bound, lse_error_over_bound, mean_error, mean_error_over_bound, findings[], where something was
 * counted counters{NAME: number, tensors{LABEL{NAME: number}}}, and mean_error, mean_error_over_bound of the random
 * cases together. NAN is written as null. Of pack, append and quantize, whose elements are right or wrong, there are no
 * scale and no errors; of merge there are no scale and no mean errors.
 */
bool verify_report_json(const struct verify_report *report, struct text *out, struct error *error);

#endif

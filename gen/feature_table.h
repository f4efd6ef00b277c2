/* The features of forward attention, alone and together, and what the tests run of each: a sample always, everything in
 * the long sweep. The tests take what they run from here (`fmhagen list --features --json`), so that the table says
 * what is so. */
#ifndef GEN_FEATURE_TABLE_H
#define GEN_FEATURE_TABLE_H

#include "spec.h"

struct feature {
    const char *name;
    const char *words; /* of the command line: "--window --causal=top-left" */
};

extern const struct feature features[];
extern const size_t feature_count;

enum { FEATURE_DTYPES = 2, FEATURE_HEAD_DIM = 64 /* of features whose words ask for none */ };

enum feature_state {
    FEATURE_NO_INSTRUCTIONS, /* the chip has none for the format */
    FEATURE_REFUSED,         /* by the templates */
    FEATURE_LONG,            /* the long sweep runs it, the ordinary tests do not */
    FEATURE_TESTED           /* the ordinary tests run it */
};

struct feature_chip {
    char arch[SPEC_ARCH_MAX], family[32];
    bool has[FEATURE_DTYPES]; /* instructions, by the words of --dtype */
    bool text_alone;          /* no device here executes its machine code */
};

/* One run of the ordinary tests. */
struct feature_run {
    size_t feature, chip;
    int dtype;
    bool isa, qk; /* the device and the orientation; else emu and kq */
};

/* What one feature cannot be together with, in the templates' own words. */
struct feature_refusal {
    size_t feature;
    const char *beside; /* words of the command line; "": nothing, it is refused by some chip */
    char *because;
};

struct feature_table {
    struct feature_chip *chips; /* by family, then by name */
    size_t chip_count;
    enum feature_state *states; /* [feature][chip][dtype]; see feature_state_of */
    struct feature_run *runs;   /* at most one of each feature and family */
    size_t run_count;
    struct feature_refusal *refusals;
    size_t refusal_count;
};

/* Sets what words of the command line say, "--causal --gqa=2". */
bool feature_set(struct spec *spec, const char *words, struct error *error);

/* Asks the templates about every feature on every chip. On failure `table` needs no free. */
bool feature_table_make(struct template_engine *engine, struct feature_table *table, struct error *error);
void feature_table_free(struct feature_table *table);

enum feature_state feature_state_of(const struct feature_table *table, size_t feature, size_t chip, int dtype);

/* Appends a table, at most 120 columns wide, or with `json` an array that tells of every chip. */
bool feature_table_print(const struct feature_table *table, bool json, struct text *out, struct error *error);

#endif

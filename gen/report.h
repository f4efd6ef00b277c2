/* What a compiled kernel costs: its registers and memory, the instruction mix of its matrix loops, their issue bound.
 */
#ifndef GEN_REPORT_H
#define GEN_REPORT_H

#include "assembly.h"
#include "codeobject.h"
#include "issue_model.h"
#include "modifiers.h"
#include "spec.h"
#include "text.h"
#include "verify_report.h"

/* A resolved spec with the engine that emits it, or the path of a bare ELF code object or of assembly text, or both:
 * then the file is in place of what the instance compiles to. */
struct report_request {
    const struct spec *spec; /* NULL: of `file` nothing else is known */
    struct template_engine *engine;
    const struct instance
        *instance; /* what the spec was emitted as, in place of the engine; NULL: it is emitted here */
    const char *file;
    const char *symbol;                /* kernel of `file`; NULL: its only one */
    const char *arch;                  /* for a file that does not name its chip (disassembly); NULL: none given */
    int wave;                          /* likewise: 32 or 64; 0: 32 on RDNA, 64 on CDNA */
    const struct verify_shape *shapes; /* with a spec: problems whose time is modelled */
    size_t shape_count;
    bool run;                              /* the kernel is run for each of them, on the device "isa" */
    const struct modifiers_values *values; /* that they run with; NULL: the usual ones */
    double clock_ghz;                      /* 0: none given, and no TFLOP/s in the report */
    int compute_units;    /* goes with clock_ghz; 0: none given, the rate is then that of one compute unit */
    double bandwidth_gbs; /* of memory; 0: none given */
};

struct report_loop {
    const struct assembly_loop *loop; /* of report.assembly */
    const char *role;                 /* "body": fewest VALU per useful instruction; "edge": the others */
    struct issue_loop issue;
};

struct report {
    char instance[256]; /* the instance's name, or the symbol in a file */
    char arch[64];      /* "" if unknown */
    int wave;
    bool has_resources; /* disassembly has none */
    struct resources resources;
    struct assembly assembly;
    enum mix_id useful;        /* issue_useful of the chip */
    struct report_loop *loops; /* the innermost loops that hold what is useful, in program order */
    int loop_count;
    struct report_problem *problems; /* report_run.h; one for each shape that was run */
    size_t problem_count;
    struct report_estimate *estimates; /* report_estimate.h; one for each shape */
    size_t estimate_count;
    double clock_ghz, bandwidth_gbs;
    int compute_units;
};

/* Fills the report; on error it is empty. The caller frees it with report_free. ERROR_USAGE: a file that is no kernel,
 * an unknown symbol; ERROR_RUN: no compiler, no disassembler, a failed compilation, memory. A kernel that spills is no
 * error here: see resources_clean. */
bool report_run(const struct report_request *request, struct report *report, struct error *error);
void report_free(struct report *report);

/* The report as a table for people, lines at most 120 wide where labels allow. */
void report_table(const struct report *report, struct text *out);

/* The report as one JSON object and a newline; the names are in docs/report.md and stay. */
bool report_json(const struct report *report, struct text *out, struct error *error);

#endif

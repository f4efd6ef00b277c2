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

/* Either a resolved spec with the engine that emits it, or the path of a bare ELF code object or of assembly text. */
struct report_request {
    const struct spec *spec; /* NULL: `file` is read */
    struct template_engine *engine;
    const char *file;
    const char *symbol;                /* kernel of `file`; NULL: its only one */
    const char *arch;                  /* for a file that does not name its chip (disassembly); NULL: none given */
    int wave;                          /* likewise: 32 or 64; 0: 32 on RDNA, 64 on CDNA */
    const struct verify_shape *shapes; /* with a spec: problems that the kernel is run for, on the device "isa" */
    size_t shape_count;
    const struct modifiers_values *values; /* that they run with; NULL: the usual ones */
    double clock_ghz;                      /* 0: none given, and no TFLOP/s in the report */
    int compute_units; /* goes with clock_ghz; 0: none given, the rate is then that of one compute unit */
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
    struct report_problem *problems; /* report_run.h; one for each shape */
    size_t problem_count;
    double clock_ghz;
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

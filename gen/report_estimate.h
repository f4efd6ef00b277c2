/* What a whole problem takes by the model: floating-point operations, bytes, time by the issue bound and by memory. */
#ifndef GEN_REPORT_ESTIMATE_H
#define GEN_REPORT_ESTIMATE_H

#include "instance.h"
#include "json.h"
#include "report.h"

struct report_estimate {
    struct verify_shape shape;
    bool counted;                    /* the work is that of a run; else tiles are counted */
    double flop;                     /* that the mask leaves of both products, each counted once */
    double bytes;                    /* of all tensors, those that are needed, each moved once */
    double body_passes, edge_passes; /* of a wave through a loop, all waves added up; 0 of a run */
    struct issue_bound issue;        /* of that work, in cycles of one SIMD that does all of it */
    double matrix_percent;           /* flop of what the matrix unit could do in that time; 0: unknown */
    double issue_us, memory_us;      /* on report_chip; 0: unknown */
};

/* Whether tiles tell what a problem takes. ERROR_USAGE: the instance has a modifier by which tiles are left out, does
 * not serve these heads, or is no attention. `cure`: of the first. */
bool report_estimate_check(const struct spec *spec, const struct verify_shape *shape, const char *cure,
                           struct error *error);

/* By tiles: each workgroup's waves pass once through the loop for each tile of keys that one of its queries sees,
 * through the `edge` loop where the tile is masked for some of them (the cheapest if there are several; and but for the
 * waves that wave_tiles.h leaves out), else through the `body`. What lies outside the loops is left out. The report's
 * loops are there. */
void report_estimate_tiles(const struct report *report, const struct spec *spec, const struct verify_shape *shape,
                           struct report_estimate *estimate);

/* By what a run did. `pairs`: of queries of all heads and keys that they see; `bytes`: different ones that it read and
 * wrote. */
void report_estimate_run(const struct report *report, const struct spec *spec, const struct verify_shape *shape,
                         const struct issue_work *work, double pairs, double bytes, struct report_estimate *estimate);

/* The chip that microseconds are of: what was given, or else a product; 0 where nothing is known. */
struct report_chip {
    const char *product; /* NULL: what was given */
    int compute_units;
    double clock_ghz, bandwidth_gbs;
};
struct report_chip report_chip_of(const struct report *report);

/* The longer of both times, and which it is: "issue", "memory"; 0 and "" where neither is known. */
double report_estimate_us(const struct report_estimate *estimate, const char **limit);

/* One estimate as lines of the table, and all of the report as "problems" of its JSON object. */
void report_estimate_table(const struct report *report, const struct report_estimate *estimate, struct text *out);
void report_estimates_json(struct json *json, cJSON *root, const struct report *report);

#endif

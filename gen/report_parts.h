/* What the parts of the report share. */
#ifndef GEN_REPORT_PARTS_H
#define GEN_REPORT_PARTS_H

#include "json.h"
#include "report.h"

/* At the clock that was given, for the compute units that were given; 0: no clock. */
double report_tflops(const struct report *report, const struct issue_bound *bound);

/* "shape", an object of five lengths. */
void report_put_shape(struct json *json, cJSON *to, const struct verify_shape *shape);
void report_put_mix(struct json *json, cJSON *to, const struct mix *mix);
void report_put_bound(struct json *json, cJSON *to, const struct report *report, const struct issue_bound *bound);

#endif

/* Verification of the operation quantize: every number and every scale that an instance makes. */
#ifndef GEN_VERIFY_QUANTIZE_H
#define GEN_VERIFY_QUANTIZE_H

#include "execute.h"
#include "instance.h"
#include "verify.h"

/* Runs the instance on report->device as verify_run says of kernels of any operation: fills the report's cases and
 * `passed`. */
bool verify_quantize(const struct instance *instance, const struct verify_options *options,
                     const struct execute_options *execution, struct verify_report *report, struct error *error);

#endif

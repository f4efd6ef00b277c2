/* Finding the best of the instances that serve a problem by running them. Any operation. */
#ifndef FMHA_TUNE_H
#define FMHA_TUNE_H

#include "descriptor.h"

/* As fmha_forward_tune; `function` is who is asked. */
fmha_status fmha_tune(fmha_device *device, const char *function, const struct fmha_key *key,
                      const struct fmha_operands *operands, void *stream, const fmha_tune_options *options,
                      fmha_tune_visit visit, void *context);

#endif

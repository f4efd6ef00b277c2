/* What forward attention and decoding read of their problems: from the public struct to a key and operands. */
#ifndef FMHA_ATTENTION_H
#define FMHA_ATTENTION_H

#include "problem.h"

/* Reads a problem of the size that this library knows for an operation (fmha_key_operation) that `function` was asked
 * for. `launch`: its tensors must be there. */
fmha_status fmha_attention_read(const char *function, const fmha_device *device, uint8_t operation,
                                const fmha_forward_problem *problem, bool launch, struct fmha_request *read);

#endif

/* Attention whose keys several workgroups share: with more splits than one the kernel leaves partial results in a
 * workspace, which `merge` puts together on the same stream. Of any operation whose kernels take `splits`, `o_partial`
 * and `lse_partial`. */
#ifndef FMHA_SPLIT_KEYS_H
#define FMHA_SPLIT_KEYS_H

#include <stdbool.h>

#include "attention.h"
#include "splits.h"

struct fmha_split_keys {
    const char *function; /* that was asked */
    int64_t splits;       /* 0: as many as `sizes` make */
    struct fmha_splits_problem sizes;
    void *workspace;
    size_t workspace_bytes;
};

/* The mask whose instance serves a problem: a single query at the end of its sequence sees all keys, with a causal mask
 * too. */
static inline int32_t fmha_split_keys_mask(int32_t mask, int64_t seqlen_q) {
    return mask == FMHA_MASK_NONE && seqlen_q <= 1 ? FMHA_MASK_CAUSAL_BOTTOM_RIGHT : mask;
}

/* What a function of such an operation makes of its problem. */
struct fmha_split_request {
    struct fmha_request attention;
    struct fmha_split_keys split;
};

/* Sets the device's SIMDs, and how many rows a key head has. Checks how many splits were asked for. */
fmha_status fmha_split_keys_begin(const fmha_device *device, int64_t heads_of_group, int64_t seqlen_q,
                                  struct fmha_split_keys *split);

/* How such an operation reads its problems (`launch`: their tensors must be there), and what its function is called
 * that launches. */
struct fmha_split_operation {
    const char *function;
    fmha_status (*read)(const fmha_device *device, const void *problem, bool launch,
                        struct fmha_split_request *request);
};

/* The launches of a problem: none where it has no rows of O, else that of the parts and, where there are several, that
 * of their merge. */
struct fmha_split_plans {
    struct fmha_plan plan[2];
    int count;
    int64_t splits;
    void *stream;
};

fmha_status fmha_split_keys_plan(fmha_device *device, const struct fmha_split_operation *operation, const void *problem,
                                 struct fmha_split_plans *plans);

/* What fmha_decode launches. */
fmha_status fmha_decode_plan(fmha_device *device, const fmha_decode_problem *problem, struct fmha_split_plans *plans);

/* The public functions of such an operation.
 * launch: starts it, and the merge if there is one: both or none.
 * prepare: does what the first launch would do before it, of the merge too unless exactly one split was asked for.
 * workspace_bytes: of a workspace that serves the problem and, where the number of splits is free, every one that
 * differs from it in a smaller batch or fewer keys.
 * explain: tells of the number of splits, of the kernels and of those of the merge. */
fmha_status fmha_split_keys_launch(fmha_device *device, const struct fmha_split_operation *operation,
                                   const void *problem);
fmha_status fmha_split_keys_prepare(fmha_device *device, const struct fmha_split_operation *operation,
                                    const void *problem);
fmha_status fmha_split_keys_workspace_bytes(fmha_device *device, const struct fmha_split_operation *operation,
                                            const void *problem, size_t *bytes);
fmha_status fmha_split_keys_explain(fmha_device *device, const struct fmha_split_operation *operation,
                                    const void *problem, fmha_explain_visit visit, void *context);

#endif

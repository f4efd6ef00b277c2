/* Attention whose keys several workgroups share: with more splits than one the kernel leaves partial results in a
 * workspace, which `merge` puts together on the same stream. Of any operation whose kernels take `splits`, `o_partial`
 * and `lse_partial`. */
#ifndef FMHA_SPLIT_KEYS_H
#define FMHA_SPLIT_KEYS_H

#include "attention.h"
#include "splits.h"

struct fmha_split_keys {
    const char *function; /* that was asked */
    int64_t splits;       /* 0: as many as `sizes` make */
    struct fmha_splits_problem sizes;
    void *workspace;
    size_t workspace_bytes;
};

/* Checks how many splits were asked for. */
fmha_status fmha_split_keys_check(const struct fmha_split_keys *split);

/* Bytes of workspace that serve the problem and, where the number of splits is free, every one that differs from it in
 * a smaller batch or fewer keys. `heads_q`, `rows` and `head_dim_v` are of O, of one sequence. */
fmha_status fmha_split_keys_bytes(const struct fmha_split_keys *split, int64_t heads_q, int64_t rows,
                                  int64_t head_dim_v, size_t *bytes);

/* Starts it, and the merge if there is one: both or none. Sets what the request's operands lack. */
fmha_status fmha_split_keys_launch(fmha_device *device, const struct fmha_split_keys *split,
                                   struct fmha_attention *request);

/* Does what the first launch would do before it, of the merge too unless exactly one split was asked for. */
fmha_status fmha_split_keys_prepare(fmha_device *device, const struct fmha_split_keys *split,
                                    struct fmha_attention *request);

/* Tells of the number of splits, of the kernels and of those of the merge. */
fmha_status fmha_split_keys_explain(fmha_device *device, const struct fmha_split_keys *split,
                                    struct fmha_attention *request, fmha_explain_visit visit, void *context);

#endif

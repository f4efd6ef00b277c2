/* The modifiers and layouts of attention: from the public struct to the key and the operands. */
#ifndef FMHA_FORWARD_MODIFIERS_H
#define FMHA_FORWARD_MODIFIERS_H

#include <stdbool.h>

#include "descriptor.h"
#include "fmha.h"

/* The sizes that a layout gives the tensors, as far as they decide which strides mean something. */
struct fmha_forward_sizes {
    int64_t batch_q, rows_q; /* of Q and O */
    int64_t batch_k, rows_k; /* of K and V; a number above 1 may stand for one that nobody knows */
};

/* Whether a problem has any, or says something that belongs to one. In every call, hence inline and without branches.
 */
static inline bool fmha_forward_is_modified(const fmha_forward_problem *p) {
    uint32_t words = (uint32_t)p->window | (uint32_t)p->window_left | (uint32_t)p->window_right |
                     (uint32_t)p->sink_keys | (uint32_t)p->varlen | (uint32_t)p->page_size | p->modifier |
                     (uint32_t)p->kv_dtype | (uint32_t)p->kv_scale;
    uintptr_t addresses = (uintptr_t)p->prefix_lengths | (uintptr_t)p->alibi_slopes | (uintptr_t)p->sink |
                          (uintptr_t)p->head_scale | (uintptr_t)p->cu_seqlens_q | (uintptr_t)p->cu_seqlens_k |
                          (uintptr_t)p->seqlens_q | (uintptr_t)p->seqlens_k | (uintptr_t)p->block_table |
                          (uintptr_t)p->bias.data | (uintptr_t)p->attn_mask.data | (uintptr_t)p->block_mask.data |
                          (uintptr_t)p->k_scale.data | (uintptr_t)p->v_scale.data;
    bool reals = (p->softcap != 0) | (p->dropout != 0);
    return ((words != 0) | (addresses != 0) | reals) != 0;
}

/* Checks them and puts them into the key, in which they are off, and the operands, of which it sets all that is of
 * modifiers. `launch`: every address that a layout needs must be there; `function` is who is asked. `sizes` is as
 * without layouts, and changed where one changes it. */
fmha_status fmha_forward_modify(const char *function, const fmha_forward_problem *p, bool launch, struct fmha_key *key,
                                struct fmha_operands *operands, struct fmha_forward_sizes *sizes);

#endif

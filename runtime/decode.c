/* Decoding: the public functions, over what forward attention reads of its problems. */
#include <stdbool.h>
#include <stddef.h>

#include "driver.h"
#include "problem.h"
#include "split_keys.h"

/* Of the fields that every version has had. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_decode_problem, v_scale) + sizeof(fmha_tensor))

/* The same problem as one of forward attention. */
static fmha_forward_problem as_forward(const fmha_decode_problem *p) {
    fmha_forward_problem forward = {
        .struct_bytes = sizeof forward,
        .dtype = p->dtype,
        .mask = fmha_split_keys_mask(p->mask, p->seqlen_q),
        .v_layout = p->v_layout,
        .head_dim = p->head_dim,
        .head_dim_v = p->head_dim_v,
        .scale = p->scale,
        .batch = p->batch,
        .heads_q = p->heads_q,
        .heads_k = p->heads_k,
        .seqlen_q = p->seqlen_q,
        .seqlen_k = p->seqlen_k,
        .q = p->q,
        .k = p->k,
        .v = p->v,
        .o = p->o,
        .lse = p->lse,
        .stream = p->stream,
        .window = p->window,
        .window_left = p->window_left,
        .window_right = p->window_right,
        .sink_keys = p->sink_keys,
        .softcap = p->softcap,
        .varlen = p->varlen,
        .page_size = p->page_size,
        .bias_dtype = p->bias_dtype,
        .modifier = p->modifier,
        .prefix_lengths = p->prefix_lengths,
        .alibi_slopes = p->alibi_slopes,
        .sink = p->sink,
        .head_scale = p->head_scale,
        .cu_seqlens_q = p->cu_seqlens_q,
        .cu_seqlens_k = p->cu_seqlens_k,
        .seqlens_q = p->seqlens_q,
        .seqlens_k = p->seqlens_k,
        .block_table = p->block_table,
        .bias = p->bias,
        .attn_mask = p->attn_mask,
        .stride_alibi_batch = p->stride_alibi_batch,
        .stride_block_table = p->stride_block_table,
        .tokens_q = p->tokens_q,
        .kv_dtype = p->kv_dtype,
        .kv_scale = p->kv_scale,
        .k_scale = p->k_scale,
        .v_scale = p->v_scale,
    };
    for (int i = 0; i < FMHA_MODIFIER_VALUES; i++) {
        forward.modifier_values[i] = p->modifier_values[i];
    }
    for (int i = 0; i < FMHA_MODIFIER_BUFFERS; i++) {
        forward.modifier_buffers[i] = p->modifier_buffers[i];
    }
    return forward;
}

/* Keys that the queries of the longest sequence may see. */
static int64_t keys_seen(const fmha_decode_problem *p) {
    int64_t right = p->mask == FMHA_MASK_NONE ? p->window_right : 0;
    if (p->window == 0 || p->window_left < 0 || right < 0 || p->prefix_lengths != NULL || p->seqlen_q > INT32_MAX) {
        return p->seqlen_k;
    }
    int64_t seen = p->window_left + right + p->seqlen_q;
    return seen < p->seqlen_k ? seen : p->seqlen_k;
}

/* The most rows that instances of a chip and a head dimension have room for (templates/arch/decode.lua, gcn5.lua). */
static int rows_of(const struct fmha_key *key, int head_dim) {
    bool gcn5 = key->gfx_major == 9 && key->gfx_minor == 0 && key->gfx_stepping <= 6;
    int rows = head_dim <= 128 ? 128 : head_dim <= 256 ? 64 : 16;
    return gcn5 && rows > 16 ? rows / 2 : rows;
}

static uint32_t word_of_rows(int rows) {
    return rows <= 16   ? FMHA_KEY_ROWS_16
           : rows <= 32 ? FMHA_KEY_ROWS_32
           : rows <= 64 ? FMHA_KEY_ROWS_64
                        : FMHA_KEY_ROWS_128;
}

/* Reads the problem. `launch`: its tensors must be there. */
static fmha_status read_problem(const fmha_device *device, const void *given, bool launch,
                                struct fmha_split_request *request) {
    fmha_decode_problem room;
    const fmha_decode_problem *p =
        fmha_problem_begin("fmha_decode", "fmha_decode_problem", device, given, STRUCT_BYTES_FIRST, &room, sizeof room);
    if (p == NULL) {
        return FMHA_ERROR_ARGUMENT;
    }
    fmha_forward_problem forward = as_forward(p);
    fmha_status status =
        fmha_attention_read("fmha_decode", device, FMHA_KEY_DECODE, &forward, launch, &request->attention);
    if (status != FMHA_OK) {
        return status;
    }
    struct fmha_key *key = &request->attention.key;
    int head_dim = key->head_dim > key->head_dim_v ? key->head_dim : key->head_dim_v;
    request->split = (struct fmha_split_keys){
        .function = "fmha_decode",
        .splits = p->splits,
        .sizes = {.batch = p->batch,
                  .heads_k = p->heads_k,
                  .keys = keys_seen(p),
                  .page_size = p->page_size,
                  .block_max = rows_of(key, head_dim),
                  .waves = head_dim > 256 && key->gfx_major >= 10 ? 4 : 1},
        .workspace = p->workspace,
        .workspace_bytes = p->workspace_bytes,
    };
    status = fmha_split_keys_begin(device, p->heads_q / p->heads_k, p->seqlen_q, &request->split);
    key->modifiers |=
        FMHA_KEY_ROWS * word_of_rows(fmha_splits_block(request->split.sizes.rows, rows_of(key, head_dim)));
    return status;
}

static const struct fmha_split_operation operation = {"fmha_decode", read_problem};

fmha_status fmha_decode(fmha_device *device, const fmha_decode_problem *problem) {
    return fmha_split_keys_launch(device, &operation, problem);
}

fmha_status fmha_decode_plan(fmha_device *device, const fmha_decode_problem *problem, struct fmha_split_plans *plans) {
    return fmha_split_keys_plan(device, &operation, problem, plans);
}

fmha_status fmha_decode_prepare(fmha_device *device, const fmha_decode_problem *problem) {
    return fmha_split_keys_prepare(device, &operation, problem);
}

fmha_status fmha_decode_workspace_bytes(fmha_device *device, const fmha_decode_problem *problem, size_t *bytes) {
    return fmha_split_keys_workspace_bytes(device, &operation, problem, bytes);
}

fmha_status fmha_decode_explain(fmha_device *device, const fmha_decode_problem *problem, fmha_explain_visit visit,
                                void *context) {
    return fmha_split_keys_explain(device, &operation, problem, visit, context);
}

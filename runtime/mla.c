/* Multi-head latent attention: the public functions, over what forward attention reads of its problems. */
#include <stddef.h>

#include "driver.h"
#include "problem.h"
#include "split_keys.h"

/* Of the fields that every version has had: up to `stream`, whatever comes after it. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_mla_problem, stream) + sizeof(void *))

#define BLOCK_MAX  64 /* rows that an instance is made for at most */
#define RDNA_WAVES 4  /* that share 16 rows, where a wave has 256 registers of 32 lanes */

/* The same problem as one of forward attention with one key head, whose K and V are the same tensor. */
static fmha_forward_problem as_forward(const fmha_mla_problem *p) {
    return (fmha_forward_problem){
        .struct_bytes = sizeof(fmha_forward_problem),
        .dtype = p->dtype,
        .mask = fmha_split_keys_mask(p->mask, p->seqlen_q),
        .head_dim = p->head_dim,
        .head_dim_v = p->head_dim_v,
        .scale = p->scale,
        .batch = p->batch,
        .heads_q = p->heads_q,
        .heads_k = 1,
        .seqlen_q = p->seqlen_q,
        .seqlen_k = p->seqlen_k,
        .q = p->q,
        .k = p->kv,
        .v = p->kv,
        .o = p->o,
        .lse = p->lse,
        .stream = p->stream,
        .varlen = p->varlen,
        .page_size = p->page_size,
        .cu_seqlens_q = p->cu_seqlens_q,
        .cu_seqlens_k = p->cu_seqlens_k,
        .seqlens_q = p->seqlens_q,
        .seqlens_k = p->seqlens_k,
        .block_table = p->block_table,
        .stride_block_table = p->stride_block_table,
        .tokens_q = p->tokens_q,
        .kv_dtype = p->kv_dtype,
        .kv_scale = p->kv_scale,
        .k_scale = p->kv_scales,
        .v_scale = p->kv_scales,
    };
}

static fmha_status check(const fmha_mla_problem *p) {
    if (p->head_dim_v > p->head_dim) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_mla: head_dim_v: expected at most head_dim, %d, got %d; V is a part of a row",
                         p->head_dim, p->head_dim_v);
    }
    if ((uint32_t)p->scale_rule > FMHA_SCALE_THREE_QUARTERS || (p->scale_rule != 0 && p->kv_dtype != FMHA_KV_MXFP4)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_mla: scale_rule: expected a value of enum fmha_scale_rule, 0 where kv_dtype is not "
                         "FMHA_KV_MXFP4, got %d with kv_dtype %d; set it to 0",
                         p->scale_rule, p->kv_dtype);
    }
    return FMHA_OK;
}

/* Where the kernels of this operation look for what was read as K. */
static void name_rows(struct fmha_operands *operands) {
    int64_t *value = operands->value;
    value[FMHA_VALUE_STRIDE_KV_BATCH] = value[FMHA_VALUE_STRIDE_K_BATCH];
    value[FMHA_VALUE_STRIDE_KV_ROW] = value[FMHA_VALUE_STRIDE_K_ROW];
    operands->buffer[FMHA_BUFFER_KV] = operands->buffer[FMHA_BUFFER_K];
}

static void name_scales(struct fmha_operands *operands) {
    int64_t *value = operands->value;
    value[FMHA_VALUE_STRIDE_KV_SCALE_BATCH] = value[FMHA_VALUE_STRIDE_K_SCALE_BATCH];
    value[FMHA_VALUE_STRIDE_KV_SCALE_ROW] = value[FMHA_VALUE_STRIDE_K_SCALE_ROW];
    operands->buffer[FMHA_BUFFER_KV_SCALE] = operands->buffer[FMHA_BUFFER_K_SCALE];
}

/* Reads the problem. `launch`: its tensors must be there. */
static fmha_status read_problem(const fmha_device *device, const void *given, bool launch,
                                struct fmha_split_request *request) {
    fmha_mla_problem room;
    const fmha_mla_problem *p =
        fmha_problem_begin("fmha_mla", "fmha_mla_problem", device, given, STRUCT_BYTES_FIRST, &room, sizeof room);
    if (p == NULL) {
        return FMHA_ERROR_ARGUMENT;
    }
    fmha_forward_problem forward = as_forward(p);
    fmha_status status = check(p);
    status = status == FMHA_OK
                 ? fmha_attention_read("fmha_mla", device, FMHA_KEY_MLA, &forward, launch, &request->attention)
                 : status;
    if (status != FMHA_OK) {
        return status;
    }
    name_rows(&request->attention.operands);
    if (p->kv_dtype != FMHA_KV_SAME) {
        name_scales(&request->attention.operands);
        request->attention.key.modifiers |= FMHA_KEY_SCALE_RULE * (uint32_t)p->scale_rule;
    }
    request->split = (struct fmha_split_keys){
        .function = "fmha_mla",
        .splits = p->splits,
        .sizes = {.batch = p->batch,
                  .heads_k = 1,
                  .keys = p->seqlen_k,
                  .page_size = p->page_size,
                  .block_max = BLOCK_MAX,
                  .waves = request->attention.key.gfx_major >= 10 ? RDNA_WAVES : 1},
        .workspace = p->workspace,
        .workspace_bytes = p->workspace_bytes,
    };
    return fmha_split_keys_begin(device, p->heads_q, p->seqlen_q, &request->split);
}

static const struct fmha_split_operation operation = {"fmha_mla", read_problem};

fmha_status fmha_mla(fmha_device *device, const fmha_mla_problem *problem) {
    return fmha_split_keys_launch(device, &operation, problem);
}

fmha_status fmha_mla_prepare(fmha_device *device, const fmha_mla_problem *problem) {
    return fmha_split_keys_prepare(device, &operation, problem);
}

fmha_status fmha_mla_workspace_bytes(fmha_device *device, const fmha_mla_problem *problem, size_t *bytes) {
    return fmha_split_keys_workspace_bytes(device, &operation, problem, bytes);
}

fmha_status fmha_mla_explain(fmha_device *device, const fmha_mla_problem *problem, fmha_explain_visit visit,
                             void *context) {
    return fmha_split_keys_explain(device, &operation, problem, visit, context);
}

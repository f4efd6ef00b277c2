/* Merging: from the public struct to a key and operands. */
#include <stdbool.h>
#include <stddef.h>

#include "dispatch.h"
#include "driver.h"
#include "problem.h"

/* Of the fields that every version has had: up to `stream`, whatever comes after it. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_merge_problem, stream) + sizeof(void *))

static fmha_status check(const fmha_merge_problem *p) {
    if (p->dtype != FMHA_DTYPE_F16 && p->dtype != FMHA_DTYPE_BF16) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_merge: dtype: expected FMHA_DTYPE_F16 or FMHA_DTYPE_BF16, got %d; set dtype to one of "
                         "them",
                         p->dtype);
    }
    if (p->partial_dtype != 0 && p->partial_dtype != FMHA_DTYPE_F32 && p->partial_dtype != p->dtype) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_merge: partial_dtype: expected FMHA_DTYPE_F32 or that of O, %d, got %d; set it to one "
                         "of them",
                         p->dtype, p->partial_dtype);
    }
    if (p->splits < 0 || p->batch < 0 || p->heads_q < 0 || p->seqlen_q < 0 || p->head_dim_v < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_merge: expected splits, batch, heads_q, seqlen_q and head_dim_v of 0 and up, got %lld, "
                         "%lld, %lld, %lld and %lld; set them to the tensors' sizes",
                         (long long)p->splits, (long long)p->batch, (long long)p->heads_q, (long long)p->seqlen_q,
                         (long long)p->head_dim_v);
    }
    return FMHA_OK;
}

/* The partial results, whose elements may be of four bytes and which have one stride more. `bits` gathers as
 * fmha_problem_tensor does. */
static fmha_status take_partials(const fmha_merge_problem *p, bool launch, struct fmha_request *request,
                                 uint64_t *bits) {
    struct fmha_operands *operands = &request->operands;
    bool present = p->splits > 0 && !request->empty;
    uint64_t element_bytes = p->partial_dtype == p->dtype ? 2 : 4, unused = 0;
    const struct fmha_problem_tensor tensor = {"o_partial",
                                               &p->o_partial,
                                               present ? p->batch : 0,
                                               p->heads_q,
                                               p->seqlen_q,
                                               p->head_dim_v,
                                               FMHA_VALUE_STRIDE_O_PARTIAL_BATCH,
                                               FMHA_BUFFER_O_PARTIAL};
    fmha_status status = fmha_problem_tensor("fmha_merge", &tensor, launch, operands, &unused);
    if (status != FMHA_OK) {
        return status;
    }
    uintptr_t address = (uintptr_t)operands->buffer[FMHA_BUFFER_O_PARTIAL];
    if (address % element_bytes != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_merge: o_partial: expected an address that is a multiple of 4, got %p; align o_partial "
                         "to 4 bytes",
                         p->o_partial.data);
    }
    if (present && p->splits > 1 && (p->stride_o_partial_split < 0 || p->stride_o_partial_split >> 62 != 0)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_merge: stride_o_partial_split: expected 0 and up, below 2^62 elements, got %lld; pass "
                         "partial results that do not run backwards, with strides in elements",
                         (long long)p->stride_o_partial_split);
    }
    if (present && launch && p->lse_partial == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_merge: lse_partial: expected the address of a tensor, got NULL; "
                                              "give the problem its lse_partial");
    }
    int64_t *strides = &operands->value[FMHA_VALUE_STRIDE_O_PARTIAL_SPLIT];
    strides[0] = present && p->splits > 1 ? p->stride_o_partial_split : 0;
    for (int axis = 0; axis < 4; axis++) {
        *bits |= (uint64_t)strides[axis] * element_bytes;
    }
    *bits |= address;
    operands->buffer[FMHA_BUFFER_LSE_PARTIAL] =
        p->lse_partial != NULL && present ? (void *)(uintptr_t)p->lse_partial : (void *)FMHA_PROBLEM_STAND_IN;
    return FMHA_OK;
}

/* Reads the problem. `launch`: its tensors must be there. */
static fmha_status read_problem(const fmha_device *device, const void *given, bool launch,
                                struct fmha_request *request) {
    fmha_merge_problem room;
    const fmha_merge_problem *p =
        fmha_problem_begin("fmha_merge", "fmha_merge_problem", device, given, STRUCT_BYTES_FIRST, &room, sizeof room);
    if (p == NULL) {
        return FMHA_ERROR_ARGUMENT;
    }
    fmha_status status = check(p);
    if (status != FMHA_OK) {
        return status;
    }
    *request = (struct fmha_request){
        .stream = p->stream, .empty = p->batch == 0 || p->heads_q == 0 || p->seqlen_q == 0 || p->head_dim_v == 0};
    int64_t *value = request->operands.value;
    value[FMHA_VALUE_SPLITS] = p->splits;
    value[FMHA_VALUE_BATCH] = p->batch;
    value[FMHA_VALUE_HEADS_Q] = p->heads_q;
    value[FMHA_VALUE_SEQLEN_Q] = p->seqlen_q;
    value[FMHA_VALUE_HEAD_DIM_V] = p->head_dim_v;
    request->operands.buffer[FMHA_BUFFER_LSE] = p->lse;
    const struct fmha_problem_tensor o = {
        "o", &p->o, p->batch, p->heads_q, p->seqlen_q, p->head_dim_v, FMHA_VALUE_STRIDE_O_BATCH, FMHA_BUFFER_O};
    uint64_t bits = 0; /* of addresses and strides in bytes, all together */
    status = take_partials(p, launch, request, &bits);
    if (status == FMHA_OK) {
        status = fmha_problem_tensor("fmha_merge", &o, launch, &request->operands, &bits);
    }
    fmha_dispatch_key(device, &request->key);
    request->key.operation = FMHA_KEY_MERGE;
    request->key.dtype = p->dtype == FMHA_DTYPE_F16 ? FMHA_KEY_F16 : FMHA_KEY_BF16;
    request->key.modifiers = p->partial_dtype == p->dtype ? FMHA_KEY_PARTIAL : 0;
    fmha_key_set_align(&request->key, fmha_problem_align(bits));
    return status;
}

fmha_status fmha_merge(fmha_device *device, const fmha_merge_problem *problem) {
    return fmha_problem_launch(device, read_problem, problem);
}

fmha_status fmha_merge_prepare(fmha_device *device, const fmha_merge_problem *problem) {
    return fmha_problem_prepare(device, read_problem, problem);
}

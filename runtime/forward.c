/* Forward attention: from the public struct to a key and operands. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "dispatch.h"
#include "driver.h"
#include "forward_modifiers.h"
#include "problem.h"

/* Of the fields that every version has had: up to `stream`, whatever comes after it. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_forward_problem, stream) + sizeof(void *))

struct request {
    struct fmha_key key;
    struct fmha_operands operands;
    void *stream;
    bool empty; /* there are no rows of O */
};

static fmha_status check_words(const fmha_forward_problem *p) {
    if (p->dtype != FMHA_DTYPE_F16 && p->dtype != FMHA_DTYPE_BF16) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_forward: dtype: expected FMHA_DTYPE_F16 or FMHA_DTYPE_BF16, got %d; set dtype to one of them",
            p->dtype);
    }
    if (p->mask < FMHA_MASK_NONE || p->mask > FMHA_MASK_CAUSAL_TOP_LEFT) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_forward: mask: expected a value of enum fmha_mask, got %d; set mask to one of them",
                         p->mask);
    }
    if (p->v_layout != FMHA_V_ROW && p->v_layout != FMHA_V_TRANSPOSED) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_forward: v_layout: expected FMHA_V_ROW or FMHA_V_TRANSPOSED, got %d; set v_layout to one of them",
            p->v_layout);
    }
    if (p->head_dim < 1 || p->head_dim > UINT16_MAX || p->head_dim_v < 0 || p->head_dim_v > UINT16_MAX) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_forward: expected a head_dim of 1 to %d and a head_dim_v of 0 to %d, got %d and %d; set "
                         "them to the tensors' sizes",
                         UINT16_MAX, UINT16_MAX, p->head_dim, p->head_dim_v);
    }
    if (isnan(p->scale)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_forward: scale: expected a number, got NaN; set it, usually to 1/sqrt(head_dim)");
    }
    return FMHA_OK;
}

static fmha_status check_lengths(const fmha_forward_problem *p) {
    if (p->batch < 0 || p->heads_q < 0 || p->heads_k < 1 || p->seqlen_q < 0 || p->seqlen_k < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_forward: expected batch, heads_q, seqlen_q and seqlen_k of 0 and up and heads_k of 1 "
                         "and up, got %lld, %lld, %lld, %lld and %lld; set them to the tensors' sizes",
                         (long long)p->batch, (long long)p->heads_q, (long long)p->seqlen_q, (long long)p->seqlen_k,
                         (long long)p->heads_k);
    }
    bool small = ((p->heads_q | p->heads_k) >> 32) == 0; /* whose division is several times faster */
    if (small ? (uint32_t)p->heads_q % (uint32_t)p->heads_k != 0 : p->heads_q % p->heads_k != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_forward: expected heads_q to be a multiple of heads_k, got %lld and %lld; give each "
                         "head of K as many of Q",
                         (long long)p->heads_q, (long long)p->heads_k);
    }
    return FMHA_OK;
}

/* Reads the problem. `launch`: its tensors must be there. */
static fmha_status read_problem(const fmha_device *device, const fmha_forward_problem *given, bool launch,
                                struct request *request) {
    if (device == NULL || given == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_forward: expected a device and a problem, got NULL; pass a valid "
                                              "pointer");
    }
    fmha_forward_problem room;
    const fmha_forward_problem *p = given;
    if (given->struct_bytes != sizeof room) {
        p = fmha_problem_adapt("fmha_forward", "fmha_forward_problem", given, given->struct_bytes, STRUCT_BYTES_FIRST,
                               &room, sizeof room);
    }
    if (p == NULL) {
        return FMHA_ERROR_ARGUMENT;
    }
    fmha_status status = check_words(p);
    if (status == FMHA_OK) {
        status = check_lengths(p);
    }
    if (status != FMHA_OK) {
        return status;
    }
    struct fmha_operands *operands = &request->operands;
    int64_t *value = operands->value;
    int head_dim_v = p->head_dim_v != 0 ? p->head_dim_v : p->head_dim;
    /* The key is written long before it is looked up as a whole, but for its alignment. */
    fmha_dispatch_key(device, &request->key);
    request->key.operation = FMHA_KEY_FORWARD;
    request->key.dtype = p->dtype == FMHA_DTYPE_F16 ? FMHA_KEY_F16 : FMHA_KEY_BF16;
    request->key.head_dim = (uint16_t)p->head_dim;
    request->key.head_dim_v = (uint16_t)head_dim_v;
    request->key.mask = (uint8_t)p->mask;
    request->key.v_layout = (uint8_t)p->v_layout;
    value[FMHA_VALUE_BATCH] = p->batch;
    value[FMHA_VALUE_HEADS_Q] = p->heads_q;
    value[FMHA_VALUE_HEADS_K] = p->heads_k;
    value[FMHA_VALUE_SEQLEN_Q] = p->seqlen_q;
    value[FMHA_VALUE_SEQLEN_K] = p->seqlen_k;
    value[FMHA_VALUE_HEAD_DIM] = p->head_dim;
    value[FMHA_VALUE_HEAD_DIM_V] = head_dim_v;
    for (int i = FMHA_VALUE_STRIDE_FROM_BATCH; i < FMHA_VALUE_OF_MODIFIERS; i++) {
        value[i] = 0;
    }
    for (int i = FMHA_BUFFER_FROM; i < FMHA_BUFFER_OF_MODIFIERS; i++) {
        operands->buffer[i] = NULL;
    }
    struct fmha_forward_sizes sizes = {p->batch, p->seqlen_q, p->batch, p->seqlen_k};
    if (fmha_forward_is_modified(p)) {
        status = fmha_forward_modify(p, launch, &request->key, operands, &sizes);
        if (status != FMHA_OK) {
            return status;
        }
    }
    request->empty = sizes.batch_q == 0 || p->heads_q == 0 || sizes.rows_q == 0;
    bool transposed = p->v_layout == FMHA_V_TRANSPOSED;
    int64_t v_rows = transposed ? head_dim_v : sizes.rows_k, v_columns = transposed ? sizes.rows_k : head_dim_v;
    const struct fmha_problem_tensor q = {
        "q", &p->q, sizes.batch_q, p->heads_q, sizes.rows_q, p->head_dim, FMHA_VALUE_STRIDE_Q_BATCH, FMHA_BUFFER_Q};
    const struct fmha_problem_tensor k = {
        "k", &p->k, sizes.batch_k, p->heads_k, sizes.rows_k, p->head_dim, FMHA_VALUE_STRIDE_K_BATCH, FMHA_BUFFER_K};
    const struct fmha_problem_tensor v = {
        "v", &p->v, sizes.batch_k, p->heads_k, v_rows, v_columns, FMHA_VALUE_STRIDE_V_BATCH, FMHA_BUFFER_V};
    const struct fmha_problem_tensor o = {
        "o", &p->o, sizes.batch_q, p->heads_q, sizes.rows_q, head_dim_v, FMHA_VALUE_STRIDE_O_BATCH, FMHA_BUFFER_O};
    uint64_t bits = 0; /* of addresses and strides in bytes, all together */
    status = fmha_problem_tensor("fmha_forward", &q, launch, operands, &bits);
    status = status == FMHA_OK ? fmha_problem_tensor("fmha_forward", &k, launch, operands, &bits) : status;
    status = status == FMHA_OK ? fmha_problem_tensor("fmha_forward", &v, launch, operands, &bits) : status;
    status = status == FMHA_OK ? fmha_problem_tensor("fmha_forward", &o, launch, operands, &bits) : status;
    if (status == FMHA_OK && ((uintptr_t)p->lse & (sizeof(float) - 1)) != 0) {
        status = fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_forward: lse: expected an address that is a multiple of %zu, got %p; align lse to %zu bytes",
            sizeof(float), (void *)p->lse, sizeof(float));
    }
    operands->buffer[FMHA_BUFFER_LSE] = p->lse;
    operands->real[FMHA_REAL_SCALE] = p->scale;
    request->stream = p->stream;
    fmha_key_set_align(&request->key, fmha_problem_align(bits));
    return status;
}

fmha_status fmha_forward(fmha_device *device, const fmha_forward_problem *problem) {
    struct request request;
    fmha_status status = read_problem(device, problem, true, &request);
    if (status != FMHA_OK || request.empty) {
        return status; /* without rows of O there is nothing to look for an instance for */
    }
    return fmha_dispatch_launch(device, &request.key, &request.operands, request.stream);
}

fmha_status fmha_forward_prepare(fmha_device *device, const fmha_forward_problem *problem) {
    struct request request;
    struct fmha_plan plan;
    fmha_status status = read_problem(device, problem, false, &request);
    return status != FMHA_OK ? status : fmha_dispatch_plan(device, &request.key, &request.operands, &plan);
}

fmha_status fmha_forward_workspace_bytes(fmha_device *device, const fmha_forward_problem *problem, size_t *bytes) {
    if (bytes == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_forward_workspace_bytes: expected a place for the size, got NULL; "
                                              "pass a valid pointer");
    }
    *bytes = 0; /* no instance of this operation needs any */
    return fmha_forward_prepare(device, problem);
}

fmha_status fmha_forward_explain(fmha_device *device, const fmha_forward_problem *problem, fmha_explain_visit visit,
                                 void *context) {
    struct request request;
    if (visit == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_forward_explain: expected a function to call, got NULL; pass a "
                                              "valid pointer");
    }
    fmha_status status = read_problem(device, problem, false, &request);
    return status != FMHA_OK ? status : fmha_dispatch_explain(device, &request.key, &request.operands, visit, context);
}

fmha_status fmha_forward_tune(fmha_device *device, const fmha_forward_problem *problem,
                              const fmha_tune_options *options, fmha_tune_visit visit, void *context) {
    struct request request;
    fmha_status status = read_problem(device, problem, true, &request);
    return status != FMHA_OK ? status
                             : fmha_tune(device, "fmha_forward_tune", &request.key, &request.operands, request.stream,
                                         options, visit, context);
}

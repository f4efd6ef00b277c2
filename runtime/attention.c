#include "attention.h"

#include <math.h>

#include "driver.h"
#include "forward_modifiers.h"
#include "problem.h"

static fmha_status check_words(const char *function, const fmha_forward_problem *p) {
    if (p->dtype != FMHA_DTYPE_F16 && p->dtype != FMHA_DTYPE_BF16) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: dtype: expected FMHA_DTYPE_F16 or FMHA_DTYPE_BF16, got %d; set dtype to one of them",
                         function, p->dtype);
    }
    if (p->mask < FMHA_MASK_NONE || p->mask > FMHA_MASK_CAUSAL_TOP_LEFT) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: mask: expected a value of enum fmha_mask, got %d; set mask to one of them", function,
                         p->mask);
    }
    if (p->v_layout != FMHA_V_ROW && p->v_layout != FMHA_V_TRANSPOSED) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: v_layout: expected FMHA_V_ROW or FMHA_V_TRANSPOSED, got %d; set v_layout to one of them",
                         function, p->v_layout);
    }
    if (p->head_dim < 1 || p->head_dim > UINT16_MAX || p->head_dim_v < 0 || p->head_dim_v > UINT16_MAX) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: expected a head_dim of 1 to %d and a head_dim_v of 0 to %d, got %d and %d; set "
                         "them to the tensors' sizes",
                         function, UINT16_MAX, UINT16_MAX, p->head_dim, p->head_dim_v);
    }
    if (isnan(p->scale)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: scale: expected a number, got NaN; set it, usually to 1/sqrt(head_dim)", function);
    }
    return FMHA_OK;
}

static fmha_status check_lengths(const char *function, const fmha_forward_problem *p) {
    if (p->batch < 0 || p->heads_q < 0 || p->heads_k < 1 || p->seqlen_q < 0 || p->seqlen_k < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: expected batch, heads_q, seqlen_q and seqlen_k of 0 and up and heads_k of 1 "
                         "and up, got %lld, %lld, %lld, %lld and %lld; set them to the tensors' sizes",
                         function, (long long)p->batch, (long long)p->heads_q, (long long)p->seqlen_q,
                         (long long)p->seqlen_k, (long long)p->heads_k);
    }
    bool small = ((p->heads_q | p->heads_k) >> 32) == 0; /* whose division is several times faster */
    if (small ? (uint32_t)p->heads_q % (uint32_t)p->heads_k != 0 : p->heads_q % p->heads_k != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: expected heads_q to be a multiple of heads_k, got %lld and %lld; give each "
                         "head of K as many of Q",
                         function, (long long)p->heads_q, (long long)p->heads_k);
    }
    return FMHA_OK;
}

/* K and V of a small format, with their scales. A run of eight elements is aligned to its own bytes, so that their
 * multiples count in `bits`. */
static fmha_status take_small(const char *function, bool latent, const fmha_forward_problem *p,
                              const struct fmha_problem_tensor *k, const struct fmha_problem_tensor *v, bool launch,
                              struct fmha_operands *operands, uint64_t *bits) {
    bool fp4 = p->kv_dtype == FMHA_KV_MXFP4;
    bool of_rows = fp4 || p->kv_scale == FMHA_KV_SCALE_TOKEN; /* else of whole heads of a sequence */
    struct fmha_problem_tensor scales[] = {*k, *v};
    scales[0].name = latent ? "kv_scales" : "k_scale";
    scales[0].tensor = &p->k_scale;
    scales[0].stride = FMHA_VALUE_STRIDE_K_SCALE_BATCH;
    scales[0].buffer = FMHA_BUFFER_K_SCALE;
    scales[1].name = "v_scale";
    scales[1].tensor = &p->v_scale;
    scales[1].stride = FMHA_VALUE_STRIDE_V_SCALE_BATCH;
    scales[1].buffer = FMHA_BUFFER_V_SCALE;
    uint64_t own = 0, of_scales = 0;
    fmha_status status = fmha_problem_tensor_of(function, k, 1, launch, operands, &own);
    status = status == FMHA_OK ? fmha_problem_tensor_of(function, v, 1, launch, operands, &own) : status;
    for (int i = 0; i < 2 && status == FMHA_OK; i++) {
        if (!of_rows) {
            scales[i].batch = scales[i].batch != 0 ? p->batch : 0;
            scales[i].rows = scales[i].rows != 0 ? 1 : 0;
        }
        status = fmha_problem_tensor_of(function, &scales[i], fp4 ? 1 : sizeof(float), launch, operands, &of_scales);
    }
    *bits |= own * (fp4 ? 4 : 2);
    return status;
}

fmha_status fmha_attention_read(const char *function, const fmha_device *device, uint8_t operation,
                                const fmha_forward_problem *p, bool launch, struct fmha_request *read) {
    fmha_status status = check_words(function, p);
    if (status == FMHA_OK) {
        status = check_lengths(function, p);
    }
    if (status != FMHA_OK) {
        return status;
    }
    struct fmha_operands *operands = &read->operands;
    int64_t *value = operands->value;
    int head_dim_v = p->head_dim_v != 0 ? p->head_dim_v : p->head_dim;
    /* The key is written long before it is looked up as a whole, but for its alignment. */
    fmha_dispatch_key(device, &read->key);
    read->key.operation = operation;
    read->key.dtype = p->dtype == FMHA_DTYPE_F16 ? FMHA_KEY_F16 : FMHA_KEY_BF16;
    read->key.head_dim = (uint16_t)p->head_dim;
    read->key.head_dim_v = (uint16_t)head_dim_v;
    read->key.mask = (uint8_t)p->mask;
    read->key.v_layout = (uint8_t)p->v_layout;
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
        status = fmha_forward_modify(function, p, launch, &read->key, operands, &sizes);
        if (status != FMHA_OK) {
            return status;
        }
    }
    read->empty = sizes.batch_q == 0 || p->heads_q == 0 || sizes.rows_q == 0;
    bool latent = operation == FMHA_KEY_MLA; /* K and V are of one tensor */
    bool transposed = p->v_layout == FMHA_V_TRANSPOSED;
    int64_t v_rows = transposed ? head_dim_v : sizes.rows_k, v_columns = transposed ? sizes.rows_k : head_dim_v;
    const struct fmha_problem_tensor q = {
        "q", &p->q, sizes.batch_q, p->heads_q, sizes.rows_q, p->head_dim, FMHA_VALUE_STRIDE_Q_BATCH, FMHA_BUFFER_Q};
    const struct fmha_problem_tensor k = {
        latent ? "kv" : "k",       &p->k,        sizes.batch_k, p->heads_k, sizes.rows_k, p->head_dim,
        FMHA_VALUE_STRIDE_K_BATCH, FMHA_BUFFER_K};
    const struct fmha_problem_tensor v = {
        "v", &p->v, sizes.batch_k, p->heads_k, v_rows, v_columns, FMHA_VALUE_STRIDE_V_BATCH, FMHA_BUFFER_V};
    const struct fmha_problem_tensor o = {
        "o", &p->o, sizes.batch_q, p->heads_q, sizes.rows_q, head_dim_v, FMHA_VALUE_STRIDE_O_BATCH, FMHA_BUFFER_O};
    uint64_t bits = 0; /* of addresses and strides in bytes, all together */
    status = fmha_problem_tensor(function, &q, launch, operands, &bits);
    if (p->kv_dtype != FMHA_KV_SAME) {
        status = status == FMHA_OK ? take_small(function, latent, p, &k, &v, launch, operands, &bits) : status;
    } else {
        status = status == FMHA_OK ? fmha_problem_tensor(function, &k, launch, operands, &bits) : status;
        status = status == FMHA_OK ? fmha_problem_tensor(function, &v, launch, operands, &bits) : status;
    }
    status = status == FMHA_OK ? fmha_problem_tensor(function, &o, launch, operands, &bits) : status;
    if (status == FMHA_OK && ((uintptr_t)p->lse & (sizeof(float) - 1)) != 0) {
        status = fmha_fail(FMHA_ERROR_ARGUMENT,
                           "%s: lse: expected an address that is a multiple of %zu, got %p; align lse to %zu bytes",
                           function, sizeof(float), (void *)p->lse, sizeof(float));
    }
    operands->buffer[FMHA_BUFFER_LSE] = p->lse;
    operands->real[FMHA_REAL_SCALE] = p->scale;
    read->stream = p->stream;
    fmha_key_set_align(&read->key, fmha_problem_align(bits));
    return status;
}

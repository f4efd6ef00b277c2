#include "forward_modifiers.h"

#include <inttypes.h>
#include <string.h>

#include "driver.h"
#include "problem.h"

#define PAGE_SIZE_MAX 256
#define WINDOW_MAX    (1 << 30) /* keys, which no instance serves more of: any wider window is as wide */
#define SOFTCAP_MIN   1e-30F
#define SOFTCAP_MAX   1e30F /* between them float32 holds a cap times log2 e, and 2 over a cap */
#define SEVERAL       2     /* a number of pages, or of rows, that the problem does not tell */

struct modified {
    const char *function; /* that was asked */
    const fmha_forward_problem *problem;
    bool launch;
    struct fmha_key *key;
    struct fmha_operands *operands;
    struct fmha_forward_sizes *sizes;
};

static void turn_on(struct modified *m, uint32_t bits) {
    m->key->modifiers |= bits;
}

/* ---- Addresses ------------------------------------------------------------------------------------------- */

static fmha_status check_address(const struct modified *m, const char *name, const void *address,
                                 size_t element_bytes) {
    if ((uintptr_t)address % element_bytes != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: %s: expected an address that is a multiple of %zu, got %p; align %s to %zu "
                         "bytes",
                         m->function, name, element_bytes, address, name, element_bytes);
    }
    return FMHA_OK;
}

/* An array whose presence asks for the modifier of these bits. */
static fmha_status take_optional(struct modified *m, uint32_t bits, enum fmha_buffer buffer, const void *address,
                                 size_t element_bytes) {
    if (address == NULL) {
        return FMHA_OK;
    }
    turn_on(m, bits);
    m->operands->buffer[buffer] = (void *)(uintptr_t)address;
    return check_address(m, fmha_buffer_names[buffer], address, element_bytes);
}

/* Lengths that a layout has, or has not. */
static fmha_status take_lengths(struct modified *m, enum fmha_buffer buffer, const int32_t *address, bool wanted,
                                const char *layout) {
    const char *name = fmha_buffer_names[buffer];
    if (wanted && address == NULL && m->launch) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: %s: expected the address of lengths in %s, got NULL; give the problem its %s",
                         m->function, name, layout, name);
    }
    if (!wanted && address != NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: %s: expected NULL in %s, got %p; set %s to NULL, or varlen to the layout that "
                         "has it",
                         m->function, name, layout, (const void *)address, name);
    }
    if (wanted) {
        m->operands->buffer[buffer] = address != NULL ? (void *)(uintptr_t)address : (void *)FMHA_PROBLEM_STAND_IN;
    }
    return check_address(m, name, address, sizeof *address);
}

static fmha_status check_stride(const struct modified *m, const char *name, int64_t stride) {
    if (stride < 0 || stride >> 62 != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: %s: expected a stride of 0 and up, below 2^62 elements, got %" PRId64
                         "; set %s to the elements from one batch to the next",
                         m->function, name, stride, name);
    }
    return FMHA_OK;
}

/* A tensor over batches, heads and blocks of `block` queries whose presence asks for the modifier of these bits. */
static fmha_status take_tensor(struct modified *m, uint32_t bits, enum fmha_buffer buffer, enum fmha_value stride,
                               const fmha_tensor *tensor, int64_t block, size_t element_bytes) {
    const fmha_forward_problem *p = m->problem;
    const char *name = buffer == FMHA_BUFFER_MASK ? "attn_mask" : fmha_buffer_names[buffer];
    if (tensor->data == NULL) {
        return FMHA_OK;
    }
    turn_on(m, bits);
    m->operands->buffer[buffer] = tensor->data;
    const int64_t strides[] = {tensor->stride_batch, tensor->stride_head, tensor->stride_row};
    const bool counts[] = {p->batch > 1, p->heads_q > 1, p->seqlen_q > block};
    for (int i = 0; i < 3; i++) {
        if (counts[i] && (strides[i] < 0 || strides[i] >> 62 != 0)) {
            return fmha_fail(FMHA_ERROR_ARGUMENT,
                             "%s: %s: expected strides of 0 and up, below 2^62 elements, got %" PRId64
                             "; pass a tensor that does not run backwards, with strides in elements",
                             m->function, name, strides[i]);
        }
        m->operands->value[stride + i] = counts[i] ? strides[i] : 0;
    }
    return check_address(m, name, tensor->data, element_bytes);
}

/* ---- Which keys are seen --------------------------------------------------------------------------------- */

static fmha_status take_window(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    if ((uint32_t)p->window > 1) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: window: expected 0 or 1, got %d; set it to 1, and window_left and window_right "
                         "to its bounds",
                         m->function, p->window);
    }
    if (p->window == 0 && (p->window_left != 0 || p->window_right != 0)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: window: expected 1 with a window_left or window_right that is not 0, got 0, %d "
                         "and %d; set window to 1, or its bounds to 0",
                         m->function, p->window_left, p->window_right);
    }
    if (p->window_left < -1 || p->window_right < -1) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: expected a window_left and a window_right of -1 and up, got %d and %d; -1 is "
                         "no bound",
                         m->function, p->window_left, p->window_right);
    }
    if (p->sink_keys < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: sink_keys: expected 0 and up, got %d; set it to the number of first keys that "
                         "every query sees",
                         m->function, p->sink_keys);
    }
    if (p->window == 0 || (p->window_left == -1 && p->window_right == -1)) {
        return FMHA_OK;
    }
    turn_on(m, FMHA_KEY_WINDOW);
    m->operands->value[FMHA_VALUE_WINDOW_LEFT] = p->window_left < WINDOW_MAX ? p->window_left : WINDOW_MAX;
    m->operands->value[FMHA_VALUE_WINDOW_RIGHT] = p->window_right < WINDOW_MAX ? p->window_right : WINDOW_MAX;
    if (p->sink_keys > 0 && p->window_left != -1) { /* else they are seen anyway */
        turn_on(m, FMHA_KEY_SINK_KEYS);
        m->operands->value[FMHA_VALUE_SINK_KEYS] = p->sink_keys;
    }
    return FMHA_OK;
}

static fmha_status take_prefix(struct modified *m) {
    return take_optional(m, FMHA_KEY_PREFIX, FMHA_BUFFER_PREFIX_LENGTHS, m->problem->prefix_lengths, 4);
}

static fmha_status take_mask(struct modified *m) {
    return take_tensor(m, FMHA_KEY_ATTN_MASK, FMHA_BUFFER_MASK, FMHA_VALUE_STRIDE_MASK_BATCH, &m->problem->attn_mask, 1,
                       1);
}

static fmha_status take_block_mask(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    if (p->block_mask.data == NULL) {
        return FMHA_OK;
    }
    if (p->block_mask_q < 1 || p->block_mask_k < 1) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: block_mask: expected a block_mask_q and a block_mask_k of 1 and up, got %d and "
                         "%d; set them to the queries and keys of a bit",
                         m->function, p->block_mask_q, p->block_mask_k);
    }
    m->operands->value[FMHA_VALUE_BLOCK_MASK_Q] = p->block_mask_q;
    m->operands->value[FMHA_VALUE_BLOCK_MASK_K] = p->block_mask_k;
    return take_tensor(m, FMHA_KEY_BLOCK_MASK, FMHA_BUFFER_BLOCK_MASK, FMHA_VALUE_STRIDE_BLOCK_MASK_BATCH,
                       &p->block_mask, p->block_mask_q, 4);
}

/* ---- Scores and weights ---------------------------------------------------------------------------------- */

static fmha_status take_softcap(struct modified *m) {
    float softcap = m->problem->softcap;
    if (softcap == 0) {
        return FMHA_OK;
    }
    if (!(softcap >= SOFTCAP_MIN && softcap <= SOFTCAP_MAX)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: softcap: expected a number from 1e-30 to 1e30, got %g; set it to the bound of "
                         "the scores, or to 0 for none",
                         m->function, (double)softcap);
    }
    turn_on(m, FMHA_KEY_SOFTCAP);
    m->operands->real[FMHA_REAL_SOFTCAP] = softcap;
    return FMHA_OK;
}

static fmha_status take_alibi(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    fmha_status status = take_optional(m, FMHA_KEY_ALIBI, FMHA_BUFFER_ALIBI_SLOPES, p->alibi_slopes, 4);
    if (status != FMHA_OK || p->alibi_slopes == NULL || p->batch < 2) {
        return status;
    }
    m->operands->value[FMHA_VALUE_STRIDE_ALIBI_BATCH] = p->stride_alibi_batch;
    return check_stride(m, "stride_alibi_batch", p->stride_alibi_batch);
}

static fmha_status take_bias(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    bool f32 = p->bias_dtype == FMHA_DTYPE_F32;
    if (p->bias.data == NULL) {
        return FMHA_OK;
    }
    if (!f32 && p->bias_dtype != 0 && p->bias_dtype != p->dtype) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: bias_dtype: expected 0, the dtype (%d) or FMHA_DTYPE_F32 (%d), got %d; convert "
                         "the bias to one of them",
                         m->function, p->dtype, FMHA_DTYPE_F32, p->bias_dtype);
    }
    return take_tensor(m, FMHA_KEY_BIAS * (f32 ? FMHA_KEY_BIAS_F32 : FMHA_KEY_BIAS_SAME), FMHA_BUFFER_BIAS,
                       FMHA_VALUE_STRIDE_BIAS_BATCH, &p->bias, 1, f32 ? 4 : 2);
}

static fmha_status take_dropout(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    if (p->dropout == 0) {
        return FMHA_OK;
    }
    if (!(p->dropout > 0 && p->dropout < 1)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: dropout: expected a probability of 0 and up, below 1, got %g; set it to that "
                         "of dropping a weight",
                         m->function, (double)p->dropout);
    }
    if (p->dropout_offset > UINT32_MAX) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: dropout_offset: expected at most %" PRIu32 ", got %" PRIu64 "; count on in dropout_seed",
                         m->function, UINT32_MAX, p->dropout_offset);
    }
    turn_on(m, FMHA_KEY_DROPOUT);
    m->operands->real[FMHA_REAL_DROPOUT] = p->dropout;
    m->operands->value[FMHA_VALUE_DROPOUT_SEED] = (int64_t)p->dropout_seed;
    m->operands->value[FMHA_VALUE_DROPOUT_OFFSET] = (int64_t)p->dropout_offset;
    return FMHA_OK;
}

static fmha_status take_sink(struct modified *m) {
    return take_optional(m, FMHA_KEY_SINK, FMHA_BUFFER_SINK, m->problem->sink, 4);
}

static fmha_status take_head_scale(struct modified *m) {
    return take_optional(m, FMHA_KEY_HEAD_SCALE, FMHA_BUFFER_HEAD_SCALE, m->problem->head_scale, 4);
}

static fmha_status take_outside(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    if (p->modifier == 0) {
        return FMHA_OK;
    }
    m->key->modifier = p->modifier;
    for (int i = 0; i < FMHA_MODIFIER_VALUES; i++) {
        m->operands->real[FMHA_REAL_MODIFIER_0 + i] = p->modifier_values[i];
    }
    for (int i = 0; i < FMHA_MODIFIER_BUFFERS; i++) {
        m->operands->buffer[FMHA_BUFFER_MODIFIER_0 + i] = (void *)(uintptr_t)p->modifier_buffers[i];
    }
    return FMHA_OK;
}

/* ---- Small formats of K and V, whose tensors are not looked at here ---------------------------------------- */

static fmha_status take_formats(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    bool fp8 = p->kv_dtype != FMHA_KV_SAME && p->kv_dtype != FMHA_KV_MXFP4;
    if ((uint32_t)p->kv_dtype > FMHA_KV_MXFP4 || (uint32_t)p->kv_scale > FMHA_KV_SCALE_TOKEN) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "%s: expected a kv_dtype of enum fmha_kv_dtype and a kv_scale of enum fmha_kv_scale, got %d and "
            "%d; set them to some of theirs",
            m->function, p->kv_dtype, p->kv_scale);
    }
    if (p->kv_scale != 0 && !fp8) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: kv_scale: expected 0 where kv_dtype is no fp8, got %d with kv_dtype %d; set it to 0",
                         m->function, p->kv_scale, p->kv_dtype);
    }
    if (p->kv_dtype == FMHA_KV_SAME && (p->k_scale.data != NULL || p->v_scale.data != NULL)) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "%s: expected no scales of K and V with a kv_dtype of FMHA_KV_SAME, got %p and %p; set kv_dtype to "
            "their format, or both to NULL",
            m->function, p->k_scale.data, p->v_scale.data);
    }
    m->key->kv_dtype = (uint8_t)p->kv_dtype;
    turn_on(m, FMHA_KEY_KV_SCALE * (uint32_t)p->kv_scale);
    return FMHA_OK;
}

/* ---- Layouts --------------------------------------------------------------------------------------------- */

static fmha_status check_layout(const struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    if ((uint32_t)p->varlen > FMHA_VARLEN_PADDED) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: varlen: expected a value of enum fmha_varlen, got %d; set varlen to one of them",
                         m->function, p->varlen);
    }
    if (p->block_table == NULL && p->page_size != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: block_table: expected an address with a page_size of %d, got NULL; give the "
                         "problem its block_table, or set page_size to 0",
                         m->function, p->page_size);
    }
    if (p->block_table != NULL &&
        (p->page_size < 1 || p->page_size > PAGE_SIZE_MAX || (p->page_size & (p->page_size - 1)) != 0)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: page_size: expected a power of two from 1 to %d with a block_table, got %d; "
                         "set it to the keys of a page",
                         m->function, PAGE_SIZE_MAX, p->page_size);
    }
    if (p->v_layout == FMHA_V_TRANSPOSED && (p->varlen == FMHA_VARLEN_PACKED || p->block_table != NULL)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: v_layout: expected FMHA_V_ROW in a %s batch, got FMHA_V_TRANSPOSED; pass V by "
                         "rows of keys",
                         m->function, p->block_table != NULL ? "paged" : "packed");
    }
    return FMHA_OK;
}

/* Whether batch * seqlen_q is at least tokens_q, in any numbers. */
static bool holds_tokens(const fmha_forward_problem *p) {
    return p->tokens_q == 0 || (p->batch > 0 && p->seqlen_q > 0 && (p->tokens_q - 1) / p->batch < p->seqlen_q);
}

static fmha_status take_packed(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    struct fmha_forward_sizes *sizes = m->sizes;
    if (p->tokens_q < 0 || !holds_tokens(p)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: tokens_q: expected 0 to batch * seqlen_q (%" PRId64 " and %" PRId64 "), got %" PRId64
                         "; set tokens_q to the rows of Q and seqlen_q to the longest sequence",
                         m->function, p->batch, p->seqlen_q, p->tokens_q);
    }
    m->operands->value[FMHA_VALUE_TOKENS_Q] = p->tokens_q;
    sizes->batch_q = 1;
    sizes->rows_q = p->tokens_q;
    if (p->block_table == NULL) {
        sizes->batch_k = p->batch > 0;
        sizes->rows_k = p->seqlen_k > 0 && p->batch > 1 ? SEVERAL : p->seqlen_k;
    }
    return FMHA_OK;
}

static fmha_status take_paged(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    struct fmha_forward_sizes *sizes = m->sizes;
    turn_on(m, FMHA_KEY_PAGED);
    m->operands->buffer[FMHA_BUFFER_BLOCK_TABLE] = (void *)(uintptr_t)p->block_table;
    m->operands->value[FMHA_VALUE_PAGE_SIZE] = p->page_size;
    m->operands->value[FMHA_VALUE_STRIDE_BLOCK_TABLE] = p->batch > 1 ? p->stride_block_table : 0;
    sizes->batch_k = p->batch > 0 && p->seqlen_k > 0 ? SEVERAL : 0;
    sizes->rows_k = p->page_size;
    fmha_status status = check_address(m, "block_table", p->block_table, sizeof *p->block_table);
    return status == FMHA_OK && p->batch > 1 ? check_stride(m, "stride_block_table", p->stride_block_table) : status;
}

static fmha_status take_layout(struct modified *m) {
    const fmha_forward_problem *p = m->problem;
    fmha_status status = check_layout(m);
    if (status != FMHA_OK) {
        return status;
    }
    bool paged = p->block_table != NULL, packed = p->varlen == FMHA_VARLEN_PACKED;
    bool padded = p->varlen == FMHA_VARLEN_PADDED;
    const char *queries = packed ? "a packed batch" : padded ? "a padded batch" : "a batch without varlen";
    const char *keys = paged ? "a paged batch" : queries;
    turn_on(m, FMHA_KEY_VARLEN * (packed ? FMHA_KEY_VARLEN_PACKED : padded ? FMHA_KEY_VARLEN_PADDED : 0));
    status = take_lengths(m, FMHA_BUFFER_CU_SEQLENS_Q, p->cu_seqlens_q, packed, queries);
    status =
        status == FMHA_OK ? take_lengths(m, FMHA_BUFFER_CU_SEQLENS_K, p->cu_seqlens_k, packed && !paged, keys) : status;
    status = status == FMHA_OK ? take_lengths(m, FMHA_BUFFER_SEQLENS_Q, p->seqlens_q, padded, queries) : status;
    status = status == FMHA_OK ? take_lengths(m, FMHA_BUFFER_SEQLENS_K, p->seqlens_k, padded || paged, keys) : status;
    status = status == FMHA_OK && packed ? take_packed(m) : status;
    return status == FMHA_OK && paged ? take_paged(m) : status;
}

fmha_status fmha_forward_modify(const char *function, const fmha_forward_problem *p, bool launch, struct fmha_key *key,
                                struct fmha_operands *operands, struct fmha_forward_sizes *sizes) {
    static fmha_status (*const steps[])(struct modified *) = {
        take_window, take_prefix,     take_mask,    take_block_mask, take_softcap, take_alibi,  take_bias,
        take_sink,   take_head_scale, take_dropout, take_outside,    take_formats, take_layout,
    };
    memset(&operands->value[FMHA_VALUE_OF_MODIFIERS], 0,
           (FMHA_VALUE_COUNT - FMHA_VALUE_OF_MODIFIERS) * sizeof operands->value[0]);
    memset(&operands->buffer[FMHA_BUFFER_OF_MODIFIERS], 0,
           (FMHA_BUFFER_COUNT - FMHA_BUFFER_OF_MODIFIERS) * sizeof operands->buffer[0]);
    memset(&operands->real[FMHA_REAL_OF_MODIFIERS], 0,
           (FMHA_REAL_COUNT - FMHA_REAL_OF_MODIFIERS) * sizeof operands->real[0]);
    struct modified m = {
        .function = function, .problem = p, .launch = launch, .key = key, .operands = operands, .sizes = sizes};
    fmha_status status = FMHA_OK;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == FMHA_OK; i++) {
        status = steps[i](&m);
    }
    return status;
}

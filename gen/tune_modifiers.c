#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune_parts.h"

enum { WINDOW = 1023, SINK_KEYS = 4, BLOCK_QUERIES = 1024, BLOCK_KEYS = 256, BITS = 32 };
#define SOFTCAP 50.0
#define DROPOUT 0.1

struct modification {
    const struct tune_request *request;
    struct tune_tensors *tensors;
    fmha_forward_problem *problem;
    struct error *error;
};

static bool is_on(const struct modification *m, enum spec_field_id field) {
    return m->request->spec->value[field] != spec_fields[field].neutral;
}

static int32_t given_or(int64_t given, int64_t usual) {
    int64_t number = given != MODIFIERS_OWN ? given : usual;
    return (int32_t)(number < INT32_MAX ? number : INT32_MAX);
}

/* `count` elements that are all the same. NULL with an error. */
static const void *repeat(struct modification *m, const char *label, const void *element, size_t element_bytes,
                          int64_t count) {
    size_t elements = count > 0 ? (size_t)count : 1;
    unsigned char *host = elements <= SIZE_MAX / element_bytes ? malloc(elements * element_bytes) : NULL;
    void *address = NULL;
    if (!host) {
        error_set(m->error, ERROR_RUN, "tune: out of memory for the tensor %s of %zu elements", label, elements);
        return NULL;
    }
    for (size_t i = 0; i < elements; i++)
        memcpy(host + i * element_bytes, element, element_bytes);
    bool done = tune_put(m->tensors, label, host, elements * element_bytes, &address, m->error);
    free(host);
    return done ? address : NULL;
}

static const float *repeat_real(struct modification *m, const char *label, float value, int64_t count) {
    return repeat(m, label, &value, sizeof value, count);
}

static const int32_t *repeat_length(struct modification *m, const char *label, int64_t length) {
    const int32_t value = (int32_t)length;
    return repeat(m, label, &value, sizeof value, m->problem->batch);
}

/* 0, step, 2 step, …: `count` of them. */
static const int32_t *steps(struct modification *m, const char *label, int64_t step, int64_t count) {
    int32_t *host = count < INT32_MAX ? calloc((size_t)count, sizeof *host) : NULL;
    void *address = NULL;
    if (!host) {
        error_set(m->error, ERROR_RUN, "tune: out of memory for the tensor %s", label);
        return NULL;
    }
    for (int64_t i = 0; i < count; i++)
        host[i] = (int32_t)(i * step);
    bool done = tune_put(m->tensors, label, host, (size_t)count * sizeof *host, &address, m->error);
    free(host);
    return done ? address : NULL;
}

static bool set_window(struct modification *m) {
    const struct modifiers_values *values = &m->request->values;
    fmha_forward_problem *p = m->problem;
    p->window = 1;
    p->window_left = given_or(values->window_left, WINDOW);
    p->window_right = given_or(values->window_right, p->mask != FMHA_MASK_NONE ? 0 : WINDOW);
    return true;
}

static bool set_sink_keys(struct modification *m) {
    m->problem->sink_keys = given_or(m->request->values.sink_keys, SINK_KEYS);
    return true;
}

static bool set_prefix(struct modification *m) {
    fmha_forward_problem *p = m->problem;
    p->prefix_lengths = repeat_length(m, "prefix_lengths", given_or(m->request->values.prefix, p->seqlen_k / 4));
    return p->prefix_lengths != NULL;
}

static bool set_softcap(struct modification *m) {
    double softcap = m->request->values.softcap;
    m->problem->softcap = (float)(isnan(softcap) ? SOFTCAP : softcap);
    return true;
}

static bool set_alibi(struct modification *m) {
    m->problem->alibi_slopes = repeat_real(m, "alibi_slopes", 0.0625F, m->problem->heads_q);
    return m->problem->alibi_slopes != NULL;
}

/* Zeros of [seqlen_q][seqlen_k], for all batches and heads. */
static bool set_bias(struct modification *m) {
    fmha_forward_problem *p = m->problem;
    bool f32 = strcmp(spec_word(m->request->spec, SPEC_BIAS), "f32") == 0;
    p->bias_dtype = f32 ? FMHA_DTYPE_F32 : 0;
    p->bias.data = (void *)(uintptr_t)repeat(m, "bias", &(uint32_t){0}, f32 ? 4 : 2, p->seqlen_q * p->seqlen_k);
    p->bias.stride_row = p->seqlen_k;
    return p->bias.data != NULL;
}

static bool set_mask(struct modification *m) {
    fmha_forward_problem *p = m->problem;
    p->attn_mask.data = (void *)(uintptr_t)repeat(m, "mask", &(uint8_t){1}, 1, p->seqlen_q * p->seqlen_k);
    p->attn_mask.stride_row = p->seqlen_k;
    return p->attn_mask.data != NULL;
}

static bool set_block_mask(struct modification *m) {
    fmha_forward_problem *p = m->problem;
    int64_t words = p->seqlen_k / (BLOCK_KEYS * BITS) + 1, rows = p->seqlen_q / BLOCK_QUERIES + 1;
    p->block_mask_q = BLOCK_QUERIES;
    p->block_mask_k = BLOCK_KEYS;
    p->block_mask.data = (void *)(uintptr_t)repeat(m, "block_mask", &(uint32_t){UINT32_MAX}, 4, rows * words);
    p->block_mask.stride_row = words;
    return p->block_mask.data != NULL;
}

static bool set_sink(struct modification *m) {
    m->problem->sink = repeat_real(m, "sink", 0, m->problem->heads_q);
    return m->problem->sink != NULL;
}

static bool set_head_scale(struct modification *m) {
    m->problem->head_scale = repeat_real(m, "head_scale", 1, m->problem->heads_q);
    return m->problem->head_scale != NULL;
}

static bool set_dropout(struct modification *m) {
    double dropout = m->request->values.dropout;
    m->problem->dropout = (float)(isnan(dropout) ? DROPOUT : dropout);
    m->problem->dropout_seed = m->request->seed;
    return true;
}

static bool set_varlen(struct modification *m) {
    fmha_forward_problem *p = m->problem;
    bool packed = strcmp(spec_word(m->request->spec, SPEC_VARLEN), "packed") == 0, paged = is_on(m, SPEC_PAGED);
    p->varlen = packed ? FMHA_VARLEN_PACKED : FMHA_VARLEN_PADDED;
    if (packed) {
        p->tokens_q = p->batch * p->seqlen_q;
        p->cu_seqlens_q = steps(m, "cu_seqlens_q", p->seqlen_q, p->batch + 1);
        p->cu_seqlens_k = paged ? NULL : steps(m, "cu_seqlens_k", p->seqlen_k, p->batch + 1);
        return p->cu_seqlens_q && (paged || p->cu_seqlens_k);
    }
    p->seqlens_q = repeat_length(m, "seqlens_q", p->seqlen_q);
    p->seqlens_k = paged ? NULL : repeat_length(m, "seqlens_k", p->seqlen_k);
    return p->seqlens_q && (paged || p->seqlens_k);
}

/* The pages stand in their order. */
static bool set_paged(struct modification *m) {
    fmha_forward_problem *p = m->problem;
    p->page_size = TUNE_PAGE_SIZE;
    p->stride_block_table = (p->seqlen_k + TUNE_PAGE_SIZE - 1) / TUNE_PAGE_SIZE;
    p->k.stride_batch = TUNE_PAGE_SIZE * p->k.stride_row;
    p->v.stride_batch = TUNE_PAGE_SIZE * p->v.stride_row;
    p->seqlens_k = repeat_length(m, "seqlens_k", p->seqlen_k);
    p->block_table = steps(m, "block_table", 1, p->batch * p->stride_block_table + 1);
    return p->seqlens_k && p->block_table;
}

bool tune_modify(const struct tune_request *request, struct tune_tensors *tensors, fmha_forward_problem *problem,
                 struct error *error) {
    static const struct {
        enum spec_field_id field;
        bool (*set)(struct modification *modification);
    } rows[] = {
        {SPEC_WINDOW, set_window},         {SPEC_SINK_KEYS, set_sink_keys},   {SPEC_PREFIX, set_prefix},
        {SPEC_SOFTCAP, set_softcap},       {SPEC_ALIBI, set_alibi},           {SPEC_BIAS, set_bias},
        {SPEC_ATTN_MASK, set_mask},        {SPEC_BLOCK_MASK, set_block_mask}, {SPEC_SINK, set_sink},
        {SPEC_HEAD_SCALE, set_head_scale}, {SPEC_DROPOUT, set_dropout},       {SPEC_VARLEN, set_varlen},
        {SPEC_PAGED, set_paged},
    };
    struct modification m = {request, tensors, problem, error};
    problem->modifier = request->spec->modifier_hash;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_on(&m, rows[i].field) && !rows[i].set(&m))
            return false;
    return true;
}

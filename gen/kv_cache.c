#include "kv_cache.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "native.h"
#include "quantize.h"

static const struct {
    const char *word;
    enum format format;
} formats[] = {
    {"e4m3", FORMAT_E4M3}, {"e5m2", FORMAT_E5M2}, {"e4m3fnuz", FORMAT_E4M3FNUZ}, {"e5m2fnuz", FORMAT_E5M2FNUZ}};

bool kv_cache_is_used(const struct spec *spec) {
    return spec_has(spec, SPEC_KV_DTYPE) && strcmp(spec_word(spec, SPEC_KV_DTYPE), "same") != 0;
}

static bool is_mxfp4(const struct spec *spec) {
    return kv_cache_is_used(spec) && strcmp(spec_word(spec, SPEC_KV_DTYPE), "mxfp4") == 0;
}

static bool is_per_token(const struct spec *spec) {
    return kv_cache_is_used(spec) && strcmp(spec_word(spec, SPEC_KV_SCALE), "token") == 0;
}

int64_t kv_cache_row_bytes(const struct spec *spec, int64_t head_dim) {
    if (!kv_cache_is_used(spec))
        return head_dim * (int64_t)sizeof(uint16_t);
    return is_mxfp4(spec) ? (head_dim + 1) / 2 : head_dim;
}

int64_t kv_cache_scale_bytes(const struct spec *spec, int64_t head_dim) {
    if (is_mxfp4(spec))
        return (head_dim + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK;
    return is_per_token(spec) ? (int64_t)sizeof(float) : 0;
}

static int64_t rows_of(const struct reference_problem *problem) {
    return problem->batch * problem->heads_k * problem->seqlen_k;
}

static bool tensor_new(const struct spec *spec, const struct kv_cache *cache, const struct reference_problem *problem,
                       int64_t head_dim, struct kv_cache_tensor *tensor) {
    int64_t rows = rows_of(problem), heads = problem->batch * problem->heads_k;
    tensor->head_dim = head_dim;
    tensor->row_bytes = kv_cache_row_bytes(spec, head_dim);
    tensor->scales_of_row = cache->mxfp4 ? kv_cache_scale_bytes(spec, head_dim) : 1;
    tensor->numbers = calloc((size_t)(rows * tensor->row_bytes) + 1, 1);
    if (cache->mxfp4)
        tensor->blocks = calloc((size_t)(rows * tensor->scales_of_row) + 1, 1);
    else
        tensor->scales = calloc((size_t)(cache->per_token ? rows : heads) + 1, sizeof *tensor->scales);
    return tensor->numbers && (tensor->blocks || tensor->scales);
}

/* Another scale that serves the same values: at most twice as large, or so much smaller that the largest saturate. */
static float vary(float scale, uint64_t *state) {
    uint64_t drawn = inputs_next(state);
    float factor = 0.6f + 1.4f * (float)(drawn >> 40) * 0x1p-24f;
    return drawn % 3 == 0 ? ldexpf(1, ilogbf(scale) + (int)(drawn / 3 % 3)) : scale * factor;
}

/* Gives a row's NaN or infinity to its scale. */
static void break_scale(float *row, int64_t head_dim, uint64_t drawn, float *scale) {
    bool broken = false;
    for (int64_t d = 0; d < head_dim; d++)
        broken = broken || !isfinite(row[d]);
    if (!broken || drawn % 2)
        return;
    for (int64_t d = 0; d < head_dim; d++)
        row[d] = isfinite(row[d]) ? row[d] : 1;
    *scale = drawn / 2 % 2 ? INFINITY : NAN;
}

/* The rows of one head of one batch; `row` is scratch. like: the head whose scale it has, -1: its own. */
static void quantize_head(const struct kv_cache *cache, enum half_type type, int64_t head, int64_t like, int64_t rows,
                          const uint16_t *bits, float *row, struct kv_cache_tensor *tensor, uint64_t *state) {
    const struct quantize_shape one = {1, 1, 1, tensor->head_dim};
    const enum format format = (enum format)cache->format;
    float largest = 0;
    for (int64_t at = 0; !cache->mxfp4 && !cache->per_token && at < rows * tensor->head_dim; at++) {
        float value = (float)half_to_double(type, bits[head * rows * tensor->head_dim + at]);
        largest = isfinite(value) ? fmaxf(largest, fabsf(value)) : largest;
    }
    float scale = vary(fmaxf(largest / (float)format_largest(format), 0x1p-126f), state);
    if (like >= 0)
        scale = tensor->scales[like];
    if (!cache->mxfp4 && !cache->per_token)
        tensor->scales[head] = scale;
    for (int64_t at = head * rows; at < (head + 1) * rows; at++) {
        for (int64_t d = 0; d < tensor->head_dim; d++)
            row[d] = (float)half_to_double(type, bits[at * tensor->head_dim + d]);
        if (cache->mxfp4) {
            quantize_mxfp4_row(QUANTIZE_FLOOR, row, tensor->head_dim, tensor->numbers + at * tensor->row_bytes,
                               tensor->blocks + at * tensor->scales_of_row, tensor->scales_of_row);
            continue;
        }
        float broken = 0;
        if (cache->per_token) {
            break_scale(row, tensor->head_dim, inputs_next(state), &broken);
            quantize_fp8_choose(format, QUANTIZE_PER_TOKEN, one, row, &scale);
            scale = vary(scale, state);
        }
        quantize_fp8(format, QUANTIZE_PER_TOKEN, one, row, &scale, tensor->numbers + at * tensor->row_bytes);
        if (cache->per_token)
            tensor->scales[at] = isfinite(broken) ? scale : broken;
    }
}

bool kv_cache_make(const struct spec *spec, const struct reference_problem *problem, enum half_type type, uint64_t seed,
                   const uint16_t *k, const uint16_t *v, struct kv_cache *cache, struct error *error) {
    const char *word = spec_word(spec, SPEC_KV_DTYPE);
    *cache = (struct kv_cache){.mxfp4 = is_mxfp4(spec), .per_token = is_per_token(spec)};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(word, formats[i].word))
            cache->format = formats[i].format;
    int64_t rows = rows_of(problem);
    int64_t longest = problem->head_dim > problem->head_dim_v ? problem->head_dim : problem->head_dim_v;
    float *row = malloc((size_t)longest * sizeof *row);
    cache->v_scale = calloc((size_t)rows + 1, sizeof *cache->v_scale);
    bool done = row && cache->v_scale && tensor_new(spec, cache, problem, problem->head_dim, &cache->k) &&
                (problem->v_in_k || tensor_new(spec, cache, problem, problem->head_dim_v, &cache->v));
    uint64_t state = seed ^ UINT64_C(0x5ca1e5);
    bool packed = !strcmp(spec_word(spec, SPEC_VARLEN), "packed") && !strcmp(spec_word(spec, SPEC_PAGED), "off");
    bool of_heads = !cache->mxfp4 && !cache->per_token;
    cache->shared = of_heads && seed % 4 == 3;
    for (int64_t head = 0; done && head < problem->batch * problem->heads_k; head++) {
        int64_t like = !of_heads || head == 0               ? -1
                       : cache->shared                      ? 0
                       : packed && head >= problem->heads_k ? head % problem->heads_k
                                                            : -1;
        quantize_head(cache, type, head, like, problem->seqlen_k, k, row, &cache->k, &state);
        if (!problem->v_in_k)
            quantize_head(cache, type, head, like, problem->seqlen_k, v, row, &cache->v, &state);
    }
    const struct kv_cache_tensor *of_v = problem->v_in_k ? &cache->k : &cache->v;
    for (int64_t at = 0; done && cache->per_token && at < rows; at++)
        cache->v_scale[at] = fabs((double)of_v->scales[at]);
    free(row);
    if (done)
        return true;
    kv_cache_free(cache);
    return error_set(error, ERROR_RUN, "no memory for a cache of %" PRId64 " keys; verify a smaller shape",
                     problem->seqlen_k);
}

void kv_cache_free(struct kv_cache *cache) {
    struct kv_cache_tensor *tensors[] = {&cache->k, &cache->v};
    for (int i = 0; i < 2; i++) {
        free(tensors[i]->numbers);
        free(tensors[i]->scales);
        free(tensors[i]->blocks);
    }
    free(cache->v_scale);
    *cache = (struct kv_cache){0};
}

bool kv_cache_quantize_q(const struct spec *spec, const struct kv_cache *cache, double *q,
                         struct reference_problem *problem, struct error *error) {
    problem->bf16_weights = native_has_bf16_weights(spec);
    if (native_is_scaled(spec))
        return native_quantize_q(spec, problem, q) || error_set(error, ERROR_RUN, "no memory for a row of Q");
    problem->fp8_weights = !cache->mxfp4 && !strcmp(spec_word(spec, SPEC_KV_MATH), "native");
    if (!problem->fp8_weights)
        return true;
    const struct quantize_shape one = {1, 1, 1, problem->head_dim};
    const bool fnuz = cache->format == FORMAT_E4M3FNUZ || cache->format == FORMAT_E5M2FNUZ;
    const enum format format = fnuz ? FORMAT_E4M3FNUZ : FORMAT_E4M3;
    float *row = malloc((size_t)problem->head_dim * sizeof *row), scale;
    uint8_t *numbers = malloc((size_t)problem->head_dim);
    bool done = row && numbers;
    for (int64_t at = 0; done && at < problem->batch * problem->heads_q * problem->seqlen_q; at++) {
        double *values = q + at * problem->head_dim;
        for (int64_t d = 0; d < problem->head_dim; d++)
            row[d] = (float)values[d];
        quantize_fp8_choose(format, QUANTIZE_PER_TOKEN, one, row, &scale);
        quantize_fp8(format, QUANTIZE_PER_TOKEN, one, row, &scale, numbers);
        for (int64_t d = 0; d < problem->head_dim; d++)
            values[d] = format_decode(format, numbers[d]) * (double)scale;
    }
    free(row);
    free(numbers);
    return done || error_set(error, ERROR_RUN, "no memory for a row of Q");
}

/* A number as the kernel's operand has it. */
static double operand(enum half_type type, bool flushes, double number) {
    uint16_t bits = half_from_double(type, number);
    return half_to_double(type, flushes ? half_flush(type, bits) : bits);
}

static void read_tensor(const struct kv_cache *cache, const struct kv_cache_tensor *tensor, int64_t heads, int64_t rows,
                        enum half_type type, bool flushes, double *values) {
    for (int64_t at = 0; at < heads * rows; at++) {
        const uint8_t *numbers = tensor->numbers + at * tensor->row_bytes;
        double scale = cache->mxfp4 ? 1 : (double)tensor->scales[cache->per_token ? at : at / rows];
        for (int64_t d = 0; d < tensor->head_dim; d++) {
            double number = cache->mxfp4 ? quantize_mxfp4_value(numbers, tensor->blocks + at * tensor->scales_of_row, d)
                                         : format_decode((enum format)cache->format, numbers[d]);
            values[at * tensor->head_dim + d] = isfinite(scale) ? operand(type, flushes, number) * scale : NAN;
        }
    }
}

void kv_cache_read(const struct spec *spec, const struct kv_cache *cache, enum half_type type, bool flushes, double *k,
                   double *v, struct reference_problem *problem) {
    const int64_t heads = problem->batch * problem->heads_k;
    /* What the matrix unit multiplies itself is exact, as in bf16. */
    const enum half_type of_k = native_is_scaled(spec) ? HALF_BF16 : type;
    read_tensor(cache, &cache->k, heads, problem->seqlen_k, of_k, flushes, k);
    if (!problem->v_in_k)
        read_tensor(cache, &cache->v, heads, problem->seqlen_k, type, flushes, v);
    problem->k_scaled = problem->v_scaled = !cache->mxfp4;
    problem->v_scale = cache->per_token ? cache->v_scale : NULL;
}

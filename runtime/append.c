/* Appending: from the public struct to a key and operands. */
#include <stdbool.h>
#include <stddef.h>

#include "dispatch.h"
#include "driver.h"
#include "problem.h"

/* Of the fields that every version has had: up to `stream`, whatever comes after it. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_append_problem, stream) + sizeof(void *))

#define SEVERAL 2 /* pages, whose number is not told: a stride between them counts */

struct reading {
    const fmha_append_problem *problem;
    bool launch;   /* its tensors must be there */
    uint64_t bits; /* of addresses and strides in sixteenths of what they must be multiples of, all together */
    struct fmha_request *request;
};

static bool is_small(const fmha_append_problem *p) {
    return p->kv_dtype != FMHA_KV_SAME;
}

/* Whether the kernel makes the scales, one or more for each row. */
static bool makes_scales(const fmha_append_problem *p) {
    return p->kv_dtype == FMHA_KV_MXFP4 || p->kv_scale == FMHA_KV_SCALE_TOKEN;
}

/* ---- Checks ---- */

static fmha_status check_words(const fmha_append_problem *p) {
    const struct {
        const char *name, *expected;
        int32_t value, most;
    } words[] = {
        {"kv_dtype", "a value of enum fmha_kv_dtype", p->kv_dtype, FMHA_KV_MXFP4},
        {"kv_scale", "a value of enum fmha_kv_scale", p->kv_scale, FMHA_KV_SCALE_TOKEN},
        {"scale_rule", "a value of enum fmha_scale_rule", p->scale_rule, FMHA_SCALE_THREE_QUARTERS},
        {"without_v", "0 or 1", p->without_v, 1},
        {"varlen", "a value of enum fmha_varlen", p->varlen, FMHA_VARLEN_PADDED},
        {"rotary", "a value of enum fmha_rotary", p->rotary, FMHA_ROTARY_INTERLEAVED},
    };
    if (p->dtype != FMHA_DTYPE_F16 && p->dtype != FMHA_DTYPE_BF16) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_append: dtype: expected FMHA_DTYPE_F16 or FMHA_DTYPE_BF16, got %d; set dtype to one of "
                         "them",
                         p->dtype);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].value < 0 || words[i].value > words[i].most) {
            return fmha_fail(FMHA_ERROR_ARGUMENT,
                             "fmha_append: %s: expected %s, got %d; begin with FMHA_APPEND_PROBLEM_INIT", words[i].name,
                             words[i].expected, words[i].value);
        }
    }
    bool fp8 = is_small(p) && p->kv_dtype != FMHA_KV_MXFP4;
    if (p->kv_scale != 0 && !fp8) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_append: kv_scale: expected 0 where kv_dtype is no fp8, got %d with kv_dtype %d; set it "
                         "to 0",
                         p->kv_scale, p->kv_dtype);
    }
    if (p->scale_rule != 0 && p->kv_dtype != FMHA_KV_MXFP4) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_append: scale_rule: expected 0 where kv_dtype is not FMHA_KV_MXFP4, got %d with kv_dtype "
            "%d; set it to 0",
            p->scale_rule, p->kv_dtype);
    }
    return FMHA_OK;
}

static fmha_status check_sizes(const fmha_append_problem *p) {
    if (p->batch < 0 || p->heads_k < 0 || p->seqlen_new < 0 || p->seqlen_k < 0 || p->tokens_new < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_append: expected batch, heads_k, seqlen_new, seqlen_k and tokens_new of 0 and up, got "
                         "%lld, %lld, %lld, %lld and %lld; set them to the tensors' sizes",
                         (long long)p->batch, (long long)p->heads_k, (long long)p->seqlen_new, (long long)p->seqlen_k,
                         (long long)p->tokens_new);
    }
    if (p->head_dim < 0 || p->head_dim > UINT16_MAX || p->head_dim_v < 0 || p->head_dim_v > UINT16_MAX) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_append: expected head_dim and head_dim_v of 0 to %d, got %d and %d; set them to the rows "
            "of K and V",
            UINT16_MAX, p->head_dim, p->head_dim_v);
    }
    if (p->page_size < 0 || p->page_size > 256 || (p->page_size & (p->page_size - 1)) != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_append: page_size: expected a power of two from 1 to 256, or 0 without pages, got %d; "
                         "use pages of such a size",
                         p->page_size);
    }
    return FMHA_OK;
}

/* ---- Tensors ---- */

/* K or V: what is new, the cache and its scales. */
static fmha_status take_side(struct reading *reading, bool v) {
    const fmha_append_problem *p = reading->problem;
    bool packed = p->varlen == FMHA_VARLEN_PACKED, fp4 = p->kv_dtype == FMHA_KV_MXFP4;
    int64_t blocks = p->page_size != 0 ? SEVERAL : p->batch, rows = p->page_size != 0 ? p->page_size : p->seqlen_k;
    const struct fmha_problem_array new = {v ? "v_new" : "k_new",
                                           v ? &p->v_new : &p->k_new,
                                           packed ? 1 : p->batch,
                                           p->heads_k,
                                           packed ? p->tokens_new : p->seqlen_new,
                                           2,
                                           1,
                                           v ? FMHA_VALUE_STRIDE_V_NEW_BATCH : FMHA_VALUE_STRIDE_K_NEW_BATCH,
                                           v ? FMHA_BUFFER_V_NEW : FMHA_BUFFER_K_NEW};
    const struct fmha_problem_array cache = {v ? "v" : "k",
                                             v ? &p->v : &p->k,
                                             blocks,
                                             p->heads_k,
                                             rows,
                                             is_small(p) ? 1 : 2,
                                             fp4           ? 4
                                             : is_small(p) ? 2
                                                           : 1,
                                             v ? FMHA_VALUE_STRIDE_V_BATCH : FMHA_VALUE_STRIDE_K_BATCH,
                                             v ? FMHA_BUFFER_V : FMHA_BUFFER_K};
    const struct fmha_problem_array scale = {v ? "v_scale" : "k_scale",
                                             v ? &p->v_scale : &p->k_scale,
                                             makes_scales(p) ? blocks : p->batch,
                                             p->heads_k,
                                             makes_scales(p) ? rows : 1,
                                             fp4 ? 1 : 4,
                                             0,
                                             v ? FMHA_VALUE_STRIDE_V_SCALE_BATCH : FMHA_VALUE_STRIDE_K_SCALE_BATCH,
                                             v ? FMHA_BUFFER_V_SCALE : FMHA_BUFFER_K_SCALE};
    const struct fmha_problem_array *arrays[] = {&new, &cache, &scale};
    fmha_status status = FMHA_OK;
    for (int i = 0; i < (is_small(p) ? 3 : 2) && status == FMHA_OK; i++) {
        status = fmha_problem_array("fmha_append", arrays[i], !reading->request->empty, reading->launch,
                                    &reading->request->operands, &reading->bits);
    }
    return status;
}

/* A list of 32-bit numbers that the problem has where `wanted`. */
static fmha_status take_list(struct reading *reading, const char *name, const void *list, bool wanted,
                             enum fmha_buffer buffer) {
    if (wanted && list == NULL && reading->launch && !reading->request->empty) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_append: %s: expected the address of a list, got NULL; give the problem its %s", name,
                         name);
    }
    if (wanted && (uintptr_t)list % 4 != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_append: %s: expected an address that is a multiple of 4, got %p; align %s to 4 bytes",
                         name, list, name);
    }
    reading->request->operands.buffer[buffer] = list != NULL ? (void *)(uintptr_t)list : (void *)FMHA_PROBLEM_STAND_IN;
    return FMHA_OK;
}

static fmha_status take_lists(struct reading *reading) {
    const fmha_append_problem *p = reading->problem;
    const struct {
        const char *name;
        const void *list;
        bool wanted;
        enum fmha_buffer buffer;
    } lists[] = {
        {"seqlens_k", p->seqlens_k, true, FMHA_BUFFER_SEQLENS_K},
        {"cu_seqlens_new", p->cu_seqlens_new, p->varlen == FMHA_VARLEN_PACKED, FMHA_BUFFER_CU_SEQLENS_NEW},
        {"seqlens_new", p->seqlens_new, p->varlen == FMHA_VARLEN_PADDED, FMHA_BUFFER_SEQLENS_NEW},
        {"block_table", p->block_table, p->page_size != 0, FMHA_BUFFER_BLOCK_TABLE},
        {"rotary_cos", p->rotary_cos, p->rotary != FMHA_ROTARY_OFF, FMHA_BUFFER_ROTARY_COS},
        {"rotary_sin", p->rotary_sin, p->rotary != FMHA_ROTARY_OFF, FMHA_BUFFER_ROTARY_SIN},
    };
    const struct {
        const char *name;
        int64_t stride;
        enum fmha_value value;
    } strides[] = {
        {"stride_block_table", p->batch > 1 ? p->stride_block_table : 0, FMHA_VALUE_STRIDE_BLOCK_TABLE},
        {"stride_rotary_cos_row", p->stride_rotary_cos_row, FMHA_VALUE_STRIDE_ROTARY_COS_ROW},
        {"stride_rotary_sin_row", p->stride_rotary_sin_row, FMHA_VALUE_STRIDE_ROTARY_SIN_ROW},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        fmha_status status = take_list(reading, lists[i].name, lists[i].list, lists[i].wanted, lists[i].buffer);
        if (status != FMHA_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
        if (strides[i].stride < 0 || strides[i].stride >> 60 != 0) {
            return fmha_fail(FMHA_ERROR_ARGUMENT,
                             "fmha_append: %s: expected 0 and up, below 2^60 elements, got %lld; pass a stride in "
                             "elements",
                             strides[i].name, (long long)strides[i].stride);
        }
        reading->request->operands.value[strides[i].value] = strides[i].stride;
    }
    return FMHA_OK;
}

/* ---- The whole ---- */

static void set_values(struct reading *reading) {
    const fmha_append_problem *p = reading->problem;
    int64_t *value = reading->request->operands.value;
    value[FMHA_VALUE_BATCH] = p->batch;
    value[FMHA_VALUE_HEADS_K] = p->heads_k;
    value[FMHA_VALUE_SEQLEN_NEW] = p->seqlen_new;
    value[FMHA_VALUE_TOKENS_NEW] = p->tokens_new;
    value[FMHA_VALUE_SEQLEN_K] = p->seqlen_k;
    value[FMHA_VALUE_HEAD_DIM] = p->head_dim;
    value[FMHA_VALUE_HEAD_DIM_V] = reading->request->key.head_dim_v;
    value[FMHA_VALUE_PAGE_SIZE] = p->page_size;
    value[FMHA_VALUE_ROTARY_DIM] = p->rotary_dim;
    value[FMHA_VALUE_ROTARY_FIRST] = p->rotary_first;
    if (p->rotary != FMHA_ROTARY_OFF) { /* a piece of eight columns is rotated as a whole: eight times two bytes */
        reading->bits |= (uint64_t)p->rotary_first * 2;
        reading->bits |= (uint64_t)p->rotary_dim * (p->rotary == FMHA_ROTARY_NEOX ? 1 : 2);
    }
}

static void set_key(struct reading *reading, const fmha_device *device) {
    const fmha_append_problem *p = reading->problem;
    struct fmha_key *key = &reading->request->key;
    fmha_dispatch_key(device, key);
    key->operation = FMHA_KEY_APPEND;
    key->dtype = p->dtype == FMHA_DTYPE_F16 ? FMHA_KEY_F16 : FMHA_KEY_BF16;
    key->kv_dtype = (uint8_t)p->kv_dtype;
    key->head_dim = (uint16_t)p->head_dim;
    key->head_dim_v = (uint16_t)(p->without_v ? 0 : p->head_dim_v != 0 ? p->head_dim_v : p->head_dim);
    key->modifiers = FMHA_KEY_VARLEN * (uint32_t)p->varlen + FMHA_KEY_KV_SCALE * (uint32_t)p->kv_scale +
                     FMHA_KEY_ROTARY * (uint32_t)p->rotary + FMHA_KEY_VALUES * (uint32_t)p->without_v +
                     FMHA_KEY_SCALE_RULE * (uint32_t)p->scale_rule + (p->page_size != 0 ? FMHA_KEY_PAGED : 0);
}

/* Reads the problem. `launch`: its tensors must be there. */
static fmha_status read_problem(const fmha_device *device, const void *given, bool launch,
                                struct fmha_request *request) {
    fmha_append_problem room;
    const fmha_append_problem *p =
        fmha_problem_begin("fmha_append", "fmha_append_problem", device, given, STRUCT_BYTES_FIRST, &room, sizeof room);
    if (p == NULL) {
        return FMHA_ERROR_ARGUMENT;
    }
    fmha_status status = check_words(p);
    status = status == FMHA_OK ? check_sizes(p) : status;
    if (status != FMHA_OK) {
        return status;
    }
    int64_t rows = p->varlen == FMHA_VARLEN_PACKED ? p->tokens_new : p->seqlen_new;
    struct reading reading = {.problem = p, .launch = launch, .request = request};
    *request = (struct fmha_request){.stream = p->stream,
                                     .empty = p->batch == 0 || p->heads_k == 0 || rows == 0 || p->seqlen_k == 0 ||
                                              p->head_dim == 0};
    set_key(&reading, device);
    set_values(&reading);
    status = take_side(&reading, false);
    status = status == FMHA_OK && !p->without_v ? take_side(&reading, true) : status;
    status = status == FMHA_OK ? take_lists(&reading) : status;
    fmha_key_set_align(&request->key, fmha_problem_align(reading.bits));
    return status;
}

fmha_status fmha_append(fmha_device *device, const fmha_append_problem *problem) {
    return fmha_problem_launch(device, read_problem, problem);
}

fmha_status fmha_append_prepare(fmha_device *device, const fmha_append_problem *problem) {
    return fmha_problem_prepare(device, read_problem, problem);
}

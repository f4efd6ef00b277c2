/* Quantizing: from the public struct to keys and operands. */
#include <stdbool.h>
#include <stddef.h>

#include "dispatch.h"
#include "driver.h"
#include "problem.h"

/* Of the fields that every version has had: up to `stream`, whatever comes after it. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_quantize_problem, stream) + sizeof(void *))

/* Workgroups that look for one scale: enough to read at the memory's speed, few enough for each row to look at. */
#define PARTS_MAX 32
#define PART_ROWS 64 /* that one of them is worth */

struct request {
    struct fmha_key key; /* of the pass that makes the numbers */
    struct fmha_operands operands;
    bool empty, finds_scales; /* finds_scales: in a pass before */
    size_t workspace_bytes;
    uint8_t from_align; /* of `from` alone */
};

static fmha_status check(const fmha_quantize_problem *p) {
    bool fp4 = p->kv_dtype == FMHA_KV_MXFP4;
    if (p->dtype < FMHA_DTYPE_F16 || p->dtype > FMHA_DTYPE_F32) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_quantize: dtype: expected FMHA_DTYPE_F16, FMHA_DTYPE_BF16 or FMHA_DTYPE_F32, got %d; set "
            "dtype to one of them",
            p->dtype);
    }
    if (p->kv_dtype < FMHA_KV_E4M3 || p->kv_dtype > FMHA_KV_MXFP4) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_quantize: kv_dtype: expected a small format of enum fmha_kv_dtype, got %d; set kv_dtype "
                         "to one of them",
                         p->kv_dtype);
    }
    if (p->given < 0 || p->given > 1 || (p->given && fp4)) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_quantize: given: expected 0, or 1 with fp8, got %d with kv_dtype %d; leave it at 0 where "
            "scales are to be made",
            p->given, p->kv_dtype);
    }
    if (p->share < FMHA_SHARE_TENSOR || p->share > FMHA_SHARE_TOKEN || (p->share != 0 && (fp4 || p->given))) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_quantize: share: expected a value of enum fmha_scale_share, and 0 with mxfp4 or given "
                         "scales, got %d with kv_dtype %d; leave it at 0 there",
                         p->share, p->kv_dtype);
    }
    if (p->scale_rule < FMHA_SCALE_FLOOR || p->scale_rule > FMHA_SCALE_THREE_QUARTERS || (p->scale_rule != 0 && !fp4)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_quantize: scale_rule: expected a value of enum fmha_scale_rule, and 0 where kv_dtype is "
                         "not FMHA_KV_MXFP4, got %d with kv_dtype %d; leave it at 0 there",
                         p->scale_rule, p->kv_dtype);
    }
    if (p->batch < 0 || p->heads < 0 || p->seqlen < 0 || p->head_dim < 0 || p->head_dim > UINT16_MAX) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "fmha_quantize: expected batch, heads and seqlen of 0 and up and head_dim of 0 to %d, got %lld, "
            "%lld, %lld and %d; set them to the tensor's sizes",
            UINT16_MAX, (long long)p->batch, (long long)p->heads, (long long)p->seqlen, p->head_dim);
    }
    return FMHA_OK;
}

/* How many workgroups look for one scale, and how many scales there are. False when what they leave has no size. */
static bool set_parts(const fmha_quantize_problem *p, struct request *request) {
    int64_t scales = p->share == FMHA_SHARE_HEAD ? p->heads : 1, parts = 1;
    if (request->finds_scales) {
        int64_t rows;
        bool many = __builtin_mul_overflow(p->batch, p->heads / scales, &rows) ||
                    __builtin_mul_overflow(rows, p->seqlen, &rows) || rows > (int64_t)PARTS_MAX * PART_ROWS;
        parts = many ? PARTS_MAX : (rows + PART_ROWS - 1) / PART_ROWS;
        if (scales > INT64_MAX / (int64_t)sizeof(float) / parts) {
            return false;
        }
        request->workspace_bytes = (size_t)(scales * parts) * sizeof(float);
    }
    int64_t *value = request->operands.value;
    value[FMHA_VALUE_PARTS] = parts;
    value[FMHA_VALUE_SCALES] = scales;
    value[FMHA_VALUE_STRIDE_SCALE_PARTIAL_HEAD] = request->finds_scales && scales > 1 ? parts : 0;
    return true;
}

static fmha_status take_tensors(const fmha_quantize_problem *p, bool launch, struct request *request) {
    bool fp4 = p->kv_dtype == FMHA_KV_MXFP4, f32 = p->dtype == FMHA_DTYPE_F32;
    bool rows = fp4 || p->share == FMHA_SHARE_TOKEN, each = rows || p->given;
    const struct fmha_problem_array from = {"from",          &p->from,    p->batch, p->heads,
                                            p->seqlen,       f32 ? 4 : 2, 1,        FMHA_VALUE_STRIDE_FROM_BATCH,
                                            FMHA_BUFFER_FROM};
    const struct fmha_problem_array to = {
        "to", &p->to, p->batch, p->heads, p->seqlen, 1, fp4 ? 4 : 2, FMHA_VALUE_STRIDE_TO_BATCH, FMHA_BUFFER_TO};
    const struct fmha_problem_array scale = {"scale",
                                             &p->scale,
                                             each ? p->batch : 1,
                                             each || p->share == FMHA_SHARE_HEAD ? p->heads : 1,
                                             rows ? p->seqlen : 1,
                                             fp4 ? 1 : 4,
                                             0,
                                             FMHA_VALUE_STRIDE_TO_SCALE_BATCH,
                                             FMHA_BUFFER_TO_SCALE};
    const struct fmha_problem_array *arrays[] = {&from, &to, &scale};
    struct fmha_operands *operands = &request->operands;
    uint64_t bits = 0;
    for (int i = 0; i < 3; i++) {
        fmha_status status = fmha_problem_array("fmha_quantize", arrays[i], !request->empty, launch, operands, &bits);
        if (status != FMHA_OK) {
            return status;
        }
        request->from_align = i == 0 ? fmha_problem_align(bits) : request->from_align;
    }
    if (p->given) { /* one part each, and nothing to tell */
        operands->buffer[FMHA_BUFFER_SCALE_PARTIAL] = operands->buffer[FMHA_BUFFER_TO_SCALE];
        operands->buffer[FMHA_BUFFER_TO_SCALE] = NULL;
        operands->value[FMHA_VALUE_STRIDE_SCALE_PARTIAL_BATCH] = operands->value[FMHA_VALUE_STRIDE_TO_SCALE_BATCH];
        operands->value[FMHA_VALUE_STRIDE_SCALE_PARTIAL_HEAD] = operands->value[FMHA_VALUE_STRIDE_TO_SCALE_HEAD];
    }
    fmha_key_set_align(&request->key, fmha_problem_align(bits));
    return FMHA_OK;
}

static fmha_status take_workspace(const fmha_quantize_problem *p, bool launch, struct request *request) {
    if (!request->finds_scales) {
        return FMHA_OK;
    }
    if (launch && !request->empty &&
        (p->workspace == NULL || p->workspace_bytes < request->workspace_bytes || (uintptr_t)p->workspace % 4 != 0)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_quantize: workspace: expected %zu bytes of device memory, aligned to 4, got %zu at %p; "
                         "allocate what fmha_quantize_workspace_bytes says",
                         request->workspace_bytes, p->workspace_bytes, p->workspace);
    }
    request->operands.buffer[FMHA_BUFFER_SCALE_PARTIAL] =
        p->workspace != NULL ? p->workspace : (void *)FMHA_PROBLEM_STAND_IN;
    return FMHA_OK;
}

static void set_key(const fmha_quantize_problem *p, const fmha_device *device, struct fmha_key *key) {
    fmha_dispatch_key(device, key);
    key->operation = FMHA_KEY_QUANTIZE;
    key->kv_dtype = (uint8_t)p->kv_dtype;
    key->head_dim = (uint16_t)p->head_dim;
    key->modifiers = FMHA_KEY_FROM * (p->dtype == FMHA_DTYPE_F16    ? FMHA_KEY_FROM_F16
                                      : p->dtype == FMHA_DTYPE_BF16 ? FMHA_KEY_FROM_BF16
                                                                    : FMHA_KEY_FROM_F32) +
                     FMHA_KEY_KV_SCALE * (p->share == FMHA_SHARE_TOKEN ? FMHA_KEY_KV_SCALE_TOKEN : 0) +
                     FMHA_KEY_SCALE_RULE * (uint32_t)p->scale_rule;
}

/* Reads the problem. `launch`: its tensors must be there. */
static fmha_status read_problem(const fmha_device *device, const fmha_quantize_problem *given, bool launch,
                                struct request *request) {
    fmha_quantize_problem room;
    const fmha_quantize_problem *p = fmha_problem_begin("fmha_quantize", "fmha_quantize_problem", device, given,
                                                        STRUCT_BYTES_FIRST, &room, sizeof room);
    if (p == NULL) {
        return FMHA_ERROR_ARGUMENT;
    }
    fmha_status status = check(p);
    if (status != FMHA_OK) {
        return status;
    }
    *request = (struct request){.empty = p->batch == 0 || p->heads == 0 || p->seqlen == 0 || p->head_dim == 0};
    request->finds_scales =
        !request->empty && !p->given && p->kv_dtype != FMHA_KV_MXFP4 && p->share != FMHA_SHARE_TOKEN;
    int64_t *value = request->operands.value;
    value[FMHA_VALUE_BATCH] = p->batch;
    value[FMHA_VALUE_HEADS_K] = p->heads;
    value[FMHA_VALUE_SEQLEN_K] = p->seqlen;
    value[FMHA_VALUE_HEAD_DIM] = p->head_dim;
    set_key(p, device, &request->key);
    if (!set_parts(p, request)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_quantize: heads: expected a workspace of less than 2^63 bytes, got %lld heads with a "
                         "scale each; quantize fewer heads at once",
                         (long long)p->heads);
    }
    status = take_tensors(p, launch, request);
    return status == FMHA_OK ? take_workspace(p, launch, request) : status;
}

/* Plans both passes before either is started. */
static fmha_status plan(fmha_device *device, const struct request *request, struct fmha_plan plans[2]) {
    struct fmha_key key = request->key;
    if (request->finds_scales) {
        key.modifiers |= FMHA_KEY_PASS * FMHA_KEY_PASS_SCALES;
        key.align = request->from_align;
        fmha_status status = fmha_dispatch_plan(device, &key, &request->operands, &plans[0]);
        if (status != FMHA_OK) {
            return status;
        }
    }
    return fmha_dispatch_plan(device, &request->key, &request->operands, &plans[1]);
}

fmha_status fmha_quantize(fmha_device *device, const fmha_quantize_problem *problem) {
    struct request request;
    struct fmha_plan plans[2];
    fmha_status status = read_problem(device, problem, true, &request);
    if (status != FMHA_OK || request.empty) {
        return status;
    }
    status = plan(device, &request, plans);
    if (status == FMHA_OK && request.finds_scales) {
        status = fmha_dispatch_start(device, &plans[0], problem->stream);
    }
    return status == FMHA_OK ? fmha_dispatch_start(device, &plans[1], problem->stream) : status;
}

fmha_status fmha_quantize_prepare(fmha_device *device, const fmha_quantize_problem *problem) {
    struct request request;
    struct fmha_plan plans[2];
    fmha_status status = read_problem(device, problem, false, &request);
    return status != FMHA_OK || request.empty ? status : plan(device, &request, plans);
}

fmha_status fmha_quantize_workspace_bytes(fmha_device *device, const fmha_quantize_problem *problem, size_t *bytes) {
    struct request request;
    if (bytes == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_quantize: bytes: expected where to put a number, got NULL; pass a "
                                              "valid pointer");
    }
    fmha_status status = read_problem(device, problem, false, &request);
    *bytes = status == FMHA_OK ? request.workspace_bytes : 0;
    return status;
}

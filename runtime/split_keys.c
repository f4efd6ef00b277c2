#include "split_keys.h"

#include <stdio.h>

#include "driver.h"
#include "problem.h"

#define WORKSPACE_ALIGN 256

fmha_status fmha_split_keys_begin(const fmha_device *device, int64_t heads_of_group, int64_t seqlen_q,
                                  struct fmha_split_keys *split) {
    fmha_device_info info;
    fmha_status status = fmha_device_get_info(device, &info);
    if (status != FMHA_OK) {
        return status;
    }
    split->sizes.simds = fmha_splits_simds(&info);
    split->sizes.ahead = fmha_splits_ahead(&info);
    if (__builtin_mul_overflow(heads_of_group, seqlen_q, &split->sizes.rows)) {
        split->sizes.rows = INT64_MAX; /* which no instance serves */
    }
    if (split->splits < 0 || split->splits > FMHA_SPLITS_FIXED_MAX) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: splits: expected 0 to %d, got %lld; 0 leaves the number of splits to the library",
                         split->function, FMHA_SPLITS_FIXED_MAX, (long long)split->splits);
    }
    return FMHA_OK;
}

static int64_t number_of(const struct fmha_split_keys *split) {
    return split->splits != 0 ? split->splits : fmha_splits_choose(&split->sizes);
}

/* Bytes of partial results of so many rows, each with an O of f32 and an LSE. False when they are no size. */
static bool partial_bytes(int64_t copies, int64_t heads_q, int64_t rows, int64_t head_dim_v, size_t *bytes) {
    int64_t all, numbers;
    bool fits = !__builtin_mul_overflow(heads_q, rows, &all) && !__builtin_mul_overflow(all, copies, &all) &&
                !__builtin_mul_overflow(all, head_dim_v + 1, &numbers) && numbers <= INT64_MAX / 4;
    *bytes = fits ? (size_t)numbers * sizeof(float) : 0;
    return fits;
}

static fmha_status refuse_size(const struct fmha_split_keys *split) {
    return fmha_fail(FMHA_ERROR_ARGUMENT,
                     "%s: expected partial results of less than 2^63 bytes, got more; split the problem or use fewer "
                     "splits",
                     split->function);
}

static fmha_status workspace_bytes(const struct fmha_split_request *request, size_t *bytes) {
    const struct fmha_split_keys *split = &request->split;
    const int64_t *value = request->attention.operands.value;
    int64_t copies = fmha_splits_bound(&split->sizes);
    bool fits = true;
    if (request->attention.empty) {
        return FMHA_OK;
    }
    if (split->splits != 0) {
        fits = !__builtin_mul_overflow(split->splits > 1 ? split->splits : 0, split->sizes.batch, &copies);
    }
    fits = fits && partial_bytes(copies, value[FMHA_VALUE_HEADS_Q], value[FMHA_VALUE_SEQLEN_Q],
                                 value[FMHA_VALUE_HEAD_DIM_V], bytes);
    return fits ? FMHA_OK : refuse_size(split);
}

fmha_status fmha_split_keys_workspace_bytes(fmha_device *device, const struct fmha_split_operation *operation,
                                            const void *problem, size_t *bytes) {
    struct fmha_split_request request;
    if (bytes == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s_workspace_bytes: expected a place for the size, got NULL; pass a valid pointer",
                         operation->function);
    }
    *bytes = 0;
    fmha_status status = operation->read(device, problem, false, &request);
    return status != FMHA_OK ? status : workspace_bytes(&request, bytes);
}

/* ---- The two launches ------------------------------------------------------------------------------------ */

/* Where the partial results of a request lie: O [splits][rows][head_dim_v], behind it LSE [splits][rows]. */
struct partials {
    int64_t splits;
    int64_t batch, rows; /* packed: 1, and the tokens */
    int64_t all;         /* rows of a split */
    size_t bytes;
};

static bool find_partials(const struct fmha_split_keys *split, const struct fmha_request *request,
                          struct partials *partials) {
    const int64_t *value = request->operands.value;
    bool packed = request->key.modifiers / FMHA_KEY_VARLEN % 4 == FMHA_KEY_VARLEN_PACKED;
    partials->splits = number_of(split);
    partials->batch = packed ? 1 : value[FMHA_VALUE_BATCH];
    partials->rows = packed ? value[FMHA_VALUE_TOKENS_Q] : value[FMHA_VALUE_SEQLEN_Q];
    int64_t copies, heads = value[FMHA_VALUE_HEADS_Q];
    /* Without sequences or heads nothing is launched, but strides are made of the other sizes. */
    return !__builtin_mul_overflow(partials->splits, partials->batch > 0 ? partials->batch : 1, &copies) &&
           partial_bytes(copies, heads > 0 ? heads : 1, partials->rows, value[FMHA_VALUE_HEAD_DIM_V],
                         &partials->bytes) &&
           ((partials->all = partials->rows * partials->batch * heads), true); /* without rows the others may not fit */
}

static void place_partials(const struct partials *partials, void *workspace, struct fmha_operands *operands) {
    size_t lse_at = (size_t)(partials->splits * partials->all * operands->value[FMHA_VALUE_HEAD_DIM_V]);
    operands->value[FMHA_VALUE_SPLITS] = partials->splits;
    operands->buffer[FMHA_BUFFER_O_PARTIAL] = workspace;
    operands->buffer[FMHA_BUFFER_LSE_PARTIAL] = (float *)workspace + lse_at;
}

/* The merge of what the request leaves: O and LSE are those of the request, and so are the sequences. */
static void make_merge(const struct fmha_device *device, const struct fmha_request *request,
                       const struct partials *partials, struct fmha_key *key, struct fmha_operands *operands) {
    const int64_t head_dim_v = request->operands.value[FMHA_VALUE_HEAD_DIM_V];
    *operands = request->operands;
    int64_t *value = operands->value;
    value[FMHA_VALUE_STRIDE_O_PARTIAL_SPLIT] = partials->all * head_dim_v;
    value[FMHA_VALUE_STRIDE_O_PARTIAL_BATCH] = value[FMHA_VALUE_HEADS_Q] * partials->rows * head_dim_v;
    value[FMHA_VALUE_STRIDE_O_PARTIAL_HEAD] = partials->rows * head_dim_v;
    value[FMHA_VALUE_STRIDE_O_PARTIAL_ROW] = head_dim_v;
    uint64_t bits = (uint64_t)(uintptr_t)operands->buffer[FMHA_BUFFER_O];
    for (int axis = 0; axis < 3; axis++) {
        bits |= (uint64_t)value[FMHA_VALUE_STRIDE_O_BATCH + axis] * FMHA_PROBLEM_ELEMENT_BYTES;
    }
    fmha_dispatch_key(device, key);
    key->operation = FMHA_KEY_MERGE;
    key->dtype = request->key.dtype;
    key->modifiers = request->key.modifiers & (3 * FMHA_KEY_VARLEN);
    fmha_key_set_align(key, fmha_problem_align(bits));
}

static fmha_status check_workspace(const struct fmha_split_keys *split, const struct partials *partials) {
    bool there = split->workspace != NULL && split->workspace_bytes >= partials->bytes &&
                 (uintptr_t)split->workspace % WORKSPACE_ALIGN == 0;
    return there ? FMHA_OK
                 : fmha_fail(FMHA_ERROR_ARGUMENT,
                             "%s: workspace: expected %zu bytes at an address that is a multiple of %d for the partial "
                             "results of %lld splits, got %zu bytes at %p; %s_workspace_bytes says how many a problem "
                             "may need",
                             split->function, partials->bytes, WORKSPACE_ALIGN, (long long)partials->splits,
                             split->workspace_bytes, split->workspace, split->function);
}

fmha_status fmha_split_keys_plan(fmha_device *device, const struct fmha_split_operation *operation, const void *problem,
                                 struct fmha_split_plans *plans) {
    struct fmha_split_request asked;
    struct fmha_request *request = &asked.attention;
    struct partials partials;
    struct fmha_key key;
    struct fmha_operands operands;
    plans->count = 0;
    fmha_status status = operation->read(device, problem, true, &asked);
    if (status != FMHA_OK || request->empty) {
        return status; /* without rows of O there is nothing to look for an instance for */
    }
    if (!find_partials(&asked.split, request, &partials)) {
        return refuse_size(&asked.split);
    }
    plans->stream = request->stream;
    plans->splits = partials.splits;
    if (partials.splits == 1) {
        request->operands.value[FMHA_VALUE_SPLITS] = 1;
        plans->count = 1;
        return fmha_dispatch_plan(device, &request->key, &request->operands, &plans->plan[0]);
    }
    status = check_workspace(&asked.split, &partials);
    if (status != FMHA_OK) {
        return status;
    }
    place_partials(&partials, asked.split.workspace, &request->operands);
    make_merge(device, request, &partials, &key, &operands);
    plans->count = 2;
    status = fmha_dispatch_plan(device, &request->key, &request->operands, &plans->plan[0]);
    return status == FMHA_OK ? fmha_dispatch_plan(device, &key, &operands, &plans->plan[1]) : status;
}

fmha_status fmha_split_keys_launch(fmha_device *device, const struct fmha_split_operation *operation,
                                   const void *problem) {
    struct fmha_split_plans plans;
    fmha_status status = fmha_split_keys_plan(device, operation, problem, &plans);
    for (int i = 0; i < plans.count && status == FMHA_OK; i++) {
        status = fmha_dispatch_start(device, &plans.plan[i], plans.stream);
    }
    return status;
}

/* Reads a problem as it would be launched, with a workspace that stands in for one, and makes its merge. */
static fmha_status read_without(const fmha_device *device, const struct fmha_split_operation *operation,
                                const void *problem, struct fmha_split_request *request, struct fmha_key *key,
                                struct fmha_operands *operands) {
    struct partials partials;
    fmha_status status = operation->read(device, problem, false, request);
    if (status != FMHA_OK) {
        return status;
    }
    if (!find_partials(&request->split, &request->attention, &partials)) {
        return refuse_size(&request->split);
    }
    place_partials(&partials, (void *)FMHA_PROBLEM_STAND_IN, &request->attention.operands);
    make_merge(device, &request->attention, &partials, key, operands);
    return FMHA_OK;
}

fmha_status fmha_split_keys_prepare(fmha_device *device, const struct fmha_split_operation *operation,
                                    const void *problem) {
    struct fmha_split_request asked;
    struct fmha_key key;
    struct fmha_operands operands;
    struct fmha_plan plan;
    fmha_status status = read_without(device, operation, problem, &asked, &key, &operands);
    if (status != FMHA_OK || asked.attention.empty) {
        return status;
    }
    status = fmha_dispatch_plan(device, &asked.attention.key, &asked.attention.operands, &plan);
    return status == FMHA_OK && asked.split.splits != 1 ? fmha_dispatch_plan(device, &key, &operands, &plan) : status;
}

fmha_status fmha_split_keys_explain(fmha_device *device, const struct fmha_split_operation *operation,
                                    const void *problem, fmha_explain_visit visit, void *context) {
    struct fmha_split_request asked;
    const struct fmha_split_keys *split = &asked.split;
    struct fmha_key key;
    struct fmha_operands operands;
    char verdict[512];
    if (visit == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "%s_explain: expected a function to call, got NULL; pass a valid pointer",
                         operation->function);
    }
    fmha_status status = read_without(device, operation, problem, &asked, &key, &operands);
    if (status != FMHA_OK) {
        return status;
    }
    if (split->splits != 0) {
        snprintf(verdict, sizeof verdict, "%lld: asked for", (long long)split->splits);
    } else {
        fmha_splits_explain(&split->sizes, verdict, sizeof verdict);
    }
    visit(context, &(fmha_consideration){"", "splits", 0, verdict});
    status = fmha_dispatch_explain(device, &asked.attention.key, &asked.attention.operands, visit, context);
    return status == FMHA_OK && split->splits != 1 ? fmha_dispatch_explain(device, &key, &operands, visit, context)
                                                   : status;
}

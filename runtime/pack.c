/* Packing: from the public struct to a key and operands. */
#include <stdbool.h>
#include <stddef.h>

#include "dispatch.h"
#include "driver.h"
#include "problem.h"

/* Of the fields that every version has had: up to `stream`, whatever comes after it. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_pack_problem, stream) + sizeof(void *))

static fmha_status check(const fmha_pack_problem *p) {
    if ((p->transposed != 0 && p->transposed != 1) || p->reserved != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_pack: expected transposed to be 0 or 1 and reserved to be 0, got %d and %d; begin with "
                         "FMHA_PACK_PROBLEM_INIT",
                         p->transposed, p->reserved);
    }
    if (p->batch < 0 || p->heads < 0 || p->seqlen < 0 || p->head_dim < 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_pack: expected batch, heads, seqlen and head_dim of 0 and up, got %lld, %lld, %lld and "
                         "%lld; set them to the tensors' sizes",
                         (long long)p->batch, (long long)p->heads, (long long)p->seqlen, (long long)p->head_dim);
    }
    return FMHA_OK;
}

/* Reads the problem. `launch`: its tensors must be there. */
static fmha_status read_problem(const fmha_device *device, const void *given, bool launch,
                                struct fmha_request *request) {
    fmha_pack_problem room;
    const fmha_pack_problem *p =
        fmha_problem_begin("fmha_pack", "fmha_pack_problem", device, given, STRUCT_BYTES_FIRST, &room, sizeof room);
    if (p == NULL) {
        return FMHA_ERROR_ARGUMENT;
    }
    fmha_status status = check(p);
    if (status != FMHA_OK) {
        return status;
    }
    *request = (struct fmha_request){.stream = p->stream,
                                     .empty = p->batch == 0 || p->heads == 0 || p->seqlen == 0 || p->head_dim == 0};
    int64_t *value = request->operands.value;
    value[FMHA_VALUE_BATCH] = p->batch;
    value[FMHA_VALUE_HEADS_K] = p->heads;
    value[FMHA_VALUE_SEQLEN_K] = p->seqlen;
    value[FMHA_VALUE_HEAD_DIM] = p->head_dim;
    const struct fmha_problem_tensor tensors[] = {
        {"from", &p->from, p->batch, p->heads, p->seqlen, p->head_dim, FMHA_VALUE_STRIDE_FROM_BATCH, FMHA_BUFFER_FROM},
        {"to", &p->to, p->batch, p->heads, p->transposed ? p->head_dim : p->seqlen,
         p->transposed ? p->seqlen : p->head_dim, FMHA_VALUE_STRIDE_TO_BATCH, FMHA_BUFFER_TO},
    };
    uint64_t bits = 0; /* of addresses and strides in bytes, all together */
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0] && status == FMHA_OK; i++) {
        status = fmha_problem_tensor("fmha_pack", &tensors[i], launch, &request->operands, &bits);
    }
    fmha_dispatch_key(device, &request->key);
    request->key.operation = FMHA_KEY_PACK;
    request->key.v_layout = p->transposed ? FMHA_KEY_V_TRANSPOSED : FMHA_KEY_V_ROW;
    fmha_key_set_align(&request->key, fmha_problem_align(bits));
    return status;
}

fmha_status fmha_pack(fmha_device *device, const fmha_pack_problem *problem) {
    return fmha_problem_launch(device, read_problem, problem);
}

fmha_status fmha_pack_prepare(fmha_device *device, const fmha_pack_problem *problem) {
    return fmha_problem_prepare(device, read_problem, problem);
}

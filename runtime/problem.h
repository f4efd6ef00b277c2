/* What the public structs of all operations have in common: sizes that grow, and tensors. */
#ifndef FMHA_PROBLEM_H
#define FMHA_PROBLEM_H

#include <stdbool.h>

#include "dispatch.h"

/* A struct of another size than `known`, which is what this library knows of it, as this library wants it: that of an
 * older header, shorter but at least `first` bytes, copied to `room` with 0 in the fields that came later; that of a
 * newer one as it is, if beyond the known bytes there is nothing but zeros. NULL with an error (FMHA_ERROR_ARGUMENT)
 * otherwise. */
const void *fmha_problem_adapt(const char *function, const char *type, const void *problem, size_t struct_bytes,
                               size_t first, void *room, size_t known);

/* Says that a device or a problem is missing. */
void fmha_problem_refuse_null(const char *function);

/* What every function begins with that is given a device and a problem, whose first field is struct_bytes: the problem
 * as this library wants it. In every call, hence inline: a problem of the size that is known stays where it is. */
static inline const void *fmha_problem_begin(const char *function, const char *type, const fmha_device *device,
                                             const void *problem, size_t first, void *room, size_t known) {
    if (device == NULL || problem == NULL) {
        fmha_problem_refuse_null(function);
        return NULL;
    }
    size_t struct_bytes = *(const size_t *)problem;
    return struct_bytes == known ? problem
                                 : fmha_problem_adapt(function, type, problem, struct_bytes, first, room, known);
}

/* What a problem was read as. */
struct fmha_request {
    struct fmha_key key;
    struct fmha_operands operands;
    void *stream;
    bool empty; /* there is nothing to compute, hence no instance to look for */
};

/* How an operation reads its problems. `launch`: their tensors must be there. */
typedef fmha_status fmha_problem_read(const fmha_device *device, const void *problem, bool launch,
                                      struct fmha_request *request);

/* The public functions of an operation that is one launch: starts it; does what the first launch would do before it.
 * Inline, so that compilers see which `read` it is. */
static inline fmha_status fmha_problem_launch(fmha_device *device, fmha_problem_read *read, const void *problem) {
    struct fmha_request request;
    fmha_status status = read(device, problem, true, &request);
    if (status != FMHA_OK || request.empty) {
        return status;
    }
    return fmha_dispatch_launch(device, &request.key, &request.operands, request.stream);
}

static inline fmha_status fmha_problem_prepare(fmha_device *device, fmha_problem_read *read, const void *problem) {
    struct fmha_request request;
    struct fmha_plan plan;
    fmha_status status = read(device, problem, false, &request);
    if (status != FMHA_OK || request.empty) {
        return status;
    }
    return fmha_dispatch_plan(device, &request.key, &request.operands, &plan);
}

/* A tensor of a problem, and where it goes. */
struct fmha_problem_tensor {
    const char *name;
    const fmha_tensor *tensor;
    int64_t batch, heads, rows, columns;
    enum fmha_value stride; /* the value of its batch's stride; those of head and row follow it */
    enum fmha_buffer buffer;
};

#define FMHA_PROBLEM_ELEMENT_BYTES 2 /* of most tensors that problems have */

/* Address of a tensor without elements, and of one that is only prepared for. */
#define FMHA_PROBLEM_STAND_IN ((uintptr_t)256)

/* Says what is wrong with a tensor that fmha_problem_tensor_of does not accept. */
fmha_status fmha_problem_refuse(const char *function, const struct fmha_problem_tensor *tensor, size_t element_bytes);

/* Checks one and puts it into the operands; strides that mean nothing become 0, as all those of a tensor without
 * elements. `bits` gathers address and strides in bytes. `launch`: an address must be there if the tensor has an
 * element. In every call, hence inline and nearly without branches. */
static inline fmha_status fmha_problem_tensor_of(const char *function, const struct fmha_problem_tensor *tensor,
                                                 size_t element_bytes, bool launch, struct fmha_operands *operands,
                                                 uint64_t *bits) {
    const fmha_tensor *t = tensor->tensor;
    int64_t *strides = &operands->value[tensor->stride];
    bool full = tensor->batch != 0 && tensor->heads != 0 && tensor->rows != 0 && tensor->columns != 0;
    uint64_t present = full ? UINT64_MAX : 0;
    uint64_t batch = (uint64_t)t->stride_batch & (tensor->batch > 1 ? present : 0);
    uint64_t head = (uint64_t)t->stride_head & (tensor->heads > 1 ? present : 0);
    uint64_t row = (uint64_t)t->stride_row & (tensor->rows > 1 ? present : 0);
    uintptr_t address = (uintptr_t)t->data;
    bool absent = address == 0 || !full;
    strides[0] = (int64_t)batch;
    strides[1] = (int64_t)head;
    strides[2] = (int64_t)row;
    operands->buffer[tensor->buffer] = absent ? (void *)FMHA_PROBLEM_STAND_IN : t->data;
    *bits |= (batch | head | row) * element_bytes | (absent ? 0 : address);
    bool accepted =
        ((batch | head | row) >> 62) == 0 && address % element_bytes == 0 && (address != 0 || !launch || !full);
    return accepted ? FMHA_OK : fmha_problem_refuse(function, tensor, element_bytes);
}

/* The same of elements of two bytes. */
static inline fmha_status fmha_problem_tensor(const char *function, const struct fmha_problem_tensor *tensor,
                                              bool launch, struct fmha_operands *operands, uint64_t *bits) {
    return fmha_problem_tensor_of(function, tensor, FMHA_PROBLEM_ELEMENT_BYTES, launch, operands, bits);
}

/* A tensor of elements of any size. `weight`: where its rows are aligned, its address and strides in bytes times this
 * are multiples of 16; 0: its alignment does not matter. */
struct fmha_problem_array {
    const char *name;
    const fmha_tensor *tensor;
    int64_t batch, heads, rows;
    uint64_t element_bytes, weight;
    enum fmha_value stride; /* the value of its batch's stride; those of head and row follow it */
    enum fmha_buffer buffer;
};

/* As fmha_problem_tensor; `full`: the problem has elements, else strides mean nothing. */
fmha_status fmha_problem_array(const char *function, const struct fmha_problem_array *array, bool full, bool launch,
                               struct fmha_operands *operands, uint64_t *bits);

/* The alignment that everything gathered has: 16 or 2 bytes. */
static inline uint8_t fmha_problem_align(uint64_t bits) {
    return (bits & 15) == 0 ? 16 : 2;
}

#endif

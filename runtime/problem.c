#include "problem.h"

#include <string.h>

#include "driver.h"

const void *fmha_problem_adapt(const char *function, const char *type, const void *problem, size_t struct_bytes,
                               size_t first, void *room, size_t known) {
    if (struct_bytes < first || struct_bytes > (size_t)1 << 16) {
        fmha_fail(FMHA_ERROR_ARGUMENT,
                  "%s: struct_bytes: expected sizeof(%s), at least %zu, got %zu; begin with the type's _INIT", function,
                  type, first, struct_bytes);
        return NULL;
    }
    const unsigned char *bytes = problem;
    for (size_t i = known; i < struct_bytes; i++) {
        if (bytes[i] != 0) {
            fmha_fail(FMHA_ERROR_ARGUMENT,
                      "%s: %s is newer than this libfmha %s and uses what it does not know (byte %zu of %zu is not 0); "
                      "install the libfmha that belongs to the header",
                      function, type, fmha_version(), i, struct_bytes);
            return NULL;
        }
    }
    if (struct_bytes >= known) {
        return problem;
    }
    memset(room, 0, known);
    return memcpy(room, problem, struct_bytes);
}

void fmha_problem_refuse_null(const char *function) {
    fmha_fail(FMHA_ERROR_ARGUMENT, "%s: expected a device and a problem, got NULL; pass a valid pointer", function);
}

fmha_status fmha_problem_refuse(const char *function, const struct fmha_problem_tensor *tensor, size_t element_bytes) {
    const fmha_tensor *t = tensor->tensor;
    const int64_t sizes[] = {tensor->batch, tensor->heads, tensor->rows};
    const int64_t strides[] = {t->stride_batch, t->stride_head, t->stride_row};
    bool empty = tensor->columns == 0 || sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0;
    for (int i = 0; i < 3 && !empty; i++) {
        if (sizes[i] > 1 && (strides[i] < 0 || strides[i] >> 62 != 0)) {
            return fmha_fail(FMHA_ERROR_ARGUMENT,
                             "%s: %s: expected strides of 0 and up, below 2^62 elements, got %lld; pass a tensor that "
                             "does not run backwards, with strides in elements",
                             function, tensor->name, (long long)strides[i]);
        }
    }
    if (t->data == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: %s: expected the address of a tensor, got NULL; give the problem its %s", function,
                         tensor->name, tensor->name);
    }
    return fmha_fail(FMHA_ERROR_ARGUMENT,
                     "%s: %s: expected an address that is a multiple of %zu, got %p; align %s to %zu bytes", function,
                     tensor->name, element_bytes, t->data, tensor->name, element_bytes);
}

fmha_status fmha_problem_array(const char *function, const struct fmha_problem_array *array, bool full, bool launch,
                               struct fmha_operands *operands, uint64_t *bits) {
    const fmha_tensor *t = array->tensor;
    const int64_t sizes[] = {array->batch, array->heads, array->rows};
    const int64_t strides[] = {t->stride_batch, t->stride_head, t->stride_row};
    uintptr_t address = (uintptr_t)t->data;
    uint64_t bytes = address;
    for (int axis = 0; axis < 3; axis++) {
        int64_t stride = sizes[axis] > 1 && full ? strides[axis] : 0;
        if (stride < 0 || stride >> 60 != 0) {
            return fmha_fail(FMHA_ERROR_ARGUMENT,
                             "%s: %s: expected strides of 0 and up, below 2^60 elements, got %lld; pass a tensor that "
                             "does not run backwards, with strides in elements",
                             function, array->name, (long long)stride);
        }
        operands->value[array->stride + axis] = stride;
        bytes |= (uint64_t)stride * array->element_bytes;
    }
    if (address == 0 && launch && full) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: %s: expected the address of a tensor, got NULL; give the problem its %s", function,
                         array->name, array->name);
    }
    if (address % array->element_bytes != 0) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: %s: expected an address that is a multiple of %d, got %p; align %s to %d bytes", function,
                         array->name, (int)array->element_bytes, t->data, array->name, (int)array->element_bytes);
    }
    operands->buffer[array->buffer] = address != 0 ? t->data : (void *)FMHA_PROBLEM_STAND_IN;
    *bits |= bytes * array->weight;
    return FMHA_OK;
}

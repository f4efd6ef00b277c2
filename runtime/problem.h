/* What the public structs of all operations have in common: sizes that grow, and tensors. */
#ifndef FMHA_PROBLEM_H
#define FMHA_PROBLEM_H

#include <stdbool.h>

#include "descriptor.h"

/* A struct of the caller's, `struct_bytes` by its own word: at least `first` bytes, and beyond the `known` ones nothing
 * but zeros. */
fmha_status fmha_problem_check_size(const char *function, const char *type, const void *problem, size_t struct_bytes,
                                    size_t first, size_t known);

/* A tensor of a problem, and where it goes. */
struct fmha_problem_tensor {
    const char *name;
    const fmha_tensor *tensor;
    int64_t batch, heads, rows, columns;
    enum fmha_value stride; /* the value of its batch's stride; those of head and row follow it */
    enum fmha_buffer buffer;
};

/* Checks one and puts it into the operands; strides that mean nothing become 0, as all those of a tensor without
 * elements. `bits` gathers address and strides in
 * bytes. Elements have two bytes. `launch`: an address must be there if the tensor has an element. */
fmha_status fmha_problem_tensor(const char *function, const struct fmha_problem_tensor *tensor, bool launch,
                                struct fmha_operands *operands, uint64_t *bits);

/* The alignment that everything gathered has: 16 or 2 bytes. */
static inline uint8_t fmha_problem_align(uint64_t bits) {
    return (bits & 15) == 0 ? 16 : 2;
}

#endif

/* How a tensor of verification lies in memory: where its rows stand, what lies between them, what a kernel may touch.
 * On the host it is rectangular, [batch][heads][rows][columns] without gaps, whatever its layout on the device. */
#ifndef GEN_TENSOR_H
#define GEN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fmha.h"

enum tensor_order {
    TENSOR_BSHD,
    TENSOR_BHSD
}; /* [batch][seqlen][head][head_dim], [batch][head][seqlen][head_dim]; of pages likewise */

/* The elements between a tensor's rows and around it hold a NaN pattern. */
struct tensor_layout {
    enum tensor_order order;
    int64_t offset;      /* elements before the first */
    int64_t row_padding; /* elements after each row of head_dim (or of seqlen_k, where V is transposed) */
    int64_t
        head_padding; /* elements after each head's rows in TENSOR_BHSD, after each row of all heads in TENSOR_BSHD */
    int64_t block_padding; /* elements after each batch or page */
};

struct tensor {
    const char *label; /* constant */
    size_t element_bytes;
    bool output;
    int first_dimension, dimensions; /* those of blocks, heads, rows, columns that it has for people */

    /* Memory: [blocks][heads][rows][columns], the last dimension contiguous. A block is a batch; of pages a page; of a
     * packed batch there is one. */
    int64_t blocks, heads, rows, columns;
    int64_t stride_block, stride_head, stride_row; /* elements */
    int64_t offset, elements;                      /* elements: of the whole allocation */

    /* The sequences that stand there run along the rows, or along the columns. Arrays belong to others. */
    bool along_columns;
    int64_t batch, length;  /* length: of the longest, and of all without `lengths` */
    const int64_t *lengths; /* [batch], elements along the sequence that exist; NULL: all of them */
    const int64_t *starts;  /* [batch], where each begins in the one block of a packed batch; NULL: not packed */
    const int32_t *pages;   /* [batch][pages_stride], the block of each page_size elements; NULL: no pages */
    int64_t pages_stride, page_size;
};

/* Sets strides, offset and elements. What is padded is a multiple of `alignment` elements apart. False when the tensor
 * has more elements than 63 bits can count bytes of. */
bool tensor_lay(struct tensor *tensor, const struct tensor_layout *layout, int64_t alignment);

/* Elements of the host's copy, those that do not exist included. */
int64_t tensor_elements(const struct tensor *tensor);

/* Neighbouring elements that exist, in memory and in the host's copy. */
struct tensor_run {
    int64_t place, packed, count;
    int64_t batch, head, row, column; /* of the next; zeros to begin with */
};

/* Goes through all elements that exist. False after the last. */
bool tensor_next(const struct tensor *tensor, struct tensor_run *run);

/* Between the host's copy and an image of the memory. */
void tensor_scatter(const struct tensor *tensor, void *memory, const void *packed);
void tensor_gather(const struct tensor *tensor, const void *memory, void *packed);

/* Few elements far apart: only they are written and read; what lies between them is not looked at. */
bool tensor_is_sparse(const struct tensor *tensor);

/* Where an element of a tensor's memory is, for people. */
void tensor_describe(const struct tensor *tensor, int64_t element, char *text, size_t text_bytes);

/* Tells an emulated device what a kernel may touch: elements that exist, and no others. `memory`: begin of the
 * allocation. Labels of parts begin with the tensor's and a comma: "k, page 3". */
fmha_status tensor_declare(const struct tensor *tensor, fmha_device *device, void *memory);

#endif

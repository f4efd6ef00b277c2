#include "tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_BYTES = 32 }; /* of a view's label, with its NUL */

static int64_t round_up(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

bool tensor_lay(struct tensor *tensor, const struct tensor_layout *layout, int64_t alignment) {
    bool rows_outside = layout->order == TENSOR_BSHD;
    int64_t row = round_up(tensor->columns + layout->row_padding, alignment), head_rows, block_rows, all;
    if (__builtin_mul_overflow(row, rows_outside ? tensor->heads : tensor->rows, &head_rows) ||
        __builtin_add_overflow(head_rows, round_up(layout->head_padding, alignment), &head_rows) ||
        __builtin_mul_overflow(head_rows, rows_outside ? tensor->rows : tensor->heads, &block_rows) ||
        __builtin_add_overflow(block_rows, round_up(layout->block_padding, alignment), &tensor->stride_block) ||
        __builtin_mul_overflow(tensor->stride_block, tensor->blocks, &all) || all > INT64_MAX / 64)
        return false;
    tensor->stride_row = rows_outside ? head_rows : row;
    tensor->stride_head = rows_outside ? row : head_rows;
    tensor->offset = tensor->elements = layout->offset;
    if (tensor->blocks && tensor->heads && tensor->rows && tensor->columns) /* up to the last element and no further */
        tensor->elements += (tensor->blocks - 1) * tensor->stride_block + (tensor->heads - 1) * tensor->stride_head +
                            (tensor->rows - 1) * tensor->stride_row + tensor->columns;
    /* Padded inputs end in padding; those that are not end where their memory does. */
    if (layout->row_padding)
        tensor->elements += row - tensor->columns;
    return true;
}

/* ---- Elements ---- */

static int64_t length_of(const struct tensor *tensor, int64_t batch) {
    return tensor->lengths ? tensor->lengths[batch] : tensor->length;
}

int64_t tensor_elements(const struct tensor *tensor) {
    return tensor->batch * tensor->heads * tensor->length * (tensor->along_columns ? tensor->rows : tensor->columns);
}

/* Of the element `along` a sequence and `across` it. */
static int64_t place_of(const struct tensor *tensor, int64_t batch, int64_t head, int64_t along, int64_t across) {
    int64_t block = batch;
    if (tensor->pages) {
        block = tensor->pages[batch * tensor->pages_stride + along / tensor->page_size];
        along %= tensor->page_size;
    } else if (tensor->starts) {
        block = 0;
        along += tensor->starts[batch];
    }
    int64_t row = tensor->along_columns ? across : along, column = tensor->along_columns ? along : across;
    return tensor->offset + block * tensor->stride_block + head * tensor->stride_head + row * tensor->stride_row +
           column;
}

bool tensor_next(const struct tensor *tensor, struct tensor_run *run) {
    for (; run->batch < tensor->batch; run->batch++, run->head = 0) {
        int64_t length = length_of(tensor, run->batch);
        int64_t rows = tensor->along_columns ? tensor->rows : length;
        int64_t columns = tensor->along_columns ? length : tensor->columns;
        for (; columns && run->head < tensor->heads; run->head++, run->row = 0) {
            if (run->row == rows)
                continue;
            int64_t along = tensor->along_columns ? run->column : run->row;
            int64_t across = tensor->along_columns ? run->row : run->column;
            int64_t all_rows = tensor->along_columns ? tensor->rows : tensor->length;
            int64_t all_columns = tensor->along_columns ? tensor->length : tensor->columns;
            int64_t head = run->batch * tensor->heads + run->head;
            run->place = place_of(tensor, run->batch, run->head, along, across);
            run->packed = (head * all_rows + run->row) * all_columns + run->column;
            run->count = columns - run->column;
            if (tensor->along_columns && tensor->pages && run->count > tensor->page_size)
                run->count = tensor->page_size;
            run->column += run->count;
            if (run->column == columns) {
                run->column = 0;
                run->row++;
            }
            return true;
        }
        run->row = 0;
    }
    return false;
}

void tensor_scatter(const struct tensor *tensor, void *memory, const void *packed) {
    size_t size = tensor->element_bytes;
    for (struct tensor_run run = {0}; tensor_next(tensor, &run);)
        memcpy((char *)memory + (size_t)run.place * size, (const char *)packed + (size_t)run.packed * size,
               (size_t)run.count * size);
}

void tensor_gather(const struct tensor *tensor, const void *memory, void *packed) {
    size_t size = tensor->element_bytes;
    for (struct tensor_run run = {0}; tensor_next(tensor, &run);)
        memcpy((char *)packed + (size_t)run.packed * size, (const char *)memory + (size_t)run.place * size,
               (size_t)run.count * size);
}

bool tensor_is_sparse(const struct tensor *tensor) {
    return tensor->elements > INT64_C(1) << 27 && tensor->elements / 8 > tensor_elements(tensor);
}

/* ---- Words ---- */

void tensor_describe(const struct tensor *tensor, int64_t element, char *text, size_t text_bytes) {
    int64_t rest = element - tensor->offset;
    if (rest < 0) {
        snprintf(text, text_bytes, "%" PRId64 " elements before its first", -rest);
        return;
    }
    bool empty = !tensor->blocks || !tensor->heads || !tensor->rows || !tensor->columns;
    int64_t block = empty ? tensor->blocks : rest / tensor->stride_block;
    if (block >= tensor->blocks) {
        snprintf(text, text_bytes, "element %" PRId64 " of its memory, past its end", element);
        return;
    }
    rest -= block * tensor->stride_block;
    bool rows_outside = tensor->stride_row >= tensor->stride_head;
    int64_t outer = rows_outside ? tensor->stride_row : tensor->stride_head;
    int64_t inner = rows_outside ? tensor->stride_head : tensor->stride_row;
    int64_t outer_index = rest / outer, inner_index = rest % outer / inner, column = rest % outer % inner;
    snprintf(text, text_bytes,
             "%s %" PRId64 ", head %" PRId64 ", row %" PRId64 ", column %" PRId64 " (of %" PRId64 " heads, %" PRId64
             " rows, %" PRId64 " columns)",
             tensor->pages ? "page" : "batch", block, rows_outside ? inner_index : outer_index,
             rows_outside ? outer_index : inner_index, column, tensor->heads, tensor->rows, tensor->columns);
}

/* ---- What a kernel may touch ---- */

/* `count` blocks from `first` on, of which `length` elements along the sequence exist. */
static fmha_status declare_blocks(const struct tensor *tensor, fmha_device *device, void *memory, const char *label,
                                  int64_t first, int64_t count, int64_t length) {
    int64_t rows = tensor->along_columns ? tensor->rows : length;
    int64_t columns = tensor->along_columns ? length : tensor->columns;
    const int64_t shape[] = {count, tensor->heads, rows, columns};
    const int64_t strides[] = {tensor->stride_block, tensor->stride_head, tensor->stride_row, 1};
    fmha_tensor_view view = {
        .label = label,
        .address = (char *)memory + (size_t)(tensor->offset + first * tensor->stride_block) * tensor->element_bytes,
        .element_bytes = tensor->element_bytes,
        .dimensions = tensor->dimensions,
        .access = tensor->output ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ,
    };
    for (int i = 0; i < tensor->dimensions; i++) {
        view.shape[i] = shape[tensor->first_dimension + i];
        view.strides[i] = strides[tensor->first_dimension + i];
    }
    return fmha_memory_view(device, &view);
}

/* Elements along the sequence that exist in each block; the caller frees it. */
static int64_t *lengths_of_blocks(const struct tensor *tensor) {
    int64_t *lengths = calloc((size_t)tensor->blocks + 1, sizeof *lengths);
    for (int64_t batch = 0; lengths && batch < tensor->batch; batch++) {
        int64_t length = length_of(tensor, batch);
        if (!tensor->pages)
            lengths[batch] = length;
        for (int64_t at = 0; tensor->pages && at < length; at += tensor->page_size)
            lengths[tensor->pages[batch * tensor->pages_stride + at / tensor->page_size]] =
                length - at < tensor->page_size ? length - at : tensor->page_size;
    }
    return lengths;
}

fmha_status tensor_declare(const struct tensor *tensor, fmha_device *device, void *memory) {
    if (tensor->starts || (!tensor->lengths && !tensor->pages))
        return declare_blocks(tensor, device, memory, tensor->label, 0, tensor->blocks,
                              tensor->along_columns ? tensor->columns : tensor->rows);
    int64_t *lengths = lengths_of_blocks(tensor);
    fmha_status status = lengths ? FMHA_OK : FMHA_ERROR_MEMORY;
    bool declared = false;
    const char *what = tensor->pages ? "page" : "sequence";
    for (int64_t first = 0, end; status == FMHA_OK && first < tensor->blocks; first = end) {
        char label[LABEL_BYTES + 64];
        for (end = first + 1; end < tensor->blocks && lengths[end] == lengths[first];)
            end++;
        if (lengths[first] == 0)
            continue;
        if (end - first == tensor->blocks)
            snprintf(label, sizeof label, "%s", tensor->label);
        else if (end - first == 1)
            snprintf(label, sizeof label, "%s, %s %" PRId64, tensor->label, what, first);
        else
            snprintf(label, sizeof label, "%s, %ss %" PRId64 " to %" PRId64, tensor->label, what, first, end - 1);
        status = declare_blocks(tensor, device, memory, label, first, end - first, lengths[first]);
        declared = true;
    }
    if (status == FMHA_OK && !declared)
        status = declare_blocks(tensor, device, memory, tensor->label, 0, 0, 0);
    free(lengths);
    return status;
}

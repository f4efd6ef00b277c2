#include "operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "kv_cache.h"
#include "native.h"
#include "user_modifier.h"

/* LSE_GUARD: elements before and after it. ARRAY_GUARD_BYTES: before everything else but Q, K, V and O, as aligned as
 * memory of a device is. */
enum { LSE_GUARD = 1024, ARRAY_GUARD_BYTES = 256 };

/* Pages between which the others are tensors of their own: an emulated device knows 254 in a buffer. */
enum { SPARE_PAGES_MAX = 64 };

/* What stands in a block table where a sequence has no page. */
static const int32_t NO_PAGE = INT32_MAX;

/* One construction. */
struct making {
    const struct instance *instance;
    const struct execute_request *request;
    const struct reference_problem *problem;
    struct operands *operands;
    bool packed, transposed, paged, latent; /* latent: V is a view of K */
    int64_t tokens_q, tokens_k;
    const int64_t *lengths_q, *lengths_k; /* [batch]; NULL: all are as long as the problem says */
    const int64_t *starts_q, *starts_k;   /* of a packed batch */
    const int32_t *pages;
    int64_t pages_of_each, page_count;
    struct error *error;
};

static bool has_word(const struct instance *instance, enum spec_field_id field, const char *word) {
    return strcmp(spec_word(&instance->spec, field), word) == 0;
}

static bool no_memory(const struct making *making, int64_t elements, const char *what) {
    return error_set(making->error, ERROR_RUN, "no memory for %" PRId64 " elements of %s; verify a smaller shape",
                     elements, what);
}

/* Zeros that live as long as the operands. */
static void *own(const struct making *making, int64_t count, size_t size, const char *what) {
    struct operands *operands = making->operands;
    void *block = calloc((size_t)count + 1, size);
    if (!block || operands->owned_count == OPERANDS_OWNED_MAX) {
        free(block);
        no_memory(making, count, what);
        return NULL;
    }
    operands->owned[operands->owned_count++] = block;
    return block;
}

void operands_free(struct operands *operands) {
    for (int index = 0; index < operands->owned_count; index++)
        free(operands->owned[index]);
    operands->owned_count = 0;
}

static int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/* ---- Sequences and pages ---- */

/* Where each sequence of a packed batch begins; NULL without memory. */
static int64_t *make_starts(const struct making *making, const int64_t *lengths, int64_t length, int64_t *tokens) {
    int64_t batch = making->problem->batch, *starts = own(making, batch, sizeof *starts, "cumulative lengths");
    *tokens = 0;
    for (int64_t b = 0; starts && b < batch; b++) {
        starts[b] = *tokens;
        *tokens += lengths ? lengths[b] : length;
    }
    return starts;
}

/* Every sequence gets pages of its own, in random order, and some pages are nobody's. */
static bool make_pages(struct making *making) {
    const struct reference_problem *problem = making->problem;
    int64_t page_size = making->request->page_size, used = 0;
    uint64_t state = making->request->page_seed;
    making->pages_of_each = ceil_div(problem->seqlen_k, page_size);
    for (int64_t b = 0; b < problem->batch; b++)
        used += ceil_div(reference_seqlen_k(problem, b), page_size);
    int64_t between = (used / 4 < SPARE_PAGES_MAX ? used / 4 : SPARE_PAGES_MAX) + 1, drawn = used + between;
    making->page_count = making->request->page_spare + drawn;
    int32_t *pages = own(making, problem->batch * making->pages_of_each, sizeof *pages, "block_table");
    int32_t *order = own(making, drawn, sizeof *order, "pages");
    if (!pages || !order)
        return false;
    for (int64_t page = 0; page < drawn; page++)
        order[page] = (int32_t)(making->request->page_spare + page);
    for (int64_t page = drawn - 1; page > 0; page--) { /* Fisher and Yates */
        int64_t other = (int64_t)(inputs_next(&state) % (uint64_t)(page + 1));
        int32_t kept = order[page];
        order[page] = order[other];
        order[other] = kept;
    }
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t at = 0; at < making->pages_of_each; at++) {
            bool exists = at * page_size < reference_seqlen_k(problem, b);
            pages[b * making->pages_of_each + at] = exists ? order[--used] : NO_PAGE;
        }
    making->pages = pages;
    return true;
}

static bool make_sequences(struct making *making) {
    const struct reference_problem *problem = making->problem;
    making->packed = has_word(making->instance, SPEC_VARLEN, "packed");
    making->paged = has_word(making->instance, SPEC_PAGED, "on");
    making->latent = making->problem->v_in_k;
    making->transposed = has_word(making->instance, SPEC_V_LAYOUT, "transposed");
    making->lengths_q = problem->lengths_q;
    making->lengths_k = problem->lengths_k;
    if (making->packed &&
        (!(making->starts_q = make_starts(making, making->lengths_q, problem->seqlen_q, &making->tokens_q)) ||
         !(making->starts_k = make_starts(making, making->lengths_k, problem->seqlen_k, &making->tokens_k))))
        return false;
    return !making->paged || make_pages(making);
}

/* ---- Q, K, V, O and LSE ---- */

static bool too_large(const struct making *making) {
    const struct reference_problem *problem = making->problem;
    return error_set(making->error, ERROR_USAGE,
                     "shape %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                     ": expected tensors that fit into memory, got more bytes than 63 bits count; use a smaller shape",
                     problem->batch, problem->heads_q, problem->heads_k, problem->seqlen_q, problem->seqlen_k);
}

/* Bytes of an element of K and V; of mxfp4 those of two numbers. */
static size_t cache_bytes(const struct making *making) {
    return kv_cache_is_used(&making->instance->spec) ? sizeof(uint8_t) : sizeof(uint16_t);
}

/* Such elements of a row of K or V; and of eight neighbouring values. */
static int64_t cache_columns(const struct making *making, int64_t head_dim) {
    return kv_cache_row_bytes(&making->instance->spec, head_dim) / (int64_t)cache_bytes(making);
}

/* A tensor of queries, or of keys, as wide as a head dimension. */
static struct tensor *add_rows(const struct making *making, enum fmha_buffer buffer, bool keys, int64_t columns) {
    const struct reference_problem *problem = making->problem;
    struct tensor *tensor = &making->operands->tensors[buffer];
    bool paged = keys && making->paged;
    int64_t along = keys ? problem->seqlen_k : problem->seqlen_q;
    *tensor = (struct tensor){.label = fmha_buffer_names[buffer],
                              .element_bytes = keys ? cache_bytes(making) : sizeof(uint16_t),
                              .output = buffer == FMHA_BUFFER_O,
                              .dimensions = 4,
                              .blocks = paged            ? making->page_count
                                        : making->packed ? 1
                                                         : problem->batch,
                              .heads = keys ? problem->heads_k : problem->heads_q,
                              .along_columns = buffer == FMHA_BUFFER_V && making->transposed,
                              .batch = problem->batch,
                              .length = along,
                              .lengths = keys ? making->lengths_k : making->lengths_q};
    if (paged) {
        along = making->request->page_size;
        tensor->pages = making->pages;
        tensor->pages_stride = making->pages_of_each;
        tensor->page_size = along;
    } else if (making->packed) {
        along = keys ? making->tokens_k : making->tokens_q;
        tensor->starts = keys ? making->starts_k : making->starts_q;
    }
    tensor->rows = tensor->along_columns ? columns : along;
    tensor->columns = tensor->along_columns ? along : columns;
    making->operands->has[buffer] = true;
    return tensor;
}

/* Rows that a kernel which forgets the end of an output would write past it: those of a workgroup's tile. */
static int64_t guard_elements(const struct instance *instance, const struct tensor *tensor) {
    const int64_t most = INT64_C(1) << 24; /* of rows far apart only the nearest */
    int64_t rows = instance->spec.value[SPEC_BLOCK_M];
    return tensor->stride_row < most / rows ? rows * tensor->stride_row : most;
}

/* [batch][head][seqlen_k][head_dim_v] to [batch][head][head_dim_v][seqlen_k]; NULL without memory. */
static uint16_t *transposed_v(const struct making *making) {
    const struct reference_problem *problem = making->problem;
    const uint16_t *bits = making->request->v_bits;
    int64_t heads = problem->batch * problem->heads_k, rows = problem->seqlen_k, columns = problem->head_dim_v;
    uint16_t *transposed = own(making, heads * rows * columns, sizeof *bits, "v");
    for (int64_t head = 0; transposed && head < heads; head++)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = 0; column < columns; column++)
                transposed[(head * columns + column) * rows + row] = bits[(head * rows + row) * columns + column];
    return transposed;
}

static bool add_tensors(const struct making *making) {
    const struct execute_request *request = making->request;
    struct operands *operands = making->operands;
    int64_t alignment = execute_alignment(making->instance), head_dim = making->problem->head_dim,
            head_dim_v = making->problem->head_dim_v;
    int64_t of_cache = alignment == 1 ? 1 : cache_columns(making, alignment);
    struct tensor *o = add_rows(making, FMHA_BUFFER_O, false, head_dim_v);
    enum fmha_buffer k = making->latent ? FMHA_BUFFER_KV : FMHA_BUFFER_K;
    struct tensor *of_k = add_rows(making, k, true, cache_columns(making, head_dim));
    if (!tensor_lay(add_rows(making, FMHA_BUFFER_Q, false, head_dim), &request->q, alignment) ||
        !tensor_lay(of_k, &request->k, of_cache) || !tensor_lay(o, &request->o, alignment))
        return too_large(making);
    o->elements += guard_elements(making->instance, o);
    operands->contents[FMHA_BUFFER_Q] = request->q_bits;
    const struct kv_cache *cache = request->cache;
    operands->contents[k] = cache ? cache->k.numbers : (const void *)request->k_bits;
    if (making->latent)
        return true;
    struct tensor *of_v = add_rows(making, FMHA_BUFFER_V, true, cache_columns(making, head_dim_v));
    if (!tensor_lay(of_v, &request->v, of_cache))
        return too_large(making);
    operands->contents[FMHA_BUFFER_V] = cache ? cache->v.numbers : (const void *)request->v_bits;
    return !making->transposed || !request->v_bits ||
           (operands->contents[FMHA_BUFFER_V] = transposed_v(making)) != NULL;
}

/* [batch][heads_q][seqlen_q], of a packed batch [heads_q][tokens_q]. */
static bool add_lse(const struct making *making) {
    struct tensor *lse = add_rows(making, FMHA_BUFFER_LSE, false, 1);
    lse->element_bytes = sizeof(float);
    lse->output = true;
    lse->first_dimension = making->packed ? 1 : 0;
    lse->dimensions = making->packed ? 2 : 3;
    if (!tensor_lay(lse, &(struct tensor_layout){.order = TENSOR_BHSD, .offset = LSE_GUARD}, 1))
        return too_large(making);
    lse->elements += LSE_GUARD + making->instance->spec.value[SPEC_BLOCK_M];
    return true;
}

/* [splits][batch][heads_q][seqlen_q][columns], of a packed batch [splits][heads_q][tokens_q][columns]; f32, contiguous.
 */
static bool add_partial(const struct making *making, enum fmha_buffer buffer, int64_t columns) {
    struct tensor *tensor = add_rows(making, buffer, false, columns);
    int64_t splits = making->request->splits, batch = tensor->batch;
    tensor->element_bytes = sizeof(float);
    tensor->output = true;
    if (making->packed) {
        tensor->heads *= splits;
    } else {
        int64_t *lengths = own(making, splits * batch, sizeof *lengths, tensor->label);
        if (!lengths)
            return false;
        for (int64_t index = 0; index < splits * batch; index++)
            lengths[index] = tensor->lengths ? tensor->lengths[index % batch] : tensor->length;
        tensor->lengths = tensor->lengths ? lengths : NULL;
        tensor->blocks *= splits;
        tensor->batch *= splits;
    }
    if (!tensor_lay(tensor, &(struct tensor_layout){.order = TENSOR_BHSD, .offset = LSE_GUARD}, 1))
        return too_large(making);
    tensor->elements += LSE_GUARD + making->instance->spec.value[SPEC_BLOCK_M] * columns;
    return true;
}

/* Bytes of which rows of scales are multiples: they go to LDS by words where the matrix unit takes them. */
static int64_t scale_alignment(const struct making *making) {
    return native_has_bf16_weights(&making->instance->spec) ? 4 : 1;
}

/* Scales of K or V: [batch][heads_k], of packed keys [heads_k], or one for all; or in rows like K. What is next to them
 * is never another scale. */
static bool add_scales(const struct making *making, enum fmha_buffer buffer) {
    const bool of_v = buffer == FMHA_BUFFER_V_SCALE;
    const bool mxfp4 = has_word(making->instance, SPEC_KV_DTYPE, "mxfp4");
    const bool per_token = has_word(making->instance, SPEC_KV_SCALE, "token");
    const struct kv_cache *cache = making->request->cache;
    int64_t *values = making->operands->launch.value;
    int64_t head_dim = of_v ? making->problem->head_dim_v : making->problem->head_dim;
    struct tensor *tensor =
        add_rows(making, buffer, true, mxfp4 ? kv_cache_scale_bytes(&making->instance->spec, head_dim) : 1);
    struct tensor_layout layout = of_v ? making->request->v : making->request->k;
    layout = (struct tensor_layout){.order = layout.order,
                                    .offset = LSE_GUARD,
                                    .row_padding = of_v ? 2 : 1,
                                    .head_padding = of_v ? 5 : 3,
                                    .block_padding = of_v ? 11 : 7};
    if (!mxfp4) {
        tensor->element_bytes = sizeof(float);
        tensor->first_dimension = 0;
        tensor->dimensions = 3;
    }
    const bool one = cache && cache->shared;
    if (!mxfp4 && !per_token) {
        *tensor = (struct tensor){.label = tensor->label,
                                  .element_bytes = sizeof(float),
                                  .dimensions = 3,
                                  .blocks = one || tensor->starts ? 1 : making->problem->batch,
                                  .heads = one ? 1 : making->problem->heads_k,
                                  .rows = 1,
                                  .columns = 1,
                                  .length = 1};
        tensor->batch = tensor->blocks;
    }
    if (!tensor_lay(tensor, &layout, scale_alignment(making)))
        return too_large(making);
    if (cache)
        making->operands->contents[buffer] = mxfp4 ? (of_v ? cache->v.blocks : cache->k.blocks)
                                                   : (const void *)(of_v ? cache->v.scales : cache->k.scales);
    int64_t batch = one || tensor->starts ? 0 : tensor->stride_block;
    if (buffer == FMHA_BUFFER_KV_SCALE) {
        values[FMHA_VALUE_STRIDE_KV_SCALE_BATCH] = batch;
        values[FMHA_VALUE_STRIDE_KV_SCALE_ROW] = tensor->stride_row;
        return true;
    }
    int64_t *strides = &values[of_v ? FMHA_VALUE_STRIDE_V_SCALE_BATCH : FMHA_VALUE_STRIDE_K_SCALE_BATCH];
    strides[0] = batch;
    strides[1] = one ? 0 : tensor->stride_head;
    strides[2] = tensor->stride_row;
    return true;
}

/* ---- What modifiers and layouts read ---- */

/* The number that the instance wants a value to be a multiple of. */
static int64_t multiple_of(const struct instance *instance, enum fmha_value value) {
    for (int index = 0; index < instance->constraint_count; index++) {
        const struct constraint *constraint = &instance->constraints[index];
        char name[64];
        int64_t multiple;
        if (sscanf(constraint->field, "%63s %% %" SCNd64, name, &multiple) == 2 && multiple > 0 &&
            constraint->value == 0 && strcmp(constraint->relation, "equals") == 0 &&
            strcmp(name, fmha_value_names[value]) == 0)
            return multiple;
    }
    return 1;
}

/* [blocks][heads][rows][columns] of inputs of any type. */
static bool add_input(const struct making *making, enum fmha_buffer buffer, size_t element_bytes,
                      const int64_t shape[4], int dimensions, struct tensor_layout layout, int64_t alignment,
                      const void *contents) {
    struct tensor *tensor = &making->operands->tensors[buffer];
    *tensor = (struct tensor){.label = fmha_buffer_names[buffer],
                              .element_bytes = element_bytes,
                              .first_dimension = 4 - dimensions,
                              .dimensions = dimensions,
                              .blocks = shape[0],
                              .heads = shape[1],
                              .rows = shape[2],
                              .columns = shape[3],
                              .batch = shape[0],
                              .length = shape[2]};
    layout.order = TENSOR_BHSD;
    layout.offset = ARRAY_GUARD_BYTES / (int64_t)element_bytes;
    making->operands->has[buffer] = true;
    making->operands->contents[buffer] = contents;
    return tensor_lay(tensor, &layout, alignment) || too_large(making);
}

static bool add_integers(const struct making *making, enum fmha_buffer buffer, const int32_t *contents, int64_t count) {
    return contents && add_input(making, buffer, sizeof *contents, (const int64_t[]){1, 1, 1, count}, 1,
                                 (struct tensor_layout){0}, 1, contents);
}

/* 0 and the sums of lengths, batch + 1 numbers. */
static bool add_cumulative(const struct making *making, enum fmha_buffer buffer, const int64_t *starts,
                           int64_t tokens) {
    int64_t batch = making->problem->batch;
    int32_t *sums = own(making, batch + 1, sizeof *sums, fmha_buffer_names[buffer]);
    for (int64_t b = 0; sums && b < batch; b++)
        sums[b] = (int32_t)starts[b];
    if (sums)
        sums[batch] = (int32_t)tokens;
    return add_integers(making, buffer, sums, batch + 1);
}

/* `lengths` NULL: all are `length`. */
static bool add_lengths(const struct making *making, enum fmha_buffer buffer, const int64_t *lengths, int64_t length) {
    int64_t batch = making->problem->batch;
    int32_t *list = own(making, batch, sizeof *list, fmha_buffer_names[buffer]);
    for (int64_t b = 0; list && b < batch; b++)
        list[b] = (int32_t)(lengths ? lengths[b] : length);
    return add_integers(making, buffer, list, batch);
}

/* Rows are longer than what is read of them. */
static bool add_block_table(const struct making *making) {
    struct operands *operands = making->operands;
    bool added = add_input(making, FMHA_BUFFER_BLOCK_TABLE, sizeof *making->pages,
                           (const int64_t[]){1, 1, making->problem->batch, making->pages_of_each}, 2,
                           (struct tensor_layout){.row_padding = 1},
                           multiple_of(making->instance, FMHA_VALUE_STRIDE_BLOCK_TABLE), making->pages);
    operands->launch.value[FMHA_VALUE_STRIDE_BLOCK_TABLE] = operands->tensors[FMHA_BUFFER_BLOCK_TABLE].stride_row;
    return added;
}

/* [rows][heads_q] floats. */
static bool add_of_heads(const struct making *making, enum fmha_buffer buffer, const double *values, int64_t rows,
                         int64_t padding, int64_t alignment) {
    int64_t heads = making->problem->heads_q;
    float *rounded = own(making, rows * heads, sizeof *rounded, fmha_buffer_names[buffer]);
    for (int64_t index = 0; rounded && index < rows * heads; index++)
        rounded[index] = (float)values[index];
    return rounded && add_input(making, buffer, sizeof *rounded, (const int64_t[]){1, 1, rows, heads}, rows > 1 ? 2 : 1,
                                (struct tensor_layout){.row_padding = padding}, alignment, rounded);
}

/* Slopes that all batches share stand there once. */
static bool add_alibi(const struct making *making) {
    const struct reference_problem *problem = making->problem;
    struct operands *operands = making->operands;
    bool shared = true;
    for (int64_t index = problem->heads_q; index < problem->batch * problem->heads_q; index++)
        shared = shared && problem->alibi[index] == problem->alibi[index - problem->heads_q];
    bool added = add_of_heads(making, FMHA_BUFFER_ALIBI_SLOPES, problem->alibi, shared ? 1 : problem->batch,
                              shared ? 0 : 3, multiple_of(making->instance, FMHA_VALUE_STRIDE_ALIBI_BATCH));
    operands->launch.value[FMHA_VALUE_STRIDE_ALIBI_BATCH] =
        shared ? 0 : operands->tensors[FMHA_BUFFER_ALIBI_SLOPES].stride_row;
    return added;
}

/* A plane in memory, batches, heads and rows that share their values once. `rows` and `columns` of it, each made by
 * `put` from those of the reference. */
struct plane_kind {
    enum fmha_buffer buffer;
    enum fmha_value stride_batch; /* head and row follow */
    size_t element_bytes;
    void (*put)(const struct making *making, const struct reference_plane *plane, int64_t at, void *row,
                int64_t columns);
};

static void put_bias(const struct making *making, const struct reference_plane *plane, int64_t at, void *row,
                     int64_t columns) {
    const double *values = (const double *)plane->values + at;
    bool single = has_word(making->instance, SPEC_BIAS, "f32");
    enum half_type type = has_word(making->instance, SPEC_DTYPE, "bf16") ? HALF_BF16 : HALF_F16;
    for (int64_t column = 0; column < columns; column++)
        if (single)
            ((float *)row)[column] = (float)values[column];
        else
            ((uint16_t *)row)[column] = half_from_double(type, values[column]);
}

static void put_mask(const struct making *making, const struct reference_plane *plane, int64_t at, void *row,
                     int64_t columns) {
    (void)making;
    memcpy(row, (const uint8_t *)plane->values + at, (size_t)columns);
}

/* Bits past the last block are set: nobody may ask for them. */
static void put_block_mask(const struct making *making, const struct reference_plane *plane, int64_t at, void *row,
                           int64_t columns) {
    const uint8_t *values = (const uint8_t *)plane->values + at;
    int64_t blocks = ceil_div(making->problem->seqlen_k, making->problem->block_mask_k);
    for (int64_t column = 0; column < columns; column++) {
        uint32_t word = 0;
        for (int64_t bit = 0; bit < 32; bit++)
            word |= (uint32_t)(column * 32 + bit >= blocks || values[column * 32 + bit] != 0) << bit;
        ((uint32_t *)row)[column] = word;
    }
}

static bool add_plane(const struct making *making, const struct reference_plane *plane, const struct plane_kind *kind,
                      int64_t rows, int64_t columns) {
    const struct reference_problem *problem = making->problem;
    int64_t *strides = &making->operands->launch.value[kind->stride_batch];
    const int64_t shape[] = {plane->stride_batch ? problem->batch : 1, plane->stride_head ? problem->heads_q : 1,
                             plane->stride_row ? rows : rows > 0, columns};
    int64_t alignment = 1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t multiple = multiple_of(making->instance, (enum fmha_value)((int)kind->stride_batch + axis));
        alignment = multiple > alignment ? multiple : alignment;
    }
    unsigned char *contents =
        own(making, shape[0] * shape[1] * shape[2] * columns, kind->element_bytes, fmha_buffer_names[kind->buffer]);
    if (!contents ||
        !add_input(making, kind->buffer, kind->element_bytes, shape, 4, making->request->planes, alignment, contents))
        return false;
    for (int64_t row = 0; row < shape[0] * shape[1] * shape[2]; row++) {
        int64_t batch = row / shape[2] / shape[1], head = row / shape[2] % shape[1];
        kind->put(making, plane,
                  batch * plane->stride_batch + head * plane->stride_head + row % shape[2] * plane->stride_row,
                  contents + (size_t)(row * columns) * kind->element_bytes, columns);
    }
    const struct tensor *tensor = &making->operands->tensors[kind->buffer];
    strides[0] = plane->stride_batch ? tensor->stride_block : 0;
    strides[1] = plane->stride_head ? tensor->stride_head : 0;
    strides[2] = plane->stride_row ? tensor->stride_row : 0;
    return true;
}

static bool add_of_user(const struct making *making, enum fmha_buffer buffer) {
    struct operands *operands = making->operands;
    void *contents;
    int64_t elements;
    size_t element_bytes;
    if (!user_reference_buffer(making->request->user, (int)buffer - FMHA_BUFFER_MODIFIER_0, making->problem, &contents,
                               &elements, &element_bytes, making->error))
        return false;
    if (!contents)
        return true;
    operands->owned[operands->owned_count++] = contents;
    return add_input(making, buffer, element_bytes, (const int64_t[]){1, 1, 1, elements}, 1, (struct tensor_layout){0},
                     1, contents);
}

/* What the problem does not have is not there, and then the instance does not serve it. */
static bool add_one(const struct making *making, enum fmha_buffer buffer) {
    const struct reference_problem *problem = making->problem;
    size_t bias_bytes = has_word(making->instance, SPEC_BIAS, "f32") ? sizeof(float) : sizeof(uint16_t);
    switch (buffer) {
    case FMHA_BUFFER_LSE:
        return !making->request->lse || add_lse(making);
    case FMHA_BUFFER_O_PARTIAL:
        return making->request->splits <= 1 || add_partial(making, buffer, problem->head_dim_v);
    case FMHA_BUFFER_LSE_PARTIAL:
        return making->request->splits <= 1 || add_partial(making, buffer, 1);
    case FMHA_BUFFER_CU_SEQLENS_Q:
        return !making->packed || add_cumulative(making, buffer, making->starts_q, making->tokens_q);
    case FMHA_BUFFER_CU_SEQLENS_K:
        return !making->packed || add_cumulative(making, buffer, making->starts_k, making->tokens_k);
    case FMHA_BUFFER_SEQLENS_Q:
        return add_lengths(making, buffer, making->lengths_q, problem->seqlen_q);
    case FMHA_BUFFER_SEQLENS_K:
        return add_lengths(making, buffer, making->lengths_k, problem->seqlen_k);
    case FMHA_BUFFER_BLOCK_TABLE:
        return !making->paged || add_block_table(making);
    case FMHA_BUFFER_PREFIX_LENGTHS:
        return !problem->prefix || add_lengths(making, buffer, problem->prefix, 0);
    case FMHA_BUFFER_ALIBI_SLOPES:
        return !problem->alibi || add_alibi(making);
    case FMHA_BUFFER_SINK:
        return !problem->sink || add_of_heads(making, buffer, problem->sink, 1, 0, 1);
    case FMHA_BUFFER_HEAD_SCALE:
        return !problem->head_scale || add_of_heads(making, buffer, problem->head_scale, 1, 0, 1);
    case FMHA_BUFFER_K_SCALE:
    case FMHA_BUFFER_V_SCALE:
    case FMHA_BUFFER_KV_SCALE:
        return add_scales(making, buffer);
    case FMHA_BUFFER_BIAS:
        return !problem->bias.values ||
               add_plane(making, &problem->bias,
                         &(struct plane_kind){buffer, FMHA_VALUE_STRIDE_BIAS_BATCH, bias_bytes, put_bias},
                         problem->seqlen_q, problem->seqlen_k);
    case FMHA_BUFFER_MASK:
        return !problem->attn_mask.values ||
               add_plane(making, &problem->attn_mask,
                         &(struct plane_kind){buffer, FMHA_VALUE_STRIDE_MASK_BATCH, sizeof(uint8_t), put_mask},
                         problem->seqlen_q, problem->seqlen_k);
    case FMHA_BUFFER_BLOCK_MASK:
        return !problem->block_mask.values ||
               add_plane(
                   making, &problem->block_mask,
                   &(struct plane_kind){buffer, FMHA_VALUE_STRIDE_BLOCK_MASK_BATCH, sizeof(uint32_t), put_block_mask},
                   ceil_div(problem->seqlen_q, problem->block_mask_q),
                   ceil_div(ceil_div(problem->seqlen_k, problem->block_mask_k), 32));
    default:
        return buffer < FMHA_BUFFER_MODIFIER_0 || !making->request->user || add_of_user(making, buffer);
    }
}

static bool add_others(const struct making *making) {
    for (int buffer = 0; buffer < FMHA_BUFFER_COUNT; buffer++)
        for (int index = 0; index < making->instance->argument_count; index++)
            if (making->instance->arguments[index].kind == ARGUMENT_BUFFER &&
                strcmp(making->instance->arguments[index].name, fmha_buffer_names[buffer]) == 0 &&
                !add_one(making, (enum fmha_buffer)buffer))
                return false;
    return true;
}

/* ---- Values ---- */

static void set_values(const struct making *making) {
    const struct reference_problem *problem = making->problem;
    struct fmha_operands *launch = &making->operands->launch;
    *launch = (struct fmha_operands){
        .value = {[FMHA_VALUE_BATCH] = problem->batch,
                  [FMHA_VALUE_HEADS_Q] = problem->heads_q,
                  [FMHA_VALUE_HEADS_K] = problem->heads_k,
                  [FMHA_VALUE_SEQLEN_Q] = problem->seqlen_q,
                  [FMHA_VALUE_SEQLEN_K] = problem->seqlen_k,
                  [FMHA_VALUE_HEAD_DIM] = problem->head_dim,
                  [FMHA_VALUE_HEAD_DIM_V] = problem->head_dim_v,
                  [FMHA_VALUE_WINDOW_LEFT] = problem->window ? problem->window_left : -1,
                  [FMHA_VALUE_WINDOW_RIGHT] = problem->window ? problem->window_right : -1,
                  [FMHA_VALUE_SINK_KEYS] = problem->sink_keys,
                  [FMHA_VALUE_PAGE_SIZE] = making->paged ? making->request->page_size : 0,
                  [FMHA_VALUE_BLOCK_MASK_Q] = problem->block_mask_q,
                  [FMHA_VALUE_BLOCK_MASK_K] = problem->block_mask_k,
                  [FMHA_VALUE_TOKENS_Q] = making->tokens_q,
                  [FMHA_VALUE_SPLITS] = making->request->splits > 1 ? making->request->splits : 1,
                  [FMHA_VALUE_DROPOUT_SEED] = (int64_t)problem->dropout_seed,
                  [FMHA_VALUE_DROPOUT_OFFSET] = (int64_t)problem->dropout_offset},
        .real = {[FMHA_REAL_SCALE] = (float)problem->scale,
                 [FMHA_REAL_SOFTCAP] = (float)problem->softcap,
                 [FMHA_REAL_DROPOUT] = (float)problem->dropout},
    };
    for (int i = 0; making->request->user && i < FMHA_MODIFIER_VALUES; i++)
        launch->real[FMHA_REAL_MODIFIER_0 + i] = (float)user_reference_value(making->request->user, i);
}

_Static_assert(FMHA_BUFFER_Q == 0 && FMHA_BUFFER_K == 1 && FMHA_BUFFER_V == 2 && FMHA_BUFFER_O == 3 &&
                   FMHA_VALUE_STRIDE_O_ROW == FMHA_VALUE_STRIDE_Q_BATCH + 3 * FMHA_BUFFER_O + 2,
               "strides are in the order of the tensors");

/* A packed batch has no stride from sequence to sequence. */
static void set_strides(const struct making *making) {
    for (int buffer = FMHA_BUFFER_Q; buffer <= FMHA_BUFFER_O; buffer++) {
        const struct tensor *tensor = &making->operands->tensors[buffer];
        int64_t *strides = &making->operands->launch.value[FMHA_VALUE_STRIDE_Q_BATCH + 3 * buffer];
        strides[0] = tensor->starts ? 0 : tensor->stride_block;
        strides[1] = tensor->stride_head;
        strides[2] = tensor->stride_row;
    }
    const struct tensor *kv = &making->operands->tensors[FMHA_BUFFER_KV];
    making->operands->launch.value[FMHA_VALUE_STRIDE_KV_BATCH] = kv->starts ? 0 : kv->stride_block;
    making->operands->launch.value[FMHA_VALUE_STRIDE_KV_ROW] = kv->stride_row;
}

bool operands_make(const struct instance *instance, const struct execute_request *request, struct operands *operands,
                   struct error *error) {
    struct making making = {
        .instance = instance, .request = request, .problem = request->problem, .operands = operands, .error = error};
    *operands = (struct operands){0};
    if (!make_sequences(&making) || !add_tensors(&making))
        return false;
    set_values(&making);
    set_strides(&making);
    if (!add_others(&making))
        return false;
    if (request->splits > 1) /* only parts are written */
        operands->tensors[FMHA_BUFFER_O].output = operands->tensors[FMHA_BUFFER_LSE].output = false;
    return true;
}

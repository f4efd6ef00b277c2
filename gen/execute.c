#include "execute.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index_text.h"

/* A tensor in memory: [batch][heads][rows][columns] with strides in elements, the last dimension contiguous. */
struct view {
    int64_t batch, heads, rows, columns;
    int64_t stride_batch, stride_head, stride_row;
    int64_t offset, elements; /* elements: of the whole allocation */
};

enum tensor_id { TENSOR_Q, TENSOR_K, TENSOR_V, TENSOR_O, TENSOR_COUNT };
static const char *const tensor_names[TENSOR_COUNT] = {"q", "k", "v", "o"};

enum { LSE_GUARD = 1024, ROW_MOST = 256 }; /* ROW_MOST: head dimensions end there */

_Static_assert(FMHA_BUFFER_Q == (int)TENSOR_Q && FMHA_BUFFER_O == (int)TENSOR_O, "tensors are buffers");
_Static_assert(FMHA_VALUE_STRIDE_O_ROW == FMHA_VALUE_STRIDE_Q_BATCH + 3 * (int)TENSOR_COUNT - 1,
               "strides are in the order of the tensors");

/* One buffer on the device with the image of what it must hold on the host; a sparse one has none. */
struct buffer {
    void *address;
    unsigned char *image; /* what was written */
    size_t bytes;
};

static bool v_is_transposed(const struct instance *instance) {
    const struct spec_field *field = &spec_fields[SPEC_V_LAYOUT];
    return strcmp(field->words[instance->spec.value[SPEC_V_LAYOUT]], "transposed") == 0;
}

int64_t execute_alignment(const struct instance *instance) {
    return instance->spec.value[SPEC_ALIGN] / 2;
}

static int64_t round_up(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* Rows that a kernel which forgets the end of an output would write past it: those of a workgroup's tile. */
static int64_t guard_elements(const struct instance *instance, const struct view *view) {
    const int64_t most = INT64_C(1) << 24; /* of rows far apart only the nearest */
    int64_t rows = instance->spec.value[SPEC_BLOCK_M];
    return view->stride_row < most / rows ? rows * view->stride_row : most;
}

/* False when the tensor has more elements than 63 bits can count bytes of. */
static bool make_view(const struct execute_layout *layout, int64_t alignment, int64_t batch, int64_t heads,
                      int64_t rows, int64_t columns, struct view *view) {
    int64_t row = round_up(columns + layout->row_padding, alignment), head_rows, batch_rows, all;
    *view = (struct view){.batch = batch, .heads = heads, .rows = rows, .columns = columns, .offset = layout->offset};
    if (__builtin_mul_overflow(row, layout->order == EXECUTE_BSHD ? heads : rows, &head_rows) ||
        __builtin_add_overflow(head_rows, round_up(layout->head_padding, alignment), &head_rows) ||
        __builtin_mul_overflow(head_rows, layout->order == EXECUTE_BSHD ? rows : heads, &batch_rows) ||
        __builtin_add_overflow(batch_rows, round_up(layout->batch_padding, alignment), &view->stride_batch) ||
        __builtin_mul_overflow(view->stride_batch, batch, &all) || all > INT64_MAX / 64)
        return false;
    view->stride_row = layout->order == EXECUTE_BSHD ? head_rows : row;
    view->stride_head = layout->order == EXECUTE_BSHD ? row : head_rows;
    view->elements = layout->offset;
    if (batch && heads && rows && columns) /* up to the last element and no further */
        view->elements += (batch - 1) * view->stride_batch + (heads - 1) * view->stride_head +
                          (rows - 1) * view->stride_row + columns;
    /* Padded inputs end in padding; those that are not end where their memory does. */
    if (layout->row_padding)
        view->elements += row - columns;
    return true;
}

static bool make_views(const struct instance *instance, const struct execute_request *request,
                       struct view views[TENSOR_COUNT], struct error *error) {
    const struct reference_problem *problem = request->problem;
    int64_t alignment = execute_alignment(instance);
    bool transposed = v_is_transposed(instance);
    bool fits = make_view(&request->q, alignment, problem->batch, problem->heads_q, problem->seqlen_q,
                          problem->head_dim, &views[TENSOR_Q]) &&
                make_view(&request->k, alignment, problem->batch, problem->heads_k, problem->seqlen_k,
                          problem->head_dim, &views[TENSOR_K]) &&
                make_view(&request->v, alignment, problem->batch, problem->heads_k,
                          transposed ? problem->head_dim_v : problem->seqlen_k,
                          transposed ? problem->seqlen_k : problem->head_dim_v, &views[TENSOR_V]) &&
                make_view(&request->o, alignment, problem->batch, problem->heads_q, problem->seqlen_q,
                          problem->head_dim_v, &views[TENSOR_O]);
    if (!fits)
        return error_set(
            error, ERROR_USAGE,
            "shape %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
            ": expected tensors that fit into memory, got more bytes than 63 bits count; use a smaller shape",
            problem->batch, problem->heads_q, problem->heads_k, problem->seqlen_q, problem->seqlen_k);
    views[TENSOR_O].elements += guard_elements(instance, &views[TENSOR_O]);
    return true;
}

static void set_values(const struct reference_problem *problem, const struct view views[TENSOR_COUNT],
                       struct fmha_operands *operands) {
    *operands = (struct fmha_operands){
        .value = {[FMHA_VALUE_BATCH] = problem->batch,
                  [FMHA_VALUE_HEADS_Q] = problem->heads_q,
                  [FMHA_VALUE_HEADS_K] = problem->heads_k,
                  [FMHA_VALUE_SEQLEN_Q] = problem->seqlen_q,
                  [FMHA_VALUE_SEQLEN_K] = problem->seqlen_k,
                  [FMHA_VALUE_HEAD_DIM] = problem->head_dim,
                  [FMHA_VALUE_HEAD_DIM_V] = problem->head_dim_v},
        .real = {[FMHA_REAL_SCALE] = (float)problem->scale},
    };
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        int64_t *strides = &operands->value[FMHA_VALUE_STRIDE_Q_BATCH + 3 * tensor];
        strides[0] = views[tensor].stride_batch;
        strides[1] = views[tensor].stride_head;
        strides[2] = views[tensor].stride_row;
    }
}

static bool check_served(const struct fmha_descriptor *descriptor, const struct reference_problem *problem,
                         const struct fmha_operands *operands, struct error *error) {
    int failed;
    char why[512];
    if (fmha_descriptor_serves(descriptor, operands, &failed))
        return true;
    fmha_descriptor_explain(descriptor, operands, failed, why, sizeof why);
    return error_set(error, ERROR_USAGE, "%s: shape %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ": %s",
                     descriptor->name, problem->batch, problem->heads_q, problem->heads_k, problem->seqlen_q,
                     problem->seqlen_k, why);
}

bool execute_check(const struct instance *instance, const struct execute_request *request, struct error *error) {
    struct view views[TENSOR_COUNT];
    struct fmha_operands operands;
    struct fmha_index *index;
    if (!make_views(instance, request, views, error) || !index_of_instance(instance, &index, error))
        return false;
    set_values(request->problem, views, &operands);
    /* Allocations of a device are aligned to at least 256 bytes; what counts is where in them the tensors begin. */
    const uintptr_t allocation = 4096;
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
        operands.buffer[tensor] = (void *)(allocation + (uintptr_t)views[tensor].offset * sizeof(uint16_t));
    operands.buffer[FMHA_BUFFER_LSE] = request->lse ? (void *)allocation : NULL;
    bool served = check_served(fmha_index_at(index, 0), request->problem, &operands, error);
    fmha_index_free(index);
    return served;
}

/* The library's words become the error's. */
static bool device_call(fmha_status status, const char *doing, struct error *error) {
    if (status == FMHA_OK)
        return true;
    return error_set(error, ERROR_RUN, "%s%s%s", doing, *doing ? ": " : "", fmha_last_error());
}

/* A real device has no options. */
static bool set_option(struct execute_target *target, const char *option, int64_t value, struct error *error) {
    fmha_status status = fmha_device_set(target->device, option, value);
    return status == FMHA_ERROR_UNSUPPORTED || device_call(status, option, error);
}

bool execute_seed(struct execute_target *target, uint64_t seed, struct error *error) {
    return set_option(target, "seed", (int64_t)(seed & INT64_MAX), error);
}

bool execute_open(const char *device_name, const struct instance *instance, const struct execute_options *options,
                  struct execute_target *target, struct error *error) {
    *target = (struct execute_target){.instance = instance};
    const struct fmha_source source = {
        .text = instance->text.bytes, .symbol = instance->name, .wave = instance->spec.value[SPEC_WAVE]};
    void *image = NULL;
    size_t image_bytes = 0;
    bool opened =
        index_of_instance(instance, &target->index, error) &&
        device_call(fmha_device_open(device_name, &target->device), "", error) && /* the text names the device */
        set_option(target, "checks", !options->without_checks, error) &&
        set_option(target, "count", options->count, error) &&
        (options->object ||
         device_call(fmha_source_compile(target->device, &source, &image, &image_bytes), instance->name, error)) &&
        device_call(fmha_module_load(target->device, options->object ? options->object : image,
                                     options->object ? options->object_bytes : image_bytes, &target->module),
                    instance->name, error) &&
        device_call(fmha_module_kernel(target->module, instance->name, &target->kernel), instance->name, error);
    free(image);
    if (!opened)
        execute_close(target);
    return opened;
}

void execute_close(struct execute_target *target) {
    fmha_device_close(target->device);
    fmha_index_free(target->index);
    *target = (struct execute_target){0};
}

static int64_t place_of(const struct view *view, int64_t row_index) {
    int64_t row = row_index % view->rows, head = row_index / view->rows % view->heads;
    int64_t batch = row_index / view->rows / view->heads;
    return view->offset + batch * view->stride_batch + head * view->stride_head + row * view->stride_row;
}

static int64_t row_count(const struct view *view) {
    return view->batch * view->heads * view->rows;
}

/* Packed rows to their places in memory, and back. */
static void scatter(const struct view *view, uint16_t *memory, const uint16_t *packed) {
    for (int64_t row = 0; row < row_count(view); row++)
        memcpy(memory + place_of(view, row), packed + row * view->columns, (size_t)view->columns * sizeof *packed);
}

static void gather(const struct view *view, const uint16_t *memory, uint16_t *packed) {
    for (int64_t row = 0; row < row_count(view); row++)
        memcpy(packed + row * view->columns, memory + place_of(view, row), (size_t)view->columns * sizeof *packed);
}

/* [batch][head][seqlen_k][head_dim_v] to [batch][head][head_dim_v][seqlen_k]; the caller frees it. */
static uint16_t *transpose(const uint16_t *bits, int64_t heads, int64_t rows, int64_t columns) {
    uint16_t *transposed = malloc((size_t)(heads * rows * columns) * sizeof *bits + 1);
    for (int64_t head = 0; transposed && head < heads; head++)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t column = 0; column < columns; column++)
                transposed[(head * columns + column) * rows + row] = bits[(head * rows + row) * columns + column];
    return transposed;
}

/* Where an element of a tensor's memory is, for people. */
static void describe_place(const struct view *view, int64_t element, char *text, size_t text_bytes) {
    int64_t rest = element - view->offset;
    if (rest < 0) {
        snprintf(text, text_bytes, "%" PRId64 " elements before its first", -rest);
        return;
    }
    int64_t batch = row_count(view) ? rest / view->stride_batch : view->batch;
    if (batch >= view->batch) {
        snprintf(text, text_bytes, "element %" PRId64 " of its memory, past its end", element);
        return;
    }
    rest -= batch * view->stride_batch;
    bool rows_outside = view->stride_row >= view->stride_head;
    int64_t outer = rows_outside ? view->stride_row : view->stride_head;
    int64_t inner = rows_outside ? view->stride_head : view->stride_row;
    int64_t outer_index = rest / outer, inner_index = rest % outer / inner, column = rest % outer % inner;
    snprintf(text, text_bytes,
             "batch %" PRId64 ", head %" PRId64 ", row %" PRId64 ", column %" PRId64 " (of %" PRId64 " heads, %" PRId64
             " rows, %" PRId64 " columns)",
             batch, rows_outside ? inner_index : outer_index, rows_outside ? outer_index : inner_index, column,
             view->heads, view->rows, view->columns);
}

struct run {
    const struct execute_target *target;
    const struct execute_request *request;
    struct view views[TENSOR_COUNT];
    struct fmha_operands operands;
    struct buffer buffers[TENSOR_COUNT];
    struct buffer lse;
    struct error *error;
};

static bool no_memory(const struct run *run, size_t bytes, const char *what) {
    return error_set(run->error, ERROR_RUN, "no memory for %zu bytes of %s; verify a smaller shape", bytes, what);
}

static bool buffer_new(const struct run *run, const char *label, size_t bytes, struct buffer *buffer) {
    buffer->bytes = bytes ? bytes : 1; /* an empty tensor still has an address */
    buffer->image = malloc(buffer->bytes + sizeof(uint32_t));
    if (!buffer->image)
        return no_memory(run, buffer->bytes, label);
    for (size_t at = 0; at < buffer->bytes; at += sizeof(uint32_t))
        memcpy(buffer->image + at, &(uint32_t){EXECUTE_POISON_F32}, sizeof(uint32_t));
    return true;
}

static bool buffer_send(const struct run *run, const char *label, struct buffer *buffer) {
    return device_call(fmha_memory_alloc(run->target->device, buffer->bytes, label, &buffer->address), label,
                       run->error) &&
           device_call(fmha_memory_write(run->target->device, buffer->address, buffer->image, buffer->bytes), label,
                       run->error);
}

/* Tells an emulated device what a kernel may touch. */
static bool declare(const struct run *run, int tensor) {
    const struct view *view = &run->views[tensor];
    fmha_tensor_view declared = {
        .label = tensor_names[tensor],
        .address = (uint16_t *)run->buffers[tensor].address + view->offset,
        .element_bytes = sizeof(uint16_t),
        .dimensions = 4,
        .shape = {view->batch, view->heads, view->rows, view->columns},
        .strides = {view->stride_batch, view->stride_head, view->stride_row, 1},
        .access = tensor == TENSOR_O ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ,
    };
    return device_call(fmha_memory_view(run->target->device, &declared), tensor_names[tensor], run->error);
}

static bool declare_lse(const struct run *run) {
    const struct reference_problem *problem = run->request->problem;
    fmha_tensor_view declared = {
        .label = "lse",
        .address = (float *)run->lse.address + LSE_GUARD,
        .element_bytes = sizeof(float),
        .dimensions = 3,
        .shape = {problem->batch, problem->heads_q, problem->seqlen_q},
        .strides = {problem->heads_q * problem->seqlen_q, problem->seqlen_q, 1},
        .access = FMHA_ACCESS_WRITE,
    };
    return device_call(fmha_memory_view(run->target->device, &declared), "lse", run->error);
}

/* A tensor of few rows far apart: only its rows are written and read; what lies between them is not looked at. */
static bool is_sparse(const struct view *view) {
    return view->elements > INT64_C(1) << 27 && view->elements / 8 > row_count(view) * view->columns;
}

/* packed: NULL for the pattern that says that nothing was written. */
static bool send_rows(struct run *run, int tensor, const uint16_t *packed) {
    const struct view *view = &run->views[tensor];
    uint16_t unwritten[ROW_MOST];
    struct buffer *buffer = &run->buffers[tensor];
    fmha_device *device = run->target->device;
    size_t bytes = (size_t)view->columns * sizeof *packed;
    for (int column = 0; column < ROW_MOST; column++)
        unwritten[column] = EXECUTE_POISON;
    fmha_status status = fmha_memory_alloc(device, buffer->bytes, tensor_names[tensor], &buffer->address);
    for (int64_t row = 0; status == FMHA_OK && row < row_count(view); row++)
        status = fmha_memory_write(device, (uint16_t *)buffer->address + place_of(view, row),
                                   packed ? packed + row * view->columns : unwritten, bytes);
    return device_call(status, tensor_names[tensor], run->error);
}

/* Of an output, which has nothing to send, `packed` is NULL. */
static bool send_tensor(struct run *run, int tensor, const uint16_t *packed) {
    const struct view *view = &run->views[tensor];
    struct buffer *buffer = &run->buffers[tensor];
    size_t bytes = (size_t)view->elements * sizeof *packed;
    if (is_sparse(view)) {
        buffer->bytes = bytes;
        return send_rows(run, tensor, packed);
    }
    if (!buffer_new(run, tensor_names[tensor], bytes, buffer))
        return false;
    if (packed)
        scatter(view, (uint16_t *)buffer->image, packed);
    return buffer_send(run, tensor_names[tensor], buffer);
}

static void buffer_free(const struct run *run, struct buffer *buffer) {
    fmha_memory_free(run->target->device, buffer->address);
    free(buffer->image);
}

static bool send_v(struct run *run) {
    const struct reference_problem *problem = run->request->problem;
    if (!v_is_transposed(run->target->instance))
        return send_tensor(run, TENSOR_V, run->request->v_bits);
    uint16_t *transposed =
        transpose(run->request->v_bits, problem->batch * problem->heads_k, problem->seqlen_k, problem->head_dim_v);
    bool sent = transposed ? send_tensor(run, TENSOR_V, transposed)
                           : no_memory(run, (size_t)run->views[TENSOR_V].elements * sizeof(uint16_t), "v");
    free(transposed);
    return sent;
}

static bool make_buffers(struct run *run) {
    const struct execute_request *request = run->request;
    const struct reference_problem *problem = request->problem;
    if (!send_tensor(run, TENSOR_Q, request->q_bits) || !send_tensor(run, TENSOR_K, request->k_bits) || !send_v(run) ||
        !send_tensor(run, TENSOR_O, NULL))
        return false;
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
        if (!declare(run, tensor))
            return false;
    if (!request->lse)
        return true;
    int64_t rows = problem->batch * problem->heads_q * problem->seqlen_q;
    int64_t guard = LSE_GUARD + run->target->instance->spec.value[SPEC_BLOCK_M];
    return buffer_new(run, "lse", (size_t)(LSE_GUARD + rows + guard) * sizeof(float), &run->lse) &&
           buffer_send(run, "lse", &run->lse) && declare_lse(run);
}

static void set_addresses(struct run *run) {
    void **addresses = run->operands.buffer;
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
        addresses[tensor] = (uint16_t *)run->buffers[tensor].address + run->views[tensor].offset;
    addresses[FMHA_BUFFER_LSE] = run->lse.address ? (float *)run->lse.address + LSE_GUARD : NULL;
}

static bool find_grid(const struct run *run, const struct fmha_descriptor *descriptor, uint32_t grid[3], bool *empty) {
    int axis;
    if (fmha_descriptor_grid(descriptor, &run->operands, grid, empty, &axis))
        return true;
    char got[32] = "none in 64 bits";
    int64_t size;
    if (fmha_expression_evaluate(&descriptor->grid[axis], run->operands.value, &size))
        snprintf(got, sizeof got, "%" PRId64, size);
    return error_set(run->error, ERROR_USAGE,
                     "%s: grid '%s': expected 0 to %" PRIu32 " workgroups, got %s; use a smaller shape",
                     descriptor->name, run->target->instance->grid[axis], UINT32_MAX, got);
}

static bool launch(struct run *run, struct findings *findings) {
    const struct fmha_descriptor *descriptor = fmha_index_at(run->target->index, 0);
    struct fmha_launch_config config = {.workgroup = {descriptor->workgroup, 1, 1},
                                        .argument_bytes = descriptor->interface->argument_bytes};
    _Alignas(8) unsigned char block[FMHA_ARGUMENT_BYTES_MAX];
    bool empty;
    set_addresses(run);
    if (!check_served(descriptor, run->request->problem, &run->operands, run->error) ||
        !find_grid(run, descriptor, config.grid, &empty))
        return false;
    if (empty)
        return true;
    fmha_descriptor_pack(descriptor, &run->operands, block);
    config.arguments = block;
    fmha_status status = fmha_kernel_launch(run->target->kernel, &config);
    if (status == FMHA_OK)
        status = fmha_device_synchronize(run->target->device, NULL);
    if (status != FMHA_OK && status != FMHA_ERROR_KERNEL)
        return device_call(status, descriptor->name, run->error);
    const fmha_finding *list;
    size_t count;
    if (!device_call(fmha_device_findings(run->target->device, &list, &count), "findings", run->error))
        return false;
    for (size_t index = 0; index < count; index++)
        findings_add(findings, "%s: %s", list[index].kind, list[index].text);
    return device_call(fmha_device_clear_findings(run->target->device), "findings", run->error);
}

static bool read_back(const struct run *run, const struct buffer *buffer, const char *label, unsigned char **bytes) {
    *bytes = malloc(buffer->bytes);
    if (!*bytes)
        return no_memory(run, buffer->bytes, label);
    return device_call(fmha_memory_read(run->target->device, *bytes, buffer->address, buffer->bytes), label,
                       run->error);
}

/* Whether memory holds what its image says, in elements of `size` bytes; the first that does not otherwise, else -1. */
static int64_t first_difference(const struct buffer *buffer, const unsigned char *bytes, size_t size) {
    if (memcmp(buffer->image, bytes, buffer->bytes) == 0)
        return -1;
    size_t at = 0;
    while (buffer->image[at] == bytes[at])
        at++;
    return (int64_t)(at / size);
}

static bool read_rows(const struct run *run, int tensor, uint16_t *packed) {
    const struct view *view = &run->views[tensor];
    fmha_status status = FMHA_OK;
    for (int64_t row = 0; status == FMHA_OK && row < row_count(view); row++)
        status = fmha_memory_read(run->target->device, packed + row * view->columns,
                                  (uint16_t *)run->buffers[tensor].address + place_of(view, row),
                                  (size_t)view->columns * sizeof *packed);
    return device_call(status, tensor_names[tensor], run->error);
}

static bool check_tensor(const struct run *run, int tensor, struct findings *findings) {
    const struct buffer *buffer = &run->buffers[tensor];
    unsigned char *bytes;
    if (!buffer->image)
        return tensor != TENSOR_O || read_rows(run, tensor, run->request->o_bits);
    bool done = read_back(run, buffer, tensor_names[tensor], &bytes);
    if (done) {
        if (tensor == TENSOR_O) {
            gather(&run->views[tensor], (const uint16_t *)bytes, run->request->o_bits);
            scatter(&run->views[tensor], (uint16_t *)buffer->image, run->request->o_bits);
        }
        int64_t element = first_difference(buffer, bytes, sizeof(uint16_t));
        char place[160];
        if (element >= 0) {
            describe_place(&run->views[tensor], element, place, sizeof place);
            findings_add(findings,
                         tensor == TENSOR_O ? "%s: written outside its elements, at %s"
                                            : "%s: an input was written to, at %s",
                         tensor_names[tensor], place);
        }
    }
    free(bytes);
    return done;
}

static bool check_lse(const struct run *run, struct findings *findings) {
    const struct reference_problem *problem = run->request->problem;
    int64_t rows = problem->batch * problem->heads_q * problem->seqlen_q;
    unsigned char *bytes;
    bool done = read_back(run, &run->lse, "lse", &bytes);
    if (done) {
        size_t at = LSE_GUARD * sizeof(float), size = (size_t)rows * sizeof(float);
        memcpy(run->request->lse, bytes + at, size);
        memcpy(run->lse.image + at, bytes + at, size);
        int64_t element = first_difference(&run->lse, bytes, sizeof(float));
        if (element >= 0)
            findings_add(findings, "lse: written outside its elements, at element %" PRId64 " of %" PRId64,
                         element - LSE_GUARD, rows);
    }
    free(bytes);
    return done;
}

bool execute_run(const struct execute_target *target, const struct execute_request *request, struct findings *findings,
                 struct error *error) {
    struct run run = {.target = target, .request = request, .error = error};
    if (!make_views(target->instance, request, run.views, error))
        return false;
    set_values(request->problem, run.views, &run.operands);
    bool done = make_buffers(&run) && launch(&run, findings);
    for (int tensor = 0; done && tensor < TENSOR_COUNT; tensor++)
        done = check_tensor(&run, tensor, findings);
    if (done && request->lse)
        done = check_lse(&run, findings);
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
        buffer_free(&run, &run.buffers[tensor]);
    buffer_free(&run, &run.lse);
    return done;
}

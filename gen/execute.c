#include "execute.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halves.h"
#include "index_text.h"
#include "merge.h"
#include "operands.h"
#include "tensor.h"

/* One buffer on the device with the image of what it must hold on the host; a sparse one has none. */
struct buffer {
    void *address;
    unsigned char *image; /* what was written */
    size_t bytes;
};

int64_t execute_alignment(const struct instance *instance) {
    return instance->spec.value[SPEC_ALIGN] / 2;
}

bool execute_serves(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands, const char *shape,
                    struct error *error) {
    int failed;
    char why[512];
    if (fmha_descriptor_serves(descriptor, operands, &failed))
        return true;
    fmha_descriptor_explain(descriptor, operands, failed, why, sizeof why);
    return error_set(error, ERROR_USAGE, "%s: shape %s: %s", descriptor->name, shape, why);
}

enum { SHAPE_BYTES = 128 };

static void put_shape(const struct reference_problem *problem, char text[SHAPE_BYTES]) {
    snprintf(text, SHAPE_BYTES, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, problem->batch,
             problem->heads_q, problem->heads_k, problem->seqlen_q, problem->seqlen_k);
}

bool execute_check(const struct instance *instance, const struct execute_request *request, struct error *error) {
    struct operands operands;
    struct fmha_index *index = NULL;
    bool served = operands_make(instance, request, &operands, error) && index_of_instance(instance, &index, error);
    if (served) {
        /* Allocations of a device are aligned to at least 256 bytes; what counts is where in them tensors begin. */
        const uintptr_t allocation = 4096;
        for (int buffer = 0; buffer < FMHA_BUFFER_COUNT; buffer++) {
            const struct tensor *tensor = &operands.tensors[buffer];
            if (operands.has[buffer])
                operands.launch.buffer[buffer] =
                    (void *)(allocation + (uintptr_t)tensor->offset * tensor->element_bytes);
        }
        char shape[SHAPE_BYTES];
        put_shape(request->problem, shape);
        served = execute_serves(fmha_index_at(index, 0), &operands.launch, shape, error);
    }
    fmha_index_free(index);
    operands_free(&operands);
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

struct run {
    const struct execute_target *target;
    const struct execute_request *request;
    struct operands operands;
    struct buffer buffers[FMHA_BUFFER_COUNT];
    float *o_partial, *lse_partial; /* of splits, as the kernel left them */
    struct error *error;
};

static bool no_memory(const struct run *run, size_t bytes, const char *what) {
    return error_set(run->error, ERROR_RUN, "no memory for %zu bytes of %s; verify a smaller shape", bytes, what);
}

/* ---- To the device ---- */

/* Every byte of it says that nobody wrote there. */
static unsigned char *poisoned(size_t bytes) {
    unsigned char *image = malloc(bytes + sizeof(uint32_t));
    for (size_t at = 0; image && at < bytes; at += sizeof(uint32_t))
        memcpy(image + at, &(uint32_t){EXECUTE_POISON_F32}, sizeof(uint32_t));
    return image;
}

/* Only what exists. `packed` NULL: the pattern that says that nothing was written. */
static bool send_runs(const struct run *run, const struct tensor *tensor, void *address, const void *packed) {
    size_t size = tensor->element_bytes, longest = 0;
    for (struct tensor_run part = {0}; tensor_next(tensor, &part);)
        longest = (size_t)part.count > longest ? (size_t)part.count : longest;
    unsigned char *unwritten = poisoned(longest * size);
    if (!unwritten)
        return no_memory(run, longest * size, tensor->label);
    fmha_status status = FMHA_OK;
    for (struct tensor_run part = {0}; status == FMHA_OK && tensor_next(tensor, &part);)
        status = fmha_memory_write(run->target->device, (char *)address + (size_t)part.place * size,
                                   packed ? (const unsigned char *)packed + (size_t)part.packed * size : unwritten,
                                   (size_t)part.count * size);
    free(unwritten);
    return device_call(status, tensor->label, run->error);
}

/* An emulated device has room for so many parts of a tensor. */
static bool declare(const struct run *run, const struct tensor *tensor, void *address) {
    fmha_status status = tensor_declare(tensor, run->target->device, address);
    if (status != FMHA_ERROR_ARGUMENT)
        return device_call(status, tensor->label, run->error);
    return error_set(run->error, ERROR_RUN,
                     "%s: %s; sequences whose lengths differ, and pages between which others lie, are such tensors: "
                     "verify fewer of them",
                     tensor->label, fmha_last_error());
}

/* An empty tensor still has an address. */
static bool send_tensor(struct run *run, int which) {
    const struct tensor *tensor = &run->operands.tensors[which];
    const void *packed = run->operands.contents[which];
    struct buffer *buffer = &run->buffers[which];
    fmha_device *device = run->target->device;
    size_t bytes = (size_t)tensor->elements * tensor->element_bytes;
    buffer->bytes = bytes ? bytes : 1;
    if (!device_call(fmha_memory_alloc(device, buffer->bytes, tensor->label, &buffer->address), tensor->label,
                     run->error))
        return false;
    if (tensor_is_sparse(tensor)) {
        if (!send_runs(run, tensor, buffer->address, packed))
            return false;
    } else {
        buffer->image = poisoned(buffer->bytes);
        if (!buffer->image)
            return no_memory(run, buffer->bytes, tensor->label);
        if (packed)
            tensor_scatter(tensor, buffer->image, packed);
        if (!device_call(fmha_memory_write(device, buffer->address, buffer->image, buffer->bytes), tensor->label,
                         run->error))
            return false;
    }
    run->operands.launch.buffer[which] =
        (unsigned char *)buffer->address + (size_t)tensor->offset * tensor->element_bytes;
    return declare(run, tensor, buffer->address);
}

/* ---- There ---- */

static bool find_grid(const struct execute_target *target, const struct fmha_operands *operands, uint32_t grid[3],
                      bool *empty, struct error *error) {
    const struct fmha_descriptor *descriptor = fmha_index_at(target->index, 0);
    int axis;
    if (fmha_descriptor_grid(descriptor, operands, grid, empty, &axis))
        return true;
    char got[32] = "none in 64 bits";
    int64_t size;
    if (fmha_expression_evaluate(&descriptor->grid[axis], operands->value, &size))
        snprintf(got, sizeof got, "%" PRId64, size);
    return error_set(error, ERROR_USAGE,
                     "%s: grid '%s': expected 0 to %" PRIu32 " workgroups, got %s; use a smaller "
                     "shape",
                     descriptor->name, target->instance->grid[axis], UINT32_MAX, got);
}

bool execute_launch(const struct execute_target *target, const struct fmha_operands *operands, const char *shape,
                    struct findings *findings, struct error *error) {
    const struct fmha_descriptor *descriptor = fmha_index_at(target->index, 0);
    struct fmha_launch_config config = {.workgroup = {descriptor->workgroup, 1, 1},
                                        .argument_bytes = descriptor->interface->argument_bytes};
    _Alignas(8) unsigned char block[FMHA_ARGUMENT_BYTES_MAX];
    bool empty;
    if (!execute_serves(descriptor, operands, shape, error) || !find_grid(target, operands, config.grid, &empty, error))
        return false;
    if (empty)
        return true;
    fmha_descriptor_pack(descriptor, operands, block);
    config.arguments = block;
    fmha_status status = fmha_kernel_launch(target->kernel, &config);
    if (status == FMHA_OK)
        status = fmha_device_synchronize(target->device, NULL);
    if (status != FMHA_OK && status != FMHA_ERROR_KERNEL)
        return device_call(status, descriptor->name, error);
    const fmha_finding *list;
    size_t count;
    if (!device_call(fmha_device_findings(target->device, &list, &count), "findings", error))
        return false;
    for (size_t index = 0; index < count; index++)
        findings_add(findings, "%s: %s", list[index].kind, list[index].text);
    return device_call(fmha_device_clear_findings(target->device), "findings", error);
}

static bool launch(struct run *run, struct findings *findings) {
    char shape[SHAPE_BYTES];
    put_shape(run->request->problem, shape);
    return execute_launch(run->target, &run->operands.launch, shape, findings, run->error);
}

/* ---- And back ---- */

/* The host's copy of an output, which says of what does not exist that nobody wrote it. */
static void *output_of(const struct run *run, int which) {
    switch (which) {
    case FMHA_BUFFER_O:
        return run->request->o_bits;
    case FMHA_BUFFER_O_PARTIAL:
        return run->o_partial;
    case FMHA_BUFFER_LSE_PARTIAL:
        return run->lse_partial;
    default:
        return run->request->lse;
    }
}

static bool read_runs(const struct run *run, const struct tensor *tensor, const void *address, void *packed) {
    size_t size = tensor->element_bytes;
    fmha_status status = FMHA_OK;
    for (struct tensor_run part = {0}; status == FMHA_OK && tensor_next(tensor, &part);)
        status = fmha_memory_read(run->target->device, (unsigned char *)packed + (size_t)part.packed * size,
                                  (const char *)address + (size_t)part.place * size, (size_t)part.count * size);
    return device_call(status, tensor->label, run->error);
}

/* The first element of which memory holds something else than its image, -1 if there is none. */
static int64_t first_difference(const struct buffer *buffer, const unsigned char *bytes, size_t element_bytes) {
    if (memcmp(buffer->image, bytes, buffer->bytes) == 0)
        return -1;
    size_t at = 0;
    while (buffer->image[at] == bytes[at])
        at++;
    return (int64_t)(at / element_bytes);
}

/* What was read back against what may stand there. */
static void check_image(const struct tensor *tensor, const struct buffer *buffer, const unsigned char *bytes,
                        void *packed, struct findings *findings) {
    if (tensor->output) {
        tensor_gather(tensor, bytes, packed);
        tensor_scatter(tensor, buffer->image, packed);
    }
    int64_t element = first_difference(buffer, bytes, tensor->element_bytes);
    char place[160];
    if (element < 0)
        return;
    tensor_describe(tensor, element, place, sizeof place);
    findings_add(findings,
                 tensor->output ? "%s: written outside its elements, at %s" : "%s: an input was written to, at %s",
                 tensor->label, place);
}

static bool check_tensor(const struct run *run, int which, struct findings *findings) {
    const struct tensor *tensor = &run->operands.tensors[which];
    const struct buffer *buffer = &run->buffers[which];
    size_t elements = (size_t)tensor_elements(tensor);
    void *packed = tensor->output ? output_of(run, which) : NULL;
    for (size_t at = 0; packed && at < elements * tensor->element_bytes; at += sizeof(uint16_t))
        memcpy((char *)packed + at, &(uint16_t){EXECUTE_POISON}, sizeof(uint16_t));
    if (!buffer->image)
        return !packed || read_runs(run, tensor, buffer->address, packed);
    unsigned char *bytes = malloc(buffer->bytes);
    if (!bytes)
        return no_memory(run, buffer->bytes, tensor->label);
    bool done = device_call(fmha_memory_read(run->target->device, bytes, buffer->address, buffer->bytes), tensor->label,
                            run->error);
    if (done)
        check_image(tensor, buffer, bytes, packed, findings);
    free(bytes);
    return done;
}

/* ---- Partial results ---- */

static bool partials_new(struct run *run) {
    const struct tensor *o = &run->operands.tensors[FMHA_BUFFER_O_PARTIAL];
    const struct tensor *lse = &run->operands.tensors[FMHA_BUFFER_LSE_PARTIAL];
    if (!run->operands.has[FMHA_BUFFER_O_PARTIAL] || !run->operands.has[FMHA_BUFFER_LSE_PARTIAL])
        return true;
    run->o_partial = malloc((size_t)(tensor_elements(o) + 1) * sizeof(float));
    run->lse_partial = malloc((size_t)(tensor_elements(lse) + 1) * sizeof(float));
    return (run->o_partial && run->lse_partial) || no_memory(run, (size_t)tensor_elements(o) * sizeof(float), o->label);
}

static bool is_unwritten(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits == EXECUTE_POISON_F32;
}

/* Whether every part of a row was written; counts elements of O that are not 0 of parts in which the row sees no key.
 */
static bool look_at_parts(const struct merge_problem *parts, int64_t row, int64_t *empty_parts) {
    bool written = true;
    for (int64_t split = 0; split < parts->splits; split++) {
        const float *o = parts->o + (split * parts->rows + row) * parts->head_dim_v;
        float lse = parts->lse[split * parts->rows + row];
        written = written && !is_unwritten(lse);
        for (int64_t d = 0; d < parts->head_dim_v; d++) {
            written = written && !is_unwritten(o[d]);
            *empty_parts += lse == -INFINITY && o[d] != 0 && !is_unwritten(o[d]);
        }
    }
    return written;
}

/* O and LSE of parts' rows; those of rows that were not written look so. */
static bool merge_rows(const struct run *run, const struct merge_problem *parts, uint16_t *o_bits, float *lse,
                       int64_t *empty_parts) {
    int64_t columns = parts->head_dim_v;
    bool bf16 = strcmp(spec_word(&run->target->instance->spec, SPEC_DTYPE), "bf16") == 0;
    double *values = malloc((size_t)(2 * columns + 1) * sizeof *values);
    struct merge_row merged = {.o = values, .o_error = values + columns};
    if (!values)
        return no_memory(run, (size_t)columns * sizeof *values, "a row of O");
    for (int64_t row = 0; row < parts->rows; row++) {
        bool written = look_at_parts(parts, row, empty_parts);
        merge_row(parts, row, &merged);
        for (int64_t d = 0; d < columns; d++)
            o_bits[row * columns + d] =
                written ? half_from_double(bf16 ? HALF_BF16 : HALF_F16, merged.o[d]) : (uint16_t)EXECUTE_POISON;
        float value = (float)merged.lse;
        if (lse)
            memcpy(&lse[row], written ? (const void *)&value : &(uint32_t){EXECUTE_POISON_F32}, sizeof value);
    }
    free(values);
    return true;
}

/* The host has [splits][batch][heads][seqlen], of a packed batch [batch][splits][heads][seqlen]. */
static bool merge(const struct run *run, struct findings *findings) {
    const struct execute_request *request = run->request;
    const struct reference_problem *problem = request->problem;
    bool packed = run->operands.tensors[FMHA_BUFFER_O_PARTIAL].starts != NULL;
    struct merge_problem parts = {.splits = request->splits,
                                  .rows = (packed ? 1 : problem->batch) * problem->heads_q * problem->seqlen_q,
                                  .head_dim_v = problem->head_dim_v};
    int64_t empty_parts = 0;
    for (int64_t group = 0; run->o_partial && group < (packed ? problem->batch : 1); group++) {
        int64_t first = group * parts.rows;
        parts.o = run->o_partial + first * parts.splits * parts.head_dim_v;
        parts.lse = run->lse_partial + first * parts.splits;
        if (!merge_rows(run, &parts, request->o_bits + first * parts.head_dim_v,
                        request->lse ? request->lse + first : NULL, &empty_parts))
            return false;
    }
    if (empty_parts)
        findings_add(findings,
                     "o_partial: expected 0 of parts in which a row sees no key, got %" PRId64
                     " elements that are not; look at what is added to O of other parts",
                     empty_parts);
    return true;
}

bool execute_run(const struct execute_target *target, const struct execute_request *request, struct findings *findings,
                 struct error *error) {
    struct run run = {.target = target, .request = request, .error = error};
    bool done = operands_make(target->instance, request, &run.operands, error);
    for (int which = 0; done && which < FMHA_BUFFER_COUNT; which++)
        done = !run.operands.has[which] || send_tensor(&run, which);
    done = done && launch(&run, findings);
    done = done && partials_new(&run);
    for (int which = 0; done && which < FMHA_BUFFER_COUNT; which++)
        done = !run.operands.has[which] || check_tensor(&run, which, findings);
    done = done && merge(&run, findings);
    free(run.o_partial);
    free(run.lse_partial);
    for (int which = 0; which < FMHA_BUFFER_COUNT; which++) {
        fmha_memory_free(target->device, run.buffers[which].address);
        free(run.buffers[which].image);
    }
    operands_free(&run.operands);
    return done;
}

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "execute.h"

/* After an output's last element: what a kernel that forgets its end would write to. */
enum { GUARD_ELEMENTS = 4096 };

static int64_t round_up(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

static int64_t columns_of(const struct array *array) {
    return array->shape[array->dimensions - 1];
}

/* Of the first axes. What array_lay has laid out overflows only where one of them is empty. */
static int64_t product(const struct array *array, int axes) {
    int64_t count = 1;
    for (int axis = 0; axis < axes; axis++)
        if (array->shape[axis] == 0)
            return 0;
    for (int axis = 0; axis < axes; axis++)
        count *= array->shape[axis];
    return count;
}

int64_t array_count(const struct array *array) {
    return product(array, array->dimensions);
}

static int64_t line_count(const struct array *array) {
    return columns_of(array) == 0 ? 0 : product(array, array->dimensions - 1);
}

const char *array_placing_name(enum array_placing placing) {
    static const char *const names[] = {[ARRAY_PLAIN] = "bhsd",
                                        [ARRAY_PADDED] = "bhsd, padded",
                                        [ARRAY_ROWS_OUTSIDE] = "bshd, padded",
                                        [ARRAY_FAR] = "bhsd, far apart"};
    return names[placing];
}

struct array_layout array_place(enum array_placing placing, int dimensions, int64_t alignment, int first, int step,
                                int far_axis) {
    bool outside = placing == ARRAY_ROWS_OUTSIDE, gaps = outside || placing == ARRAY_PADDED;
    struct array_layout layout = {.order = {0, 1, 2, 3}, .offset = gaps ? 3 * alignment : 0};
    if (outside && dimensions == 4)
        memcpy(layout.order, (int[]){0, 2, 1}, 3 * sizeof(int));
    if (outside && dimensions == 5)
        memcpy(layout.order, (int[]){1, 3, 2, 0}, 4 * sizeof(int));
    for (int axis = 0; gaps && axis < dimensions; axis++)
        layout.padding[axis] = alignment * (step * axis + first);
    if (placing == ARRAY_FAR && far_axis >= 0 && far_axis < dimensions - 1)
        layout.padding[far_axis + 1] = INT64_C(1) << 31; /* after the blocks of the next axis inward */
    return layout;
}

bool array_lay(struct array *array, const struct array_layout *layout, int64_t alignment) {
    int last = array->dimensions - 1;
    int64_t block = round_up(array->shape[last] + layout->padding[last], alignment), end = layout->offset, bytes;
    array->strides[last] = 1;
    array->offset = layout->offset;
    for (int at = last - 1; at >= 0; at--) {
        int axis = layout->order[at];
        array->strides[axis] = block;
        if (__builtin_mul_overflow(block, array->shape[axis], &block) ||
            __builtin_add_overflow(block, round_up(layout->padding[axis], alignment), &block))
            return false;
    }
    if (__builtin_mul_overflow(block, 64, &bytes))
        return false;
    for (int axis = 0; axis <= last; axis++)
        end += (array->shape[axis] - 1) * array->strides[axis];
    array->elements = array_count(array) == 0 ? layout->offset : end + 1; /* up to the last element and no further */
    if (array->output)
        array->elements += GUARD_ELEMENTS;
    return true;
}

/* Where a line begins, in elements of the allocation. */
static int64_t place_of(const struct array *array, int64_t line) {
    int64_t place = array->offset;
    for (int axis = array->dimensions - 2; axis >= 0; axis--) {
        place += line % array->shape[axis] * array->strides[axis];
        line /= array->shape[axis];
    }
    return place;
}

bool array_is_sparse(const struct array *array) {
    return array->elements > INT64_C(1) << 27 && array->elements / 8 > array_count(array);
}

void *array_address(const struct array *array) {
    return array->memory + (size_t)array->offset * array->element_bytes;
}

static bool device_call(fmha_status status, const struct array *array, struct error *error) {
    return status == FMHA_OK || error_set(error, ERROR_RUN, "%s: %s", array->label, fmha_last_error());
}

static bool no_memory(const struct array *array, size_t bytes, struct error *error) {
    return error_set(error, ERROR_RUN, "no memory for %zu bytes of %s; verify a smaller shape", bytes, array->label);
}

static unsigned char *poisoned(size_t bytes) {
    unsigned char *image = malloc(bytes + sizeof(uint32_t));
    for (size_t at = 0; image && at < bytes; at += sizeof(uint32_t))
        memcpy(image + at, &(uint32_t){EXECUTE_POISON_F32}, sizeof(uint32_t));
    return image;
}

static fmha_status declare(const struct array *array, fmha_device *device) {
    fmha_tensor_view view = {.label = array->label,
                             .address = array_address(array),
                             .element_bytes = array->element_bytes,
                             .dimensions = array->dimensions,
                             .access = array->kept     ? FMHA_ACCESS_READ_WRITE
                                       : array->output ? FMHA_ACCESS_WRITE
                                                       : FMHA_ACCESS_READ};
    memcpy(view.shape, array->shape, sizeof array->shape);
    memcpy(view.strides, array->strides, sizeof array->strides);
    if (!array->owned || array->shape[0] == 0)
        return fmha_memory_view(device, &view);
    fmha_status status = FMHA_OK;
    view.shape[0] = 1;
    for (int64_t block = 0; status == FMHA_OK && block < array->shape[0]; block++) {
        int64_t begin = array->owned[block].begin, first = block * array->strides[0] + begin * array->strides[2];
        view.shape[2] = array->owned[block].end - begin;
        view.address = (unsigned char *)array_address(array) + (size_t)first * array->element_bytes;
        status = fmha_memory_view(device, &view);
    }
    return status;
}

bool array_send(struct array *array, fmha_device *device, const void *packed, struct error *error) {
    size_t size = array->element_bytes, bytes = (size_t)array->elements * size, line = (size_t)columns_of(array) * size;
    bool sparse = array_is_sparse(array);
    unsigned char *image = poisoned(sparse ? line : bytes);
    if (!image)
        return no_memory(array, bytes, error);
    fmha_status status = fmha_memory_alloc(device, bytes ? bytes : 1, array->label, (void **)&array->memory);
    for (int64_t i = 0; status == FMHA_OK && (sparse || packed) && i < line_count(array); i++) {
        const unsigned char *from = packed ? (const unsigned char *)packed + (size_t)i * line : image;
        if (sparse)
            status = fmha_memory_write(device, array->memory + (size_t)place_of(array, i) * size, from, line);
        else
            memcpy(image + (size_t)place_of(array, i) * size, from, line);
    }
    if (status == FMHA_OK && !sparse)
        status = fmha_memory_write(device, array->memory, image, bytes);
    if (status == FMHA_OK)
        status = declare(array, device);
    if (sparse)
        free(image);
    else
        array->image = image;
    return device_call(status, array, error);
}

/* Everything but an output's elements is as it was. */
static void check_image(const struct array *array, unsigned char *got, struct findings *findings) {
    size_t size = array->element_bytes, line = (size_t)columns_of(array) * size;
    struct findings_tally tally = {findings, 0};
    for (int64_t i = 0; array->output && i < line_count(array); i++) {
        size_t at = (size_t)place_of(array, i) * size;
        memcpy(got + at, array->image + at, line);
    }
    for (int64_t i = 0; i < array->elements; i++)
        if (memcmp(got + (size_t)i * size, array->image + (size_t)i * size, size) != 0 && findings_tally(&tally))
            findings_add(findings, "%s: %s, %" PRId64 " elements after its first", array->label,
                         array->output ? "written outside its elements" : "an input was written to", i - array->offset);
    findings_tally_end(&tally, "elements were written");
}

bool array_check(const struct array *array, fmha_device *device, void *packed, struct findings *findings,
                 struct error *error) {
    size_t size = array->element_bytes, bytes = (size_t)array->elements * size, line = (size_t)columns_of(array) * size;
    unsigned char *got = array->image ? malloc(bytes + 1) : NULL;
    fmha_status status = FMHA_OK;
    if (array->image && !got)
        return no_memory(array, bytes, error);
    if (got)
        status = fmha_memory_read(device, got, array->memory, bytes);
    for (int64_t i = 0; status == FMHA_OK && packed && i < line_count(array); i++) {
        size_t at = (size_t)place_of(array, i) * size;
        unsigned char *to = (unsigned char *)packed + (size_t)i * line;
        if (got)
            memcpy(to, got + at, line);
        else
            status = fmha_memory_read(device, to, array->memory + at, line);
    }
    if (status == FMHA_OK && got)
        check_image(array, got, findings);
    free(got);
    return device_call(status, array, error);
}

void array_release(struct array *array, fmha_device *device) {
    fmha_memory_free(device, array->memory);
    free(array->image);
    array->memory = array->image = NULL;
}

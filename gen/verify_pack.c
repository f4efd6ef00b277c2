#include "verify_pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "verify_session.h"

/* Elements after an output that a kernel which forgets its end would write to: rows of a tile, the nearest of them. */
enum { GUARD_ROWS = 64, GUARD_MOST = 1 << 20 };

enum { STANDING_MAX = 64 };

enum side { FROM, TO, SIDES };
static const struct verify_side sides[SIDES] = {{"from", FMHA_BUFFER_FROM}, {"to", FMHA_BUFFER_TO}};

struct pack_case {
    char what[64];
    struct verify_pack_shape shape;
    struct tensor_layout layout[SIDES];
    bool one_head; /* `from` has one head that stands for all: its stride is 0 */
    /* Gigabytes of addresses, kilobytes of memory: for an emulated device, which maps only the latter. */
    bool far_apart;
};

/* A tensor in memory: [batch][heads][rows][columns], the last dimension contiguous. */
struct view {
    int64_t batch, heads, rows, columns;
    int64_t stride_batch, stride_head, stride_row;
    int64_t offset, elements; /* elements: of the whole allocation */
};

struct session {
    struct verify_session base;
    bool transposed;
    int64_t alignment; /* in elements */
    struct pack_case *cases;
};

/* ---- Cases --------------------------------------------------------------------------------------------------------
 */

enum layouts { PLAIN, PADDED, BSHD_TO_BHSD, BHSD_TO_BSHD };

/* Paddings and offsets are the least that the alignment allows, odd where any is allowed, and no two the same: a stride
 * of one that is used for another leads elsewhere. */
static void set_layouts(const struct session *session, struct pack_case *one, enum layouts layouts) {
    for (int side = FROM; side < SIDES; side++) {
        int64_t pad = layouts == PLAIN ? 0 : session->alignment * (2 * side + 1);
        bool bshd = layouts == BSHD_TO_BHSD ? side == FROM : layouts == BHSD_TO_BSHD && side == TO;
        one->layout[side] = (struct tensor_layout){.order = bshd ? TENSOR_BSHD : TENSOR_BHSD,
                                                   .offset = pad * 3,
                                                   .row_padding = pad,
                                                   .head_padding = pad * 2,
                                                   .block_padding = pad * 5};
    }
}

static struct pack_case *add(struct session *session, const char *what, int64_t batch, int64_t heads, int64_t rows,
                             int64_t columns, enum layouts layouts) {
    struct pack_case *one = &session->cases[session->base.case_count++];
    *one = (struct pack_case){.shape = {.batch = batch, .heads = heads, .seqlen = rows, .head_dim = columns}};
    snprintf(one->what, sizeof one->what, "%s", what);
    set_layouts(session, one, layouts);
    return one;
}

static void add_far_apart(struct session *session, const char *what, int64_t heads, int64_t rows,
                          struct tensor_layout layout) {
    for (int side = FROM; side < SIDES; side++) {
        char name[64];
        snprintf(name, sizeof name, "%s, %s", what, sides[side].name);
        struct pack_case *one = add(session, name, heads, heads, rows, rows, PLAIN);
        one->layout[side] = layout;
        one->layout[side].order = TENSOR_BHSD;
        one->far_apart = true;
    }
}

/* Lengths around the edges of a tile of 64 x 64 and of the eight elements that are moved at once. */
static void add_standing(struct session *session) {
    add(session, "one whole tile", 1, 1, 64, 64, PLAIN);
    add(session, "one past each edge", 2, 2, 65, 65, PADDED);
    add(session, "one short of each edge", 2, 2, 63, 63, BSHD_TO_BHSD);
    add(session, "many tiles and a ragged one", 2, 3, 200, 128, BSHD_TO_BHSD);
    add(session, "many tiles the other way", 2, 3, 200, 128, BHSD_TO_BSHD);
    add(session, "whole rows, ragged columns", 1, 2, 128, 72, PADDED);
    add(session, "ragged rows, whole columns", 1, 2, 72, 128, PADDED);
    add(session, "multiples of eight alone", 1, 2, 24, 40, PLAIN);
    add(session, "fewer than eight", 2, 3, 7, 5, PADDED);
    add(session, "one past eight", 1, 2, 9, 9, BSHD_TO_BHSD);
    add(session, "one element", 1, 1, 1, 1, PADDED);
    add(session, "one row", 2, 2, 1, 256, BHSD_TO_BSHD);
    add(session, "one column", 2, 2, 300, 1, PADDED);
    add(session, "no rows", 2, 2, 0, 64, PLAIN);
    add(session, "no columns", 2, 2, 64, 0, PLAIN);
    add(session, "no batch", 0, 2, 8, 8, PLAIN);
    add(session, "33 heads, 3 batches", 3, 33, 3, 11, BSHD_TO_BHSD);
    add(session, "40 tiles", 1, 1, 1250, 100, PADDED);
    add(session, "one head for all", 2, 5, 66, 24, PADDED)->one_head = true;
    add_far_apart(session, "batches 2^31 apart", 2, 5, (struct tensor_layout){.block_padding = INT64_C(1) << 31});
    add_far_apart(session, "heads 2^31 apart", 2, 5, (struct tensor_layout){.head_padding = INT64_C(1) << 31});
    add_far_apart(session, "rows 2^31 apart", 1, 5, (struct tensor_layout){.row_padding = INT64_C(1) << 31});
    add_far_apart(session, "row 64 past 2^31", 1, 67, (struct tensor_layout){.row_padding = INT64_C(1) << 26});
}

static bool list_cases(struct session *session) {
    const struct verify_options *options = session->base.options;
    size_t asked = options->pack_shape_count, kept = 0;
    session->cases = verify_session_room(&session->base, asked ? asked : STANDING_MAX, sizeof *session->cases);
    if (!session->cases)
        return false;
    for (size_t index = 0; index < asked; index++) {
        const struct verify_pack_shape *shape = &options->pack_shapes[index];
        add(session, "as asked for", shape->batch, shape->heads, shape->seqlen, shape->head_dim, PLAIN);
    }
    if (!asked)
        add_standing(session);
    for (size_t index = 0; index < session->base.case_count; index++) {
        struct pack_case *one = &session->cases[index];
        for (int side = FROM; options->layout != VERIFY_LAYOUT_DEFAULT && side < SIDES; side++)
            one->layout[side].order = options->layout == VERIFY_LAYOUT_BSHD ? TENSOR_BSHD : TENSOR_BHSD;
        if (!one->far_apart || verify_session_reaches(&session->base))
            session->cases[kept++] = *one;
    }
    session->base.case_count = kept;
    return true;
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------
 */

static int64_t round_up(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

static bool is_empty(const struct view *view) {
    return !view->batch || !view->heads || !view->rows || !view->columns;
}

/* False when the tensor has more elements than 63 bits can count bytes of. */
static bool make_view(const struct session *session, const struct pack_case *one, enum side side, struct view *view) {
    const struct tensor_layout *layout = &one->layout[side];
    bool swapped = side == TO && session->transposed;
    *view = (struct view){.batch = one->shape.batch,
                          .heads = one->shape.heads,
                          .rows = swapped ? one->shape.head_dim : one->shape.seqlen,
                          .columns = swapped ? one->shape.seqlen : one->shape.head_dim,
                          .offset = layout->offset};
    int64_t step = session->alignment, row = round_up(view->columns + layout->row_padding, step), head_rows, all;
    bool bshd = layout->order == TENSOR_BSHD;
    if (__builtin_mul_overflow(row, bshd ? view->heads : view->rows, &head_rows) ||
        __builtin_add_overflow(head_rows, round_up(layout->head_padding, step), &head_rows) ||
        __builtin_mul_overflow(head_rows, bshd ? view->rows : view->heads, &view->stride_batch) ||
        __builtin_add_overflow(view->stride_batch, round_up(layout->block_padding, step), &view->stride_batch) ||
        __builtin_mul_overflow(view->stride_batch, view->batch, &all) || all > INT64_MAX / 64)
        return false;
    view->stride_row = bshd ? head_rows : row;
    view->stride_head = bshd ? row : head_rows;
    if (side == FROM && one->one_head)
        view->stride_head = 0;
    view->elements = view->offset;
    if (!is_empty(view)) /* up to the last element and no further */
        view->elements += (view->batch - 1) * view->stride_batch + (view->heads - 1) * view->stride_head +
                          (view->rows - 1) * view->stride_row + view->columns;
    if (side == TO)
        view->elements += view->stride_row < GUARD_MOST / GUARD_ROWS ? GUARD_ROWS * view->stride_row : GUARD_MOST;
    return true;
}

/* 0 where lines are empty: nobody has checked that so many can be counted. */
static int64_t line_count(const struct view *view) {
    return is_empty(view) ? 0 : view->batch * view->heads * view->rows;
}

static int64_t place_of(const struct view *view, int64_t line) {
    int64_t row = line % view->rows, head = line / view->rows % view->heads, batch = line / view->rows / view->heads;
    return view->offset + batch * view->stride_batch + head * view->stride_head + row * view->stride_row;
}

/* Few lines far apart: only they are written and read; what lies between them is not looked at. */
static bool is_sparse(const struct view *view) {
    return view->elements > INT64_C(1) << 27;
}

/* One tensor of a case, on the device and what it must hold on the host. */
struct buffer {
    struct view view;
    uint16_t *lines;       /* what the tensor has before the kernel runs (from) and after it (to), line after line */
    uint16_t *image;       /* of the whole allocation, the same; NULL when it is sparse */
    unsigned char *memory; /* on the device */
};

struct work {
    struct session *session;
    const struct pack_case *one;
    struct buffer buffers[SIDES];
    struct findings findings;
    struct verify_call call;
};

static bool device_call(fmha_status status, const char *doing, struct error *error) {
    return status == FMHA_OK || error_set(error, ERROR_RUN, "%s: %s", doing, fmha_last_error());
}

static bool no_memory(const struct work *work, int64_t elements, const char *what) {
    return error_set(work->session->base.error, ERROR_RUN,
                     "no memory for %" PRId64 " elements of '%s'; verify a smaller shape", elements, what);
}

static uint16_t *poisoned(int64_t elements) {
    uint16_t *bits = malloc((size_t)elements * sizeof *bits + 1);
    for (int64_t i = 0; bits && i < elements; i++)
        bits[i] = EXECUTE_POISON;
    return bits;
}

/* The values of `from`: bits of any kind, the same in heads that share memory. And by plain loops those of `to`. */
static bool make_values(struct work *work, uint64_t seed) {
    struct buffer *from = &work->buffers[FROM], *to = &work->buffers[TO];
    const struct view *view = &from->view;
    int64_t elements = line_count(view) * view->columns, head = view->rows * view->columns;
    from->lines = malloc((size_t)elements * sizeof *from->lines + 1);
    to->lines = malloc((size_t)elements * sizeof *to->lines + 1);
    if (!from->lines || !to->lines)
        return no_memory(work, 2 * elements, work->one->what);
    for (int64_t i = 0; i < elements; i++) {
        bool repeated = work->one->one_head && i / head % view->heads > 0;
        from->lines[i] = repeated ? from->lines[i - head] : (uint16_t)(inputs_next(&seed) >> 48);
    }
    for (int64_t h = 0; head > 0 && h < view->batch * view->heads; h++)
        for (int64_t r = 0; r < view->rows; r++)
            for (int64_t c = 0; c < view->columns; c++) {
                int64_t at = work->session->transposed ? c * view->rows + r : r * view->columns + c;
                to->lines[h * head + at] = from->lines[h * head + r * view->columns + c];
            }
    return true;
}

/* `lines`: NULL for the pattern that says that nothing was written. */
static bool send(struct work *work, enum side side, const uint16_t *lines) {
    struct buffer *buffer = &work->buffers[side];
    const struct view *view = &buffer->view;
    fmha_device *device = work->session->base.target.device;
    const char *name = sides[side].name;
    size_t bytes = (size_t)view->elements * sizeof *lines, line_bytes = (size_t)view->columns * sizeof *lines;
    uint16_t *image = poisoned(is_sparse(view) ? view->columns : view->elements);
    if (!image)
        return no_memory(work, view->elements, name);
    fmha_status status = fmha_memory_alloc(device, bytes ? bytes : 1, name, (void **)&buffer->memory);
    if (is_sparse(view)) {
        for (int64_t line = 0; status == FMHA_OK && line < line_count(view); line++)
            status = fmha_memory_write(device, buffer->memory + place_of(view, line) * 2,
                                       lines ? lines + line * view->columns : image, line_bytes);
        free(image);
    } else {
        for (int64_t line = 0; lines && line < line_count(view); line++)
            memcpy(image + place_of(view, line), lines + line * view->columns, line_bytes);
        if (status == FMHA_OK)
            status = fmha_memory_write(device, buffer->memory, image, bytes);
        free(buffer->image);
        buffer->image = image;
    }
    const fmha_tensor_view declared = {.label = name,
                                       .address = buffer->memory + view->offset * 2,
                                       .element_bytes = 2,
                                       .dimensions = 4,
                                       .shape = {view->batch, view->heads, view->rows, view->columns},
                                       .strides = {view->stride_batch, view->stride_head, view->stride_row, 1},
                                       .access = side == TO ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ};
    if (status == FMHA_OK)
        status = fmha_memory_view(device, &declared);
    return device_call(status, name, work->session->base.error);
}

static void release(struct work *work, enum side side) {
    fmha_memory_free(work->session->base.target.device, work->buffers[side].memory);
    free(work->buffers[side].image);
    work->buffers[side].memory = NULL;
    work->buffers[side].image = NULL;
}

/* ---- One run ------------------------------------------------------------------------------------------------------
 */

static bool name_call(const struct session *session, const struct pack_case *one, struct view views[SIDES],
                      struct verify_call *call) {
    const struct verify_pack_shape *shape = &one->shape;
    verify_shape_text((int64_t[]){shape->batch, shape->heads, shape->seqlen, shape->head_dim}, 4, call->shape);
    call->operands = (struct fmha_operands){{0}, {0}, {0}};
    int64_t *value = call->operands.value;
    value[FMHA_VALUE_BATCH] = shape->batch;
    value[FMHA_VALUE_HEADS_K] = shape->heads;
    value[FMHA_VALUE_SEQLEN_K] = shape->seqlen;
    value[FMHA_VALUE_HEAD_DIM] = shape->head_dim;
    for (enum side side = FROM; side < SIDES; side++) {
        int64_t *stride = value + (side == FROM ? FMHA_VALUE_STRIDE_FROM_BATCH : FMHA_VALUE_STRIDE_TO_BATCH);
        if (!make_view(session, one, side, &views[side]))
            return verify_session_too_large(&session->base, call->shape);
        stride[0] = views[side].stride_batch;
        stride[1] = views[side].stride_head;
        stride[2] = views[side].stride_row;
    }
    return true;
}

static bool name_case(void *context, size_t index, struct verify_call *call) {
    const struct session *session = context;
    struct view views[SIDES];
    return name_call(session, &session->cases[index], views, call);
}

static bool launch(struct work *work) {
    struct verify_session *base = &work->session->base;
    for (int side = FROM; side < SIDES; side++)
        work->call.operands.buffer[sides[side].buffer] =
            work->buffers[side].memory + work->buffers[side].view.offset * 2;
    return execute_launch(&base->target, &work->call.operands, work->call.shape, &work->findings, base->error);
}

/* ---- What came of it ----------------------------------------------------------------------------------------------
 */

/* Every element of a tensor against what it must hold. */
static bool check_lines(struct work *work, enum side side, const char *when) {
    const struct buffer *buffer = &work->buffers[side];
    const struct view *view = &buffer->view;
    struct findings_tally tally = {&work->findings, 0};
    uint16_t *got = malloc((size_t)view->columns * sizeof *got + 1);
    fmha_status status = FMHA_OK;
    if (!got)
        return no_memory(work, view->columns, sides[side].name);
    for (int64_t line = 0; status == FMHA_OK && line < line_count(view); line++) {
        const uint16_t *expected = buffer->lines + line * view->columns;
        status = fmha_memory_read(work->session->base.target.device, got, buffer->memory + place_of(view, line) * 2,
                                  (size_t)view->columns * sizeof *got);
        for (int64_t column = 0; status == FMHA_OK && column < view->columns; column++)
            if (got[column] != expected[column] && findings_tally(&tally))
                findings_add(&work->findings,
                             "%s%s: expected 0x%04x, got 0x%04x%s at batch %" PRId64 ", head %" PRId64 ", row %" PRId64
                             ", column %" PRId64,
                             sides[side].name, when, expected[column], got[column],
                             got[column] == EXECUTE_POISON ? " (not written)" : "", line / view->rows / view->heads,
                             line / view->rows % view->heads, line % view->rows, column);
    }
    findings_tally_end(&tally, "elements differ");
    free(got);
    return device_call(status, sides[side].name, work->session->base.error);
}

/* Everything else in the allocation is as it was; the elements are put aside. */
static bool check_between(struct work *work, enum side side) {
    struct buffer *buffer = &work->buffers[side];
    const struct view *view = &buffer->view;
    struct findings_tally tally = {&work->findings, 0};
    if (!buffer->image)
        return true;
    uint16_t *got = malloc((size_t)view->elements * sizeof *got + 1);
    if (!got)
        return no_memory(work, view->elements, sides[side].name);
    bool done = device_call(
        fmha_memory_read(work->session->base.target.device, got, buffer->memory, (size_t)view->elements * sizeof *got),
        sides[side].name, work->session->base.error);
    for (int64_t line = 0; done && line < line_count(view); line++)
        memcpy(got + place_of(view, line), buffer->image + place_of(view, line), (size_t)view->columns * sizeof *got);
    for (int64_t i = 0; done && i < view->elements; i++)
        if (got[i] != buffer->image[i] && findings_tally(&tally))
            findings_add(&work->findings, "%s: written outside its elements, %" PRId64 " elements after its first",
                         sides[side].name, i - view->offset);
    findings_tally_end(&tally, "elements outside were written");
    free(got);
    return done;
}

static bool run_once(void *context, const char *when) {
    struct work *work = context;
    bool done = send(work, FROM, work->buffers[FROM].lines) && send(work, TO, NULL) && launch(work) &&
                check_lines(work, FROM, when) && check_lines(work, TO, when) && check_between(work, FROM) &&
                check_between(work, TO);
    release(work, FROM);
    release(work, TO);
    return done;
}

static bool run_case(void *context, size_t index, struct verify_case *result) {
    static const char *const orders[] = {[TENSOR_BSHD] = "bshd", [TENSOR_BHSD] = "bhsd"};
    struct session *session = context;
    struct work work = {.session = session, .one = &session->cases[index]};
    const struct tensor_layout *from = &work.one->layout[FROM], *to = &work.one->layout[TO];
    struct view views[SIDES];
    char layout[32];
    snprintf(layout, sizeof layout, "%s to %s%s", orders[from->order], orders[to->order],
             from->row_padding ? ", padded" : "");
    verify_session_begin(&session->base, index, work.one->what, "bits", layout, result);
    result->pack_shape = work.one->shape;
    bool done = name_call(session, work.one, views, &work.call);
    for (int side = FROM; done && side < SIDES; side++)
        work.buffers[side].view = views[side];
    done = done && make_values(&work, result->seed) &&
           verify_session_schedules(&session->base, result, &work.findings, run_once, &work);
    free(work.buffers[FROM].lines);
    free(work.buffers[TO].lines);
    return verify_case_end(result, &work.findings, done, session->base.error);
}

bool verify_pack(const struct instance *instance, const struct verify_options *options,
                 const struct execute_options *execution, struct verify_report *report, struct error *error) {
    struct session session = {
        .base = {.options = options, .instance = instance, .sides = sides, .side_count = SIDES, .error = error},
        .transposed = strcmp(spec_word(&instance->spec, SPEC_V_LAYOUT), "transposed") == 0,
        .alignment = execute_alignment(instance)};
    bool done = verify_session_options(&session.base, "pack has no softmax", "pack moves bits of any kind") &&
                list_cases(&session) && verify_session_serves(&session.base, name_case, &session) &&
                verify_session_run(&session.base, execution, report, run_case, &session);
    free(session.cases);
    return done;
}

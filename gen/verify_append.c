#include "verify_append.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "append_cases.h"
#include "array.h"
#include "execute.h"
#include "halves.h"
#include "index_text.h"
#include "inputs.h"
#include "verify_count.h"

enum { SHAPE_BYTES = 96 };

/* What a kernel of this operation takes and gives. */
enum side { K_NEW, V_NEW, K, V, SEQLENS_K, SEQLENS_NEW, CU_SEQLENS_NEW, BLOCK_TABLE, ROTARY_COS, ROTARY_SIN, SIDES };
static const char *const side_names[SIDES] = {
    "k_new",       "v_new",          "k",           "v",          "seqlens_k",
    "seqlens_new", "cu_seqlens_new", "block_table", "rotary_cos", "rotary_sin"};
static const enum fmha_buffer side_buffers[SIDES] = {FMHA_BUFFER_K_NEW,
                                                     FMHA_BUFFER_V_NEW,
                                                     FMHA_BUFFER_K,
                                                     FMHA_BUFFER_V,
                                                     FMHA_BUFFER_SEQLENS_K,
                                                     FMHA_BUFFER_SEQLENS_NEW,
                                                     FMHA_BUFFER_CU_SEQLENS_NEW,
                                                     FMHA_BUFFER_BLOCK_TABLE,
                                                     FMHA_BUFFER_ROTARY_COS,
                                                     FMHA_BUFFER_ROTARY_SIN};

static bool is_new(enum side side) {
    return side == K_NEW || side == V_NEW;
}

static bool is_cache(enum side side) {
    return side == K || side == V;
}

struct session {
    const struct verify_options *options;
    const struct instance *instance;
    enum half_type type;
    enum append_rotary rotary;
    bool packed, padded, paged, values;
    struct execute_target target;
    struct append_case *cases;
    size_t case_count;
    struct error *error;
};

/* One call: what it is given on the host, and what it must make of it. */
struct work {
    struct session *session;
    const struct append_case *one;
    struct verify_case *result;
    struct findings findings;
    int64_t tokens, pages, blocks, slots; /* blocks of a cache, batches or pages, and rows of one */
    int32_t *before, *added;              /* [batch] */
    void *contents[SIDES];                /* of each that the kernel has; owned, as all here */
    void *got[SIDES];                     /* of caches */
    int64_t *source; /* [blocks][slots], the new row that belongs there: batch * seqlen_new + row; -1: none */
};

static bool has(const struct session *session, enum side side) {
    switch (side) {
    case V_NEW:
    case V:
        return session->values;
    case SEQLENS_NEW:
        return session->padded;
    case CU_SEQLENS_NEW:
        return session->packed;
    case BLOCK_TABLE:
        return session->paged;
    case ROTARY_COS:
    case ROTARY_SIN:
        return session->rotary != APPEND_ROTARY_OFF;
    default:
        return true;
    }
}

static int64_t columns_of(const struct session *session, enum side side) {
    return session->instance->spec.value[side == K || side == K_NEW ? SPEC_HEAD_DIM : SPEC_HEAD_DIM_V];
}

/* ---- Cases --------------------------------------------------------------------------------------------------------
 */

static bool list_cases(struct session *session) {
    const struct verify_options *options = session->options;
    size_t room = options->append_shape_count > APPEND_CASES_MAX ? options->append_shape_count : APPEND_CASES_MAX;
    session->cases = calloc(room, sizeof *session->cases);
    if (!session->cases)
        return error_set(session->error, ERROR_RUN, "no memory for %zu cases; ask for fewer shapes", room);
    for (size_t index = 0; index < options->append_shape_count; index++) {
        struct append_case *one = &session->cases[session->case_count++];
        *one = (struct append_case){.shape = options->append_shapes[index], .page_size = 16};
        snprintf(one->what, sizeof one->what, "as asked for");
    }
    if (!options->append_shape_count)
        session->case_count = (size_t)append_standing(session->instance->workgroup / 8, session->paged, session->cases);
    /* A real device has no such memory, and counting looks at each byte between. */
    bool far = !options->count && verify_device_is_here(options->device);
    size_t kept = 0;
    for (size_t index = 0; index < session->case_count; index++) {
        struct append_case *one = &session->cases[index];
        if (options->layout != VERIFY_LAYOUT_DEFAULT && one->layout != APPEND_FAR)
            one->layout = options->layout == VERIFY_LAYOUT_BSHD ? APPEND_ROWS_OUTSIDE : APPEND_PLAIN;
        if (options->append_shape_count && options->page_size)
            one->page_size = options->page_size;
        if (far || one->layout != APPEND_FAR)
            session->cases[kept++] = *one;
    }
    session->case_count = kept;
    return true;
}

/* Columns of K that a case rotates: whole pieces where the instance wants them. */
static void rotated_columns(const struct session *session, const struct append_case *one, int64_t *first,
                            int64_t *dim) {
    bool fast = session->instance->spec.value[SPEC_ALIGN] == 16;
    int64_t columns = columns_of(session, K);
    int64_t step = !fast ? 2 : session->rotary == APPEND_ROTARY_NEOX ? 16 : 8;
    int64_t half = columns / 2 / step * step;
    *dim = one->rotated == APPEND_ALL_COLUMNS || half == 0 ? columns / step * step : half;
    *first = one->rotated != APPEND_LAST_COLUMNS || *dim == columns ? 0 : columns - *dim - (fast ? 0 : 1);
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------
 */

/* Paddings are the least that the alignment allows, odd where any is allowed, and no two the same: a stride of one axis
 * or tensor that is used for another leads elsewhere. */
static struct array_layout layout_of(const struct append_case *one, enum side side, int64_t alignment) {
    bool outside = one->layout == APPEND_ROWS_OUTSIDE;
    struct array_layout layout = {.order = {0, 1, 2, 3}};
    if (outside)
        memcpy(layout.order, (int[]){0, 2, 1}, 3 * sizeof(int));
    for (int axis = 0; axis < 4 && (outside || one->layout == APPEND_PADDED); axis++)
        layout.padding[axis] = alignment * (4 * axis + 1 + (int)side);
    layout.offset = layout.padding[0] ? 3 * alignment : 0;
    int far = is_new(side) ? one->far_axis : one->far_axis - 3;
    if (one->layout == APPEND_FAR && far >= 0 && far < 3) {
        /* The padding after the blocks of the next axis inward is the distance. */
        layout.padding[far + 1] = INT64_C(1) << 31;
    }
    return layout;
}

/* The shape of a side; the number of its dimensions. */
static int shape_of(const struct work *work, enum side side, int64_t shape[4]) {
    const struct session *session = work->session;
    const struct verify_append_shape *s = &work->one->shape;
    int64_t first, dim, columns = is_new(side) || is_cache(side) ? columns_of(session, side) : 0;
    rotated_columns(session, work->one, &first, &dim);
    switch (side) {
    case K_NEW:
    case V_NEW:
        memcpy(shape,
               (int64_t[]){session->packed ? 1 : s->batch, s->heads, session->packed ? work->tokens : s->seqlen_new,
                           columns},
               4 * sizeof *shape);
        return 4;
    case K:
    case V:
        memcpy(shape, (int64_t[]){work->blocks, s->heads, work->slots, columns}, 4 * sizeof *shape);
        return 4;
    case BLOCK_TABLE:
        memcpy(shape, (int64_t[]){s->batch, work->pages}, 2 * sizeof *shape);
        return 2;
    case ROTARY_COS:
    case ROTARY_SIN:
        memcpy(shape, (int64_t[]){s->seqlen_k, dim / 2}, 2 * sizeof *shape);
        return 2;
    default:
        shape[0] = side == CU_SEQLENS_NEW ? s->batch + 1 : s->batch;
        return 1;
    }
}

static size_t element_bytes(enum side side) {
    return is_new(side) || is_cache(side) ? 2 : 4;
}

static bool lay_out(const struct work *work, struct array arrays[SIDES]) {
    const struct session *session = work->session;
    for (int side = 0; side < SIDES; side++) {
        bool rows = is_new((enum side)side) || is_cache((enum side)side);
        struct array *array = &arrays[side];
        *array = (struct array){.label = side_names[side],
                                .element_bytes = element_bytes((enum side)side),
                                .output = is_cache((enum side)side),
                                .kept = is_cache((enum side)side)};
        if (!has(session, (enum side)side))
            continue;
        array->dimensions = shape_of(work, (enum side)side, array->shape);
        int64_t alignment = rows ? session->instance->spec.value[SPEC_ALIGN] / 2 : 1;
        struct array_layout layout = {.order = {0, 1, 2}};
        if (rows)
            layout = layout_of(work->one, (enum side)side, alignment);
        else if (work->one->layout == APPEND_PADDED && array->dimensions == 2)
            layout.padding[1] = side; /* rows of tables */
        if (!array_lay(array, &layout, alignment))
            return error_set(session->error, ERROR_USAGE,
                             "shape %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                             ": expected tensors that fit into memory, got more bytes than 63 bits count; use a "
                             "smaller shape",
                             work->one->shape.batch, work->one->shape.heads, work->one->shape.seqlen_new,
                             work->one->shape.seqlen_k);
    }
    return true;
}

static void name_operands(const struct work *work, const struct array arrays[SIDES], struct fmha_operands *operands,
                          char text[SHAPE_BYTES]) {
    const struct session *session = work->session;
    const struct verify_append_shape *shape = &work->one->shape;
    *operands = (struct fmha_operands){{0}, {0}, {0}};
    int64_t *value = operands->value;
    value[FMHA_VALUE_BATCH] = shape->batch;
    value[FMHA_VALUE_HEADS_K] = shape->heads;
    value[FMHA_VALUE_SEQLEN_NEW] = shape->seqlen_new;
    value[FMHA_VALUE_TOKENS_NEW] = work->tokens;
    value[FMHA_VALUE_SEQLEN_K] = shape->seqlen_k;
    value[FMHA_VALUE_HEAD_DIM] = columns_of(session, K);
    value[FMHA_VALUE_HEAD_DIM_V] = session->values ? columns_of(session, V) : 0;
    value[FMHA_VALUE_PAGE_SIZE] = session->paged ? work->one->page_size : 0;
    value[FMHA_VALUE_STRIDE_BLOCK_TABLE] = arrays[BLOCK_TABLE].strides[0];
    if (session->rotary != APPEND_ROTARY_OFF)
        rotated_columns(session, work->one, &value[FMHA_VALUE_ROTARY_FIRST], &value[FMHA_VALUE_ROTARY_DIM]);
    value[FMHA_VALUE_STRIDE_ROTARY_COS_ROW] = arrays[ROTARY_COS].strides[0];
    value[FMHA_VALUE_STRIDE_ROTARY_SIN_ROW] = arrays[ROTARY_SIN].strides[0];
    memcpy(&value[FMHA_VALUE_STRIDE_K_NEW_BATCH], arrays[K_NEW].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_V_NEW_BATCH], arrays[V_NEW].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_K_BATCH], arrays[K].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_V_BATCH], arrays[V].strides, 3 * sizeof *value);
    snprintf(text, SHAPE_BYTES, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, shape->batch, shape->heads,
             shape->seqlen_new, shape->seqlen_k);
}

/* ---- What a case has ---------------------------------------------------------------------------------------------
 */

static int64_t count_of(const struct work *work, enum side side) {
    int64_t shape[4], count = 1;
    for (int axis = shape_of(work, side, shape) - 1; axis >= 0; axis--)
        count *= shape[axis];
    return count;
}

static bool no_memory(const struct work *work, int64_t elements) {
    return error_set(work->session->error, ERROR_RUN, "no memory for %" PRId64 " elements; verify a smaller shape",
                     elements);
}

static void work_free(struct work *work) {
    for (int side = 0; side < SIDES; side++) {
        free(work->contents[side]);
        free(work->got[side]);
    }
    free(work->before);
    free(work->added);
    free(work->source);
}

/* Lengths, and the sizes that follow from them. */
static bool make_lengths(struct work *work, uint64_t seed) {
    const struct session *session = work->session;
    const struct verify_append_shape *s = &work->one->shape;
    work->before = calloc((size_t)s->batch + 1, sizeof *work->before);
    work->added = calloc((size_t)s->batch + 1, sizeof *work->added);
    if (!work->before || !work->added)
        return no_memory(work, s->batch);
    append_lengths(work->one, session->packed || session->padded, seed, work->before, work->added);
    for (int64_t b = 0; b < s->batch; b++)
        work->tokens += work->added[b];
    work->pages = session->paged ? (s->seqlen_k + work->one->page_size - 1) / work->one->page_size : 0;
    work->blocks = session->paged ? s->batch * work->pages : s->batch;
    work->slots = session->paged ? work->one->page_size : s->seqlen_k;
    return true;
}

/* Bits of any kind where they are moved; where K is rotated numbers, among them some that are none. */
static void fill_new(const struct work *work, enum side side, uint64_t *seed) {
    uint16_t *bits = work->contents[side];
    bool rotated = side == K_NEW && work->session->rotary != APPEND_ROTARY_OFF;
    for (int64_t i = 0; i < count_of(work, side); i++) {
        uint64_t draw = inputs_next(seed);
        double number = draw % 64 ? inputs_normal(seed) : draw % 256 ? 0 : draw % 512 ? INFINITY : NAN;
        bits[i] = !rotated ? (uint16_t)(draw >> 48) : half_from_double(work->session->type, number);
    }
}

/* Pages in no order; entries that no row needs are of no page. */
static void fill_table(const struct work *work) {
    const struct verify_append_shape *s = &work->one->shape;
    int32_t *table = work->contents[BLOCK_TABLE];
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t p = 0; p < work->pages; p++)
            table[b * work->pages + p] = p * work->one->page_size < work->before[b] + work->added[b]
                                             ? (int32_t)(work->blocks - 1 - (p * s->batch + b))
                                             : INT32_MAX;
}

static void fill_lengths(const struct work *work) {
    const struct verify_append_shape *s = &work->one->shape;
    int32_t *begins = work->contents[CU_SEQLENS_NEW], *added = work->contents[SEQLENS_NEW];
    for (int64_t b = 0; b < s->batch; b++) {
        ((int32_t *)work->contents[SEQLENS_K])[b] = work->before[b];
        if (added)
            added[b] = work->added[b];
        if (begins)
            begins[b + 1] = begins[b] + work->added[b];
    }
}

/* Where each new row belongs. */
static void find_sources(const struct work *work) {
    const struct verify_append_shape *s = &work->one->shape;
    const int32_t *table = work->contents[BLOCK_TABLE];
    for (int64_t i = 0; i < work->blocks * work->slots; i++)
        work->source[i] = -1;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t row = 0; row < work->added[b] && work->before[b] + row < s->seqlen_k; row++) {
            int64_t position = work->before[b] + row, block = b, slot = position;
            if (table) {
                block = table[b * work->pages + position / work->one->page_size];
                slot = position % work->one->page_size;
            }
            work->source[block * work->slots + slot] = b * s->seqlen_new + row;
        }
}

static bool make_contents(struct work *work, uint64_t seed) {
    struct session *session = work->session;
    for (int side = 0; side < SIDES; side++) {
        if (!has(session, (enum side)side))
            continue;
        int64_t count = count_of(work, (enum side)side);
        work->contents[side] = calloc((size_t)count + 1, element_bytes((enum side)side));
        if (is_cache((enum side)side))
            work->got[side] = calloc((size_t)count + 1, element_bytes((enum side)side));
        if (!work->contents[side] || (is_cache((enum side)side) && !work->got[side]))
            return no_memory(work, count);
        if (is_new((enum side)side))
            fill_new(work, (enum side)side, &seed);
        for (int64_t i = 0; is_cache((enum side)side) && i < count; i++)
            ((uint16_t *)work->contents[side])[i] = (uint16_t)(inputs_next(&seed) >> 48);
        for (int64_t i = 0; (side == ROTARY_COS || side == ROTARY_SIN) && i < count; i++)
            ((float *)work->contents[side])[i] = (float)(inputs_normal(&seed) / 4);
    }
    work->source = malloc(((size_t)(work->blocks * work->slots) + 1) * sizeof *work->source);
    if (!work->source)
        return no_memory(work, work->blocks * work->slots);
    fill_lengths(work);
    if (session->paged)
        fill_table(work);
    find_sources(work);
    return true;
}

/* ---- What came of it ----------------------------------------------------------------------------------------------
 */

/* The new row that a row of the cache must hold. */
static const uint16_t *new_row(const struct work *work, enum side side, int64_t source, int64_t head) {
    const struct session *session = work->session;
    const struct verify_append_shape *s = &work->one->shape;
    int64_t batch = source / s->seqlen_new, row = source % s->seqlen_new, rows = s->seqlen_new;
    if (session->packed) {
        row += ((const int32_t *)work->contents[CU_SEQLENS_NEW])[batch];
        rows = work->tokens;
        batch = 0;
    }
    return (const uint16_t *)work->contents[side] +
           ((batch * s->heads + head) * rows + row) * columns_of(session, side);
}

/* What may stand in one element: from `low` to `high`, or only the bits of `low`. */
struct expected {
    uint16_t low, high;
    bool exact;
};

static bool accepts(enum half_type type, const struct expected *expected, uint16_t got) {
    double low = half_to_double(type, expected->low), high = half_to_double(type, expected->high);
    double value = half_to_double(type, got);
    if (expected->exact)
        return got == expected->low;
    return isnan(low) ? isnan(value) : value >= low && value <= high;
}

/* Element of a row that is rotated on its way: off by no more than float32 may be, then rounded once. */
static struct expected rotated_element(enum half_type type, const struct append_angles *angles, const double *row,
                                       int64_t column) {
    double error, value = append_rotated(angles, row, column, &error);
    return (struct expected){.low = half_from_double(type, value - error),
                             .high = half_from_double(type, value + error)};
}

struct judgement {
    struct work *work;
    enum side side;
    const char *when;
    double *values; /* [columns], of the row at hand */
    struct findings_tally tally;
};

static void report_element(struct judgement *judgement, const struct expected *expected, uint16_t got, int64_t block,
                           int64_t head, int64_t slot, int64_t column, bool is_new_row) {
    if (!findings_tally(&judgement->tally))
        return;
    char wanted[32];
    snprintf(wanted, sizeof wanted, expected->low == expected->high ? "0x%04x" : "0x%04x to 0x%04x", expected->low,
             expected->high);
    findings_add(
        &judgement->work->findings,
        "%s%s: expected %s, got 0x%04x at %s %" PRId64 ", head %" PRId64 ", row %" PRId64 ", column %" PRId64 "%s",
        side_names[judgement->side], judgement->when, wanted, got, judgement->work->session->paged ? "page" : "batch",
        block, head, slot, column, is_new_row ? "" : ", which is no new row's");
}

static void judge_row(struct judgement *judgement, int64_t block, int64_t head, int64_t slot) {
    const struct work *work = judgement->work;
    const struct session *session = work->session;
    int64_t columns = columns_of(session, judgement->side), source = work->source[block * work->slots + slot];
    int64_t at = ((block * work->one->shape.heads + head) * work->slots + slot) * columns;
    const uint16_t *got = (const uint16_t *)work->got[judgement->side] + at;
    const uint16_t *old = (const uint16_t *)work->contents[judgement->side] + at;
    const uint16_t *new = source < 0 ? old : new_row(work, judgement->side == K ? K_NEW : V_NEW, source, head);
    bool rotates = judgement->side == K && source >= 0 && session->rotary != APPEND_ROTARY_OFF;
    struct append_angles angles = {APPEND_ROTARY_OFF, 0, 0, NULL, NULL};
    if (rotates) {
        angles.rotary = session->rotary;
        rotated_columns(session, work->one, &angles.first, &angles.dim);
        int64_t position = work->before[source / work->one->shape.seqlen_new] + source % work->one->shape.seqlen_new;
        angles.cos = (const float *)work->contents[ROTARY_COS] + position * (angles.dim / 2);
        angles.sin = (const float *)work->contents[ROTARY_SIN] + position * (angles.dim / 2);
        for (int64_t column = 0; column < columns; column++)
            judgement->values[column] = half_to_double(session->type, new[column]);
    }
    for (int64_t column = 0; column < columns; column++) {
        struct expected expected = {new[column], new[column], !rotates};
        if (rotates)
            expected = rotated_element(session->type, &angles, judgement->values, column);
        if (!accepts(session->type, &expected, got[column]))
            report_element(judgement, &expected, got[column], block, head, slot, column, source >= 0);
    }
}

static bool judge(struct work *work, const char *when) {
    for (int side = K; side <= V; side++) {
        if (!has(work->session, (enum side)side))
            continue;
        struct judgement judgement = {
            .work = work, .side = (enum side)side, .when = when, .tally = {&work->findings, 0}};
        judgement.values = calloc((size_t)columns_of(work->session, (enum side)side), sizeof(double));
        if (!judgement.values)
            return no_memory(work, columns_of(work->session, (enum side)side));
        for (int64_t block = 0; block < work->blocks; block++)
            for (int64_t head = 0; head < work->one->shape.heads; head++)
                for (int64_t slot = 0; slot < work->slots; slot++)
                    judge_row(&judgement, block, head, slot);
        findings_tally_end(&judgement.tally, "elements differ");
        free(judgement.values);
    }
    return true;
}

/* ---- Runs ---------------------------------------------------------------------------------------------------------
 */

static bool run_kernel(struct work *work) {
    struct session *session = work->session;
    fmha_device *device = session->target.device;
    struct array arrays[SIDES];
    struct fmha_operands operands;
    char shape[SHAPE_BYTES];
    bool done = lay_out(work, arrays);
    if (!done)
        return false;
    name_operands(work, arrays, &operands, shape);
    for (int side = 0; done && side < SIDES; side++) {
        if (!has(session, (enum side)side))
            continue;
        done = array_send(&arrays[side], device, work->contents[side], session->error);
        operands.buffer[side_buffers[side]] = done ? array_address(&arrays[side]) : NULL;
    }
    done = done && execute_launch(&session->target, &operands, shape, &work->findings, session->error);
    for (int side = 0; done && side < SIDES; side++)
        if (has(session, (enum side)side))
            done = array_check(&arrays[side], device, work->got[side], &work->findings, session->error);
    for (int side = 0; side < SIDES; side++)
        if (has(session, (enum side)side))
            array_release(&arrays[side], device);
    return done;
}

static bool run_once(struct work *work, const char *when) {
    return run_kernel(work) && judge(work, when);
}

/* The same with the waves in other orders. A run that has findings is not repeated: they would repeat too. */
static bool run_schedules(struct work *work) {
    struct session *session = work->session;
    const struct verify_options *options = session->options;
    bool done = run_once(work, "") && verify_counters(&session->target, work->result, session->error);
    for (int schedule = 1; done && schedule < options->schedules && !work->findings.count; schedule++) {
        char when[48];
        snprintf(when, sizeof when, " in schedule %d", schedule + 1);
        done =
            execute_seed(&session->target, options->seed + (uint64_t)schedule, session->error) && run_once(work, when);
    }
    return done && execute_seed(&session->target, options->seed, session->error);
}

static void describe_case(const struct session *session, const struct append_case *one, uint64_t seed,
                          struct verify_case *result) {
    static const char *const layouts[] = {[APPEND_PLAIN] = "bhsd",
                                          [APPEND_PADDED] = "bhsd, padded",
                                          [APPEND_ROWS_OUTSIDE] = "bshd, padded",
                                          [APPEND_FAR] = "bhsd, far apart"};
    *result = (struct verify_case){.append_shape = one->shape,
                                   .scale = NAN,
                                   .seed = seed,
                                   .page_size = session->paged ? one->page_size : 0,
                                   .max_error_over_bound = NAN,
                                   .lse_error_over_bound = NAN,
                                   .mean_error = NAN,
                                   .mean_error_over_bound = NAN};
    snprintf(result->what, sizeof result->what, "%s", one->what);
    snprintf(result->inputs, sizeof result->inputs, session->rotary == APPEND_ROTARY_OFF ? "bits" : "numbers");
    snprintf(result->layout, sizeof result->layout, "%s", layouts[one->layout]);
}

static bool run_case(void *context, size_t index, struct verify_case *result) {
    struct session *session = context;
    const struct verify_options *options = session->options;
    struct work work = {.session = session, .one = &session->cases[index], .result = result};
    uint64_t seed = options->seed + index;
    describe_case(session, work.one, seed, result);
    if (options->progress)
        options->progress(options->progress_context, index, session->case_count, work.one->what);
    bool done = make_lengths(&work, seed) && make_contents(&work, seed) && run_schedules(&work);
    work_free(&work);
    return verify_case_end(result, &work.findings, done, session->error);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------
 */

/* Before anything runs: does the instance serve every case? */
static bool check_cases(struct session *session) {
    struct fmha_index *index = NULL;
    bool served = index_of_instance(session->instance, &index, session->error);
    for (size_t at = 0; served && at < session->case_count; at++) {
        struct work work = {.session = session, .one = &session->cases[at]};
        struct array arrays[SIDES];
        struct fmha_operands operands;
        char shape[SHAPE_BYTES];
        served = make_lengths(&work, session->options->seed + at) && lay_out(&work, arrays);
        if (served) {
            name_operands(&work, arrays, &operands, shape);
            for (int side = 0; side < SIDES; side++)
                operands.buffer[side_buffers[side]] = (void *)(uintptr_t)256;
            served = execute_serves(fmha_index_at(index, 0), &operands, shape, session->error);
        }
        work_free(&work);
    }
    fmha_index_free(index);
    return served;
}

static bool check_options(const struct session *session) {
    const struct verify_options *options = session->options;
    if (!isnan(options->scale))
        return error_set(session->error, ERROR_USAGE,
                         "--scale: expected none, for append has no scores, got %g; leave it out", options->scale);
    if (options->inputs != VERIFY_INPUTS_DEFAULT)
        return error_set(session->error, ERROR_USAGE,
                         "--inputs: expected none, for append has its own, got one; leave it out");
    return true;
}

bool verify_append(const struct instance *instance, const struct verify_options *options,
                   const struct execute_options *execution, struct verify_report *report, struct error *error) {
    const struct spec *spec = &instance->spec;
    const char *varlen = spec_word(spec, SPEC_VARLEN);
    struct session session = {.options = options,
                              .instance = instance,
                              .type = strcmp(spec_word(spec, SPEC_DTYPE), "bf16") == 0 ? HALF_BF16 : HALF_F16,
                              .rotary = strcmp(spec_word(spec, SPEC_ROTARY), "neox") == 0 ? APPEND_ROTARY_NEOX
                                        : strcmp(spec_word(spec, SPEC_ROTARY), "interleaved") == 0
                                            ? APPEND_ROTARY_INTERLEAVED
                                            : APPEND_ROTARY_OFF,
                              .packed = strcmp(varlen, "packed") == 0,
                              .padded = strcmp(varlen, "padded") == 0,
                              .paged = strcmp(spec_word(spec, SPEC_PAGED), "on") == 0,
                              .values = strcmp(spec_word(spec, SPEC_VALUES), "on") == 0,
                              .error = error};
    bool done = check_options(&session) && list_cases(&session) && check_cases(&session) &&
                execute_open(report->device, instance, execution, &session.target, error);
    if (done) {
        done = execute_seed(&session.target, options->seed, error) &&
               verify_report_run(report, session.case_count, options->fail_fast, run_case, &session, error);
        execute_close(&session.target);
    }
    free(session.cases);
    return done;
}

#include "verify_append.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "append_cases.h"
#include "append_judge.h"
#include "array.h"
#include "execute.h"
#include "halves.h"
#include "index_text.h"
#include "inputs.h"
#include "verify_count.h"

enum { SHAPE_BYTES = 96 };

/* ---- Cases --------------------------------------------------------------------------------------------------------
 */

static bool list_cases(struct append_session *session) {
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

/* ---- Tensors ------------------------------------------------------------------------------------------------------
 */

/* Paddings are the least that the alignment allows, odd where any is allowed, and no two the same: a stride of one axis
 * or tensor that is used for another leads elsewhere. */
static struct array_layout layout_of(const struct append_case *one, enum append_side side, int64_t alignment) {
    bool outside = one->layout == APPEND_ROWS_OUTSIDE;
    struct array_layout layout = {.order = {0, 1, 2, 3}};
    if (outside)
        memcpy(layout.order, (int[]){0, 2, 1}, 3 * sizeof(int));
    for (int axis = 0; axis < 4 && (outside || one->layout == APPEND_PADDED); axis++)
        layout.padding[axis] = alignment * (4 * axis + 1 + (int)side);
    layout.offset = layout.padding[0] ? 3 * alignment : 0;
    int far = append_is_new(side) ? one->far_axis : one->far_axis - 3;
    if (one->layout == APPEND_FAR && far >= 0 && far < 3) {
        /* The padding after the blocks of the next axis inward is the distance. */
        layout.padding[far + 1] = INT64_C(1) << 31;
    }
    return layout;
}

/* The shape of a side; the number of its dimensions. */
static int shape_of(const struct append_work *work, enum append_side side, int64_t shape[4]) {
    const struct append_session *session = work->session;
    const struct verify_append_shape *s = &work->one->shape;
    int64_t first, dim;
    append_rotated_columns(session, work->one, &first, &dim);
    switch (side) {
    case SIDE_K_NEW:
    case SIDE_V_NEW:
        memcpy(shape,
               (int64_t[]){session->packed ? 1 : s->batch, s->heads, session->packed ? work->tokens : s->seqlen_new,
                           append_columns(session, side)},
               4 * sizeof *shape);
        return 4;
    case SIDE_K:
    case SIDE_V:
        memcpy(shape, (int64_t[]){work->blocks, s->heads, work->slots, append_units(session, side)}, 4 * sizeof *shape);
        return 4;
    case SIDE_K_SCALE:
    case SIDE_V_SCALE:
        memcpy(shape,
               (int64_t[]){session->makes_scales ? work->blocks : s->batch, s->heads,
                           session->makes_scales ? work->slots : 1, append_scales(session, side)},
               4 * sizeof *shape);
        return 4;
    case SIDE_BLOCK_TABLE:
        memcpy(shape, (int64_t[]){s->batch, work->pages}, 2 * sizeof *shape);
        return 2;
    case SIDE_ROTARY_COS:
    case SIDE_ROTARY_SIN:
        memcpy(shape, (int64_t[]){s->seqlen_k, dim / 2}, 2 * sizeof *shape);
        return 2;
    default:
        shape[0] = side == SIDE_CU_SEQLENS_NEW ? s->batch + 1 : s->batch;
        return 1;
    }
}

static bool lay_out(const struct append_work *work, struct array arrays[APPEND_SIDES]) {
    const struct append_session *session = work->session;
    for (enum append_side side = 0; side < APPEND_SIDES; side++) {
        bool output = append_is_output(session, side);
        struct array *array = &arrays[side];
        *array = (struct array){.label = append_sides[side].name,
                                .element_bytes = append_element_bytes(session, side),
                                .output = output,
                                .kept = output};
        if (!append_has(session, side))
            continue;
        array->dimensions = shape_of(work, side, array->shape);
        int64_t alignment = append_alignment(session, side);
        struct array_layout layout = {.order = {0, 1, 2}};
        if (array->dimensions == 4)
            layout = layout_of(work->one, side, alignment);
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

static void name_operands(const struct append_work *work, const struct array arrays[APPEND_SIDES],
                          struct fmha_operands *operands, char text[SHAPE_BYTES]) {
    const struct append_session *session = work->session;
    const struct verify_append_shape *shape = &work->one->shape;
    *operands = (struct fmha_operands){{0}, {0}, {0}};
    int64_t *value = operands->value;
    value[FMHA_VALUE_BATCH] = shape->batch;
    value[FMHA_VALUE_HEADS_K] = shape->heads;
    value[FMHA_VALUE_SEQLEN_NEW] = shape->seqlen_new;
    value[FMHA_VALUE_TOKENS_NEW] = work->tokens;
    value[FMHA_VALUE_SEQLEN_K] = shape->seqlen_k;
    value[FMHA_VALUE_HEAD_DIM] = append_columns(session, SIDE_K);
    value[FMHA_VALUE_HEAD_DIM_V] = session->values ? append_columns(session, SIDE_V) : 0;
    value[FMHA_VALUE_PAGE_SIZE] = session->paged ? work->one->page_size : 0;
    value[FMHA_VALUE_STRIDE_BLOCK_TABLE] = arrays[SIDE_BLOCK_TABLE].strides[0];
    if (session->rotary != APPEND_ROTARY_OFF)
        append_rotated_columns(session, work->one, &value[FMHA_VALUE_ROTARY_FIRST], &value[FMHA_VALUE_ROTARY_DIM]);
    value[FMHA_VALUE_STRIDE_ROTARY_COS_ROW] = arrays[SIDE_ROTARY_COS].strides[0];
    value[FMHA_VALUE_STRIDE_ROTARY_SIN_ROW] = arrays[SIDE_ROTARY_SIN].strides[0];
    memcpy(&value[FMHA_VALUE_STRIDE_K_NEW_BATCH], arrays[SIDE_K_NEW].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_V_NEW_BATCH], arrays[SIDE_V_NEW].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_K_BATCH], arrays[SIDE_K].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_V_BATCH], arrays[SIDE_V].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_K_SCALE_BATCH], arrays[SIDE_K_SCALE].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_V_SCALE_BATCH], arrays[SIDE_V_SCALE].strides, 3 * sizeof *value);
    snprintf(text, SHAPE_BYTES, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, shape->batch, shape->heads,
             shape->seqlen_new, shape->seqlen_k);
}

/* ---- What a case has ---------------------------------------------------------------------------------------------
 */

static int64_t count_of(const struct append_work *work, enum append_side side) {
    int64_t shape[4], count = 1;
    for (int axis = shape_of(work, side, shape) - 1; axis >= 0; axis--)
        count *= shape[axis];
    return count;
}

static void work_free(struct append_work *work) {
    for (enum append_side side = 0; side < APPEND_SIDES; side++) {
        free(work->contents[side]);
        free(work->got[side]);
    }
    free(work->before);
    free(work->added);
    free(work->source);
}

/* Lengths, and the sizes that follow from them. */
static bool make_lengths(struct append_work *work, uint64_t seed) {
    const struct append_session *session = work->session;
    const struct verify_append_shape *s = &work->one->shape;
    work->before = calloc((size_t)s->batch + 1, sizeof *work->before);
    work->added = calloc((size_t)s->batch + 1, sizeof *work->added);
    if (!work->before || !work->added)
        return append_no_memory(work, s->batch);
    append_lengths(work->one, session->packed || session->padded, seed, work->before, work->added);
    for (int64_t b = 0; b < s->batch; b++)
        work->tokens += work->added[b];
    work->pages = session->paged ? (s->seqlen_k + work->one->page_size - 1) / work->one->page_size : 0;
    work->blocks = session->paged ? s->batch * work->pages : s->batch;
    work->slots = session->paged ? work->one->page_size : s->seqlen_k;
    return true;
}

/* Bits of any kind where they are moved, and of a row in four; others have numbers. */
static void fill_new(const struct append_work *work, enum append_side side, uint64_t *seed) {
    const struct append_session *session = work->session;
    uint16_t *bits = work->contents[side];
    bool rotated = side == SIDE_K_NEW && session->rotary != APPEND_ROTARY_OFF;
    bool moved = !rotated && session->type.cache == APPEND_SAME;
    int64_t columns = append_columns(session, side), count = count_of(work, side);
    uint64_t of_row = 0;
    for (int64_t i = 0; i < count; i++) {
        of_row = i % columns ? of_row : inputs_next(seed) >> 8;
        uint64_t draw = inputs_next(seed);
        bool any = moved || (!rotated && of_row % 4 == 0);
        double number = append_number(of_row, draw, seed);
        bits[i] = any ? (uint16_t)(draw >> 48) : half_from_double(session->half, number);
    }
}

static void fill_scales(const struct append_work *work, enum append_side side, uint64_t *seed) {
    float *scales = work->contents[side];
    for (int64_t i = 0; i < count_of(work, side); i++) {
        scales[i] = append_scale(i, seed);
    }
}

/* Pages in no order; entries that no row needs are of no page. */
static void fill_table(const struct append_work *work) {
    const struct verify_append_shape *s = &work->one->shape;
    int32_t *table = work->contents[SIDE_BLOCK_TABLE];
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t p = 0; p < work->pages; p++)
            table[b * work->pages + p] = p * work->one->page_size < work->before[b] + work->added[b]
                                             ? (int32_t)(work->blocks - 1 - (p * s->batch + b))
                                             : INT32_MAX;
}

static void fill_lengths(const struct append_work *work) {
    const struct verify_append_shape *s = &work->one->shape;
    int32_t *begins = work->contents[SIDE_CU_SEQLENS_NEW], *added = work->contents[SIDE_SEQLENS_NEW];
    for (int64_t b = 0; b < s->batch; b++) {
        ((int32_t *)work->contents[SIDE_SEQLENS_K])[b] = work->before[b];
        if (added)
            added[b] = work->added[b];
        if (begins)
            begins[b + 1] = begins[b] + work->added[b];
    }
}

/* Where each new row belongs. */
static void find_sources(const struct append_work *work) {
    const struct verify_append_shape *s = &work->one->shape;
    const int32_t *table = work->contents[SIDE_BLOCK_TABLE];
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

static bool make_contents(struct append_work *work, uint64_t seed) {
    struct append_session *session = work->session;
    for (enum append_side side = 0; side < APPEND_SIDES; side++) {
        if (!append_has(session, side))
            continue;
        int64_t count = count_of(work, side);
        size_t bytes = (size_t)count * append_element_bytes(session, side);
        bool output = append_is_output(session, side);
        work->contents[side] = calloc(bytes + 1, 1);
        if (output)
            work->got[side] = calloc(bytes + 1, 1);
        if (!work->contents[side] || (output && !work->got[side]))
            return append_no_memory(work, count);
        if (append_is_new(side))
            fill_new(work, side, &seed);
        else if (append_is_scale(side) && !output)
            fill_scales(work, side, &seed);
        for (size_t i = 0; output && i < bytes; i++)
            ((uint8_t *)work->contents[side])[i] = (uint8_t)(inputs_next(&seed) >> 56);
        for (int64_t i = 0; (side == SIDE_ROTARY_COS || side == SIDE_ROTARY_SIN) && i < count; i++)
            ((float *)work->contents[side])[i] = (float)(inputs_normal(&seed) / 4);
    }
    work->source = malloc(((size_t)(work->blocks * work->slots) + 1) * sizeof *work->source);
    if (!work->source)
        return append_no_memory(work, work->blocks * work->slots);
    fill_lengths(work);
    if (session->paged)
        fill_table(work);
    find_sources(work);
    return true;
}

/* ---- Runs ---------------------------------------------------------------------------------------------------------
 */

static bool run_kernel(struct append_work *work) {
    struct append_session *session = work->session;
    fmha_device *device = session->target.device;
    struct array arrays[APPEND_SIDES];
    struct fmha_operands operands;
    char shape[SHAPE_BYTES];
    bool done = lay_out(work, arrays);
    if (!done)
        return false;
    name_operands(work, arrays, &operands, shape);
    for (enum append_side side = 0; done && side < APPEND_SIDES; side++) {
        if (!append_has(session, side))
            continue;
        done = array_send(&arrays[side], device, work->contents[side], session->error);
        operands.buffer[append_sides[side].buffer] = done ? array_address(&arrays[side]) : NULL;
    }
    done = done && execute_launch(&session->target, &operands, shape, &work->findings, session->error);
    for (enum append_side side = 0; done && side < APPEND_SIDES; side++)
        if (append_has(session, side))
            done = array_check(&arrays[side], device, work->got[side], &work->findings, session->error);
    for (enum append_side side = 0; side < APPEND_SIDES; side++)
        if (append_has(session, side))
            array_release(&arrays[side], device);
    return done;
}

static bool run_once(struct append_work *work, const char *when) {
    return run_kernel(work) && append_judge(work, when);
}

/* The same with the waves in other orders. A run that has findings is not repeated: they would repeat too. */
static bool run_schedules(struct append_work *work) {
    struct append_session *session = work->session;
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

static void describe_case(const struct append_session *session, const struct append_case *one, uint64_t seed,
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
    snprintf(result->inputs, sizeof result->inputs,
             session->rotary == APPEND_ROTARY_OFF && session->type.cache == APPEND_SAME ? "bits" : "numbers");
    snprintf(result->layout, sizeof result->layout, "%s", layouts[one->layout]);
}

static bool run_case(void *context, size_t index, struct verify_case *result) {
    struct append_session *session = context;
    const struct verify_options *options = session->options;
    struct append_work work = {.session = session, .one = &session->cases[index], .result = result};
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
static bool check_cases(struct append_session *session) {
    struct fmha_index *index = NULL;
    bool served = index_of_instance(session->instance, &index, session->error);
    for (size_t at = 0; served && at < session->case_count; at++) {
        struct append_work work = {.session = session, .one = &session->cases[at]};
        struct array arrays[APPEND_SIDES];
        struct fmha_operands operands;
        char shape[SHAPE_BYTES];
        served = make_lengths(&work, session->options->seed + at) && lay_out(&work, arrays);
        if (served) {
            name_operands(&work, arrays, &operands, shape);
            for (enum append_side side = 0; side < APPEND_SIDES; side++)
                operands.buffer[append_sides[side].buffer] = (void *)(uintptr_t)256;
            served = execute_serves(fmha_index_at(index, 0), &operands, shape, session->error);
        }
        work_free(&work);
    }
    fmha_index_free(index);
    return served;
}

static bool check_options(const struct append_session *session) {
    const struct verify_options *options = session->options;
    if (!isnan(options->scale))
        return error_set(session->error, ERROR_USAGE,
                         "--scale: expected none, for append has no scores, got %g; leave it out", options->scale);
    if (options->inputs != VERIFY_INPUTS_DEFAULT)
        return error_set(session->error, ERROR_USAGE,
                         "--inputs: expected none, for append has its own, got one; leave it out");
    return true;
}

/* What the cache holds, from the spec. */
static struct append_type type_of(const struct spec *spec) {
    const char *word = spec_word(spec, SPEC_KV_DTYPE);
    struct append_type type = {
        .half = strcmp(spec_word(spec, SPEC_DTYPE), "bf16") == 0 ? HALF_BF16 : HALF_F16,
        .rule = strcmp(spec_word(spec, SPEC_SCALE_RULE), "floor") == 0 ? QUANTIZE_FLOOR : QUANTIZE_THREE_QUARTERS};
    for (enum format format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++)
        if (strcmp(word, format_name(format)) == 0) {
            type.cache = APPEND_FP8;
            type.format = format;
        }
    if (strcmp(word, "mxfp4") == 0)
        type.cache = APPEND_MXFP4;
    return type;
}

bool verify_append(const struct instance *instance, const struct verify_options *options,
                   const struct execute_options *execution, struct verify_report *report, struct error *error) {
    const struct spec *spec = &instance->spec;
    const char *varlen = spec_word(spec, SPEC_VARLEN), *rotary = spec_word(spec, SPEC_ROTARY);
    struct append_session session = {.options = options,
                                     .instance = instance,
                                     .type = type_of(spec),
                                     .rotary = strcmp(rotary, "neox") == 0          ? APPEND_ROTARY_NEOX
                                               : strcmp(rotary, "interleaved") == 0 ? APPEND_ROTARY_INTERLEAVED
                                                                                    : APPEND_ROTARY_OFF,
                                     .packed = strcmp(varlen, "packed") == 0,
                                     .padded = strcmp(varlen, "padded") == 0,
                                     .paged = strcmp(spec_word(spec, SPEC_PAGED), "on") == 0,
                                     .values = strcmp(spec_word(spec, SPEC_VALUES), "on") == 0,
                                     .error = error};
    session.half = session.type.half;
    session.makes_scales = session.type.cache == APPEND_MXFP4 || strcmp(spec_word(spec, SPEC_KV_SCALE), "token") == 0;
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

#include "verify_append.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "append_judge.h"
#include "halves.h"
#include "inputs.h"

/* ---- Cases --------------------------------------------------------------------------------------------------------
 */

static bool list_cases(struct append_session *session) {
    const struct verify_options *options = session->base.options;
    size_t asked = options->append_shape_count, count = asked, kept = 0;
    session->cases = verify_session_room(&session->base, asked > APPEND_CASES_MAX ? asked : APPEND_CASES_MAX,
                                         sizeof *session->cases);
    if (!session->cases)
        return false;
    for (size_t index = 0; index < asked; index++) {
        struct append_case *one = &session->cases[index];
        one->shape = options->append_shapes[index];
        one->page_size = options->page_size ? options->page_size : 16;
        snprintf(one->what, sizeof one->what, "as asked for");
    }
    if (!asked)
        count = (size_t)append_standing(session->base.instance->workgroup / 8, session->paged, session->cases);
    for (size_t index = 0; index < count; index++)
        if (verify_session_keeps(&session->base, &session->cases[index].placing))
            session->cases[kept++] = session->cases[index];
    session->base.case_count = kept;
    return true;
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------
 */

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

/* Lays out the arrays of the sides that instances have. */
static bool lay_out(const struct append_work *work, struct verify_call *call) {
    const struct append_session *session = work->session;
    const struct append_case *one = work->one;
    for (enum append_side side = 0; side < APPEND_SIDES; side++) {
        bool output = append_is_output(session, side);
        struct array *array = &call->arrays[side];
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
            layout = array_place(one->placing, 4, alignment, side + 1, 4,
                                 append_is_new(side) ? one->far_axis : one->far_axis - 3);
        else if (one->placing == ARRAY_PADDED && array->dimensions == 2)
            layout.padding[1] = side; /* rows of tables */
        if (!array_lay(array, &layout, alignment))
            return verify_session_too_large(&session->base, call->shape);
    }
    return true;
}

/* The call of a case, by its lengths or by what they are at most. */
static bool name_call(const struct append_work *work, struct verify_call *call) {
    const struct append_session *session = work->session;
    const struct verify_append_shape *shape = &work->one->shape;
    const struct array *arrays = call->arrays;
    verify_shape_text((int64_t[]){shape->batch, shape->heads, shape->seqlen_new, shape->seqlen_k}, 4, call->shape);
    if (!lay_out(work, call))
        return false;
    call->operands = (struct fmha_operands){{0}, {0}, {0}};
    int64_t *value = call->operands.value;
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
    return true;
}

/* ---- What a case has ---------------------------------------------------------------------------------------------
 */

static void work_free(struct append_work *work) {
    for (enum append_side side = 0; side < APPEND_SIDES; side++) {
        free(work->contents[side]);
        free(work->got[side]);
    }
    free(work->before);
    free(work->added);
    free(work->source);
}

static int64_t count_of(const struct append_work *work, enum append_side side) {
    return array_count(&work->call.arrays[side]);
}

/* The sizes of a case in which every sequence has as many new rows as any may have. */
static struct append_work work_of(struct append_session *session, size_t index) {
    const struct append_case *one = &session->cases[index];
    const struct verify_append_shape *s = &one->shape;
    struct append_work work = {.session = session, .one = one, .tokens = s->batch * s->seqlen_new};
    work.pages = session->paged ? (s->seqlen_k + one->page_size - 1) / one->page_size : 0;
    work.blocks = session->paged ? s->batch * work.pages : s->batch;
    work.slots = session->paged ? one->page_size : s->seqlen_k;
    return work;
}

static bool make_lengths(struct append_work *work, uint64_t seed) {
    const struct append_session *session = work->session;
    int64_t batch = work->one->shape.batch;
    work->before = calloc((size_t)batch + 1, sizeof *work->before);
    work->added = calloc((size_t)batch + 1, sizeof *work->added);
    if (!work->before || !work->added)
        return append_no_memory(work, batch);
    append_lengths(work->one, session->packed || session->padded, seed, work->before, work->added);
    work->tokens = 0;
    for (int64_t b = 0; b < batch; b++)
        work->tokens += work->added[b];
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

static bool run_once(void *context, const char *when) {
    struct append_work *work = context;
    return verify_session_launch(&work->session->base, &work->call, work->contents, work->got, &work->findings) &&
           append_judge(work, when);
}

static bool run_case(void *context, size_t index, struct verify_case *result) {
    struct append_session *session = context;
    struct append_work work = work_of(session, index);
    bool moved = session->rotary == APPEND_ROTARY_OFF && session->type.cache == APPEND_SAME;
    verify_session_begin(&session->base, index, work.one->what, moved ? "bits" : "numbers",
                         array_placing_name(work.one->placing), result);
    result->append_shape = work.one->shape;
    result->page_size = session->paged ? work.one->page_size : 0;
    bool done = make_lengths(&work, result->seed) && name_call(&work, &work.call) &&
                make_contents(&work, result->seed) &&
                verify_session_schedules(&session->base, result, &work.findings, run_once, &work);
    work_free(&work);
    return verify_case_end(result, &work.findings, done, session->base.error);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------
 */

static bool name_case(void *context, size_t index, struct verify_call *call) {
    const struct append_work work = work_of(context, index);
    return name_call(&work, call);
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
    struct append_session session = {.base = {.options = options,
                                              .instance = instance,
                                              .sides = append_sides,
                                              .side_count = APPEND_SIDES,
                                              .error = error},
                                     .type = type_of(spec),
                                     .rotary = strcmp(rotary, "neox") == 0          ? APPEND_ROTARY_NEOX
                                               : strcmp(rotary, "interleaved") == 0 ? APPEND_ROTARY_INTERLEAVED
                                                                                    : APPEND_ROTARY_OFF,
                                     .packed = strcmp(varlen, "packed") == 0,
                                     .padded = strcmp(varlen, "padded") == 0,
                                     .paged = strcmp(spec_word(spec, SPEC_PAGED), "on") == 0,
                                     .values = strcmp(spec_word(spec, SPEC_VALUES), "on") == 0};
    session.half = session.type.half;
    session.makes_scales = session.type.cache == APPEND_MXFP4 || strcmp(spec_word(spec, SPEC_KV_SCALE), "token") == 0;
    bool done = verify_session_options(&session.base, "append has no scores", "append has its own") &&
                list_cases(&session) && verify_session_serves(&session.base, name_case, &session) &&
                verify_session_run(&session.base, execution, report, run_case, &session);
    free(session.cases);
    return done;
}

#include "verify_quantize.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "append_cases.h"
#include "halves.h"
#include "inputs.h"
#include "quantize.h"
#include "verify_session.h"

enum { STANDING_MAX = 32 };

/* What a kernel of this operation takes and gives. */
enum side { FROM, TO, TO_SCALE, SCALE_PARTIAL, SIDES };
static const struct verify_side sides[SIDES] = {{"from", FMHA_BUFFER_FROM},
                                                {"to", FMHA_BUFFER_TO},
                                                {"to_scale", FMHA_BUFFER_TO_SCALE},
                                                {"scale_partial", FMHA_BUFFER_SCALE_PARTIAL}};

/* What shares a scale, where rows do: all, the rows of a head in all batches, or those of a head in one. */
enum share { SHARE_TENSOR, SHARE_HEADS, SHARE_EACH };

struct quantize_case {
    char what[64];
    struct verify_quantize_shape shape;
    enum share share;
    int64_t parts;
    enum array_placing placing;
    int far_axis;       /* of from: 0 to 2; of to: 3 to 5 */
    bool without_scale; /* nobody wants to know the shared scale */
};

struct session {
    struct verify_session base;
    bool f32, fp4, shared, scales; /* shared: rows share scales; scales: the pass that makes them */
    enum half_type half;
    enum format format;
    enum quantize_rule rule;
    int64_t columns;
    struct quantize_case *cases;
};

/* One call. All arrays are owned. */
struct work {
    struct session *session;
    const struct quantize_case *one;
    struct findings findings;
    struct verify_call call;
    float *values;       /* [rows][columns], what `from` has */
    void *given[SIDES];  /* of inputs, as the kernel gets them */
    void *wanted[SIDES]; /* of outputs; NULL of parts, of which only the largest is known */
    void *got[SIDES];
};

/* ---- Cases --------------------------------------------------------------------------------------------------------
 */

static struct quantize_case *add(struct session *session, const char *what, enum share share, int64_t parts,
                                 enum array_placing placing, struct verify_quantize_shape shape) {
    struct quantize_case *one = &session->cases[session->base.case_count++];
    *one = (struct quantize_case){.shape = shape, .share = share, .parts = parts, .placing = placing};
    snprintf(one->what, sizeof one->what, "%s", what);
    return one;
}

/* Shapes are batch, heads, rows. */
static void add_standing(struct session *session) {
    typedef struct verify_quantize_shape shape;
    int64_t groups = session->base.instance->workgroup / 8;
    add(session, "one row", SHARE_TENSOR, 1, ARRAY_PLAIN, (shape){1, 1, 1});
    add(session, "one row each", SHARE_EACH, 1, ARRAY_PADDED, (shape){3, 5, 1});
    add(session, "several", SHARE_HEADS, 3, ARRAY_ROWS_OUTSIDE, (shape){2, 3, 21});
    add(session, "many parts", SHARE_TENSOR, 33, ARRAY_PADDED, (shape){2, 3, 40});
    add(session, "more parts than rows", SHARE_HEADS, 32, ARRAY_PLAIN, (shape){2, 5, 3});
    add(session, "one past a workgroup", SHARE_HEADS, 1, ARRAY_PADDED, (shape){1, 1, groups + 1});
    add(session, "many heads", SHARE_EACH, 1, ARRAY_ROWS_OUTSIDE, (shape){3, 33, 2});
    add(session, "a scale that is not told", SHARE_TENSOR, 8, ARRAY_PADDED, (shape){2, 2, 9})->without_scale = true;
    add(session, "no rows", SHARE_TENSOR, 1, ARRAY_PLAIN, (shape){2, 2, 0});
    add(session, "no batch", SHARE_HEADS, 2, ARRAY_PLAIN, (shape){0, 2, 3});
    static const char *const axes[] = {"batches",          "heads",          "rows", "batches of numbers",
                                       "heads of numbers", "rows of numbers"};
    for (int axis = 0; axis < (session->scales ? 3 : 6); axis++) {
        char what[64];
        snprintf(what, sizeof what, "%s 2^31 apart", axes[axis]);
        add(session, what, SHARE_HEADS, 1, ARRAY_FAR, (shape){2, 2, 2})->far_axis = axis;
    }
}

static bool list_cases(struct session *session) {
    const struct verify_options *options = session->base.options;
    size_t asked = options->quantize_shape_count, kept = 0;
    session->cases = verify_session_room(&session->base, asked ? asked : STANDING_MAX, sizeof *session->cases);
    if (!session->cases)
        return false;
    for (size_t index = 0; index < asked; index++)
        add(session, "as asked for", SHARE_HEADS, 4, ARRAY_PLAIN, options->quantize_shapes[index]);
    if (!asked)
        add_standing(session);
    for (size_t index = 0; index < session->base.case_count; index++) {
        struct quantize_case *one = &session->cases[index];
        /* Scales that are made are of the tensor or of heads. */
        if (session->scales && one->share == SHARE_EACH)
            one->share = SHARE_HEADS;
        if (verify_session_keeps(&session->base, &one->placing))
            session->cases[kept++] = *one;
    }
    session->base.case_count = kept;
    return true;
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------
 */

static bool has(const struct session *session, const struct quantize_case *one, enum side side) {
    switch (side) {
    case TO:
        return !session->scales;
    case TO_SCALE:
        return !session->scales && !(session->shared && one->without_scale);
    case SCALE_PARTIAL:
        return session->shared;
    default:
        return true;
    }
}

static bool is_output(const struct session *session, enum side side) {
    return side == TO || side == TO_SCALE || (side == SCALE_PARTIAL && session->scales);
}

static size_t element_bytes(const struct session *session, enum side side) {
    if (side == FROM)
        return session->f32 ? 4 : 2;
    return side == TO || (side == TO_SCALE && session->fp4) ? 1 : 4;
}

static int64_t alignment_of(const struct session *session, enum side side) {
    if (session->base.instance->spec.value[SPEC_ALIGN] != 16 || side == TO_SCALE || side == SCALE_PARTIAL)
        return 1;
    return (side == FROM && session->f32) || (side == TO && session->fp4) ? 4 : 8;
}

static int64_t scales_of_row(const struct session *session) {
    return session->fp4 ? (session->columns + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK : 1;
}

/* The batches and heads that a shared scale has; 1: all share one. */
static void sharing(const struct quantize_case *one, int64_t *batches, int64_t *heads) {
    *batches = one->share == SHARE_EACH ? one->shape.batch : 1;
    *heads = one->share == SHARE_TENSOR ? 1 : one->shape.heads;
}

/* The shape of a side; always four dimensions. */
static void shape_of(const struct session *session, const struct quantize_case *one, enum side side, int64_t shape[4]) {
    int64_t batches, heads;
    sharing(one, &batches, &heads);
    shape[0] = one->shape.batch;
    shape[1] = one->shape.heads;
    shape[2] = one->shape.seqlen;
    shape[3] = side == FROM       ? session->columns
               : side == TO       ? session->columns / (session->fp4 ? 2 : 1)
               : side == TO_SCALE ? scales_of_row(session)
                                  : one->parts;
    if (side == SCALE_PARTIAL || (side == TO_SCALE && session->shared)) {
        shape[0] = batches;
        shape[1] = heads;
        shape[2] = 1;
    }
}

static bool lay_out(const struct session *session, const struct quantize_case *one, struct verify_call *call) {
    for (enum side side = 0; side < SIDES; side++) {
        int64_t alignment = alignment_of(session, side);
        struct array *array = &call->arrays[side];
        *array = (struct array){.label = sides[side].name,
                                .element_bytes = element_bytes(session, side),
                                .output = is_output(session, side),
                                .dimensions = 4};
        shape_of(session, one, side, array->shape);
        struct array_layout layout = {.order = {0, 1, 2, 3}};
        if (!(side == SCALE_PARTIAL && session->scales)) /* which has no strides */
            layout = array_place(one->placing, 4, alignment, side + 1, 2,
                                 side == FROM ? one->far_axis
                                 : side == TO ? one->far_axis - 3
                                              : -1);
        if (!array_lay(array, &layout, alignment))
            return verify_session_too_large(&session->base, call->shape);
    }
    return true;
}

static bool name_call(const struct session *session, const struct quantize_case *one, struct verify_call *call) {
    const struct array *arrays = call->arrays;
    verify_shape_text((int64_t[]){one->shape.batch, one->shape.heads, one->shape.seqlen}, 3, call->shape);
    if (!lay_out(session, one, call))
        return false;
    call->operands = (struct fmha_operands){{0}, {0}, {0}};
    int64_t *value = call->operands.value, batches, heads;
    sharing(one, &batches, &heads);
    value[FMHA_VALUE_BATCH] = one->shape.batch;
    value[FMHA_VALUE_HEADS_K] = one->shape.heads;
    value[FMHA_VALUE_SEQLEN_K] = one->shape.seqlen;
    value[FMHA_VALUE_HEAD_DIM] = session->columns;
    value[FMHA_VALUE_PARTS] = one->parts;
    value[FMHA_VALUE_SCALES] = heads;
    memcpy(&value[FMHA_VALUE_STRIDE_FROM_BATCH], arrays[FROM].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_TO_BATCH], arrays[TO].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_TO_SCALE_BATCH], arrays[TO_SCALE].strides, 3 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_SCALE_PARTIAL_BATCH], arrays[SCALE_PARTIAL].strides, 2 * sizeof *value);
    if (session->shared && one->share != SHARE_EACH)
        value[FMHA_VALUE_STRIDE_SCALE_PARTIAL_BATCH] = value[FMHA_VALUE_STRIDE_TO_SCALE_BATCH] = 0;
    if (session->shared && one->share == SHARE_TENSOR)
        value[FMHA_VALUE_STRIDE_SCALE_PARTIAL_HEAD] = value[FMHA_VALUE_STRIDE_TO_SCALE_HEAD] = 0;
    return true;
}

/* ---- What a case has, and what must come of it --------------------------------------------------------------------
 */

static void work_free(struct work *work) {
    free(work->values);
    for (int side = 0; side < SIDES; side++) {
        free(work->given[side]);
        free(work->wanted[side]);
        free(work->got[side]);
    }
}

static int64_t count_of(const struct work *work, enum side side) {
    return array_count(&work->call.arrays[side]);
}

static bool make_room(struct work *work) {
    const struct session *session = work->session;
    int64_t count = count_of(work, FROM);
    work->values = calloc((size_t)count + 1, sizeof *work->values);
    bool done = work->values != NULL;
    for (enum side side = 0; done && side < SIDES; side++) {
        count = count_of(work, side);
        size_t room_for = (size_t)count + 1, size = element_bytes(session, side);
        bool output = is_output(session, side);
        void **room = output ? &work->got[side] : &work->given[side];
        if (output) /* of a scale that is not told, too */
            done = (work->wanted[side] = calloc(room_for, size)) != NULL;
        if (has(session, work->one, side))
            done = (*room = calloc(room_for, size)) != NULL && done;
    }
    return done || error_set(session->base.error, ERROR_RUN,
                             "no memory for %" PRId64 " elements; verify a smaller shape", count);
}

/* A row in four has bits of any kind. */
static void fill_values(struct work *work, uint64_t *seed) {
    const struct session *session = work->session;
    uint64_t of_row = 0;
    for (int64_t i = 0; i < count_of(work, FROM); i++) {
        of_row = i % session->columns ? of_row : inputs_next(seed) >> 8;
        uint64_t draw = inputs_next(seed);
        double number = append_number(of_row, draw, seed);
        if (session->f32) {
            float *given = work->given[FROM];
            given[i] = (float)number;
            if (of_row % 4 == 0)
                memcpy(&given[i], &(uint32_t){(uint32_t)(draw >> 32)}, sizeof *given);
            work->values[i] = given[i];
        } else {
            uint16_t *given = work->given[FROM];
            given[i] = of_row % 4 == 0 ? (uint16_t)(draw >> 48) : half_from_double(session->half, number);
            work->values[i] = half_to_float(session->half, given[i]);
        }
    }
}

/* Parts of which one is the scale and no other larger. */
static void fill_parts(struct work *work, uint64_t *seed) {
    const struct quantize_case *one = work->one;
    float *parts = work->given[SCALE_PARTIAL];
    for (int64_t i = 0; i < count_of(work, SCALE_PARTIAL); i += one->parts) {
        float scale = append_scale(i / one->parts, seed);
        for (int64_t part = 0; part < one->parts; part++)
            parts[i + part] = ldexpf(scale, -(int)(inputs_next(seed) >> 60));
        parts[i + (int64_t)(inputs_next(seed) >> 32) % one->parts] = scale;
    }
}

static float largest(const float *parts, int64_t count) {
    float most = parts[0];
    for (int64_t i = 1; i < count; i++)
        most = fmaxf(most, parts[i]);
    return most;
}

static void want_row(struct work *work, int64_t row, int64_t batch, int64_t head) {
    const struct session *session = work->session;
    const struct quantize_shape alone = {1, 1, 1, session->columns};
    const float *x = work->values + row * session->columns;
    uint8_t *to = (uint8_t *)work->wanted[TO] + row * session->columns / (session->fp4 ? 2 : 1);
    if (session->fp4) {
        int64_t scales = scales_of_row(session);
        quantize_mxfp4_row(session->rule, x, session->columns, to, (uint8_t *)work->wanted[TO_SCALE] + row * scales,
                           scales);
        return;
    }
    float *scales = work->wanted[TO_SCALE], *scale = scales + row;
    if (session->shared) {
        int64_t batches, heads;
        sharing(work->one, &batches, &heads);
        int64_t at = (batches == 1 ? 0 : batch) * heads + (heads == 1 ? 0 : head);
        scale = scales + at;
        *scale = largest((const float *)work->given[SCALE_PARTIAL] + at * work->one->parts, work->one->parts);
    } else
        quantize_fp8_choose(session->format, QUANTIZE_PER_TENSOR, alone, x, scale);
    quantize_fp8(session->format, QUANTIZE_PER_TENSOR, alone, x, scale, to);
}

static bool make_contents(struct work *work, uint64_t seed) {
    const struct session *session = work->session;
    const struct verify_quantize_shape *s = &work->one->shape;
    if (!make_room(work))
        return false;
    fill_values(work, &seed);
    if (session->shared && !session->scales)
        fill_parts(work, &seed);
    for (int64_t row = 0; !session->scales && row < s->batch * s->heads * s->seqlen; row++)
        want_row(work, row, row / s->seqlen / s->heads, row / s->seqlen % s->heads);
    return true;
}

/* ---- What came of it ----------------------------------------------------------------------------------------------
 */

static void judge_outputs(struct work *work, const char *when) {
    const struct session *session = work->session;
    for (enum side side = TO; side <= TO_SCALE; side++) {
        struct findings_tally tally = {&work->findings, 0};
        size_t size = element_bytes(session, side);
        for (int64_t i = 0; has(session, work->one, side) && i < count_of(work, side); i++) {
            uint32_t wanted = 0, got = 0;
            memcpy(&wanted, (const char *)work->wanted[side] + (size_t)i * size, size);
            memcpy(&got, (const char *)work->got[side] + (size_t)i * size, size);
            if (wanted != got && findings_tally(&tally))
                findings_add(&work->findings, "%s%s: expected 0x%02" PRIx32 ", got 0x%02" PRIx32 " at element %" PRId64,
                             sides[side].name, when, wanted, got, i);
        }
        findings_tally_end(&tally, "elements differ");
    }
}

/* Which part has which rows is the kernel's business: the largest is the scale, and no part is less than the least. */
static bool judge_parts(struct work *work, const char *when) {
    const struct session *session = work->session;
    const struct verify_quantize_shape *s = &work->one->shape;
    const struct quantize_shape shape = {s->batch, s->heads, s->seqlen, session->columns};
    enum quantize_share share = work->one->share == SHARE_TENSOR ? QUANTIZE_PER_TENSOR : QUANTIZE_PER_HEAD;
    int64_t count = quantize_scales(share, shape);
    float *scales = calloc((size_t)count + 1, sizeof *scales);
    if (!scales)
        return error_set(session->base.error, ERROR_RUN, "no memory for %" PRId64 " scales", count);
    quantize_fp8_choose(session->format, share, shape, work->values, scales);
    struct findings_tally tally = {&work->findings, 0};
    for (int64_t i = 0; i < count; i++) {
        const float *parts = (const float *)work->got[SCALE_PARTIAL] + i * work->one->parts;
        float got = largest(parts, work->one->parts), least = parts[0];
        for (int64_t part = 0; part < work->one->parts; part++)
            least = parts[part] >= least ? least : parts[part]; /* NaN too, which says that nothing was written */
        if ((got != scales[i] || !(least >= 0x1p-126f)) && findings_tally(&tally))
            findings_add(&work->findings,
                         "scale_partial%s: expected %a of parts of 2^-126 and up, got %a and %a of scale %" PRId64,
                         when, (double)scales[i], (double)got, (double)least, i);
    }
    findings_tally_end(&tally, "scales differ");
    free(scales);
    return true;
}

/* ---- Runs ---------------------------------------------------------------------------------------------------------
 */

static bool run_once(void *context, const char *when) {
    struct work *work = context;
    struct session *session = work->session;
    bool done = verify_session_launch(&session->base, &work->call, work->given, work->got, &work->findings);
    if (!done || count_of(work, FROM) == 0) /* without rows nothing is launched, and no scale told */
        return done;
    if (session->scales)
        return judge_parts(work, when);
    judge_outputs(work, when);
    return true;
}

static bool run_case(void *context, size_t index, struct verify_case *result) {
    struct session *session = context;
    struct work work = {.session = session, .one = &session->cases[index]};
    verify_session_begin(&session->base, index, work.one->what, "numbers", array_placing_name(work.one->placing),
                         result);
    result->quantize_shape = work.one->shape;
    bool done = name_call(session, work.one, &work.call) && make_contents(&work, result->seed) &&
                verify_session_schedules(&session->base, result, &work.findings, run_once, &work);
    work_free(&work);
    return verify_case_end(result, &work.findings, done, session->base.error);
}

/* ---- The whole ----------------------------------------------------------------------------------------------------
 */

static bool name_case(void *context, size_t index, struct verify_call *call) {
    const struct session *session = context;
    return name_call(session, &session->cases[index], call);
}

bool verify_quantize(const struct instance *instance, const struct verify_options *options,
                     const struct execute_options *execution, struct verify_report *report, struct error *error) {
    const struct spec *spec = &instance->spec;
    const char *to = spec_word(spec, SPEC_KV_DTYPE), *from = spec_word(spec, SPEC_FROM);
    struct session session = {
        .base = {.options = options, .instance = instance, .sides = sides, .side_count = SIDES, .error = error},
        .f32 = strcmp(from, "f32") == 0,
        .half = strcmp(from, "bf16") == 0 ? HALF_BF16 : HALF_F16,
        .fp4 = strcmp(to, "mxfp4") == 0,
        .scales = strcmp(spec_word(spec, SPEC_PASS), "scales") == 0,
        .rule = strcmp(spec_word(spec, SPEC_SCALE_RULE), "floor") == 0 ? QUANTIZE_FLOOR : QUANTIZE_THREE_QUARTERS,
        .columns = spec->value[SPEC_HEAD_DIM]};
    session.shared = !session.fp4 && strcmp(spec_word(spec, SPEC_KV_SCALE), "head") == 0;
    for (enum format format = FORMAT_E4M3; format <= FORMAT_E5M2FNUZ; format++)
        if (strcmp(to, format_name(format)) == 0)
            session.format = format;
    bool done = verify_session_options(&session.base, "quantize has no scores", "quantize has its own") &&
                list_cases(&session) && verify_session_serves(&session.base, name_case, &session) &&
                verify_session_run(&session.base, execution, report, run_case, &session);
    free(session.cases);
    return done;
}

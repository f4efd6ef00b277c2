#include "verify_merge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halves.h"
#include "merge.h"
#include "merge_cases.h"
#include "verify_count.h"
#include "verify_session.h"

/* What a kernel of this operation takes and gives. */
enum side { O_PARTIAL, LSE_PARTIAL, O, LSE, CU_SEQLENS, SEQLENS, SIDES };
static const struct verify_side sides[SIDES] = {{"o_partial", FMHA_BUFFER_O_PARTIAL},
                                                {"lse_partial", FMHA_BUFFER_LSE_PARTIAL},
                                                {"o", FMHA_BUFFER_O},
                                                {"lse", FMHA_BUFFER_LSE},
                                                {"cu_seqlens_q", FMHA_BUFFER_CU_SEQLENS_Q},
                                                {"seqlens_q", FMHA_BUFFER_SEQLENS_Q}};

/* Which rows the sequences of a batch have, as `varlen` says. */
enum rows { ROWS_ALL, ROWS_PACKED, ROWS_PADDED }; /* in the order of the words */

struct session {
    struct verify_session base;
    enum half_type type;
    bool f32; /* partial results are; else of the output's type */
    enum rows rows;
    struct merge_case *cases;
};

/* One merge: partial results on the host, and what a kernel made of them. */
struct merging {
    struct verify_merge_shape shape;
    float *lse;      /* [splits][rows] */
    float *o;        /* [splits][rows][head_dim], numbers that the partial results' type has */
    void *o_bits;    /* the same as the kernel gets them; NULL: o itself */
    uint16_t *got_o; /* [rows][head_dim] */
    float *got_lse;  /* [rows]; EXECUTE_POISON_F32 where the kernel had no such buffer */
};

struct work {
    struct session *session;
    const struct merge_case *one;
    struct verify_case *result;
    struct findings findings;
};

/* ---- Sequences ----------------------------------------------------------------------------------------------------
 */

/* Where sequence b begins in the rows of a packed batch: some before the first and behind the last one are of none. */
static int32_t begin_of(const struct merge_case *one, int64_t b) {
    int64_t first = one->shape.seqlen / 5, all = one->shape.seqlen - one->shape.seqlen / 7 - first;
    return (int32_t)(first + (one->sequences ? all * b / one->sequences : 0));
}

/* The length of sequence b of a padded batch: 0 and the longest are among them. */
static int32_t length_of(const struct merge_case *one, int64_t b) {
    int64_t longest = one->shape.seqlen;
    return (int32_t)(b % 3 == 2 ? 0 : b % 3 == 1 ? longest : longest - longest / 3);
}

/* The rows that batch b of the tensors has of sequences. */
static struct array_range owned_of(enum rows rows, const struct merge_case *one, int64_t b) {
    if (rows == ROWS_PACKED)
        return (struct array_range){begin_of(one, 0), begin_of(one, one->sequences)};
    return (struct array_range){0, rows == ROWS_PADDED ? length_of(one, b) : one->shape.seqlen};
}

static bool is_owned(enum rows rows, const struct merge_case *one, int64_t row) {
    int64_t seqlen = one->shape.seqlen;
    struct array_range owned = owned_of(rows, one, row / seqlen / one->shape.heads);
    return row % seqlen >= owned.begin && row % seqlen < owned.end;
}

/* ---- Cases --------------------------------------------------------------------------------------------------------
 */

static bool list_cases(struct session *session) {
    const struct verify_options *options = session->base.options;
    size_t asked = options->merge_shape_count, count = asked, kept = 0;
    session->cases =
        verify_session_room(&session->base, asked > MERGE_CASES_MAX ? asked : MERGE_CASES_MAX, sizeof *session->cases);
    if (!session->cases)
        return false;
    for (size_t index = 0; index < asked; index++) {
        struct merge_case *one = &session->cases[index];
        *one = (struct merge_case){.shape = options->merge_shapes[index], .two_steps = true};
        snprintf(one->what, sizeof one->what, "as asked for");
    }
    if (!asked)
        count = (size_t)merge_standing(session->base.instance->workgroup, session->cases);
    for (size_t index = 0; index < count; index++) {
        struct merge_case *one = &session->cases[index];
        one->sequences = one->shape.batch;
        one->shape.batch = session->rows == ROWS_PACKED ? 1 : one->shape.batch;
        if (verify_session_keeps(&session->base, &one->placing))
            session->cases[kept++] = *one;
    }
    session->base.case_count = kept;
    return true;
}

static bool lay_out(const struct session *session, const struct merge_case *one, const struct verify_merge_shape *shape,
                    struct verify_call *call) {
    const int64_t sizes[] = {shape->splits, shape->batch, shape->heads, shape->seqlen, shape->head_dim};
    for (enum side side = 0; side < SIDES; side++) {
        bool partial = side == O_PARTIAL || side == LSE_PARTIAL, is_o = side == O_PARTIAL || side == O;
        size_t size = side == O || (side == O_PARTIAL && !session->f32) ? 2 : 4;
        struct array *array = &call->arrays[side];
        *array = (struct array){.label = sides[side].name, .element_bytes = size, .dimensions = 1};
        int64_t alignment = is_o ? session->base.instance->spec.value[SPEC_ALIGN] / (int64_t)size : 1;
        alignment = alignment ? alignment : 1;
        struct array_layout layout = {.order = {0, 1, 2}};
        if (is_o)
            layout = array_place(one->placing, partial ? 5 : 4, alignment, partial ? 1 : 2, 2,
                                 partial ? one->far_axis : one->far_axis - 4);
        if (side <= LSE) {
            array->output = !partial;
            array->dimensions = 3 + partial + is_o;
            memcpy(array->shape, partial ? sizes : sizes + 1, (size_t)array->dimensions * sizeof *sizes);
        } else
            array->shape[0] = one->sequences + (side == CU_SEQLENS);
        char text[VERIFY_SHAPE_BYTES];
        if (!array_lay(array, &layout, alignment)) {
            verify_shape_text(sizes, 5, text);
            return verify_session_too_large(&session->base, text);
        }
    }
    return true;
}

static bool name_call(const struct session *session, const struct merge_case *one,
                      const struct verify_merge_shape *shape, struct verify_call *call) {
    if (!lay_out(session, one, shape, call))
        return false;
    call->operands = (struct fmha_operands){{0}, {0}, {0}};
    int64_t *value = call->operands.value;
    value[FMHA_VALUE_SPLITS] = shape->splits;
    value[FMHA_VALUE_BATCH] = one->sequences;
    value[FMHA_VALUE_HEADS_Q] = shape->heads;
    value[FMHA_VALUE_SEQLEN_Q] = value[FMHA_VALUE_TOKENS_Q] = shape->seqlen;
    value[FMHA_VALUE_HEAD_DIM_V] = shape->head_dim;
    memcpy(&value[FMHA_VALUE_STRIDE_O_PARTIAL_SPLIT], call->arrays[O_PARTIAL].strides, 4 * sizeof *value);
    memcpy(&value[FMHA_VALUE_STRIDE_O_BATCH], call->arrays[O].strides, 3 * sizeof *value);
    verify_shape_text((int64_t[]){shape->splits, one->sequences, shape->heads, shape->seqlen, shape->head_dim}, 5,
                      call->shape);
    return true;
}

static bool name_case(void *context, size_t index, struct verify_call *call) {
    const struct session *session = context;
    const struct merge_case *one = &session->cases[index];
    return name_call(session, one, &one->shape, call);
}

/* ---- One run ------------------------------------------------------------------------------------------------------
 */

static void merging_free(struct merging *merging) {
    free(merging->lse);
    free(merging->o);
    free(merging->o_bits);
    free(merging->got_o);
    free(merging->got_lse);
    *merging = (struct merging){.lse = NULL};
}

static int64_t rows_of(const struct verify_merge_shape *shape) {
    return shape->batch * shape->heads * shape->seqlen;
}

/* Room for the numbers of a merge. */
static bool merging_make(const struct session *session, const struct verify_merge_shape *shape,
                         struct merging *merging) {
    size_t rows = (size_t)rows_of(shape), all = rows * (size_t)shape->head_dim, splits = (size_t)shape->splits;
    *merging = (struct merging){.shape = *shape,
                                .lse = malloc((splits * rows + 1) * sizeof(float)),
                                .o = malloc((splits * all + 1) * sizeof(float)),
                                .o_bits = session->f32 ? NULL : malloc((splits * all + 1) * sizeof(uint16_t)),
                                .got_o = malloc((all + 1) * sizeof(uint16_t)),
                                .got_lse = malloc((rows + 1) * sizeof(float))};
    if (merging->lse && merging->o && (session->f32 || merging->o_bits) && merging->got_o && merging->got_lse)
        return true;
    merging_free(merging);
    return error_set(session->base.error, ERROR_RUN, "no memory for %zu numbers; verify a smaller shape", splits * all);
}

/* The partial O as the kernel gets them, and as numbers what it got. */
static void round_partials(const struct session *session, struct merging *merging) {
    int64_t count = merging->shape.splits * rows_of(&merging->shape) * merging->shape.head_dim;
    uint16_t *bits = merging->o_bits;
    for (int64_t i = 0; bits && i < count; i++) {
        bits[i] = half_from_float(session->type, merging->o[i]);
        merging->o[i] = half_to_float(session->type, bits[i]);
    }
}

/* The rows of each batch of the tensors that sequences have. */
static struct array_range *list_owned(const struct work *work) {
    int64_t batch = work->one->shape.batch;
    struct array_range *owned = malloc(((size_t)batch + 1) * sizeof *owned);
    for (int64_t b = 0; owned && b < batch; b++)
        owned[b] = owned_of(work->session->rows, work->one, b);
    if (!owned)
        error_set(work->session->base.error, ERROR_RUN, "no memory for the rows of %" PRId64 " sequences", batch);
    return owned;
}

/* What tells the kernel of sequences: where each begins or its length. NULL without memory. */
static int32_t *list_lengths(const struct work *work) {
    const struct merge_case *one = work->one;
    bool packed = work->session->rows == ROWS_PACKED;
    int64_t count = one->sequences + packed;
    int32_t *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    for (int64_t b = 0; numbers && b < count; b++)
        numbers[b] = packed ? begin_of(one, b) : length_of(one, b);
    if (!numbers)
        error_set(work->session->base.error, ERROR_RUN, "no memory for %" PRId64 " lengths", count);
    return numbers;
}

static bool run_kernel(struct work *work, struct merging *merging) {
    struct session *session = work->session;
    struct verify_call call;
    void *contents[SIDES] = {merging->o_bits ? merging->o_bits : merging->o, merging->lse};
    void *results[SIDES] = {[O] = merging->got_o, [LSE] = work->one->without_lse ? NULL : merging->got_lse};
    if (!name_call(session, work->one, &merging->shape, &call))
        return false;
    struct array_range *owned = NULL;
    int32_t *lengths = NULL;
    bool done = true;
    if (session->rows != ROWS_ALL) {
        call.arrays[O].owned = call.arrays[LSE].owned = owned = list_owned(work);
        contents[session->rows == ROWS_PACKED ? CU_SEQLENS : SEQLENS] = lengths = list_lengths(work);
        done = owned && lengths;
    }
    for (int64_t i = 0; i < rows_of(&merging->shape); i++)
        memcpy(&merging->got_lse[i], &(uint32_t){EXECUTE_POISON_F32}, sizeof(float));
    done = done && verify_session_launch(&session->base, &call, contents, results, &work->findings);
    free(lengths);
    free(owned);
    return done;
}

/* ---- What came of it ----------------------------------------------------------------------------------------------
 */

/* Where something was found, for people. */
static const char *put_place(const struct work *work, int64_t row, char text[96]) {
    const struct verify_merge_shape *shape = &work->one->shape;
    snprintf(text, 96, "batch %" PRId64 ", head %" PRId64 ", row %" PRId64, row / shape->seqlen / shape->heads,
             row / shape->seqlen % shape->heads, row % shape->seqlen);
    return text;
}

/* The neighbour of a number of the type in the direction of `o`, as a number; past the largest one infinity, which here
 * is the power of two that would come next. */
static double neighbour(enum half_type type, uint16_t bits, double o) {
    double number = half_to_double(type, bits);
    if (number == 0)
        return half_to_double(type, (uint16_t)(o < 0 ? 0x8001 : 0x0001));
    return half_to_double(type, (uint16_t)((o < number) == (number > 0) ? bits - 1 : bits + 1));
}

static double with_end(enum half_type type, double number) {
    return isinf(number) ? copysign(type == HALF_F16 ? 0x1p16 : 0x1p128, number) : number;
}

/* Rounding keeps the order of numbers, so what an element of O may be is what anything within `error` of `o` is rounded
 * to. Gives the least error that explains what was got, over `error`; above 1: wrong. */
static double judge_o(enum half_type type, double o, double error, bool exact, uint16_t got_bits) {
    double got = half_to_double(type, got_bits);
    uint16_t nearest = half_from_double(type, o);
    if (isnan(o))
        return isnan(got) ? 0 : INFINITY;
    if (got_bits == nearest || (got == half_to_double(type, nearest) && !exact))
        return 0;
    if (isnan(error) || isnan(got) || isinf(o))
        return isnan(error) && isnan(got) ? 0 : INFINITY;
    double edge = (with_end(type, got) + with_end(type, neighbour(type, got_bits, o))) / 2;
    return error > 0 ? fabs(edge - o) / error : INFINITY;
}

static double judge_lse(const struct merge_row *row, float got) {
    if (isnan(row->lse))
        return isnan(got) ? 0 : INFINITY;
    if (row->lse_error == 0) { /* of no or one partial result: its bits */
        float exact = (float)row->lse;
        return memcmp(&exact, &got, sizeof exact) == 0 ? 0 : INFINITY;
    }
    double error = fabs((double)got - row->lse) / row->lse_error;
    return isnan(error) ? INFINITY : error;
}

/* Rows against what is expected of them. */
struct judgement {
    struct work *work;
    const struct merging *merging; /* whose results */
    const char *when;
    struct findings_tally o, lse;
};

static void judge_row(struct judgement *judgement, int64_t row, const struct merge_row *expected, double *worst,
                      double *worst_lse) {
    struct work *work = judgement->work;
    const struct merging *merging = judgement->merging;
    enum half_type type = work->session->type;
    int64_t columns = merging->shape.head_dim;
    char place[96];
    if (!is_owned(work->session->rows, work->one, row)) { /* which the device sees to; a real one does not */
        for (int64_t d = 0; d < columns; d++)
            if (merging->got_o[row * columns + d] != EXECUTE_POISON && findings_tally(&judgement->o))
                findings_add(&work->findings, "o%s: written at %s, which no sequence has", judgement->when,
                             put_place(work, row, place));
        return;
    }
    for (int64_t d = 0; d < columns; d++) {
        uint16_t bits = merging->got_o[row * columns + d];
        double error = judge_o(type, expected->o[d], expected->o_error[d], expected->present < 2, bits);
        *worst = fmax(*worst, error);
        if (error > 1 && findings_tally(&judgement->o))
            findings_add(&work->findings, "o%s: expected %.9g within %.3g, got %.9g (0x%04x%s) at %s, column %" PRId64,
                         judgement->when, expected->o[d], expected->o_error[d], half_to_double(type, bits), bits,
                         bits == EXECUTE_POISON ? ", not written" : "", put_place(work, row, place), d);
    }
    if (work->one->without_lse)
        return;
    double error = judge_lse(expected, merging->got_lse[row]);
    *worst_lse = fmax(*worst_lse, error);
    if (error > 1 && findings_tally(&judgement->lse))
        findings_add(&work->findings, "lse%s: expected %.9g within %.3g, got %.9g at %s", judgement->when,
                     expected->lse, expected->lse_error, (double)merging->got_lse[row], put_place(work, row, place));
}

static void judgement_end(struct judgement *judgement) {
    findings_tally_end(&judgement->o, "elements of o differ");
    findings_tally_end(&judgement->lse, "elements of lse differ");
}

static struct merge_problem problem_of(const struct merging *merging) {
    return (struct merge_problem){merging->shape.splits, rows_of(&merging->shape), merging->shape.head_dim, merging->o,
                                  merging->lse};
}

/* Room for the results of one row; NULL without memory. */
static double *row_room(const struct work *work, int count, struct merge_row *rows) {
    size_t columns = (size_t)work->one->shape.head_dim;
    double *room = malloc((2 * columns * (size_t)count + 1) * sizeof *room);
    for (int i = 0; room && i < count; i++)
        rows[i] =
            (struct merge_row){.o = room + 2 * (size_t)i * columns, .o_error = room + (2 * (size_t)i + 1) * columns};
    if (!room)
        error_set(work->session->base.error, ERROR_RUN, "no memory for rows of %zu columns", columns);
    return room;
}

static bool judge(struct work *work, const struct merging *merging, const char *when) {
    struct judgement judgement = {.work = work, .merging = merging, .when = when};
    judgement.o.findings = judgement.lse.findings = &work->findings;
    const struct merge_problem problem = problem_of(merging);
    struct merge_row row;
    double *room = row_room(work, 1, &row), worst = 0, worst_lse = 0;
    if (!room)
        return false;
    for (int64_t i = 0; i < problem.rows; i++) {
        merge_row(&problem, i, &row);
        judge_row(&judgement, i, &row, &worst, &worst_lse);
    }
    judgement_end(&judgement);
    free(room);
    work->result->max_error_over_bound = fmax(work->result->max_error_over_bound, worst);
    if (!work->one->without_lse)
        work->result->lse_error_over_bound = fmax(work->result->lse_error_over_bound, worst_lse);
    return true;
}

/* ---- In two steps -------------------------------------------------------------------------------------------------
 */

/* Partial results 2 p and 2 p + 1 of `whole`, or the last alone. */
static bool take_pair(const struct session *session, const struct merging *whole, int64_t p, struct merging *pair) {
    struct verify_merge_shape shape = whole->shape;
    shape.splits = shape.splits - 2 * p < 2 ? 1 : 2;
    if (!merging_make(session, &shape, pair))
        return false;
    size_t rows = (size_t)(shape.splits * rows_of(&shape)), from = (size_t)(2 * p * rows_of(&shape));
    size_t columns = (size_t)shape.head_dim;
    memcpy(pair->lse, whole->lse + from, rows * sizeof(float));
    memcpy(pair->o, whole->o + from * columns, rows * columns * sizeof(float));
    round_partials(session, pair);
    return true;
}

/* How far the merged pair may be from what exact arithmetic gives, in `*lse_error` of all its rows and `o_error`
 * [rows][head_dim] after rounding. */
static bool pair_errors(const struct work *work, const struct merging *pair, double *lse_error, double *o_error) {
    enum half_type type = work->session->type;
    const struct merge_problem problem = problem_of(pair);
    struct merge_row row;
    double *room = row_room(work, 1, &row);
    for (int64_t i = 0; room && i < problem.rows; i++) {
        merge_row(&problem, i, &row);
        lse_error[i] = fmax(lse_error[i], row.lse_error);
        for (int64_t d = 0; d < problem.head_dim_v; d++) {
            double low = half_to_double(type, half_from_double(type, row.o[d] - row.o_error[d]));
            double high = half_to_double(type, half_from_double(type, row.o[d] + row.o_error[d]));
            o_error[i * problem.head_dim_v + d] = fmax(high - row.o[d], row.o[d] - low);
        }
    }
    free(room);
    return room != NULL;
}

/* What merging merged pairs may differ by from merging at once: the pairs' O are off by `o_error`, and their LSE by up
 * to lambda, which moves a weight by a factor between exp(-2 lambda) and exp(2 lambda); then the second merge's own
 * error, which `second` has. Where LSE are too large to be told apart both are means of the same numbers, the largest
 * of which is `most`. */
static double pairs_error(const struct merging *pairs, int64_t row, int64_t d, double lambda, const double *o_error,
                          double most, const struct merge_row *second) {
    int64_t rows = rows_of(&pairs->shape), columns = pairs->shape.head_dim;
    double moved = expm1(fmin(2 * lambda, 100)), of_weights = 0, of_pairs = 0;
    for (int64_t p = 0; p < pairs->shape.splits; p++) {
        double weight = exp((double)pairs->lse[p * rows + row] - second->lse);
        if (weight == 0)
            continue;
        of_weights += weight * moved * fabs((double)pairs->o[(p * rows + row) * columns + d]);
        of_pairs = fmax(of_pairs, o_error[(p * rows + row) * columns + d]);
    }
    return (fmin(of_weights, 2 * most) + of_pairs + second->o_error[d]) * (1 + 0x1p-6);
}

/* The largest magnitude among the partial results that have a weight. */
static double largest_of(const struct merging *all, int64_t row, int64_t d) {
    int64_t rows = rows_of(&all->shape), columns = all->shape.head_dim;
    double most = 0;
    for (int64_t s = 0; s < all->shape.splits; s++)
        if (all->lse[s * rows + row] != -INFINITY)
            most = fmax(most, fabs((double)all->o[(s * rows + row) * columns + d]));
    return most;
}

/* The second step's results against the reference of all partial results at once. */
static bool judge_two_steps(struct work *work, const struct merging *all, const struct merging *pairs,
                            const double *lse_error, const double *o_error) {
    struct judgement judgement = {.work = work, .merging = pairs, .when = " merged in two steps"};
    judgement.o.findings = judgement.lse.findings = &work->findings;
    const struct merge_problem problem = problem_of(all), second_problem = problem_of(pairs);
    struct merge_row rows[2];
    double *room = row_room(work, 2, rows), worst = 0, worst_lse = 0;
    if (!room)
        return false;
    for (int64_t i = 0; i < problem.rows; i++) {
        merge_row(&problem, i, &rows[0]);
        if (rows[0].present < 2) /* both steps must leave it as it is */
            continue;
        merge_row(&second_problem, i, &rows[1]);
        for (int64_t d = 0; d < problem.head_dim_v; d++)
            rows[0].o_error[d] = pairs_error(pairs, i, d, lse_error[i], o_error, largest_of(all, i, d), &rows[1]);
        rows[0].lse_error = (rows[1].lse_error + lse_error[i]) * (1 + 0x1p-6);
        judge_row(&judgement, i, &rows[0], &worst, &worst_lse);
    }
    judgement_end(&judgement);
    free(room);
    return true;
}

static bool run_pairs(struct work *work, const struct merging *all, struct merging *pairs, double *lse_error,
                      double *o_error) {
    const struct session *session = work->session;
    int64_t rows = rows_of(&all->shape), columns = all->shape.head_dim;
    bool done = true;
    for (int64_t p = 0; done && p < pairs->shape.splits; p++) {
        struct merging pair = {.lse = NULL};
        done = take_pair(session, all, p, &pair) && run_kernel(work, &pair) && judge(work, &pair, " of a pair") &&
               pair_errors(work, &pair, lse_error, o_error + p * rows * columns);
        for (int64_t i = 0; done && i < rows * columns; i++)
            pairs->o[p * rows * columns + i] = half_to_float(session->type, pair.got_o[i]);
        if (done)
            memcpy(pairs->lse + p * rows, pair.got_lse, (size_t)rows * sizeof(float));
        merging_free(&pair);
    }
    return done;
}

/* Pairs are merged, and then what came of them. */
static bool check_two_steps(struct work *work, const struct merging *all) {
    struct verify_merge_shape shape = all->shape;
    struct merging pairs;
    size_t rows = (size_t)rows_of(&shape), columns = (size_t)shape.head_dim;
    shape.splits = (shape.splits + 1) / 2;
    if (!merging_make(work->session, &shape, &pairs))
        return false;
    double *lse_error = calloc(rows + 1, sizeof *lse_error);
    double *o_error = calloc((size_t)shape.splits * rows * columns + 1, sizeof *o_error);
    bool done = lse_error && o_error;
    if (!done)
        error_set(work->session->base.error, ERROR_RUN, "no memory for bounds of %zu rows; verify a smaller shape",
                  rows);
    done = done && run_pairs(work, all, &pairs, lse_error, o_error);
    if (done) {
        round_partials(work->session, &pairs);
        done = run_kernel(work, &pairs) && judge(work, &pairs, " of merged pairs") &&
               judge_two_steps(work, all, &pairs, lse_error, o_error);
    }
    free(lse_error);
    free(o_error);
    merging_free(&pairs);
    return done;
}

/* ---- The whole ----------------------------------------------------------------------------------------------------
 */

struct first_step {
    struct work *work;
    struct merging *merging;
};

/* Each lane works for itself, so in any order of the waves the results are the same to the bit. */
static bool run_once(void *context, const char *when) {
    struct first_step *step = context;
    return run_kernel(step->work, step->merging) && judge(step->work, step->merging, when);
}

static bool run_case(void *context, size_t index, struct verify_case *result) {
    struct session *session = context;
    const struct merge_case *one = &session->cases[index];
    struct work work = {.session = session, .one = one, .result = result};
    struct merging merging;
    struct first_step step = {&work, &merging};
    verify_session_begin(&session->base, index, one->what, merge_inputs_name(one->inputs),
                         array_placing_name(one->placing), result);
    result->merge_shape = one->shape;
    result->merge_shape.batch = one->sequences;
    result->max_error_over_bound = 0;
    result->lse_error_over_bound = one->without_lse ? NAN : 0;
    if (!merging_make(session, &one->shape, &merging))
        return false;
    merge_inputs_make(one->inputs, one->shape.splits, rows_of(&one->shape), one->shape.head_dim,
                      session->type == HALF_F16 ? 65000 : 3.3e38, result->seed, merging.lse, merging.o);
    round_partials(session, &merging);
    bool done = verify_session_schedules(&session->base, result, &work.findings, run_once, &step) &&
                (!one->two_steps || work.findings.count || one->shape.splits < 2 || check_two_steps(&work, &merging)) &&
                verify_counters(&session->base.target, result, session->base.error); /* of later runs are dropped */
    merging_free(&merging);
    return verify_case_end(result, &work.findings, done, session->base.error);
}

bool verify_merge(const struct instance *instance, const struct verify_options *options,
                  const struct execute_options *execution, struct verify_report *report, struct error *error) {
    struct session session = {
        .base = {.options = options, .instance = instance, .sides = sides, .side_count = SIDES, .error = error},
        .type = strcmp(spec_word(&instance->spec, SPEC_DTYPE), "bf16") == 0 ? HALF_BF16 : HALF_F16,
        .f32 = strcmp(spec_word(&instance->spec, SPEC_PARTIAL), "f32") == 0,
        .rows = (enum rows)instance->spec.value[SPEC_VARLEN]};
    bool done = verify_session_options(&session.base, "merge has no scores", "each case of merge has its own") &&
                list_cases(&session) && verify_session_serves(&session.base, name_case, &session) &&
                verify_session_run(&session.base, execution, report, run_case, &session);
    free(session.cases);
    return done;
}

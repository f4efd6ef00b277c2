#include "verify.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execute.h"
#include "inputs.h"
#include "instance.h"
#include "native.h"
#include "standing.h"
#include "trial.h"
#include "user_modifier.h"
#include "verify_append.h"
#include "verify_count.h"
#include "verify_merge.h"
#include "verify_pack.h"
#include "verify_quantize.h"

static const char *const input_words[] = {[VERIFY_INPUTS_RANDOM] = "random",
                                          [VERIFY_INPUTS_UNBALANCED] = "unbalanced",
                                          [VERIFY_INPUTS_IMPULSE] = "impulse",
                                          [VERIFY_INPUTS_LARGE] = "large"};
static const enum input_kind input_kinds[] = {[VERIFY_INPUTS_RANDOM] = INPUT_RANDOM,
                                              [VERIFY_INPUTS_UNBALANCED] = INPUT_UNBALANCED,
                                              [VERIFY_INPUTS_IMPULSE] = INPUT_IMPULSE,
                                              [VERIFY_INPUTS_LARGE] = INPUT_LARGE};

void verify_options_init(struct verify_options *options) {
    *options = (struct verify_options){.seed = 1, .scale = NAN, .values = modifiers_values_none(), .schedules = 1};
}

bool verify_device_is_here(const char *device) {
    return !device || strncmp(device, "emu", 3) == 0 || strncmp(device, "isa", 3) == 0;
}

bool verify_inputs_parse(const char *word, enum verify_inputs *inputs) {
    for (int kind = VERIFY_INPUTS_RANDOM; kind <= VERIFY_INPUTS_LARGE; kind++)
        if (strcmp(word, input_words[kind]) == 0) {
            *inputs = (enum verify_inputs)kind;
            return true;
        }
    return false;
}

bool verify_layout_parse(const char *word, enum verify_layout *layout) {
    bool bshd = strcmp(word, "bshd") == 0;
    if (!bshd && strcmp(word, "bhsd") != 0)
        return false;
    *layout = bshd ? VERIFY_LAYOUT_BSHD : VERIFY_LAYOUT_BHSD;
    return true;
}

/* What is fixed for all cases of one instance. */
struct session {
    const struct verify_options *options;
    const struct instance *instance;
    enum reference_mask mask;
    enum half_type type;
    struct user_reference *user; /* of a modifier from outside, or NULL */
    struct standing_case *cases;
    size_t case_count;
    struct execute_target target;
    size_t current; /* the case under way */
    struct bound_bias random_cases;
    struct error *error;
};

static bool read_spec(struct session *session, struct error *error) {
    const struct spec *spec = &session->instance->spec;
    if (spec->value[SPEC_OP] != SPEC_OP_FORWARD && spec->value[SPEC_OP] != SPEC_OP_DECODE &&
        spec->value[SPEC_OP] != SPEC_OP_MLA)
        return error_set(error, ERROR_USAGE,
                         "verify: expected --op forward, decode, merge, pack, append, mla or quantize, got %s: no "
                         "reference is built for it",
                         spec_word(spec, SPEC_OP));
    const char *mask = spec_word(spec, SPEC_MASK);
    session->mask = strcmp(mask, "causal-bottom-right") == 0 ? REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT
                    : strcmp(mask, "causal-top-left") == 0   ? REFERENCE_MASK_CAUSAL_TOP_LEFT
                                                             : REFERENCE_MASK_NONE;
    session->type = strcmp(spec_word(spec, SPEC_DTYPE), "bf16") == 0 ? HALF_BF16 : HALF_F16;
    return true;
}

static struct reference_problem plain_problem(const struct session *session, const struct standing_case *one) {
    const int32_t *field = session->instance->spec.value;
    double scale = !isnan(session->options->scale) ? session->options->scale
                   : !isnan(one->scale)            ? one->scale
                                                   : 1 / sqrt((double)field[SPEC_HEAD_DIM]);
    return (struct reference_problem){.batch = one->shape.batch,
                                      .heads_q = one->shape.heads_q,
                                      .heads_k = one->shape.heads_k,
                                      .seqlen_q = one->shape.seqlen_q,
                                      .seqlen_k = one->shape.seqlen_k,
                                      .head_dim = field[SPEC_HEAD_DIM],
                                      .head_dim_v = field[SPEC_HEAD_DIM_V],
                                      .v_in_k = session->instance->spec.value[SPEC_OP] == SPEC_OP_MLA,
                                      .mask = session->mask,
                                      .scale = (double)(float)scale}; /* the kernel takes a float32 */
}

static uint64_t seed_of(const struct session *session, size_t index) {
    return session->options->seed + index;
}

/* `modifiers` must be freed on failure too. */
static bool make_problem(const struct session *session, size_t index, struct reference_problem *problem,
                         struct modifiers *modifiers, struct error *error) {
    const struct standing_case *one = &session->cases[index];
    struct modifiers_choice choice = one->modifiers;
    *problem = plain_problem(session, one);
    problem->splits = one->splits;
    if (session->user) {
        problem->modify = user_reference_score;
        problem->modify_context = session->user;
    }
    if (one->has_lengths) {
        choice.lengths_q = one->lengths_q;
        choice.lengths_k = one->lengths_k;
    }
    return modifiers_make(session->instance, &choice, seed_of(session, index), problem, modifiers, error);
}

static struct execute_request layouts_of(const struct session *session, size_t index) {
    const struct standing_case *one = &session->cases[index];
    return (struct execute_request){.q = one->q,
                                    .k = one->k,
                                    .v = one->v,
                                    .o = one->o,
                                    .planes = one->planes,
                                    .page_size = one->page_size,
                                    .page_seed = seed_of(session, index),
                                    .page_spare = one->page_spare,
                                    .splits = one->splits,
                                    .user = session->user};
}

/* Shapes that were asked for, each with random and with unbalanced inputs unless a kind was asked for too. */
static void list_shapes(struct session *session) {
    const struct verify_options *options = session->options;
    const enum input_kind kinds[] = {INPUT_RANDOM, INPUT_UNBALANCED};
    int kind_count = options->inputs == VERIFY_INPUTS_DEFAULT ? 2 : 1;
    int32_t fused = session->instance->spec.value[SPEC_GQA];
    session->case_count = 0;
    for (size_t index = 0; index < options->shape_count; index++)
        for (int kind = 0; kind < kind_count; kind++) {
            struct standing_case *one = &session->cases[session->case_count++];
            *one = (struct standing_case){.shape = options->shapes[index],
                                          .inputs = kinds[kind],
                                          .scale = NAN,
                                          .modifiers = modifiers_usual(kinds[kind], (unsigned)session->case_count),
                                          .page_size = 16};
            one->modifiers.lengths_q = options->lengths_q;
            one->modifiers.lengths_k = options->lengths_k;
            if (!one->shape.heads_q)
                one->shape.heads_q = fused > 1 ? fused : 1;
            snprintf(one->what, sizeof one->what, "as asked for");
        }
}

/* A real device has no such memory, and counting looks at each byte between. */
static bool can_be_far_apart(const struct verify_options *options) {
    return !options->count && verify_device_is_here(options->device);
}

static void drop_far_apart(struct session *session) {
    size_t kept = 0;
    for (size_t index = 0; index < session->case_count; index++)
        if (!session->cases[index].far_apart)
            session->cases[kept++] = session->cases[index];
    session->case_count = kept;
}

/* What was given takes the place of the case's own. */
static void take_values(const struct modifiers_values *given, struct modifiers_values *own) {
    if (given->window_left != MODIFIERS_OWN) {
        own->window_left = given->window_left;
        own->window_right = given->window_right;
    }
    if (given->sink_keys != MODIFIERS_OWN)
        own->sink_keys = given->sink_keys;
    if (given->prefix != MODIFIERS_OWN)
        own->prefix = given->prefix;
    if (!isnan(given->softcap))
        own->softcap = given->softcap;
    if (!isnan(given->dropout))
        own->dropout = given->dropout;
}

/* Of decoding: none, few, more than there are tiles. */
static void set_splits(struct session *session) {
    static const int64_t by_turns[] = {1, 2, 3, 5, 40};
    if (session->instance->spec.value[SPEC_OP] == SPEC_OP_FORWARD)
        return;
    for (size_t index = 0; index < session->case_count; index++)
        session->cases[index].splits = session->options->splits
                                           ? session->options->splits
                                           : by_turns[index % (sizeof by_turns / sizeof *by_turns)];
}

static bool list_cases(struct session *session, struct error *error) {
    const struct verify_options *options = session->options;
    size_t room = options->shape_count ? 2 * options->shape_count : STANDING_MAX;
    session->cases = calloc(room, sizeof *session->cases);
    if (!session->cases)
        return error_set(error, ERROR_RUN, "no memory for %zu cases; ask for fewer shapes", room);
    if (options->shape_count)
        list_shapes(session);
    else
        session->case_count = (size_t)standing_cases(session->instance, session->mask, session->cases);
    if (!can_be_far_apart(options))
        drop_far_apart(session);
    for (size_t index = 0; index < session->case_count; index++) {
        struct standing_case *one = &session->cases[index];
        take_values(&options->values, &one->modifiers.values);
        if (options->page_size)
            one->page_size = options->page_size;
        if (options->inputs != VERIFY_INPUTS_DEFAULT)
            one->inputs = input_kinds[options->inputs];
        if (options->layout != VERIFY_LAYOUT_DEFAULT) {
            enum tensor_order order = options->layout == VERIFY_LAYOUT_BSHD ? TENSOR_BSHD : TENSOR_BHSD;
            one->q.order = one->k.order = one->v.order = one->o.order = order;
        }
    }
    if (kv_cache_is_used(&session->instance->spec)) /* what a run quantizes is not what another one does */
        for (size_t index = 0; index < session->case_count; index++)
            session->cases[index].identity = STANDING_ALONE;
    set_splits(session);
    return true;
}

/* The kernel takes a float32, and multiplies it by log2 e. */
static bool check_scale(double scale, struct error *error) {
    const double largest = 2e38;
    if (isnan(scale) || scale == 0 || (fabs(scale) <= largest && fabs(scale) >= (double)FLT_MIN))
        return true;
    return error_set(error, ERROR_USAGE,
                     "scale %g: expected 0, or a float32 from %.3g to %.0e of either sign: kernels take a float32 and "
                     "multiply it by log2 e; choose a scale in between",
                     scale, (double)FLT_MIN, largest);
}

/* Whether the instance has what was given. */
static bool check_given(const struct session *session, struct error *error) {
    const struct verify_options *options = session->options;
    const char *name = session->instance->name;
    bool varlen = strcmp(spec_word(&session->instance->spec, SPEC_VARLEN), "none") != 0;
    bool paged = strcmp(spec_word(&session->instance->spec, SPEC_PAGED), "on") == 0;
    for (size_t index = 0; index < options->shape_count; index++)
        if (session->instance->spec.value[SPEC_OP] == SPEC_OP_MLA && options->shapes[index].heads_k != 1)
            return error_set(error, ERROR_USAGE,
                             "--shape: expected one key head, whose rows all query heads share, got %" PRId64
                             "; of --op mla it is B,HQ,1,SQ,SK",
                             options->shapes[index].heads_k);
    if (options->lengths_q && !varlen)
        return error_set(error, ERROR_USAGE,
                         "--q-lens: expected an instance whose queries have lengths, got %s; add --varlen", name);
    if (options->lengths_k && !varlen && !paged)
        return error_set(error, ERROR_USAGE,
                         "--k-lens: expected an instance whose keys have lengths, got %s; add --varlen or --paged",
                         name);
    return true;
}

/* Before anything runs: does the instance serve every case? */
static bool check_cases(const struct session *session, struct error *error) {
    float nowhere;
    if (!check_scale(session->options->scale, error) || !check_given(session, error))
        return false;
    for (size_t index = 0; index < session->case_count; index++) {
        struct reference_problem problem;
        struct modifiers modifiers;
        struct execute_request request = layouts_of(session, index);
        request.problem = &problem;
        request.lse = session->cases[index].without_lse ? NULL : &nowhere;
        bool served = make_problem(session, index, &problem, &modifiers, error) &&
                      execute_check(session->instance, &request, error);
        modifiers_free(&modifiers);
        if (!served)
            return false;
    }
    return true;
}

static bool instance_has_lse(const struct instance *instance) {
    for (int index = 0; index < instance->argument_count; index++)
        if (strcmp(instance->arguments[index].name, "lse") == 0)
            return true;
    return false;
}

/* One case under way: up to three runs of the kernel. */
struct work {
    struct session *session;
    const struct standing_case *one;
    struct verify_case *result;
    struct findings findings;
    bool with_lse;
    struct trial trials[3];
    int trial_count;
    int64_t part_lengths[3]; /* of the keys of each run, where it has lengths */
    struct error *error;
};

static void report_progress(void *context, const char *stage) {
    const struct work *work = context;
    const struct session *session = work->session;
    char what[128];
    if (!session->options->progress)
        return;
    snprintf(what, sizeof what, "%s: %s", work->one->what, stage);
    session->options->progress(session->options->progress_context, session->current, session->case_count, what);
}

static struct trial *next_trial(struct work *work, const struct reference_problem *problem) {
    struct trial *trial = &work->trials[work->trial_count];
    if (!trial_new(trial, problem, work->session->type, work->error))
        return NULL;
    trial->progress = report_progress;
    trial->progress_context = work;
    work->trial_count++;
    return trial;
}

/* The same with the waves in other orders. A run that has findings is not repeated: they would repeat too. */
static bool run_schedules(struct work *work, struct trial *trial, const struct execute_request *layouts) {
    const struct verify_options *options = work->session->options;
    struct execute_target *target = &work->session->target;
    for (int schedule = 1; schedule < options->schedules && !work->findings.count; schedule++) {
        char what[64];
        snprintf(what, sizeof what, "schedule %d", schedule + 1);
        if (!execute_seed(target, options->seed + (uint64_t)schedule, work->error) ||
            !trial_repeat(trial, target, layouts, work->with_lse, what, &work->findings, work->error))
            return false;
    }
    return execute_seed(target, options->seed, work->error);
}

static bool run_trial(struct work *work, struct trial *trial) {
    struct execute_request layouts = layouts_of(work->session, work->session->current);
    struct trial_errors errors;
    if (!trial_run(trial, &work->session->target, &layouts, work->with_lse, &work->findings, work->error) ||
        !verify_count(&work->session->target, &trial->problem, work->result, &work->findings, work->error) ||
        !run_schedules(work, trial, &layouts) ||
        (work->session->user && user_reference_failed(work->session->user, work->error)))
        return false;
    trial_compare(trial, work->with_lse, &errors, &work->findings);
    work->result->max_error_over_bound = fmax(work->result->max_error_over_bound, errors.output);
    work->result->lse_error_over_bound = fmax(work->result->lse_error_over_bound, errors.lse);
    return true;
}

static bool is_random(enum input_kind kind) {
    return kind == INPUT_RANDOM || kind == INPUT_NAN_VISIBLE || kind == INPUT_NAN_HIDDEN;
}

/* What the weights become before they meet V. */
static enum half_type weights_type(const struct session *session) {
    return native_has_bf16_weights(&session->instance->spec) ? HALF_BF16 : session->type;
}

/* The mean error is looked at in the first run: the others repeat its rows. */
static void check_mean(struct work *work, struct bound_bias *random_cases) {
    double mean, limit;
    if (is_random(work->one->inputs))
        bound_bias_merge(random_cases, &work->trials[0].bias_total);
    bound_bias_result(&work->trials[0].bias_total, weights_type(work->session), &mean, &limit);
    work->result->mean_error = mean;
    work->result->mean_error_over_bound = fabs(mean) / limit;
    if (fabs(mean) > limit)
        findings_add(&work->findings,
                     "mean error of O: expected at most %.3f half units in the last place, got %.3f: P or O may be "
                     "truncated where it must be rounded to nearest even",
                     limit, mean);
}

/* `got` against what an identity makes of another run, within both runs' bounds. */
static void check_identity(struct work *work, const char *what, double expected, double got, double bound,
                           struct findings_tally *tally, int64_t index) {
    double over = trial_error_over_bound(expected, got, bound);
    if (over > 1 && findings_tally(tally))
        findings_add(&work->findings, "identity '%s', %s element %" PRId64 ": expected %.7g within %.2g, got %.7g",
                     work->one->what, what, index, isnan(expected) ? (double)NAN : expected, bound,
                     isnan(got) ? (double)NAN : got);
}

/* Two runs give the same O, and LSEs that differ by `shift`. */
static void compare_runs(struct work *work, double shift) {
    const struct trial *a = &work->trials[0], *b = &work->trials[1];
    struct findings_tally tally = {&work->findings, 0}, lse_tally = {&work->findings, 0};
    for (int64_t index = 0; index < a->rows * a->problem.head_dim_v; index++)
        check_identity(work, "O", half_to_double(a->type, a->o[index]), half_to_double(b->type, b->o[index]),
                       a->bound[index] + b->bound[index], &tally, index);
    for (int64_t row = 0; work->with_lse && row < a->rows; row++)
        check_identity(work, "LSE", (double)a->lse[row] + shift, (double)b->lse[row],
                       a->lse_bound[row] + b->lse_bound[row], &lse_tally, row);
    findings_tally_end(&tally, "elements of O break the identity");
    findings_tally_end(&lse_tally, "elements of LSE break the identity");
}

static bool all_rows_see(const struct reference_problem *problem, int64_t key) {
    for (int64_t batch = 0; batch < problem->batch; batch++)
        for (int64_t head = 0; head < problem->heads_q; head++)
            for (int64_t query = 0; query < reference_seqlen_q(problem, batch); query++)
                if (!reference_sees(problem, batch, head, query, key))
                    return false;
    return true;
}

/* Columns that V has beside K. */
static int64_t own_columns_of_v(const struct reference_problem *problem) {
    return problem->v_in_k ? 0 : problem->head_dim_v;
}

static bool run_permuted(struct work *work, uint64_t seed) {
    struct trial *a = &work->trials[0], *b = next_trial(work, &a->problem);
    if (!b)
        return false;
    int64_t movable = 0;
    while (movable < a->problem.seqlen_k && all_rows_see(&a->problem, movable))
        movable++;
    int64_t head_dim = a->problem.head_dim, head_dim_v = own_columns_of_v(&a->problem), keys = a->problem.seqlen_k;
    int64_t *from = calloc((size_t)keys + 1, sizeof *from);
    if (!from)
        return error_set(work->error, ERROR_RUN, "no memory for %" PRId64 " keys", keys);
    for (int64_t key = 0; key < keys; key++)
        from[key] = key;
    for (int64_t key = movable - 1; key > 0; key--) { /* Fisher and Yates */
        int64_t other = (int64_t)(inputs_next(&seed) % (uint64_t)(key + 1)), kept = from[key];
        from[key] = from[other];
        from[other] = kept;
    }
    memcpy(b->q, a->q, (size_t)(a->rows * head_dim) * sizeof *a->q);
    for (int64_t head = 0; head < a->problem.batch * a->problem.heads_k; head++)
        for (int64_t key = 0; key < keys; key++) {
            memcpy(b->k + (head * keys + key) * head_dim, a->k + (head * keys + from[key]) * head_dim,
                   (size_t)head_dim * sizeof *a->k);
            memcpy(b->v + (head * keys + key) * head_dim_v, a->v + (head * keys + from[key]) * head_dim_v,
                   (size_t)head_dim_v * sizeof *a->v);
        }
    free(from);
    if (!run_trial(work, b))
        return false;
    compare_runs(work, 0);
    return true;
}

/* The first column of K is 1 throughout, that of Q 0 in one run and c in the other: scale * c is added to every score.
 */
static void set_first_columns(struct trial *trial, double of_q) {
    int64_t head_dim = trial->problem.head_dim;
    for (int64_t row = 0; row < trial->rows; row++)
        trial->q[row * head_dim] = half_from_double(trial->type, of_q);
    for (int64_t row = 0; row < trial->problem.batch * trial->problem.heads_k * trial->problem.seqlen_k; row++)
        trial->k[row * head_dim] = half_from_double(trial->type, 1);
}

static bool run_shifted(struct work *work) {
    const double added = 64;
    struct trial *a = &work->trials[0], *b = next_trial(work, &a->problem);
    if (!b)
        return false;
    int64_t keys = a->problem.batch * a->problem.heads_k * a->problem.seqlen_k;
    memcpy(b->q, a->q, (size_t)(a->rows * a->problem.head_dim) * sizeof *a->q);
    memcpy(b->k, a->k, (size_t)(keys * a->problem.head_dim) * sizeof *a->k);
    memcpy(b->v, a->v, (size_t)(keys * own_columns_of_v(&a->problem)) * sizeof *a->v);
    set_first_columns(b, added);
    if (!run_trial(work, b))
        return false;
    compare_runs(work, a->problem.scale * added);
    return true;
}

/* The plane from a column on. */
static void take_columns(struct reference_plane *plane, int64_t first, size_t element_bytes) {
    if (plane->values)
        plane->values = (const char *)plane->values + (size_t)first * element_bytes;
}

/* A run of the keys from `first` on, `count` of them: of a single sequence. */
static bool run_part(struct work *work, int64_t first, int64_t count) {
    const struct trial *whole = &work->trials[0];
    struct reference_problem problem = whole->problem;
    int64_t head_dim = problem.head_dim, head_dim_v = own_columns_of_v(&problem), keys = problem.seqlen_k;
    problem.seqlen_k = count;
    if (problem.lengths_k)
        problem.lengths_k = memcpy(&work->part_lengths[work->trial_count], &count, sizeof count);
    take_columns(&problem.bias, first, sizeof(double));
    take_columns(&problem.attn_mask, first, sizeof(uint8_t));
    struct trial *part = next_trial(work, &problem);
    if (!part)
        return false;
    memcpy(part->q, whole->q, (size_t)(whole->rows * head_dim) * sizeof *whole->q);
    for (int64_t head = 0; head < problem.batch * problem.heads_k; head++) {
        memcpy(part->k + head * count * head_dim, whole->k + (head * keys + first) * head_dim,
               (size_t)(count * head_dim) * sizeof *whole->k);
        memcpy(part->v + head * count * head_dim_v, whole->v + (head * keys + first) * head_dim_v,
               (size_t)(count * head_dim_v) * sizeof *whole->v);
    }
    return run_trial(work, part);
}

static bool run_split(struct work *work) {
    int64_t keys = work->trials[0].problem.seqlen_k, first = keys / 3;
    if (!run_part(work, 0, first) || !run_part(work, first, keys - first))
        return false;
    const struct trial *whole = &work->trials[0], *a = &work->trials[1], *b = &work->trials[2];
    struct findings_tally tally = {&work->findings, 0}, lse_tally = {&work->findings, 0};
    int64_t columns = whole->problem.head_dim_v;
    for (int64_t row = 0; work->with_lse && row < whole->rows; row++) {
        /* Weights from the two LSEs; each LSE may be off by its bound, so their ratio by the sum of both. */
        double difference = (double)b->lse[row] - (double)a->lse[row],
               lse_bound = a->lse_bound[row] + b->lse_bound[row];
        if (isnan(difference) && a->lse[row] == b->lse[row]) /* neither part has a key that the row sees */
            difference = 0;
        double weight_a = 1 / (1 + exp(difference)), weight_b = 1 - weight_a;
        double weight_bound = fmin(1, fmin(weight_a, weight_b) * expm1(lse_bound));
        for (int64_t index = row * columns; index < (row + 1) * columns; index++) {
            double o_a = half_to_double(a->type, a->o[index]), o_b = half_to_double(b->type, b->o[index]);
            double bound = weight_a * a->bound[index] + weight_b * b->bound[index] + weight_bound * fabs(o_a - o_b);
            check_identity(work, "O", weight_a * o_a + weight_b * o_b, half_to_double(whole->type, whole->o[index]),
                           bound + whole->bound[index], &tally, index);
        }
        double merged = fmax((double)a->lse[row], (double)b->lse[row]) + log1p(exp(-fabs(difference)));
        check_identity(work, "LSE", merged, (double)whole->lse[row],
                       fmax(a->lse_bound[row], b->lse_bound[row]) + whole->lse_bound[row], &lse_tally, row);
    }
    findings_tally_end(&tally, "elements of O break the identity");
    findings_tally_end(&lse_tally, "elements of LSE break the identity");
    return true;
}

static bool run_identity(struct work *work, uint64_t seed) {
    switch (work->one->identity) {
    case STANDING_ALONE:
        return true;
    case STANDING_PERMUTED:
        return run_permuted(work, seed);
    case STANDING_SPLIT:
        return run_split(work);
    case STANDING_SHIFTED:
        return run_shifted(work);
    }
    return true;
}

static void describe_layout(const struct standing_case *one, char *text, size_t text_bytes) {
    static const char *const orders[] = {[TENSOR_BSHD] = "bshd", [TENSOR_BHSD] = "bhsd"};
    bool padded = one->q.row_padding || one->q.head_padding || one->q.block_padding;
    snprintf(text, text_bytes, "%s%s%s%s", orders[one->q.order], one->v.order != one->q.order ? ", v " : "",
             one->v.order != one->q.order ? orders[one->v.order] : "", padded ? ", padded" : "");
}

/* A copy of lengths; NULL for NULL, and without memory. */
static int64_t *copy_lengths(const int64_t *lengths, int64_t batch) {
    int64_t *copy = lengths ? malloc(((size_t)batch + 1) * sizeof *copy) : NULL;
    if (copy)
        memcpy(copy, lengths, (size_t)batch * sizeof *copy);
    return copy;
}

/* What the kernel got: of modifiers that it does not have, nothing. */
static void describe_values(const struct session *session, const struct reference_problem *problem,
                            struct verify_case *result) {
    const struct spec *spec = &session->instance->spec;
    result->values = modifiers_values_none();
    if (problem->window) {
        result->values.window_left = problem->window_left;
        result->values.window_right = problem->window_right;
    }
    if (strcmp(spec_word(spec, SPEC_SINK_KEYS), "on") == 0)
        result->values.sink_keys = problem->sink_keys;
    if (strcmp(spec_word(spec, SPEC_SOFTCAP), "on") == 0)
        result->values.softcap = problem->softcap;
    if (strcmp(spec_word(spec, SPEC_DROPOUT), "on") == 0)
        result->values.dropout = problem->dropout;
    if (strcmp(spec_word(spec, SPEC_PAGED), "on") == 0)
        result->page_size = session->cases[session->current].page_size;
    result->prefix = copy_lengths(problem->prefix, problem->batch);
    result->lengths_q = copy_lengths(problem->lengths_q, problem->batch);
    result->lengths_k = copy_lengths(problem->lengths_k, problem->batch);
}

static void describe_case(const struct session *session, const struct reference_problem *problem, uint64_t seed,
                          struct verify_case *result) {
    const struct standing_case *one = &session->cases[session->current];
    *result = (struct verify_case){.shape = one->shape,
                                   .scale = problem->scale,
                                   .seed = seed,
                                   .lse_error_over_bound = NAN,
                                   .mean_error = NAN,
                                   .mean_error_over_bound = NAN};
    snprintf(result->what, sizeof result->what, "%s", one->what);
    snprintf(result->inputs, sizeof result->inputs, "%s", inputs_name(one->inputs));
    describe_layout(one, result->layout, sizeof result->layout);
    describe_values(session, problem, result);
}

static bool run_case(void *context, size_t index, struct verify_case *result) {
    struct session *session = context;
    struct error *error = session->error;
    const struct standing_case *one = &session->cases[index];
    struct reference_problem problem;
    struct modifiers modifiers;
    session->current = index;
    uint64_t seed = seed_of(session, index);
    if (!make_problem(session, index, &problem, &modifiers, error)) {
        modifiers_free(&modifiers);
        return false;
    }
    describe_case(session, &problem, seed, result);
    struct work work = {.session = session, .one = one, .result = result, .error = error};
    work.with_lse = !one->without_lse && instance_has_lse(session->instance);
    struct trial *trial = next_trial(&work, &problem);
    bool done = trial != NULL;
    if (done) {
        trial->seed = seed;
        inputs_make(one->inputs, &trial->problem, session->type, seed, trial->q, trial->k, trial->v);
        if (one->identity == STANDING_SHIFTED)
            set_first_columns(trial, 0);
        done = run_trial(&work, trial);
    }
    if (done) {
        check_mean(&work, &session->random_cases);
        done = run_identity(&work, seed);
    }
    for (int used = 0; used < work.trial_count; used++)
        trial_free(&work.trials[used]);
    modifiers_free(&modifiers);
    return verify_case_end(result, &work.findings, done, error);
}

static bool run_cases(struct session *session, struct verify_report *report, struct error *error) {
    double limit;
    session->error = error;
    if (!verify_report_run(report, session->case_count, session->options->fail_fast, run_case, session, error))
        return false;
    bound_bias_result(&session->random_cases, weights_type(session), &report->mean_error, &limit);
    report->mean_error_over_bound = fabs(report->mean_error) / limit;
    report->passed = report->passed && !(fabs(report->mean_error) > limit);
    return true;
}

static bool replace_text(struct instance *instance, const char *path, struct error *error) {
    char *bytes;
    size_t length;
    if (!file_read(path, &bytes, &length, error))
        return false;
    text_free(&instance->text);
    text_add(&instance->text, bytes, length);
    free(bytes);
    return !instance->text.failed || error_set(error, ERROR_RUN, "%s: no memory for %zu bytes", path, length);
}

static bool verify_attention(struct template_engine *engine, const struct instance *instance,
                             const struct verify_options *options, const struct execute_options *execution,
                             struct verify_report *report, struct error *error) {
    struct session session = {.options = options, .instance = instance};
    bool done = read_spec(&session, error) &&
                (!instance->spec.modifier_hash || user_reference_open(engine, instance, &session.user, error)) &&
                list_cases(&session, error) && check_cases(&session, error) &&
                execute_open(report->device, instance, execution, &session.target, error);
    if (done) {
        done = execute_seed(&session.target, options->seed, error) && run_cases(&session, report, error);
        execute_close(&session.target);
    }
    user_reference_free(session.user);
    free(session.cases);
    return done;
}

/* Whether the instance, of any operation, has what was given. */
static bool check_shared(const struct instance *instance, const struct verify_options *options, struct error *error) {
    const struct spec *spec = &instance->spec;
    const int32_t op = spec->value[SPEC_OP];
    const bool has_pages = spec_has(spec, SPEC_PAGED);
    if (options->splits && op != SPEC_OP_DECODE && op != SPEC_OP_MLA)
        return error_set(
            error, ERROR_USAGE,
            "--splits: expected --op decode or mla, whose workgroups may share the keys of a row, got --op "
            "%s; leave it out",
            spec_word(spec, SPEC_OP));
    if (options->page_size && (!has_pages || strcmp(spec_word(spec, SPEC_PAGED), "on") != 0))
        return error_set(error, ERROR_USAGE, "--page-size: expected an instance with pages, got %s; %s", instance->name,
                         has_pages ? "add --paged" : "leave it out");
    return true;
}

bool verify_run(struct template_engine *engine, const struct spec *spec, const struct verify_options *options,
                struct verify_report *report, struct error *error) {
    struct instance instance;
    *report = (struct verify_report){.operation = (enum spec_operation)spec->value[SPEC_OP]};
    if (!instance_emit(engine, spec, &instance, error))
        return false;
    snprintf(report->instance, sizeof report->instance, "%s", instance.name);
    if (options->device && strcmp(options->device, "isa") != 0)
        snprintf(report->device, sizeof report->device, "%s", options->device);
    else
        snprintf(report->device, sizeof report->device, "%s:%s", options->device ? "isa" : "emu", spec->arch);
    struct execute_options execution = {.without_checks = options->without_checks, .count = options->count};
    char *object = NULL;
    bool done = check_shared(&instance, options, error) &&
                (!options->source_path || replace_text(&instance, options->source_path, error)) &&
                (!options->object_path || file_read(options->object_path, &object, &execution.object_bytes, error));
    execution.object = object;
    if (done && report->operation == SPEC_OP_PACK)
        done = verify_pack(&instance, options, &execution, report, error);
    else if (done && report->operation == SPEC_OP_MERGE)
        done = verify_merge(&instance, options, &execution, report, error);
    else if (done && report->operation == SPEC_OP_APPEND)
        done = verify_append(&instance, options, &execution, report, error);
    else if (done && report->operation == SPEC_OP_QUANTIZE)
        done = verify_quantize(&instance, options, &execution, report, error);
    else if (done)
        done = verify_attention(engine, &instance, options, &execution, report, error);
    free(object);
    instance_free(&instance);
    if (!done)
        verify_report_free(report);
    return done;
}

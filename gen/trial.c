#include "trial.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double LN2 = 0.69314718055994531;

/* "nan" whatever its sign. */
static double shown(double value) {
    return isnan(value) ? (double)NAN : value;
}

static int64_t q_elements(const struct reference_problem *problem) {
    return problem->batch * problem->heads_q * problem->seqlen_q * problem->head_dim;
}

static int64_t k_elements(const struct reference_problem *problem) {
    return problem->batch * problem->heads_k * problem->seqlen_k * problem->head_dim;
}

static int64_t v_elements(const struct reference_problem *problem) {
    return problem->v_in_k ? 0 : problem->batch * problem->heads_k * problem->seqlen_k * problem->head_dim_v;
}

static int64_t rows_that_exist(const struct reference_problem *problem) {
    int64_t rows = 0;
    for (int64_t batch = 0; batch < problem->batch; batch++)
        rows += reference_seqlen_q(problem, batch) * problem->heads_q;
    return rows;
}

static void *allocate(int64_t count, size_t size) {
    return calloc((size_t)count + 1, size);
}

bool trial_new(struct trial *trial, const struct reference_problem *problem, enum half_type type, struct error *error) {
    int64_t rows = problem->batch * problem->heads_q * problem->seqlen_q, outputs = rows * problem->head_dim_v;
    int64_t q = q_elements(problem), k = k_elements(problem), v = v_elements(problem);
    *trial = (struct trial){.problem = *problem,
                            .type = type,
                            .rows = rows,
                            .q = allocate(q, sizeof(uint16_t)),
                            .k = allocate(k, sizeof(uint16_t)),
                            .v = allocate(v, sizeof(uint16_t)),
                            .o = allocate(outputs, sizeof(uint16_t)),
                            .lse = allocate(rows, sizeof(float)),
                            .values = allocate(q + k + v, sizeof(double)),
                            .expected = allocate(outputs, sizeof(double)),
                            .bound = allocate(outputs, sizeof(double)),
                            .lse_expected = allocate(rows, sizeof(double)),
                            .lse_bound = allocate(rows, sizeof(double)),
                            .bias = allocate(problem->batch * problem->heads_q, sizeof(struct bound_bias))};
    if (trial->q && trial->k && trial->v && trial->o && trial->lse && trial->values && trial->expected &&
        trial->bound && trial->lse_expected && trial->lse_bound && trial->bias) {
        trial->problem.q = trial->values;
        trial->problem.k = trial->values + q;
        trial->problem.v = trial->values + q + k;
        return true;
    }
    trial_free(trial);
    return error_set(error, ERROR_RUN,
                     "no memory for a reference of %" PRId64 " rows and %" PRId64 " keys; verify a smaller shape", rows,
                     problem->seqlen_k);
}

void trial_free(struct trial *trial) {
    free(trial->q);
    free(trial->k);
    free(trial->v);
    free(trial->o);
    free(trial->lse);
    free(trial->values);
    free(trial->expected);
    free(trial->bound);
    free(trial->lse_expected);
    free(trial->lse_bound);
    free(trial->bias);
    kv_cache_free(&trial->cache);
    *trial = (struct trial){0};
}

struct visit {
    struct trial *trial;
    atomic_bool out_of_memory, overflow;
    atomic_llong rows; /* visited */
    int64_t all_rows;  /* that will be */
};

static void tell(const struct trial *trial, const char *format, long long number) {
    char stage[64];
    if (!trial->progress)
        return;
    snprintf(stage, sizeof stage, format, number);
    trial->progress(trial->progress_context, stage);
}

/* Tells each second for how long the kernel has been running: a driver does not say how far it is. */
struct ticker {
    const struct trial *trial;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool has_ended;
};

static void *tick(void *context) {
    struct ticker *ticker = context;
    struct timespec until;
    long long seconds = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    pthread_mutex_lock(&ticker->mutex);
    while (!ticker->has_ended) {
        until.tv_sec++;
        while (!ticker->has_ended && pthread_cond_timedwait(&ticker->ended, &ticker->mutex, &until) == 0)
            continue;
        if (!ticker->has_ended)
            tell(ticker->trial, "kernel, %lld s", ++seconds);
    }
    pthread_mutex_unlock(&ticker->mutex);
    return NULL;
}

static bool run_kernel(const struct trial *trial, const struct execute_target *target,
                       const struct execute_request *request, struct findings *findings, struct error *error) {
    struct ticker ticker = {
        .trial = trial, .mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER, .has_ended = false};
    pthread_t thread;
    tell(trial, "kernel, %lld rows", rows_that_exist(&trial->problem));
    bool ticks = trial->progress && pthread_create(&thread, NULL, tick, &ticker) == 0;
    bool done = execute_run(target, request, findings, error);
    if (ticks) {
        pthread_mutex_lock(&ticker.mutex);
        ticker.has_ended = true;
        pthread_cond_signal(&ticker.ended);
        pthread_mutex_unlock(&ticker.mutex);
        pthread_join(thread, NULL);
    }
    return done;
}

/* The thread that visits the row which completes a hundredth tells so. */
static void tell_visited(struct visit *visit) {
    long long rows = atomic_fetch_add(&visit->rows, 1), percent = (rows + 1) * 100 / visit->all_rows;
    if (percent != rows * 100 / visit->all_rows)
        tell(visit->trial, "reference, %lld %%", percent);
}

/* Whether float32 holds the row's scores and their sums on the way, times log2 e. NaN and infinities of the inputs are
 * no overflow. */
static bool scores_fit(const struct reference_row *row) {
    for (int64_t j = 0; j < row->key_count; j++)
        if (isfinite(row->score_mass[j]) && row->score_mass[j] + row->added_mass[j] > (double)FLT_MAX * LN2)
            return false;
    return true;
}

/* While the reference holds a row's weights: its bounds, and its share of the mean error. */
static void visit_row(void *context, const struct reference_row *row) {
    struct visit *visit = context;
    struct trial *trial = visit->trial;
    int64_t head = row->batch * trial->problem.heads_q + row->head, columns = trial->problem.head_dim_v;
    int64_t index = head * trial->problem.seqlen_q + row->query;
    double *got = malloc((size_t)columns * sizeof *got);
    if (!scores_fit(row))
        atomic_store(&visit->overflow, true);
    tell_visited(visit);
    if (got && bound_row(trial->type, row, trial->problem.head_dim, columns, trial->bound + index * columns,
                         &trial->lse_bound[index])) {
        for (int64_t d = 0; d < columns; d++)
            got[d] = half_to_double(trial->type, trial->o[index * columns + d]);
        bound_bias_add(&trial->bias[head], row->problem->bf16_weights ? HALF_BF16 : trial->type, row, columns, got);
    } else {
        atomic_store(&visit->out_of_memory, true);
    }
    free(got);
}

/* As the kernel's matrix instructions see them. */
static double *to_values(const struct instance *instance, enum half_type type, const uint16_t *bits, int64_t count,
                         double *values) {
    for (int64_t index = 0; index < count; index++)
        values[index] =
            half_to_double(type, instance->flushes_subnormals ? half_flush(type, bits[index]) : bits[index]);
    return values + count;
}

static struct execute_request request_of(const struct trial *trial, const struct execute_request *layouts) {
    struct execute_request request = *layouts;
    request.problem = &trial->problem;
    request.q_bits = trial->q;
    request.k_bits = trial->k;
    request.v_bits = trial->v;
    request.cache = trial->cache.k.numbers ? &trial->cache : NULL;
    return request;
}

bool trial_run(struct trial *trial, const struct execute_target *target, const struct execute_request *layouts,
               bool with_lse, struct findings *findings, struct error *error) {
    const struct instance *instance = target->instance;
    const bool small = kv_cache_is_used(&instance->spec);
    if (small && !kv_cache_make(&instance->spec, &trial->problem, trial->type, trial->seed, trial->k, trial->v,
                                &trial->cache, error))
        return false;
    struct execute_request request = request_of(trial, layouts);
    request.o_bits = trial->o;
    request.lse = with_lse ? trial->lse : NULL;
    if (!execute_check(instance, &request, error) || !run_kernel(trial, target, &request, findings, error))
        return false;
    double *of_k = to_values(instance, trial->type, trial->q, q_elements(&trial->problem), trial->values);
    double *of_v = to_values(instance, trial->type, trial->k, k_elements(&trial->problem), of_k);
    to_values(instance, trial->type, trial->v, v_elements(&trial->problem), of_v);
    if (small)
        kv_cache_read(&instance->spec, &trial->cache, trial->type, instance->flushes_subnormals, of_k, of_v,
                      &trial->problem);
    if (small && !kv_cache_quantize_q(&instance->spec, &trial->cache, trial->values, &trial->problem, error))
        return false;
    struct visit visit = {.trial = trial, .all_rows = rows_that_exist(&trial->problem)};
    if (!reference_run(&trial->problem, trial->expected, trial->lse_expected, visit_row, &visit, 0, error))
        return false;
    if (atomic_load(&visit.overflow))
        return error_set(
            error, ERROR_USAGE,
            "scale %g: expected scores that float32 holds, up to %.3g once multiplied by log2 e, got larger "
            "ones from these inputs; choose a smaller scale or other inputs",
            trial->problem.scale, (double)FLT_MAX);
    if (atomic_load(&visit.out_of_memory))
        return error_set(error, ERROR_RUN, "no memory for the bounds of %" PRId64 " keys; verify a smaller shape",
                         trial->problem.seqlen_k);
    for (int64_t head = 0; head < trial->problem.batch * trial->problem.heads_q; head++)
        bound_bias_merge(&trial->bias_total, &trial->bias[head]);
    return true;
}

double trial_error_over_bound(double expected, double got, double bound) {
    if (isnan(expected) || (isinf(expected) && isnan(bound) && isnan(got)))
        return isnan(got) ? 0 : INFINITY;
    if (got == expected)
        return 0;
    if (!isfinite(expected) || !isfinite(got))
        return INFINITY;
    return bound > 0 ? fabs(got - expected) / bound : INFINITY;
}

struct place {
    int64_t batch, head, query;
};

static struct place place_of_row(const struct trial *trial, int64_t row) {
    int64_t head = row / trial->problem.seqlen_q;
    return (struct place){head / trial->problem.heads_q, head % trial->problem.heads_q, row % trial->problem.seqlen_q};
}

static bool exists(const struct trial *trial, struct place at) {
    return at.query < reference_seqlen_q(&trial->problem, at.batch);
}

static void compare_bits(const struct trial *trial, const uint16_t *o, const float *lse, const char *what,
                         struct findings *findings) {
    int64_t columns = trial->problem.head_dim_v, different = 0, first = -1;
    for (int64_t index = 0; index < trial->rows * columns; index++)
        if (o[index] != trial->o[index] && different++ == 0)
            first = index;
    if (different) {
        struct place at = place_of_row(trial, first / columns);
        findings_add(findings,
                     "%s: %" PRId64 " element%s of O differ%s from the first run's; O[batch %" PRId64 ", head %" PRId64
                     ", query %" PRId64 ", column %" PRId64 "] was %.6g, is %.6g: a race; look for a missing barrier",
                     what, different, different == 1 ? "" : "s", different == 1 ? "s" : "", at.batch, at.head, at.query,
                     first % columns, shown(half_to_double(trial->type, trial->o[first])),
                     shown(half_to_double(trial->type, o[first])));
    }
    for (int64_t row = 0; lse && row < trial->rows; row++)
        if (memcmp(&lse[row], &trial->lse[row], sizeof *lse) != 0) {
            struct place at = place_of_row(trial, row);
            findings_add(findings,
                         "%s: LSE differs from the first run's; LSE[batch %" PRId64 ", head %" PRId64 ", query %" PRId64
                         "] was %.7g, is %.7g: a race; look for a missing barrier",
                         what, at.batch, at.head, at.query, shown((double)trial->lse[row]), shown((double)lse[row]));
            break;
        }
}

bool trial_repeat(struct trial *trial, const struct execute_target *target, const struct execute_request *layouts,
                  bool with_lse, const char *what, struct findings *findings, struct error *error) {
    struct execute_request request = request_of(trial, layouts);
    request.o_bits = allocate(trial->rows * trial->problem.head_dim_v, sizeof *request.o_bits);
    float *lse = allocate(trial->rows, sizeof *lse);
    request.lse = with_lse ? lse : NULL;
    bool done = request.o_bits && lse ? execute_run(target, &request, findings, error)
                                      : error_set(error, ERROR_RUN, "no memory for %" PRId64 " rows", trial->rows);
    if (done)
        compare_bits(trial, request.o_bits, request.lse, what, findings);
    free(request.o_bits);
    free(lse);
    return done;
}

static void compare_output(const struct trial *trial, struct trial_errors *errors, struct findings *findings) {
    struct findings_tally unwritten = {findings, 0}, outside = {findings, 0};
    int64_t columns = trial->problem.head_dim_v;
    for (int64_t index = 0; index < trial->rows * columns; index++) {
        struct place at = place_of_row(trial, index / columns);
        if (!exists(trial, at))
            continue;
        if (trial->o[index] == EXECUTE_POISON) {
            errors->output = INFINITY;
            if (findings_tally(&unwritten))
                findings_add(findings,
                             "O[batch %" PRId64 ", head %" PRId64 ", query %" PRId64 ", column %" PRId64
                             "]: expected %.6g, was not written",
                             at.batch, at.head, at.query, index % columns, shown(trial->expected[index]));
            continue;
        }
        double got = half_to_double(trial->type, trial->o[index]);
        double over = trial_error_over_bound(trial->expected[index], got, trial->bound[index]);
        errors->output = fmax(errors->output, over);
        if (over > 1 && findings_tally(&outside))
            findings_add(findings,
                         "O[batch %" PRId64 ", head %" PRId64 ", query %" PRId64 ", column %" PRId64
                         "]: expected %.6g within %.2g, got %.6g",
                         at.batch, at.head, at.query, index % columns, shown(trial->expected[index]),
                         shown(trial->bound[index]), shown(got));
    }
    findings_tally_end(&unwritten, "elements of O were not written");
    findings_tally_end(&outside, "elements of O are outside their bounds");
}

static void compare_lse(const struct trial *trial, struct trial_errors *errors, struct findings *findings) {
    struct findings_tally unwritten = {findings, 0}, outside = {findings, 0};
    errors->lse = 0;
    for (int64_t row = 0; row < trial->rows; row++) {
        struct place at = place_of_row(trial, row);
        uint32_t bits;
        if (!exists(trial, at))
            continue;
        memcpy(&bits, &trial->lse[row], sizeof bits);
        if (bits == EXECUTE_POISON_F32) {
            errors->lse = INFINITY;
            if (findings_tally(&unwritten))
                findings_add(findings,
                             "LSE[batch %" PRId64 ", head %" PRId64 ", query %" PRId64
                             "]: expected %.7g, was not written",
                             at.batch, at.head, at.query, shown(trial->lse_expected[row]));
            continue;
        }
        double over = trial_error_over_bound(trial->lse_expected[row], (double)trial->lse[row], trial->lse_bound[row]);
        errors->lse = fmax(errors->lse, over);
        if (over > 1 && findings_tally(&outside))
            findings_add(findings,
                         "LSE[batch %" PRId64 ", head %" PRId64 ", query %" PRId64
                         "]: expected %.7g within %.2g, got %.7g",
                         at.batch, at.head, at.query, shown(trial->lse_expected[row]), shown(trial->lse_bound[row]),
                         shown((double)trial->lse[row]));
    }
    findings_tally_end(&unwritten, "elements of LSE were not written");
    findings_tally_end(&outside, "elements of LSE are outside their bounds");
}

void trial_compare(const struct trial *trial, bool with_lse, struct trial_errors *errors, struct findings *findings) {
    *errors = (struct trial_errors){.output = 0, .lse = NAN};
    compare_output(trial, errors, findings);
    if (with_lse)
        compare_lse(trial, errors, findings);
}

#include "reference.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sums run for a few keys (of a score) or columns (of an output) side by side; in each lane the order is the plain one.
 */
enum { LANES = 8, THREADS_MAX = 64 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lane_bits __attribute__((vector_size(LANES * sizeof(double))));

int64_t reference_visible_keys(enum reference_mask mask, int64_t query, int64_t seqlen_q, int64_t seqlen_k) {
    int64_t last = seqlen_k - 1;
    if (mask == REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT)
        last = query + (seqlen_k - seqlen_q);
    if (mask == REFERENCE_MASK_CAUSAL_TOP_LEFT)
        last = query;
    if (last > seqlen_k - 1)
        last = seqlen_k - 1;
    return last < 0 ? 0 : last + 1;
}

struct work {
    const struct reference_problem *problem;
    double *output, *lse;
    reference_visit visit;
    void *context;
    atomic_llong next_head; /* of batch * heads_q */
    atomic_bool out_of_memory;
};

/* K of one head as [seqlen_k / LANES][head_dim] lanes, V as [head_dim_v / LANES][seqlen_k] lanes, zeros in what is
 * padded, and one row's keys and columns. */
struct scratch {
    lanes *k_blocks, *v_blocks;
    lanes *score, *score_mass, *weight; /* of keys */
    lanes *output;                      /* of columns */
};

static int64_t blocks_of(int64_t length) {
    return (length + LANES - 1) / LANES;
}

static lanes *lanes_new(int64_t count) {
    size_t bytes = ((size_t)count + 1) * sizeof(lanes);
    lanes *blocks = aligned_alloc(sizeof(lanes), bytes);
    if (blocks)
        memset(blocks, 0, bytes);
    return blocks;
}

static void scratch_free(struct scratch *scratch) {
    free(scratch->k_blocks);
    free(scratch->v_blocks);
    free(scratch->score);
    free(scratch->score_mass);
    free(scratch->weight);
    free(scratch->output);
}

static bool scratch_new(struct scratch *scratch, const struct reference_problem *problem) {
    int64_t keys = blocks_of(problem->seqlen_k), columns = blocks_of(problem->head_dim_v);
    *scratch = (struct scratch){.k_blocks = lanes_new(keys * problem->head_dim),
                                .v_blocks = lanes_new(columns * problem->seqlen_k),
                                .score = lanes_new(keys),
                                .score_mass = lanes_new(keys),
                                .weight = lanes_new(keys),
                                .output = lanes_new(columns)};
    return scratch->k_blocks && scratch->v_blocks && scratch->score && scratch->score_mass && scratch->weight &&
           scratch->output;
}

static void pack_head(struct scratch *scratch, const struct reference_problem *problem, const double *k,
                      const double *v) {
    for (int64_t key = 0; key < problem->seqlen_k; key++) {
        for (int64_t d = 0; d < problem->head_dim; d++)
            scratch->k_blocks[key / LANES * problem->head_dim + d][key % LANES] = k[key * problem->head_dim + d];
        for (int64_t d = 0; d < problem->head_dim_v; d++)
            scratch->v_blocks[d / LANES * problem->seqlen_k + key][d % LANES] = v[key * problem->head_dim_v + d];
    }
}

static void row_scores(const struct scratch *scratch, const struct reference_problem *problem, const double *q,
                       int64_t key_count) {
    const lane_bits magnitude_bits = (lane_bits){0} + INT64_MAX;
    for (int64_t block = 0; block < blocks_of(key_count); block++) {
        const lanes *k = scratch->k_blocks + block * problem->head_dim;
        lanes dot = {0}, mass = {0};
        for (int64_t d = 0; d < problem->head_dim; d++) {
            lanes product = q[d] * k[d];
            dot += product;
            mass += (lanes)((lane_bits)product & magnitude_bits);
        }
        scratch->score[block] = problem->scale * dot;
        scratch->score_mass[block] = fabs(problem->scale) * mass;
    }
}

static void row_output(const struct scratch *scratch, const struct reference_problem *problem, const double *weight,
                       int64_t key_count) {
    for (int64_t block = 0; block < blocks_of(problem->head_dim_v); block++) {
        const lanes *v = scratch->v_blocks + block * problem->seqlen_k;
        lanes sum = {0};
        for (int64_t key = 0; key < key_count; key++)
            sum += weight[key] * v[key];
        scratch->output[block] = sum;
    }
}

/* softmax(score) over the keys that are seen; a NaN among them makes all of it NaN. */
static void row_softmax(struct reference_row *row, double *weight) {
    row->max = -INFINITY;
    for (int64_t key = 0; key < row->key_count; key++)
        if (isnan(row->score[key]) || row->score[key] > row->max)
            row->max = row->score[key]; /* once NaN, nothing compares greater */
    row->sum = 0;
    for (int64_t key = 0; key < row->key_count; key++) {
        weight[key] = exp(row->score[key] - row->max);
        row->sum += weight[key];
    }
    for (int64_t key = 0; key < row->key_count; key++)
        weight[key] /= row->sum;
    row->lse = row->key_count ? row->max + log(row->sum) : -INFINITY;
}

static void run_head(struct work *work, struct scratch *scratch, int64_t head_index) {
    const struct reference_problem *problem = work->problem;
    int64_t batch = head_index / problem->heads_q, head = head_index % problem->heads_q;
    int64_t head_k = batch * problem->heads_k + head / (problem->heads_q / problem->heads_k);
    const double *k = problem->k + head_k * problem->seqlen_k * problem->head_dim;
    const double *v = problem->v + head_k * problem->seqlen_k * problem->head_dim_v;
    pack_head(scratch, problem, k, v);
    for (int64_t query = 0; query < problem->seqlen_q; query++) {
        int64_t row_index = head_index * problem->seqlen_q + query;
        struct reference_row row = {
            .batch = batch,
            .head = head,
            .query = query,
            .key_count = reference_visible_keys(problem->mask, query, problem->seqlen_q, problem->seqlen_k),
            .q = problem->q + row_index * problem->head_dim,
            .v = v,
            .score = (const double *)scratch->score,
            .score_mass = (const double *)scratch->score_mass,
            .weight = (const double *)scratch->weight,
            .output = (const double *)scratch->output};
        row_scores(scratch, problem, row.q, row.key_count);
        row_softmax(&row, (double *)scratch->weight);
        row_output(scratch, problem, row.weight, row.key_count);
        memcpy(work->output + row_index * problem->head_dim_v, row.output,
               (size_t)problem->head_dim_v * sizeof(double));
        work->lse[row_index] = row.lse;
        if (work->visit)
            work->visit(work->context, &row);
    }
}

static void *run_heads(void *context) {
    struct work *work = context;
    struct scratch scratch;
    if (scratch_new(&scratch, work->problem)) {
        int64_t head_count = work->problem->batch * work->problem->heads_q, head;
        while ((head = atomic_fetch_add(&work->next_head, 1)) < head_count)
            run_head(work, &scratch, head);
    } else {
        atomic_store(&work->out_of_memory, true);
    }
    scratch_free(&scratch);
    return NULL;
}

bool reference_run(const struct reference_problem *problem, double *output, double *lse, reference_visit visit,
                   void *context, int threads, struct error *error) {
    struct work work = {.problem = problem, .output = output, .lse = lse, .visit = visit, .context = context};
    if (threads <= 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        threads = processors < 1 ? 1 : processors > THREADS_MAX ? THREADS_MAX : (int)processors;
    }
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > problem->batch * problem->heads_q)
        threads = (int)(problem->batch * problem->heads_q);
    /* The calling thread is one of them; a thread that cannot be started leaves its share to the others. */
    pthread_t started[THREADS_MAX];
    int started_count = 0;
    while (started_count < threads - 1 && pthread_create(&started[started_count], NULL, run_heads, &work) == 0)
        started_count++;
    run_heads(&work);
    for (int thread = 0; thread < started_count; thread++)
        pthread_join(started[thread], NULL);
    if (atomic_load(&work.out_of_memory))
        return error_set(error, ERROR_RUN, "reference: no memory for one head of %lld keys; verify a shorter shape",
                         (long long)problem->seqlen_k);
    return true;
}

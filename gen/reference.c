#include "reference.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "philox.h"

/* Sums run for a few keys (of a score) or columns (of an output) side by side; in each lane the order is the plain one.
 */
enum { LANES = 8, THREADS_MAX = 64 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lane_bits __attribute__((vector_size(LANES * sizeof(double))));

/* Of a float32 bias; below it the product with log2 e is minus infinity. */
static const double BIAS_HIDES = -(double)FLT_MAX * 0.69314718055994531;

int64_t reference_seqlen_q(const struct reference_problem *problem, int64_t batch) {
    return problem->lengths_q ? problem->lengths_q[batch] : problem->seqlen_q;
}

int64_t reference_seqlen_k(const struct reference_problem *problem, int64_t batch) {
    return problem->lengths_k ? problem->lengths_k[batch] : problem->seqlen_k;
}

/* The key that stands where the query does. */
static int64_t diagonal_of(const struct reference_problem *problem, int64_t batch, int64_t query) {
    if (problem->mask == REFERENCE_MASK_CAUSAL_TOP_LEFT)
        return query;
    return query + reference_seqlen_k(problem, batch) - reference_seqlen_q(problem, batch);
}

static int64_t plane_index(const struct reference_plane *plane, int64_t batch, int64_t head, int64_t row,
                           int64_t column) {
    return batch * plane->stride_batch + head * plane->stride_head + row * plane->stride_row + column;
}

static double bias_of(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query,
                      int64_t key) {
    const double *values = problem->bias.values;
    return values ? values[plane_index(&problem->bias, batch, head, query, key)] : 0;
}

static struct reference_place place_of(const struct reference_problem *problem, int64_t batch, int64_t head,
                                       int64_t query, int64_t key) {
    return (struct reference_place){
        batch, head, query, key, reference_seqlen_q(problem, batch), reference_seqlen_k(problem, batch)};
}

/* Each rule hides a key on its own, but for the exemptions that it names. */
bool reference_sees(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query, int64_t key) {
    if (query < 0 || query >= reference_seqlen_q(problem, batch) || key < 0 ||
        key >= reference_seqlen_k(problem, batch))
        return false;
    int64_t diagonal = diagonal_of(problem, batch, query);
    bool in_prefix = problem->prefix && key < problem->prefix[batch];
    if (problem->mask != REFERENCE_MASK_NONE && key > diagonal && !in_prefix)
        return false;
    if (problem->window && problem->window_right >= 0 && key > diagonal + problem->window_right && !in_prefix)
        return false;
    if (problem->window && problem->window_left >= 0 && key < diagonal - problem->window_left &&
        key >= problem->sink_keys)
        return false;
    const uint8_t *attn_mask = problem->attn_mask.values, *block_mask = problem->block_mask.values;
    if (attn_mask && !attn_mask[plane_index(&problem->attn_mask, batch, head, query, key)])
        return false;
    if (block_mask && !block_mask[plane_index(&problem->block_mask, batch, head, query / problem->block_mask_q,
                                              key / problem->block_mask_k)])
        return false;
    if (bias_of(problem, batch, head, query, key) <= BIAS_HIDES)
        return false;
    if (problem->modify) {
        struct reference_place place = place_of(problem, batch, head, query, key);
        return problem->modify(problem->modify_context, 0, &place) != -INFINITY;
    }
    return true;
}

bool reference_sees_some(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query,
                         int64_t queries, int64_t key, int64_t keys) {
    int64_t query_end = query + queries, key_end = key + keys;
    if (query_end > reference_seqlen_q(problem, batch))
        query_end = reference_seqlen_q(problem, batch);
    if (key_end > reference_seqlen_k(problem, batch))
        key_end = reference_seqlen_k(problem, batch);
    for (int64_t i = query; i < query_end; i++)
        for (int64_t j = key; j < key_end; j++)
            if (reference_sees(problem, batch, head, i, j))
                return true;
    return false;
}

/* One call of Philox serves eight neighbouring keys, 16 bits each, the lower half of a word first. */
bool reference_keeps(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query, int64_t key) {
    const uint32_t philox_key[2] = {(uint32_t)problem->dropout_seed, (uint32_t)(problem->dropout_seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)(key / 8), (uint32_t)query, (uint32_t)(batch * problem->heads_q + head),
                                 (uint32_t)problem->dropout_offset};
    uint32_t words[4];
    philox(counter, philox_key, words);
    uint32_t bits = words[key % 8 / 2] >> (key % 2 ? 16 : 0) & 0xffff;
    return bits >= floor(problem->dropout * 65536 + 0.5);
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
    lanes *dot, *dot_mass; /* by key number */
    lanes *output;         /* of columns */
    /* by position among the keys that the row sees */
    int64_t *key;
    double *scaled, *score_mass, *added_mass, *unmodified, *score, *weight, *share;
    bool *kept;
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
    free(scratch->dot);
    free(scratch->dot_mass);
    free(scratch->output);
    free(scratch->key);
    free(scratch->scaled);
    free(scratch->kept);
}

static bool scratch_new(struct scratch *scratch, const struct reference_problem *problem) {
    int64_t keys = problem->seqlen_k, blocks = blocks_of(keys), columns = blocks_of(problem->head_dim_v);
    size_t count = (size_t)keys + 1;
    double *values = malloc(7 * count * sizeof *values);
    *scratch = (struct scratch){.k_blocks = lanes_new(blocks * problem->head_dim),
                                .v_blocks = lanes_new(columns * keys),
                                .dot = lanes_new(blocks),
                                .dot_mass = lanes_new(blocks),
                                .output = lanes_new(columns),
                                .key = malloc(count * sizeof *scratch->key),
                                .scaled = values,
                                .kept = malloc(count * sizeof *scratch->kept)};
    if (!scratch->k_blocks || !scratch->v_blocks || !scratch->dot || !scratch->dot_mass || !scratch->output ||
        !scratch->key || !values || !scratch->kept)
        return false;
    scratch->score_mass = values + count;
    scratch->added_mass = values + 2 * count;
    scratch->unmodified = values + 3 * count;
    scratch->score = values + 4 * count;
    scratch->weight = values + 5 * count;
    scratch->share = values + 6 * count;
    return true;
}

static void pack_head(struct scratch *scratch, const struct reference_problem *problem, const double *k,
                      const double *v, int64_t v_stride) {
    for (int64_t key = 0; key < problem->seqlen_k; key++) {
        for (int64_t d = 0; d < problem->head_dim; d++)
            scratch->k_blocks[key / LANES * problem->head_dim + d][key % LANES] = k[key * problem->head_dim + d];
        for (int64_t d = 0; d < problem->head_dim_v; d++)
            scratch->v_blocks[d / LANES * problem->seqlen_k + key][d % LANES] = v[key * v_stride + d];
    }
}

static int64_t row_keys(const struct reference_problem *problem, int64_t batch, int64_t head, int64_t query,
                        int64_t *key) {
    int64_t count = 0;
    for (int64_t j = 0; j < problem->seqlen_k; j++)
        if (reference_sees(problem, batch, head, query, j))
            key[count++] = j;
    return count;
}

/* q.k in blocks of keys: those that have a key which the row sees. */
static void row_dots(const struct scratch *scratch, const struct reference_row *row) {
    const lane_bits magnitude_bits = (lane_bits){0} + INT64_MAX;
    int64_t head_dim = row->problem->head_dim, done = -1;
    for (int64_t j = 0; j < row->key_count; j++) {
        int64_t block = row->key[j] / LANES;
        if (block == done)
            continue;
        const lanes *k = scratch->k_blocks + block * head_dim;
        lanes dot = {0}, mass = {0};
        for (int64_t d = 0; d < head_dim; d++) {
            lanes product = row->q[d] * k[d];
            dot += product;
            mass += (lanes)((lane_bits)product & magnitude_bits);
        }
        scratch->dot[block] = dot;
        scratch->dot_mass[block] = mass;
        done = block;
    }
}

/* From q.k to the score, one key after another. */
static void row_scores(const struct scratch *scratch, const struct reference_row *row) {
    const struct reference_problem *problem = row->problem;
    const double *dot = (const double *)scratch->dot, *dot_mass = (const double *)scratch->dot_mass;
    double scale = problem->scale * (problem->head_scale ? problem->head_scale[row->head] : 1);
    double slope = problem->alibi ? problem->alibi[row->batch * problem->heads_q + row->head] : 0;
    int64_t diagonal = diagonal_of(problem, row->batch, row->query);
    for (int64_t j = 0; j < row->key_count; j++) {
        int64_t key = row->key[j];
        double score = scale * dot[key], added = 0;
        scratch->scaled[j] = score;
        scratch->score_mass[j] = fabs(scale) * dot_mass[key];
        if (problem->softcap > 0)
            score = problem->softcap * tanh(score / problem->softcap);
        if (problem->alibi) {
            double distance = fabs((double)(diagonal - key));
            score += -slope * distance;
            added += fabs(slope) * distance;
        }
        if (problem->bias.values) {
            double bias = bias_of(problem, row->batch, row->head, row->query, key);
            score += bias;
            added += fabs(bias);
        }
        scratch->added_mass[j] = added;
        scratch->unmodified[j] = score;
        if (problem->modify) {
            struct reference_place place = place_of(problem, row->batch, row->head, row->query, key);
            score = problem->modify(problem->modify_context, score, &place);
        }
        scratch->score[j] = score;
    }
}

/* softmax(score) over the keys that are seen, and the sink; a NaN among them makes all of it NaN. */
static void row_softmax(const struct scratch *scratch, struct reference_row *row) {
    row->max = row->sink;
    for (int64_t j = 0; j < row->key_count; j++)
        if (isnan(row->score[j]) || row->score[j] > row->max)
            row->max = row->score[j]; /* once NaN, nothing compares greater */
    row->sum = row->sink == -INFINITY ? 0 : exp(row->sink - row->max);
    for (int64_t j = 0; j < row->key_count; j++) {
        scratch->weight[j] = exp(row->score[j] - row->max);
        row->sum += scratch->weight[j];
    }
    for (int64_t j = 0; j < row->key_count; j++)
        scratch->weight[j] /= row->sum;
    row->lse = row->key_count || row->sink != -INFINITY ? row->max + log(row->sum) : -INFINITY;
}

static void row_dropout(const struct scratch *scratch, struct reference_row *row) {
    const struct reference_problem *problem = row->problem;
    bool drops = problem->dropout > 0;
    row->kept = drops ? scratch->kept : NULL;
    row->keep_factor = 1 / (1 - problem->dropout);
    for (int64_t j = 0; j < row->key_count; j++) {
        scratch->kept[j] = !drops || reference_keeps(problem, row->batch, row->head, row->query, row->key[j]);
        scratch->share[j] = scratch->kept[j] ? row->weight[j] * row->keep_factor : 0;
    }
}

/* Of a key whose weight was dropped. */
static void add_not_finite(lanes *sum, const lanes *v) {
    for (int lane = 0; lane < LANES; lane++)
        if (!isfinite((*v)[lane]))
            (*sum)[lane] += (*v)[lane];
}

static void row_output(const struct scratch *scratch, const struct reference_row *row) {
    for (int64_t block = 0; block < blocks_of(row->problem->head_dim_v); block++) {
        const lanes *v = scratch->v_blocks + block * row->problem->seqlen_k;
        lanes sum = {0};
        for (int64_t j = 0; j < row->key_count; j++)
            if (scratch->kept[j])
                sum += scratch->share[j] * v[row->key[j]];
            else
                add_not_finite(&sum, &v[row->key[j]]);
        scratch->output[block] = sum;
    }
}

static void run_head(struct work *work, struct scratch *scratch, int64_t head_index) {
    const struct reference_problem *problem = work->problem;
    int64_t batch = head_index / problem->heads_q, head = head_index % problem->heads_q;
    int64_t head_k = batch * problem->heads_k + head / (problem->heads_q / problem->heads_k);
    const double *k = problem->k + head_k * problem->seqlen_k * problem->head_dim;
    const double *v = problem->v_in_k ? k : problem->v + head_k * problem->seqlen_k * problem->head_dim_v;
    int64_t v_stride = problem->v_in_k ? problem->head_dim : problem->head_dim_v;
    pack_head(scratch, problem, k, v, v_stride);
    for (int64_t query = 0; query < reference_seqlen_q(problem, batch); query++) {
        int64_t row_index = head_index * problem->seqlen_q + query;
        struct reference_row row = {.problem = problem,
                                    .batch = batch,
                                    .head = head,
                                    .query = query,
                                    .key_count = row_keys(problem, batch, head, query, scratch->key),
                                    .key = scratch->key,
                                    .q = problem->q + row_index * problem->head_dim,
                                    .v = v,
                                    .v_stride = v_stride,
                                    .scaled = scratch->scaled,
                                    .score_mass = scratch->score_mass,
                                    .added_mass = scratch->added_mass,
                                    .unmodified = scratch->unmodified,
                                    .score = scratch->score,
                                    .weight = scratch->weight,
                                    .sink = problem->sink ? problem->sink[head] : -INFINITY,
                                    .output = (const double *)scratch->output};
        row_dots(scratch, &row);
        row_scores(scratch, &row);
        row_softmax(scratch, &row);
        row_dropout(scratch, &row);
        row_output(scratch, &row);
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

#include "decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "split_keys.h"
#include "tools.h"

/* A device that measures time runs many calls in a row, on caches of which none is what the last calls left near the
 * processors. */
#define CACHE_BYTES (1 << 29) /* of all caches together at least */
#define ROW_US      20000.0   /* of a row at least */
enum { CACHES_MAX = 64, CALLS_MAX = 4000 };

struct decoding {
    fmha_device *device;
    fmha_decode_problem problem[CACHES_MAX]; /* they differ in K and V */
    int caches, calls;                       /* calls of a row */
    struct fmha_split_plans plans;           /* of the first */
};

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Mean of a row of calls, from the first one's begin to the last one's end. */
static double time_calls(const struct decoding *d, int calls) {
    bench_must(fmha_device_synchronize(d->device, NULL));
    double begin = now_us();
    for (int i = 0; i < calls; i++) {
        bench_must(fmha_decode(d->device, &d->problem[i % d->caches]));
    }
    bench_must(fmha_device_synchronize(d->device, NULL));
    return (now_us() - begin) / calls;
}

static void begin(const struct bench *bench, fmha_device *device, long long splits, const struct bench_row *row,
                  struct decoding *d) {
    uint64_t random = 1;
    const int64_t one[4] = {row->batch, row->heads_q, 1, row->head_dim};
    const int64_t cache[4] = {row->batch, row->heads_k, row->length, row->head_dim};
    const double bytes = row->figure[SERIES_DECODE].bytes;
    fmha_decode_problem p = FMHA_DECODE_PROBLEM_INIT;
    p.dtype = strcmp(row->dtype, "f16") == 0 ? FMHA_DTYPE_F16 : FMHA_DTYPE_BF16;
    p.head_dim = row->head_dim;
    p.scale = (float)(1 / sqrt(row->head_dim));
    p.batch = row->batch;
    p.heads_q = row->heads_q;
    p.heads_k = row->heads_k;
    p.seqlen_q = 1;
    p.seqlen_k = row->length;
    p.splits = splits;
    p.q = bench_tensor(device, "q", one, p.dtype, &random);
    p.o = bench_tensor(device, "o", one, p.dtype, NULL);
    bench_must(fmha_decode_workspace_bytes(device, &p, &p.workspace_bytes));
    if (p.workspace_bytes > 0) {
        bench_must(fmha_memory_alloc(device, p.workspace_bytes, "workspace", &p.workspace));
    }
    *d = (struct decoding){.device = device, .caches = 1};
    if (bench_is_time(bench)) {
        d->caches = bytes * CACHES_MAX < CACHE_BYTES ? CACHES_MAX : (int)ceil(CACHE_BYTES / bytes);
    }
    for (int i = 0; i < d->caches; i++) {
        d->problem[i] = p;
        d->problem[i].k = bench_tensor(device, "k", cache, p.dtype, &random);
        d->problem[i].v = bench_tensor(device, "v", cache, p.dtype, &random);
    }
    bench_must(fmha_decode_plan(device, &d->problem[0], &d->plans));
    if (bench_is_time(bench)) {
        double calls = ROW_US / fmax(time_calls(d, d->caches), 1);
        d->calls = (int)fmin(fmax(ceil(calls), d->caches), CALLS_MAX);
    }
}

static void end(struct decoding *d) {
    void *const shared[] = {d->problem[0].q.data, d->problem[0].o.data, d->problem[0].workspace};
    for (int i = 0; i < d->caches; i++) {
        bench_must(fmha_memory_free(d->device, d->problem[i].k.data));
        bench_must(fmha_memory_free(d->device, d->problem[i].v.data));
    }
    for (size_t i = 0; i < 3; i++) {
        if (shared[i] != NULL) {
            bench_must(fmha_memory_free(d->device, shared[i]));
        }
    }
}

/* O of the first cache, as it is and by a single split. */
static double difference(const struct decoding *d, const struct bench_row *row) {
    const size_t count = (size_t)(row->batch * row->heads_q * row->head_dim);
    fmha_decode_problem whole = d->problem[0];
    whole.splits = 1;
    bench_clear(d->device, whole.o.data, count);
    bench_must(fmha_decode(d->device, &whole));
    bench_must(fmha_device_synchronize(d->device, NULL));
    float *expected = bench_read(d->device, whole.o.data, count, whole.dtype);
    bench_clear(d->device, whole.o.data, count);
    bench_must(fmha_decode(d->device, &d->problem[0]));
    bench_must(fmha_device_synchronize(d->device, NULL));
    float *got = bench_read(d->device, whole.o.data, count, whole.dtype);
    return bench_compare(row->instance, "a single split", expected, got, count);
}

static void count_bytes(const struct copy *copy, struct bench_row *row) {
    const double outputs = (double)(row->batch * row->heads_q) * row->head_dim;
    const double parts =
        row->splits > 1 ? (double)row->splits * (outputs + (double)(row->batch * row->heads_q)) * 4 : 0;
    const double cache = row->figure[SERIES_DECODE].bytes;
    row->figure[SERIES_DECODE].memory = cache + 2 * 2 * outputs + parts;
    row->figure[SERIES_MERGE].bytes = row->figure[SERIES_MERGE].memory = parts + 2 * outputs;
    row->figure[SERIES_COPY].bytes = row->figure[SERIES_COPY].memory = 2.0 * (double)copy->bytes;
}

struct contest {
    const struct bench *bench;
    const struct decoding *decoding;
    const struct copy *copy;
};

static void run_round(const void *context, double amount[SERIES_COUNT]) {
    const struct contest *contest = context;
    const struct decoding *d = contest->decoding;
    double merge = 0;
    if (d->plans.count > 1) {
        merge = amount[SERIES_MERGE] = bench_measure(&d->plans.plan[1]);
    }
    amount[SERIES_DECODE] =
        bench_is_time(contest->bench) ? time_calls(d, d->calls) : bench_measure(&d->plans.plan[0]) + merge;
    bench_must(copy_measure(contest->copy, &amount[SERIES_COPY]));
}

void decode_measure(const struct bench *bench, fmha_device *device, const struct copy *copy, long long splits,
                    struct bench_row *row) {
    struct decoding d;
    row->figure[SERIES_DECODE].bytes = 2.0 * 2.0 * (double)(row->batch * row->heads_k * row->length) * row->head_dim;
    row->flop = 4.0 * (double)(row->batch * row->heads_q * row->length) * row->head_dim;
    begin(bench, device, splits, row, &d);
    row->splits = d.plans.splits;
    snprintf(row->instance, sizeof row->instance, "%s", fmha_kernel_symbol(d.plans.plan[0].kernel));
    count_bytes(copy, row);
    bench_run(bench->rounds, bench->warmup, run_round, &(struct contest){bench, &d, copy}, row->figure);
    if (d.plans.count < 2) {
        snprintf(row->figure[SERIES_MERGE].note, sizeof row->figure[SERIES_MERGE].note, "none: a single split");
    }
    row->difference = d.plans.count > 1 ? difference(&d, row) : -1;
    end(&d);
}

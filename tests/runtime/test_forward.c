/* fmha_forward on the emulated device, with instances that fmhagen makes, against the definition in float64. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "fmha.h"
#include "support.h"

enum { HEAD_DIM = 64, QUERIES_MAX = 80, KEYS_MAX = 96, THREADS = 6 };

/* How a tensor lies in its buffer. */
enum layout { HEADS_FIRST, ROWS_FIRST };

struct trial {
    int dtype, mask;
    int64_t batch, heads_q, heads_k, seqlen_q, seqlen_k;
    enum layout q_layout, k_layout, v_layout, o_layout;
    int pad;    /* elements between rows */
    int offset; /* elements before the first one */
    bool transposed, lse;
    const char *instance; /* that is taken, without "fmha_forward_gfx1151_" and knobs */
};

struct tensor {
    int64_t size[3], stride[3], columns, elements;
    fmha_tensor given;
    uint16_t *bits; /* a copy on the host, of the whole buffer */
};

struct run {
    const struct trial *trial;
    fmha_forward_problem problem;
    struct tensor q, k, v, o;
    fmha_status status;
    char error[512];
};

static char folder[256];
static fmha_device *device;

static void set_up(void) {
    const char *const command[] = {FMHAGEN_PATH,
                                   "library",
                                   folder,
                                   "--no-compile",
                                   "--arch",
                                   "gfx1151",
                                   "--hd",
                                   "64",
                                   "--dtype",
                                   "f16",
                                   "--causal=none,bottom-right,top-left",
                                   "--v-layout",
                                   "row",
                                   "--align",
                                   "16,2",
                                   NULL};
    const char *const more[] = {FMHAGEN_PATH, "library",        folder, "--no-compile", "--arch",
                                "gfx1151",    "--hd",           "64",   "--dtype",      "f16,bf16",
                                "--v-layout", "row,transposed", NULL};
    const char *const windows[] = {FMHAGEN_PATH, "library", folder, "--no-compile", "--arch",   "gfx1151",
                                   "--hd",       "64",      "--op", "forward",      "--window", NULL};
    const char *const *const commands[] = {command, more, windows};
    char path[900] = "", *list = path;
    support_make_folder(folder);
    size_t length = strlen(folder);
    for (int i = 0; i < 3; i++) {
        char *words;
        int code;
        snprintf(folder + length, sizeof folder - length, "/%d", i);
        cr_assert_eq(fmha_process_run(commands[i], 60, &words, &code), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(code, 0, "%s", words);
        free(words);
        list += snprintf(list, sizeof path - (size_t)(list - path), "%s%s", i > 0 ? ":" : "", folder);
    }
    folder[length] = '\0';
    setenv("FMHA_LIBRARY_PATH", path, 1);
    setenv("FMHA_GENERATOR", "off", 1);
    setenv("FMHA_DRIVER_DIR", EMU_DRIVER_DIR, 1);
    setenv("FMHA_CACHE_DIR", FORWARD_CACHE_DIR, 1);
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
}

static void finish(void) {
    const fmha_finding *findings;
    size_t count;
    cr_assert_eq(fmha_device_synchronize(device, NULL), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_device_findings(device, &findings, &count), FMHA_OK);
    cr_assert_eq(count, 0, "%s", count > 0 ? findings[0].text : "");
    fmha_device_close(device);
    support_remove_folder(folder);
}

TestSuite(forward, .init = set_up);

/* ---- Numbers --------------------------------------------------------------------------------------------- */

static unsigned next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

/* Bits of number / 64, at most 256 of them, which both types hold exactly when it has at most 8 bits. */
static uint16_t encode(int dtype, int number) {
    float value = (float)number / 64;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (dtype == FMHA_DTYPE_BF16 || number == 0) {
        return (uint16_t)(bits >> 16);
    }
    unsigned sign = bits >> 16 & 0x8000, exponent = (bits >> 23 & 0xff) - 127 + 15, fraction = bits >> 13 & 0x3ff;
    return (uint16_t)(sign | exponent << 10 | fraction);
}

static double decode(int dtype, uint16_t bits) {
    int exponent_bits = dtype == FMHA_DTYPE_BF16 ? 8 : 5, fraction_bits = 15 - exponent_bits;
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1), bias = (1 << (exponent_bits - 1)) - 1;
    int fraction = bits & ((1 << fraction_bits) - 1), one = 1 << fraction_bits;
    double size = exponent == 0 ? ldexp(fraction, 1 - bias - fraction_bits)
                                : ldexp(one + fraction, exponent - bias - fraction_bits);
    if (exponent == (1 << exponent_bits) - 1) {
        size = fraction != 0 ? NAN : INFINITY;
    }
    return bits & 0x8000 ? -size : size;
}

/* ---- Tensors --------------------------------------------------------------------------------------------- */

static int64_t place(const struct tensor *tensor, int64_t batch, int64_t head, int64_t row, int64_t column) {
    return batch * tensor->stride[0] + head * tensor->stride[1] + row * tensor->stride[2] + column;
}

/* Elements between the tensor's own are NaN on the way in: what reads them is seen. */
static void make_tensor(const struct trial *trial, const char *label, enum layout layout, int64_t heads, int64_t rows,
                        int64_t columns, bool output, uint64_t *state, struct tensor *tensor) {
    int64_t row = columns + trial->pad, size[] = {trial->batch, heads, rows};
    *tensor = (struct tensor){.columns = columns};
    memcpy(tensor->size, size, sizeof size);
    tensor->stride[0] = heads * rows * row;
    tensor->stride[1] = layout == HEADS_FIRST ? rows * row : row;
    tensor->stride[2] = layout == HEADS_FIRST ? row : heads * row;
    bool empty = trial->batch * heads * rows * columns == 0;
    tensor->elements = empty ? 1 : trial->offset + place(tensor, size[0] - 1, heads - 1, rows - 1, columns - 1) + 1;
    size_t bytes = (size_t)tensor->elements * 2;
    tensor->bits = malloc(bytes);
    cr_assert_not_null(tensor->bits);
    memset(tensor->bits, 0xff, bytes);
    for (int64_t i = 0; i < size[0] * heads * rows * columns && !output; i++) {
        int64_t at =
            place(tensor, i / columns / rows / heads, i / columns / rows % heads, i / columns % rows, i % columns);
        tensor->bits[trial->offset + at] = encode(trial->dtype, (int)(next_random(state) % 257) - 128);
    }
    void *address;
    cr_assert_eq(fmha_memory_alloc(device, bytes, label, &address), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_write(device, address, tensor->bits, bytes), FMHA_OK);
    tensor->given.data = (uint16_t *)address + trial->offset;
    tensor->given.stride_batch = tensor->stride[0];
    tensor->given.stride_head = tensor->stride[1];
    tensor->given.stride_row = tensor->stride[2];
    const fmha_tensor_view view = {
        .label = label,
        .address = tensor->given.data,
        .element_bytes = 2,
        .dimensions = 4,
        .shape = {size[0], heads, rows, columns},
        .strides = {tensor->stride[0], tensor->stride[1], tensor->stride[2], 1},
        .access = output ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ,
    };
    cr_assert_eq(fmha_memory_view(device, &view), FMHA_OK, "%s", fmha_last_error());
}

static void prepare(struct run *run, const struct trial *trial, uint64_t seed) {
    fmha_forward_problem *problem = &run->problem;
    *run = (struct run){.trial = trial, .problem = FMHA_FORWARD_PROBLEM_INIT};
    make_tensor(trial, "q", trial->q_layout, trial->heads_q, trial->seqlen_q, HEAD_DIM, false, &seed, &run->q);
    make_tensor(trial, "k", trial->k_layout, trial->heads_k, trial->seqlen_k, HEAD_DIM, false, &seed, &run->k);
    make_tensor(trial, "v", trial->v_layout, trial->heads_k, trial->transposed ? HEAD_DIM : trial->seqlen_k,
                trial->transposed ? trial->seqlen_k : HEAD_DIM, false, &seed, &run->v);
    make_tensor(trial, "o", trial->o_layout, trial->heads_q, trial->seqlen_q, HEAD_DIM, true, &seed, &run->o);
    if (trial->lse) {
        int64_t rows = trial->batch * trial->heads_q * trial->seqlen_q;
        void *address;
        cr_assert_eq(fmha_memory_alloc(device, (size_t)rows * 4, "lse", &address), FMHA_OK);
        const fmha_tensor_view view = {"lse", address, 4, 1, {rows}, {1}, FMHA_ACCESS_WRITE};
        cr_assert_eq(fmha_memory_view(device, &view), FMHA_OK);
        problem->lse = address;
    }
    problem->dtype = trial->dtype;
    problem->mask = trial->mask;
    problem->v_layout = trial->transposed ? FMHA_V_TRANSPOSED : FMHA_V_ROW;
    problem->head_dim = HEAD_DIM;
    problem->scale = 0.25F;
    problem->batch = trial->batch;
    problem->heads_q = trial->heads_q;
    problem->heads_k = trial->heads_k;
    problem->seqlen_q = trial->seqlen_q;
    problem->seqlen_k = trial->seqlen_k;
    problem->q = run->q.given;
    problem->k = run->k.given;
    problem->v = run->v.given;
    problem->o = run->o.given;
}

static void *launch(void *argument) {
    struct run *run = argument;
    run->status = fmha_forward(device, &run->problem);
    snprintf(run->error, sizeof run->error, "%s", run->status != FMHA_OK ? fmha_last_error() : "");
    return NULL;
}

/* ---- The definition -------------------------------------------------------------------------------------- */

static double element(const struct run *run, const struct tensor *tensor, int64_t batch, int64_t head, int64_t row,
                      int64_t column) {
    return decode(run->trial->dtype, tensor->bits[run->trial->offset + place(tensor, batch, head, row, column)]);
}

struct row {
    double weight[KEYS_MAX]; /* sums to 1; of a row that sees no key all are 0 */
    double lse;
    double score_error; /* most that float32 may make of a score, in the exponent */
};

/* Sums of products are multiples of 2^-12 and at most 2^8: exact in float32. What remains is one rounding of scale
 * log2 e, one of its product with a score, and the same for the maximum: each 2^-24 of at most the largest score. */
static void weigh(const struct run *run, int64_t batch, int64_t head, int64_t query, struct row *row) {
    const struct trial *trial = run->trial;
    int64_t head_k = head / (trial->heads_q / trial->heads_k), last = trial->seqlen_k - 1;
    double highest = -INFINITY, largest = 0, sum = 0;
    last = trial->mask == FMHA_MASK_CAUSAL_BOTTOM_RIGHT ? query + trial->seqlen_k - trial->seqlen_q
           : trial->mask == FMHA_MASK_CAUSAL_TOP_LEFT   ? (query < last ? query : last)
                                                        : last;
    for (int64_t key = 0; key < trial->seqlen_k; key++) {
        double score = 0;
        for (int64_t i = 0; i < HEAD_DIM; i++) {
            score += element(run, &run->q, batch, head, query, i) * element(run, &run->k, batch, head_k, key, i);
        }
        row->weight[key] = key <= last ? 0.25 * score : -INFINITY;
        highest = fmax(highest, row->weight[key]);
        largest = key <= last ? fmax(largest, fabs(0.25 * score)) : largest;
    }
    for (int64_t key = 0; key < trial->seqlen_k; key++) {
        row->weight[key] = key <= last ? exp(row->weight[key] - highest) : 0;
        sum += row->weight[key];
    }
    for (int64_t key = 0; key < trial->seqlen_k && sum > 0; key++) {
        row->weight[key] /= sum;
    }
    row->lse = sum > 0 ? highest + log(sum) : -INFINITY;
    row->score_error = 4 * 0x1p-24 * largest;
}

static void check_row(const struct run *run, int64_t batch, int64_t head, int64_t query, const uint16_t *o, float lse) {
    const struct trial *trial = run->trial;
    const double unit = trial->dtype == FMHA_DTYPE_BF16 ? 0x1p-8 : 0x1p-11; /* of a rounding */
    const double tiny = 0x1p-24; /* half's smallest rounding, 2^-25, times |v|, at most 2 */
    int64_t head_k = head / (trial->heads_q / trial->heads_k);
    struct row row;
    weigh(run, batch, head, query, &row);
    /* Each weight: P rounded in the numerator; in numerator and sum the exponential's argument, the exponential itself
     * (2^-22), and float32 sums that are rescaled. */
    double weights = unit + 2 * (row.score_error + 0x1p-22 + (double)(trial->seqlen_k + 8) * 0x1p-24);
    for (int64_t column = 0; column < HEAD_DIM; column++) {
        double expected = 0, size = 0;
        for (int64_t key = 0; key < trial->seqlen_k; key++) {
            double v = trial->transposed ? element(run, &run->v, batch, head_k, column, key)
                                         : element(run, &run->v, batch, head_k, key, column);
            expected += row.weight[key] * v;
            size += row.weight[key] * fabs(v);
        }
        double bound = weights * size + unit * (fabs(expected) + weights * size) + tiny * (double)(trial->seqlen_k + 1);
        double got = decode(trial->dtype, o[trial->offset + place(&run->o, batch, head, query, column)]);
        cr_assert(fabs(got - expected) <= (row.lse == -INFINITY ? 0 : bound),
                  "%s: o[%d][%d][%d][%d]: expected %g, got %g, bound %g", trial->instance, (int)batch, (int)head,
                  (int)query, (int)column, expected, got, bound);
    }
    if (trial->lse && row.lse == -INFINITY) {
        cr_assert_eq(lse, -INFINITY);
    } else if (trial->lse) {
        /* The sum's relative error, then ln 2 times the maximum, the logarithm and the sum of both: 2^-22 of each. */
        double bound = row.score_error + 0x1p-22 + (double)(trial->seqlen_k + 8) * 0x1p-24 +
                       0x1p-22 * (fabs(row.lse) + 2 * log((double)trial->seqlen_k + 1) + 1);
        cr_assert_leq(fabs((double)lse - row.lse), bound, "%s: lse[%d][%d][%d]: expected %g, got %g", trial->instance,
                      (int)batch, (int)head, (int)query, row.lse, (double)lse);
    }
}

static void check(struct run *run) {
    const struct trial *trial = run->trial;
    size_t bytes = (size_t)run->o.elements * 2, rows = (size_t)(trial->batch * trial->heads_q * trial->seqlen_q);
    uint16_t *o = malloc(bytes);
    float *lse = calloc(rows, sizeof *lse);
    cr_assert(o != NULL && lse != NULL);
    cr_assert_eq(run->status, FMHA_OK, "%s: %s", trial->instance, run->error);
    cr_assert_eq(fmha_memory_read(device, o, (uint16_t *)run->o.given.data - trial->offset, bytes), FMHA_OK);
    if (trial->lse) {
        cr_assert_eq(fmha_memory_read(device, lse, run->problem.lse, rows * sizeof *lse), FMHA_OK);
    }
    for (size_t i = 0; i < rows; i++) {
        int64_t query = (int64_t)i % trial->seqlen_q, head = (int64_t)i / trial->seqlen_q;
        check_row(run, head / trial->heads_q, head % trial->heads_q, query, o, lse[i]);
    }
    free(o);
    free(lse);
    free(run->q.bits);
    free(run->k.bits);
    free(run->v.bits);
    free(run->o.bits);
}

static void note_taken(void *context, const fmha_consideration *consideration) {
    if (consideration->taken) {
        snprintf(context, 256, "%s", consideration->instance);
    }
}

static void expect_right(const struct trial *trial) {
    struct run run;
    char taken[256] = "", expected[256];
    prepare(&run, trial, 1);
    cr_assert_eq(fmha_forward_explain(device, &run.problem, note_taken, taken), FMHA_OK, "%s", fmha_last_error());
    snprintf(expected, sizeof expected, "fmha_forward_gfx1151_%s_m", trial->instance);
    cr_assert_eq(strncmp(taken, expected, strlen(expected)), 0, "expected %s..., got %s", expected, taken);
    launch(&run);
    cr_assert_eq(fmha_device_synchronize(device, NULL), FMHA_OK, "%s", fmha_last_error());
    check(&run);
}

/* ---- Trials ---------------------------------------------------------------------------------------------- */

#define F16                      .dtype = FMHA_DTYPE_F16
#define BF16                     .dtype = FMHA_DTYPE_BF16
#define SHAPE(b, hq, hk, sq, sk) .batch = (b), .heads_q = (hq), .heads_k = (hk), .seqlen_q = (sq), .seqlen_k = (sk)
#define CAUSAL                   .mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT
#define TOP_LEFT                 .mask = FMHA_MASK_CAUSAL_TOP_LEFT

Test(forward, plain) {
    static const struct trial trial = {F16, SHAPE(2, 4, 2, 33, 70), .lse = true, .instance = "f16_d64"};
    expect_right(&trial);
    finish();
}

/* Q and O as [batch][seqlen][heads], K so too and V not; rows apart from one another; rows of K that end a tile. */
Test(forward, strided_views) {
    static const struct trial trial = {F16,
                                       SHAPE(2, 2, 1, 80, 64),
                                       .q_layout = ROWS_FIRST,
                                       .k_layout = ROWS_FIRST,
                                       .o_layout = ROWS_FIRST,
                                       .pad = 8,
                                       .lse = true,
                                       .instance = "f16_d64"};
    static const struct trial other = {F16,         SHAPE(1, 3, 3, 17, 31), .v_layout = ROWS_FIRST, .pad = 16,
                                       .offset = 8, .instance = "f16_d64"};
    /* Q and K as [batch][heads][seqlen], V as a projection leaves it. */
    static const struct trial view = {F16, SHAPE(1, 16, 16, 62, 62), .v_layout = ROWS_FIRST, .instance = "f16_d64"};
    expect_right(&trial);
    expect_right(&other);
    expect_right(&view);
    finish();
}

Test(forward, causal_bottom_right) {
    static const struct trial few = {F16, CAUSAL, SHAPE(1, 4, 1, 20, 45), .instance = "f16_d64_causal"};
    /* 40 queries of 10 keys: the first 30 see none. */
    static const struct trial many = {F16, CAUSAL, SHAPE(1, 2, 2, 40, 10), .lse = true, .instance = "f16_d64_causal"};
    expect_right(&few);
    expect_right(&many);
    finish();
}

Test(forward, causal_top_left) {
    static const struct trial many = {F16, TOP_LEFT, SHAPE(1, 2, 1, 40, 17), .lse = true,
                                      .instance = "f16_d64_causaltl"};
    static const struct trial few = {F16, TOP_LEFT, SHAPE(1, 1, 1, 20, 70), .instance = "f16_d64_causaltl"};
    expect_right(&many);
    expect_right(&few);
    finish();
}

Test(forward, rows_that_are_not_aligned) {
    static const struct trial offset = {F16, SHAPE(1, 2, 1, 20, 40), .offset = 1, .lse = true,
                                        .instance = "f16_d64_a2"};
    static const struct trial pad = {F16, CAUSAL, SHAPE(2, 2, 1, 20, 40), .pad = 3, .instance = "f16_d64_causal_a2"};
    expect_right(&offset);
    expect_right(&pad);
    finish();
}

Test(forward, transposed_v) {
    static const struct trial trial = {F16, SHAPE(2, 2, 1, 20, 64), .transposed = true, .lse = true,
                                       .instance = "f16_d64_vt"};
    static const struct trial bf16 = {BF16, SHAPE(1, 2, 1, 20, 72), .transposed = true, .pad = 8,
                                      .instance = "bf16_d64_vt"};
    expect_right(&trial);
    expect_right(&bf16);
    finish();
}

static void *put_ones(const char *label) {
    uint16_t ones[HEAD_DIM];
    void *address;
    for (int i = 0; i < HEAD_DIM; i++) {
        ones[i] = encode(FMHA_DTYPE_F16, 64);
    }
    cr_assert_eq(fmha_memory_alloc(device, sizeof ones, label, &address), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_write(device, address, ones, sizeof ones), FMHA_OK);
    return address;
}

/* As many keys as an instance serves, all of them in one row, of which the last query sees four: the numbers of keys
 * and the ends of the widest windows stay within 32 bits. */
Test(forward, windows_at_the_most_keys) {
    static const int32_t right[] = {0, -1, 1 << 30, INT32_MAX};
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.head_dim = HEAD_DIM;
    problem.scale = 0.125F;
    problem.batch = problem.heads_q = problem.heads_k = problem.seqlen_q = 1;
    problem.seqlen_k = 1 << 30;
    problem.q.data = put_ones("q");
    problem.k.data = put_ones("k");
    problem.v.data = put_ones("v");
    problem.o.data = put_ones("o");
    problem.lse = put_ones("lse");
    problem.window = 1;
    problem.window_left = 3;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        uint16_t o;
        float lse;
        problem.window_right = right[i];
        cr_assert_eq(fmha_forward(device, &problem), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(fmha_memory_read(device, &o, problem.o.data, sizeof o), FMHA_OK);
        cr_assert_eq(fmha_memory_read(device, &lse, problem.lse, sizeof lse), FMHA_OK);
        cr_expect_eq(decode(FMHA_DTYPE_F16, o), 1, "window 3,%d: O %g", right[i], decode(FMHA_DTYPE_F16, o));
        cr_expect(fabs((double)lse - (8 + log(4))) < 1e-5, "window 3,%d: LSE %g", right[i], (double)lse);
    }
    finish();
}

Test(forward, without_keys) {
    static const struct trial trial = {F16, SHAPE(1, 2, 1, 20, 0), .lse = true, .instance = "f16_d64"};
    expect_right(&trial);
    finish();
}

/* On one device, of several kinds, cold. */
Test(forward, by_several_threads) {
    static const struct trial trials[THREADS] = {
        {F16, SHAPE(1, 2, 1, 33, 70), .lse = true, .instance = "f16_d64"},
        {F16, SHAPE(1, 4, 2, 20, 30), .instance = "f16_d64"},
        {F16, CAUSAL, SHAPE(1, 2, 2, 40, 50), .lse = true, .instance = "f16_d64_causal"},
        {F16, CAUSAL, SHAPE(2, 1, 1, 10, 20), .offset = 1, .instance = "f16_d64_causal_a2"},
        {BF16, SHAPE(1, 2, 1, 20, 40), .lse = true, .instance = "bf16_d64"},
        {F16, SHAPE(1, 2, 1, 17, 64), .transposed = true, .instance = "f16_d64_vt"},
    };
    struct run runs[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        prepare(&runs[i], &trials[i], (uint64_t)i + 7);
    }
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, launch, &runs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    cr_assert_eq(fmha_device_synchronize(device, NULL), FMHA_OK, "%s", fmha_last_error());
    for (int i = 0; i < THREADS; i++) {
        check(&runs[i]);
    }
    finish();
}

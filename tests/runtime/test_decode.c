/* fmha_decode against plain loops in float64, on the emulated device and on the one that executes code objects, with
 * instances that fmhagen makes. Error texts are compared whole. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha.h"
#include "made_support.h"

#define POISON 0x7fd5u

static void set_up(void) {
    made_set_up();
    setenv("FMHA_CACHE_DIR", DECODE_CACHE_DIR, 1); /* what is compiled stays in the build folder */
}

TestSuite(decode, .init = set_up, .fini = made_tear_down, .timeout = 240);

/* ---- Numbers ---- */

enum { DIM = 64 };

/* Element d of row i of head h of sequence b of a tensor, 'q', 'k' or 'v': between -1 and 1, of ten bits. */
static double number(int tensor, int b, int h, int i, int d) {
    uint64_t state = (uint64_t)tensor;
    const int places[] = {b, h, i, d};
    for (int axis = 0; axis < 4; axis++) {
        state = (state + (uint64_t)places[axis] + 1) * 6364136223846793005u + 1442695040888963407u;
        state ^= state >> 29;
    }
    return ((int)(state >> 53) - 1024) / 1024.0;
}

/* The numbers of a cache of a small format: those of e4m3 that have an exponent, and those of E2M1. */
static double small_number(int32_t kv_dtype, unsigned bits) {
    bool fp4 = kv_dtype == FMHA_KV_MXFP4;
    int fraction_bits = fp4 ? 1 : 3, bias = fp4 ? 1 : 7;
    unsigned fraction = bits & ((1u << fraction_bits) - 1), exponent = bits >> fraction_bits & (fp4 ? 3 : 15);
    unsigned sign = bits >> (fp4 ? 3 : 7);
    double number = exponent != 0 ? ldexp(1 + ldexp(fraction, -fraction_bits), (int)exponent - bias)
                                  : ldexp(fraction, 1 - bias - fraction_bits);
    return sign ? -number : number;
}

static uint16_t half_bits(double value) {
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    uint16_t magnitude = value == 0 ? 0 : (uint16_t)((exponent + 14) << 10 | ((int)ldexp(fraction, 11) & 1023));
    return (uint16_t)(value < 0 ? magnitude | 0x8000 : magnitude);
}

static double half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double magnitude = exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits & 1023, -24);
    return bits >> 15 ? -magnitude : magnitude;
}

/* ---- A problem and its tensors ---- */

struct shape {
    int batch, heads_q, heads_k, seqlen_q, seqlen_k;
    const int32_t *lengths_q, *lengths_k; /* NULL: all of them the longest */
    int32_t mask, varlen, page_size;
    int32_t window_left; /* 0: no window */
    int32_t kv_dtype;    /* FMHA_KV_E4M3 with scales of heads, FMHA_KV_MXFP4 */
    int latent;          /* columns of V, which is a part of K; 0: K and V apart */
};

static int columns_of(const struct shape *s) {
    return s->latent != 0 ? s->latent : DIM;
}

/* The bits of an element of K or V in a small format, of numbers up to 1.5. */
static unsigned small_bits(const struct shape *s, int tensor, int b, int h, int j, int d) {
    unsigned step = (unsigned)((number(tensor, b, h, j, d) + 1) * 8); /* 0 to 15 */
    return s->kv_dtype == FMHA_KV_MXFP4 ? (step & 8) | (step & 7) % 4 : (step & 8) << 4 | (6u << 3) | (step & 7);
}

static double scale_of(const struct shape *s, int tensor, int b, int h, int j, int d) {
    if (s->kv_dtype == FMHA_KV_MXFP4) {
        return ldexp(1, (j + d / 32 + (tensor == 'v')) % 2 - 1);
    }
    return s->kv_dtype == FMHA_KV_SAME ? 1 : (tensor == 'v' ? 0.5 : 0.75) / (1 + h + b);
}

static double cached(const struct shape *s, int tensor, int b, int h, int j, int d) {
    tensor = s->latent != 0 ? 'k' : tensor;
    return s->kv_dtype == FMHA_KV_SAME
               ? number(tensor, b, h, j, d)
               : small_number(s->kv_dtype, small_bits(s, tensor, b, h, j, d)) * scale_of(s, tensor, b, h, j, d);
}

struct tensors {
    fmha_decode_problem problem;
    void *memory[16];
    int count;
    size_t o_elements, lse_elements;
};

static int length_q(const struct shape *s, int b) {
    return s->lengths_q != NULL ? s->lengths_q[b] : s->seqlen_q;
}

static int length_k(const struct shape *s, int b) {
    return s->lengths_k != NULL ? s->lengths_k[b] : s->seqlen_k;
}

static void *send(struct tensors *t, const char *label, const void *bytes, size_t count) {
    void *address;
    cr_assert_eq(fmha_memory_alloc(device, count + 1, label, &address), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_memory_write(device, address, bytes, count), FMHA_OK);
    t->memory[t->count++] = address;
    return address;
}

/* Rows of a sequence before sequence b, of all sequences before it in a packed batch. */
static int begin_of(const struct shape *s, int b, int (*length)(const struct shape *, int)) {
    int begin = 0;
    for (int i = 0; i < b; i++) {
        begin += length(s, i);
    }
    return begin;
}

/* Where row i of head h of sequence b stands, in rows of DIM elements. */
static size_t q_row(const struct shape *s, int b, int h, int i) {
    int row = s->varlen == FMHA_VARLEN_PACKED ? begin_of(s, b, length_q) + i : b * s->seqlen_q + i;
    return (size_t)row * (size_t)s->heads_q + (size_t)h;
}

/* Pages stand in backward order, those of all sequences mixed. */
static int page_of(const struct shape *s, int b, int page) {
    int pages = (s->seqlen_k + s->page_size - 1) / s->page_size;
    return (pages - 1 - page) * s->batch + b;
}

static size_t k_row(const struct shape *s, int b, int h, int j) {
    int row = s->page_size > 0                  ? page_of(s, b, j / s->page_size) * s->page_size + j % s->page_size
              : s->varlen == FMHA_VARLEN_PACKED ? begin_of(s, b, length_k) + j
                                                : b * s->seqlen_k + j;
    return (size_t)row * (size_t)s->heads_k + (size_t)h;
}

/* What no sequence has is NaN. */
static void *send_rows(struct tensors *t, const struct shape *s, int tensor, size_t rows) {
    bool of_queries = tensor == 'q';
    int heads = of_queries ? s->heads_q : s->heads_k;
    uint16_t *bits = malloc(rows * DIM * sizeof *bits + 1);
    cr_assert_not_null(bits);
    memset(bits, 0xff, rows * DIM * sizeof *bits);
    for (int b = 0; b < s->batch; b++) {
        for (int h = 0; h < heads; h++) {
            for (int i = 0; i < (of_queries ? length_q(s, b) : length_k(s, b)); i++) {
                size_t row = of_queries ? q_row(s, b, h, i) : k_row(s, b, h, i);
                for (int d = 0; d < DIM; d++) {
                    bits[row * DIM + (size_t)d] = half_bits(number(tensor, b, h, i, d));
                }
            }
        }
    }
    char label[2] = {(char)tensor, '\0'};
    void *address = send(t, label, bits, rows * DIM * sizeof *bits);
    free(bits);
    return address;
}

/* The same of a small format. */
static void *send_small_rows(struct tensors *t, const struct shape *s, int tensor, size_t rows) {
    const bool fp4 = s->kv_dtype == FMHA_KV_MXFP4;
    const size_t row_bytes = fp4 ? DIM / 2 : DIM;
    unsigned char *bytes = malloc(rows * row_bytes + 1);
    cr_assert_not_null(bytes);
    memset(bytes, 0x7f, rows * row_bytes);
    for (int b = 0; b < s->batch; b++) {
        for (int h = 0; h < s->heads_k; h++) {
            for (int j = 0; j < length_k(s, b); j++) {
                unsigned char *row = bytes + k_row(s, b, h, j) * row_bytes;
                for (int d = 0; d < DIM; d++) {
                    unsigned bits = small_bits(s, tensor, b, h, j, d);
                    row[fp4 ? d / 2 : d] = (unsigned char)(!fp4 ? bits : d % 2 == 0 ? bits : row[d / 2] | bits << 4);
                }
            }
        }
    }
    void *address = send(t, tensor == 'k' ? "k" : "v", bytes, rows * row_bytes);
    free(bytes);
    return address;
}

/* fp8: one for each sequence and head; mxfp4: two bytes for each row, in rows of four. */
static fmha_tensor send_scales(struct tensors *t, const struct shape *s, int tensor, size_t rows) {
    const char *label = tensor == 'k' ? "k_scale" : "v_scale";
    if (s->kv_dtype != FMHA_KV_MXFP4) {
        float scales[16];
        for (int i = 0; i < s->batch * s->heads_k; i++) {
            scales[i] = (float)scale_of(s, tensor, i / s->heads_k, i % s->heads_k, 0, 0);
        }
        return (fmha_tensor){send(t, label, scales, sizeof scales), s->heads_k, 1, 0};
    }
    unsigned char *bytes = malloc(4 * rows + 1);
    cr_assert_not_null(bytes);
    memset(bytes, 0xff, 4 * rows); /* NaN */
    for (int b = 0; b < s->batch; b++) {
        for (int h = 0; h < s->heads_k; h++) {
            for (int j = 0; j < length_k(s, b); j++) {
                for (int block = 0; block < DIM / 32; block++) {
                    double scale = scale_of(s, tensor, b, h, j, 32 * block);
                    bytes[4 * k_row(s, b, h, j) + (size_t)block] = (unsigned char)(127 + ilogb(scale));
                }
            }
        }
    }
    int64_t row = (int64_t)s->heads_k * 4, blocks = s->page_size > 0 ? s->page_size : s->seqlen_k;
    fmha_tensor tensors = {send(t, label, bytes, 4 * rows), blocks * row, 4, row};
    free(bytes);
    return tensors;
}

static const int32_t *send_lengths(struct tensors *t, const struct shape *s, const char *label, bool sums,
                                   int (*length)(const struct shape *, int)) {
    int32_t numbers[16];
    for (int b = 0; b <= s->batch; b++) {
        numbers[b] = sums ? begin_of(s, b, length) : b < s->batch ? length(s, b) : 0;
    }
    return send(t, label, numbers, (size_t)(s->batch + sums) * sizeof *numbers);
}

static struct tensors make(const struct shape *s) {
    struct tensors t = {.problem = FMHA_DECODE_PROBLEM_INIT};
    fmha_decode_problem *p = &t.problem;
    bool packed = s->varlen == FMHA_VARLEN_PACKED, paged = s->page_size > 0;
    size_t q_rows = (size_t)(packed ? begin_of(s, s->batch, length_q) : s->batch * s->seqlen_q);
    size_t pages = paged ? (size_t)((s->seqlen_k + s->page_size - 1) / s->page_size * s->batch) : 0;
    size_t k_rows = paged    ? pages * (size_t)s->page_size
                    : packed ? (size_t)begin_of(s, s->batch, length_k)
                             : (size_t)(s->batch * s->seqlen_k);
    int64_t q_row_stride = (int64_t)s->heads_q * DIM, k_row_stride = (int64_t)s->heads_k * DIM;
    p->dtype = FMHA_DTYPE_F16;
    p->mask = s->mask;
    p->varlen = s->varlen;
    p->head_dim = DIM;
    p->scale = 0.5f;
    p->batch = s->batch;
    p->heads_q = s->heads_q;
    p->heads_k = s->heads_k;
    p->seqlen_q = s->seqlen_q;
    p->seqlen_k = s->seqlen_k;
    p->tokens_q = packed ? (int64_t)q_rows : 0;
    p->page_size = s->page_size;
    p->window = s->window_left > 0;
    p->window_left = s->window_left;
    t.o_elements = q_rows * (size_t)s->heads_q * DIM;
    t.lse_elements = q_rows * (size_t)s->heads_q;
    uint16_t *poison = malloc(t.o_elements * 2 + t.lse_elements * 4 + 4);
    cr_assert_not_null(poison);
    for (size_t i = 0; i < t.o_elements + 2 * t.lse_elements; i++) {
        poison[i] = POISON;
    }
    p->q = (fmha_tensor){send_rows(&t, s, 'q', q_rows * (size_t)s->heads_q), s->seqlen_q * q_row_stride, DIM,
                         q_row_stride};
    bool small = s->kv_dtype != FMHA_KV_SAME;
    int64_t bytes = s->kv_dtype == FMHA_KV_MXFP4 ? 2 : 1; /* elements of a byte */
    size_t all_rows = k_rows * (size_t)s->heads_k;
    p->kv_dtype = s->kv_dtype;
    p->k =
        (fmha_tensor){small ? send_small_rows(&t, s, 'k', all_rows) : send_rows(&t, s, 'k', all_rows),
                      (paged ? s->page_size : s->seqlen_k) * k_row_stride / bytes, DIM / bytes, k_row_stride / bytes};
    p->v = p->k;
    if (s->latent == 0) {
        p->v.data = small ? send_small_rows(&t, s, 'v', all_rows) : send_rows(&t, s, 'v', all_rows);
    }
    if (small) {
        p->k_scale = send_scales(&t, s, 'k', all_rows);
        p->v_scale = send_scales(&t, s, 'v', all_rows);
    }
    p->o = p->q;
    p->o.data = send(&t, "o", poison, t.o_elements * 2);
    p->lse = send(&t, "lse", poison, t.lse_elements * 4);
    free(poison);
    if (packed) {
        p->cu_seqlens_q = send_lengths(&t, s, "cu_seqlens_q", true, length_q);
        p->cu_seqlens_k = paged ? NULL : send_lengths(&t, s, "cu_seqlens_k", true, length_k);
    }
    if (s->varlen == FMHA_VARLEN_PADDED) {
        p->seqlens_q = send_lengths(&t, s, "seqlens_q", false, length_q);
    }
    if (s->varlen == FMHA_VARLEN_PADDED || paged) {
        p->seqlens_k = send_lengths(&t, s, "seqlens_k", false, length_k);
    }
    if (paged) {
        int per_sequence = (s->seqlen_k + s->page_size - 1) / s->page_size;
        int32_t table[256];
        for (int b = 0; b < s->batch; b++) {
            for (int page = 0; page < per_sequence; page++) {
                bool used = page * s->page_size < length_k(s, b);
                table[b * per_sequence + page] = used ? page_of(s, b, page) : INT32_MAX;
            }
        }
        p->block_table = send(&t, "block_table", table, (size_t)(s->batch * per_sequence) * sizeof *table);
        p->stride_block_table = per_sequence;
    }
    return t;
}

static void release(struct tensors *t) {
    for (int i = 0; i < t->count; i++) {
        fmha_memory_free(device, t->memory[i]);
    }
}

/* Asks for the workspace, decodes and waits. */
static void run(struct tensors *t, int64_t splits) {
    fmha_decode_problem *p = &t->problem;
    p->splits = splits;
    cr_assert_eq(fmha_decode_workspace_bytes(device, p, &p->workspace_bytes), FMHA_OK, "%s", fmha_last_error());
    p->workspace = NULL;
    if (p->workspace_bytes > 0) {
        cr_assert_eq(fmha_memory_alloc(device, p->workspace_bytes, "workspace", &p->workspace), FMHA_OK);
    }
    made_finish(fmha_decode(device, p));
    fmha_memory_free(device, p->workspace);
}

/* The same problem of latent attention. */
static fmha_mla_problem as_mla(const fmha_decode_problem *p, int columns) {
    fmha_mla_problem mla = FMHA_MLA_PROBLEM_INIT;
    mla.dtype = p->dtype;
    mla.mask = p->mask;
    mla.kv_dtype = p->kv_dtype;
    mla.varlen = p->varlen;
    mla.page_size = p->page_size;
    mla.head_dim = DIM;
    mla.head_dim_v = columns;
    mla.scale = p->scale;
    mla.batch = p->batch;
    mla.heads_q = p->heads_q;
    mla.seqlen_q = p->seqlen_q;
    mla.seqlen_k = p->seqlen_k;
    mla.tokens_q = p->tokens_q;
    mla.splits = p->splits;
    mla.q = p->q;
    mla.kv = p->k;
    mla.kv_scales = p->k_scale;
    mla.o = p->o;
    mla.lse = p->lse;
    mla.cu_seqlens_q = p->cu_seqlens_q;
    mla.cu_seqlens_k = p->cu_seqlens_k;
    mla.seqlens_q = p->seqlens_q;
    mla.seqlens_k = p->seqlens_k;
    mla.block_table = p->block_table;
    mla.stride_block_table = p->stride_block_table;
    mla.workspace = p->workspace;
    mla.workspace_bytes = p->workspace_bytes;
    return mla;
}

/* Asks for the workspace, attends to latent rows and waits. */
static void run_mla(struct tensors *t, const struct shape *s, int64_t splits) {
    t->problem.splits = splits;
    fmha_mla_problem p = as_mla(&t->problem, s->latent);
    cr_assert_eq(fmha_mla_workspace_bytes(device, &p, &p.workspace_bytes), FMHA_OK, "%s", fmha_last_error());
    if (p.workspace_bytes > 0) {
        cr_assert_eq(fmha_memory_alloc(device, p.workspace_bytes, "workspace", &p.workspace), FMHA_OK);
    }
    cr_assert_eq(fmha_mla_prepare(device, &p), FMHA_OK, "%s", fmha_last_error());
    made_finish(fmha_mla(device, &p));
    fmha_memory_free(device, p.workspace);
}

/* O of one row, and as the result LSE. */
static double reference(const struct shape *s, int b, int h, int i, double o[DIM]) {
    int keys = length_k(s, b), diagonal = i + keys - length_q(s, b), kv_head = h / (s->heads_q / s->heads_k);
    double *score = malloc(((size_t)keys + 1) * sizeof *score), most = -INFINITY, sum = 0;
    cr_assert_not_null(score);
    for (int j = 0; j < keys; j++) {
        bool seen =
            (s->mask == FMHA_MASK_NONE || j <= diagonal) && (s->window_left == 0 || j >= diagonal - s->window_left);
        score[j] = 0;
        for (int d = 0; d < DIM; d++) {
            score[j] += 0.5 * number('q', b, h, i, d) * cached(s, 'k', b, kv_head, j, d);
        }
        score[j] = seen ? score[j] : -INFINITY;
        most = fmax(most, score[j]);
    }
    memset(o, 0, DIM * sizeof *o);
    for (int j = 0; j < keys && most > -INFINITY; j++) {
        double weight = exp(score[j] - most);
        sum += weight;
        for (int d = 0; d < DIM && weight > 0; d++) {
            o[d] += weight * cached(s, 'v', b, kv_head, j, d);
        }
    }
    for (int d = 0; d < DIM && sum > 0; d++) {
        o[d] /= sum;
    }
    free(score);
    return sum > 0 ? most + log(sum) : -INFINITY;
}

/* Every row is what it should be, and what is no row was not written. The weights are rounded to eleven bits and so is
 * O, each of at most 1: half a unit is 2^-12 of it; the float32 scores and LSE, up to 16, are off by a few 2^-20. */
static void check(struct tensors *t, const struct shape *s, const char *what) {
    uint16_t *o = malloc(t->o_elements * sizeof *o + 1);
    float *lse = malloc(t->lse_elements * sizeof *lse + 1);
    bool *row_of_one = calloc(t->lse_elements + 1, sizeof *row_of_one);
    bool packed = s->varlen == FMHA_VARLEN_PACKED;
    int tokens = packed ? begin_of(s, s->batch, length_q) : 0;
    cr_assert(o && lse && row_of_one);
    cr_assert_eq(fmha_memory_read(device, o, t->problem.o.data, t->o_elements * sizeof *o), FMHA_OK);
    cr_assert_eq(fmha_memory_read(device, lse, t->problem.lse, t->lse_elements * sizeof *lse), FMHA_OK);
    for (int b = 0; b < s->batch; b++) {
        for (int h = 0; h < s->heads_q; h++) {
            for (int i = 0; i < length_q(s, b); i++) {
                double expected[DIM], wanted = reference(s, b, h, i, expected);
                size_t row = q_row(s, b, h, i);
                size_t lse_row = (size_t)(packed ? h * tokens + begin_of(s, b, length_q) + i
                                                 : (b * s->heads_q + h) * s->seqlen_q + i);
                double got = (double)lse[lse_row];
                cr_assert(got == wanted || fabs(got - wanted) < 1e-4, "%s: lse %d %d %d: expected %.9g, got %.9g", what,
                          b, h, i, wanted, got);
                for (int d = 0; d < columns_of(s); d++) {
                    double value = half(o[row * DIM + (size_t)d]);
                    cr_assert(fabs(value - expected[d]) <= 0x1p-10, "%s: o %d %d %d %d: expected %.9g, got %.9g", what,
                              b, h, i, d, expected[d], value);
                }
                row_of_one[row] = true;
            }
        }
    }
    for (size_t row = 0; row < t->lse_elements; row++) {
        for (size_t d = 0; d < DIM && !row_of_one[row]; d++) {
            cr_assert_eq(o[row * DIM + d], POISON, "%s: row %zu is none of a sequence, and was written", what, row);
        }
    }
    free(o);
    free(lse);
    free(row_of_one);
}

static void check_splits(const struct shape *s, const char *what) {
    const int64_t splits[] = {0, 1, 2, 7};
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
        char text[96];
        struct tensors t = make(s);
        snprintf(text, sizeof text, "%s, splits %d", what, (int)splits[i]);
        if (s->latent != 0) {
            run_mla(&t, s, splits[i]);
        } else {
            run(&t, splits[i]);
        }
        check(&t, s, text);
        release(&t);
    }
}

/* ---- What is asked without tensors ---- */

static fmha_decode_problem sizes(int64_t batch, int64_t heads_q, int64_t heads_k, int64_t seqlen_q, int64_t seqlen_k) {
    fmha_decode_problem problem = FMHA_DECODE_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.head_dim = DIM;
    problem.scale = 1;
    problem.batch = batch;
    problem.heads_q = heads_q;
    problem.heads_k = heads_k;
    problem.seqlen_q = seqlen_q;
    problem.seqlen_k = seqlen_k;
    return problem;
}

struct told {
    int count;
    char text[4096];
};

static void tell(void *context, const fmha_consideration *consideration) {
    struct told *told = context;
    size_t length = strlen(told->text);
    bool whole = strcmp(consideration->library, "splits") == 0;
    snprintf(told->text + length, sizeof told->text - length, "%s%s: %s\n", consideration->taken ? "* " : "",
             whole ? consideration->library : consideration->instance, consideration->verdict);
    told->count++;
}

/* ---- What is computed ---- */

static const struct shape plain = {2, 4, 2, 2, 700, NULL, NULL, FMHA_MASK_CAUSAL_BOTTOM_RIGHT, 0, 0, 0, 0, 0};

Test(decode, any_number_of_splits) {
    made_add_library("decode", "--op decode --hd 64 --causal=none,bottom-right");
    made_add_library("merge", "--op merge");
    check_splits(&plain, "plain");
    struct shape more = plain;
    more.seqlen_k = 5; /* fewer keys than splits */
    check_splits(&more, "5 keys");
    more.seqlen_k = 0;
    check_splits(&more, "no key");
    more = plain;
    more.mask = FMHA_MASK_NONE;
    check_splits(&more, "every key seen");
    more.seqlen_q = 1; /* by the instance of a causal mask */
    check_splits(&more, "one query");
}

Test(decode, packed_batches) {
    const int32_t lengths_q[] = {1, 0, 1}, lengths_k[] = {3, 0, 5};
    const struct shape small = {3, 9, 3, 1, 5, lengths_q, lengths_k, FMHA_MASK_CAUSAL_BOTTOM_RIGHT, FMHA_VARLEN_PACKED,
                                0, 0, 0, 0};
    made_add_library("decode", "--op decode --hd 64 --causal --varlen=packed --paged=off,on");
    made_add_library("merge", "--op merge --varlen=packed");
    check_splits(&small, "heads 9/3");
    const int32_t more_q[] = {2, 3, 0}, more_k[] = {290, 33, 64};
    struct shape paged = {3,  8, 2, 3, 290, more_q, more_k, FMHA_MASK_CAUSAL_BOTTOM_RIGHT, FMHA_VARLEN_PACKED,
                          16, 0, 0, 0};
    check_splits(&paged, "packed and paged");
}

Test(decode, padded_and_paged_batches) {
    const int32_t lengths_q[] = {2, 0, 1}, lengths_k[] = {5, 290, 0};
    struct shape shape = {3, 4, 2, 2, 290, lengths_q, lengths_k, FMHA_MASK_CAUSAL_BOTTOM_RIGHT, FMHA_VARLEN_PADDED,
                          0, 0, 0, 0};
    made_add_library("decode", "--op decode --hd 64 --causal --varlen=padded");
    made_add_library("paged", "--op decode --hd 64 --causal --window=none,sliding --paged");
    made_add_library("merge", "--op merge --varlen=none,padded");
    check_splits(&shape, "padded");
    shape.varlen = FMHA_VARLEN_NONE;
    shape.lengths_q = NULL;
    shape.page_size = 32;
    check_splits(&shape, "paged");
    shape.window_left = 40;
    check_splits(&shape, "paged, with a window");
}

/* Of several instances the one whose workgroups hold the rows of a key head is taken, the smallest such; without one
 * the largest. */
Test(decode, rows_of_a_key_head_decide_which_instance_serves) {
    static const struct {
        int64_t heads_q, seqlen_q;
        const char *taken;
    } cases[] = {{2, 16, "* fmha_decode_gfx1151_f16_d64_causal_m16k32w1_kdirect"},
                 {2, 17, "* fmha_decode_gfx1151_f16_d64_causal_r64_m64k32w4"},
                 {8, 16, "* fmha_decode_gfx1151_f16_d64_causal_r64_m64k32w4"},
                 {8, 17, "* fmha_decode_gfx1151_f16_d64_causal_r64_m64k32w4"}};
    made_add_library("decode", "--op decode --hd 64 --causal --rows 16,64");
    made_add_library("merge", "--op merge");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct told told = {.count = 0};
        fmha_decode_problem problem = sizes(1, cases[i].heads_q, 2, cases[i].seqlen_q, 100);
        problem.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
        cr_assert_eq(fmha_decode_explain(device, &problem, tell, &told), FMHA_OK, "%s", fmha_last_error());
        cr_expect_not_null(strstr(told.text, cases[i].taken), "%zu: %s", i, told.text);
    }
    const struct shape shape = {
        .batch = 2, .heads_q = 20, .heads_k = 2, .seqlen_q = 3, .seqlen_k = 290, .mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT};
    check_splits(&shape, "30 rows of each key head");
}

/* Runs fmhagen for one instance of decoding; whether it makes it. */
static bool is_made(const char *arch, int head_dim, int rows) {
    char command[1024];
    snprintf(command, sizeof command, "'%s' --op decode --arch %s --hd %d --rows %d >/dev/null 2>&1", FMHAGEN_PATH,
             arch, head_dim, rows);
    return system(command) == 0;
}

/* The rows that are asked for where a key head has more than any instance are the most that one is made for, of every
 * kind of chip and head dimension: else an instance that does not exist would be asked for, or none of the largest. */
Test(decode, as_many_rows_are_asked_for_as_instances_have) {
    static const char *const chips[] = {"gfx906", "gfx908", "gfx942", "gfx950", "gfx1030", "gfx1151", "gfx1200"};
    static const int head_dims[] = {128, 136, 256, 264};
    for (size_t at = 0; at < sizeof chips / sizeof chips[0] * 4; at++) {
        const char *arch = chips[at / 4];
        char name[32];
        struct told told = {.count = 0};
        fmha_device *chip;
        fmha_decode_problem problem = sizes(1, 1000, 1, 1, 100);
        int waves = 0;
        problem.head_dim = head_dims[at % 4];
        snprintf(name, sizeof name, "emu:%s", arch);
        cr_assert_eq(fmha_device_open(name, &chip), FMHA_OK, "%s", fmha_last_error());
        cr_expect_eq(fmha_decode_explain(chip, &problem, tell, &told), FMHA_ERROR_NO_INSTANCE);
        fmha_device_close(chip);
        cr_assert_eq(sscanf(told.text, "splits: %*d: 1 x 1 x %*d workgroups of %d wave", &waves), 1, "%s", told.text);
        int rows = 16 * waves; /* as the line counts them: a wave for each sixteen */
        cr_expect(is_made(arch, problem.head_dim, rows), "%s, %d dimensions: %d rows", arch, problem.head_dim, rows);
        cr_expect(rows == 128 || !is_made(arch, problem.head_dim, 2 * rows), "%s, %d dimensions: not %d rows", arch,
                  problem.head_dim, rows);
    }
}

Test(decode, caches_of_small_formats) {
    const int32_t lengths_k[] = {290, 33};
    struct shape shape = plain;
    made_add_library("decode", "--op decode --hd 64 --causal --kv-dtype e4m3,mxfp4 --paged=off,on");
    made_add_library("merge", "--op merge");
    shape.lengths_k = lengths_k;
    shape.seqlen_k = 290;
    shape.page_size = 16;
    shape.kv_dtype = FMHA_KV_E4M3;
    check_splits(&shape, "fp8 in pages");
    shape.kv_dtype = FMHA_KV_MXFP4;
    check_splits(&shape, "mxfp4 in pages");
    shape.page_size = 0;
    shape.lengths_k = NULL;
    check_splits(&shape, "mxfp4");
}

/* fmha_forward takes the same caches. */
Test(decode, forward_reads_small_formats) {
    made_add_library("forward", "--hd 64 --causal --kv-dtype e4m3,mxfp4");
    for (int i = 0; i < 2; i++) {
        struct shape shape = plain;
        shape.kv_dtype = i == 0 ? FMHA_KV_E4M3 : FMHA_KV_MXFP4;
        struct tensors t = make(&shape);
        const fmha_decode_problem *p = &t.problem;
        fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
        problem.dtype = p->dtype;
        problem.mask = p->mask;
        problem.head_dim = p->head_dim;
        problem.scale = p->scale;
        problem.batch = p->batch;
        problem.heads_q = p->heads_q;
        problem.heads_k = p->heads_k;
        problem.seqlen_q = p->seqlen_q;
        problem.seqlen_k = p->seqlen_k;
        problem.q = p->q;
        problem.k = p->k;
        problem.v = p->v;
        problem.o = p->o;
        problem.lse = p->lse;
        problem.kv_dtype = p->kv_dtype;
        problem.k_scale = p->k_scale;
        problem.v_scale = p->v_scale;
        made_finish(fmha_forward(device, &problem));
        check(&t, &shape, "forward");
        release(&t);
    }
}

Test(decode, latent_attention) {
    const int32_t lengths_q[] = {1, 2, 0}, lengths_k[] = {290, 33, 5};
    struct shape shape = {.batch = 2, .heads_q = 16, .heads_k = 1, .seqlen_q = 1, .seqlen_k = 290, .latent = 32};
    made_add_library("mla", "--op mla --hd 64 --hd-v 32 --causal");
    made_add_library("paged", "--op mla --hd 64 --hd-v 32 --causal --varlen=packed --paged");
    made_add_library("merge", "--op merge --varlen=none,packed");
    check_splits(&shape, "latent rows");
    shape.batch = 3;
    shape.seqlen_q = 2;
    shape.lengths_q = lengths_q;
    shape.lengths_k = lengths_k;
    shape.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    shape.varlen = FMHA_VARLEN_PACKED;
    shape.page_size = 16;
    check_splits(&shape, "latent rows in pages");
}

static void poison(const struct tensors *t) {
    uint16_t *bits = malloc(t->o_elements * sizeof *bits + 1);
    cr_assert_not_null(bits);
    for (size_t i = 0; i < t->o_elements; i++) {
        bits[i] = POISON;
    }
    cr_assert_eq(fmha_memory_write(device, t->problem.o.data, bits, t->o_elements * sizeof *bits), FMHA_OK);
    free(bits);
}

/* Sequence 0 alone, and among others whose lengths differ: with a number of splits of its own to the bit. */
Test(decode, fixed_splits_give_the_same_bits_in_any_batch) {
    enum { ROWS = 2 * 4, KEYS = 300 };
    const int32_t lengths_q[] = {2, 1, 2}, lengths_k[] = {KEYS, 290, 17};
    struct shape shape = {3, 4, 2, 2, KEYS, lengths_q, lengths_k, FMHA_MASK_CAUSAL_BOTTOM_RIGHT, FMHA_VARLEN_PACKED,
                          0, 0, 0, 0};
    uint16_t bits[2][ROWS * DIM];
    float lse[2][ROWS];
    made_add_library("decode", "--op decode --hd 64 --causal --varlen=packed");
    made_add_library("merge", "--op merge --varlen=packed");
    for (int i = 0; i < 2; i++) {
        shape.batch = i == 0 ? 1 : 3;
        struct tensors t = make(&shape);
        run(&t, 7);
        cr_assert_eq(fmha_memory_read(device, bits[i], t.problem.o.data, sizeof bits[i]), FMHA_OK);
        for (int h = 0; h < shape.heads_q; h++) {
            const float *row = t.problem.lse + (ptrdiff_t)h * t.problem.tokens_q;
            cr_assert_eq(fmha_memory_read(device, &lse[i][2 * h], row, 2 * sizeof *row), FMHA_OK);
        }
        release(&t);
    }
    cr_assert_arr_eq(bits[0], bits[1], sizeof bits[0]);
    cr_assert_arr_eq(lse[0], lse[1], sizeof lse[0]);
}

/* The same as machine code: partial results that cross from one kernel to the other. */
static void check_code_objects(const char *name, const char *arch) {
    char options[128];
    const int32_t lengths_q[] = {1, 2}, lengths_k[] = {70, 33};
    struct shape shape = {2,  4, 2, 2, 70, lengths_q, lengths_k, FMHA_MASK_CAUSAL_BOTTOM_RIGHT, FMHA_VARLEN_PADDED,
                          16, 0, 0, 0};
    fmha_device_close(device);
    cr_assert_eq(fmha_device_open(name, &device), FMHA_OK, "%s", fmha_last_error());
    snprintf(options, sizeof options, "--arch %s --op decode --hd 64 --causal --varlen=padded --paged", arch);
    made_add_library("decode", options);
    snprintf(options, sizeof options, "--arch %s --op merge --varlen=padded", arch);
    made_add_library("merge", options);
    const int64_t splits[] = {1, 3};
    for (int i = 0; i < 2; i++) {
        struct tensors t = make(&shape);
        run(&t, splits[i]);
        check(&t, &shape, name);
        release(&t);
    }
}

Test(decode, code_objects_of_gfx1151) {
    check_code_objects("isa:gfx1151", "gfx1151");
}

Test(decode, code_objects_of_gfx942) {
    check_code_objects("isa:gfx942", "gfx942");
}

Test(decode, is_made_by_the_generator_where_no_library_has_it) {
    struct shape shape = plain;
    setenv("FMHA_GENERATOR", FMHAGEN_PATH, 1);
    struct tensors t = make(&shape);
    cr_assert_eq(fmha_decode_prepare(device, &t.problem), FMHA_OK, "%s", fmha_last_error());
    setenv("FMHA_GENERATOR", "off", 1); /* nothing is left to be made */
    run(&t, 2);
    check(&t, &shape, "generated");
    release(&t);
}

/* ---- The workspace ---- */

static size_t workspace(fmha_decode_problem problem, int64_t splits) {
    size_t bytes = 1;
    problem.splits = splits;
    cr_assert_eq(fmha_decode_workspace_bytes(device, &problem, &bytes), FMHA_OK, "%s", fmha_last_error());
    return bytes;
}

Test(decode, workspace_follows_from_the_sizes) {
    const size_t row = (DIM + 1) * sizeof(float);
    cr_expect_eq(workspace(sizes(2, 8, 2, 3, 4000), 1), 0);
    cr_expect_eq(workspace(sizes(2, 8, 2, 3, 4000), 7), (size_t)7 * 2 * 8 * 3 * row);
    cr_expect_eq(workspace(sizes(0, 8, 2, 3, 4000), 7), 0);
    /* gfx1151 has 80 SIMDs: 160 waves, and 16 rows of two key heads take two of them. */
    cr_expect_eq(workspace(sizes(1, 8, 2, 3, 100000), 0), (size_t)80 * 8 * 3 * row);
    cr_expect_eq(workspace(sizes(1000, 8, 2, 3, 100000), 0), (size_t)80 * 8 * 3 * row);
    cr_expect_eq(workspace(sizes(2, 8, 2, 3, 1280), 0), (size_t)2 * 10 * 8 * 3 * row);
    cr_expect_eq(workspace(sizes(2, 8, 2, 3, 200), 0), 0);
    cr_expect_eq(workspace(sizes(1, 160, 160, 1, 100000), 0), 0);
}

Test(decode, refuses_a_workspace_that_is_too_small) {
    char text[256];
    struct tensors t = make(&plain);
    fmha_decode_problem problem = t.problem;
    const size_t bytes = (size_t)3 * 2 * 4 * 2 * (DIM + 1) * sizeof(float);
    void *memory;
    made_add_library("decode", "--op decode --hd 64 --causal");
    made_add_library("merge", "--op merge");
    cr_assert_eq(fmha_memory_alloc(device, bytes, "workspace", &memory), FMHA_OK);
    poison(&t);
    problem.splits = 3;
    made_expect(
        fmha_decode(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_decode: workspace: expected 12480 bytes at an address that is a multiple of 256 for the partial results "
        "of 3 splits, got 0 bytes at (nil); fmha_decode_workspace_bytes says how many a problem may need");
    problem.workspace = memory;
    problem.workspace_bytes = bytes - 1;
    snprintf(text, sizeof text,
             "fmha_decode: workspace: expected 12480 bytes at an address that is a multiple of 256 for the partial "
             "results of 3 splits, got 12479 bytes at %p; fmha_decode_workspace_bytes says how many a problem may need",
             memory);
    made_expect(fmha_decode(device, &problem), FMHA_ERROR_ARGUMENT, text);
    problem.workspace_bytes = bytes;
    problem.workspace = (char *)memory + 128;
    snprintf(text, sizeof text,
             "fmha_decode: workspace: expected 12480 bytes at an address that is a multiple of 256 for the partial "
             "results of 3 splits, got 12480 bytes at %p; fmha_decode_workspace_bytes says how many a problem may need",
             problem.workspace);
    made_expect(fmha_decode(device, &problem), FMHA_ERROR_ARGUMENT, text);
    problem.workspace = memory;
    made_finish(fmha_decode(device, &problem));
    check(&t, &plain, "a workspace that is large enough");
}

/* ---- What is refused, and what is told ---- */

static void visit_nothing(void *context, const fmha_consideration *consideration) {
    (void)context, (void)consideration;
}

/* No instance is here, and none is needed; what is no size has none either, whatever it would be multiplied by. */
Test(decode, without_rows_nothing_is_prepared) {
    const int64_t many = (int64_t)1 << 40;
    size_t bytes = 1;
    fmha_decode_problem problem = sizes(many, many, 1, 0, 0);
    problem.splits = 2;
    cr_expect_eq(fmha_decode(device, &problem), FMHA_OK, "%s", fmha_last_error());
    cr_expect_eq(fmha_decode_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
    cr_expect_eq(fmha_decode_workspace_bytes(device, &problem, &bytes), FMHA_OK, "%s", fmha_last_error());
    cr_expect_eq(bytes, 0);
    cr_expect_eq(fmha_decode_explain(device, &problem, visit_nothing, NULL), FMHA_ERROR_NO_INSTANCE);
    fmha_mla_problem mla = FMHA_MLA_PROBLEM_INIT;
    mla.dtype = FMHA_DTYPE_F16;
    mla.scale = 1;
    mla.head_dim = mla.head_dim_v = 64;
    mla.batch = mla.heads_q = many;
    cr_expect_eq(fmha_mla(device, &mla), FMHA_OK, "%s", fmha_last_error());
    cr_expect_eq(fmha_mla_prepare(device, &mla), FMHA_OK, "%s", fmha_last_error());
    cr_expect_eq(fmha_mla_explain(device, &mla, visit_nothing, NULL), FMHA_ERROR_NO_INSTANCE);
}

Test(decode, refuses) {
    size_t bytes;
    fmha_decode_problem problem = sizes(1, 2, 1, 1, 5);
    made_expect(fmha_decode(NULL, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_decode: expected a device and a problem, got NULL; pass a valid pointer");
    made_expect(fmha_decode_prepare(device, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_decode: expected a device and a problem, got NULL; pass a valid pointer");
    made_expect(fmha_decode_workspace_bytes(device, &problem, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_decode_workspace_bytes: expected a place for the size, got NULL; pass a valid pointer");
    made_expect(fmha_decode_explain(device, &problem, NULL, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_decode_explain: expected a function to call, got NULL; pass a valid pointer");
    made_expect(fmha_decode(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_decode: q: expected the address of a tensor, got NULL; give the problem its q");
    problem.splits = -1;
    made_expect(fmha_decode_prepare(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_decode: splits: expected 0 to 65536, got -1; 0 leaves the number of splits to the library");
    problem.splits = 65537;
    made_expect(fmha_decode_workspace_bytes(device, &problem, &bytes), FMHA_ERROR_ARGUMENT,
                "fmha_decode: splits: expected 0 to 65536, got 65537; 0 leaves the number of splits to the library");
    problem.splits = 65536;
    problem.batch = INT64_MAX / 8;
    made_expect(
        fmha_decode_workspace_bytes(device, &problem, &bytes), FMHA_ERROR_ARGUMENT,
        "fmha_decode: expected partial results of less than 2^63 bytes, got more; split the problem or use fewer "
        "splits");
    problem = sizes(0, INT64_MAX / 32, 1, 1, 5); /* whose rows of O have no stride from batch to batch */
    problem.splits = 2;
    made_expect(
        fmha_decode_prepare(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_decode: expected partial results of less than 2^63 bytes, got more; split the problem or use fewer "
        "splits");
    problem = sizes(1, 2, 1, 1, 5);
    problem.softcap = -1;
    made_expect(
        fmha_decode_prepare(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_decode: softcap: expected a number from 1e-30 to 1e30, got -1; set it to the bound of the scores, or to "
        "0 for none");
    problem = sizes(1, 2, 1, 1, 5);
    problem.kv_dtype = 6;
    made_expect(
        fmha_decode_prepare(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_decode: expected a kv_dtype of enum fmha_kv_dtype and a kv_scale of enum fmha_kv_scale, got 6 and 0; "
        "set them to some of theirs");
    problem.kv_dtype = FMHA_KV_MXFP4;
    problem.kv_scale = FMHA_KV_SCALE_TOKEN;
    made_expect(fmha_decode_prepare(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_decode: kv_scale: expected 0 where kv_dtype is no fp8, got 1 with kv_dtype 5; set it to 0");
    problem.kv_scale = FMHA_KV_SCALE_HEAD;
    problem.q.data = problem.k.data = problem.v.data = problem.o.data = (void *)256;
    problem.v_scale.data = (void *)256;
    made_expect(fmha_decode(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_decode: k_scale: expected the address of a tensor, got NULL; give the problem its k_scale");
    problem.kv_dtype = FMHA_KV_E4M3;
    problem.k_scale.data = (void *)258;
    made_expect(
        fmha_decode(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_decode: k_scale: expected an address that is a multiple of 4, got 0x102; align k_scale to 4 bytes");
    problem.kv_dtype = FMHA_KV_SAME;
    made_expect(fmha_decode(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_decode: expected no scales of K and V with a kv_dtype of FMHA_KV_SAME, got 0x102 and 0x100; set "
                "kv_dtype to their format, or both to NULL");
    problem = sizes(1, 2, 1, 1, 5);
    problem.struct_bytes = 8;
    made_expect_short(fmha_decode(device, &problem), "fmha_decode", sizeof problem, 8);
}

Test(decode, refuses_latent_problems) {
    fmha_decode_problem apart = sizes(1, 2, 1, 1, 5);
    fmha_mla_problem problem = as_mla(&apart, DIM + 8);
    made_expect(fmha_mla(device, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_mla: expected a device and a problem, got NULL; pass a valid pointer");
    made_expect(fmha_mla_explain(device, &problem, NULL, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_mla_explain: expected a function to call, got NULL; pass a valid pointer");
    made_expect(fmha_mla_workspace_bytes(device, &problem, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_mla_workspace_bytes: expected a place for the size, got NULL; pass a valid pointer");
    made_expect(fmha_mla(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_mla: head_dim_v: expected at most head_dim, 64, got 72; V is a part of a row");
    problem.head_dim_v = DIM;
    problem.scale_rule = FMHA_SCALE_THREE_QUARTERS;
    made_expect(
        fmha_mla(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_mla: scale_rule: expected a value of enum fmha_scale_rule, 0 where kv_dtype is not FMHA_KV_MXFP4, got "
        "1 with kv_dtype 0; set it to 0");
    problem.scale_rule = 0;
    problem.q.data = (void *)256;
    made_expect(fmha_mla(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_mla: kv: expected the address of a tensor, got NULL; give the problem its kv");
    problem.kv_dtype = FMHA_KV_E4M3;
    problem.kv.data = (void *)256;
    made_expect(fmha_mla(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_mla: kv_scales: expected the address of a tensor, got NULL; give the problem its kv_scales");
    problem.kv_scales.data = problem.o.data = (void *)256;
    problem.splits = 2;
    made_expect(
        fmha_mla(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_mla: workspace: expected 1040 bytes at an address that is a multiple of 256 for the partial results of "
        "2 splits, got 0 bytes at (nil); fmha_mla_workspace_bytes says how many a problem may need");
    problem.struct_bytes = 16;
    made_expect_short(fmha_mla(device, &problem), "fmha_mla", sizeof problem, 16);
}

Test(decode, explains_the_splits) {
    struct told told = {.count = 0};
    fmha_decode_problem problem = sizes(2, 8, 2, 3, 4000);
    problem.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    made_add_library("decode", "--op decode --hd 64 --causal");
    made_add_library("merge", "--op merge");
    cr_assert_eq(fmha_decode_explain(device, &problem, tell, &told), FMHA_OK, "%s", fmha_last_error());
    cr_expect_str_eq(
        told.text,
        "splits: 25: 2 x 2 x 1 workgroups of 1 wave without splitting, 80 SIMDs filled with 2 waves each, 4000 keys of "
        "which a split is to have at least 128\n"
        "* fmha_decode_gfx1151_f16_d64_causal_m16k32w1_kdirect: taken: by its text, from the cache or compiled on "
        "first "
        "use\n"
        "fmha_merge_gfx1151_f16_w2: serves operation merge, not decode\n"
        "fmha_decode_gfx1151_f16_d64_causal_m16k32w1_kdirect: serves operation decode, not merge\n"
        "* fmha_merge_gfx1151_f16_w2: taken: by its text, from the cache or compiled on first use\n");
    told = (struct told){.count = 0};
    problem.splits = 1;
    cr_assert_eq(fmha_decode_explain(device, &problem, tell, &told), FMHA_OK, "%s", fmha_last_error());
    cr_expect_str_eq(told.text,
                     "splits: 1: asked for\n"
                     "* fmha_decode_gfx1151_f16_d64_causal_m16k32w1_kdirect: taken: by its text, from the cache or "
                     "compiled on first use\n"
                     "fmha_merge_gfx1151_f16_w2: serves operation merge, not decode\n");
}

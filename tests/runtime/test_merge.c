/* fmha_merge on the emulated device, with instances that fmhagen makes: what it accepts, what it makes of partial
 * results, and that attention over parts of the keys, merged, is attention over all of them. Error texts are compared
 * whole. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha.h"
#include "made_support.h"

#define POISON 0x7fd5u

TestSuite(merge, .init = made_set_up, .fini = made_tear_down, .timeout = 120);

static void add_merge_library(void) {
    made_add_library("merge", "--op merge --partial f32,same --align 16,2");
}

/* ---- Numbers ---- */

static uint64_t state = 1;

/* Between -1 and 1, of eleven bits, so that f16 has it too. */
static float random_number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((int)(state >> 53) - 1024) / 1024.0f;
}

static double half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double magnitude = exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits & 1023, -24);
    return bits >> 15 ? -magnitude : magnitude;
}

/* The bits of a number that f16 has, 2^-10 or more in magnitude. */
static uint16_t half_bits(float number) {
    int exponent;
    double fraction = frexp(fabs((double)number), &exponent);
    uint16_t magnitude = number == 0 ? 0 : (uint16_t)((exponent + 14) << 10 | ((int)ldexp(fraction, 11) & 1023));
    return (uint16_t)(signbit(number) ? magnitude | 0x8000 : magnitude);
}

/* Memory of the device with its copy on the host, declared as what the access says. */
struct block {
    void *host, *device;
    size_t bytes;
};

static struct block block_new(const char *label, size_t bytes, const void *contents) {
    struct block block = {.host = malloc(bytes), .bytes = bytes};
    cr_assert_not_null(block.host);
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        memcpy((char *)block.host + i, &(uint16_t){POISON}, 2);
    }
    if (contents != NULL) {
        memcpy(block.host, contents, bytes);
    }
    cr_assert_eq(fmha_memory_alloc(device, bytes, label, &block.device), FMHA_OK);
    cr_assert_eq(fmha_memory_write(device, block.device, block.host, bytes), FMHA_OK);
    return block;
}

static void read_back(struct block *block) {
    cr_assert_eq(fmha_memory_read(device, block->host, block->device, block->bytes), FMHA_OK);
}

static void block_free(struct block *block) {
    fmha_memory_free(device, block->device);
    free(block->host);
}

/* ---- What is made ---- */

enum { BATCH = 2, HEADS = 3, ROWS = 5, DIM = 24, ALL = BATCH * HEADS * ROWS };

/* Partial results [batch][row][head][split][column] of `partial_dtype`, O [batch][row][head][column] with gaps of
 * `gap` elements, so that every stride is another; the third partial result of some rows is empty. */
static void check_merge(int splits, int32_t partial_dtype, int gap) {
    const int partial_row = DIM + gap, o_row = DIM + 2 * gap;
    const size_t element = partial_dtype == FMHA_DTYPE_F16 ? 2 : 4;
    float *lse = malloc((size_t)splits * ALL * sizeof *lse + 1);
    unsigned char *partial = malloc((size_t)ALL * (size_t)splits * (size_t)partial_row * element + 1);
    cr_assert(lse && partial);
    memset(partial, 0xff, (size_t)ALL * (size_t)splits * (size_t)partial_row * element); /* NaN in every type */
    for (int i = 0; i < splits * ALL; i++) {
        lse[i] = i / ALL == 2 && i % 4 == 0 ? -INFINITY : 3 * random_number();
    }
    fmha_merge_problem problem = FMHA_MERGE_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.partial_dtype = partial_dtype;
    problem.splits = splits;
    problem.batch = BATCH;
    problem.heads_q = HEADS;
    problem.seqlen_q = ROWS;
    problem.head_dim_v = DIM;
    problem.stride_o_partial_split = partial_row;
    problem.o_partial.stride_head = (int64_t)splits * partial_row;
    problem.o_partial.stride_row = HEADS * problem.o_partial.stride_head;
    problem.o_partial.stride_batch = ROWS * problem.o_partial.stride_row;
    problem.o.stride_head = o_row;
    problem.o.stride_row = HEADS * o_row;
    problem.o.stride_batch = (int64_t)ROWS * HEADS * o_row;
    double *expected = calloc((size_t)ALL * DIM, sizeof *expected);
    double *sum = calloc(ALL, sizeof *sum);
    cr_assert(expected && sum);
    for (int i = 0; i < splits * ALL; i++) {
        int s = i / ALL, row = i % ALL, b = row / ROWS / HEADS, h = row / ROWS % HEADS, q = row % ROWS;
        int64_t at = b * problem.o_partial.stride_batch + h * problem.o_partial.stride_head +
                     q * problem.o_partial.stride_row + s * problem.stride_o_partial_split;
        sum[row] += exp((double)lse[i]);
        for (int d = 0; d < DIM && lse[i] != -INFINITY; d++) {
            float number = random_number();
            uint16_t bits = half_bits(number);
            memcpy(partial + (size_t)(at + d) * element, element == 2 ? (void *)&bits : (void *)&number, element);
            expected[row * DIM + d] += exp((double)lse[i]) * (double)number;
        }
    }
    struct block from =
        block_new("o_partial", (size_t)ALL * (size_t)splits * (size_t)partial_row * element + 1, partial);
    struct block lses = block_new("lse_partial", (size_t)splits * ALL * sizeof *lse + 1, lse);
    struct block o = block_new("o", (size_t)ALL * (size_t)o_row * 2, NULL);
    struct block out = block_new("lse", ALL * sizeof(float), NULL);
    problem.o_partial.data = from.device;
    problem.lse_partial = lses.device;
    problem.o.data = o.device;
    problem.lse = out.device;
    cr_assert_eq(fmha_merge_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
    made_finish(fmha_merge(device, &problem));
    read_back(&o);
    read_back(&out);
    for (int row = 0; row < ALL; row++) {
        int b = row / ROWS / HEADS, h = row / ROWS % HEADS, q = row % ROWS;
        uint16_t *line =
            (uint16_t *)o.host + b * problem.o.stride_batch + h * problem.o.stride_head + q * problem.o.stride_row;
        /* LSE is at most 3 + ln 5 in magnitude: float32 is off by a few 2^-22 of it. */
        double wanted = log(sum[row]), got = (double)((float *)out.host)[row];
        cr_assert(wanted == got || fabs(wanted - got) < 1e-5, "lse %d: expected %.9g, got %.9g", row, wanted, got);
        for (int d = 0; d < DIM; d++) {
            double value = sum[row] > 0 ? expected[row * DIM + d] / sum[row] : 0; /* below 1: half a unit is 2^-12 */
            cr_assert(fabs(value - half(line[d])) <= 0x1.01p-12, "o %d %d: expected %.9g, got %.9g", row, d, value,
                      half(line[d]));
        }
        for (int d = DIM; d < o_row; d++) {
            cr_assert_eq(line[d], POISON, "after row %d", row);
        }
    }
    struct block *blocks[] = {&from, &lses, &o, &out};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        block_free(blocks[i]);
    }
    free(lse);
    free(partial);
    free(expected);
    free(sum);
}

Test(merge, any_number_of_partial_results_of_any_strides) {
    add_merge_library();
    const int32_t types[] = {0, FMHA_DTYPE_F32, FMHA_DTYPE_F16};
    const int splits[] = {0, 1, 2, 5};
    for (size_t type = 0; type < 3; type++) {
        for (size_t i = 0; i < 4; i++) {
            check_merge(splits[i], types[type], 8);
            check_merge(splits[i], types[type], 3);
        }
    }
}

Test(merge, one_partial_result_is_what_it_was) {
    add_merge_library();
    const float numbers[8] = {1.0f, -0.0f, 0x1.002p0f, 0x1.006p0f, 65519.0f, 65520.0f, 0x1p-25f, -0x1.8p-25f};
    const uint16_t rounded[8] = {0x3c00, 0x8000, 0x3c00, 0x3c02, 0x7bff, 0x7c00, 0, 0x8001}; /* ties to even */
    const float lse = -12345.678f;
    struct block from = block_new("o_partial", sizeof numbers, numbers);
    struct block lses = block_new("lse_partial", sizeof lse, &lse);
    struct block o = block_new("o", sizeof rounded, NULL), out = block_new("lse", sizeof lse, NULL);
    fmha_merge_problem problem = FMHA_MERGE_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.splits = problem.batch = problem.heads_q = problem.seqlen_q = 1;
    problem.head_dim_v = 8;
    problem.o_partial.data = from.device;
    problem.lse_partial = lses.device;
    problem.o.data = o.device;
    problem.lse = out.device;
    made_finish(fmha_merge(device, &problem));
    read_back(&o);
    read_back(&out);
    cr_assert_arr_eq((uint16_t *)o.host, rounded, sizeof rounded);
    cr_assert_arr_eq((float *)out.host, &lse, sizeof lse);
    struct block *blocks[] = {&from, &lses, &o, &out};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        block_free(blocks[i]);
    }
}

Test(merge, attention_over_parts_of_the_keys_is_attention) {
    enum { QUERIES = 7, KEYS = 90, PART = 33, HEAD_DIM = 64, PARTS = 3, ELEMENTS = 2 * QUERIES * HEAD_DIM };
    add_merge_library();
    made_add_library("forward", "--hd 64");
    uint16_t q[ELEMENTS], k[KEYS * HEAD_DIM], v[KEYS * HEAD_DIM];
    for (int i = 0; i < ELEMENTS; i++) {
        q[i] = half_bits(random_number());
    }
    for (int i = 0; i < KEYS * HEAD_DIM; i++) {
        k[i] = half_bits(random_number());
        v[i] = half_bits(random_number());
    }
    struct block qs = block_new("q", sizeof q, q), ks = block_new("k", sizeof k, k), vs = block_new("v", sizeof v, v);
    struct block parts = block_new("parts", PARTS * sizeof q, NULL), o = block_new("o", sizeof q, NULL);
    struct block lses = block_new("lses", PARTS * 2 * QUERIES * sizeof(float), NULL);
    struct block lse = block_new("lse", 2 * QUERIES * sizeof(float), NULL);
    struct block whole = block_new("whole", sizeof q, NULL);
    struct block whole_lse = block_new("whole_lse", 2 * QUERIES * sizeof(float), NULL);
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.head_dim = HEAD_DIM;
    problem.scale = 0.125f;
    problem.batch = problem.heads_k = 1;
    problem.heads_q = 2;
    problem.seqlen_q = QUERIES;
    problem.q = (fmha_tensor){qs.device, 0, (int64_t)QUERIES * HEAD_DIM, HEAD_DIM};
    for (int part = -1; part < PARTS; part++) { /* -1: all keys */
        int first = part < 0 ? 0 : part * PART;
        problem.seqlen_k = part < 0 ? KEYS : KEYS - first < PART ? KEYS - first : PART;
        problem.k = (fmha_tensor){(uint16_t *)ks.device + (size_t)first * HEAD_DIM, 0, 0, HEAD_DIM};
        problem.v = (fmha_tensor){(uint16_t *)vs.device + (size_t)first * HEAD_DIM, 0, 0, HEAD_DIM};
        problem.o = problem.q;
        problem.o.data = part < 0 ? whole.device : (uint16_t *)parts.device + (size_t)part * ELEMENTS;
        problem.lse = part < 0 ? whole_lse.device : (float *)lses.device + (size_t)part * 2 * QUERIES;
        made_finish(fmha_forward(device, &problem));
    }
    fmha_merge_problem merge = FMHA_MERGE_PROBLEM_INIT;
    merge.dtype = merge.partial_dtype = FMHA_DTYPE_F16;
    merge.splits = PARTS;
    merge.batch = 1;
    merge.heads_q = 2;
    merge.seqlen_q = QUERIES;
    merge.head_dim_v = HEAD_DIM;
    merge.o_partial = merge.o = problem.q;
    merge.o_partial.data = parts.device;
    merge.stride_o_partial_split = ELEMENTS;
    merge.lse_partial = lses.device;
    merge.o.data = o.device;
    merge.lse = lse.device;
    made_finish(fmha_merge(device, &merge));
    read_back(&o);
    read_back(&whole);
    read_back(&lse);
    read_back(&whole_lse);
    for (int i = 0; i < ELEMENTS; i++) { /* P and O are rounded to 11 bits in each run, O once more by the merge */
        double a = half(((uint16_t *)o.host)[i]), b = half(((uint16_t *)whole.host)[i]);
        cr_assert(fabs(a - b) <= 0x1p-9, "%d: expected %g, got %g", i, b, a);
    }
    for (int i = 0; i < 2 * QUERIES; i++) {
        double a = (double)((float *)lse.host)[i], b = (double)((float *)whole_lse.host)[i];
        cr_assert(fabs(a - b) <= 1e-4, "LSE %d: expected %g, got %g", i, b, a);
    }
    struct block *blocks[] = {&qs, &ks, &vs, &parts, &o, &lses, &lse, &whole, &whole_lse};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        block_free(blocks[i]);
    }
}

Test(merge, is_made_by_the_generator_where_no_library_has_it) {
    setenv("FMHA_GENERATOR", FMHAGEN_PATH, 1);
    check_merge(3, FMHA_DTYPE_F16, 3);
}

/* ---- What is refused ---- */

static fmha_merge_problem whole_problem(void) {
    static float memory[64];
    fmha_merge_problem problem = FMHA_MERGE_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_BF16;
    problem.splits = 2;
    problem.batch = problem.heads_q = problem.seqlen_q = 1;
    problem.head_dim_v = problem.stride_o_partial_split = 8;
    problem.o_partial.data = problem.o.data = memory;
    problem.lse_partial = memory;
    return problem;
}

Test(merge, refuses) {
    fmha_merge_problem problem = whole_problem();
    made_expect(fmha_merge(NULL, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_merge: expected a device and a problem, got NULL; pass a valid pointer");
    made_expect(fmha_merge(device, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_merge: expected a device and a problem, got NULL; pass a valid pointer");
    char text[256];
    problem.struct_bytes = 8;
    made_expect_short(fmha_merge(device, &problem), "fmha_merge", sizeof problem, 8);
    problem = whole_problem();
    problem.dtype = FMHA_DTYPE_F32;
    made_expect(fmha_merge(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_merge: dtype: expected FMHA_DTYPE_F16 or FMHA_DTYPE_BF16, got 3; set dtype to one of them");
    problem = whole_problem();
    problem.partial_dtype = FMHA_DTYPE_F16;
    made_expect(fmha_merge(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_merge: partial_dtype: expected FMHA_DTYPE_F32 or that of O, 2, got 1; set it to one of them");
    problem = whole_problem();
    problem.splits = -1;
    made_expect(
        fmha_merge(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_merge: expected splits, batch, heads_q, seqlen_q and head_dim_v of 0 and up, got -1, 1, 1, 1 and 8; "
        "set them to the tensors' sizes");
    problem = whole_problem();
    problem.o_partial.data = NULL;
    made_expect(fmha_merge(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_merge: o_partial: expected the address of a tensor, got NULL; give the problem its o_partial");
    problem = whole_problem();
    problem.o_partial.data = (char *)problem.o_partial.data + 2;
    snprintf(text, sizeof text,
             "fmha_merge: o_partial: expected an address that is a multiple of 4, got %p; align o_partial to 4 bytes",
             problem.o_partial.data);
    made_expect(fmha_merge(device, &problem), FMHA_ERROR_ARGUMENT, text);
    problem = whole_problem();
    problem.stride_o_partial_split = -8;
    made_expect(
        fmha_merge(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_merge: stride_o_partial_split: expected 0 and up, below 2^62 elements, got -8; pass partial results "
        "that do not run backwards, with strides in elements");
    problem = whole_problem();
    problem.lse_partial = NULL;
    made_expect(
        fmha_merge(device, &problem), FMHA_ERROR_ARGUMENT,
        "fmha_merge: lse_partial: expected the address of a tensor, got NULL; give the problem its lse_partial");
    problem = whole_problem();
    problem.o.data = NULL;
    made_expect(fmha_merge(device, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_merge: o: expected the address of a tensor, got NULL; give the problem its o");
}

Test(merge, nothing_to_merge_needs_no_instance) {
    fmha_merge_problem problem = whole_problem();
    problem.seqlen_q = 0;
    cr_assert_eq(fmha_merge(device, &problem), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_merge_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
    problem.seqlen_q = 1;
    problem.partial_dtype = FMHA_DTYPE_BF16;
    problem.stride_o_partial_split = 9;
    made_expect(
        fmha_merge_prepare(device, &problem), FMHA_ERROR_NO_INSTANCE,
        "operation=merge dtype=bf16 mask=none v_layout=row align=2 partial=same on gfx1151: expected an instance, "
        "got none among 0 in 0 libraries; make one with `fmhagen library DIR --arch gfx1151 --op merge --dtype bf16 "
        "--align 2 --partial=same` and name DIR in FMHA_LIBRARY_PATH; fmhagen, which could make one, is not here "
        "(FMHA_GENERATOR names it)");
}

Test(merge, sizes_beyond_the_kernels_are_no_instance) {
    add_merge_library();
    fmha_merge_problem problem = whole_problem();
    problem.dtype = FMHA_DTYPE_F16;
    problem.batch = 70000;
    problem.heads_q = 60000;
    cr_assert_eq(fmha_merge_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
    problem.heads_q = 62000;
    cr_assert_eq(fmha_merge_prepare(device, &problem), FMHA_ERROR_NO_INSTANCE);
    cr_assert(strstr(fmha_last_error(),
                     "expected batch * heads_q * seqlen_q * (head_dim_v / 8) at most 4294967232, got "
                     "4340000000"),
              "%s", fmha_last_error());
    problem = whole_problem();
    problem.dtype = FMHA_DTYPE_F16;
    problem.head_dim_v = 520;
    cr_assert_eq(fmha_merge_prepare(device, &problem), FMHA_ERROR_NO_INSTANCE);
    cr_assert(strstr(fmha_last_error(), "expected head_dim_v at most 512, got 520"), "%s", fmha_last_error());
}

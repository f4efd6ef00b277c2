/* fmha_quantize on the emulated device, with instances that fmhagen makes: what it accepts, and which scale goes where.
 * Error texts are compared whole. That kernels are right is the matter of `fmhagen verify`. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha.h"
#include "made_support.h"

TestSuite(quantizing, .init = made_set_up, .fini = made_tear_down, .timeout = 120);

/* 200 rows of each head: more than one workgroup looks for its scale. */
enum { BATCH = 2, HEADS = 3, ROWS = 100, DIM = 16, ALL = BATCH * HEADS * ROWS };

/* All values of row r of head h of batch b are 2^(h - 1), but that one row of each head has a 2^(h + b):
 * [batch][row][head] in float32. */
static float value_of(int batch, int head, int row, int column) {
    bool large = row == 10 * (head + 1) + 60 * batch && column == head;
    return ldexpf(1, large ? head + batch : head - 1);
}

static fmha_quantize_problem plain(void) {
    fmha_quantize_problem problem = FMHA_QUANTIZE_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F32;
    problem.kv_dtype = FMHA_KV_E4M3;
    problem.head_dim = DIM;
    problem.batch = BATCH;
    problem.heads = HEADS;
    problem.seqlen = ROWS;
    return problem;
}

static void fill(fmha_quantize_problem *problem, int scales) {
    static float values[ALL * DIM], none[ALL];
    static uint8_t numbers[ALL * DIM];
    for (int i = 0; i < ALL * DIM; i++)
        values[i] = value_of(i / DIM / HEADS / ROWS, i / DIM % HEADS, i / DIM / HEADS % ROWS, i % DIM);
    problem->from =
        (fmha_tensor){made_copy("from", values, sizeof values), (int64_t)ROWS * HEADS * DIM, DIM, (int64_t)HEADS * DIM};
    problem->to =
        (fmha_tensor){made_copy("to", numbers, sizeof numbers), (int64_t)HEADS * ROWS * DIM, (int64_t)ROWS * DIM, DIM};
    problem->scale =
        (fmha_tensor){made_copy("scale", none, (size_t)scales * sizeof *none), (int64_t)HEADS * ROWS, ROWS, 1};
    size_t bytes;
    cr_assert_eq(fmha_quantize_workspace_bytes(device, problem, &bytes), FMHA_OK, "%s", fmha_last_error());
    if (bytes > 0)
        problem->workspace = made_copy("workspace", none, bytes);
    problem->workspace_bytes = bytes;
}

/* The code of 448 / 2^halvings: the exponent is in the bits from 3 on. */
static uint8_t code(int halvings) {
    return (uint8_t)(0x7e - 8 * halvings);
}

static float *read_scales(const fmha_quantize_problem *problem, int count) {
    static float scales[ALL];
    cr_assert_eq(fmha_memory_read(device, scales, problem->scale.data, (size_t)count * sizeof *scales), FMHA_OK);
    return scales;
}

/* Every number is its value over the power of two that its scale times 448 is. */
static void check_numbers(const fmha_quantize_problem *problem, int (*power)(int batch, int head, int row)) {
    static uint8_t numbers[ALL * DIM];
    cr_assert_eq(fmha_memory_read(device, numbers, problem->to.data, sizeof numbers), FMHA_OK);
    for (int i = 0; i < ALL * DIM; i++) {
        int batch = i / DIM / ROWS / HEADS, head = i / DIM / ROWS % HEADS, row = i / DIM % ROWS;
        int halvings = power(batch, head, row) - ilogbf(value_of(batch, head, row, i % DIM));
        cr_assert_eq(numbers[i], code(halvings), "batch %d, head %d, row %d: expected 0x%02x, got 0x%02x", batch, head,
                     row, code(halvings), numbers[i]);
    }
}

static int of_tensor(int batch, int head, int row) {
    (void)batch, (void)head, (void)row;
    return HEADS;
}

static int of_head(int batch, int head, int row) {
    (void)batch, (void)row;
    return head + 1;
}

static int of_row(int batch, int head, int row) {
    return ilogbf(value_of(batch, head, row, head));
}

static int of_given(int batch, int head, int row) {
    (void)row;
    return 4 + 2 * batch + (head > 0);
}

static void add_libraries(void) {
    made_add_library("shared", "--op quantize --from f32 --hd 16 --kv-dtype e4m3 --pass numbers,scales");
    made_add_library("tokens", "--op quantize --from f32 --hd 16 --kv-dtype e4m3 --kv-scale token");
}

Test(quantizing, scales_of_the_tensor_of_heads_and_of_tokens) {
    add_libraries();
    fmha_quantize_problem problem = plain();
    fill(&problem, 1);
    cr_assert_eq(problem.workspace_bytes, 10 * sizeof(float)); /* 600 rows */
    made_finish(fmha_quantize(device, &problem));
    check_numbers(&problem, of_tensor);
    cr_assert_eq(read_scales(&problem, 1)[0], 8.0f / 448);

    problem = plain();
    problem.share = FMHA_SHARE_HEAD;
    fill(&problem, 2 * HEADS);
    problem.scale.stride_head = 2;
    cr_assert_eq(problem.workspace_bytes, 4 * HEADS * sizeof(float)); /* 200 rows each */
    made_finish(fmha_quantize(device, &problem));
    check_numbers(&problem, of_head);
    for (int head = 0; head < HEADS; head++) {
        const float *scales = read_scales(&problem, 2 * HEADS);
        cr_assert_eq(scales[2 * head], ldexpf(1, head + 1) / 448);
        cr_assert_eq(scales[2 * head + 1], 0);
    }

    problem = plain();
    problem.share = FMHA_SHARE_TOKEN;
    fill(&problem, ALL);
    cr_assert_eq(problem.workspace_bytes, 0);
    made_finish(fmha_quantize(device, &problem));
    check_numbers(&problem, of_row);
    for (int i = 0; i < ALL; i++)
        cr_assert_eq(read_scales(&problem, ALL)[i],
                     ldexpf(1, of_row(i / ROWS / HEADS, i / ROWS % HEADS, i % ROWS)) / 448);
}

Test(quantizing, scales_that_are_given) {
    add_libraries();
    float scales[BATCH * 4] = {0}; /* [batch][head] with a gap */
    for (int i = 0; i < BATCH * 4; i++)
        scales[i] = ldexpf(1, of_given(i / 4, i % 4, 0)) / 448;
    fmha_quantize_problem problem = plain();
    problem.given = 1;
    fill(&problem, 1);
    cr_assert_eq(problem.workspace_bytes, 0);
    problem.scale = (fmha_tensor){made_copy("scales", scales, sizeof scales), 4, 1, 0};
    made_finish(fmha_quantize(device, &problem));
    check_numbers(&problem, of_given);
}

static void expect_error(fmha_quantize_problem problem, const char *text) {
    made_expect(fmha_quantize(device, &problem), FMHA_ERROR_ARGUMENT, text);
}

Test(quantizing, wrong_problems_are_refused) {
    fmha_quantize_problem problem = plain();
    size_t bytes;
    made_expect(fmha_quantize(NULL, &problem), FMHA_ERROR_ARGUMENT,
                "fmha_quantize: expected a device and a problem, got NULL; pass a valid pointer");
    made_expect(fmha_quantize_workspace_bytes(device, &problem, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_quantize: bytes: expected where to put a number, got NULL; pass a valid pointer");
    problem.kv_dtype = FMHA_KV_SAME;
    expect_error(problem,
                 "fmha_quantize: kv_dtype: expected a small format of enum fmha_kv_dtype, got 0; set kv_dtype to "
                 "one of them");
    cr_expect_eq(fmha_quantize_workspace_bytes(device, &problem, &bytes), FMHA_ERROR_ARGUMENT);
    problem = plain();
    problem.dtype = 0;
    expect_error(problem,
                 "fmha_quantize: dtype: expected FMHA_DTYPE_F16, FMHA_DTYPE_BF16 or FMHA_DTYPE_F32, got 0; set "
                 "dtype to one of them");
    problem = plain();
    problem.kv_dtype = FMHA_KV_MXFP4;
    problem.share = FMHA_SHARE_HEAD;
    expect_error(problem, "fmha_quantize: share: expected a value of enum fmha_scale_share, and 0 with mxfp4 or given "
                          "scales, got 1 with kv_dtype 5; leave it at 0 there");
    problem.share = 0;
    problem.given = 1;
    expect_error(problem, "fmha_quantize: given: expected 0, or 1 with fp8, got 1 with kv_dtype 5; leave it at 0 where "
                          "scales are to be made");
    problem = plain();
    problem.scale_rule = FMHA_SCALE_THREE_QUARTERS;
    expect_error(problem,
                 "fmha_quantize: scale_rule: expected a value of enum fmha_scale_rule, and 0 where kv_dtype is "
                 "not FMHA_KV_MXFP4, got 1 with kv_dtype 1; leave it at 0 there");
    problem = plain();
    problem.seqlen = -1;
    expect_error(problem,
                 "fmha_quantize: expected batch, heads and seqlen of 0 and up and head_dim of 0 to 65535, got 2, "
                 "3, -1 and 16; set them to the tensor's sizes");
    problem = plain();
    expect_error(problem, "fmha_quantize: from: expected the address of a tensor, got NULL; give the problem its from");
    fill(&problem, 1);
    problem.workspace_bytes = 39;
    char text[256];
    snprintf(text, sizeof text,
             "fmha_quantize: workspace: expected 40 bytes of device memory, aligned to 4, got 39 at %p; allocate what "
             "fmha_quantize_workspace_bytes says",
             problem.workspace);
    expect_error(problem, text);
    problem = plain();
    problem.share = FMHA_SHARE_HEAD;
    problem.heads = (int64_t)1 << 62; /* a part of each is four bytes: 2^64 together */
    made_expect(fmha_quantize_workspace_bytes(device, &problem, &bytes), FMHA_ERROR_ARGUMENT,
                "fmha_quantize: heads: expected a workspace of less than 2^63 bytes, got "
                "4611686018427387904 heads with a scale each; quantize fewer heads at once");
    cr_expect_eq(bytes, 0);
    problem = plain();
    problem.batch = 0;
    cr_expect_eq(fmha_quantize(device, &problem), FMHA_OK, "%s", fmha_last_error());
    cr_expect_eq(fmha_quantize_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
}

Test(quantizing, both_passes_are_prepared) {
    made_add_library("numbers", "--op quantize --from f32 --hd 16 --kv-dtype e4m3");
    fmha_quantize_problem problem = plain();
    cr_expect_eq(fmha_quantize_prepare(device, &problem), FMHA_ERROR_NO_INSTANCE);
    cr_expect(strstr(fmha_last_error(), "--pass=scales"), "%s", fmha_last_error());
    made_add_library("scales", "--op quantize --from f32 --hd 16 --kv-dtype e4m3 --pass scales");
    cr_assert_eq(fmha_device_forget(device), FMHA_OK, "%s", fmha_last_error());
    cr_expect_eq(fmha_quantize_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
}

/* From the public struct to a launch: what is refused, what is empty, what arrives in the argument block. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dispatch_support.h"
#include "problem.h"

static fmha_device *device;

static void set_up(void) {
    static const struct test_instance instances[] = {{.name = "aligned", .source = "1"},
                                                     {.name = "any", .align = 2, .source = "2"},
                                                     {.name = "vt", .v_layout = "transposed", .source = "3"}};
    dispatch_set_up();
    dispatch_library("library", instances, 3);
    device = dispatch_open();
}

static void tear_down(void) {
    fmha_device_close(device);
    dispatch_tear_down();
}

TestSuite(problem, .init = set_up);

static void expect_launched(const fmha_forward_problem *problem, const char *symbol) {
    int launches = fake->launches;
    cr_assert_eq(fmha_forward(device, problem), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fake->launches, launches + 1);
    cr_assert_str_eq(fake->launched_symbol, symbol);
}

static void refused(const fmha_forward_problem *problem, const char *text) {
    dispatch_expect(fmha_forward(device, problem), FMHA_ERROR_ARGUMENT, text);
    cr_assert_eq(fake->launches, 0);
    cr_assert_eq(fake->compiles, 0, "refused before anything is looked for");
}

/* ---- What is refused -------------------------------------------------------------------------------------- */

Test(problem, null_is_refused) {
    fmha_forward_problem problem = dispatch_problem();
    size_t bytes;
    static const char text[] = "fmha_forward: expected a device and a problem, got NULL; pass a valid pointer";
    dispatch_expect(fmha_forward(NULL, &problem), FMHA_ERROR_ARGUMENT, text);
    dispatch_expect(fmha_forward(device, NULL), FMHA_ERROR_ARGUMENT, text);
    dispatch_expect(fmha_forward_prepare(NULL, &problem), FMHA_ERROR_ARGUMENT, text);
    dispatch_expect(fmha_forward_prepare(device, NULL), FMHA_ERROR_ARGUMENT, text);
    dispatch_expect(fmha_forward_workspace_bytes(device, NULL, &bytes), FMHA_ERROR_ARGUMENT, text);
    dispatch_expect(fmha_forward_workspace_bytes(device, &problem, NULL), FMHA_ERROR_ARGUMENT,
                    "fmha_forward_workspace_bytes: expected a place for the size, got NULL; pass a valid pointer");
    dispatch_expect(fmha_forward_explain(device, &problem, NULL, NULL), FMHA_ERROR_ARGUMENT,
                    "fmha_forward_explain: expected a function to call, got NULL; pass a valid pointer");
    dispatch_expect(fmha_device_forget(NULL), FMHA_ERROR_ARGUMENT,
                    "fmha_device_forget: expected a device, got NULL; pass a valid pointer");
    dispatch_expect(fmha_device_add_library(NULL, "x"), FMHA_ERROR_ARGUMENT,
                    "fmha_device_add_library: expected a device and a folder, got NULL; pass a valid pointer");
    dispatch_expect(fmha_device_add_library(device, NULL), FMHA_ERROR_ARGUMENT,
                    "fmha_device_add_library: expected a device and a folder, got NULL; pass a valid pointer");
    dispatch_expect(fmha_device_add_library(device, ""), FMHA_ERROR_ARGUMENT,
                    "fmha_device_add_library: expected a folder, got an empty name; \".\" is the working directory");
    tear_down();
}

Test(problem, words_out_of_range_are_refused) {
    fmha_forward_problem problem = dispatch_problem();
    problem.dtype = 0;
    refused(&problem,
            "fmha_forward: dtype: expected FMHA_DTYPE_F16 or FMHA_DTYPE_BF16, got 0; set dtype to one of them");
    problem.dtype = 3;
    refused(&problem,
            "fmha_forward: dtype: expected FMHA_DTYPE_F16 or FMHA_DTYPE_BF16, got 3; set dtype to one of them");
    problem = dispatch_problem();
    problem.mask = 3;
    refused(&problem, "fmha_forward: mask: expected a value of enum fmha_mask, got 3; set mask to one of them");
    problem.mask = -1;
    refused(&problem, "fmha_forward: mask: expected a value of enum fmha_mask, got -1; set mask to one of them");
    problem = dispatch_problem();
    problem.v_layout = 2;
    refused(&problem,
            "fmha_forward: v_layout: expected FMHA_V_ROW or FMHA_V_TRANSPOSED, got 2; set v_layout to one of them");
    problem = dispatch_problem();
    problem.head_dim = 0;
    refused(&problem, "fmha_forward: expected a head_dim of 1 to 65535 and a head_dim_v of 0 to 65535, got 0 and 0; "
                      "set them to the tensors' sizes");
    problem.head_dim = 65536;
    problem.head_dim_v = -1;
    refused(&problem, "fmha_forward: expected a head_dim of 1 to 65535 and a head_dim_v of 0 to 65535, got 65536 and "
                      "-1; set them to the tensors' sizes");
    problem = dispatch_problem();
    problem.scale = FMHA_FORWARD_PROBLEM_INIT.scale;
    refused(&problem, "fmha_forward: scale: expected a number, got NaN; set it, usually to 1/sqrt(head_dim)");
    problem.scale = -NAN;
    refused(&problem, "fmha_forward: scale: expected a number, got NaN; set it, usually to 1/sqrt(head_dim)");
    tear_down();
}

Test(problem, lengths_out_of_range_are_refused) {
    static const char text[] = "fmha_forward: expected batch, heads_q, seqlen_q and seqlen_k of 0 and up and heads_k "
                               "of 1 and up, got ";
    const fmha_forward_problem good = dispatch_problem();
    fmha_forward_problem problem = good;
    char whole[256];
    int64_t *const lengths[] = {&problem.batch, &problem.heads_q, &problem.seqlen_q, &problem.seqlen_k};
    static const char *const got[] = {"-1, 2, 100, 70 and 1", "1, -1, 100, 70 and 1", "1, 2, -1, 70 and 1",
                                      "1, 2, 100, -1 and 1"};
    for (int i = 0; i < 4; i++) {
        problem = good;
        *lengths[i] = -1;
        snprintf(whole, sizeof whole, "%s%s; set them to the tensors' sizes", text, got[i]);
        refused(&problem, whole);
    }
    problem = good;
    problem.heads_k = 0;
    snprintf(whole, sizeof whole, "%s%s; set them to the tensors' sizes", text, "1, 2, 100, 70 and 0");
    refused(&problem, whole);
    problem.heads_q = 3;
    problem.heads_k = 2;
    refused(
        &problem,
        "fmha_forward: expected heads_q to be a multiple of heads_k, got 3 and 2; give each head of K as many of Q");
    problem.heads_q = 1;
    refused(
        &problem,
        "fmha_forward: expected heads_q to be a multiple of heads_k, got 1 and 2; give each head of K as many of Q");
    tear_down();
}

#define BACKWARDS "; pass a tensor that does not run backwards, with strides in elements"

Test(problem, tensors_out_of_range_are_refused) {
    const fmha_forward_problem good = dispatch_problem();
    fmha_forward_problem problem = good;
    fmha_tensor *const tensors[] = {&problem.q, &problem.k, &problem.v, &problem.o};
    char text[256];
    for (int i = 0; i < 4; i++) {
        char name = "qkvo"[i];
        problem = good;
        tensors[i]->data = NULL;
        snprintf(text, sizeof text,
                 "fmha_forward: %c: expected the address of a tensor, got NULL; give the problem its %c", name, name);
        refused(&problem, text);
        problem = good;
        tensors[i]->data = (char *)tensors[i]->data + 1;
        snprintf(text, sizeof text,
                 "fmha_forward: %c: expected an address that is a multiple of 2, got 0x%d0001; align %c to 2 bytes",
                 name, i + 1, name);
        refused(&problem, text);
        problem = good;
        tensors[i]->stride_row = -128;
        snprintf(text, sizeof text,
                 "fmha_forward: %c: expected strides of 0 and up, below 2^62 elements, got -128" BACKWARDS, name);
        refused(&problem, text);
        tensors[i]->stride_row = INT64_C(1) << 62;
        snprintf(
            text, sizeof text,
            "fmha_forward: %c: expected strides of 0 and up, below 2^62 elements, got 4611686018427387904" BACKWARDS,
            name);
        refused(&problem, text);
    }
    problem = good;
    problem.lse = (float *)0x50002;
    refused(&problem,
            "fmha_forward: lse: expected an address that is a multiple of 4, got 0x50002; align lse to 4 bytes");
    tear_down();
}

/* ---- The struct's size ------------------------------------------------------------------------------------ */

/* Places bytes so that whatever lies behind them cannot be read. */
static void *before_nothing(const void *bytes, size_t count) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(pages, MAP_FAILED);
    cr_assert_eq(mprotect(pages + page, page, PROT_NONE), 0);
    return memcpy(pages + page - count, bytes, count);
}

static void leave(void *place, size_t count) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    cr_assert_eq(munmap((char *)place + count - page, 2 * page), 0);
}

/* A struct of an older header is read as far as it goes; what came later is 0. */
Test(problem, struct_of_an_older_header) {
    struct today {
        size_t struct_bytes;
        int64_t first, second;
        void *appended[3];
    } whole = {.struct_bytes = sizeof whole, .first = 1, .second = 2, .appended = {&whole, &whole, &whole}}, room;
    const size_t older_bytes = offsetof(struct today, appended);
    whole.struct_bytes = older_bytes;
    struct today *older = before_nothing(&whole, older_bytes);
    memset(&room, 0xff, sizeof room);
    const struct today *read = fmha_problem_adapt("f", "today", older, older_bytes, older_bytes, &room, sizeof room);
    cr_assert_eq(read, &room);
    cr_assert_eq(read->struct_bytes, older_bytes);
    cr_assert_eq(read->first, 1);
    cr_assert_eq(read->second, 2);
    for (int i = 0; i < 3; i++) {
        cr_assert_null(read->appended[i]);
    }
    cr_assert_null(fmha_problem_adapt("f", "today", older, older_bytes - 1, older_bytes, &room, sizeof room));
    cr_assert_str_eq(fmha_last_error(), "f: struct_bytes: expected sizeof(today), at least 24, got 23; begin with the "
                                        "type's _INIT");
    leave(older, older_bytes);
    cr_assert_eq(fmha_problem_adapt("f", "today", &whole, sizeof whole, older_bytes, &room, sizeof room), &whole);
    tear_down();
}

/* The size that the first header had stays enough, and nothing beyond it is looked at. */
Test(problem, struct_of_the_first_header) {
    const size_t first_bytes = 232;
    fmha_forward_problem problem = dispatch_problem();
    problem.struct_bytes = first_bytes;
    fmha_forward_problem *placed = before_nothing(&problem, first_bytes);
    expect_launched(placed, "aligned");
    cr_assert_eq(fmha_forward_prepare(device, placed), FMHA_OK);
    leave(placed, first_bytes);
    tear_down();
}

Test(problem, size_of_another_version) {
    struct {
        fmha_forward_problem problem;
        unsigned char tail[64];
    } larger = {.problem = dispatch_problem()};
    char text[256];
    size_t known = sizeof larger.problem, first = offsetof(fmha_forward_problem, window);
    larger.problem.struct_bytes = sizeof larger;
    expect_launched(&larger.problem, "aligned");
    larger.tail[63] = 1;
    snprintf(text, sizeof text,
             "fmha_forward: fmha_forward_problem is newer than this libfmha %s and uses what it does not know (byte "
             "%zu of %zu is not 0); install the libfmha that belongs to the header",
             fmha_version(), known + 63, known + 64);
    dispatch_expect(fmha_forward(device, &larger.problem), FMHA_ERROR_ARGUMENT, text);
    larger.problem.struct_bytes = known + 63; /* what is beyond it is not looked at */
    expect_launched(&larger.problem, "aligned");

    const size_t wrong[] = {0, 8, first - 1, ((size_t)1 << 16) + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        larger.problem.struct_bytes = wrong[i];
        snprintf(text, sizeof text,
                 "fmha_forward: struct_bytes: expected sizeof(fmha_forward_problem), at least %zu, got %zu; begin with "
                 "the type's _INIT",
                 first, wrong[i]);
        dispatch_expect(fmha_forward(device, &larger.problem), FMHA_ERROR_ARGUMENT, text);
    }
    tear_down();
}

/* ---- Nothing to do, and nothing to see --------------------------------------------------------------------- */

Test(problem, without_rows_of_o_nothing_is_launched) {
    fmha_forward_problem problem = dispatch_problem();
    int64_t *const lengths[] = {&problem.batch, &problem.heads_q, &problem.seqlen_q};
    for (int i = 0; i < 3; i++) {
        problem = dispatch_problem();
        *lengths[i] = 0;
        problem.head_dim = 1000; /* that no instance serves */
        problem.q.data = problem.o.data = NULL;
        problem.q.stride_row = problem.o.stride_head = -1;
        if (i == 0) {
            problem.k.data = problem.v.data = NULL;
        }
        cr_assert_eq(fmha_forward(device, &problem), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(fmha_forward_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
    }
    cr_assert_eq(fake->launches, 0);
    cr_assert_eq(fake->compiles, 0);
    problem = dispatch_problem();
    problem.seqlen_q = 0;
    problem.heads_k = 3;
    refused(
        &problem,
        "fmha_forward: expected heads_q to be a multiple of heads_k, got 2 and 3; give each head of K as many of Q");
    tear_down();
}

/* O and LSE of rows without keys have to be written. */
Test(problem, without_keys_it_is_launched) {
    fmha_forward_problem problem = dispatch_problem();
    problem.seqlen_k = 0;
    problem.k = (fmha_tensor){NULL, -1, -1, -1};
    problem.v = (fmha_tensor){NULL, 3, 5, 7};
    expect_launched(&problem, "aligned");
    void *address;
    memcpy(&address, fake->launched_arguments + 8, 8);
    cr_assert_not_null(address, "an instance never sees NULL");
    cr_assert_eq((uintptr_t)address % 256, 0);
    problem.v_layout = FMHA_V_TRANSPOSED; /* columns are keys now */
    expect_launched(&problem, "vt");
    problem.v.data = (char *)0x30002; /* of no element: its alignment means nothing */
    expect_launched(&problem, "vt");
    tear_down();
}

/* ---- What arrives ----------------------------------------------------------------------------------------- */

Test(problem, every_value_is_packed) {
    fmha_forward_problem problem = dispatch_problem();
    int64_t strides[12] = {INT64_C(1) << 40, 3008, 2016, 5008, 7, 1504, 4000, 9, 1304, 6000, 2000, 1000};
    problem.batch = 3;
    problem.q = (fmha_tensor){(void *)0x7f0000001000, strides[0], strides[1], strides[2]};
    problem.k = (fmha_tensor){(void *)0x7f0000002000, strides[3], strides[4], strides[5]};
    problem.v = (fmha_tensor){(void *)0x7f0000003000, strides[6], strides[7], strides[8]};
    problem.o = (fmha_tensor){(void *)0x7f0000004000, strides[9], strides[10], strides[11]};
    problem.lse = (float *)0x7f0000005004;
    problem.scale = -0.0F;
    problem.stream = (void *)0x77;
    expect_launched(&problem, "aligned");
    unsigned char expected[160];
    const void *const buffers[] = {problem.q.data, problem.k.data, problem.v.data, problem.o.data};
    strides[4] = strides[7] = 0; /* one head of K and V: nothing is read of them */
    memcpy(expected, buffers, 32);
    memcpy(expected + 32, strides, 96);
    memcpy(expected + 128, &problem.lse, 8);
    memcpy(expected + 136, (const int32_t[]){3, 2, 1, 100, 70}, 20);
    memcpy(expected + 156, &problem.scale, 4);
    cr_assert_eq(fake->launched.argument_bytes, 160);
    cr_assert_arr_eq(fake->launched_arguments, expected, 160);
    cr_assert_eq(fake->launched.stream, (void *)0x77);
    cr_assert_eq(fake->launched.grid[0], 2);
    cr_assert_eq(fake->launched.grid[1], 2);
    cr_assert_eq(fake->launched.grid[2], 3);
    cr_assert_eq(fake->launched.workgroup[0], 128);
    cr_assert_eq(fake->launched.workgroup[1], 1);
    cr_assert_eq(fake->launched.workgroup[2], 1);
    cr_assert_eq(fake->launched.lds_dynamic_bytes, 0);
    problem.lse = NULL;
    expect_launched(&problem, "aligned");
    memset(expected + 128, 0, 8);
    cr_assert_arr_eq(fake->launched_arguments, expected, 160);
    tear_down();
}

Test(problem, strides_up_to_the_limit_are_accepted) {
    fmha_forward_problem problem = dispatch_problem();
    problem.q.stride_row = (INT64_C(1) << 62) - 8;
    expect_launched(&problem, "aligned");
    problem.q.stride_row = (INT64_C(1) << 62) - 1;
    expect_launched(&problem, "any");
    problem.k.stride_row = 0; /* a row for all keys */
    expect_launched(&problem, "any");
    tear_down();
}

/* ---- Preparing -------------------------------------------------------------------------------------------- */

Test(problem, preparing_reads_no_tensor) {
    fmha_forward_problem problem = dispatch_problem();
    size_t bytes = 1;
    problem.q.data = problem.k.data = problem.v.data = problem.o.data = NULL;
    cr_assert_eq(fmha_forward_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fake->compiles, 1);
    cr_assert_eq(fmha_forward_workspace_bytes(device, &problem, &bytes), FMHA_OK);
    cr_assert_eq(bytes, 0);
    problem.q.data = (void *)0x10002;
    cr_assert_eq(fmha_forward_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fake->compiles, 2, "the instance for any alignment");
    cr_assert_eq(fake->launches, 0);
    problem = dispatch_problem();
    expect_launched(&problem, "aligned");
    problem.q.data = (void *)0x10002;
    expect_launched(&problem, "any");
    cr_assert_eq(fake->compiles, 2);
    tear_down();
}

/* Descriptors: which problems they serve and why not, with whole texts; the argument block and the grid. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "index.h"

static const char text[] =
    "fmha-index 1\n"
    "abi 1\n"
    "made-by a test\n"
    "interface 0 64\n"
    "argument buffer q 0 align 16\n"
    "argument buffer o 8 align 2\n"
    "argument buffer lse 16 align 4 optional\n"
    "argument i64 stride_q_row 24\n"
    "argument i32 seqlen_q 32\n"
    "argument i32 heads_q 40\n"
    "argument f32 scale 44\n"
    "constraint equals 0 heads_q % heads_k\n"
    "constraint equals 0 stride_q_row % 8\n"
    "constraint equals 1 stride_o_row % 2\n"
    "constraint min 1 heads_k\n"
    "constraint max 1000000 seqlen_q\n"
    "constraint equals 128 head_dim\n"
    "constraint min -5 seqlen_k - seqlen_q\n"
    "constraint max 9223372036854775807 batch * stride_k_row\n"
    "constraint equals 0 (heads_q / heads_k) % 4\n"
    "instance x\n"
    "target gfx1151\n"
    "key operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16\n"
    "launch wave=32 workgroup=128 lds=18960\n"
    "rank 0\n"
    "uses 0\n"
    "grid ceil_div(seqlen_q, 64)\n"
    "grid heads_q\n"
    "grid batch\n";

static struct fmha_index *index_of_all;
static const struct fmha_descriptor *descriptor;
static struct fmha_operands operands;

static void start(void) {
    char whole[sizeof text + 32];
    snprintf(whole, sizeof whole, "%send 1 %016" PRIx64 "\n", text, fmha_index_hash(text, strlen(text)));
    cr_assert_eq(fmha_index_parse("x", whole, strlen(whole), &index_of_all), FMHA_OK, "%s", fmha_last_error());
    descriptor = fmha_index_at(index_of_all, 0);
    operands = (struct fmha_operands){
        .value = {[FMHA_VALUE_BATCH] = 2,
                  [FMHA_VALUE_HEADS_Q] = 32,
                  [FMHA_VALUE_HEADS_K] = 8,
                  [FMHA_VALUE_SEQLEN_Q] = 100,
                  [FMHA_VALUE_SEQLEN_K] = 95,
                  [FMHA_VALUE_HEAD_DIM] = 128,
                  [FMHA_VALUE_STRIDE_Q_ROW] = -4096,
                  [FMHA_VALUE_STRIDE_K_ROW] = 128,
                  [FMHA_VALUE_STRIDE_O_ROW] = 129},
        .buffer = {[FMHA_BUFFER_Q] = (void *)0x10010, [FMHA_BUFFER_O] = (void *)0x20002},
        .real = {[FMHA_REAL_SCALE] = 0.125f},
    };
}

static void stop(void) {
    fmha_index_free(index_of_all);
}

TestSuite(descriptor, .init = start, .fini = stop);

static void assert_served(void) {
    int failed = -7;
    char why[256] = "";
    bool served = fmha_descriptor_serves(descriptor, &operands, &failed);
    if (!served) {
        fmha_descriptor_explain(descriptor, &operands, failed, why, sizeof why);
    }
    cr_assert(served, "%s", why);
    cr_assert_eq(failed, -7, "changed though it serves");
    cr_assert(fmha_descriptor_serves(descriptor, &operands, NULL));
}

static void assert_not_served(const char *expected) {
    int failed = -7;
    char why[256], cut[20];
    cr_assert_not(fmha_descriptor_serves(descriptor, &operands, &failed), "%s", expected);
    cr_assert_not(fmha_descriptor_serves(descriptor, &operands, NULL));
    fmha_descriptor_explain(descriptor, &operands, failed, why, sizeof why);
    cr_assert_str_eq(why, expected);
    /* Whatever the size, the text is cut and terminated. */
    for (size_t size = 1; size <= sizeof cut; size++) {
        memset(cut, 'x', sizeof cut);
        fmha_descriptor_explain(descriptor, &operands, failed, cut, size);
        cr_assert_eq(strlen(cut), size - 1);
        cr_assert(strncmp(cut, expected, size - 1) == 0);
    }
}

Test(descriptor, serves) {
    assert_served();
    operands.buffer[FMHA_BUFFER_LSE] = (void *)0x30004;
    assert_served();
}

static void assert_value(enum fmha_value value, int64_t wrong, const char *expected) {
    int64_t right = operands.value[value];
    operands.value[value] = wrong;
    assert_not_served(expected);
    operands.value[value] = right;
    assert_served();
}

Test(descriptor, says_which_constraint_fails) {
    assert_value(FMHA_VALUE_HEADS_Q, 33,
                 "expected heads_q % heads_k equal to 0, got 1; choose heads_q as a multiple of heads_k");
    assert_value(FMHA_VALUE_STRIDE_Q_ROW, 4095,
                 "expected stride_q_row % 8 equal to 0, got 7; choose stride_q_row as a multiple of 8");
    assert_value(FMHA_VALUE_STRIDE_Q_ROW, -1,
                 "expected stride_q_row % 8 equal to 0, got -1; choose stride_q_row as a multiple of 8");
    assert_value(FMHA_VALUE_STRIDE_O_ROW, 128,
                 "expected stride_o_row % 2 equal to 1, got 0; choose stride_o_row % 2 equal to 1");
    assert_value(FMHA_VALUE_STRIDE_O_ROW, -129,
                 "expected stride_o_row % 2 equal to 1, got -1; choose stride_o_row % 2 equal to 1");
    assert_value(FMHA_VALUE_HEADS_K, -8, "expected heads_k at least 1, got -8; choose heads_k at least 1");
    assert_value(FMHA_VALUE_SEQLEN_Q, 1000001,
                 "expected seqlen_q at most 1000000, got 1000001; choose seqlen_q at most 1000000");
    assert_value(FMHA_VALUE_HEAD_DIM, 64, "expected head_dim equal to 128, got 64; choose head_dim equal to 128");
    assert_value(FMHA_VALUE_SEQLEN_K, 94,
                 "expected seqlen_k - seqlen_q at least -5, got -6; choose seqlen_k - seqlen_q at least -5");
    assert_value(FMHA_VALUE_HEADS_Q, 40,
                 "expected (heads_q / heads_k) % 4 equal to 0, got 1; choose (heads_q / heads_k) as a multiple of 4");
}

Test(descriptor, a_constraint_without_a_value_fails) {
    assert_value(FMHA_VALUE_HEADS_K, 0,
                 "expected heads_q % heads_k equal to 0, got none in 64 bits; choose heads_q as a multiple of heads_k");
    assert_value(FMHA_VALUE_STRIDE_K_ROW, INT64_MAX,
                 "expected batch * stride_k_row at most 9223372036854775807, got none in 64 bits; choose batch * "
                 "stride_k_row at most 9223372036854775807");
}

static void assert_buffer(enum fmha_buffer buffer, uintptr_t wrong, const char *expected) {
    void *right = operands.buffer[buffer];
    operands.buffer[buffer] = (void *)wrong;
    assert_not_served(expected);
    operands.buffer[buffer] = right;
    assert_served();
}

Test(descriptor, says_which_argument_is_wrong) {
    assert_buffer(FMHA_BUFFER_Q, 0, "expected an address as q, got NULL; give the problem its q");
    assert_buffer(FMHA_BUFFER_Q, 0x10018,
                  "expected an address that is a multiple of 16 bytes as q, got 0x10018; align q to 16 bytes");
    assert_buffer(FMHA_BUFFER_O, 0x20001,
                  "expected an address that is a multiple of 2 bytes as o, got 0x20001; align o to 2 bytes");
    assert_buffer(FMHA_BUFFER_LSE, 0x30002,
                  "expected an address that is a multiple of 4 bytes as lse, got 0x30002; align lse to 4 bytes");
    assert_value(FMHA_VALUE_HEADS_Q, INT64_C(1) << 32,
                 "expected heads_q at most 2147483647, got 4294967296; choose heads_q at most 2147483647");
    assert_value(FMHA_VALUE_SEQLEN_Q, -(INT64_C(1) << 31) - 1,
                 "expected seqlen_q at least -2147483648, got -2147483649; choose seqlen_q at least -2147483648");
}

Test(descriptor, packs_arguments) {
    unsigned char block[64 + 8], expected[64 + 8];
    memset(block, 0xaa, sizeof block);
    memset(expected, 0xaa, sizeof expected);
    memset(expected, 0, 64);
    memcpy(expected, &(void *){(void *)0x10010}, 8);
    memcpy(expected + 8, &(void *){(void *)0x20002}, 8);
    memcpy(expected + 24, &(int64_t){-4096}, 8);
    memcpy(expected + 32, &(int32_t){100}, 4);
    memcpy(expected + 40, &(int32_t){32}, 4);
    memcpy(expected + 44, &(float){0.125f}, 4);
    fmha_descriptor_pack(descriptor, &operands, block);
    cr_assert_arr_eq(block, expected, sizeof block);
    operands.buffer[FMHA_BUFFER_LSE] = (void *)0x30004;
    memcpy(expected + 16, &(void *){(void *)0x30004}, 8);
    fmha_descriptor_pack(descriptor, &operands, block);
    cr_assert_arr_eq(block, expected, sizeof block);
}

static void assert_grid(uint32_t x, uint32_t y, uint32_t z, bool expected_empty) {
    uint32_t grid[3];
    bool empty = !expected_empty;
    int failed = -7;
    cr_assert(fmha_descriptor_grid(descriptor, &operands, grid, &empty, &failed));
    cr_assert(grid[0] == x && grid[1] == y && grid[2] == z, "%u %u %u", grid[0], grid[1], grid[2]);
    cr_assert_eq(empty, expected_empty);
    cr_assert_eq(failed, -7);
}

static void assert_no_grid(enum fmha_value value, int64_t wrong, int axis) {
    uint32_t grid[3];
    bool empty;
    int failed = -7;
    int64_t right = operands.value[value];
    operands.value[value] = wrong;
    cr_assert_not(fmha_descriptor_grid(descriptor, &operands, grid, &empty, &failed));
    cr_assert_eq(failed, axis);
    operands.value[value] = right;
}

Test(descriptor, makes_the_grid) {
    assert_grid(2, 32, 2, false);
    operands.value[FMHA_VALUE_BATCH] = UINT32_MAX;
    assert_grid(2, 32, UINT32_MAX, false);
    operands.value[FMHA_VALUE_HEADS_Q] = 0;
    assert_grid(2, 0, UINT32_MAX, true);
    assert_no_grid(FMHA_VALUE_BATCH, INT64_C(1) << 32, 2);
    assert_no_grid(FMHA_VALUE_HEADS_Q, -1, 1);
    assert_no_grid(FMHA_VALUE_SEQLEN_Q, INT64_C(1) << 40, 0);
}

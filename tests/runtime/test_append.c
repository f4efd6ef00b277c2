/* fmha_append on the emulated device, with instances that fmhagen makes: what it accepts, and where new rows go. Error
 * texts are compared whole. That kernels are right is the matter of `fmhagen verify`. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmha.h"
#include "made_support.h"

TestSuite(append, .init = made_set_up, .fini = made_tear_down, .timeout = 240);

enum { BATCH = 2, HEADS = 3, NEW = 4, DIM = 16, DIM_V = 8, ROOM = 20, PAGE = 4, PAGES = 12 };

/* [batch][row][head][column] of 16-bit elements with `gap` elements after each row: each element tells where it is. */
static fmha_tensor make_new(const char *label, uint16_t first, int columns, int gap) {
    uint16_t rows[BATCH * NEW * HEADS * (DIM + 8)];
    const int row = columns + gap;
    for (int i = 0; i < BATCH * NEW * HEADS * row; i++)
        rows[i] = (uint16_t)(first + i / row * 32 + i % row);
    return (fmha_tensor){made_copy(label, rows, (size_t)(BATCH * NEW * HEADS * row) * sizeof *rows),
                         (int64_t)NEW * HEADS * row, row, (int64_t)HEADS * row};
}

static uint16_t new_element(uint16_t first, int batch, int row, int head, int column) {
    return (uint16_t)(first + ((batch * NEW + row) * HEADS + head) * 32 + column);
}

/* Blocks of [head][row][column] with the same gap, all of them 0xffff. */
static fmha_tensor make_cache(const char *label, int blocks, int rows, int columns, int gap) {
    const int64_t row = columns + gap;
    size_t bytes = (size_t)(blocks * HEADS * rows * row) * 2;
    uint8_t *ones = malloc(bytes);
    cr_assert_not_null(ones);
    memset(ones, 0xff, bytes);
    const fmha_tensor tensor = {made_copy(label, ones, bytes), HEADS * rows * row, rows * row, row};
    free(ones);
    return tensor;
}

/* Everything that a cache must hold after rows of `added` new ones went behind `before`. */
static void check_cache(const fmha_tensor *cache, int blocks, int rows, int columns, uint16_t first,
                        const int32_t *before, const int32_t *added, const int32_t *table) {
    size_t elements = (size_t)(blocks * cache->stride_batch);
    uint16_t *expected = malloc(elements * 2), *got = malloc(elements * 2);
    cr_assert(expected && got);
    memset(expected, 0xff, elements * 2);
    for (int b = 0; b < BATCH; b++)
        for (int row = 0; row < added[b]; row++)
            for (int head = 0; head < HEADS; head++)
                for (int column = 0; column < columns; column++) {
                    int position = before[b] + row, block = table ? table[b * (ROOM / PAGE) + position / PAGE] : b;
                    expected[block * cache->stride_batch + head * cache->stride_head +
                             (table ? position % rows : position) * cache->stride_row + column] =
                        new_element(first, b, row, head, column);
                }
    cr_assert_eq(fmha_memory_read(device, got, cache->data, elements * 2), FMHA_OK);
    cr_assert_arr_eq(got, expected, elements * 2);
    free(expected);
    free(got);
}

static fmha_append_problem plain(void) {
    fmha_append_problem problem = FMHA_APPEND_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.head_dim = DIM;
    problem.head_dim_v = DIM_V;
    problem.batch = BATCH;
    problem.heads_k = HEADS;
    problem.seqlen_new = NEW;
    problem.seqlen_k = ROOM;
    return problem;
}

static void fill(fmha_append_problem *problem, int gap) {
    static const int32_t before[BATCH] = {3, ROOM - NEW};
    bool paged = problem->page_size != 0;
    problem->k_new = make_new("k_new", 1000, DIM, gap);
    problem->v_new = make_new("v_new", 9000, DIM_V, 2 * gap);
    problem->k = make_cache("k", paged ? PAGES : BATCH, paged ? PAGE : ROOM, DIM, 2 * gap);
    problem->v = make_cache("v", paged ? PAGES : BATCH, paged ? PAGE : ROOM, DIM_V, gap);
    problem->seqlens_k = made_copy("seqlens_k", before, sizeof before);
}

Test(append, rows_go_behind_those_that_are_there) {
    static const int32_t before[BATCH] = {3, ROOM - NEW}, all[BATCH] = {NEW, NEW}, some[BATCH] = {0, 3};
    static const int32_t table[BATCH][ROOM / PAGE] = {{7, 2, 11, 4, 0}, {1, 9, 5, 3, 10}};
    made_add_library("append", "--op append --hd 16 --hd-v 8 --varlen=none,padded --paged=off,on --align 16,2");
    for (int gap = 0; gap <= 3; gap += 3)
        for (int paged = 0; paged <= 1; paged++)
            for (int padded = 0; padded <= 1; padded++) {
                fmha_append_problem problem = plain();
                problem.page_size = paged ? PAGE : 0;
                problem.varlen = padded ? FMHA_VARLEN_PADDED : FMHA_VARLEN_NONE;
                cr_assert_eq(fmha_append_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
                fill(&problem, gap);
                problem.seqlens_new = made_copy("seqlens_new", some, sizeof some);
                problem.block_table = made_copy("block_table", table, sizeof table);
                problem.stride_block_table = ROOM / PAGE;
                made_finish(fmha_append(device, &problem));
                int blocks = paged ? PAGES : BATCH, rows = paged ? PAGE : ROOM;
                const int32_t *added = padded ? some : all, *pages = paged ? table[0] : NULL;
                check_cache(&problem.k, blocks, rows, DIM, 1000, before, added, pages);
                check_cache(&problem.v, blocks, rows, DIM_V, 9000, before, added, pages);
            }
}

Test(append, a_packed_batch_has_its_rows_side_by_side) {
    static const int32_t before[BATCH] = {3, ROOM - NEW}, begins[BATCH + 1] = {0, 0, NEW}, added[BATCH] = {0, NEW};
    made_add_library("append", "--op append --hd 16 --hd-v 8 --varlen");
    fmha_append_problem problem = plain();
    fill(&problem, 0);
    problem.varlen = FMHA_VARLEN_PACKED;
    problem.tokens_new = NEW;
    problem.cu_seqlens_new = made_copy("cu_seqlens_new", begins, sizeof begins);
    /* What sequence 1 has of a batch that is not packed stands where this one begins. */
    problem.k_new.data = (uint16_t *)problem.k_new.data + problem.k_new.stride_batch;
    problem.v_new.data = (uint16_t *)problem.v_new.data + problem.v_new.stride_batch;
    made_finish(fmha_append(device, &problem));
    check_cache(&problem.k, BATCH, ROOM, DIM, 1000, before, added, NULL);
    check_cache(&problem.v, BATCH, ROOM, DIM_V, 9000, before, added, NULL);
}

/* One key of one head: 0.75, of which 6 is an eighth, and its scale 2^-3. */
Test(append, mxfp4_of_k_alone) {
    made_add_library("append", "--op append --hd 64 --values off --kv-dtype mxfp4 --scale-rule floor,threequarters");
    uint16_t row[64];
    uint8_t numbers[32] = {0}, scales[4] = {0xee, 0xee, 0xee, 0xee}, expected[32];
    const int32_t none = 0;
    for (int i = 0; i < 64; i++)
        row[i] = i < 32 ? 0x3a00 : 0xbf00; /* 0.75, -1.75 */
    fmha_append_problem problem = FMHA_APPEND_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.kv_dtype = FMHA_KV_MXFP4;
    problem.without_v = 1;
    problem.head_dim = 64;
    problem.batch = problem.heads_k = problem.seqlen_new = problem.seqlen_k = 1;
    problem.k_new.data = made_copy("k_new", row, sizeof row);
    problem.k.data = made_copy("k", numbers, sizeof numbers);
    problem.k_scale.data = made_copy("k_scale", scales, sizeof scales);
    problem.seqlens_k = made_copy("seqlens_k", &none, sizeof none);
    for (int rule = 0; rule < 2; rule++) {
        problem.scale_rule = rule;
        made_finish(fmha_append(device, &problem));
        cr_assert_eq(fmha_memory_read(device, numbers, problem.k.data, sizeof numbers), FMHA_OK);
        cr_assert_eq(fmha_memory_read(device, scales, problem.k_scale.data, sizeof scales), FMHA_OK);
        memset(expected, 0x77, 16);                    /* 6 * 2^-3 */
        memset(expected + 16, rule ? 0xee : 0xff, 16); /* -4 * 2^-1 and, saturating, -6 * 2^-2 */
        cr_assert_arr_eq(numbers, expected, sizeof numbers);
        const uint8_t by[4] = {124, rule ? 126 : 125, 0xee, 0xee};
        cr_assert_arr_eq(scales, by, sizeof scales);
    }
}

/* Two sequences of two heads get three keys and then one, in pages of four; a query finds the value of the key that is
 * meant for it. Key j of a head is 8 in column j, its value is j + 1, of head 1 with a minus: all formats have these.
 */
static void append_and_decode(int32_t kv_dtype, int32_t kv_scale) {
    enum { KEYS = 4, HD = 64, SEQUENCES = 2, KEY_HEADS = 2, TABLE = 2 };
    static const uint16_t one_to_four[KEYS] = {0x3c00, 0x4000, 0x4200, 0x4400};
    static const int32_t table[SEQUENCES][TABLE] = {{3, 1}, {0, 2}}, lengths[] = {0, 0, 3, 3, KEYS, KEYS};
    uint16_t k[SEQUENCES][KEYS][KEY_HEADS][HD] = {0}, v[SEQUENCES][KEYS][KEY_HEADS][HD];
    uint16_t q[SEQUENCES][KEY_HEADS][HD] = {0}, o[SEQUENCES][KEY_HEADS][HD];
    static const uint8_t zeros[4 * KEYS * KEY_HEADS * HD];
    for (int b = 0; b < SEQUENCES; b++)
        for (int head = 0; head < KEY_HEADS; head++) {
            q[b][head][b + head + 1] = 0x4800; /* 8, for key b + head + 1 */
            for (int j = 0; j < KEYS; j++) {
                k[b][j][head][j] = 0x4800;
                for (int column = 0; column < HD; column++)
                    v[b][j][head][column] = (uint16_t)(one_to_four[j] | head << 15);
            }
        }
    fmha_append_problem problem = FMHA_APPEND_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.kv_dtype = kv_dtype;
    problem.kv_scale = kv_scale;
    problem.head_dim = HD;
    problem.batch = SEQUENCES;
    problem.heads_k = KEY_HEADS;
    problem.seqlen_k = TABLE * KEYS;
    problem.page_size = KEYS;
    problem.k_new = (fmha_tensor){made_copy("k_new", k, sizeof k), KEYS * KEY_HEADS * HD, HD, KEY_HEADS * HD};
    problem.v_new = (fmha_tensor){made_copy("v_new", v, sizeof v), KEYS * KEY_HEADS * HD, HD, KEY_HEADS * HD};
    int64_t row = kv_dtype == FMHA_KV_MXFP4 ? HD / 2 : HD, scales = kv_dtype == FMHA_KV_MXFP4 ? HD / 32 : 1;
    problem.k = (fmha_tensor){made_copy("k", zeros, sizeof zeros), KEYS * KEY_HEADS * row, KEYS * row, row};
    problem.v = (fmha_tensor){made_copy("v", zeros, sizeof zeros), KEYS * KEY_HEADS * row, KEYS * row, row};
    problem.k_scale = (fmha_tensor){made_copy("k_scale", zeros, 256), KEYS * KEY_HEADS * scales, KEYS * scales, scales};
    problem.v_scale = (fmha_tensor){made_copy("v_scale", zeros, 256), KEYS * KEY_HEADS * scales, KEYS * scales, scales};
    problem.block_table = made_copy("block_table", table, sizeof table);
    problem.stride_block_table = TABLE;
    const int32_t *of = made_copy("lengths", lengths, sizeof lengths);
    for (int call = 0; call < 2; call++) {
        problem.seqlen_new = call ? 1 : 3;
        problem.seqlens_k = of + 2 * call;
        made_finish(fmha_append(device, &problem));
        problem.k_new.data = (uint16_t *)problem.k_new.data + 3 * problem.k_new.stride_row;
        problem.v_new.data = (uint16_t *)problem.v_new.data + 3 * problem.v_new.stride_row;
    }
    fmha_decode_problem decode = FMHA_DECODE_PROBLEM_INIT;
    decode.dtype = FMHA_DTYPE_F16;
    decode.kv_dtype = kv_dtype;
    decode.kv_scale = kv_scale;
    decode.head_dim = HD;
    decode.scale = 1;
    decode.batch = SEQUENCES;
    decode.heads_q = decode.heads_k = KEY_HEADS;
    decode.seqlen_q = decode.splits = 1;
    decode.seqlen_k = problem.seqlen_k;
    decode.page_size = KEYS;
    decode.q = (fmha_tensor){made_copy("q", q, sizeof q), KEY_HEADS * HD, HD, HD};
    decode.o = (fmha_tensor){made_copy("o", q, sizeof q), KEY_HEADS * HD, HD, HD};
    decode.k = problem.k;
    decode.v = problem.v;
    decode.k_scale = problem.k_scale;
    decode.v_scale = problem.v_scale;
    decode.seqlens_k = of + 4;
    decode.block_table = problem.block_table;
    decode.stride_block_table = TABLE;
    made_finish(fmha_decode(device, &decode));
    cr_assert_eq(fmha_memory_read(device, o, decode.o.data, sizeof o), FMHA_OK);
    for (int b = 0; b < SEQUENCES; b++)
        for (int head = 0; head < KEY_HEADS; head++)
            for (int column = 0; column < HD; column++) /* the other keys weigh exp(-64) */
                cr_assert_eq(o[b][head][column], one_to_four[b + head + 1] | head << 15,
                             "sequence %d, head %d, column %d: got 0x%04x", b, head, column, o[b][head][column]);
}

/* The emulated device compiles kernels of decoding for a while: a scale for each key with FMHA_TEST_LONG=1. */
Test(append, decoding_finds_what_was_appended) {
    const char *all = getenv("FMHA_TEST_LONG");
    made_add_library("append", "--op append --hd 64 --paged --kv-dtype mxfp4");
    made_add_library("decode", "--op decode --hd 64 --causal --paged --kv-dtype mxfp4");
    made_add_library("append-tokens", "--op append --hd 64 --paged --kv-dtype e4m3 --kv-scale token");
    made_add_library("decode-tokens", "--op decode --hd 64 --causal --paged --kv-dtype e4m3 --kv-scale token");
    append_and_decode(FMHA_KV_MXFP4, FMHA_KV_SCALE_HEAD);
    if (all != NULL && strcmp(all, "1") == 0)
        append_and_decode(FMHA_KV_E4M3, FMHA_KV_SCALE_TOKEN);
}

static void expect_nothing(const fmha_append_problem *problem) {
    cr_expect_eq(fmha_append(device, problem), FMHA_OK, "%s", fmha_last_error());
    cr_expect_eq(fmha_append_prepare(device, problem), FMHA_OK, "%s", fmha_last_error());
}

/* No instance is here, and none is needed. */
Test(append, nothing_to_do) {
    fmha_append_problem problem = plain();
    problem.batch = 0;
    expect_nothing(&problem);
    problem = plain();
    problem.seqlen_new = 0;
    expect_nothing(&problem);
    problem = plain();
    problem.seqlen_k = 0;
    expect_nothing(&problem);
}

static void expect_error(fmha_append_problem problem, const char *text) {
    made_expect(fmha_append(device, &problem), FMHA_ERROR_ARGUMENT, text);
}

Test(append, wrong_problems_are_refused) {
    fmha_append_problem problem = plain();
    made_expect(fmha_append(device, NULL), FMHA_ERROR_ARGUMENT,
                "fmha_append: expected a device and a problem, got NULL; pass a valid pointer");
    problem.dtype = FMHA_DTYPE_F32;
    expect_error(problem, "fmha_append: dtype: expected FMHA_DTYPE_F16 or FMHA_DTYPE_BF16, got 3; set dtype to one of "
                          "them");
    problem = plain();
    problem.kv_dtype = 6;
    expect_error(problem, "fmha_append: kv_dtype: expected a value of enum fmha_kv_dtype, got 6; begin with "
                          "FMHA_APPEND_PROBLEM_INIT");
    problem = plain();
    problem.rotary = -1;
    expect_error(problem, "fmha_append: rotary: expected a value of enum fmha_rotary, got -1; begin with "
                          "FMHA_APPEND_PROBLEM_INIT");
    problem = plain();
    problem.kv_dtype = FMHA_KV_MXFP4;
    problem.kv_scale = FMHA_KV_SCALE_TOKEN;
    expect_error(problem,
                 "fmha_append: kv_scale: expected 0 where kv_dtype is no fp8, got 1 with kv_dtype 5; set it to "
                 "0");
    problem = plain();
    problem.kv_dtype = FMHA_KV_E4M3;
    problem.scale_rule = FMHA_SCALE_THREE_QUARTERS;
    expect_error(problem,
                 "fmha_append: scale_rule: expected 0 where kv_dtype is not FMHA_KV_MXFP4, got 1 with kv_dtype "
                 "1; set it to 0");
    problem = plain();
    problem.batch = -1;
    expect_error(problem, "fmha_append: expected batch, heads_k, seqlen_new, seqlen_k and tokens_new of 0 and up, got "
                          "-1, 3, 4, 20 and 0; set them to the tensors' sizes");
    problem = plain();
    problem.page_size = 12;
    expect_error(problem, "fmha_append: page_size: expected a power of two from 1 to 256, or 0 without pages, got 12; "
                          "use pages of such a size");
    problem = plain();
    expect_error(problem, "fmha_append: k_new: expected the address of a tensor, got NULL; give the problem its k_new");
    fill(&problem, 0);
    problem.v.stride_row = -8;
    expect_error(problem,
                 "fmha_append: v: expected strides of 0 and up, below 2^60 elements, got -8; pass a tensor that "
                 "does not run backwards, with strides in elements");
    problem.v.stride_row = DIM_V;
    problem.seqlens_k = NULL;
    expect_error(problem,
                 "fmha_append: seqlens_k: expected the address of a list, got NULL; give the problem its seqlens_k");
    problem.seqlens_k = (const int32_t *)(uintptr_t)4098;
    expect_error(problem, "fmha_append: seqlens_k: expected an address that is a multiple of 4, got 0x1002; align "
                          "seqlens_k to 4 bytes");
    problem = plain();
    problem.struct_bytes = 8;
    made_expect_short(fmha_append(device, &problem), "fmha_append", sizeof problem, 8);
}

/* What a kernel's constraints say comes from its descriptor. */
Test(append, more_rotated_columns_than_there_are) {
    made_add_library("append", "--op append --hd 16 --hd-v 8 --rotary");
    fmha_append_problem problem = plain();
    problem.rotary = FMHA_ROTARY_NEOX;
    problem.rotary_dim = 16;
    problem.rotary_first = 8;
    cr_expect_eq(fmha_append_prepare(device, &problem), FMHA_ERROR_NO_INSTANCE);
    cr_expect(strstr(fmha_last_error(), "rotary_first + rotary_dim"), "%s", fmha_last_error());
    problem.rotary_first = 0;
    cr_expect_eq(fmha_append_prepare(device, &problem), FMHA_OK, "%s", fmha_last_error());
}

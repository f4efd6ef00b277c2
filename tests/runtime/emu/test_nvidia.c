/* NVIDIA's instructions, lane by lane, against the formulas of "Parallel Thread Execution ISA": fragments of
 * mma.m16n8k16, of wgmma.m64nNk16 and where its operands stand in LDS, ldmatrix, shfl.sync; and what ends copies of
 * cp.async and products of wgmma. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "emu_test.h"

enum { LANES = 32, A_LENGTH = 8, B_LENGTH = 4, C_LENGTH = 4, ONES = LANES * A_LENGTH, TEXT_BYTES = 4096 };

static float out[ONES][LANES][C_LENGTH];

/* What one wave of a kernel with an output alone writes to it. */
static void run(const char *chip, const char *text, void *got, size_t bytes) {
    emu_test test = emu_test_open(chip);
    void *buffer = emu_test_buffer(&test, bytes, "out", NULL);
    void *kernel = emu_test_kernel(&test, text, "k.hip", LANES);
    emu_test_ended(&test, emu_test_run(&test, kernel, 1, LANES, &buffer, sizeof buffer), NULL, chip);
    emu_test_read(&test, buffer, got, bytes);
    emu_test_close(&test);
}

/* Row and column of an element of a lane, as the formulas have them. */
static unsigned a_row(unsigned lane, unsigned i) {
    return (i < 2) || (i >= 4 && i < 6) ? lane >> 2 : (lane >> 2) + 8;
}

static unsigned a_column(unsigned lane, unsigned i) {
    return i < 4 ? lane % 4 * 2 + (i & 1) : lane % 4 * 2 + (i & 1) + 8;
}

static unsigned b_row(unsigned lane, unsigned i) {
    return i < 2 ? lane % 4 * 2 + (i & 1) : lane % 4 * 2 + (i & 1) + 8;
}

static unsigned c_row(unsigned lane, unsigned i) {
    return i < 2 ? lane >> 2 : (lane >> 2) + 8;
}

static unsigned c_column(unsigned lane, unsigned i) {
    return lane % 4 * 2 + (i & 1);
}

/* A has a one in one place, for each place in turn, and each element of B is another number: a row of D is the row of B
 * that meets the one, all others are C. */
static void expect_fragments(const char *type, const char *one, const char *number) {
    char text[TEXT_BYTES];
    float b[16][8];
    snprintf(text, sizeof text,
             "extern \"C\" __global__ void kernel(float *out) {\n"
             "    const unsigned lane = threadIdx.x;\n"
             "    for (unsigned n = 0; n < %d; n++) {\n"
             "        unsigned a[4] = {0, 0, 0, 0}, b[2] = {0, 0};\n"
             "        float c[4];\n"
             "        if (n / 8 == lane) a[n %% 8 / 2] = %su << n %% 2 * 16;\n"
             "        for (unsigned i = 0; i < 4; i++) {\n"
             "            const float value = 1.0f + lane * 4 + i;\n"
             "            b[i / 2] |= (unsigned)%s << i %% 2 * 16;\n"
             "            c[i] = 1000.0f * (lane * 4 + i);\n"
             "        }\n"
             "        fmha_emu_mma_m16n8k16_%s(c, a, b);\n"
             "        for (unsigned i = 0; i < 4; i++) out[(n * 32 + lane) * 4 + i] = c[i];\n"
             "    }\n"
             "}\n",
             ONES, one, number, type);
    run("sm_90", text, out, sizeof out);
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < B_LENGTH; i++) {
            b[b_row(lane, i)][lane >> 2] = 1.0f + (float)(lane * 4 + i);
        }
    }
    for (unsigned n = 0; n < ONES; n++) {
        unsigned row = a_row(n / A_LENGTH, n % A_LENGTH), k = a_column(n / A_LENGTH, n % A_LENGTH);
        for (unsigned lane = 0; lane < LANES; lane++) {
            for (unsigned i = 0; i < C_LENGTH; i++) {
                float c = 1000.0f * (float)(lane * 4 + i);
                float expected = c + (c_row(lane, i) == row ? b[k][c_column(lane, i)] : 0.0f);
                cr_assert(eq(flt, out[n][lane][i], expected), "%s: a one in lane %u, element %u of A: D of lane %u, %u",
                          type, n / A_LENGTH, n % A_LENGTH, lane, i);
            }
        }
    }
}

Test(nvidia, fragments_of_f16) {
    expect_fragments("f16", "0x3c00", "__builtin_bit_cast(unsigned short, fmha_emu_f32_to_f16(value))");
}

Test(nvidia, fragments_of_bf16) {
    expect_fragments("bf16", "0x3f80", "fmha_emu_f32_to_bf16(value)");
}

/* Row r of matrix m stands at place (8 m + r) * 5 mod 32 and holds the numbers 64 m + 8 r to that + 7. */
static void expect_matrices(bool transposed) {
    static uint32_t got[LANES][4];
    char text[TEXT_BYTES];
    snprintf(text, sizeof text,
             "extern \"C\" __global__ void kernel(unsigned *out) {\n"
             "    const unsigned lane = threadIdx.x, place = lane * 5 %% 32;\n"
             "    unsigned short *lds = (unsigned short *)fmha_emu_lds(512);\n"
             "    for (unsigned i = 0; i < 8; i++) lds[place * 8 + i] = (unsigned short)(lane * 8 + i);\n"
             "    __syncthreads();\n"
             "    unsigned all[4];\n"
             "    fmha_emu_ldmatrix_x4%s(lds + place * 8, all);\n"
             "    for (unsigned i = 0; i < 4; i++) out[lane * 4 + i] = all[i];\n"
             "}\n",
             transposed ? "_trans" : "");
    run("sm_80", text, got, sizeof got);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        for (uint32_t m = 0; m < 4; m++) {
            uint32_t low = 64 * m + (transposed ? 8 * (2 * (lane % 4)) + lane / 4 : 8 * (lane / 4) + 2 * (lane % 4));
            uint32_t high = low + (transposed ? 8 : 1);
            cr_expect(eq(u32, got[lane][m], high << 16 | low), "lane %u, matrix %u", lane, m);
        }
    }
}

Test(nvidia, ldmatrix) {
    expect_matrices(false);
}

Test(nvidia, ldmatrix_transposed) {
    expect_matrices(true);
}

Test(nvidia, shuffles) {
    static uint32_t got[4][LANES];
    run("sm_89",
        "extern \"C\" __global__ void kernel(unsigned *out) {\n"
        "    const unsigned lane = threadIdx.x, value = 100 + lane;\n"
        "    out[lane] = __shfl_xor_sync(0xffffffff, value, 1);\n"
        "    out[32 + lane] = __shfl_xor_sync(0xffffffff, value, 18);\n"
        "    out[64 + lane] = __shfl_sync(0xffffffff, value, 5);\n"
        "    out[96 + lane] = __shfl_sync(0xffffffff, value, 31 - lane);\n"
        "}\n",
        got, sizeof got);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t from[4] = {lane ^ 1, lane ^ 18, 5, 31 - lane};
        for (unsigned i = 0; i < 4; i++) {
            cr_expect(eq(u32, got[i][lane], 100 + from[i]), "shuffle %u, lane %u", i, lane);
        }
    }
}

/* Each lane copies 16 bytes twice, in a group each, does `wait`, and after a barrier looks at the first and, if `both`,
 * at the second. */
static void expect_wait(const char *wait, bool both, bool ends) {
    char text[TEXT_BYTES];
    static uint32_t in[2 * LANES * 4], got[2 * LANES * 4];
    for (uint32_t i = 0; i < 2 * LANES * 4; i++) {
        in[i] = 7 * i + 1;
    }
    snprintf(text, sizeof text,
             "extern \"C\" __global__ void kernel(const unsigned *in, unsigned *out) {\n"
             "    const unsigned lane = threadIdx.x;\n"
             "    unsigned *lds = (unsigned *)fmha_emu_lds(1024);\n"
             "    fmha_emu_cp_async_16(lds + 4 * lane, in + 4 * lane, 16);\n"
             "    fmha_emu_cp_async_commit_group();\n"
             "    fmha_emu_cp_async_16(lds + 128 + 4 * lane, in + 128 + 4 * lane, lane %% 2 * 16);\n"
             "    fmha_emu_cp_async_commit_group();\n"
             "    %s\n"
             "    __syncthreads();\n"
             "    for (unsigned i = lane; i < %d; i += 32) out[i] = lds[i];\n"
             "}\n",
             wait, both ? 256 : 128);
    emu_test test = emu_test_open("sm_90");
    struct {
        const void *in;
        void *out;
    } given = {emu_test_buffer(&test, sizeof in, "in", in), emu_test_buffer(&test, sizeof got, "out", NULL)};
    fmha_status status =
        emu_test_run(&test, emu_test_kernel(&test, text, "k.hip", LANES), 1, LANES, &given, sizeof given);
    emu_test_ended(&test, status, ends ? NULL : "lds-not-arrived", wait);
    emu_test_read(&test, given.out, got, sizeof got);
    for (uint32_t i = 0; ends && i < (both ? 256u : 128u); i++) {
        cr_expect(eq(u32, got[i], i < 128 || i / 4 % 2 == 1 ? in[i] : 0), "%s: word %u", wait, i);
    }
    emu_test_close(&test);
}

/* ---- wgmma ----------------------------------------------------------------------------------------------------------
 *
 * Four waves multiply 64 x 16 K by 16 K x N, all small integers, whose sums are exact. "128-byte swizzling": what
 * stands at a byte of LDS is found by exchanging bits 4-6 of its offset by bits 7-9. K-major: a column of B, or a row
 * of A, is 128 bytes, of 64 k. MN-major: k is 128 bytes, of 64 columns; the next 64 columns are the leading offset
 * further. */
enum { PRODUCT_ITEMS = 128, K_MAX = 64, N_MAX = 128, B_BYTES = 16384, A_BYTES = 8192 };

struct product {
    const char *type;
    unsigned columns, k;
    bool transposed; /* B is MN-major, and has 32 k, of which the last are multiplied */
    bool a_in_lds, add;
};

static int number(unsigned i, unsigned j) {
    return (int)((i * 7 + j * 5 + i * j) % 9) - 4;
}

static uint16_t small(const char *type, int value) {
    static const uint16_t f16[5] = {0, 0x3c00, 0x4000, 0x4200, 0x4400}, bf16[5] = {0, 0x3f80, 0x4000, 0x4040, 0x4080};
    unsigned size = (unsigned)(value < 0 ? -value : value);
    return (uint16_t)((strcmp(type, "f16") == 0 ? f16 : bf16)[size] | (value < 0 ? 0x8000 : 0));
}

static void put(unsigned char *lds, unsigned offset, uint16_t value) {
    offset ^= (offset >> 7 & 7) << 4;
    memcpy(lds + offset, &value, sizeof value);
}

/* Element i of a lane's D, with `columns` / 2 of them. */
static unsigned d_row(unsigned item, unsigned i) {
    return item / 32 * 16 + c_row(item % 32, i % 4);
}

static unsigned d_column(unsigned item, unsigned i) {
    return i / 4 * 8 + c_column(item % 32, i % 4);
}

static float d_before(unsigned item, unsigned i) {
    return (float)(1000 + 3 * item + i);
}

static void expect_product(struct product the) {
    static unsigned char lds[A_BYTES + B_BYTES];
    static uint16_t a[PRODUCT_ITEMS][K_MAX / 16][8];
    static float got[2][PRODUCT_ITEMS][N_MAX / 2];
    char text[TEXT_BYTES];
    const unsigned first_k = the.transposed ? 32 - the.k : 0, leading = 32 * 128;
    memset(lds, 0, sizeof lds);
    for (unsigned k = 0; k < the.k; k++) {
        for (unsigned n = 0; n < the.columns; n++) {
            unsigned at = the.transposed ? n / 64 * leading + (first_k + k) * 128 + n % 64 * 2 : n * 128 + k * 2;
            put(lds + A_BYTES, at, small(the.type, number(n, k)));
        }
        for (unsigned row = 0; row < 64; row++) {
            put(lds, row * 128 + k * 2, small(the.type, number(k, row + 1)));
        }
    }
    for (unsigned item = 0; item < PRODUCT_ITEMS; item++) {
        for (unsigned i = 0; i < the.k / 16 * 8; i++) {
            unsigned row = item / 32 * 16 + a_row(item % 32, i % 8), k = i / 8 * 16 + a_column(item % 32, i % 8);
            a[item][i / 8][i % 8] = small(the.type, number(k, row + 1));
        }
    }
    snprintf(text, sizeof text,
             "extern \"C\" __global__ void kernel(const unsigned *a, const unsigned *in, float *out) {\n"
             "    const unsigned item = threadIdx.x;\n"
             "    unsigned *lds = (unsigned *)fmha_emu_lds(%d);\n"
             "    float c[%u];\n"
             "    for (unsigned i = item; i < %d; i += 128) lds[i] = in[i];\n"
             "    for (unsigned i = 0; i < %u; i++) c[i] = 1000 + 3 * item + i;\n"
             "    fmha_emu_fence_proxy_async();\n"
             "    __syncthreads();\n"
             "    const unsigned long long begin = 1ull << 62 | 64ull << 32 | fmha_emu_shared_address((unsigned "
             "long)lds) / 16;\n"
             "    const unsigned long long b = begin + %d / 16 + %u * 128 / 16 + ((%uull / 16) << 16);\n"
             "    fmha_emu_wgmma_fence();\n"
             "    for (unsigned s = 0; s < %u; s++)\n"
             "        fmha_emu_wgmma_m64nNk16_%s%s(c, %s, b + s * %d / 16, %u, %d || s > 0, %d);\n"
             "    fmha_emu_wgmma_commit_group();\n"
             "    for (unsigned i = 0; i < %u; i++) out[item * 64 + i] = c[i];\n"
             "    fmha_emu_wgmma_wait_group(0);\n"
             "    for (unsigned i = 0; i < %u; i++) out[(128 + item) * 64 + i] = c[i];\n"
             "}\n",
             A_BYTES + B_BYTES, the.columns / 2, (A_BYTES + B_BYTES) / 4, the.columns / 2, A_BYTES, first_k, leading,
             the.k / 16, the.a_in_lds ? "lds_" : "", the.type,
             the.a_in_lds ? "begin + s * 2" : "a + (item * 4 + s) * 4", the.transposed ? 2048 : 32, the.columns,
             the.add, the.transposed, the.columns / 2, the.columns / 2);
    emu_test test = emu_test_open("sm_90");
    struct {
        const void *a, *in;
        void *out;
    } given = {emu_test_buffer(&test, sizeof a, "a", a), emu_test_buffer(&test, sizeof lds, "in", lds),
               emu_test_buffer(&test, sizeof got, "out", NULL)};
    fmha_status status =
        emu_test_run(&test, emu_test_kernel(&test, text, "k.hip", LANES), 1, PRODUCT_ITEMS, &given, sizeof given);
    emu_test_ended(&test, status, NULL, text);
    emu_test_read(&test, given.out, got, sizeof got);
    for (unsigned item = 0; item < PRODUCT_ITEMS; item++) {
        for (unsigned i = 0; i < the.columns / 2; i++) {
            float expected = the.add ? d_before(item, i) : 0;
            for (unsigned k = 0; k < the.k; k++) {
                expected += (float)(number(k, d_row(item, i) + 1) * number(d_column(item, i), k));
            }
            cr_assert(eq(flt, got[1][item][i], expected), "%s, %u columns, item %u, element %u", the.type, the.columns,
                      item, i);
            cr_assert(got[0][item][i] != got[0][item][i], "item %u, element %u, is there before the wait", item, i);
        }
    }
    emu_test_close(&test);
}

Test(nvidia, products) {
    expect_product((struct product){.type = "f16", .columns = 64, .k = 16});
    expect_product((struct product){.type = "f16", .columns = 64, .k = 16, .add = true});
    expect_product((struct product){.type = "f16", .columns = 16, .k = 64, .add = true});
    expect_product((struct product){.type = "bf16", .columns = 128, .k = 64});
}

Test(nvidia, products_transposed) {
    expect_product((struct product){.type = "f16", .columns = 64, .k = 16, .transposed = true});
    expect_product((struct product){.type = "f16", .columns = 128, .k = 32, .transposed = true});
    expect_product((struct product){.type = "bf16", .columns = 80, .k = 32, .transposed = true, .add = true});
}

Test(nvidia, products_of_lds_alone) {
    expect_product((struct product){.type = "f16", .columns = 48, .k = 64, .a_in_lds = true, .add = true});
    expect_product((struct product){.type = "bf16", .columns = 128, .k = 32, .a_in_lds = true, .transposed = true});
}

/* Four groups of a product each, of ones by ones: after each wait, which sums are there. */
Test(nvidia, what_ends_products) {
    static float got[4][PRODUCT_ITEMS][4];
    static const unsigned ended[4] = {0, 2, 3, 4};
    emu_test test = emu_test_open("sm_90");
    void *sums = emu_test_buffer(&test, sizeof got, "out", NULL);
    void *kernel = emu_test_kernel(
        &test,
        "extern \"C\" __global__ void kernel(float *out) {\n"
        "    const unsigned item = threadIdx.x, ones = 0x3c003c00, a[4] = {ones, ones, ones, ones};\n"
        "    unsigned *lds = (unsigned *)fmha_emu_lds(2048);\n"
        "    float c[4][8] = {};\n"
        "    for (unsigned i = item; i < 512; i += 128) lds[i] = ones;\n"
        "    fmha_emu_fence_proxy_async();\n"
        "    __syncthreads();\n"
        "    for (unsigned n = 0; n < 4; n++) {\n"
        "        fmha_emu_wgmma_fence();\n"
        "        fmha_emu_wgmma_m64nNk16_f16(c[n], a, 1ull << 62 | 64ull << 32 | fmha_emu_shared_address((unsigned "
        "long)lds) / 16, 16, true, 0);\n"
        "        fmha_emu_wgmma_commit_group();\n"
        "    }\n"
        "    fmha_emu_wgmma_wait_group(4);\n"
        "    for (unsigned n = 0; n < 4; n++) out[item * 4 + n] = c[n][7];\n"
        "    fmha_emu_wgmma_wait_group(2);\n"
        "    for (unsigned n = 0; n < 4; n++) out[512 + item * 4 + n] = c[n][7];\n"
        "    fmha_emu_wgmma_wait_group(1);\n"
        "    for (unsigned n = 0; n < 4; n++) out[1024 + item * 4 + n] = c[n][7];\n"
        "    fmha_emu_wgmma_wait_group(0);\n"
        "    for (unsigned n = 0; n < 4; n++) out[1536 + item * 4 + n] = c[n][7];\n"
        "}\n",
        "k.hip", LANES);
    emu_test_ended(&test, emu_test_run(&test, kernel, 1, PRODUCT_ITEMS, &sums, sizeof sums), NULL, "groups");
    emu_test_read(&test, sums, got, sizeof got);
    for (unsigned wait = 0; wait < 4; wait++) {
        for (unsigned item = 0; item < PRODUCT_ITEMS; item++) {
            for (unsigned n = 0; n < 4; n++) {
                float value = got[wait][item][n];
                cr_assert(n < ended[wait] ? value == 16.0f : value != value, "wait %u, item %u, group %u: %g", wait,
                          item, n, (double)value);
            }
        }
    }
    emu_test_close(&test);
}

/* ---- Copies ---------------------------------------------------------------------------------------------------------
 */

/* PTX leaves it undefined. */
Test(nvidia, more_bytes_than_a_copy_has_are_refused) {
    static const uint32_t in[8];
    emu_test test = emu_test_open("sm_90");
    void *given = emu_test_buffer(&test, sizeof in, "in", in);
    void *kernel = emu_test_kernel(&test,
                                   "extern \"C\" __global__ void kernel(const unsigned *in) {\n"
                                   "    fmha_emu_cp_async_16(fmha_emu_lds(512), in, 17);\n"
                                   "}\n",
                                   "k.hip", LANES);
    cr_expect(eq(int, emu_test_run(&test, kernel, 1, 1, &given, sizeof given), FMHA_ERROR_KERNEL));
    emu_test_finding(
        &test, "out-of-bounds",
        "k.hip:2: asks for 17 bytes of memory, more than the 16 that it copies (workgroup (0,0,0), wave 0, "
        "lane 0): ask for 16 bytes, or for fewer, which are filled up with zeros");
    emu_test_close(&test);
}

Test(nvidia, what_ends_a_copy) {
    expect_wait("fmha_emu_cp_async_wait_group(0);", true, true);
    expect_wait("fmha_emu_cp_async_wait_group(1);", false, true);
    expect_wait("fmha_emu_cp_async_wait_group(1);", true, false);
    expect_wait("fmha_emu_cp_async_wait_group(2);", false, false);
    expect_wait("fmha_emu_cp_async_commit_group(); fmha_emu_cp_async_wait_group(1);", true, true);
    expect_wait("", false, false);
}

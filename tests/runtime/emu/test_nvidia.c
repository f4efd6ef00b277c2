/* NVIDIA's instructions, lane by lane, against the formulas of "Parallel Thread Execution ISA": fragments of
 * mma.m16n8k16, ldmatrix, shfl.sync; and what ends copies of cp.async. */
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

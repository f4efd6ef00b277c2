/* Counters against counts made by hand: LDS instructions of a wave and the cycles that banks take, bytes of buffers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "emu_test.h"

static emu_test run(const char *body, int wave, uint32_t groups, uint32_t items) {
    char text[2048];
    snprintf(text, sizeof text,
             "typedef unsigned word4 __attribute__((ext_vector_type(4)));\n"
             "extern \"C\" __global__ void kernel(unsigned *out, const unsigned *in) {\n"
             "    const unsigned i = threadIdx.x;\n%s\n}\n",
             body);
    emu_test test = emu_test_open("gfx1151");
    emu_test_set(&test, "count", 1);
    void *kernel = emu_test_kernel(&test, text, "k.hip", wave);
    struct {
        void *out, *in;
    } given = {emu_test_buffer(&test, 4096, "out", NULL), emu_test_buffer(&test, 4096, "in", NULL)};
    cr_assert(eq(int, emu_test_run(&test, kernel, groups, items, &given, sizeof given), FMHA_OK), "%s",
              fmha_last_error());
    return test;
}

/* A lane reads `bytes` bytes at i * step; the words are written by an instruction without conflicts for each 4 bytes.
 */
static void expect_read(const char *type, unsigned step, int wave, uint64_t reads, uint64_t cycles,
                        uint64_t conflicts) {
    char body[1024];
    snprintf(body, sizeof body,
             "    unsigned char *lds = (unsigned char *)fmha_emu_lds(16384);\n"
             "    for (unsigned at = i; at < 4096; at += %d) ((volatile unsigned *)lds)[at] = 0;\n"
             "    __builtin_amdgcn_s_barrier();\n"
             "    (void)*(volatile %s *)(lds + i * %u);\n",
             wave, type, step);
    emu_test test = run(body, wave, 1, (uint32_t)wave);
    uint64_t writes = 4096 / (unsigned)wave, write_cycles = 4096 / 32;
    cr_expect(eq(u64, emu_test_counter(&test, "lds_writes", NULL), writes));
    cr_expect(eq(u64, emu_test_counter(&test, "lds_bytes_written", NULL), 16384));
    cr_expect(eq(u64, emu_test_counter(&test, "lds_reads", NULL), reads), "%s, %u bytes apart", type, step);
    cr_expect(eq(u64, emu_test_counter(&test, "lds_cycles", NULL) - write_cycles, cycles), "%s, %u bytes apart", type,
              step);
    cr_expect(eq(u64, emu_test_counter(&test, "lds_conflict_cycles", NULL), conflicts), "%s, %u bytes apart", type,
              step);
    emu_test_close(&test);
}

Test(count, banks_of_lds) {
    expect_read("unsigned", 4, 32, 1, 1, 0);
    expect_read("unsigned", 0, 32, 1, 1, 0); /* all lanes the same word */
    expect_read("unsigned", 8, 32, 1, 2, 1);
    expect_read("unsigned", 128, 32, 1, 32, 31); /* all in one bank */
    expect_read("unsigned", 132, 32, 1, 1, 0);   /* padded by a word */
    expect_read("unsigned short", 2, 32, 1, 1, 0);
    expect_read("word4", 16, 32, 1, 4, 0);   /* eight lanes fill the banks */
    expect_read("word4", 64, 32, 1, 16, 12); /* eight lanes share two groups of banks */
    expect_read("word4", 80, 32, 1, 4, 0);   /* padded by 16 bytes */
    expect_read("unsigned", 4, 64, 1, 2, 0); /* two halves */
    expect_read("word4", 16, 64, 1, 8, 0);
}

Test(count, bytes_and_matrix_instructions) {
    emu_test test = run("    typedef _Float16 half16 __attribute__((ext_vector_type(16)));\n"
                        "    typedef float float8 __attribute__((ext_vector_type(8)));\n"
                        "    half16 a = {};\n"
                        "    float8 c = {};\n"
                        "    for (int n = 0; n < 5; n++) c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, a, c);\n"
                        "    out[blockIdx.x * 64 + i] = in[i / 2] + in[200] + (unsigned)c[0];\n",
                        32, 3, 64);
    cr_expect(eq(u64, emu_test_counter(&test, "launches", NULL), 1));
    cr_expect(eq(u64, emu_test_counter(&test, "workgroups", NULL), 3));
    cr_expect(eq(u64, emu_test_counter(&test, "matrix_instructions", NULL), 3 * 2 * 5));
    cr_expect(eq(u64, emu_test_counter(&test, "bytes_read", "in"), 3 * 64 * 2 * 4));
    cr_expect(eq(u64, emu_test_counter(&test, "unique_bytes_read", "in"), 33 * 4));
    cr_expect(eq(u64, emu_test_counter(&test, "wave_bytes_read", "in"), 3 * 2 * (16 + 1) * 4));
    cr_expect(eq(u64, emu_test_counter(&test, "bytes_written", "in"), 0));
    cr_expect(eq(u64, emu_test_counter(&test, "bytes_written", "out"), 3 * 64 * 4));
    cr_expect(eq(u64, emu_test_counter(&test, "unique_bytes_written", "out"), 3 * 64 * 4));
    cr_expect(eq(u64, emu_test_counter(&test, "bytes_read", "out"), 0));
    cr_expect(eq(u64, emu_test_counter(&test, "lds_reads", NULL), 0));
    const fmha_counter *list;
    size_t count;
    cr_assert(eq(int, test.driver->clear_counters(test.device), FMHA_OK));
    cr_assert(eq(int, test.driver->counters(test.device, &list, &count), FMHA_OK));
    cr_assert(eq(sz, count, 0));
    emu_test_close(&test);
}

/* A launch is measured by itself, in whatever state the device's own counters are. */
Test(count, measured_cycles) {
    static const char text[] =
        "typedef _Float16 half16 __attribute__((ext_vector_type(16)));\n"
        "typedef float float8 __attribute__((ext_vector_type(8)));\n"
        "extern \"C\" __global__ void kernel(unsigned *out, const unsigned *in) {\n"
        "    const unsigned i = threadIdx.x;\n"
        "    unsigned *lds = (unsigned *)fmha_emu_lds(128);\n"
        "    half16 a = {};\n"
        "    float8 c = {};\n"
        "    for (int j = 0; j < 3; j++) c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, a, c);\n"
        "    ((volatile unsigned *)lds)[i] = in[i];\n"
        "    out[i] = (unsigned)c[0];\n"
        "}\n";
    emu_test test = emu_test_open("gfx1151");
    void *kernel = emu_test_kernel(&test, text, "k.hip", 32);
    struct {
        void *out, *in;
    } given = {emu_test_buffer(&test, 4096, "out", NULL), emu_test_buffer(&test, 4096, "in", NULL)};
    const fmha_launch_config config = {
        .grid = {5, 1, 1}, .workgroup = {32, 1, 1}, .arguments = &given, .argument_bytes = sizeof given};
    cr_assert(eq(str, (char *)test.driver->measure_unit, "counted cycles"));
    for (int counted = 0; counted < 2; counted++) {
        double cycles = 0;
        emu_test_set(&test, "count", counted);
        cr_assert(eq(int, emu_test_run(&test, kernel, 1, 32, &given, sizeof given), FMHA_OK));
        for (int time = 0; time < 2; time++) {
            cr_assert(eq(int, test.driver->measure(test.device, kernel, &config, &cycles), FMHA_OK), "%s",
                      fmha_last_error());
            /* each of five workgroups: three matrix instructions, one write to LDS, 128 bytes read and 128 written */
            cr_assert(eq(dbl, cycles, 5 * (3 * 16 + 1 + 256 / 64.0)));
        }
    }
    cr_assert(eq(u64, emu_test_counter(&test, "launches", NULL), 1));
    cr_assert(eq(u64, emu_test_counter(&test, "matrix_instructions", NULL), 3));
    emu_test_close(&test);
}

/* A kernel that does what it must not costs nothing that could be told, however often it is asked. */
Test(count, wrong_kernel_has_no_cycles) {
    static const char text[] = "extern \"C\" __global__ void kernel(unsigned *out) {\n"
                               "    if (out) out[1024 + threadIdx.x] = 1;\n"
                               "}\n";
    emu_test test = emu_test_open("gfx1151");
    void *kernel = emu_test_kernel(&test, text, "k.hip", 32);
    void *given = emu_test_buffer(&test, 4096, "out", NULL);
    const fmha_launch_config config = {
        .grid = {1, 1, 1}, .workgroup = {32, 1, 1}, .arguments = &given, .argument_bytes = sizeof given};
    for (int time = 0; time < 2; time++) {
        double cycles;
        cr_assert(eq(int, test.driver->measure(test.device, kernel, &config, &cycles), FMHA_ERROR_KERNEL));
        cr_assert_not_null(strstr(fmha_last_error(), "out-of-bounds: "), "%s", fmha_last_error());
    }
    test.driver->clear_findings(test.device);
    emu_test_close(&test);
}

Test(count, options_are_checked) {
    emu_test test = emu_test_open("gfx1151");
    cr_assert(eq(int, test.driver->set(test.device, "sed", 1), FMHA_ERROR_ARGUMENT));
    cr_assert(eq(str, (char *)fmha_last_error(),
                 "emu: expected an option seed, threads, seconds, checks or count, got \"sed\": correct its name"));
    cr_assert(eq(int, test.driver->set(test.device, "checks", 2), FMHA_ERROR_ARGUMENT));
    cr_assert(eq(str, (char *)fmha_last_error(), "emu: option checks: expected 0 to 1, got 2: choose a value between"));
    emu_test_close(&test);
}

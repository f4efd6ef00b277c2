/* Counters against counts made by hand: what kernels do, instruction by instruction. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa_test.h"

ISA_TEST_SUITE(counts, "gfx1151");

struct arguments {
    void *out, *in;
};

static void *compile(const char *body, int wave) {
    char text[4096];
    snprintf(text, sizeof text,
             "typedef unsigned word2 __attribute__((ext_vector_type(2)));\n"
             "typedef unsigned word4 __attribute__((ext_vector_type(4)));\n"
             "typedef _Float16 half16 __attribute__((ext_vector_type(16)));\n"
             "typedef float float8 __attribute__((ext_vector_type(8)));\n" ISA_TEST_KERNEL
             "(unsigned *out, const unsigned *in) {\n"
             "    const unsigned i = __builtin_amdgcn_workitem_id_x();\n%s\n}\n",
             body);
    return isa_test_kernel(&test, text, wave);
}

static struct arguments buffers(void) {
    unsigned char *zeros = calloc(1, 4096);
    struct arguments given = {isa_test_buffer(&test, 4096, "out", NULL), isa_test_buffer(&test, 4096, "in", zeros)};
    free(zeros);
    return given;
}

static void run(const char *body, int wave, uint32_t groups, uint32_t items) {
    void *kernel = compile(body, wave);
    struct arguments given = buffers();
    test.driver->clear_counters(test.device);
    isa_test_set(&test, "count", 2);
    fmha_status status =
        isa_test_run(&test, kernel, (uint32_t[]){groups, 1, 1}, (uint32_t[]){items, 1, 1}, &given, sizeof given);
    cr_assert_eq(status, FMHA_OK, "%s", fmha_last_error());
}

/* ---- LDS ---- */

/* A lane reads `type` at i * step; what is read was written word by word without conflicts. */
static void expect_read_as(const char *space, const char *type, unsigned step, int wave, uint64_t cycles,
                           uint64_t conflicts) {
    char body[1024];
    snprintf(body, sizeof body,
             "    static __attribute__((shared)) unsigned lds[2048];\n"
             "    for (unsigned at = i; at < 2048; at += %d) ((volatile %s unsigned *)lds)[at] = 0;\n"
             "    __builtin_amdgcn_s_barrier();\n"
             "    (void)*(volatile %s %s *)((%s unsigned char *)lds + i * %u);\n",
             wave, space, space, type, space, step);
    run(body, wave, 1, (uint32_t)wave);
    uint64_t write_cycles = 2048 / 32;
    cr_expect_eq(isa_test_counter(&test, "lds_bytes_written", NULL), 8192);
    cr_expect_eq(isa_test_counter(&test, "lds_writes", NULL), 2048 / (unsigned)wave);
    cr_expect_eq(isa_test_counter(&test, "lds_reads", NULL), 1);
    cr_expect_eq(isa_test_counter(&test, "lds_cycles", NULL) - write_cycles, cycles, "%s, %u bytes apart: %llu cycles",
                 type, step, (unsigned long long)(isa_test_counter(&test, "lds_cycles", NULL) - write_cycles));
    /* In wave64 each write takes a cycle for each half, and neither is a conflict. */
    cr_expect_eq(isa_test_counter(&test, "lds_conflict_cycles", NULL), conflicts, "%s, %u bytes apart: %llu conflicts",
                 type, step, (unsigned long long)isa_test_counter(&test, "lds_conflict_cycles", NULL));
}

/* By instructions of LDS, and by those that take any address. */
static void expect_read(const char *type, unsigned step, int wave, uint64_t cycles, uint64_t conflicts) {
    expect_read_as("__attribute__((address_space(3)))", type, step, wave, cycles, conflicts);
    expect_read_as("", type, step, wave, cycles, conflicts);
}

Test(counts, banks_of_lds) {
    expect_read("unsigned", 4, 32, 1, 0);
    expect_read("unsigned", 0, 32, 1, 0); /* all lanes the same word */
    expect_read("unsigned", 8, 32, 2, 1);
    expect_read("unsigned", 128, 32, 32, 31); /* all in one bank */
    expect_read("unsigned", 132, 32, 1, 0);   /* padded by a word */
    expect_read("unsigned short", 2, 32, 1, 0);
    expect_read("word4", 16, 32, 4, 0);   /* eight lanes fill the banks */
    expect_read("word4", 64, 32, 16, 12); /* eight lanes share two groups of banks */
    expect_read("word4", 80, 32, 4, 0);   /* padded by 16 bytes */
    expect_read("word2", 8, 32, 2, 0);
    expect_read("unsigned", 4, 64, 2, 0); /* two halves */
    expect_read("word4", 16, 64, 8, 0);
}

/* ---- Memory ---- */

Test(counts, bytes_lines_and_matrix_instructions) {
    run("    if (i < 16)\n"
        "        out[i] = in[i / 2] + ((volatile const __attribute__((address_space(1))) unsigned *)in)[200 + 16 * "
        "i];\n",
        32, 1, 32);
    cr_expect_eq(isa_test_counter(&test, "launches", NULL), 1);
    cr_expect_eq(isa_test_counter(&test, "global_bytes_read", NULL), 2 * 16 * 4);
    cr_expect_eq(isa_test_counter(&test, "bytes_read", "in"), 2 * 16 * 4);
    cr_expect_eq(isa_test_counter(&test, "wave_bytes_read", "in"), (8 + 16) * 4);
    cr_expect_eq(isa_test_counter(&test, "unique_bytes_read", "in"), (8 + 16) * 4);
    cr_expect_eq(isa_test_counter(&test, "bytes_written", "out"), 16 * 4);
    cr_expect_eq(isa_test_counter(&test, "unique_bytes_written", "out"), 16 * 4);
    cr_expect_eq(isa_test_counter(&test, "bytes_written", "in"), 0);
    cr_expect_eq(isa_test_counter(&test, "global_reads", NULL), 2);
    cr_expect_eq(isa_test_counter(&test, "global_writes", NULL), 1);
    cr_expect_eq(isa_test_counter(&test, "global_lines_read", NULL),
                 1 + 8); /* neighbours; two lanes to a line of 128 bytes */
    cr_expect_eq(isa_test_counter(&test, "global_lines_written", NULL), 1);
    run("    half16 a = {};\n"
        "    float8 c = {};\n"
        "    for (int n = 0; n < 5; n++) c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, a, c);\n"
        "    out[__builtin_amdgcn_workgroup_id_x() * 64 + i] = in[i] + (unsigned)c[0];\n",
        32, 3, 64);
    cr_expect_eq(isa_test_counter(&test, "workgroups", NULL), 3);
    cr_expect_eq(isa_test_counter(&test, "waves", NULL), 6);
    cr_expect_eq(isa_test_counter(&test, "matrix_instructions", NULL), 3 * 2 * 5);
    cr_expect_eq(isa_test_counter(&test, "bytes_read", "in"), 3 * 64 * 4);
    cr_expect_eq(isa_test_counter(&test, "unique_bytes_read", "in"), 64 * 4);
    cr_expect_eq(isa_test_counter(&test, "unique_bytes_written", "out"), 3 * 64 * 4);
}

Test(counts, nothing_unless_asked) {
    const fmha_counter *list;
    size_t count;
    struct arguments given = buffers();
    void *kernel = compile("    out[i] = in[i];\n", 32);
    for (int time = 0; time < 2; time++) {
        isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){32, 1, 1}, &given, sizeof given);
        cr_assert_eq(test.driver->counters(test.device, &list, &count), FMHA_OK);
        cr_expect_eq(count == 0, time == 0);
        isa_test_set(&test, "count", 1);
    }
    for (size_t i = 0; i < count; i++) {
        cr_expect(list[i].tensor == NULL || strstr(list[i].tensor, ":0x") == NULL, "%s", list[i].tensor);
    }
    cr_assert_eq(test.driver->clear_counters(test.device), FMHA_OK);
    cr_assert_eq(test.driver->counters(test.device, &list, &count), FMHA_OK);
    cr_expect_eq(count, 0);
}

/* ---- Work between a load and its wait ---- */

/* Cycles of issue by hand: a VALU instruction 1, a transcendental one 4, scalar ones none. */
Test(counts, work_before_waits) {
    run("    unsigned a, b, c;\n"
        "    float d = 1;\n"
        "    asm volatile(\"global_load_b32 %0, %4, off\\n\"\n"
        "                 \"v_mov_b32 %2, 0\\n\"\n"
        "                 \"global_load_b32 %1, %4, off offset:128\\n\"\n"
        "                 \"v_mov_b32 %2, 0\\n\"\n"
        "                 \"v_exp_f32 %3, %3\\n\"\n"
        "                 \"s_nop 0\\n\"\n"
        "                 \"s_waitcnt vmcnt(1)\\n\"\n"
        "                 \"v_mov_b32 %2, 0\\n\"\n"
        "                 \"v_mov_b32 %2, 0\\n\"\n"
        "                 \"s_waitcnt vmcnt(0)\\n\"\n"
        "                 : \"=&v\"(a), \"=&v\"(b), \"=&v\"(c), \"+&v\"(d) : \"v\"(in));\n"
        "    out[i] = a + b + c + (unsigned)d;\n",
        32, 2, 32);
    /* First load: a move, a move, an exponential: 6. Second: 5, and two moves behind the first wait: 7. */
    cr_expect_eq(isa_test_counter(&test, "global_waits", NULL), 2 * 2);
    cr_expect_eq(isa_test_counter(&test, "global_wait_work", NULL), 2 * (6 + 7), "%llu",
                 (unsigned long long)isa_test_counter(&test, "global_wait_work", NULL));
    cr_expect_eq(isa_test_counter(&test, "global_wait_work_least", NULL), 6);
}

/* ---- Basic blocks ---- */

/* Each instruction runs as often as control came to its block, which is counted apart. */
Test(counts, instructions_are_entries_of_their_blocks) {
    run("    unsigned sum = 0;\n"
        "    for (unsigned n = 0; n < __builtin_amdgcn_workgroup_id_x() + 3; n++) {\n"
        "        if ((n & 1) != 0) sum += ((volatile const unsigned *)in)[n];\n"
        "        for (unsigned m = 0; m < n; m++) sum ^= ((volatile const unsigned *)in)[m];\n"
        "    }\n"
        "    if (i < 5) out[__builtin_amdgcn_workgroup_id_x() * 32 + i] = sum;\n",
        32, 4, 32);
    const fmha_counter *list;
    size_t count, blocks = 0, instructions = 0;
    uint64_t most = 0, executed = 0, entered = 0;
    cr_assert_eq(test.driver->counters(test.device, &list, &count), FMHA_OK);
    for (size_t i = 0; i < count; i++) {
        if (list[i].tensor == NULL || strncmp(list[i].tensor, "kernel:0x", 9) != 0 ||
            strcmp(list[i].name, "executed") != 0) {
            continue;
        }
        bool begins = i + 1 < count && strcmp(list[i + 1].name, "entered") == 0;
        entered = begins ? list[i + 1].value : entered;
        blocks += begins;
        instructions++;
        executed += list[i].value;
        most = list[i].value > most ? list[i].value : most;
        /* What never ran has no entries either. */
        cr_expect(list[i].value == entered || list[i].value == 0, "%s: %llu, its block %llu", list[i].tensor,
                  (unsigned long long)list[i].value, (unsigned long long)entered);
    }
    cr_expect_eq(executed, isa_test_counter(&test, "instructions", NULL));
    cr_expect_gt(blocks, 4);
    cr_expect_gt(instructions, 2 * blocks);
    cr_expect_gt(most, 4 * 3);
}

/* ---- Measuring ---- */

Test(counts, measured_cycles) {
    static const char body[] =
        "    static __attribute__((shared)) unsigned lds[1024];\n"
        "    half16 a = {};\n"
        "    float8 c = {};\n"
        "    asm volatile(\"v_wmma_f32_16x16x16_f16 %0, %1, %1, %0\\n\" : \"+v\"(c) : \"v\"(a));\n"
        "    volatile __attribute__((address_space(3))) unsigned *words =\n"
        "        (volatile __attribute__((address_space(3))) unsigned *)lds;\n"
        "    words[32 * i] = in[i];\n"
        "    out[i] = (unsigned)c[0] + words[32 * i];\n";
    void *kernel = compile(body, 32);
    struct arguments given = buffers();
    const fmha_launch_config config = {
        .grid = {5, 1, 1}, .workgroup = {32, 1, 1}, .arguments = &given, .argument_bytes = sizeof given};
    double cycles = 0, again = 0;
    cr_assert_str_eq(test.driver->measure_unit, "counted cycles");
    cr_assert_eq(test.driver->measure(test.device, kernel, &config, &cycles), FMHA_OK, "%s", fmha_last_error());
    /* Of each workgroup LDS is the slowest: 32 cycles of the banks to write and 32 to read, against 32 of the matrix
     * instruction and a few of arithmetic, which two SIMDs share. */
    cr_expect_float_eq(cycles, 5 * 64, 1e-9, "%g", cycles);
    isa_test_set(&test, "count", 1);
    isa_test_set(&test, "seed", 7);
    cr_assert_eq(test.driver->measure(test.device, kernel, &config, &again), FMHA_OK);
    cr_expect_eq(cycles, again);
    const fmha_counter *list;
    size_t count;
    cr_assert_eq(test.driver->counters(test.device, &list, &count), FMHA_OK);
    cr_expect_eq(count, 0, "a measurement is no launch of the counters");
}

/* A kernel that does what it must not costs nothing that could be told, however often it is asked. */
Test(counts, wrong_kernel_has_no_cycles) {
    void *kernel = compile("    out[1024 + i] = 1;\n", 32);
    struct arguments given = buffers();
    const fmha_launch_config config = {
        .grid = {1, 1, 1}, .workgroup = {32, 1, 1}, .arguments = &given, .argument_bytes = sizeof given};
    for (int time = 0; time < 2; time++) {
        double cycles;
        cr_assert_eq(test.driver->measure(test.device, kernel, &config, &cycles), FMHA_ERROR_KERNEL);
        cr_expect_not_null(strstr(fmha_last_error(), "out-of-bounds: "), "%s", fmha_last_error());
    }
}

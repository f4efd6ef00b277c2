/* How lanes and waves run, and what is found when they do what they must not. Findings are compared whole. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_test.h"

/* Compiles, runs one launch on a device of its own and leaves the device open. */
typedef struct outcome {
    emu_test test;
    void *buffer;
    fmha_status status;
} outcome;

enum { WORDS = 4096 };

static outcome run_checked(const char *text, int wave, uint32_t grid, uint32_t items, bool checks) {
    outcome result = {.test = emu_test_open("gfx1151")};
    emu_test_set(&result.test, "seconds", 1);
    emu_test_set(&result.test, "checks", checks);
    void *kernel = emu_test_kernel(&result.test, text, "k.hip", wave);
    result.buffer = emu_test_buffer(&result.test, WORDS * sizeof(uint32_t), "out", NULL);
    result.status = emu_test_run(&result.test, kernel, grid, items, &result.buffer, sizeof result.buffer);
    return result;
}

/* Accesses are not checked: what the engine does without. tests/broken is where they are. */
static outcome run(const char *text, int wave, uint32_t grid, uint32_t items) {
    return run_checked(text, wave, grid, items, false);
}

static void read_words(outcome *result, uint32_t *words, size_t count) {
    cr_assert(eq(int, result->status, FMHA_OK), "%s", fmha_last_error());
    emu_test_read(&result->test, result->buffer, words, count * sizeof *words);
    emu_test_close(&result->test);
}

static void expect_finding(const char *text, int wave, uint32_t grid, uint32_t items, const char *kind,
                           const char *finding) {
    outcome result = run(text, wave, grid, items);
    cr_assert(eq(int, result.status, FMHA_ERROR_KERNEL), "%s", fmha_last_error());
    emu_test_finding(&result.test, kind, finding);
    char message[2048];
    snprintf(message, sizeof message, "%s: %s", kind, finding);
    result.test.driver->synchronize(result.test.device, NULL);
    cr_assert(eq(str, (char *)fmha_last_error(), message));
    cr_assert(eq(int, result.test.driver->clear_findings(result.test.device), FMHA_OK));
    cr_assert(eq(int, result.test.driver->synchronize(result.test.device, NULL), FMHA_OK));
    emu_test_close(&result.test);
}

#define KERNEL "extern \"C\" __global__ void kernel(unsigned *out)"

/* ---- What must work
 * --------------------------------------------------------------------------------------------------- */

Test(engine, positions) {
    outcome result = {.test = emu_test_open("gfx1151")};
    void *kernel =
        emu_test_kernel(&result.test,
                        KERNEL "{\n"
                               "    unsigned group = (__builtin_amdgcn_workgroup_id_z() * gridDim.y + blockIdx.y) * "
                               "gridDim.x + __builtin_amdgcn_workgroup_id_x();\n"
                               "    unsigned item = (__builtin_amdgcn_workitem_id_z() * blockDim.y + threadIdx.y) * "
                               "__builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();\n"
                               "    out[group * 24 + item] = group << 16 | item << 8 | "
                               "__builtin_amdgcn_grid_size_y() << 4 | threadIdx.z << 2 | blockIdx.z;\n"
                               "}\n",
                        "k.hip", 32);
    result.buffer = emu_test_buffer(&result.test, WORDS * sizeof(uint32_t), "out", NULL);
    fmha_launch_config config = {
        .grid = {5, 2, 3}, .workgroup = {4, 3, 2}, .arguments = &result.buffer, .argument_bytes = sizeof result.buffer};
    cr_assert(eq(int, result.test.driver->launch(result.test.device, kernel, &config), FMHA_OK));
    uint32_t words[720];
    read_words(&result, words, 720);
    for (uint32_t i = 0; i < 720; i++) {
        uint32_t group = i / 24, item = i % 24;
        cr_assert(eq(u32, words[i], group << 16 | item << 8 | 6 << 4 | item / 12 << 2 | group / 10));
    }
}

/* Several parameters, each at a multiple of its alignment; a struct by value. */
Test(engine, arguments) {
    struct {
        char first;
        _Alignas(8) double second;
        short third;
        _Alignas(4) struct {
            int x;
            unsigned char y;
        } fourth;
        _Alignas(8) void *out;
    } given = {.first = 3, .second = 40.5, .third = -7, .fourth = {.x = 1000, .y = 200}};
    emu_test test = emu_test_open("gfx1151");
    void *kernel = emu_test_kernel(
        &test,
        "struct pair { int x; unsigned char y; };\n"
        "extern \"C\" __global__ void kernel(char a, const double b, short c, struct pair d, int *out)\n"
        "{ out[0] = a; out[1] = (int)(b * 2); out[2] = c; out[3] = d.x; out[4] = d.y; }\n",
        "k.hip", 32);
    given.out = emu_test_buffer(&test, 20, "out", NULL);
    cr_assert(eq(int, emu_test_run(&test, kernel, 1, 1, &given, sizeof given), FMHA_OK));
    int32_t words[5];
    emu_test_read(&test, given.out, words, sizeof words);
    cr_assert(eq(i32, words[0], 3));
    cr_assert(eq(i32, words[1], 81));
    cr_assert(eq(i32, words[2], -7));
    cr_assert(eq(i32, words[3], 1000));
    cr_assert(eq(i32, words[4], 200));
    emu_test_close(&test);
}

/* Four waves pass values around through LDS; without the barriers the last wave's would be missing. */
Test(engine, barrier_joins_the_waves) {
    outcome result = run(KERNEL "{\n"
                                "    unsigned *lds = (unsigned *)fmha_emu_lds(128 * 4);\n"
                                "    unsigned i = threadIdx.x, value = i;\n"
                                "    for (int round = 0; round < 5; round++) {\n"
                                "        lds[i] = value;\n"
                                "        __builtin_amdgcn_s_barrier();\n"
                                "        value = lds[(i + 33) % 128];\n"
                                "        __builtin_amdgcn_s_barrier();\n"
                                "    }\n"
                                "    out[i] = value;\n"
                                "}\n",
                         32, 1, 128);
    uint32_t words[128];
    read_words(&result, words, 128);
    for (uint32_t i = 0; i < 128; i++) {
        cr_assert(eq(u32, words[i], (i + 5 * 33) % 128));
    }
}

/* A wave that has ended counts as arrived, and so do single lanes; waves may stand at different barriers. */
Test(engine, barrier_does_not_wait_for_the_ended) {
    outcome result = run(KERNEL "{\n"
                                "    unsigned i = threadIdx.x;\n"
                                "    out[i] = 1;\n"
                                "    if (i >= 96) { return; }\n"
                                "    if (i % 32 >= 20) { return; }\n"
                                "    if (i < 32) {\n"
                                "        __builtin_amdgcn_s_barrier();\n"
                                "    } else {\n"
                                "        __builtin_amdgcn_s_barrier();\n"
                                "    }\n"
                                "    out[i] = out[(i + 32) % 96] + 1;\n"
                                "    __builtin_amdgcn_s_barrier();\n"
                                "    out[i] += 10;\n"
                                "}\n",
                         32, 1, 128);
    uint32_t words[128];
    read_words(&result, words, 128);
    for (uint32_t i = 0; i < 128; i++) {
        int stays = i < 96 && i % 32 < 20;
        uint32_t last = i / 32 == 2 ? 13 : 12; /* wave 2 reads what wave 0 wrote after the barrier */
        cr_assert(eq(u32, words[i], stays ? last : 1));
    }
}

/* Lanes see what their wave wrote before a wave_barrier. */
Test(engine, wave_barrier_joins_the_lanes) {
    outcome result = run(KERNEL "{\n"
                                "    volatile unsigned *lds = (unsigned *)fmha_emu_lds(64 * 4);\n"
                                "    unsigned i = threadIdx.x;\n"
                                "    lds[i] = i * 3;\n"
                                "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"wavefront\");\n"
                                "    __builtin_amdgcn_wave_barrier();\n"
                                "    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"wavefront\", \"local\");\n"
                                "    out[i] = lds[i ^ 31];\n"
                                "}\n",
                         32, 1, 64);
    uint32_t words[64];
    read_words(&result, words, 64);
    for (uint32_t i = 0; i < 64; i++) {
        cr_assert(eq(u32, words[i], (i ^ 31) * 3));
    }
}

/* What only steers time does nothing, and compiles with constants. */
Test(engine, hints) {
    outcome result =
        run(KERNEL "{\n"
                   "    __builtin_amdgcn_s_setprio(1); __builtin_amdgcn_s_sleep(2); __builtin_amdgcn_s_nop(0);\n"
                   "    __builtin_amdgcn_s_waitcnt(0xfc07); __builtin_amdgcn_sched_barrier(0);\n"
                   "    __builtin_amdgcn_sched_group_barrier(8, 1, 0); __builtin_amdgcn_iglp_opt(0);\n"
                   "    out[threadIdx.x] = 5;\n"
                   "}\n",
            64, 1, 64);
    uint32_t words[64];
    read_words(&result, words, 64);
    cr_assert(eq(u32, words[63], 5));
}

Test(engine, lds_blocks) {
    outcome result = run("static __device__ unsigned *block() { return (unsigned *)fmha_emu_lds(1000); }\n" KERNEL "{\n"
                         "    __shared__ unsigned plain[64];\n"
                         "    char *a = (char *)block(), *b = (char *)fmha_emu_lds(24), *c = (char *)block();\n"
                         "    unsigned i = threadIdx.x;\n"
                         "    out[i] = (unsigned)(b - a);\n"
                         "    out[64 + i] = a == c;\n"
                         "    out[128 + i] = *(unsigned *)(b + 20) + i;\n"
                         "    plain[i] = i;\n"
                         "    __builtin_amdgcn_s_barrier();\n"
                         "    out[192 + i] = plain[i ^ 1];\n"
                         "    ((unsigned *)b)[5] = 0;\n"
                         "    out[256 + i] = (unsigned)((unsigned long)a % 16);\n"
                         "}\n",
                         32, 3, 64);
    uint32_t words[320];
    read_words(&result, words, 320);
    for (uint32_t i = 0; i < 64; i++) {
        cr_assert(eq(u32, words[i], 1008 + 256));
        cr_assert(eq(u32, words[64 + i], 1));
        cr_assert(eq(u32, words[128 + i], 0xffffffff + i)); /* poisoned afresh in every workgroup */
        cr_assert(eq(u32, words[192 + i], i ^ 1));
        cr_assert(eq(u32, words[256 + i], 0));
    }
}

Test(engine, dynamic_lds) {
    emu_test test = emu_test_open("gfx1151");
    void *kernel = emu_test_kernel(&test,
                                   KERNEL "{\n"
                                          "    unsigned *lds = (unsigned *)fmha_emu_lds_dynamic();\n"
                                          "    lds[threadIdx.x] = threadIdx.x;\n"
                                          "    __builtin_amdgcn_s_barrier();\n"
                                          "    out[threadIdx.x] = lds[63 - threadIdx.x];\n"
                                          "}\n",
                                   "k.hip", 32);
    void *buffer = emu_test_buffer(&test, 256, "out", NULL);
    fmha_launch_config config = {.grid = {1, 1, 1},
                                 .workgroup = {64, 1, 1},
                                 .lds_dynamic_bytes = 256,
                                 .arguments = &buffer,
                                 .argument_bytes = sizeof buffer};
    cr_assert(eq(int, test.driver->launch(test.device, kernel, &config), FMHA_OK));
    cr_assert(eq(int, test.driver->synchronize(test.device, NULL), FMHA_OK));
    uint32_t words[64];
    emu_test_read(&test, buffer, words, sizeof words);
    cr_assert(eq(u32, words[0], 63));
    emu_test_close(&test);
}

/* Each wave notes when it came between barriers. */
static void wave_orders(emu_test test, uint32_t orders[8][4]) {
    emu_test_set(&test, "checks", 0); /* waves race for a place in the order, which is what is to be seen */
    void *kernel =
        emu_test_kernel(&test,
                        KERNEL "{\n"
                               "    unsigned *turn = (unsigned *)fmha_emu_lds(4);\n"
                               "    for (unsigned round = 0; round < 8; round++) {\n"
                               "        if (threadIdx.x == 0) { *turn = 0; }\n"
                               "        __builtin_amdgcn_s_barrier();\n"
                               "        if (threadIdx.x % 32 == 0) { out[round * 4 + (*turn)++] = threadIdx.x / 32; }\n"
                               "        __builtin_amdgcn_s_barrier();\n"
                               "    }\n"
                               "}\n",
                        "k.hip", 32);
    void *buffer = emu_test_buffer(&test, 128, "out", NULL);
    cr_assert(eq(int, emu_test_run(&test, kernel, 1, 128, &buffer, sizeof buffer), FMHA_OK));
    emu_test_read(&test, buffer, orders, 128);
    emu_test_close(&test);
}

static void seeded_orders(uint64_t seed, uint32_t orders[8][4]) {
    emu_test test = emu_test_open("gfx1151");
    emu_test_set(&test, "seed", seed);
    wave_orders(test, orders);
}

Test(engine, seed_decides_the_order_of_waves) {
    static uint32_t none[8][4], one[8][4], again[8][4], two[8][4];
    seeded_orders(0, none);
    seeded_orders(1, one);
    seeded_orders(1, again);
    seeded_orders(2, two);
    int moved = 0;
    for (int i = 0; i < 8; i++) {
        int seen = 0;
        for (uint32_t j = 0; j < 4; j++) {
            cr_assert(eq(u32, none[i][j], j));
            seen |= 1 << one[i][j];
        }
        cr_assert(eq(int, seen, 15));
        moved += memcmp(one[i], one[0], sizeof one[i]) != 0;
    }
    cr_assert(eq(int, memcmp(one, again, sizeof one), 0));
    cr_assert(ne(int, memcmp(one, none, sizeof one), 0));
    cr_assert(ne(int, memcmp(one, two, sizeof one), 0));
    cr_assert(gt(int, moved, 0)); /* another order after another barrier */
}

Test(engine, environment_sets_the_seed) {
    static uint32_t words[8][4], expected[8][4];
    seeded_orders(77, expected);
    setenv("FMHA_EMU_SEED", "77", 1);
    emu_test test = emu_test_open("gfx1151");
    unsetenv("FMHA_EMU_SEED");
    wave_orders(test, words);
    cr_assert(eq(int, memcmp(words, expected, sizeof words), 0));
}

/* Attention with a rounding at every corner: the same bits from one thread and from two, for every seed. */
Test(engine, threads_and_seeds_do_not_change_results) {
    enum { KEYS = 256, D = 128, BYTES = KEYS * D * 2 };
    static uint16_t values[3][KEYS * D];
    static uint32_t first[KEYS * D], other[KEYS * D]; /* floats by their bits */
    uint64_t state = 5;
    for (int i = 0; i < 3 * KEYS * D; i++) {
        values[i / (KEYS * D)][i % (KEYS * D)] = (uint16_t)(emu_test_random(&state) & 0xbfff);
    }
    for (unsigned variant = 0; variant < 4; variant++) {
        emu_test test = emu_test_open("gfx1151");
        emu_test_set(&test, "threads", variant == 0 ? 1 : 2);
        emu_test_set(&test, "seed", variant);
        void *kernel = emu_test_kernel_file(&test, "attention.hip", 32);
        struct {
            void *q, *k, *v, *o;
            int keys;
            float scale;
        } given = {emu_test_buffer(&test, BYTES, "q", values[0]),
                   emu_test_buffer(&test, BYTES, "k", values[1]),
                   emu_test_buffer(&test, BYTES, "v", values[2]),
                   emu_test_buffer(&test, BYTES * 2, "o", NULL),
                   KEYS,
                   0.088f};
        cr_assert(eq(int, emu_test_run(&test, kernel, KEYS / 64, 128, &given, sizeof given), FMHA_OK), "%s",
                  fmha_last_error());
        emu_test_read(&test, given.o, variant == 0 ? first : other, sizeof first);
        cr_assert(variant == 0 || memcmp(first, other, sizeof first) == 0, "variant %u", variant);
        emu_test_close(&test);
    }
}

/* ---- What must be found
 * ----------------------------------------------------------------------------------------------- */

Test(engine, divergent_branches) {
    expect_finding(
        KERNEL "{\n"
               "    int x = (int)threadIdx.x;\n"
               "    if (threadIdx.x % 32 < 16) {\n"
               "        x = __builtin_amdgcn_readfirstlane(x);\n"
               "    } else {\n"
               "        __builtin_amdgcn_s_barrier();\n"
               "    }\n"
               "    out[threadIdx.x] = x;\n"
               "}\n",
        32, 1, 64, "divergent-collective",
        "k.hip:6: lane 16 reaches __builtin_amdgcn_s_barrier while lane 0 waits for it in "
        "__builtin_amdgcn_readfirstlane at k.hip:4 (workgroup (0,0,0), wave 0): all lanes of a wave must reach "
        "the same one: move it out of the branch or loop, or make the condition the same for the whole wave");
}

/* The same instruction at two places is not the same. */
Test(engine, divergent_places) {
    expect_finding(
        KERNEL "{\n"
               "    int x = (int)threadIdx.x;\n"
               "    if (threadIdx.x >= 64 && threadIdx.x % 2) {\n"
               "        x = __builtin_amdgcn_ds_swizzle(x, 0x401f);\n"
               "    } else {\n"
               "        x = __builtin_amdgcn_ds_swizzle(x, 0x401f) + 1;\n"
               "    }\n"
               "    out[threadIdx.x] = x;\n"
               "}\n",
        64, 1, 128, "divergent-collective",
        "k.hip:4: lane 1 reaches __builtin_amdgcn_ds_swizzle while lane 0 waits for it in "
        "__builtin_amdgcn_ds_swizzle at k.hip:6 (workgroup (0,0,0), wave 1): all lanes of a wave must reach the "
        "same one: move it out of the branch or loop, or make the condition the same for the whole wave");
}

Test(engine, collective_in_a_branch) {
    expect_finding(
        KERNEL "{\n"
               "    int x = (int)threadIdx.x;\n"
               "    if (threadIdx.x % 32 == 5) {\n"
               "        x = __builtin_amdgcn_readfirstlane(x);\n"
               "    }\n"
               "    __builtin_amdgcn_wave_barrier();\n"
               "    out[threadIdx.x] = x;\n"
               "}\n",
        32, 3, 32, "divergent-collective",
        "k.hip:4: lane 5 reaches __builtin_amdgcn_readfirstlane while lane 0 waits for it in "
        "__builtin_amdgcn_wave_barrier at k.hip:6 (workgroup (0,0,0), wave 0): all lanes of a wave must reach "
        "the same one: move it out of the branch or loop, or make the condition the same for the whole wave (3 "
        "times)");
}

#define ENDED(lane, waiting)                                                                                           \
    "k.hip:3: __builtin_amdgcn_readfirstlane lacks lane " lane ", which has returned, while lane " waiting             \
    " waits in it (workgroup (0,0,0), wave 0): lanes without work must stay to the end; guard their loads and stores " \
    "instead"

/* Lanes that return before the others arrive, and after. */
Test(engine, returned_lanes) {
    expect_finding(KERNEL "{\n"
                          "    if (threadIdx.x < 3) { return; }\n"
                          "    out[threadIdx.x] = (unsigned)__builtin_amdgcn_readfirstlane((int)threadIdx.x);\n"
                          "}\n",
                   32, 1, 32, "divergent-collective", ENDED("0", "3"));
    expect_finding(KERNEL "{\n"
                          "    if (threadIdx.x >= 30) { return; }\n"
                          "    out[threadIdx.x] = (unsigned)__builtin_amdgcn_readfirstlane((int)threadIdx.x);\n"
                          "}\n",
                   32, 1, 32, "divergent-collective", ENDED("30", "0"));
}

#define WMMA_KERNEL                                                                                                    \
    "typedef _Float16 halves __attribute__((ext_vector_type(16)));\n"                                                  \
    "typedef float floats __attribute__((ext_vector_type(256 / WAVE)));\n" KERNEL "{\n"                                \
    "    halves a = (_Float16)1, b = (_Float16)2; floats c = 0.0f;\n"

Test(engine, matrix_instruction_in_a_partial_wave) {
    expect_finding(
        "#define WAVE 32\n" WMMA_KERNEL "    c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);\n"
        "    out[threadIdx.x] = (unsigned)c[0];\n"
        "}\n",
        32, 1, 40, "divergent-collective",
        "k.hip:6: __builtin_amdgcn_wmma_f32_16x16x16_f16_w32 needs all 32 lanes of the wave, got 8 (workgroup "
        "(0,0,0), wave 1): launch a multiple of 32 work items");
}

Test(engine, replicas_differ_wave32) {
    expect_finding(
        "#define WAVE 32\n" WMMA_KERNEL "    if (threadIdx.x == 64 + 19) { b[7] = (_Float16)3; }\n"
        "    for (int i = 0; i < 2; i++) {\n"
        "        c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);\n"
        "    }\n"
        "    out[threadIdx.x] = (unsigned)c[0];\n"
        "}\n",
        32, 2, 96, "operand-replicas-differ",
        "k.hip:8: element 7 of B in lane 19 of __builtin_amdgcn_wmma_f32_16x16x16_f16_w32 is 0x4200 but 0x4000 "
        "in lane 3 (workgroup (0,0,0), wave 2): gfx11 needs the operand of lanes 0-15 repeated in every further "
        "group of 16 lanes; load it by lane mod 16 (4 times)");
}

Test(engine, replicas_differ_wave64) {
    expect_finding(
        "#define WAVE 64\n" WMMA_KERNEL "    if (threadIdx.x >= 48) { a[15] = (_Float16)-1; }\n"
        "    c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w64(a, b, c);\n"
        "    out[threadIdx.x] = (unsigned)c[0];\n"
        "}\n",
        64, 1, 64, "operand-replicas-differ",
        "k.hip:7: element 15 of A in lane 48 of __builtin_amdgcn_wmma_f32_16x16x16_f16_w64 is 0xbc00 but 0x3c00 "
        "in lane 0 (workgroup (0,0,0), wave 0): gfx11 needs the operand of lanes 0-15 repeated in every further "
        "group of 16 lanes; load it by lane mod 16");
}

Test(engine, too_much_lds) {
    expect_finding(
        KERNEL "{\n"
               "    char *a = (char *)fmha_emu_lds(65536 - 20);\n"
               "    char *b = (char *)fmha_emu_lds(24);\n"
               "    out[threadIdx.x] = (unsigned)(b - a);\n"
               "}\n",
        32, 1, 64, "lds-overflow",
        "k.hip:3: 24 bytes of LDS on top of 65520, expected at most 65536 on gfx1151 (workgroup (0,0,0), wave "
        "0): use smaller tiles");
}

Test(engine, null_pointer) {
    expect_finding(
        KERNEL "{\n"
               "    unsigned *p = threadIdx.x == 70 ? nullptr : out;\n"
               "    __builtin_amdgcn_s_barrier();\n"
               "    p[3] = 1;\n"
               "}\n",
        32, 1, 128, "crash",
        "k.hip:3: access to address 0xc, a null pointer plus 12, after this meeting point (workgroup (0,0,0), "
        "wave 2, lane 6): check pointers, strides and bounds");
}

/* The only buffer is "out", and nothing else is mapped a terabyte further on. */
Test(engine, wild_pointer) {
    outcome result = run(KERNEL "{ out[1l << 38] = 1; }\n", 32, 1, 1);
    char text[512];
    snprintf(text, sizeof text,
             "kernel:0: access to address 0x%llx, 1099511611392 bytes past the end of \"out\" (16384 bytes), before "
             "the first "
             "meeting point (workgroup (0,0,0), wave 0, lane 0): check pointers, strides and bounds",
             (unsigned long long)(uintptr_t)result.buffer + (1ull << 40));
    emu_test_finding(&result.test, "crash", text);
    emu_test_close(&result.test);
}

Test(engine, impossible_pointer) {
    expect_finding(
        KERNEL "{ *(volatile unsigned *)((unsigned long)out | 0x1234ul << 48) = 1; }\n", 32, 1, 1, "crash",
        "kernel:0: access to an address that no memory has, before the first meeting point (workgroup (0,0,0), "
        "wave 0, lane 0): check pointers and strides");
}

Test(engine, division_by_zero) {
    expect_finding(
        KERNEL "{\n"
               "    volatile int zero = 0;\n"
               "    out[0] = (unsigned)(5 / zero);\n"
               "}\n",
        32, 1, 32, "crash",
        "kernel:0: integer division by zero or overflow, before the first meeting point (workgroup (0,0,0), wave "
        "0, lane 0): look for a divisor of 0");
}

Test(engine, private_arrays_too_large) {
    expect_finding(
        KERNEL "{\n"
               "    volatile char large[300000];\n"
               "    large[threadIdx.x * 9000] = 1;\n"
               "    out[0] = large[threadIdx.x];\n"
               "}\n",
        32, 1, 32, "crash",
        "kernel:0: more than 187 KiB of private arrays, before the first meeting point (workgroup (0,0,0), wave "
        "0, lane 0): keep less in a lane");
}

Test(engine, endless_loop) {
    expect_finding(
        KERNEL "{\n"
               "    volatile unsigned *p = out;\n"
               "    __builtin_amdgcn_s_barrier();\n"
               "    while (p[threadIdx.x] != 5) { }\n"
               "}\n",
        32, 1, 64, "no-end",
        "k.hip:3: no end within 1 s of computing, after this meeting point (workgroup (0,0,0), wave 0, lane 31): "
        "look for a loop that does not advance, or raise FMHA_EMU_SECONDS");
}

/* Barriers without end are interrupted in the kernel's own code too, and the other workgroups end. */
Test(engine, endless_barriers) {
    outcome result = run(KERNEL "{\n"
                                "    out[blockIdx.x] = 7;\n"
                                "    while (blockIdx.x == 1) { __builtin_amdgcn_s_barrier(); }\n"
                                "}\n",
                         32, 4, 64);
    const fmha_finding *list;
    size_t count;
    cr_assert(eq(int, result.test.driver->findings(result.test.device, &list, &count), FMHA_OK));
    cr_assert(eq(sz, count, 1));
    cr_assert(eq(str, (char *)list[0].kind, "no-end"));
    uint32_t words[4];
    emu_test_read(&result.test, result.buffer, words, sizeof words);
    cr_assert(eq(u32, words[3], 7));
    emu_test_close(&result.test);
}

/* After a finding the device goes on, and findings of several workgroups come in their order. */
Test(engine, device_survives_findings) {
    outcome result = run(KERNEL "{\n"
                                "    unsigned *p = blockIdx.x % 2 ? out : nullptr;\n"
                                "    p[blockIdx.x] = blockIdx.x;\n"
                                "    if (blockIdx.x == 3 && threadIdx.x == 9) { __builtin_amdgcn_s_barrier(); }\n"
                                "    __builtin_amdgcn_readfirstlane(0);\n"
                                "}\n",
                         32, 9, 32);
    const fmha_finding *list;
    size_t count;
    cr_assert(eq(int, result.status, FMHA_ERROR_KERNEL));
    cr_assert(eq(int, result.test.driver->findings(result.test.device, &list, &count), FMHA_OK));
    cr_assert(eq(sz, count, 2));
    cr_assert(
        eq(str, (char *)list[0].text,
           "kernel:0: access to address 0x0, a null pointer plus 0, before the first meeting point (workgroup (0,0,0), "
           "wave 0, lane 0): check pointers, strides and bounds (5 times)"));
    cr_assert(eq(str, (char *)list[1].kind, "divergent-collective"));
    uint32_t words[8];
    emu_test_read(&result.test, result.buffer, words, sizeof words);
    cr_assert(eq(u32, words[7], 7));
    emu_test_close(&result.test);
}

static void on_fault(int number) {
    (void)number;
}

/* Handlers of the program are back in place after a launch. */
Test(engine, signal_handlers_are_restored) {
    struct sigaction ours = {.sa_handler = on_fault}, now;
    sigaction(SIGSEGV, &ours, NULL);
    outcome result = run(KERNEL "{ *(volatile int *)nullptr = 1; }\n", 32, 1, 1);
    cr_assert(eq(int, result.status, FMHA_ERROR_KERNEL));
    sigaction(SIGSEGV, NULL, &now);
    cr_assert(now.sa_handler == on_fault);
    emu_test_close(&result.test);
}

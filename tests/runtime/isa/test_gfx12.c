/* What RDNA4's kernels find when they begin, and its barrier in two steps. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "isa_test.h"

ISA_TEST_SUITE(gfx12, "gfx1201");

enum { ITEMS = 128 };

/* Runs a kernel of "unsigned *out" in `groups` workgroups and reads what it left, ITEMS of each. */
static fmha_status run(const char *text, int wave, uint32_t groups, uint32_t *out) {
    size_t bytes = (size_t)groups * ITEMS * sizeof *out;
    void *kernel = isa_test_kernel(&test, text, wave), *buffer = isa_test_buffer(&test, bytes, "out", NULL);
    uint32_t grid[] = {groups, 1, 1}, items[] = {ITEMS, 1, 1};
    fmha_status status = isa_test_run(&test, kernel, grid, items, &buffer, sizeof buffer);
    isa_test_read(&test, buffer, out, bytes);
    return status;
}

static void expect_no_finding(void) {
    const fmha_finding *list;
    size_t count;
    cr_assert_eq(test.driver->findings(test.device, &list, &count), FMHA_OK);
    cr_assert_eq(count, 0, "%zu findings, the first: %s", count, count > 0 ? list[0].text : "none");
}

/* x is in ttmp9, y and z in the halves of ttmp7, whichever of them are asked for. */
Test(gfx12, ids_of_workgroups_are_in_trap_temporaries) {
    static const char *const texts[] = {
        ISA_TEST_KERNEL "(unsigned *out) { out[__builtin_amdgcn_workgroup_id_x() * 128 + "
                        "__builtin_amdgcn_workitem_id_x()] = __builtin_amdgcn_workgroup_id_x(); }",
        ISA_TEST_KERNEL
        "(unsigned *out) { unsigned x = __builtin_amdgcn_workgroup_id_x(), y = "
        "__builtin_amdgcn_workgroup_id_y(), z = __builtin_amdgcn_workgroup_id_z(); "
        "out[((z * 3 + y) * 2 + x) * 128 + __builtin_amdgcn_workitem_id_x()] = x | y << 8 | z << 16; }"};
    enum { X = 2, Y = 3, Z = 5, GROUPS = X * Y * Z };
    for (int all = 0; all < 2; all++) {
        for (int wave = 32; wave <= 64; wave += 32) {
            uint32_t seen[GROUPS * ITEMS], grid[] = {all ? X : GROUPS, all ? Y : 1, all ? Z : 1},
                                           items[] = {ITEMS, 1, 1};
            void *kernel = isa_test_kernel(&test, texts[all], wave);
            void *out = isa_test_buffer(&test, sizeof seen, "out", NULL);
            cr_assert_eq(isa_test_run(&test, kernel, grid, items, &out, sizeof out), FMHA_OK, "%s", fmha_last_error());
            isa_test_read(&test, out, seen, sizeof seen);
            for (uint32_t at = 0; at < GROUPS * ITEMS; at++) {
                uint32_t group = at / ITEMS, expected = group % X | group / X % Y << 8 | group / X / Y << 16;
                cr_assert_eq(seen[at], all ? expected : group, "place %u: 0x%x", at, seen[at]);
            }
        }
    }
    expect_no_finding();
}

/* Each wave writes its words, signals, waits, and reads those of the next. `between` is done by the first wave between
 * the two steps. */
#define EXCHANGE(between, first_step, second_step)                                                                     \
    ISA_TEST_KERNEL "(unsigned *out) {\n"                                                                              \
                    "    __attribute__((shared)) static unsigned words[256];\n"                                        \
                    "    volatile __attribute__((address_space(3))) unsigned *at =\n"                                  \
                    "        (volatile __attribute__((address_space(3))) unsigned *)words;\n"                          \
                    "    unsigned id = __builtin_amdgcn_workitem_id_x();\n"                                            \
                    "    at[id] = id * 3;\n"                                                                           \
                    "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");\n" first_step                        \
                    "    if (id < 32) { " between " }\n" second_step                                                   \
                    "    out[__builtin_amdgcn_workgroup_id_x() * 128 + id] = at[(id + 32) % 128];\n"                   \
                    "}\n"
#define FENCE  "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");\n" /* waits for the stores */
#define SIGNAL FENCE "    __builtin_amdgcn_s_barrier_signal(-1);\n"
#define WAIT   "    __builtin_amdgcn_s_barrier_wait(-1);\n"

Test(gfx12, a_barrier_in_two_steps) {
    uint32_t seen[2 * ITEMS];
    for (int64_t seed = 0; seed < 4; seed++) {
        isa_test_set(&test, "seed", seed);
        run(EXCHANGE("at[id + 128] = at[id];", SIGNAL, WAIT), 32, 2, seen); /* words that nobody else touches */
        for (uint32_t at = 0; at < 2 * ITEMS; at++) {
            cr_assert_eq(seen[at], (at + 32) % ITEMS * 3, "place %u: %u", at, seen[at]);
        }
        expect_no_finding();
    }
}

Test(gfx12, what_is_touched_between_signal_and_wait_is_not_ordered) {
    uint32_t seen[ITEMS];
    run(EXCHANGE("at[id] = 7;", SIGNAL, WAIT), 32, 1, seen); /* the last wave reads it behind the barrier */
    isa_test_finding(&test, "lds-race", "reads byte 0 of LDS, which wave 0 has written since the last s_barrier");
}

/* The wait has to come before the signal: behind it others may go on. */
Test(gfx12, a_store_that_is_under_way_at_the_signal) {
#define AGAIN "    at[id] = id;\n    __builtin_amdgcn_s_barrier_signal(-1);\n"
    static const char *const texts[] = {EXCHANGE("", AGAIN, WAIT),
                                        EXCHANGE("", AGAIN "    asm volatile(\"s_wait_dscnt 0x0\");\n", WAIT),
                                        EXCHANGE("", AGAIN WAIT SIGNAL, WAIT)};
    uint32_t seen[ITEMS];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        run(texts[i], 32, 1, seen);
        if (i < 2) {
            isa_test_finding(
                &test, "lds-race",
                "reads byte 128 of LDS, which wave 1 has written before the last s_barrier, where it arrived "
                "without a wait for the store (workgroup (0,0,0), wave 0, lane 0)");
            test.driver->clear_findings(test.device);
        } else {
            expect_no_finding(); /* what was waited for is ordered by the next barrier */
        }
    }
}

Test(gfx12, a_write_behind_the_barrier_of_what_was_read_before_the_wait) {
    uint32_t seen[ITEMS];
    run(EXCHANGE("out[id] = at[id + 128];", "    at[id + 128] = id;\n" SIGNAL,
                 WAIT "    if (id >= 96) { at[id - 96 + 128] = 1; }\n"),
        32, 1, seen);
    isa_test_finding(&test, "lds-race", "writes byte 512 of LDS, which wave 0 has read since the last s_barrier");
}

Test(gfx12, a_signal_without_a_wait) {
    uint32_t seen[ITEMS];
    run(EXCHANGE("", SIGNAL, ""), 32, 1, seen);
    const char *error = fmha_last_error();
    cr_assert_not_null(strstr(error, "lds-race"), "%s", error);
}

/* Two matrix instructions, of which the second takes the first's result, in v40 to v47, for an operand. */
#define DEPENDENT(between, operands)                                                                                   \
    ISA_TEST_KERNEL "(float *out) {\n"                                                                                 \
                    "    typedef float vec4 __attribute__((ext_vector_type(4)));\n"                                    \
                    "    typedef float vec8 __attribute__((ext_vector_type(8)));\n"                                    \
                    "    vec4 zero = {0};\n"                                                                           \
                    "    vec8 sum;\n"                                                                                  \
                    "    asm volatile(\"v_wmma_f32_16x16x16_f16 v[40:47], %1, %1, 0\\n\" " between "\n"                \
                    "\"v_wmma_f32_16x16x16_f16 %0, " operands "\" : \"=&v\"(sum) : \"v\"(zero) :\n"                    \
                    "\"v40\", \"v41\", \"v42\", \"v43\", \"v44\", \"v45\", \"v46\", \"v47\");\n"                       \
                    "    out[__builtin_amdgcn_workitem_id_x()] = sum.x;\n"                                             \
                    "}\n"

Test(gfx12, matrix_instructions_that_depend_on_the_one_just_before) {
    static const struct {
        const char *text;
        bool hazard;
    } cases[] = {
        {DEPENDENT("", "v[40:43], %1, 0"), true},
        {DEPENDENT("", "%1, v[44:47], 0"), true},
        {DEPENDENT("\"s_nop 7\\n\"", "v[43:46], %1, 0"), true}, /* scalar instructions do not count */
        {DEPENDENT("\"v_nop\\n\"", "v[40:43], %1, 0"), false},
        {DEPENDENT("", "%1, %1, v[40:47]"), false},                 /* for C the hardware waits */
        {DEPENDENT("\"s_branch 0\\n\"", "v[40:43], %1, 0"), false}, /* in another basic block it is not looked for */
    };
    uint32_t seen[ITEMS];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(cases[i].text, 32, 1, seen);
        if (cases[i].hazard) {
            isa_test_finding(&test, "matrix-hazard", "reads A or B that the matrix instruction just before it writes");
            test.driver->clear_findings(test.device);
        } else {
            expect_no_finding();
        }
    }
}

/* One of the waves is told that it was the first, once for each time that the barrier is passed. */
Test(gfx12, the_first_to_signal) {
    uint32_t seen[ITEMS];
    for (int64_t seed = 0; seed < 4; seed++) {
        unsigned first[2] = {0};
        isa_test_set(&test, "seed", seed);
        run(ISA_TEST_KERNEL "(unsigned *out) {\n"
                            "    unsigned told = __builtin_amdgcn_s_barrier_signal_isfirst(-1);\n" WAIT
                            "    told |= __builtin_amdgcn_s_barrier_signal_isfirst(-1) << 1;\n" WAIT
                            "    out[__builtin_amdgcn_workitem_id_x()] = told;\n"
                            "}\n",
            32, 1, seen);
        for (unsigned wave = 0; wave < ITEMS / 32; wave++) {
            first[0] += seen[wave * 32] & 1;
            first[1] += seen[wave * 32] >> 1 & 1;
        }
        cr_assert_eq(first[0], 1);
        cr_assert_eq(first[1], 1);
        expect_no_finding();
    }
}

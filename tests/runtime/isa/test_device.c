/* Kernels run as the descriptor and the launch say; what is wrong is found. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "emu/chips.h"
#include "emu/state.h"
#include "isa_test.h"

#define KNOWN                                                                                                          \
    "gfx906, gfx9-generic, gfx908, gfx90a, gfx942, gfx9-4-generic, gfx950, gfx1030, gfx1031, gfx1032, gfx1033, "       \
    "gfx1034, gfx1035, gfx1036, gfx10-3-generic, gfx1100, gfx1101, gfx1102, gfx1103, gfx1150, gfx1151, gfx1152, "      \
    "gfx1153, gfx11-generic, gfx1200, gfx1201, gfx12-generic"

ISA_TEST_SUITE(device, "gfx1151");

static void expect_error(fmha_status status, fmha_status expected, const char *text) {
    cr_assert_eq(status, expected, "%s", fmha_last_error());
    cr_assert_str_eq(fmha_last_error(), text);
}

/* ---- Opening and options ----------------------------------------------------------------------------------- */

static fmha_status open_as(const char *selector) {
    void *device;
    fmha_device_info info;
    fmha_status status = test.driver->open(selector, &device, &info);
    if (status == FMHA_OK) {
        test.driver->close(device);
    } else {
        cr_assert_null(device);
    }
    return status;
}

Test(device, describes_itself) {
    cr_assert_str_eq(test.info.driver, "isa");
    cr_assert_str_eq(test.info.arch, "gfx1151");
    cr_assert_str_eq(test.info.name, "ISA-level gfx1151");
    cr_assert_eq(test.info.image_kind, FMHA_IMAGE_CODE_OBJECT);
    cr_assert_eq(test.info.compute_units, 40);
    cr_assert_eq(test.info.lds_bytes_workgroup, 65536);
}

Test(device, open_refuses) {
    expect_error(open_as(""), FMHA_ERROR_NO_DEVICE,
                 "isa: expected a chip after the colon, got none: write for example isa:gfx1151; known are " KNOWN);
    expect_error(open_as("gfx1251"), FMHA_ERROR_NO_DEVICE,
                 "isa: unknown chip \"gfx1251\", known are " KNOWN ": did you mean isa:gfx1151?");
    setenv("FMHA_ISA_LINES", "yes", 1);
    expect_error(open_as("gfx1151"), FMHA_ERROR_ARGUMENT,
                 "FMHA_ISA_LINES: expected 0 or 1, got \"yes\": correct or unset it");
    unsetenv("FMHA_ISA_LINES");
    setenv("FMHA_ISA_THREADS", "257", 1);
    expect_error(open_as("gfx1151"), FMHA_ERROR_ARGUMENT,
                 "FMHA_ISA_THREADS: expected a whole number from 0 to 256, got \"257\": correct or unset it");
    unsetenv("FMHA_ISA_THREADS");
}

/* As where a family is new, which the emulated device knows first. */
Test(device, open_refuses_families_that_it_does_not_have) {
    emu_state state;
    expect_error(emu_state_open(&state, "isa", EMU_RDNA4, "FMHA_ISA", "ISA-level", "gfx1151"), FMHA_ERROR_NO_DEVICE,
                 "isa: expected one of gfx1200, gfx1201, gfx12-generic, got gfx1151, whose instructions this device "
                 "does not have: run its kernels as text on emu:gfx1151");
}

Test(device, options_are_checked) {
    static const char *const names[] = {"seed", "threads", "seconds", "checks", "count", "lines"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        isa_test_set(&test, names[i], 1);
    }
    expect_error(test.driver->set(test.device, "line", 1), FMHA_ERROR_ARGUMENT,
                 "isa: expected an option seed, threads, seconds, checks, count or lines, got \"line\": correct its "
                 "name");
    expect_error(test.driver->set(test.device, "lines", 2), FMHA_ERROR_ARGUMENT,
                 "isa: option lines: expected 0 to 1, got 2: choose a value between");
}

Test(device, lines_change_the_identity) {
    char *without, *with;
    cr_assert_eq(test.driver->compile_identity(test.device, 32, &without), FMHA_OK, "%s", fmha_last_error());
    isa_test_set(&test, "lines", 1);
    cr_assert_eq(test.driver->compile_identity(test.device, 32, &with), FMHA_OK, "%s", fmha_last_error());
    cr_assert_not_null(strstr(without, "--offload-arch=gfx1151"));
    cr_assert_null(strstr(without, "-gline-tables-only"));
    cr_assert_not_null(strstr(with, "-gline-tables-only"));
    free(without);
    free(with);
}

/* ---- Initial registers ------------------------------------------------------------------------------------- */

/* Each work item writes where it is, and the sizes that it sees. */
static const char places[] = ISA_TEST_KERNEL
    "(unsigned *out, unsigned plus) {\n"
    "    unsigned x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();\n"
    "    unsigned z = __builtin_amdgcn_workitem_id_z();\n"
    "    unsigned gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y();\n"
    "    unsigned gz = __builtin_amdgcn_workgroup_id_z();\n"
    "    unsigned wx = __builtin_amdgcn_workgroup_size_x(), wy = __builtin_amdgcn_workgroup_size_y();\n"
    "    unsigned wz = __builtin_amdgcn_workgroup_size_z();\n"
    "    unsigned *at = out + ((gx | gy << 4 | gz << 8) << 12 | x | y << 4 | z << 8);\n"
    "    *at = plus + (x | y << 4 | z << 8 | gx << 12 | gy << 16 | gz << 20) + (wx ^ wy << 8 ^ wz << 16);\n"
    "}\n";

static void check_places(int wave, const uint32_t grid[3], const uint32_t items[3]) {
    enum { COUNT = 1 << 24 };
    void *kernel = isa_test_kernel(&test, places, wave);
    uint32_t *seen = calloc(COUNT, sizeof *seen);
    cr_assert_not_null(seen);
    uint32_t *out = isa_test_buffer(&test, COUNT * sizeof *out, "out", seen);
    struct {
        void *out;
        uint32_t plus;
    } arguments = {out, 0x50000000};
    cr_assert_eq(isa_test_run(&test, kernel, grid, items, &arguments, 12), FMHA_OK, "%s", fmha_last_error());
    isa_test_read(&test, out, seen, COUNT * sizeof *seen);
    for (uint32_t at = 0; at < COUNT; at++) {
        uint32_t x = at & 15, y = at >> 4 & 15, z = at >> 8 & 15, gx = at >> 12 & 15, gy = at >> 16 & 15, gz = at >> 20;
        bool there = x < items[0] && y < items[1] && z < items[2] && gx < grid[0] && gy < grid[1] && gz < grid[2];
        uint32_t expected = there ? 0x50000000 + at + (items[0] ^ items[1] << 8 ^ items[2] << 16) : 0;
        cr_assert_eq(seen[at], expected, "place %x: %x, not %x", at, seen[at], expected);
    }
    free(seen);
}

Test(device, places_wave32) {
    check_places(32, (uint32_t[]){3, 4, 2}, (uint32_t[]){5, 3, 7});
}

Test(device, places_wave64) {
    check_places(64, (uint32_t[]){2, 3, 5}, (uint32_t[]){16, 2, 5});
}

/* Ids are in other registers on each: packed or apart, in user SGPRs or trap temporaries. */
Test(families, places) {
    static const struct {
        const char *chip;
        int wave;
    } cases[] = {{"gfx906", 64}, {"gfx90a", 64}, {"gfx1030", 32}, {"gfx1036", 64}, {"gfx1200", 32}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test = isa_test_open(cases[i].chip);
        check_places(cases[i].wave, (uint32_t[]){3, 2, 4}, (uint32_t[]){5, 3, 7});
        isa_test_close(&test);
    }
}

Test(device, places_one_dimension) {
    check_places(32, (uint32_t[]){9, 1, 1}, (uint32_t[]){15, 1, 1});
}

Test(device, dispatch_packet) {
    void *kernel = isa_test_kernel(&test,
                                   ISA_TEST_KERNEL "(unsigned *out) {\n"
                                                   "    const unsigned char *packet = (const unsigned char *)"
                                                   "__builtin_amdgcn_dispatch_ptr();\n"
                                                   "    out[0] = *(const unsigned short *)(packet + 4);\n"
                                                   "    out[1] = *(const unsigned *)(packet + 16);\n"
                                                   "}\n",
                                   32);
    uint32_t *out = isa_test_buffer(&test, 8, "out", NULL), seen[2];
    void *arguments = out;
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){2, 3, 1}, (uint32_t[]){4, 5, 1}, &arguments, 8), FMHA_OK,
                 "%s", fmha_last_error());
    isa_test_read(&test, out, seen, sizeof seen);
    cr_assert_arr_eq(seen, ((uint32_t[]){4, 15}), sizeof seen);
}

/* Constants of the object, and pointers to them. */
Test(device, constants) {
    void *kernel = isa_test_kernel(
        &test,
        "__attribute__((constant)) extern const unsigned numbers[3] = {11, 22, 33};\n"
        "__attribute__((constant)) extern const unsigned *const pointers[2] = {numbers + 2, numbers + 1};\n" //
        ISA_TEST_KERNEL "(unsigned *out) {\n"
        "    unsigned x = __builtin_amdgcn_workitem_id_x();\n"
        "    out[x] = numbers[x] + pointers[x % 2][0];\n"
        "}\n",
        32);
    uint32_t *out = isa_test_buffer(&test, 12, "out", NULL), seen[3];
    void *arguments = out;
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){3, 1, 1}, &arguments, 8), FMHA_OK,
                 "%s", fmha_last_error());
    isa_test_read(&test, out, seen, sizeof seen);
    cr_assert_arr_eq(seen, ((uint32_t[]){44, 44, 66}), sizeof seen);
}

/* Arrays of a lane, through scratch. */
Test(device, scratch) {
    void *kernel = isa_test_kernel(
        &test,
        ISA_TEST_KERNEL "(unsigned *out, unsigned turn) {\n"
                        "    unsigned x = __builtin_amdgcn_workitem_id_x();\n"
                        "    unsigned words[40];\n"
                        "    for (unsigned i = 0; i < 40; i++) { words[(i * turn + x) % 40] = i * 100 + x; }\n"
                        "    out[x] = words[x * 7 % 40];\n"
                        "}\n",
        32);
    uint32_t *out = isa_test_buffer(&test, 70 * 4, "out", NULL), seen[70];
    struct {
        void *out;
        uint32_t turn;
    } arguments = {out, 3};
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){70, 1, 1}, &arguments, 12), FMHA_OK,
                 "%s", fmha_last_error());
    isa_test_read(&test, out, seen, sizeof seen);
    for (uint32_t x = 0; x < 70; x++) {
        uint32_t words[40];
        for (uint32_t i = 0; i < 40; i++) {
            words[(i * 3 + x) % 40] = i * 100 + x;
        }
        cr_assert_eq(seen[x], words[x * 7 % 40]);
    }
}

/* ---- Barriers ---------------------------------------------------------------------------------------------- */

static const char sums[] = ISA_TEST_KERNEL "(unsigned *out, unsigned ends, unsigned count) {\n"
                                           "    __attribute__((shared)) static unsigned words[256];\n"
                                           "    unsigned x = __builtin_amdgcn_workitem_id_x();\n"
                                           "    words[x] = x + 1;\n"
                                           "    if (x / 32 == ends) { return; }\n"
                                           "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");\n"
                                           "    __builtin_amdgcn_s_barrier();\n"
                                           "    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");\n"
                                           "    unsigned sum = 0;\n"
                                           "    for (unsigned i = 0; i < count; i++) { sum += words[i]; }\n"
                                           "    out[__builtin_amdgcn_workgroup_id_x() * 256 + x] = sum;\n"
                                           "}\n";

static void check_sums(uint32_t ends, int64_t seed) {
    enum { GROUPS = 5 };
    isa_test_set(&test, "seed", seed);
    void *kernel = isa_test_kernel(&test, sums, 32);
    static uint32_t seen[GROUPS * 256];
    memset(seen, 0, sizeof seen);
    uint32_t *out = isa_test_buffer(&test, sizeof seen, "out", seen);
    struct {
        void *out;
        uint32_t ends, count;
    } arguments = {out, ends, 256};
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){GROUPS, 1, 1}, (uint32_t[]){256, 1, 1}, &arguments, 16),
                 FMHA_OK, "%s", fmha_last_error());
    isa_test_read(&test, out, seen, sizeof seen);
    for (uint32_t i = 0; i < GROUPS * 256; i++) {
        cr_assert_eq(seen[i], i % 256 / 32 == ends ? 0 : 256 * 257 / 2);
    }
}

Test(device, barrier_in_any_order) {
    for (int64_t seed = 0; seed < 6; seed++) {
        check_sums(8, seed);
    }
}

/* A wave that has ended does not hold the others. */
Test(device, ended_wave_counts_as_arrived) {
    check_sums(3, 0);
    check_sums(7, 1);
}

#define SHARED "typedef __attribute__((address_space(3))) unsigned SHARED;\n"

/* The wave that runs last leaves its number: without a seed the highest, with seeds each of them sometimes. */
Test(device, order_is_drawn_from_the_seed) {
    enum { WAVES = 4, SEEDS = 40 };
    void *kernel = isa_test_kernel(&test,
                                   SHARED ISA_TEST_KERNEL "(unsigned *out) {\n"
                                                          "    __attribute__((shared)) static unsigned word;\n"
                                                          "    volatile SHARED *last = (volatile SHARED *)&word;\n"
                                                          "    *last = __builtin_amdgcn_workitem_id_x() / 32;\n"
                                                          "    __builtin_amdgcn_s_barrier();\n"
                                                          "    out[__builtin_amdgcn_workgroup_id_x()] = *last;\n"
                                                          "}\n",
                                   32);
    unsigned times[WAVES] = {0};
    isa_test_set(&test, "checks", 0); /* it is a race */
    uint32_t *out = isa_test_buffer(&test, 4, "out", NULL), last, again;
    void *arguments = out;
    for (int64_t seed = 0; seed < SEEDS; seed++) {
        isa_test_set(&test, "seed", seed);
        for (int run = 0; run < 2; run++) {
            cr_assert_eq(
                isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){32 * WAVES, 1, 1}, &arguments, 8),
                FMHA_OK);
            isa_test_read(&test, out, run == 0 ? &last : &again, 4);
        }
        cr_assert_lt(last, WAVES);
        cr_assert_eq(again, last);
        cr_assert(seed != 0 || last == WAVES - 1);
        times[last]++;
    }
    for (int wave = 0; wave < WAVES; wave++) {
        cr_assert_geq(times[wave], 3, "wave %d was last %u times of %d", wave, times[wave], SEEDS);
    }
}

/* What nothing has written is no zero. */
Test(device, registers_and_lds_are_poisoned) {
    void *kernel = isa_test_kernel(&test,
                                   SHARED ISA_TEST_KERNEL "(unsigned *out) {\n"
                                                          "    __attribute__((shared)) static unsigned word;\n"
                                                          "    unsigned value;\n"
                                                          "    asm volatile(\"v_mov_b32 %0, v40\" : \"=v\"(value));\n"
                                                          "    asm volatile(\"; v63\" ::: \"v63\");\n"
                                                          "    out[0] = value;\n"
                                                          "    out[1] = *(volatile SHARED *)&word;\n"
                                                          "}\n",
                                   32);
    isa_test_set(&test, "checks", 0);
    uint32_t *out = isa_test_buffer(&test, 8, "out", NULL), seen[2];
    void *arguments = out;
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){1, 1, 1}, &arguments, 8), FMHA_OK);
    isa_test_read(&test, out, seen, sizeof seen);
    cr_assert_eq(seen[0], UINT32_MAX);
    cr_assert_eq(seen[1], UINT32_MAX);
}

/* ---- Findings ---------------------------------------------------------------------------------------------- */

static const char past_the_end[] = ISA_TEST_KERNEL "(unsigned *out) {\n"
                                                   "    unsigned x = __builtin_amdgcn_workitem_id_x();\n"
                                                   "    out[x] = x;\n"
                                                   "}\n";

static void run_past_the_end(uint32_t groups) {
    void *kernel = isa_test_kernel(&test, past_the_end, 32);
    void *arguments = isa_test_buffer(&test, 31 * 4, "out", NULL);
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){groups, 1, 1}, (uint32_t[]){32, 1, 1}, &arguments, 8),
                 FMHA_ERROR_KERNEL);
}

Test(device, finding_names_symbol_and_instruction) {
    run_past_the_end(1);
    isa_test_finding(&test, "out-of-bounds", "kernel: global_store_b32 v");
    isa_test_finding(&test, "out-of-bounds", "(workgroup (0,0,0), wave 0, lane 31)");
}

Test(device, finding_names_the_line) {
    isa_test_set(&test, "lines", 1);
    run_past_the_end(1);
    isa_test_finding(&test, "out-of-bounds", "k.hip:3: global_store_b32 v");
}

/* Lines are read from a memory file. One that may not grow costs the lines alone, and no signal ends the program. */
Test(device, finding_lacks_the_line_when_files_may_not_grow) {
    struct rlimit before, small;
    size_t bytes;
    void *module, *kernel, *arguments = isa_test_buffer(&test, 31 * 4, "out", NULL);
    isa_test_set(&test, "lines", 1);
    void *image = isa_test_compile(&test, past_the_end, 32, &bytes);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 64;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    fmha_status status = test.driver->module_load(test.device, image, bytes, &module);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert_eq(status, FMHA_OK, "%s", fmha_last_error());
    free(image);
    cr_assert_eq(test.driver->module_kernel(test.device, module, "kernel", &kernel), FMHA_OK);
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){32, 1, 1}, &arguments, 8),
                 FMHA_ERROR_KERNEL);
    isa_test_finding(&test, "out-of-bounds", "kernel: global_store_b32 v");
}

Test(device, finding_is_counted) {
    run_past_the_end(40);
    isa_test_finding(&test, "out-of-bounds", "(workgroup (0,0,0), wave 0, lane 31) (40 times)");
}

Test(device, endless_kernel) {
    isa_test_set(&test, "seconds", 1);
    isa_test_set(&test, "lines", 1);
    void *kernel = isa_test_kernel(&test,
                                   ISA_TEST_KERNEL "(unsigned *out) {\n"
                                                   "    while (__atomic_load_n(out, __ATOMIC_RELAXED) != 5) { }\n"
                                                   "}\n",
                                   32);
    uint32_t zero = 0;
    void *arguments = isa_test_buffer(&test, 4, "out", &zero);
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){32, 1, 1}, &arguments, 8),
                 FMHA_ERROR_KERNEL);
    isa_test_finding(&test, "no-end", "k.hip:2: ");
    isa_test_finding(&test, "no-end",
                     ": no end within 1 s of computing: look for a loop that does not advance, or raise "
                     "FMHA_ISA_SECONDS (workgroup (0,0,0), wave 0)");
}

/* Nor do barriers without end hold the device. */
Test(device, endless_barriers) {
    isa_test_set(&test, "seconds", 1);
    void *kernel = isa_test_kernel(&test,
                                   ISA_TEST_KERNEL "(unsigned *out) {\n"
                                                   "    while (__atomic_load_n(out, __ATOMIC_RELAXED) != 5) {\n"
                                                   "        __builtin_amdgcn_s_barrier();\n"
                                                   "    }\n"
                                                   "}\n",
                                   32);
    uint32_t zero = 0;
    void *arguments = isa_test_buffer(&test, 4, "out", &zero);
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){64, 1, 1}, &arguments, 8),
                 FMHA_ERROR_KERNEL);
    isa_test_finding(&test, "no-end", "kernel: s_barrier at 0x");
}

Test(device, register_read_before_it_was_written) {
    void *kernel = isa_test_kernel(&test,
                                   ISA_TEST_KERNEL "(unsigned *out) {\n"
                                                   "    unsigned value;\n"
                                                   "    asm volatile(\"v_add_nc_u32 %0, v40, 1\" : \"=v\"(value));\n"
                                                   "    asm volatile(\"; v63\" ::: \"v63\");\n"
                                                   "    out[0] = value;\n"
                                                   "}\n",
                                   32);
    void *arguments = isa_test_buffer(&test, 4, "out", NULL);
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){1, 1, 1}, &arguments, 8),
                 FMHA_ERROR_KERNEL);
    /* The sum is as good as v40; it is told of where it leaves the registers. */
    isa_test_finding(&test, "register-unwritten", "which was not written, or was made of what was not");
}

Test(device, output_left_unwritten) {
    void *kernel = isa_test_kernel(&test, past_the_end, 32);
    void *arguments = isa_test_buffer(&test, 40 * 4, "out", NULL);
    fmha_tensor_view view = {.label = "o",
                             .address = arguments,
                             .element_bytes = 4,
                             .dimensions = 1,
                             .shape = {34},
                             .strides = {1},
                             .access = FMHA_ACCESS_WRITE};
    cr_assert_eq(test.driver->memory_view(test.device, &view), FMHA_OK);
    cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){1, 1, 1}, (uint32_t[]){32, 1, 1}, &arguments, 8),
                 FMHA_ERROR_KERNEL);
    isa_test_finding(&test, "output-unwritten", "kernel: 2 elements were not written, the first is o[32]");
}

/* ---- Launches that are refused ----------------------------------------------------------------------------- */

static fmha_status start(void *kernel, const fmha_launch_config *config) {
    return test.driver->launch(test.device, kernel, config);
}

Test(device, launch_refuses) {
    void *kernel = isa_test_kernel(&test,
                                   ISA_TEST_KERNEL "(unsigned *out) __attribute__((amdgpu_flat_work_group_size(1, 64)))"
                                                   " {\n"
                                                   "    __attribute__((shared)) static unsigned words[256];\n"
                                                   "    words[__builtin_amdgcn_workitem_id_x()] = 1;\n"
                                                   "    __builtin_amdgcn_s_barrier();\n"
                                                   "    out[0] = words[out[1]];\n"
                                                   "}\n",
                                   32);
    void *arguments = NULL;
    fmha_launch_config config = {
        .grid = {1, 1, 1}, .workgroup = {65, 1, 1}, .arguments = &arguments, .argument_bytes = 8};
    expect_error(start(kernel, &config), FMHA_ERROR_ARGUMENT,
                 "launch of kernel: expected at most 64 work items in a workgroup, for which it was compiled, got 65: "
                 "use smaller workgroups");
    config.workgroup[0] = 64;
    config.argument_bytes = 7;
    expect_error(start(kernel, &config), FMHA_ERROR_ARGUMENT,
                 "launch of kernel: expected an argument block of 8 bytes, got 7: lay it out as the kernel's "
                 "parameters say");
    config.argument_bytes = 8;
    config.lds_dynamic_bytes = 65536 - 1023;
    expect_error(start(kernel, &config), FMHA_ERROR_ARGUMENT,
                 "launch of kernel: expected at most 65536 bytes of LDS on gfx1151, got 1024 that it declares and "
                 "64513 of the launch: use smaller tiles");
}

Test(device, unknown_kernel) {
    size_t bytes;
    void *image = isa_test_compile(&test, past_the_end, 32, &bytes), *module, *kernel;
    cr_assert_eq(test.driver->module_load(test.device, image, bytes, &module), FMHA_OK);
    free(image);
    expect_error(test.driver->module_kernel(test.device, module, "colonel", &kernel), FMHA_ERROR_ARGUMENT,
                 "isa: the module has 1 kernel, the first is \"kernel\", none is \"colonel\": ask for one that it has");
    cr_assert_eq(test.driver->module_unload(test.device, module), FMHA_OK);
    image = isa_test_compile(&test, "void kernel(void) {}\n", 32, &bytes); /* the host's */
    cr_assert_eq(test.driver->module_load(test.device, image, bytes, &module), FMHA_OK);
    free(image);
    expect_error(test.driver->module_kernel(test.device, module, "kernel", &kernel), FMHA_ERROR_ARGUMENT,
                 "isa: the module has no kernel, hence none is \"kernel\": compile its text as device code, with a "
                 "__global__ function");
    cr_assert_eq(test.driver->module_unload(test.device, module), FMHA_OK);
    expect_error(test.driver->module_unload(test.device, module), FMHA_ERROR_ARGUMENT,
                 "isa: the module is not one of this device's: unload it once, on its device");
}

/* ---- Counters ---------------------------------------------------------------------------------------------- */

Test(device, counters) {
    const fmha_counter *list;
    size_t count;
    void *kernel = isa_test_kernel(&test, past_the_end, 32);
    void *arguments = isa_test_buffer(&test, 64 * 4, "out", NULL);
    isa_test_set(&test, "count", 1);
    for (int launch = 0; launch < 2; launch++) {
        cr_assert_eq(isa_test_run(&test, kernel, (uint32_t[]){3, 1, 1}, (uint32_t[]){64, 1, 1}, &arguments, 8), FMHA_OK,
                     "%s", fmha_last_error());
    }
    cr_assert_eq(isa_test_counter(&test, "launches", NULL), 2);
    cr_assert_eq(isa_test_counter(&test, "workgroups", NULL), 6);
    cr_assert_eq(isa_test_counter(&test, "waves", NULL), 12);
    cr_assert_eq(isa_test_counter(&test, "store_instructions", NULL), 12);
    cr_assert_eq(isa_test_counter(&test, "smem_instructions", NULL), 12);
    cr_assert_eq(isa_test_counter(&test, "matrix_instructions", NULL), 0);
    cr_assert_geq(isa_test_counter(&test, "instructions", NULL), 12 * 5);
    cr_assert_eq(test.driver->clear_counters(test.device), FMHA_OK);
    cr_assert_eq(test.driver->counters(test.device, &list, &count), FMHA_OK);
    cr_assert_eq(count, 0);
}

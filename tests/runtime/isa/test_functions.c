/* Small functions, compiled for the chip with the compiler at hand and executed as machine code, against the same text
 * compiled for the host: inlined, called and spilled, in waves of 32 and of 64. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions_host.h"
#include "isa_test.h"

enum { ITEMS = 128, GROUPS = 3, WORDS = 8, CASES = ITEMS * GROUPS };

static uint64_t state = 11;

/* Random words, and edges of floats and integers among them. */
static uint32_t draw_word(void) {
    static const uint32_t edges[] = {0,          1,          0x80000000, 0x7fffffff, 0xffffffff, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0x3f800000, 0xbf800000, 0x00800000, 0x007fffff, 0x00000001, 0x7f7fffff,
                                     0x80000001, 0x4f000000, 0xcf000000, 0x0000ffff, 0x00010000, 0x7f000000};
    uint32_t word = isa_test_random(&state) << 16 ^ isa_test_random(&state);
    return word % 3 == 0 ? edges[(word >> 8) % (sizeof edges / sizeof edges[0])] : word;
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fseek(file, 0, SEEK_END), 0);
    long bytes = ftell(file);
    char *text = calloc(1, (size_t)bytes + 1);
    cr_assert_not_null(text);
    rewind(file);
    cr_assert_eq(fread(text, 1, (size_t)bytes, file), (size_t)bytes);
    fclose(file);
    return text;
}

/* The functions of the C library that the chip does not have. */
static const char library[] =
    "#define LIBRARY __attribute__((device, noinline)) static\n"
    "LIBRARY float FLOORF(float a) { return __builtin_elementwise_floor(a); }\n"
    "LIBRARY double FLOOR(double a) { return __builtin_elementwise_floor(a); }\n"
    "LIBRARY float CEILF(float a) { return __builtin_elementwise_ceil(a); }\n"
    "LIBRARY float TRUNCF(float a) { return __builtin_elementwise_trunc(a); }\n"
    "LIBRARY double TRUNC(double a) { return __builtin_elementwise_trunc(a); }\n"
    "LIBRARY float RINTF(float a) { return __builtin_elementwise_rint(a); }\n"
    "LIBRARY double RINT(double a) { return __builtin_elementwise_rint(a); }\n"
    "LIBRARY float FMAF(float a, float b, float c) { return __builtin_elementwise_fma(a, b, c); }\n"
    "LIBRARY double FMA(double a, double b, double c) { return __builtin_elementwise_fma(a, b, c); }\n"
    "LIBRARY float FABSF(float a) { return __builtin_elementwise_abs(a); }\n"
    "LIBRARY double FABS(double a) { return __builtin_elementwise_abs(a); }\n"
    "LIBRARY float SQRTF(float a) { return __builtin_elementwise_sqrt(a); }\n"
    "LIBRARY double SQRT(double a) { return __builtin_elementwise_sqrt(a); }\n"
    "LIBRARY float LDEXPF(float a, int b) { return __builtin_amdgcn_ldexpf(a, b); }\n";

/* `attributes` of every function, `kernel` of every kernel. */
static char *make_text(const char *attributes, const char *kernel) {
    char *body = read_file(FUNCTIONS_PATH), *text;
    size_t bytes, names = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_not_null(out);
    fprintf(
        out,
        "#pragma clang fp contract(off)\n"
        "typedef _Float16 float16;\n"
        "#define CALLED %s __attribute__((device)) static\n"
        "#define FUNCTION(name) %s __attribute__((device)) static void name(const unsigned *in, unsigned *out)\n%s%s\n"
        "#define KERNEL(name) extern \"C\" %s __attribute__((global, amdgpu_flat_work_group_size(%d, %d))) \\\n"
        "    void kernel_##name(const unsigned *from, unsigned *to) { \\\n"
        "    unsigned in[8], out[8]; \\\n"
        "    unsigned at = (__builtin_amdgcn_workgroup_id_x() * %d + __builtin_amdgcn_workitem_id_x()) * 8; \\\n"
        "    for (int i = 0; i < 8; i++) in[i] = from[at + i]; \\\n"
        "    name(in, out); \\\n"
        "    for (int i = 0; i < 8; i++) to[at + i] = out[i]; }\n",
        attributes, attributes, library, body, kernel, ITEMS, ITEMS, ITEMS);
    for (; names < host_function_count; names++) {
        fprintf(out, "KERNEL(%s)\n", host_functions[names].name);
    }
    fprintf(out, "extern \"C\" __attribute__((global)) void kernel() {}\n");
    cr_assert_eq(fclose(out), 0);
    free(body);
    return text;
}

static bool is_nan(uint32_t word) {
    return (word & 0x7fffffff) > 0x7f800000;
}

static void compare(const host_function *function, const char *how, const uint32_t *in, const uint32_t *out) {
    for (size_t at = 0; at < CASES; at++) {
        uint32_t expected[WORDS] = {0};
        function->run(in + at * WORDS, expected);
        for (size_t i = 0; i < WORDS; i++) {
            uint32_t got = out[at * WORDS + i];
            cr_assert(
                got == expected[i] || (is_nan(got) && is_nan(expected[i])),
                "%s (%s), case %zu: word %zu: expected 0x%08x, got 0x%08x of 0x%08x 0x%08x 0x%08x 0x%08x 0x%08x 0x%08x "
                "0x%08x 0x%08x",
                function->name, how, at, i, expected[i], got, in[at * WORDS], in[at * WORDS + 1], in[at * WORDS + 2],
                in[at * WORDS + 3], in[at * WORDS + 4], in[at * WORDS + 5], in[at * WORDS + 6], in[at * WORDS + 7]);
        }
    }
}

static void run_all(const char *chip, const char *attributes, const char *kernel_attributes, int wave) {
    static uint32_t in[CASES * WORDS], out[CASES * WORDS];
    isa_test test = isa_test_open(chip);
    char *text = make_text(attributes, kernel_attributes), how[128];
    size_t bytes;
    void *image = isa_test_compile(&test, text, wave, &bytes), *module;
    snprintf(how, sizeof how, "%s, wave %d, %s", chip, wave,
             attributes[0] != '\0'          ? "called"
             : kernel_attributes[0] != '\0' ? "spilled"
                                            : "inlined");
    cr_assert_eq(test.driver->module_load(test.device, image, bytes, &module), FMHA_OK, "%s", fmha_last_error());
    for (size_t i = 0; i < CASES * WORDS; i++) {
        in[i] = draw_word();
    }
    void *from = isa_test_buffer(&test, sizeof in, "in", in), *to = isa_test_buffer(&test, sizeof out, "out", NULL);
    for (size_t i = 0; i < host_function_count; i++) {
        char symbol[64];
        void *kernel, *arguments[] = {from, to};
        snprintf(symbol, sizeof symbol, "kernel_%s", host_functions[i].name);
        cr_assert_eq(test.driver->module_kernel(test.device, module, symbol, &kernel), FMHA_OK, "%s: %s", how,
                     fmha_last_error());
        fmha_status status = isa_test_run(&test, kernel, (uint32_t[]){GROUPS, 1, 1}, (uint32_t[]){ITEMS, 1, 1},
                                          arguments, sizeof arguments);
        cr_assert_eq(status, FMHA_OK, "%s, %s: %s", symbol, how, fmha_last_error());
        isa_test_read(&test, to, out, sizeof out);
        compare(&host_functions[i], how, in, out);
    }
    free(image);
    free(text);
    isa_test_close(&test);
}

Test(functions, inlined_in_waves_of_32) {
    run_all("gfx1151", "", "", 32);
}

Test(functions, inlined_in_waves_of_64) {
    run_all("gfx1151", "", "", 64);
}

/* By s_swappc_b64, with words on a stack that generic addresses reach. */
#define CALLED "__attribute__((noinline))"

Test(functions, called_in_waves_of_32) {
    run_all("gfx1151", CALLED, "", 32);
}

Test(functions, called_in_waves_of_64) {
    run_all("gfx1151", CALLED, "", 64);
}

/* Registers for less than what lives at once: the rest goes to scratch. */
#define SPILLED "__attribute__((amdgpu_num_vgpr(24)))"

Test(functions, spilled_in_waves_of_32) {
    run_all("gfx1151", "", SPILLED, 32);
}

Test(functions, spilled_in_waves_of_64) {
    run_all("gfx1151", "", SPILLED, 64);
}

typedef struct way {
    const char *chip, *attributes, *kernel;
    int wave;
    bool always;
} way;

/* With FMHA_TEST_LONG=1 each in each way. */
static void run_ways(const way *ways, size_t count) {
    const char *all = getenv("FMHA_TEST_LONG");
    for (size_t i = 0; i < count; i++) {
        if (ways[i].always || (all != NULL && strcmp(all, "1") == 0)) {
            run_all(ways[i].chip, ways[i].attributes, ways[i].kernel, ways[i].wave);
        }
    }
}

/* gfx9 differs from chip to chip in scratch, in where registers go that there is no room for, and in instructions. */
Test(functions, on_gfx9) {
    static const way ways[] = {
        {"gfx906", "", "", 64, false}, {"gfx906", CALLED, "", 64, true},  {"gfx906", "", SPILLED, 64, true},
        {"gfx908", "", "", 64, false}, {"gfx908", CALLED, "", 64, false}, {"gfx908", "", SPILLED, 64, true},
        {"gfx90a", "", "", 64, true},  {"gfx90a", CALLED, "", 64, true},  {"gfx90a", "", SPILLED, 64, false},
        {"gfx942", "", "", 64, false}, {"gfx942", CALLED, "", 64, true},  {"gfx942", "", SPILLED, 64, false},
        {"gfx950", "", "", 64, true},  {"gfx950", CALLED, "", 64, false}, {"gfx950", "", SPILLED, 64, false}};
    run_ways(ways, sizeof ways / sizeof ways[0]);
}

/* gfx10.3 has scratch as gfx9 has, and waves of both sizes; gfx12 has scratch as gfx11 has. */
Test(functions, on_gfx10_and_gfx12) {
    static const way ways[] = {
        {"gfx1030", "", "", 32, true},       {"gfx1030", CALLED, "", 32, true},  {"gfx1030", "", SPILLED, 32, false},
        {"gfx1030", "", "", 64, false},      {"gfx1030", CALLED, "", 64, false}, {"gfx1030", "", SPILLED, 64, true},
        {"gfx1201", "", "", 32, true},       {"gfx1201", CALLED, "", 32, false}, {"gfx1201", "", SPILLED, 32, true},
        {"gfx1201", "", "", 64, false},      {"gfx1201", CALLED, "", 64, true},  {"gfx1201", "", SPILLED, 64, false},
        {"gfx12-generic", "", "", 32, false}};
    run_ways(ways, sizeof ways / sizeof ways[0]);
}

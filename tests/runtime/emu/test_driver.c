/* The driver's table: opening, memory, compiling, loading, launching, and what each says when it cannot. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu_test.h"

#define KNOWN                                                                                                          \
    "gfx906, gfx9-generic, gfx908, gfx90a, gfx942, gfx9-4-generic, gfx950, gfx1030, gfx1031, gfx1032, gfx1033, "       \
    "gfx1034, gfx1035, gfx1036, "                                                                                      \
    "gfx10-3-generic, gfx1100, gfx1101, gfx1102, gfx1103, gfx1150, gfx1151, gfx1152, gfx1153, gfx11-generic, "         \
    "gfx1200, gfx1201, gfx12-generic, sm_80, sm_89, sm_90"

static void expect_error(fmha_status got, fmha_status status, const char *text) {
    cr_assert(eq(str, (char *)fmha_last_error(), (char *)text));
    cr_assert(eq(int, got, status));
}

static fmha_status open_chip(const char *chip) {
    void *device;
    fmha_device_info info;
    fmha_status status = fmha_driver_entry(fmha_fail)->open(chip, &device, &info);
    cr_assert(eq(ptr, device, NULL));
    return status;
}

/* ---- Opening
 * ---------------------------------------------------------------------------------------------------------- */

Test(driver, open_says_what_it_is) {
    emu_test test = emu_test_open("gfx1151");
    cr_assert(eq(int, test.driver->version, FMHA_DRIVER_VERSION));
    cr_assert(eq(str, (char *)test.driver->name, "emu"));
    cr_assert(eq(str, (char *)test.info.driver, "emu"));
    cr_assert(eq(str, (char *)test.info.arch, "gfx1151"));
    cr_assert(eq(str, (char *)test.info.name, "emulated gfx1151"));
    cr_assert(eq(int, test.info.image_kind, FMHA_IMAGE_HOST_OBJECT));
    cr_assert(eq(int, test.info.compute_units, 40));
    cr_assert(eq(sz, test.info.lds_bytes_workgroup, 65536));
    emu_test_close(&test);
}

Test(driver, open_every_chip) {
    int count = 0;
    char known[] = KNOWN;
    for (char *chip = strtok(known, ", "); chip != NULL; chip = strtok(NULL, ", ")) {
        emu_test test = emu_test_open(chip);
        cr_assert(eq(str, (char *)test.info.arch, chip));
        emu_test_close(&test);
        count++;
    }
    cr_assert(eq(int, count, 30));
}

Test(driver, open_refuses) {
    expect_error(open_chip(""), FMHA_ERROR_NO_DEVICE,
                 "emu: expected a chip after the colon, got none: write for example emu:gfx1151; known are " KNOWN);
    expect_error(open_chip("gfx11511"), FMHA_ERROR_NO_DEVICE,
                 "emu: unknown chip \"gfx11511\", known are " KNOWN ": did you mean emu:gfx1151?");
    expect_error(open_chip("a much longer name than any chip has, with words in it"), FMHA_ERROR_NO_DEVICE,
                 "emu: unknown chip \"a much longer name than any chip has, with words in it\", known are " KNOWN
                 ": did you mean emu:gfx9-generic?");
    expect_error(open_chip("gfx1151:xnack+"), FMHA_ERROR_NO_DEVICE,
                 "emu: gfx1151 has no feature \":xnack+\": write emu:gfx1151");
    expect_error(open_chip("gfx9-generic:sramecc+"), FMHA_ERROR_NO_DEVICE,
                 "emu: gfx9-generic has no feature \":sramecc+\": write emu:gfx9-generic, or one of xnack with + or - "
                 "behind, each once");
    static const char *const wrong[] = {":",       ":xnack",    ":xnack+:",        ":xnack+:xnack-",
                                        ":xnac+",  ":xnack+-",  ":sramecc xnack+", ":+",
                                        ":xnack:", ":tgsplit+", ":xnack-:sramecc"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char selector[64], expected[160];
        snprintf(selector, sizeof selector, "gfx942%s", wrong[i]);
        snprintf(
            expected, sizeof expected,
            "emu: gfx942 has no feature \"%s\": write emu:gfx942, or one of sramecc xnack with + or - behind, each "
            "once",
            wrong[i]);
        expect_error(open_chip(selector), FMHA_ERROR_NO_DEVICE, expected);
    }
}

Test(driver, opens_with_features) {
    static const char *const chips[] = {"gfx90a:sramecc+:xnack-", "gfx906:xnack+", "gfx9-generic:xnack-",
                                        "gfx9-4-generic:xnack-:sramecc-"};
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        emu_test test = emu_test_open(chips[i]);
        cr_assert(eq(str, (char *)test.info.arch, (char *)chips[i]));
        emu_test_close(&test);
    }
}

Test(driver, environment_is_checked) {
    setenv("FMHA_EMU_THREADS", "two", 1);
    expect_error(open_chip("gfx1151"), FMHA_ERROR_ARGUMENT,
                 "FMHA_EMU_THREADS: expected a whole number from 0 to 256, got \"two\": correct or unset it");
    setenv("FMHA_EMU_THREADS", "257", 1);
    expect_error(open_chip("gfx1151"), FMHA_ERROR_ARGUMENT,
                 "FMHA_EMU_THREADS: expected a whole number from 0 to 256, got \"257\": correct or unset it");
    unsetenv("FMHA_EMU_THREADS");
    setenv("FMHA_EMU_SEED", "-1", 1);
    expect_error(
        open_chip("gfx1151"), FMHA_ERROR_ARGUMENT,
        "FMHA_EMU_SEED: expected a whole number from 0 to 18446744073709551615, got \"-1\": correct or unset it");
    unsetenv("FMHA_EMU_SEED");
}

/* ---- Memory
 * ----------------------------------------------------------------------------------------------------------- */

/* However many indices name them, there are 16 elements. */
Test(driver, elements_along_a_stride_of_0_are_one) {
    emu_test test = emu_test_open("gfx1151");
    float *out = emu_test_buffer(&test, 16 * sizeof *out, "out", NULL);
    const fmha_tensor_view view = {.label = "out",
                                   .address = out,
                                   .element_bytes = sizeof *out,
                                   .dimensions = 2,
                                   .shape = {INT64_MAX, 16},
                                   .strides = {0, 1},
                                   .access = FMHA_ACCESS_WRITE};
    cr_assert(eq(int, test.driver->memory_view(test.device, &view), FMHA_OK), "%s", fmha_last_error());
    void *kernel = emu_test_kernel(&test,
                                   "extern \"C\" __global__ void kernel(float *out) {\n"
                                   "    if (threadIdx.x < 14) out[threadIdx.x] = 1;\n"
                                   "}\n",
                                   "k.hip", 32);
    cr_expect(eq(int, emu_test_run(&test, kernel, 1, 32, &out, sizeof out), FMHA_ERROR_KERNEL));
    emu_test_finding(&test, "output-unwritten",
                     "kernel: 2 elements were not written, the first is out[0,14]: check the grid, and the guards "
                     "around stores");
    emu_test_close(&test);
}

Test(driver, memory_is_poisoned_aligned_and_copied) {
    emu_test test = emu_test_open("gfx1151");
    for (size_t bytes = 1; bytes < 2000; bytes += 333) {
        unsigned char *buffer = emu_test_buffer(&test, bytes, NULL, NULL), byte;
        cr_assert(eq(sz, (size_t)(uintptr_t)buffer % 256, 0));
        emu_test_read(&test, buffer + bytes - 1, &byte, 1);
        cr_assert(eq(int, byte, 0xff));
        cr_assert(eq(int, test.driver->memory_write(test.device, buffer + bytes - 1, "x", 1), FMHA_OK));
        emu_test_read(&test, buffer + bytes - 1, &byte, 1);
        cr_assert(eq(int, byte, 'x'));
        cr_assert(eq(int, test.driver->memory_free(test.device, buffer), FMHA_OK));
    }
    cr_assert(eq(int, test.driver->memory_free(test.device, NULL), FMHA_OK));
    cr_assert(eq(int, test.driver->memory_read(test.device, NULL, NULL, 0), FMHA_OK));
    cr_assert(eq(int, test.driver->memory_write(test.device, NULL, NULL, 0), FMHA_OK));
    emu_test_close(&test);
}

Test(driver, memory_refuses) {
    emu_test test = emu_test_open("gfx1151");
    void *address;
    expect_error(test.driver->memory_alloc(test.device, 0, "q", &address), FMHA_ERROR_ARGUMENT,
                 "memory: expected 1 byte and up, got 0: do not allocate empty buffers");
    cr_assert(eq(ptr, address, NULL));
    expect_error(test.driver->memory_alloc(test.device, (size_t)-5, "q", &address), FMHA_ERROR_MEMORY,
                 "memory: no machine has 18446744073709551611 bytes: check the size for overflow");
    expect_error(test.driver->memory_alloc(test.device, (size_t)1 << 60, "q", &address), FMHA_ERROR_MEMORY,
                 "memory: the host has no 1152921504606846976 bytes for \"q\": use a smaller problem");

    char *buffer = emu_test_buffer(&test, 1000, "keys", NULL), text[512], host[2000];
    snprintf(
        text, sizeof text,
        "memory read: expected 1001 bytes inside one buffer of the device, got address %p, byte 0 of \"keys\" (1000 "
        "bytes): check address and size",
        (void *)buffer);
    expect_error(test.driver->memory_read(test.device, host, buffer, 1001), FMHA_ERROR_ARGUMENT, text);
    expect_error(test.driver->memory_read(test.device, host, (void *)(UINTPTR_MAX - 3), 4), FMHA_ERROR_ARGUMENT,
                 "memory read: expected 4 bytes inside one buffer of the device, got address 0xfffffffffffffffc, not "
                 "device memory: check address and size");
    snprintf(text, sizeof text,
             "memory write: expected 4 bytes inside one buffer of the device, got address %p, 5 bytes past the end of "
             "\"keys\" (1000 bytes): check address and size",
             (void *)(buffer + 1005));
    expect_error(test.driver->memory_write(test.device, buffer + 1005, host, 4), FMHA_ERROR_ARGUMENT, text);
    snprintf(
        text, sizeof text,
        "memory write: expected 4 bytes inside one buffer of the device, got address %p, 3 bytes before \"keys\" (1000 "
        "bytes): check address and size",
        (void *)(buffer - 3));
    expect_error(test.driver->memory_write(test.device, buffer - 3, host, 4), FMHA_ERROR_ARGUMENT, text);
    snprintf(text, sizeof text,
             "memory: cannot free %p, which is byte 8 of \"keys\" (1000 bytes): pass an address that this device "
             "handed out, "
             "once",
             (void *)(buffer + 8));
    expect_error(test.driver->memory_free(test.device, buffer + 8), FMHA_ERROR_ARGUMENT, text);
    cr_assert(eq(int, test.driver->memory_free(test.device, buffer), FMHA_OK));
    snprintf(text, sizeof text,
             "memory: cannot free %p, which is not device memory: pass an address that this device handed out, once",
             (void *)buffer);
    expect_error(test.driver->memory_free(test.device, buffer), FMHA_ERROR_ARGUMENT, text);
    emu_test_close(&test);
}

/* Many buffers, freed in another order than they came. */
Test(driver, memory_of_many_buffers) {
    enum { COUNT = 500 };
    emu_test test = emu_test_open("gfx1151");
    static unsigned char *buffers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        buffers[i] = emu_test_buffer(&test, (size_t)i + 1, "b", NULL);
        memset(buffers[i], i & 0xff, (size_t)i + 1);
    }
    for (int i = 0; i < COUNT; i += 2) {
        cr_assert(eq(int, test.driver->memory_free(test.device, buffers[i]), FMHA_OK));
    }
    for (int i = 1; i < COUNT; i += 2) {
        unsigned char last;
        emu_test_read(&test, buffers[i] + i, &last, 1);
        cr_assert(eq(int, last, i & 0xff));
    }
    emu_test_close(&test); /* frees the rest */
}

/* ---- Compiling
 * -------------------------------------------------------------------------------------------------------- */

static const char good[] = "extern \"C\" __global__ void kernel(int *out) { out[0] = 1; }\n";

static fmha_status compile(emu_test *test, const fmha_source *source) {
    void *image;
    size_t bytes;
    fmha_status status = test->driver->compile(test->device, source, &image, &bytes);
    cr_assert(eq(int, image != NULL, status == FMHA_OK));
    free(image);
    return status;
}

static void expect_compile_error(const char *text, int wave, const char *words) {
    emu_test_compile_error("gfx1151", text, wave, words);
}

Test(driver, compile_errors_name_the_line) {
    expect_compile_error("\n\nextern \"C\" __global__ void kernel(int *out) { out[0] = nothing; }\n", 32,
                         "k.hip:3:56: error: use of undeclared identifier 'nothing'");
}

Test(driver, compile_refuses_unknown_builtins) {
    expect_compile_error("extern \"C\" __global__ void kernel(int *out) {\n"
                         "    out[0] = __builtin_amdgcn_mfma_f32_16x16x16f16(0, 0, 0, 0, 0, 0);\n}\n",
                         64, "k.hip:2:14: error: use of undeclared identifier '__builtin_amdgcn_mfma_f32_16x16x16f16'");
}

Test(driver, compile_refuses_what_the_chip_lacks) {
    emu_test_compile_error("gfx1030",
                           "extern \"C\" __global__ void kernel(unsigned *out) {\n"
                           "    out[0] = __builtin_amdgcn_permlane64(out[0]);\n}\n",
                           64, "k.hip:2:14: error: use of undeclared identifier '__builtin_amdgcn_permlane64'");
    emu_test_compile_error("gfx10-3-generic",
                           "typedef _Float16 h __attribute__((ext_vector_type(16)));\n"
                           "typedef float f __attribute__((ext_vector_type(8)));\n"
                           "extern \"C\" __global__ void kernel(h *a, f *c) {\n"
                           "    *c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(*a, *a, *c);\n}\n",
                           32,
                           "k.hip:4:10: error: use of undeclared identifier "
                           "'__builtin_amdgcn_wmma_f32_16x16x16_f16_w32'");
    emu_test_compile_error("gfx906",
                           "extern \"C\" __global__ void kernel(unsigned *out) {\n"
                           "    out[0] = __builtin_amdgcn_permlanex16(0, out[0], 0, 0, true, true);\n}\n",
                           64, "k.hip:2:14: error: use of undeclared identifier '__builtin_amdgcn_permlanex16'");
    emu_test_compile_error("gfx906",
                           "extern \"C\" __global__ void kernel(int *out) {\n"
                           "    out[0] = __builtin_amdgcn_update_dpp(0, out[0], 0x150, 15, 15, true);\n}\n",
                           64, "__builtin_amdgcn_update_dpp: dpp_ctrl is not one that is known of this chip");
    emu_test_compile_error("gfx9-generic",
                           "typedef _Float16 h __attribute__((ext_vector_type(2)));\n"
                           "extern \"C\" __global__ void kernel(h *a, float *c) {\n"
                           "    *c = __builtin_amdgcn_fdot2(*a, *a, *c, false);\n}\n",
                           64, "k.hip:3:10: error: use of undeclared identifier '__builtin_amdgcn_fdot2'");
    emu_test_compile_error("gfx906",
                           "typedef _Float16 h __attribute__((ext_vector_type(4)));\n"
                           "typedef float f __attribute__((ext_vector_type(4)));\n"
                           "extern \"C\" __global__ void kernel(h *a, f *c) {\n"
                           "    *c = __builtin_amdgcn_mfma_f32_16x16x16f16(*a, *a, *c, 0, 0, 0);\n}\n",
                           64,
                           "k.hip:4:10: error: use of undeclared identifier '__builtin_amdgcn_mfma_f32_16x16x16f16'");
}

Test(driver, compile_refuses_the_other_wave_size) {
    static const char text[] = "typedef _Float16 h __attribute__((ext_vector_type(16)));\n"
                               "typedef float f __attribute__((ext_vector_type(8)));\n"
                               "extern \"C\" __global__ void kernel(h *a, f *c) {\n"
                               "    *c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(*a, *a, *c);\n}\n";
    expect_compile_error(text, 64, "this matrix instruction needs the other wave size");
    expect_compile_error("extern \"C\" __global__ void kernel(unsigned *c) {\n"
                         "    *c = __builtin_amdgcn_ballot_w32(true);\n}\n",
                         64, "__builtin_amdgcn_ballot_w32 needs wave size 32");
}

Test(driver, compile_refuses_wrong_operands) {
    expect_compile_error("typedef float h __attribute__((ext_vector_type(8)));\n"
                         "extern \"C\" __global__ void kernel(h *a) {\n"
                         "    *a = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(*a, *a, *a);\n}\n",
                         32, "A and B: expected vectors of 16 _Float16 (f16) or 16 short (bf16)");
    expect_compile_error("extern \"C\" __global__ void kernel(int *a, int n) {\n"
                         "    *a = __builtin_amdgcn_update_dpp(0, *a, n, 15, 15, true);\n}\n",
                         32,
                         "k.hip:2:10: error: constexpr variable 'fmha_emu_site_here' must be initialized by a constant "
                         "expression");
    expect_compile_error(
        "extern \"C\" __global__ void kernel(int *a) {\n"
        "    *a = __builtin_amdgcn_update_dpp(0, *a, 0x142, 15, 15, true);\n}\n",
        32, "__builtin_amdgcn_update_dpp: dpp_ctrl is not one that is known of this chip: quad_perm 0x000-0x0ff");
    expect_compile_error("extern \"C\" __global__ void kernel(float *a) {\n"
                         "    *a = __builtin_amdgcn_update_dpp(0, *a, 0x141, 15, 15, true);\n}\n",
                         32, "DPP operand: expected an integer of at most 32 bits");
    expect_compile_error("extern \"C\" __global__ void kernel(float *a) {\n"
                         "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"galaxy\");\n}\n",
                         32, "__builtin_amdgcn_fence: unknown scope");
}

Test(driver, compile_refuses) {
    emu_test test = emu_test_open("gfx1151");
    fmha_source source = {.text = good, .symbol = "other", .wave = 32};
    expect_error(compile(&test, &source), FMHA_ERROR_ARGUMENT,
                 "source: expected a text with the kernel \"other\", got one without that word: check text and symbol");
    emu_test_close(&test);
}

static int entries(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    cr_assert(ne(ptr, folder, NULL));
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count - 2;
}

/* In a folder with a space, which is left as it was; and where it cannot be made. */
Test(driver, compile_leaves_no_files) {
    char path[] = "/tmp/fmha emu test XXXXXX";
    cr_assert(ne(ptr, mkdtemp(path), NULL));
    setenv("TMPDIR", path, 1);
    emu_test test = emu_test_open("gfx1151");
    fmha_source source = {.text = good, .symbol = "kernel", .path = "a \"strange\\ name.hip", .wave = 32};
    cr_assert(eq(int, compile(&test, &source), FMHA_OK), "%s", fmha_last_error());
    source.text = "kernel";
    cr_assert(eq(int, compile(&test, &source), FMHA_ERROR_COMPILE));
    cr_assert(strstr(fmha_last_error(), "a _strange_ name.hip:1:1: error") != NULL, "%s", fmha_last_error());
    cr_assert(eq(int, entries(path), 0));
    cr_assert(eq(int, rmdir(path), 0));
    char text[512];
    snprintf(
        text, sizeof text,
        "emulated device: cannot make a folder in %s (No such file or directory): set TMPDIR to a folder that can be "
        "written",
        path);
    expect_error(compile(&test, &source), FMHA_ERROR_IO, text);
    unsetenv("TMPDIR");
    emu_test_close(&test);
}

Test(driver, compile_says_when_there_is_no_compiler) {
    setenv("FMHA_HOST_CXX", "/nowhere/clang++", 1);
    emu_test test = emu_test_open("gfx1151");
    fmha_source source = {.text = good, .symbol = "kernel", .wave = 32};
    cr_assert(eq(int, compile(&test, &source), FMHA_ERROR_NO_COMPILER));
    cr_assert(strstr(fmha_last_error(), "/nowhere/clang++") != NULL, "%s", fmha_last_error());
    unsetenv("FMHA_HOST_CXX");
    emu_test_close(&test);
}

/* ---- Loading
 * ---------------------------------------------------------------------------------------------------------- */

#define NOT_WHOLE(bytes)                                                                                               \
    "emulated device: expected an image of its own compile step, got " bytes                                           \
    " bytes that are no whole ELF object: compile the source again"

/* Another shared object of the host, as a file. */
static void *read_library(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    static char contents[1 << 22];
    cr_assert(ne(ptr, file, NULL));
    *bytes = fread(contents, 1, sizeof contents, file);
    fclose(file);
    return contents;
}

Test(driver, load_refuses_other_objects) {
    emu_test test = emu_test_open("gfx1151");
    size_t bytes;
    void *contents = read_library(EMU_TEST_OTHER_LIBRARY, &bytes), *module;
    expect_error(
        test.driver->module_load(test.device, contents, bytes, &module), FMHA_ERROR_ARGUMENT,
        "emulated device: expected an image of its own compile step, version 8, got another shared object: compile "
        "the source again");
    emu_test_close(&test);
}

Test(driver, load_refuses) {
    emu_test test = emu_test_open("gfx1151");
    void *module;
    expect_error(test.driver->module_load(test.device, "text", 4, &module), FMHA_ERROR_ARGUMENT, NOT_WHOLE("4"));
    cr_assert(eq(ptr, module, NULL));
    expect_error(test.driver->module_load(test.device, "\177ELF and no more", 16, &module), FMHA_ERROR_ARGUMENT,
                 NOT_WHOLE("16"));

    fmha_source source = {.text = good, .symbol = "kernel", .wave = 32};
    void *image, *kernel;
    size_t bytes;
    cr_assert(eq(int, test.driver->compile(test.device, &source, &image, &bytes), FMHA_OK));
    emu_test other = emu_test_open("gfx1100");
    expect_error(
        other.driver->module_load(other.device, image, bytes, &module), FMHA_ERROR_WRONG_CHIP,
        "emulated device: \"kernel\" was compiled for gfx1151, this device is gfx1100: open emu:gfx1151 or compile "
        "for gfx1100");
    emu_test_close(&other);
    for (size_t part = 0; part < bytes; part += 97) { /* torn anywhere */
        fmha_status status = test.driver->module_load(test.device, image, part, &module);
        if (status == FMHA_OK) { /* what was cut off is not needed to run */
            break;
        }
        cr_assert(eq(int, status, FMHA_ERROR_ARGUMENT));
    }
    cr_assert(eq(int, test.driver->module_load(test.device, image, bytes, &module), FMHA_OK));
    expect_error(
        test.driver->module_kernel(test.device, module, "kernel2", &kernel), FMHA_ERROR_ARGUMENT,
        "emu: the module holds kernel \"kernel\", not \"kernel2\": ask for the symbol that it was compiled with");
    cr_assert(eq(int, test.driver->module_unload(test.device, module), FMHA_OK));
    expect_error(test.driver->module_unload(test.device, module), FMHA_ERROR_ARGUMENT,
                 "emu: the module is not one of this device's: unload it once, on its device");
    free(image);
    emu_test_close(&test);
}

/* The limit on the size of files holds for memory files too; its signal does not end the program. */
Test(driver, load_is_an_error_when_files_may_not_grow) {
    emu_test test = emu_test_open("gfx1151");
    fmha_source source = {.text = good, .symbol = "kernel", .wave = 32};
    void *image, *module;
    size_t bytes;
    char text[200];
    struct rlimit before, small;
    cr_assert(eq(int, test.driver->compile(test.device, &source, &image, &bytes), FMHA_OK));
    cr_assert(eq(int, getrlimit(RLIMIT_FSIZE, &before), 0));
    small = before;
    small.rlim_cur = 64;
    cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &small), 0));
    fmha_status status = test.driver->module_load(test.device, image, bytes, &module);
    setrlimit(RLIMIT_FSIZE, &before);
    snprintf(text, sizeof text,
             "emulated device: cannot write a kernel of %zu bytes into memory (File too large): free memory, or raise "
             "ulimit -f",
             bytes);
    expect_error(status, FMHA_ERROR_IO, text);
    cr_assert(eq(ptr, module, NULL));
    free(image);
    emu_test_close(&test);
}

/* Two texts with one symbol, loaded, unloaded and loaded again, stay apart. */
Test(driver, modules_stay_apart) {
    emu_test test = emu_test_open("gfx1151");
    void *images[2], *modules[2], *kernels[2];
    size_t bytes[2];
    int *out = emu_test_buffer(&test, sizeof *out, "out", NULL);
    for (int i = 0; i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text, "extern \"C\" __global__ void kernel(int *out) { out[0] = %d; }\n", 10 + i);
        fmha_source source = {.text = text, .symbol = "kernel", .wave = 32};
        cr_assert(eq(int, test.driver->compile(test.device, &source, &images[i], &bytes[i]), FMHA_OK));
    }
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 2; i++) {
            int which = (round + i) % 2;
            cr_assert(
                eq(int, test.driver->module_load(test.device, images[which], bytes[which], &modules[which]), FMHA_OK));
            cr_assert(
                eq(int, test.driver->module_kernel(test.device, modules[which], "kernel", &kernels[which]), FMHA_OK));
            cr_assert(eq(int, emu_test_run(&test, kernels[which], 1, 1, &out, sizeof out), FMHA_OK));
            cr_assert(eq(int, *out, 10 + which));
            if (round % 3 != 0) {
                cr_assert(eq(int, test.driver->module_unload(test.device, modules[which]), FMHA_OK));
            }
        }
    }
    free(images[0]);
    free(images[1]);
    emu_test_close(&test); /* unloads the rest */
}

/* ---- Launching
 * -------------------------------------------------------------------------------------------------------- */

Test(driver, launch_refuses) {
    emu_test test = emu_test_open("gfx1151");
    void *kernel = emu_test_kernel(&test, good, "k.hip", 32), *out = emu_test_buffer(&test, 4, "out", NULL);
    fmha_launch_config config = {
        .grid = {1, 0, 1}, .workgroup = {32, 1, 1}, .arguments = &out, .argument_bytes = sizeof out};
    expect_error(
        test.driver->launch(test.device, kernel, &config), FMHA_ERROR_ARGUMENT,
        "launch of kernel: expected a grid and a workgroup of 1 and up, got grid (1,0,1), workgroup (32,1,1): do "
        "not launch empty work");
    config.grid[1] = 1;
    config.workgroup[1] = 33;
    expect_error(
        test.driver->launch(test.device, kernel, &config), FMHA_ERROR_ARGUMENT,
        "launch of kernel: expected at most 1024 work items in a workgroup, got (32,33,1): use smaller workgroups");
    config.workgroup[1] = 1;
    config.argument_bytes = 4;
    expect_error(
        test.driver->launch(test.device, kernel, &config), FMHA_ERROR_ARGUMENT,
        "launch of kernel: expected an argument block of 8 bytes, got 4: lay it out as the kernel's parameters "
        "say");
    config.argument_bytes = 8;
    config.lds_dynamic_bytes = 65537;
    expect_error(
        test.driver->launch(test.device, kernel, &config), FMHA_ERROR_ARGUMENT,
        "launch of kernel: expected at most 65536 bytes of dynamic LDS on gfx1151, got 65537: use smaller tiles");
    config.lds_dynamic_bytes = 0;
    config.workgroup[0] = 1024;
    cr_assert(eq(int, test.driver->launch(test.device, kernel, &config), FMHA_OK));
    emu_test_close(&test);
}

/* Two devices at once, each from a thread of its own, would share nothing; here one after the other on one thread. */
Test(driver, devices_are_independent) {
    emu_test one = emu_test_open("gfx1151"), two = emu_test_open("gfx1100");
    void *crash = emu_test_kernel(&one, "extern \"C\" __global__ void kernel(int *out) { *(volatile int *)0 = 1; }\n",
                                  "k.hip", 32);
    void *work = emu_test_kernel(&two, good, "k.hip", 32);
    int *out = emu_test_buffer(&two, sizeof *out, "out", NULL);
    cr_assert(eq(int, emu_test_run(&one, crash, 1, 1, &out, sizeof out), FMHA_ERROR_KERNEL));
    cr_assert(eq(int, emu_test_run(&two, work, 1, 1, &out, sizeof out), FMHA_OK));
    cr_assert(eq(int, *out, 1));
    emu_test_close(&one);
    emu_test_close(&two);
}

/* What is the same for every kind of device, over a driver that records what it is asked for. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "fake/driver.h"
#include "file.h"
#include "fmha.h"
#include "support.h"

static fake_driver_record *record;
static fmha_device *device;

static void set_up(void) {
    setenv("FMHA_DRIVER_DIR", FAKE_DRIVER_DIR, 1);
    void *library = dlopen(FAKE_DRIVER_DIR "/libfmha_emu.so", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    record = dlsym(library, "fake_driver_state");
    cr_assert_not_null(record);
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
}

/* The end of each test, in the test itself: what fails after it does not count. */
static void finish(void) {
    fmha_device_close(device);
    cr_assert_eq(record->devices, 0);
    cr_assert_eq(record->memories, 0);
    cr_assert_eq(record->modules, 0);
    support_assert_clean();
}

TestSuite(device, .init = set_up);

static void expect_error(fmha_status got, fmha_status expected, const char *text) {
    cr_assert_eq(got, expected, "expected %s, got %s: %s", fmha_status_name(expected), fmha_status_name(got),
                 fmha_last_error());
    cr_assert_str_eq(fmha_last_error(), text);
}

/* ---- Names ----------------------------------------------------------------------------------------------- */

Test(device, selector_is_what_follows_the_colon) {
    fmha_device *other;
    cr_assert_str_eq(record->selector, "gfx1151");
    cr_assert_eq(fmha_device_open("emu:gfx942:sramecc+:xnack-", &other), FMHA_OK);
    cr_assert_str_eq(record->selector, "gfx942:sramecc+:xnack-");
    fmha_device_close(other);
    cr_assert_eq(fmha_device_open("emu", &other), FMHA_OK);
    cr_assert_str_eq(record->selector, "");
    fmha_device_close(other);
    finish();
}

Test(device, unknown_driver_is_refused_with_the_nearest) {
    fmha_device *other = device;
    expect_error(
        fmha_device_open("hpi:1", &other), FMHA_ERROR_ARGUMENT,
        "device 'hpi:1': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver 'hpi'; did you mean 'hip'?");
    cr_assert_null(other);
    expect_error(fmha_device_open("emulator", &other), FMHA_ERROR_ARGUMENT,
                 "device 'emulator': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver 'emulator'");
    expect_error(fmha_device_open("EMU:gfx1151", &other), FMHA_ERROR_ARGUMENT,
                 "device 'EMU:gfx1151': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver 'EMU'; did "
                 "you mean 'emu'?");
    expect_error(fmha_device_open("", &other), FMHA_ERROR_ARGUMENT,
                 "device '': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver ''");
    expect_error(fmha_device_open(":gfx1151", &other), FMHA_ERROR_ARGUMENT,
                 "device ':gfx1151': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver ''");
    expect_error(
        fmha_device_open("emm", &other), FMHA_ERROR_ARGUMENT,
        "device 'emm': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver 'emm'; did you mean 'emu'?");
    finish();
}

Test(device, describes_itself) {
    fmha_device_info info;
    cr_assert_eq(fmha_device_get_info(device, &info), FMHA_OK);
    cr_assert_str_eq(info.driver, "emu");
    cr_assert_str_eq(info.arch, "gfx1151");
    cr_assert_str_eq(info.name, "fake gfx1151");
    cr_assert_eq(info.compute_units, 3);
    cr_assert_eq(info.lds_bytes_workgroup, 65536);
    finish();
}

Test(device, failure_to_open_is_the_drivers) {
    fmha_device *other = device;
    record->fail_in = "open";
    expect_error(fmha_device_open("emu:gfx1151", &other), FMHA_ERROR_DRIVER, "fake: open failed");
    cr_assert_null(other);
    finish();
}

Test(device, stale_driver_is_refused) {
    fmha_device *other = device;
    record->version = 99;
    expect_error(
        fmha_device_open("emu:gfx1151", &other), FMHA_ERROR_NO_DRIVER,
        "device 'emu:gfx1151': expected libfmha_emu.so of interface version 4, got version 99; install the one "
        "that belongs to this libfmha");
    cr_assert_null(other);
    finish();
}

/* ---- NULL ------------------------------------------------------------------------------------------------ */

Test(device, null_is_refused_where_it_is_not_accepted) {
    void *address = NULL, *image;
    size_t count;
    char byte = 0;
    const fmha_finding *findings;
    fmha_device *other;
    fmha_device_info info;
    fmha_module *module;
    fmha_kernel *kernel;
    fmha_source source = {.text = "", .symbol = "k", .wave = 32};
    fmha_launch_config config = {.grid = {1, 1, 1}, .workgroup = {1, 1, 1}};
    expect_error(fmha_device_open(NULL, &other), FMHA_ERROR_ARGUMENT,
                 "fmha_device_open: expected a name and a place for the device, got NULL; pass a valid pointer");
    expect_error(fmha_device_open("hip", NULL), FMHA_ERROR_ARGUMENT,
                 "fmha_device_open: expected a name and a place for the device, got NULL; pass a valid pointer");
    fmha_device_close(NULL);
    cr_assert_eq(fmha_device_get_info(NULL, &info), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_device_get_info(device, NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_alloc(NULL, 1, "q", &address), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_alloc(device, 1, "q", NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_free(NULL, &byte), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_free(device, NULL), FMHA_OK);
    cr_assert_eq(fmha_memory_write(NULL, &byte, &byte, 1), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_write(device, NULL, &byte, 1), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_write(device, &byte, NULL, 1), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_read(NULL, &byte, &byte, 1), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_read(device, NULL, &byte, 1), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_memory_read(device, &byte, NULL, 1), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_source_compile(NULL, &source, &image, &count), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_source_compile(device, NULL, &image, &count), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_source_compile(device, &source, NULL, &count), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_source_compile(device, &source, &image, NULL), FMHA_ERROR_ARGUMENT);
    source.symbol = NULL;
    cr_assert_eq(fmha_source_compile(device, &source, &image, &count), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_module_load(NULL, "x", 1, &module), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_module_load(device, NULL, 1, &module), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_module_load(device, "x", 1, NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_module_unload(NULL), FMHA_OK);
    cr_assert_eq(fmha_module_load(device, "x", 1, &module), FMHA_OK);
    cr_assert_eq(fmha_module_kernel(NULL, "k", &kernel), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_module_kernel(module, NULL, &kernel), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_module_kernel(module, "k", NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_module_kernel(module, "k", &kernel), FMHA_OK);
    cr_assert_eq(fmha_kernel_launch(NULL, &config), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_kernel_launch(kernel, NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_device_synchronize(NULL, NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_device_findings(NULL, &findings, &count), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_device_findings(device, NULL, &count), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_device_findings(device, &findings, NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_device_clear_findings(NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(record->launches, 0);
    cr_assert_eq(record->copies, 0);
    finish();
}

/* ---- Memory ---------------------------------------------------------------------------------------------- */

Test(device, memory_is_given_back) {
    void *addresses[100];
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(fmha_memory_alloc(device, (size_t)i * 37 + 1, "q", &addresses[i]), FMHA_OK);
    }
    cr_assert_str_eq(record->label, "q");
    for (int i = 0; i < 100; i += 2) { /* the others are left for the device to free */
        cr_assert_eq(fmha_memory_free(device, addresses[(i * 7) % 100]), FMHA_OK);
    }
    cr_assert_eq(record->memories, 50);
    finish();
}

Test(device, memory_is_written_and_read) {
    char *address, back[8] = {0};
    cr_assert_eq(fmha_memory_alloc(device, 8, NULL, (void **)&address), FMHA_OK);
    cr_assert_str_eq(record->label, "(null)");
    cr_assert_eq(fmha_memory_write(device, address, "12345678", 8), FMHA_OK);
    cr_assert_eq(fmha_memory_read(device, back, address + 3, 5), FMHA_OK);
    cr_assert_str_eq(back, "45678");
    cr_assert_eq(fmha_memory_read(device, back, address + 8, 0), FMHA_OK);
    cr_assert_eq(record->copies, 2, "an empty copy asks nothing of the driver");
    finish();
}

Test(device, copies_stay_inside_their_buffer) {
    char *address, bytes[64];
    cr_assert_eq(fmha_memory_alloc(device, 16, "q", (void **)&address), FMHA_OK);
    expect_error(fmha_memory_write(device, address + 4, bytes, 13), FMHA_ERROR_ARGUMENT,
                 "fmha_memory_write: expected at most 12 bytes from offset 4 of a buffer of 16 bytes, got 13; check "
                 "address and size");
    expect_error(fmha_memory_read(device, bytes, address, 17), FMHA_ERROR_ARGUMENT,
                 "fmha_memory_read: expected at most 16 bytes from offset 0 of a buffer of 16 bytes, got 17; check "
                 "address and size");
    cr_assert_eq(fmha_memory_read(device, bytes, address + 1, SIZE_MAX), FMHA_ERROR_ARGUMENT);
    char text[200];
    char elsewhere[4]; /* memory that another allocator made is passed on, but not past the address space */
    cr_assert_eq(fmha_memory_write(device, elsewhere, "abc", 4), FMHA_OK);
    snprintf(
        text, sizeof text,
        "fmha_memory_write: expected a range inside the address space, got %zu bytes at %p; check address and size",
        SIZE_MAX - 5, (void *)elsewhere);
    expect_error(fmha_memory_write(device, elsewhere, bytes, SIZE_MAX - 5), FMHA_ERROR_ARGUMENT, text);
    cr_assert_eq(record->copies, 1);
    finish();
}

Test(device, wrong_memory_requests_are_refused) {
    char *address, text[200];
    void *none = text;
    expect_error(fmha_memory_alloc(device, 0, "lse", &none), FMHA_ERROR_ARGUMENT,
                 "fmha_memory_alloc: expected 1 byte or more, got 0 (buffer 'lse'); leave it out");
    cr_assert_null(none);
    cr_assert_eq(fmha_memory_alloc(device, 16, "q", (void **)&address), FMHA_OK);
    snprintf(
        text, sizeof text,
        "fmha_memory_free: expected an address that fmha_memory_alloc returned for this device and that was not freed "
        "since, got %p; free each once",
        (void *)(address + 1));
    expect_error(fmha_memory_free(device, address + 1), FMHA_ERROR_ARGUMENT, text);
    cr_assert_eq(fmha_memory_free(device, address), FMHA_OK);
    cr_assert_eq(fmha_memory_free(device, address), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(record->memories, 0);
    finish();
}

Test(device, memory_failures_are_the_drivers) {
    void *address = &address;
    record->fail_in = "memory_alloc";
    expect_error(fmha_memory_alloc(device, 16, "q", &address), FMHA_ERROR_DRIVER, "fake: memory_alloc failed");
    cr_assert_null(address);
    record->fail_in = "memory_free";
    cr_assert_eq(fmha_memory_alloc(device, 16, "q", &address), FMHA_OK);
    expect_error(fmha_memory_free(device, address), FMHA_ERROR_DRIVER, "fake: memory_free failed");
    cr_assert_eq(fmha_memory_free(device, address), FMHA_ERROR_ARGUMENT, "it is not freed twice");
    finish();
}

/* The fake driver has none of the functions for emulated devices: views are checked and ignored, options refused. */
Test(device, views_are_checked) {
    void *address;
    cr_assert_eq(fmha_memory_alloc(device, 64, "q", &address), FMHA_OK);
    fmha_tensor_view view = {.label = "q",
                             .address = address,
                             .element_bytes = 2,
                             .dimensions = 2,
                             .shape = {4, 8},
                             .strides = {8, 1},
                             .access = FMHA_ACCESS_READ};
    cr_assert_eq(fmha_memory_view(device, &view), FMHA_OK, "%s", fmha_last_error());
    view.strides[0] = 9;
    expect_error(fmha_memory_view(device, &view), FMHA_ERROR_ARGUMENT,
                 "fmha_memory_view: expected at most 64 bytes from offset 0 of a buffer of 64 bytes, got 70; check "
                 "address and size");
    view.shape[0] = 0;
    cr_assert_eq(fmha_memory_view(device, &view), FMHA_OK, "an empty tensor has no element to lie anywhere");
    view.shape[0] = -1;
    expect_error(fmha_memory_view(device, &view), FMHA_ERROR_ARGUMENT,
                 "fmha_memory_view: expected sizes and strides of 0 and up, got size -1 and stride 9 in dimension 0 "
                 "(tensor 'q'); pass a tensor that does not run backwards");
    view.shape[0] = INT64_MAX;
    expect_error(fmha_memory_view(device, &view), FMHA_ERROR_ARGUMENT,
                 "fmha_memory_view: expected a tensor that ends within the address space; check shape and strides "
                 "(tensor 'q')");
    view.dimensions = 7;
    view.address = NULL;
    fmha_memory_free(device, address);
    expect_error(fmha_memory_view(device, &view), FMHA_ERROR_ARGUMENT,
                 "fmha_memory_view: expected an address, elements of 1 byte and up, 1 to 6 dimensions and an access, "
                 "got (nil), 2 bytes, 7 dimensions, access 1 (tensor 'q'); fill in all fields");
    cr_assert_eq(fmha_memory_view(device, NULL), FMHA_ERROR_ARGUMENT);
    finish();
}

Test(device, options_and_counters_are_for_emulated_devices) {
    const fmha_counter *counters = (const fmha_counter *)&device;
    size_t count = 7;
    expect_error(fmha_device_set(device, "seed", 1), FMHA_ERROR_UNSUPPORTED,
                 "fmha_device_set: fake gfx1151 has no option 'seed': options are for emulated devices");
    cr_assert_eq(fmha_device_set(device, NULL, 1), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_device_counters(device, &counters, &count), FMHA_OK);
    cr_assert_null(counters);
    cr_assert_eq(count, 0);
    cr_assert_eq(fmha_device_counters(device, NULL, &count), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_device_clear_counters(device), FMHA_OK);
    cr_assert_eq(fmha_device_clear_counters(NULL), FMHA_ERROR_ARGUMENT);
    finish();
}

/* ---- Code ------------------------------------------------------------------------------------------------ */

Test(device, source_becomes_an_image) {
    fmha_source source = {.text = "text", .symbol = "k", .wave = 64};
    void *image;
    size_t count;
    cr_assert_eq(fmha_source_compile(device, &source, &image, &count), FMHA_OK);
    cr_assert_str_eq(image, "text");
    cr_assert_eq(count, 5);
    free(image);
    source.wave = 48;
    expect_error(
        fmha_source_compile(device, &source, &image, &count), FMHA_ERROR_ARGUMENT,
        "fmha_source_compile: expected a wave of 32 or 64 lanes, got 48 (k); give what the kernel was generated for");
    cr_assert_null(image);
    cr_assert_eq(count, 0);
    source.wave = 32;
    static const char *const names[] = {"", "../k", "9k", "k; l"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[256];
        source.symbol = names[i];
        snprintf(text, sizeof text,
                 "fmha_source_compile: expected a kernel's name of up to 400 letters as symbol, got '%s'; give the "
                 "name of the __global__ function",
                 names[i]);
        expect_error(fmha_source_compile(device, &source, &image, &count), FMHA_ERROR_ARGUMENT, text);
    }
    finish();
}

Test(device, modules_and_kernels_are_released) {
    fmha_module *modules[5];
    fmha_kernel *kernel, *again;
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(fmha_module_load(device, "x", 1, &modules[i]), FMHA_OK);
        cr_assert_eq(fmha_module_kernel(modules[i], "fmha_forward", &kernel), FMHA_OK);
        cr_assert_eq(fmha_module_kernel(modules[i], "fmha_merge", &kernel), FMHA_OK);
        cr_assert_eq(fmha_module_kernel(modules[i], "fmha_merge", &again), FMHA_OK);
        cr_assert_eq(kernel, again);
    }
    cr_assert_eq(record->lookups, 10, "a known kernel is not asked for again");
    cr_assert_eq(fmha_module_unload(modules[2]), FMHA_OK);
    cr_assert_eq(fmha_module_unload(modules[4]), FMHA_OK);
    cr_assert_eq(fmha_module_unload(modules[0]), FMHA_OK);
    cr_assert_eq(record->modules, 2);
    finish();
}

Test(device, module_failures_are_the_drivers) {
    fmha_module *module;
    fmha_kernel *kernel = (fmha_kernel *)&kernel;
    expect_error(fmha_module_load(device, "x", 0, &module), FMHA_ERROR_ARGUMENT,
                 "fmha_module_load: expected an image of 1 byte or more, got 0; pass its size");
    record->fail_in = "module_load";
    expect_error(fmha_module_load(device, "x", 1, &module), FMHA_ERROR_DRIVER, "fake: module_load failed");
    cr_assert_null(module);
    record->fail_in = "module_kernel";
    cr_assert_eq(fmha_module_load(device, "x", 1, &module), FMHA_OK);
    expect_error(fmha_module_kernel(module, "k", &kernel), FMHA_ERROR_DRIVER, "fake: module_kernel failed");
    cr_assert_null(kernel);
    record->fail_in = "module_unload";
    expect_error(fmha_module_unload(module), FMHA_ERROR_DRIVER, "fake: module_unload failed");
    finish();
}

/* ---- Launches -------------------------------------------------------------------------------------------- */

static fmha_kernel *load_kernel(void) {
    fmha_module *module;
    fmha_kernel *kernel;
    cr_assert_eq(fmha_module_load(device, "x", 1, &module), FMHA_OK);
    cr_assert_eq(fmha_module_kernel(module, "fmha_forward", &kernel), FMHA_OK);
    return kernel;
}

Test(device, launch_reaches_the_driver) {
    fmha_kernel *kernel = load_kernel();
    char block[40];
    int stream;
    const fmha_launch_config largest = {
        .grid = {1 << 22, UINT32_MAX, 65536},
        .workgroup = {1023, 1, 1},
        .lds_dynamic_bytes = 65536,
        .arguments = block,
        .argument_bytes = sizeof block,
        .stream = &stream,
    };
    cr_assert_eq(fmha_kernel_launch(kernel, &largest), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(memcmp(&record->launched, &largest, sizeof largest), 0);
    cr_assert_eq(fmha_device_synchronize(device, &stream), FMHA_OK);
    cr_assert_eq(record->synchronized_stream, &stream);
    record->fail_in = "launch";
    expect_error(fmha_kernel_launch(kernel, &largest), FMHA_ERROR_DRIVER, "fake: launch failed");
    record->fail_in = "synchronize";
    expect_error(fmha_device_synchronize(device, NULL), FMHA_ERROR_DRIVER, "fake: synchronize failed");
    finish();
}

Test(device, impossible_launches_are_refused) {
    fmha_kernel *kernel = load_kernel();
    const fmha_launch_config good = {.grid = {1, 1, 1}, .workgroup = {32, 32, 1}};
    fmha_launch_config config = good;
    config.grid[1] = 0;
    expect_error(
        fmha_kernel_launch(kernel, &config), FMHA_ERROR_ARGUMENT,
        "fmha_forward: expected a grid of 1 and up in each dimension, got 1 x 0 x 1; an empty problem needs no "
        "launch");
    static const uint32_t wrong[][3] = {{0, 1, 1}, {1, 1, 0}, {1025, 1, 1}, {32, 33, 1}, {65536, 65536, 65536}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[300];
        config = good;
        memcpy(config.workgroup, wrong[i], sizeof wrong[i]);
        snprintf(
            text, sizeof text,
            "fmha_forward: expected a workgroup of 1 to 1024 work items, got %u x %u x %u; pass the workgroup that the "
            "kernel was generated for",
            wrong[i][0], wrong[i][1], wrong[i][2]);
        expect_error(fmha_kernel_launch(kernel, &config), FMHA_ERROR_ARGUMENT, text);
    }
    config = good;
    config.grid[0] = 1u << 27;
    expect_error(
        fmha_kernel_launch(kernel, &config), FMHA_ERROR_ARGUMENT,
        "fmha_forward: expected fewer than 2^32 work items in each dimension, got 134217728 workgroups of 32 in "
        "dimension 0; split the launch");
    config = good;
    config.lds_dynamic_bytes = 65537;
    expect_error(fmha_kernel_launch(kernel, &config), FMHA_ERROR_ARGUMENT,
                 "fmha_forward: expected at most 65536 bytes of LDS, got 65537; use smaller tiles");
    config = good;
    config.argument_bytes = 8;
    expect_error(fmha_kernel_launch(kernel, &config), FMHA_ERROR_ARGUMENT,
                 "fmha_forward: expected an argument block of 8 bytes, got NULL; pass its address");
    config.arguments = &config;
    config.argument_bytes = SIZE_MAX;
    expect_error(fmha_kernel_launch(kernel, &config), FMHA_ERROR_ARGUMENT,
                 "fmha_forward: expected an argument block of at most 65536 bytes, got 18446744073709551615; pass the "
                 "size that its NAME.json says");
    cr_assert_eq(record->launches, 0);
    cr_assert_eq(fmha_kernel_launch(kernel, &good), FMHA_OK);
    finish();
}

Test(device, findings_are_the_drivers) {
    const fmha_finding *findings;
    size_t count;
    cr_assert_eq(fmha_device_findings(device, &findings, &count), FMHA_OK);
    cr_assert_eq(count, 1);
    cr_assert_str_eq(findings->kind, "out-of-bounds");
    cr_assert_eq(fmha_device_clear_findings(device), FMHA_OK);
    cr_assert_eq(record->clears, 1);

    fmha_device *real;
    record->without_findings = true;
    cr_assert_eq(fmha_device_open("emu:gfx1151", &real), FMHA_OK);
    cr_assert_eq(fmha_device_findings(real, &findings, &count), FMHA_OK);
    cr_assert_eq(count, 0);
    cr_assert_null(findings);
    cr_assert_eq(fmha_device_clear_findings(real), FMHA_OK);
    fmha_device_close(real);
    finish();
}

/* ---- Where drivers are looked for ------------------------------------------------------------------------ */

static void copy(const char *from, const char *to) {
    void *bytes;
    size_t count;
    cr_assert_eq(fmha_file_read(from, &bytes, &count), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_file_write(to, bytes, count), FMHA_OK, "%s", fmha_last_error());
    free(bytes);
}

Test(driver_find, looks_beside_the_program_and_lists_the_places) {
    char folder[256], program[300], driver[300], expected[1200];
    char *output;
    int exit_code;
    support_make_folder(folder);
    snprintf(program, sizeof program, "%s/open_device", folder);
    snprintf(driver, sizeof driver, "%s/libfmha_emu.so", folder);
    copy(FAKE_DRIVER_DIR "/open_device", program);
    cr_assert_eq(chmod(program, 0755), 0);
    unsetenv("FMHA_DRIVER_DIR");
    unsetenv("LD_LIBRARY_PATH"); /* the test's runner lets it point at the stand-ins */
    const char *argv[] = {program, "emu:gfx1151", NULL};

    if (access(FMHA_LIBRARY_DIR "/libfmha_emu.so", F_OK) != 0) { /* else it would be found there, rightly */
        cr_assert_eq(fmha_process_run(argv, 10, &output, &exit_code), FMHA_OK);
        snprintf(expected, sizeof expected,
                 "device 'emu:gfx1151': expected its driver libfmha_emu.so, looked at\n"
                 "  $FMHA_DRIVER_DIR: not set\n"
                 "  %s: no such library there\n"
                 "  %s/" FMHA_LIBRARY_BESIDE ": no such library there\n"
                 "  " FMHA_LIBRARY_DIR ": no such library there\n"
                 "  libfmha_emu.so: cannot open shared object file: No such file or directory\n"
                 "install it beside libfmha, or set FMHA_DRIVER_DIR to its folder\n",
                 folder, folder);
        cr_assert_str_eq(output, expected);
        cr_assert_eq(exit_code, 1);
        free(output);
    }

    copy(FAKE_DRIVER_DIR "/libfmha_emu.so", driver);
    cr_assert_eq(fmha_process_run(argv, 10, &output, &exit_code), FMHA_OK);
    cr_assert_str_eq(output, "emu: fake gfx1151\n");
    free(output);

    setenv("FMHA_DRIVER_DIR", "/nowhere", 1); /* decides alone, as other variables do */
    cr_assert_eq(fmha_process_run(argv, 10, &output, &exit_code), FMHA_OK);
    cr_assert_str_eq(output, "device 'emu:gfx1151': expected its driver libfmha_emu.so, looked at\n"
                             "  /nowhere: no such library there\n"
                             "unset FMHA_DRIVER_DIR or let it name the folder of the driver\n");
    free(output);
    support_remove_folder(folder);
}

/* PREFIX/bin/open_device and PREFIX/LIBDIR/libfmha_emu.so, with a prefix that nobody was told of. */
Test(driver_find, follows_an_installation_that_was_moved) {
    char folder[256], program[300], libraries[800], driver[900], make_folders[1800];
    char *output;
    int exit_code;
    support_make_folder(folder);
    snprintf(program, sizeof program, "%s/bin/open_device", folder);
    snprintf(libraries, sizeof libraries, "%s/bin/%s", folder, FMHA_LIBRARY_BESIDE);
    snprintf(driver, sizeof driver, "%s/libfmha_emu.so", libraries);
    snprintf(make_folders, sizeof make_folders, "mkdir -p '%s/bin' && mkdir -p \"$(realpath -m '%s')\"", folder,
             libraries);
    cr_assert_eq(system(make_folders), 0);
    copy(FAKE_DRIVER_DIR "/open_device", program);
    cr_assert_eq(chmod(program, 0755), 0);
    copy(FAKE_DRIVER_DIR "/libfmha_emu.so", driver);
    unsetenv("FMHA_DRIVER_DIR");
    unsetenv("LD_LIBRARY_PATH");
    const char *argv[] = {program, "emu:gfx1151", NULL};
    cr_assert_eq(fmha_process_run(argv, 10, &output, &exit_code), FMHA_OK);
    cr_assert_str_eq(output, "emu: fake gfx1151\n");
    free(output);
    const char *remove[] = {"/bin/rm", "-rf", folder, NULL};
    cr_assert_eq(fmha_process_run(remove, 10, &output, &exit_code), FMHA_OK);
}

Test(driver_find, library_without_the_entry_is_refused) {
    char folder[256], link[300];
    fmha_device *other;
    support_make_folder(folder);
    snprintf(link, sizeof link, "%s/libfmha_emu.so", folder);
    cr_assert_eq(symlink(FAKE_DRIVER_DIR "/libfake_no_driver.so", link), 0);
    setenv("FMHA_DRIVER_DIR", folder, 1);
    expect_error(
        fmha_device_open("emu:gfx1151", &other), FMHA_ERROR_NO_DRIVER,
        "device 'emu:gfx1151': expected libfmha_emu.so to export fmha_driver_entry, got a file without it; install "
        "the one that belongs to this libfmha");
    support_remove_folder(folder);
}

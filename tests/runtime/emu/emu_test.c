#include "emu_test.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

emu_test emu_test_open(const char *chip) {
    emu_test test = {.driver = fmha_driver_entry(fmha_fail)};
    cr_assert(eq(int, test.driver->open(chip, &test.device, &test.info), FMHA_OK), "%s", fmha_last_error());
    return test;
}

void emu_test_close(emu_test *test) {
    test->driver->close(test->device);
}

void emu_test_set(emu_test *test, const char *option, int64_t value) {
    cr_assert(eq(int, test->driver->set(test->device, option, value), FMHA_OK), "%s", fmha_last_error());
}

void *emu_test_kernel(emu_test *test, const char *text, const char *path, int wave) {
    fmha_source source = {.text = text, .symbol = "kernel", .path = path, .wave = wave};
    void *image, *module, *kernel;
    size_t bytes;
    cr_assert(eq(int, test->driver->compile(test->device, &source, &image, &bytes), FMHA_OK), "%s", fmha_last_error());
    cr_assert(eq(int, test->driver->module_load(test->device, image, bytes, &module), FMHA_OK), "%s",
              fmha_last_error());
    free(image);
    cr_assert(eq(int, test->driver->module_kernel(test->device, module, "kernel", &kernel), FMHA_OK), "%s",
              fmha_last_error());
    return kernel;
}

void *emu_test_kernel_file(emu_test *test, const char *name, int wave) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", EMU_TEST_DIR, name);
    FILE *file = fopen(path, "r");
    cr_assert(ne(ptr, file, NULL), "%s", path);
    static char text[65536];
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = '\0';
    return emu_test_kernel(test, text, name, wave);
}

void emu_test_compile_error(const char *chip, const char *text, int wave, const char *words) {
    emu_test test = emu_test_open(chip);
    fmha_source source = {.text = text, .symbol = "kernel", .path = "k.hip", .wave = wave};
    void *image;
    size_t bytes;
    cr_assert(eq(int, test.driver->compile(test.device, &source, &image, &bytes), FMHA_ERROR_COMPILE));
    cr_assert(eq(ptr, image, NULL));
    cr_assert(strstr(fmha_last_error(), words) != NULL, "expected \"%s\" in\n%s", words, fmha_last_error());
    cr_assert(eq(int, strncmp(fmha_last_error(), "it does not compile for the emulated device with ", 49), 0));
    emu_test_close(&test);
}

void *emu_test_buffer(emu_test *test, size_t bytes, const char *label, const void *contents) {
    void *buffer;
    cr_assert(eq(int, test->driver->memory_alloc(test->device, bytes, label, &buffer), FMHA_OK), "%s",
              fmha_last_error());
    if (contents != NULL) {
        cr_assert(eq(int, test->driver->memory_write(test->device, buffer, contents, bytes), FMHA_OK));
    }
    return buffer;
}

void emu_test_read(emu_test *test, const void *buffer, void *to, size_t bytes) {
    cr_assert(eq(int, test->driver->memory_read(test->device, to, buffer, bytes), FMHA_OK), "%s", fmha_last_error());
}

fmha_status emu_test_run(emu_test *test, void *kernel, uint32_t grid, uint32_t items, const void *arguments,
                         size_t argument_bytes) {
    fmha_launch_config config = {
        .grid = {grid, 1, 1}, .workgroup = {items, 1, 1}, .arguments = arguments, .argument_bytes = argument_bytes};
    cr_assert(eq(int, test->driver->launch(test->device, kernel, &config), FMHA_OK), "%s", fmha_last_error());
    return test->driver->synchronize(test->device, NULL);
}

void emu_test_finding(emu_test *test, const char *kind, const char *text) {
    const fmha_finding *list;
    size_t count;
    cr_assert(eq(int, test->driver->findings(test->device, &list, &count), FMHA_OK));
    cr_assert(eq(sz, count, 1), "%zu findings, the first: %s", count, count > 0 ? list[0].text : "");
    cr_assert(eq(str, (char *)list[0].kind, (char *)kind));
    if (text != NULL) {
        cr_assert(eq(str, (char *)list[0].text, (char *)text));
    }
}

void emu_test_ended(emu_test *test, fmha_status status, const char *kind, const char *what) {
    cr_assert(eq(int, status, kind == NULL ? FMHA_OK : FMHA_ERROR_KERNEL), "%s: %s", what, fmha_last_error());
    if (kind != NULL) {
        emu_test_finding(test, kind, NULL);
    }
}

uint64_t emu_test_counter(emu_test *test, const char *name, const char *tensor) {
    const fmha_counter *list;
    size_t count;
    cr_assert(eq(int, test->driver->counters(test->device, &list, &count), FMHA_OK), "%s", fmha_last_error());
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0 &&
            (tensor == NULL ? list[i].tensor == NULL : list[i].tensor != NULL && strcmp(list[i].tensor, tensor) == 0)) {
            return list[i].value;
        }
    }
    cr_fatal("no counter %s %s among %zu", name, tensor != NULL ? tensor : "", count);
    return 0;
}

uint32_t emu_test_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

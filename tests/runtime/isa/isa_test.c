#include "isa_test.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

const fmha_driver *fmha_driver_entry(fmha_fail_function fail);

static void must(fmha_status status) {
    cr_assert_eq(status, FMHA_OK, "%s", fmha_last_error());
}

isa_test isa_test_open(const char *chip) {
    isa_test test = {.driver = fmha_driver_entry(fmha_fail)};
    cr_assert_eq(test.driver->version, FMHA_DRIVER_VERSION);
    must(test.driver->open(chip, &test.device, &test.info));
    return test;
}

void isa_test_close(isa_test *test) {
    test->driver->close(test->device);
}

void isa_test_set(isa_test *test, const char *option, int64_t value) {
    must(test->driver->set(test->device, option, value));
}

void *isa_test_compile(isa_test *test, const char *text, int wave, size_t *bytes) {
    fmha_source source = {.text = text, .symbol = "kernel", .path = "k.hip", .wave = wave};
    void *image;
    must(test->driver->compile(test->device, &source, &image, bytes));
    return image;
}

void *isa_test_kernel(isa_test *test, const char *text, int wave) {
    size_t bytes;
    void *image = isa_test_compile(test, text, wave, &bytes), *module, *kernel;
    must(test->driver->module_load(test->device, image, bytes, &module));
    free(image);
    must(test->driver->module_kernel(test->device, module, "kernel", &kernel));
    return kernel;
}

void *isa_test_buffer(isa_test *test, size_t bytes, const char *label, const void *contents) {
    void *buffer;
    must(test->driver->memory_alloc(test->device, bytes, label, &buffer));
    if (contents != NULL) {
        must(test->driver->memory_write(test->device, buffer, contents, bytes));
    }
    return buffer;
}

void isa_test_read(isa_test *test, const void *buffer, void *to, size_t bytes) {
    must(test->driver->memory_read(test->device, to, buffer, bytes));
}

fmha_status isa_test_run(isa_test *test, void *kernel, const uint32_t grid[3], const uint32_t items[3],
                         const void *arguments, size_t argument_bytes) {
    fmha_launch_config config = {.arguments = arguments, .argument_bytes = argument_bytes};
    memcpy(config.grid, grid, sizeof config.grid);
    memcpy(config.workgroup, items, sizeof config.workgroup);
    must(test->driver->launch(test->device, kernel, &config));
    return test->driver->synchronize(test->device, NULL);
}

void isa_test_finding(isa_test *test, const char *kind, const char *part) {
    const fmha_finding *list;
    size_t count;
    must(test->driver->findings(test->device, &list, &count));
    cr_assert_eq(count, 1, "%zu findings, the first: %s", count, count > 0 ? list[0].text : "none");
    cr_assert_str_eq(list[0].kind, kind);
    const char *found = strstr(list[0].text, part);
    cr_assert_not_null(found, "%s", list[0].text);
    /* A name with a colon is where the text begins. */
    cr_assert(found == list[0].text || part[strcspn(part, " :(")] != ':' || part[0] == ':', "%s", list[0].text);
}

uint64_t isa_test_counter(isa_test *test, const char *name, const char *tensor) {
    const fmha_counter *list;
    size_t count;
    cr_assert_eq(test->driver->counters(test->device, &list, &count), FMHA_OK, "%s", fmha_last_error());
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0 &&
            (tensor == NULL ? list[i].tensor == NULL : list[i].tensor != NULL && strcmp(list[i].tensor, tensor) == 0)) {
            return list[i].value;
        }
    }
    cr_assert_fail("no counter %s %s among %zu", name, tensor != NULL ? tensor : "", count);
    return 0;
}

uint32_t isa_test_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

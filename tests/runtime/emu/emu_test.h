/* What the tests of the emulated device share: they call the driver's table themselves. Everything asserts. */
#ifndef EMU_TEST_H
#define EMU_TEST_H

#include <stdint.h>

#include "driver.h"
#include "emu.h"

typedef struct emu_test {
    const fmha_driver *driver;
    void *device;
    fmha_device_info info;
} emu_test;

emu_test emu_test_open(const char *chip);
void emu_test_close(emu_test *test);

/* Sets one of the device's options. */
void emu_test_set(emu_test *test, const char *option, int64_t value);

/* Compiles and loads; `path` is what findings call the text. The kernel is named "kernel". */
void *emu_test_kernel(emu_test *test, const char *text, const char *path, int wave);
/* The same from a file beside the tests. */
void *emu_test_kernel_file(emu_test *test, const char *name, int wave);

/* Compiles what must not compile: the compiler's own errors, in which the text is called k.hip, hold `words`. */
void emu_test_compile_error(const char *chip, const char *text, int wave, const char *words);

void *emu_test_buffer(emu_test *test, size_t bytes, const char *label, const void *contents);
void emu_test_read(emu_test *test, const void *buffer, void *to, size_t bytes);

/* Runs `grid` workgroups of `items`; returns the status of synchronizing. */
fmha_status emu_test_run(emu_test *test, void *kernel, uint32_t grid, uint32_t items, const void *arguments,
                         size_t argument_bytes);

/* Asserts that there is exactly this finding; `text` NULL: whatever its text is. */
void emu_test_finding(emu_test *test, const char *kind, const char *text);

/* Asserts that the launch of `what` came to `status` as it should: to FMHA_OK, or with a kind to exactly one finding.
 */
void emu_test_ended(emu_test *test, fmha_status status, const char *kind, const char *what);

/* The value of the counter of that name and tensor, NULL for one without; there must be one. */
uint64_t emu_test_counter(emu_test *test, const char *name, const char *tensor);

/* The next number of a fixed sequence. */
uint32_t emu_test_random(uint64_t *state);

#endif

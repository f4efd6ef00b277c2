/* What the tests of the ISA-level device share: they call the driver's table themselves. Everything asserts. */
#ifndef ISA_TEST_H
#define ISA_TEST_H

#include <stdint.h>

#include "driver.h"

#define ISA_TEST_KERNEL "extern \"C\" __attribute__((global)) void kernel"

typedef struct isa_test {
    const fmha_driver *driver;
    void *device;
    fmha_device_info info;
} isa_test;

isa_test isa_test_open(const char *chip);
void isa_test_close(isa_test *test);

/* A suite each of whose tests has `test`, opened as this chip. */
#define ISA_TEST_SUITE(suite, chip)                                                                                    \
    static isa_test test;                                                                                              \
    static void open_chip(void) {                                                                                      \
        test = isa_test_open(chip);                                                                                    \
    }                                                                                                                  \
    static void close_chip(void) {                                                                                     \
        isa_test_close(&test);                                                                                         \
    }                                                                                                                  \
    TestSuite(suite, .init = open_chip, .fini = close_chip)

void isa_test_set(isa_test *test, const char *option, int64_t value);

/* Compiles HIP text whose kernel is named "kernel"; free it. */
void *isa_test_compile(isa_test *test, const char *text, int wave, size_t *bytes);
/* The same, loaded. */
void *isa_test_kernel(isa_test *test, const char *text, int wave);

void *isa_test_buffer(isa_test *test, size_t bytes, const char *label, const void *contents);
void isa_test_read(isa_test *test, const void *buffer, void *to, size_t bytes);

/* Runs it; returns the status of synchronizing. */
fmha_status isa_test_run(isa_test *test, void *kernel, const uint32_t grid[3], const uint32_t items[3],
                         const void *arguments, size_t argument_bytes);

/* Asserts that there is exactly one finding of this kind, whose text has this part: at its beginning if the part
 * begins with a name and a colon. */
void isa_test_finding(isa_test *test, const char *kind, const char *part);

/* The value of the counter of that name and tensor, NULL for one without; there must be one. */
uint64_t isa_test_counter(isa_test *test, const char *name, const char *tensor);

/* The next number of a fixed sequence. */
uint32_t isa_test_random(uint64_t *state);

#endif

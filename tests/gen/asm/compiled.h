/* What the tests of reading compiled kernels share: compilations, and buffers that end where memory ends. */
#ifndef TESTS_GEN_ASM_COMPILED_H
#define TESTS_GEN_ASM_COMPILED_H

#include <stddef.h>

struct compiled {
    char *bytes; /* what the compiler wrote, with a NUL behind it */
    size_t length;
    char *words; /* what it said; NULL: nothing */
};

/* Compiles `path` as instances are, with `extra` flags (NULL-terminated) behind them. Skips the test when no compiler
 * for the chip is here, fails it when the compilation does. */
struct compiled compile_file(const char *path, const char *arch, int wave, const char *const *extra);
struct compiled compile_text(const char *text, const char *arch, int wave, const char *const *extra);
/* Runs the compiler that was found for `arch` with these flags alone. */
struct compiled assemble_file(const char *path, const char *arch, const char *const *flags);
void compiled_free(struct compiled *compiled);

/* A sample of this folder, read whole. */
char *read_sample(const char *name, size_t *length);
const char *sample_path(const char *name);

/* A copy of `length` bytes directly before a page that cannot be read. */
struct guarded {
    char *bytes;
    void *base;
    size_t mapped;
};
struct guarded guarded_copy(const void *bytes, size_t length);
void guarded_free(struct guarded *guarded);

/* The next number of a seeded sequence (xorshift), so that a failure can be seen again. */
unsigned next_random(unsigned *state);

#endif

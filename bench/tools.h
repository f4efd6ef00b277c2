/* What the parts of fmha-bench share. Whatever goes wrong ends the program, but where a status is returned. */
#ifndef BENCH_TOOLS_H
#define BENCH_TOOLS_H

#include "dispatch.h"
#include "fmha-bench.h"

void bench_stop(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void bench_must(fmha_status status);
void *bench_room(size_t bytes); /* zeros, for free() */

/* Compiles and loads a kernel for the waves that are usual on the device; `path` is what errors call its text. The
 * module is the caller's, also where its kernel is not found. */
fmha_status bench_load(fmha_device *device, const char *text, const char *symbol, const char *path,
                       fmha_module **module, fmha_kernel **kernel);

/* What a launch takes, in the driver's unit. */
double bench_measure(const struct fmha_plan *plan);

/* A contiguous tensor of 16-bit elements: sequences, heads, rows, columns. With `random`, of numbers from -2 to 2. */
fmha_tensor bench_tensor(fmha_device *device, const char *label, const int64_t sizes[4], int32_t dtype,
                         uint64_t *random);

/* The first elements of a tensor, as numbers, for free(). */
float *bench_read(fmha_device *device, const void *data, size_t count, int32_t dtype);

/* Makes them 0, so that elements that a kernel does not write are seen. */
void bench_clear(fmha_device *device, void *data, size_t count);

/* The norm of the difference of two results, relative to that of what is expected; ends the program, which `what`
 * names, where it is no number or above 0.02. Frees both. */
double bench_compare(const char *what, const char *expected_of, float *expected, float *got, size_t count);

/* Measures each series once, one after the other, so that a clock that changes meanwhile changes for all. `amount` is
 * in the driver's unit and stays below 0 where a series is none of this run's. */
typedef void bench_round(const void *context, double amount[SERIES_COUNT]);

/* Fills in the figures of what was measured: median, least and most of the rounds behind those that warm up. */
void bench_run(int rounds, int warmup, bench_round *run, const void *context, struct figure figure[SERIES_COUNT]);

#endif

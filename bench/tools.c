#include "tools.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/halves.h"

enum { PIECE = 9999991 }; /* elements that are drawn; a tensor of more repeats them, none of its rows like another */

void bench_stop(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "fmha-bench: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

void bench_must(fmha_status status) {
    if (status != FMHA_OK) {
        bench_stop("%s: %s", fmha_status_name(status), fmha_last_error());
    }
}

void *bench_room(size_t bytes) {
    void *made = calloc(1, bytes > 0 ? bytes : 1);
    if (made == NULL) {
        bench_stop("no memory for %zu bytes", bytes);
    }
    return made;
}

fmha_status bench_load(fmha_device *device, const char *text, const char *symbol, const char *path,
                       fmha_module **module, fmha_kernel **kernel) {
    const fmha_source source = {
        .text = text, .symbol = symbol, .path = path, .wave = strncmp(device->info.arch, "gfx9", 4) == 0 ? 64 : 32};
    void *image;
    size_t bytes;
    fmha_status status = fmha_source_compile(device, &source, &image, &bytes);
    if (status != FMHA_OK) {
        return status;
    }
    status = fmha_module_load(device, image, bytes, module);
    free(image);
    return status == FMHA_OK ? fmha_module_kernel(*module, symbol, kernel) : status;
}

double bench_measure(const struct fmha_plan *plan) {
    const fmha_launch_config config = {.grid = {plan->grid[0], plan->grid[1], plan->grid[2]},
                                       .workgroup = {plan->workgroup, 1, 1},
                                       .arguments = plan->arguments,
                                       .argument_bytes = plan->argument_bytes};
    double amount;
    bench_must(fmha_kernel_measure(plan->kernel, &config, &amount));
    return amount;
}

/* Random fractions, as bits: sign, one of four exponents, mantissa. */
static void fill(fmha_device *device, char *to, size_t elements, bool f16, uint64_t *random) {
    size_t drawn = elements < PIECE ? elements : PIECE;
    uint16_t *values = bench_room(drawn * sizeof *values);
    for (size_t i = 0; i < drawn; i++) {
        *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t bits = (uint32_t)(*random >> 32);
        uint32_t exponent = (f16 ? 15u : 127u) - (bits >> 28 & 3u);
        values[i] =
            (uint16_t)((bits & 0x8000u) | (f16 ? exponent << 10 | (bits & 0x3ffu) : exponent << 7 | (bits & 0x7fu)));
    }
    for (size_t at = 0; at < elements; at += drawn) {
        size_t count = elements - at < drawn ? elements - at : drawn;
        bench_must(fmha_memory_write(device, to + at * sizeof *values, values, count * sizeof *values));
    }
    free(values);
}

fmha_tensor bench_tensor(fmha_device *device, const char *label, const int64_t sizes[4], int32_t dtype,
                         uint64_t *random) {
    size_t elements = 1, bytes;
    bool fits = true;
    for (int i = 0; i < 4; i++) {
        fits = fits && !__builtin_mul_overflow(elements, (size_t)sizes[i], &elements);
    }
    if (!fits || __builtin_mul_overflow(elements, 2, &bytes)) {
        bench_stop("%s: expected a tensor that memory can hold, got %lld x %lld x %lld x %lld elements; ask for less",
                   label, (long long)sizes[0], (long long)sizes[1], (long long)sizes[2], (long long)sizes[3]);
    }
    fmha_tensor made = {NULL, sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3]};
    bench_must(fmha_memory_alloc(device, bytes, label, &made.data));
    if (random != NULL) {
        fill(device, made.data, elements, dtype == FMHA_DTYPE_F16, random);
    }
    return made;
}

float *bench_read(fmha_device *device, const void *data, size_t count, int32_t dtype) {
    uint16_t *bits = bench_room(count * sizeof *bits);
    float *values = bench_room(count * sizeof *values);
    bench_must(fmha_memory_read(device, bits, data, count * sizeof *bits));
    for (size_t i = 0; i < count; i++) {
        values[i] = half_to_float(dtype == FMHA_DTYPE_F16 ? HALF_F16 : HALF_BF16, bits[i]);
    }
    free(bits);
    return values;
}

void bench_clear(fmha_device *device, void *data, size_t count) {
    uint16_t *zeros = bench_room(count * sizeof *zeros);
    bench_must(fmha_memory_write(device, data, zeros, count * sizeof *zeros));
    free(zeros);
}

double bench_compare(const char *what, const char *expected_of, float *expected, float *got, size_t count) {
    double sum = 0, norm = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)got[i] - (double)expected[i];
        sum += difference * difference;
        norm += (double)expected[i] * (double)expected[i];
    }
    free(expected);
    free(got);
    double relative = sum == 0 ? 0 : sqrt(sum / norm);
    if (!(relative <= 0.02)) {
        bench_stop("%s: expected the result of %s, got one that differs by %g of its norm", what, expected_of,
                   relative);
    }
    return relative;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Median, least and most of samples, which become sorted. */
static void rate(struct figure *figure, double *samples, size_t count) {
    qsort(samples, count, sizeof *samples, compare);
    figure->measured = true;
    figure->least = samples[0];
    figure->most = samples[count - 1];
    figure->median = (samples[(count - 1) / 2] + samples[count / 2]) / 2;
}

void bench_run(int rounds, int warmup, bench_round *run, const void *context, struct figure figure[SERIES_COUNT]) {
    double *samples = bench_room(SERIES_COUNT * (size_t)rounds * sizeof *samples);
    for (int round = -warmup; round < rounds; round++) {
        double amount[SERIES_COUNT];
        for (size_t s = 0; s < SERIES_COUNT; s++) {
            amount[s] = -1;
        }
        run(context, amount);
        for (size_t s = 0; s < SERIES_COUNT && round >= 0; s++) {
            samples[s * (size_t)rounds + (size_t)round] = amount[s];
        }
    }
    for (size_t s = 0; s < SERIES_COUNT; s++) {
        if (samples[s * (size_t)rounds] >= 0) {
            rate(&figure[s], samples + s * (size_t)rounds, (size_t)rounds);
        }
    }
    free(samples);
}

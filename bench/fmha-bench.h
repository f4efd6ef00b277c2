/* What fmha-bench measured, and how it is told. */
#ifndef BENCH_FMHA_BENCH_H
#define BENCH_FMHA_BENCH_H

#include <stdbool.h>

#include "device.h"
#include "gen/text.h"

/* Of forward attention the first two; of decoding the others: with its merge, the merge alone, and the yardstick. */
enum { SERIES_FUSED, SERIES_UNFUSED, SERIES_DECODE, SERIES_MERGE, SERIES_COPY, SERIES_COUNT };

struct figure {
    bool measured;
    char note[256];             /* why not */
    double median, least, most; /* in the driver's unit */
    double bytes;               /* moved: each tensor as often as a kernel reads or writes the whole of it; of
                                   decoding those of K and V */
    double memory;              /* of all tensors */
};

struct bench_row {
    const char *dtype;
    bool causal, decode;
    int head_dim;
    long long batch, heads_q, heads_k, length; /* of decoding the keys, of which a single query sees all */
    long long splits;                          /* of decoding */
    double flop;
    double difference; /* of the fused and the unfused result, or of decoding with several splits and with one, as a
                          norm over that of the latter; below 0: not compared */
    char instance[256];
    struct figure figure[SERIES_COUNT];
};

struct bench {
    const char *device, *command;
    fmha_device_info info;
    char about[256];
    const char *unit; /* "us", "counted cycles" */
    int rounds, warmup;
    struct bench_row *rows;
    size_t count;
};

extern const char *const bench_series[SERIES_COUNT]; /* "fused", "unfused", "decode", "merge", "copy" */

/* Operations and bytes per second in units of 10^12 and 10^9; 0 where the unit is no time. */
double bench_tflops(const struct bench *bench, const struct bench_row *row, int series);
double bench_gbs(const struct bench *bench, const struct bench_row *row, int series);

/* Of decoding: its bytes per second in percent of the copy's; 0 where the unit is no time. */
double bench_of_copy(const struct bench *bench, const struct bench_row *row);

/* Whether the unit is a time. */
bool bench_is_time(const struct bench *bench);

void bench_print_head(const struct bench *bench, struct text *out);
void bench_print_row(const struct bench *bench, const struct bench_row *row, struct text *out);
bool bench_json(const struct bench *bench, struct text *out);

/* A plot of rates over lengths; on a device that measures no time, of what it counts. */
void bench_svg(const struct bench *bench, struct text *out);

#endif

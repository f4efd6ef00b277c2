/* Decoding, for fmha-bench: fmha_decode with its merge, beside a copy. */
#ifndef BENCH_DECODE_H
#define BENCH_DECODE_H

#include "copy.h"
#include "fmha-bench.h"

/* Measures a row of decoding. splits: as in fmha_decode_problem. */
void decode_measure(const struct bench *bench, fmha_device *device, const struct copy *copy, long long splits,
                    struct bench_row *row);

#endif

/* How many workgroups share the keys of a row in decoding. Plain arithmetic on sizes that the host knows: it reads no
 * memory and asks nobody, so that the same problem on the same chip is always cut alike. docs/decode.md tells why. */
#ifndef FMHA_SPLITS_H
#define FMHA_SPLITS_H

#include <stdbool.h>

#include "fmha.h"

#define FMHA_SPLITS_FIXED_MAX 65536 /* that a caller may ask for, and that an instance takes */
#define FMHA_SPLITS_MAX       256   /* that are chosen */

struct fmha_splits_problem {
    int simds;              /* of the chip, 1 and up */
    int64_t batch, heads_k; /* 0 and up */
    int64_t rows;           /* queries of all heads that share a key head, 0 and up */
    int64_t keys;           /* that the longest sequence may see, 0 and up */
    int32_t page_size;      /* keys of a page; 0: none */
    int block_max;          /* rows of a workgroup at most: 16, 32, 64 or 128 */
    int waves;              /* of a workgroup for each 16 rows of it */
    bool ahead;             /* as fmha_splits_ahead says */
};

/* SIMDs of a device. */
int fmha_splits_simds(const fmha_device_info *info);

/* Whether a wave of the device has its loads from memory on their way while it computes, and so fills a SIMD alone. */
bool fmha_splits_ahead(const fmha_device_info *info);

/* The rows of the workgroups that serve so many rows of a key head: the least of 16, 32, 64 and 128 that holds them,
 * but `most` at most. */
int fmha_splits_block(int64_t rows, int most);

/* The number of splits, 1 to FMHA_SPLITS_MAX. */
int fmha_splits_choose(const struct fmha_splits_problem *problem);

/* At least the batch times the number of splits of every problem that needs partial results and differs from this one
 * in a smaller batch or fewer keys at most; 0: none of them does. */
int64_t fmha_splits_bound(const struct fmha_splits_problem *problem);

/* Why so many are chosen: one line. */
void fmha_splits_explain(const struct fmha_splits_problem *problem, char *text, size_t text_bytes);

#endif

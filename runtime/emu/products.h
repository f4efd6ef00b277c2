/* WGMMA: matrix products of four waves that go on beside what the waves do. A wave's sums are there when it has waited
 * for the group that it made of the products; until then it must not look at them, and what they read of LDS must stay.
 */
#ifndef EMU_PRODUCTS_H
#define EMU_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu_abi.h"

typedef struct emu_wave emu_wave;
typedef struct emu_worker emu_worker;

enum {
    EMU_SUMS_MAX = 16,   /* accumulators of a wave with products under way; of more the oldest is done */
    EMU_TILES_MAX = 256, /* that products under way read; of more the oldest is done */
    EMU_COLUMNS_MAX = 256,
    EMU_TOGETHER = 4, /* waves that multiply together */
    /* Where LDS begins, as addresses count that instructions know: the system has the first. */
    EMU_SHARED_BEGIN = 1024
};

/* What an accumulator will be; `c` is where each lane has it. */
typedef struct emu_sum {
    float *c[32];
    unsigned columns, group;
    float d[EMU_COLUMNS_MAX][16]; /* [column][row of the wave] */
} emu_sum;

/* What products read of LDS: `count` columns of B from `first` on, or rows of A. */
typedef struct emu_tile {
    const struct fmha_emu_site *site;
    uint64_t description;
    unsigned first, count, group;
    bool transposed;
} emu_tile;

typedef struct emu_products {
    emu_sum sums[EMU_SUMS_MAX]; /* the oldest first */
    emu_tile tiles[EMU_TILES_MAX];
    unsigned sum_count, tile_count;
    unsigned groups; /* that were committed */
    bool fenced;     /* by wgmma.fence since the last commit */
    unsigned count;  /* of products */
    const struct fmha_emu_site *last;
    uint64_t history; /* of all products: the same in waves that multiply together */
} emu_products;

/* A workgroup begins. */
void emu_products_begin(emu_worker *worker);
/* A workgroup has ended: its waves must have multiplied together. */
void emu_products_end(emu_worker *worker);

/* The address in LDS as instructions know it. */
unsigned emu_products_shared(struct fmha_emu_lane *lane, unsigned long address);
/* What the lane has written to LDS is shown to products that read it behind the next barrier. */
void emu_products_show(struct fmha_emu_lane *lane);
/* The line of a product under way that reads that place in LDS, and its wave. */
int emu_products_find(const emu_worker *worker, size_t place, unsigned *wave);

#endif

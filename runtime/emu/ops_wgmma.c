/* WGMMA.MMA_ASYNC.M64NnK16, as "Parallel Thread Execution ISA" defines it (chapters on asynchronous warpgroup level
 * matrix instructions: register fragments, matrix descriptor, strides, canonical layouts).
 *
 * Of the 64 rows of A and D wave w of four has 16 w to 16 w + 15, in lanes and elements as MMA.M16N8K16 has them, eight
 * columns of D after the other. B, 16 x N, stands in LDS: the descriptor has, in units of 16 bytes, its first address
 * in bits 0 to 13, the leading dimension's offset in bits 16 to 29 and the stride dimension's in bits 32 to 45; bits 62
 * and 63 are 1 for the order of 128 bytes, the one that is known here. There the eights (16 bytes) of a row of 128
 * bytes change places: bits 4 to 6 of an address are taken exclusively with bits 7 to 9.
 *
 * K-major (K^T of attention,
 * "transposed" 0): element (k, n) is in row n of 128 bytes at 2 k; eight rows are one behind the other, the next eight
 * a stride further. A, where it stands in LDS, is as the transpose of such a B of 64 columns.
 *
 * MN-major ("transposed" 1): element (k, n) is in row k of 128 bytes at 2 (n mod 64); eight rows are
 * one behind the other, the next eight a stride further; the next 64 n are the leading dimension's offset further.
 *
 * Four waves execute one such instruction; here each does its part when it comes to it. */
#include <string.h>

#include "access.h"
#include "count.h"
#include "ops.h"
#include "products.h"
#include "report.h"
#include "wmma.h"

enum { LANES = 32, SIDE = 16, UNIT = 16, ROW_BYTES = 128, EIGHT_ROWS = 8, BLOCK_COLUMNS = 64 };

#define UNDER_WAY 0x7fc0dead /* a NaN in place of a sum */

/* ---- Where B stands -------------------------------------------------------------------------------------------------
 */

static unsigned field(uint64_t description, unsigned shift) {
    return (unsigned)(description >> shift & 0x3fff) * UNIT;
}

/* The address of 16 bytes of B as instructions know it: of eight k of column n, or of eight columns of row k. */
static unsigned place_of(uint64_t description, bool transposed, unsigned k, unsigned n) {
    unsigned begin = field(description, 0), leading = field(description, 16), stride = field(description, 32);
    unsigned row = transposed ? k : n;
    unsigned at = begin + row % EIGHT_ROWS * ROW_BYTES + row / EIGHT_ROWS * stride;
    at += transposed ? n % BLOCK_COLUMNS * 2 + n / BLOCK_COLUMNS * leading : k * 2;
    return at ^ (at / ROW_BYTES % EIGHT_ROWS * UNIT);
}

static uintptr_t address_of(const emu_lane *lane, unsigned shared) {
    return lane->lds_begin + EMU_LDS_GAP_BYTES + shared - EMU_SHARED_BEGIN;
}

unsigned emu_products_shared(struct fmha_emu_lane *seen, unsigned long address) {
    const emu_lane *lane = (const emu_lane *)seen;
    return (unsigned)(address - lane->lds_begin - EMU_LDS_GAP_BYTES + EMU_SHARED_BEGIN);
}

void emu_products_show(struct fmha_emu_lane *seen) {
    ((emu_lane *)seen)->shown++;
}

static void check_shown(emu_lane *lane, const struct fmha_emu_site *site, uintptr_t address) {
    const emu_worker *worker = lane->wave->worker;
    uint32_t wrote = lane->lds->wrote[(address - lane->lds_begin) / UNIT];
    if (wrote == 0) {
        return;
    }
    const emu_lane *writer = &worker->lanes[emu_lds_writer(wrote)];
    if (wrote == emu_lds_mark_of(writer->number, writer->shown)) {
        char where[EMU_ADDRESS_BYTES];
        emu_report_access(lane, "lds-not-shown", site, "fence.proxy.async in the thread that wrote, before the barrier",
                          "reads %s, which wave %u, lane %u, has written and not shown to the matrix unit since",
                          emu_address_text(lane, address, where), writer->wave->number, writer->seen.index);
    }
}

/* Reads a tile, or reads it again: what is under way must find it unchanged. */
static void read_tile(emu_wave *wave, const emu_tile *tile, uint16_t b[][SIDE]) {
    bool transposed = tile->transposed, checked = tile->site->immediate[FMHA_EMU_WGMMA_CHECKED] != 0;
    unsigned eights = tile->count * SIDE / 8;
    for (unsigned i = 0; i < eights; i++) {
        unsigned k = transposed ? i % SIDE : i % 2 * 8, n = transposed ? i / SIDE * 8 : i / 2;
        emu_lane *lane = &wave->lanes[i % LANES];
        uintptr_t address = address_of(lane, place_of(tile->description, transposed, k, tile->first + n));
        if (checked) {
            emu_access_lds_at(lane, tile->site, address, UNIT, false);
            if (b != NULL) {
                check_shown(lane, tile->site, address);
            }
        }
        if (b != NULL) {
            uint16_t eight[8];
            memcpy(eight, (const void *)address, sizeof eight);
            for (unsigned e = 0; e < 8; e++) {
                b[transposed ? n + e : n][transposed ? k : k + e] = eight[e];
            }
        }
    }
}

/* ---- What is under way ----------------------------------------------------------------------------------------------
 */

static emu_products *products_of(emu_wave *wave) {
    return &wave->worker->products[wave->number];
}

void emu_products_begin(emu_worker *worker) {
    if (worker->launch->chip->family != EMU_NVIDIA) {
        return;
    }
    for (unsigned i = 0; i < worker->wave_count; i++) {
        emu_products *products = &worker->products[i];
        products->sum_count = products->tile_count = products->groups = products->count = 0;
        products->fenced = false;
        products->history = 0;
    }
}

void emu_products_end(emu_worker *worker) {
    if (worker->launch->chip->family != EMU_NVIDIA) {
        return;
    }
    for (unsigned i = 0; i < worker->wave_count; i++) {
        const emu_products *mine = &worker->products[i], *first = &worker->products[i / EMU_TOGETHER * EMU_TOGETHER];
        const struct fmha_emu_site *site = worker->waves[i].site;
        char where[EMU_WHERE_BYTES];
        if (mine->history != first->history || mine->count != first->count) {
            emu_report(
                worker, "products-differ", site,
                "wave %u has made %u products and wave %u, which multiplies with it, %u, or others (%s): all four "
                "waves that multiply together execute each wgmma instruction",
                i / EMU_TOGETHER * EMU_TOGETHER, first->count, i, mine->count, emu_where(&worker->waves[i], where));
            return;
        }
    }
}

/* Row and column of a wave's D that a lane's element is. */
static unsigned row_of(unsigned lane, unsigned element) {
    return lane / 4 + element / 2 % 2 * 8;
}

static unsigned column_of(unsigned lane, unsigned element) {
    return lane % 4 * 2 + element % 2 + element / 4 * 8;
}

static void put_in_place(const emu_sum *sum) {
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < sum->columns / 2; i++) {
            sum->c[lane][i] = sum->d[column_of(lane, i)][row_of(lane, i)];
        }
    }
}

static emu_sum *find_sum(emu_products *products, const float *c) {
    for (unsigned i = 0; i < products->sum_count; i++) {
        if (products->sums[i].c[0] == c) {
            return &products->sums[i];
        }
    }
    return NULL;
}

static const float *c_of(const emu_lane *lane) {
    unsigned long c;
    memcpy(&c, lane->seen.b, sizeof c);
    return (const float *)c;
}

/* The sum that a product adds to: one that is under way, or a new one with what the lanes have. */
static emu_sum *begin_sum(emu_wave *wave, emu_products *products, const struct fmha_emu_site *site) {
    emu_sum *sum = find_sum(products, c_of(&wave->lanes[0]));
    if (sum != NULL) {
        return sum;
    }
    if (products->sum_count == EMU_SUMS_MAX) {
        put_in_place(&products->sums[0]);
        memmove(products->sums, products->sums + 1, --products->sum_count * sizeof *products->sums);
    }
    sum = &products->sums[products->sum_count++];
    sum->columns = site->immediate[FMHA_EMU_WGMMA_COLUMNS];
    for (unsigned lane = 0; lane < LANES; lane++) {
        sum->c[lane] = (float *)(uintptr_t)c_of(&wave->lanes[lane]);
        for (unsigned i = 0; i < sum->columns / 2; i++) {
            const uint32_t nothing = UNDER_WAY;
            sum->d[column_of(lane, i)][row_of(lane, i)] = sum->c[lane][i];
            memcpy(&sum->c[lane][i], &nothing, sizeof nothing);
        }
    }
    return sum;
}

/* ---- Instructions ---------------------------------------------------------------------------------------------------
 */

static uint64_t description_of(const emu_lane *lane) {
    return (uint64_t)lane->seen.word[FMHA_EMU_SELECT_HIGH] << 32 | lane->seen.word[FMHA_EMU_SELECT_LOW];
}

static void check(emu_wave *wave, const emu_products *products, const struct fmha_emu_site *site) {
    emu_lane *first = &wave->lanes[0];
    uint64_t description = description_of(first);
    char where[EMU_WHERE_BYTES];
    if (wave->worker->wave_count % EMU_TOGETHER != 0) {
        emu_report(wave->worker, "partial-warpgroup", site,
                   "%u waves, expected a multiple of four, which multiply together (%s): use --waves 4, 8 or 12",
                   wave->worker->wave_count, emu_where(wave, where));
        emu_abandon(wave->worker);
    }
    for (unsigned i = 1; i < LANES; i++) {
        if (description_of(&wave->lanes[i]) != description) {
            emu_report_access(&wave->lanes[i], "description-differs", site, "give all lanes the same descriptor",
                              "gives descriptor 0x%llx, and lane 0 gives 0x%llx",
                              (unsigned long long)description_of(&wave->lanes[i]), (unsigned long long)description);
            emu_abandon(wave->worker);
        }
    }
    if (description >> 62 != 1 || (description >> 49 & 7) != 0) {
        emu_report_access(first, "description-unknown", site, "use the order of 128 bytes, at multiples of 1024 bytes",
                          "gives descriptor 0x%llx, whose order is not that of 128 bytes without a base offset",
                          (unsigned long long)description);
        emu_abandon(wave->worker);
    }
    if (!products->fenced) {
        emu_report_access(first, "product-not-fenced", site, "put a wgmma.fence before the first product of a group",
                          "begins a product of registers that no wgmma.fence stands behind");
    }
}

static void keep_tile(emu_products *products, const emu_tile *tile) {
    if (products->tile_count == EMU_TILES_MAX) {
        memmove(products->tiles, products->tiles + 1, --products->tile_count * sizeof *products->tiles);
    }
    products->tiles[products->tile_count++] = *tile;
}

/* The wave's sixteen rows, as a[k][row]. */
static void read_a(emu_wave *wave, emu_products *products, const struct fmha_emu_site *site, uint16_t a[SIDE][SIDE]) {
    if (site->immediate[FMHA_EMU_WGMMA_A_IN_LDS] != 0) {
        uint16_t rows[SIDE][SIDE];
        emu_tile tile = {
            .site = site, .first = wave->number % EMU_TOGETHER * SIDE, .count = SIDE, .group = products->groups};
        unsigned long description;
        memcpy(&description, wave->lanes[0].seen.a, sizeof description);
        tile.description = description;
        read_tile(wave, &tile, rows);
        keep_tile(products, &tile);
        for (unsigned row = 0; row < SIDE; row++) {
            for (unsigned k = 0; k < SIDE; k++) {
                a[k][row] = rows[row][k];
            }
        }
        products->history = (products->history ^ description) * 0x100000001b3u;
        return;
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < 8; i++) {
            a[column_of(lane, i)][row_of(lane, i)] = wave->lanes[lane].seen.a[i];
        }
    }
}

static void multiply(emu_wave *wave, const struct fmha_emu_site *site, bool bf16) {
    uint16_t b[EMU_COLUMNS_MAX][SIDE]; /* [column][k] */
    emu_products *products = products_of(wave);
    unsigned columns = site->immediate[FMHA_EMU_WGMMA_COLUMNS];
    bool add = wave->lanes[0].seen.word[FMHA_EMU_OLD] != 0;
    const emu_tile tile = {.site = site,
                           .description = description_of(&wave->lanes[0]),
                           .count = columns,
                           .group = products->groups,
                           .transposed = site->immediate[FMHA_EMU_WGMMA_TRANSPOSED] != 0};
    uint16_t a[SIDE][SIDE]; /* [k][row] */
    check(wave, products, site);
    if (wave->worker->count != NULL) { /* in products of 16 columns */
        wave->worker->count->total[EMU_COUNT_MATRIX] += columns / SIDE;
    }
    read_tile(wave, &tile, b);
    keep_tile(products, &tile);
    read_a(wave, products, site, a);
    emu_sum *sum = begin_sum(wave, products, site);
    sum->group = products->groups;
    if (!add) {
        memset(sum->d, 0, columns * sizeof sum->d[0]);
    }
    for (unsigned column = 0; column < columns; column += SIDE) {
        emu_wmma_arrays((const uint16_t(*)[SIDE])a, (const uint16_t(*)[SIDE])b[column], &sum->d[column], SIDE, bf16);
    }
    products->count++;
    products->history = (products->history ^ tile.description ^ (uintptr_t)site ^ add) * 0x100000001b3u;
}

void emu_wgmma_f16(emu_wave *wave, const struct fmha_emu_site *site) {
    multiply(wave, site, false);
}

void emu_wgmma_bf16(emu_wave *wave, const struct fmha_emu_site *site) {
    multiply(wave, site, true);
}

void emu_wgmma_fence(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    products_of(wave)->fenced = true;
}

void emu_wgmma_commit(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    emu_products *products = products_of(wave);
    products->groups++;
    products->fenced = false;
}

void emu_wgmma_wait(emu_wave *wave, const struct fmha_emu_site *site) {
    emu_products *products = products_of(wave);
    unsigned left = site->immediate[FMHA_EMU_WGMMA_LEFT], sums = 0, tiles = 0;
    for (unsigned i = 0; i < products->tile_count; i++) {
        const emu_tile *tile = &products->tiles[i];
        if (tile->group + left < products->groups) {
            read_tile(wave, tile, NULL);
        } else {
            products->tiles[tiles++] = *tile;
        }
    }
    products->tile_count = tiles;
    for (unsigned i = 0; i < products->sum_count; i++) {
        const emu_sum *sum = &products->sums[i];
        if (sum->group + left < products->groups) {
            put_in_place(sum);
        } else if (sums++ != i) {
            products->sums[sums - 1] = *sum;
        }
    }
    products->sum_count = sums;
}

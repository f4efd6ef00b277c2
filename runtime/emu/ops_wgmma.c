/* WGMMA.MMA_ASYNC.M64NnK16, as "Parallel Thread Execution ISA" defines it (chapters on asynchronous warpgroup level
 * matrix instructions: register fragments, matrix descriptor, strides, canonical layouts).
 *
 * Of the 64 rows of A and D wave w of four has 16 w to 16 w + 15, in lanes and elements as MMA.M16N8K16 has them, eight
 * columns of D after the other. B, 16 x N, stands in LDS: the descriptor has, in units of 16 bytes, its first address
 * in bits 0 to 13, the leading dimension's offset in bits 16 to 29 and the stride dimension's in bits 32 to 45; bits 62
 * and 63 are the number 1 for the order of 128 bytes, the one that is known here. There the eights (16 bytes) of a row
 * of 128 bytes change places: bits 4 to 6 of an address are taken exclusively with bits 7 to 9.
 *   - K-major (K^T of attention, "transposed" 0): element (k, n) is in row n of 128 bytes at 2 k; eight rows are one
 *     behind the other, the next eight a stride further. A, where it stands in LDS, is as the transpose of such a B of
 *     64 columns.
 *   - MN-major ("transposed" 1): element (k, n) is in row k of 128 bytes at 2 (n mod 64); eight rows are one behind the
 *     other, the next eight a stride further; the next 64 n are the leading dimension's offset further.
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
    emu_lane *lane = (emu_lane *)seen;
    if (lane->shown_met != lane->lds->met) {
        lane->shown_before = lane->shown;
        lane->shown_met = lane->lds->met;
    }
    lane->shown++;
}

/* What a thread wrote it must have shown, and before the last barrier what other waves read. */
static void check_shown(emu_lane *lane, const struct fmha_emu_site *site, uintptr_t address) {
    const emu_worker *worker = lane->wave->worker;
    uint32_t wrote = lane->lds->wrote[(address - lane->lds_begin) / UNIT];
    if (wrote == 0) {
        return;
    }
    const emu_lane *writer = &worker->lanes[emu_lds_writer(wrote)];
    bool late = writer->wave != lane->wave && writer->shown_met == lane->lds->met;
    uint16_t since = (uint16_t)(writer->shown - (wrote >> 16)); /* how often it has shown since it wrote */
    if (since <= (late ? (uint16_t)(writer->shown - writer->shown_before) : 0)) {
        char where[EMU_ADDRESS_BYTES];
        emu_report_access(lane, "lds-not-shown", site,
                          "put fence.proxy.async into the thread that writes, before the barrier",
                          "reads %s, which wave %u, lane %u, has written and %s",
                          emu_address_text(lane, address, where), writer->wave->number, writer->seen.index,
                          since > 0 ? "not shown to wgmma until behind the last barrier" : "not shown to wgmma since");
    }
}

/* The address of the tile's i-th 16 bytes, and which they are. */
static uintptr_t eight_of(const emu_wave *wave, const emu_tile *tile, unsigned i, unsigned *k, unsigned *n) {
    *k = tile->transposed ? i % SIDE : i % 2 * 8;
    *n = tile->transposed ? i / SIDE * 8 : i / 2;
    return address_of(&wave->lanes[0], place_of(tile->description, tile->transposed, *k, tile->first + *n));
}

static unsigned eights_of(const emu_tile *tile) {
    return tile->count * SIDE / 8;
}

static bool is_checked(const emu_tile *tile) {
    return tile->site->immediate[FMHA_EMU_WGMMA_CHECKED] != 0;
}

/* To other waves it is as if this one had read the tile now. */
static void end_tile(emu_wave *wave, const emu_tile *tile) {
    for (unsigned i = 0; is_checked(tile) && i < eights_of(tile); i++) {
        unsigned k, n;
        const emu_lane *lane = &wave->lanes[i % LANES];
        size_t place = eight_of(wave, tile, i, &k, &n) - lane->lds_begin;
        emu_lds_detail detail;
        emu_lds_read(lane->lds, place, UNIT, lane->wave_mark, lane->lane_mark, &detail);
        lane->lds->in_use[place / UNIT]--;
    }
}

/* Reads a tile, which is in use from then on. */
static void begin_tile(emu_wave *wave, emu_products *products, const emu_tile *tile, uint16_t b[][SIDE]) {
    for (unsigned i = 0; i < eights_of(tile); i++) {
        unsigned k, n;
        uint16_t eight[8];
        emu_lane *lane = &wave->lanes[i % LANES];
        uintptr_t address = eight_of(wave, tile, i, &k, &n);
        if (is_checked(tile)) {
            emu_access_lds_at(lane, tile->site, address, UNIT, false);
            check_shown(lane, tile->site, address);
        }
        memcpy(eight, (const void *)address, sizeof eight);
        for (unsigned e = 0; e < 8; e++) {
            b[tile->transposed ? n + e : n][tile->transposed ? k : k + e] = eight[e];
        }
    }
    if (products->tile_count == EMU_TILES_MAX) {
        end_tile(wave, &products->tiles[0]);
        memmove(products->tiles, products->tiles + 1, --products->tile_count * sizeof *products->tiles);
    }
    for (unsigned i = 0; is_checked(tile) && i < eights_of(tile); i++) {
        unsigned k, n;
        wave->worker->lds->in_use[(eight_of(wave, tile, i, &k, &n) - wave->lanes[0].lds_begin) / UNIT]++;
    }
    products->tiles[products->tile_count++] = *tile;
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
        products->last = NULL;
    }
}

void emu_products_end(emu_worker *worker) {
    static const char cure[] = "let all four waves that multiply together execute the same wgmma instructions";
    if (worker->launch->chip->family != EMU_NVIDIA) {
        return;
    }
    for (unsigned i = 0; i < worker->wave_count; i++) {
        unsigned together = i / EMU_TOGETHER * EMU_TOGETHER;
        const emu_products *mine = &worker->products[i], *first = &worker->products[together];
        char where[EMU_WHERE_BYTES];
        if (mine->history == first->history) {
            continue;
        }
        if (mine->count == first->count) {
            emu_report(worker, "products-differ", mine->last,
                       "the last product of wave %u, whose products are not those of wave %u, or stand between other "
                       "barriers (%s): %s",
                       i, together, emu_where(&worker->waves[i], where), cure);
        } else {
            bool more = mine->count > first->count;
            emu_report(
                worker, "products-differ", more ? mine->last : first->last,
                "the last of %u products of wave %u, while wave %u, which multiplies with it, has made %u (%s): %s",
                more ? mine->count : first->count, more ? i : together, more ? together : i,
                more ? first->count : mine->count, emu_where(&worker->waves[more ? together : i], where), cure);
        }
        return;
    }
}

int emu_products_find(const emu_worker *worker, size_t place, unsigned *wave) {
    for (*wave = 0; *wave < worker->wave_count; ++*wave) {
        const emu_products *products = &worker->products[*wave];
        for (unsigned i = 0; i < products->tile_count; i++) {
            const emu_tile *tile = &products->tiles[i];
            for (unsigned e = 0; e < eights_of(tile); e++) {
                unsigned k, n;
                if (eight_of(&worker->waves[*wave], tile, e, &k, &n) == worker->lanes[0].lds_begin + place) {
                    return tile->site->line;
                }
            }
        }
    }
    return 0;
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

/* A's, which is in LDS. */
static uint64_t description_of_a(const emu_lane *lane) {
    unsigned long description;
    memcpy(&description, lane->seen.a, sizeof description);
    return description;
}

static void check_description(emu_wave *wave, const struct fmha_emu_site *site, uint64_t of(const emu_lane *)) {
    uint64_t description = of(&wave->lanes[0]);
    for (unsigned i = 1; i < LANES; i++) {
        if (of(&wave->lanes[i]) != description) {
            emu_report_access(&wave->lanes[i], "description-differs", site, "give all lanes the same descriptor",
                              "gives descriptor 0x%llx, and lane 0 gives 0x%llx",
                              (unsigned long long)of(&wave->lanes[i]), (unsigned long long)description);
            emu_abandon(wave->worker);
        }
    }
    if (description >> 62 != 1 || (description >> 49 & 7) != 0) {
        emu_report_access(
            &wave->lanes[0], "description-unknown", site,
            "let bits 62 and 63 be the number 1 and bits 49 to 51 be 0, with tiles that begin at multiples of 1024 "
            "bytes",
            "gives descriptor 0x%llx, whose order is not that of 128 bytes without a base offset, the one "
            "that the device knows",
            (unsigned long long)description);
        emu_abandon(wave->worker);
    }
}

static void check(emu_wave *wave, const emu_products *products, const struct fmha_emu_site *site) {
    char where[EMU_WHERE_BYTES];
    if (wave->worker->wave_count % EMU_TOGETHER != 0) {
        emu_report(wave->worker, "partial-warpgroup", site,
                   "wgmma in a workgroup of %u waves (%s): launch a multiple of four, which multiply together",
                   wave->worker->wave_count, emu_where(wave, where));
        emu_abandon(wave->worker);
    }
    check_description(wave, site, description_of);
    if (site->immediate[FMHA_EMU_WGMMA_A_IN_LDS] != 0) {
        check_description(wave, site, description_of_a);
    }
    if (!products->fenced) {
        emu_report_access(&wave->lanes[0], "product-not-fenced", site,
                          "put a wgmma.fence before the first product of a group",
                          "begins a product of registers that no wgmma.fence stands before");
    }
}

static void remember(emu_products *products, uint64_t what) {
    products->history = (products->history ^ what) * 0x100000001b3u;
}

/* The wave's sixteen rows, as a[k][row]. */
static void read_a(emu_wave *wave, emu_products *products, const struct fmha_emu_site *site, uint16_t a[SIDE][SIDE]) {
    if (site->immediate[FMHA_EMU_WGMMA_A_IN_LDS] != 0) {
        uint16_t rows[SIDE][SIDE];
        emu_tile tile = {
            .site = site, .first = wave->number % EMU_TOGETHER * SIDE, .count = SIDE, .group = products->groups};
        tile.description = description_of_a(&wave->lanes[0]);
        begin_tile(wave, products, &tile, rows);
        for (unsigned row = 0; row < SIDE; row++) {
            for (unsigned k = 0; k < SIDE; k++) {
                a[k][row] = rows[row][k];
            }
        }
        remember(products, tile.description);
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
    begin_tile(wave, products, &tile, b);
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
    products->last = site;
    remember(products, tile.description);
    remember(products, (uintptr_t)site ^ add ^ (uint64_t)wave->worker->lds->met << 48);
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
            end_tile(wave, tile);
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

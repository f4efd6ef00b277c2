/* How many workgroups share the keys of a row: a table of what is chosen, and what holds of all choices. */
#include <criterion/criterion.h>

#include "splits.h"

/* gfx1151 has 40 compute units of two SIMDs, gfx942 304 of four, gfx1036 two of two, an H200 132 of four. */
enum { GFX1036 = 4, GFX1151 = 80, GFX942 = 1216, SM_90 = 528 };

Test(splits, what_is_chosen) {
    static const struct {
        struct fmha_splits_problem problem; /* SIMDs; batch, key heads, rows, keys; page size; waves; loads ahead */
        int splits;
    } table[] = {
        {{GFX1151, 1, 8, 4, 0, 0, 128, 1, false}, 1},         {{GFX1151, 1, 8, 4, 1, 0, 128, 1, false}, 1},
        {{GFX1151, 1, 8, 4, 255, 0, 128, 1, false}, 1},       {{GFX1151, 1, 8, 4, 256, 0, 128, 1, false}, 2},
        {{GFX1151, 1, 8, 4, 1000, 0, 128, 1, false}, 7},      {{GFX1151, 1, 8, 4, 4096, 0, 128, 1, false}, 19},
        {{GFX1151, 1, 8, 4, 131072, 0, 128, 1, false}, 20},   {{GFX1151, 1, 8, 16, 4096, 0, 128, 1, false}, 19},
        {{GFX1151, 1, 8, 17, 4096, 0, 128, 1, false}, 10},    {{GFX1151, 1, 8, 64, 4096, 0, 128, 1, false}, 5},
        {{GFX1151, 1, 8, 128, 4096, 0, 128, 1, false}, 2},    {{GFX1151, 1, 8, 129, 4096, 0, 128, 1, false}, 1},
        {{GFX1151, 1, 1, 128, 131072, 0, 128, 1, false}, 20}, {{GFX1151, 4, 8, 4, 4096, 0, 128, 1, false}, 5},
        {{GFX1151, 10, 8, 4, 4096, 0, 128, 1, false}, 2},     {{GFX1151, 11, 8, 4, 4096, 0, 128, 1, false}, 1},
        {{GFX1151, 100, 8, 4, 4096, 0, 128, 1, false}, 1},    {{GFX1151, 1, 8, 4, 4096, 16, 128, 1, false}, 19},
        {{GFX1151, 1, 8, 4, 4096, 256, 128, 1, false}, 16},   {{GFX942, 1, 8, 4, 4096, 0, 128, 1, false}, 32},
        {{GFX942, 1, 8, 4, 131072, 0, 128, 1, false}, 256},   {{GFX942, 1, 1, 16, 131072, 0, 128, 1, false}, 256},
        {{GFX942, 1, 1, 128, 8192, 0, 128, 1, false}, 64},    {{GFX942, 32, 8, 8, 8192, 0, 128, 1, false}, 9},
        {{GFX942, 64, 8, 8, 8192, 0, 128, 1, false}, 4},      {{GFX1036, 1, 8, 4, 4096, 0, 128, 1, false}, 1},
        {{GFX1036, 1, 2, 4, 4096, 0, 128, 1, false}, 4},      {{GFX1036, 1, 1, 128, 4096, 0, 128, 1, false}, 1},
        {{GFX1036, 1, 1, 64, 4096, 0, 128, 1, false}, 2},     {{GFX942, 0, 8, 4, 4096, 0, 128, 1, false}, 32},
        {{GFX942, 1, 1, 128, 8192, 0, 64, 4, false}, 64},     {{GFX942, 8, 1, 128, 8192, 0, 64, 4, false}, 9},
        {{GFX1151, 1, 1, 16, 8192, 64, 64, 4, false}, 37},    {{GFX1151, 1, 1, 128, 8192, 64, 64, 4, false}, 5},
        {{SM_90, 1, 8, 4, 32768, 0, 128, 1, true}, 64},       {{SM_90, 4, 8, 4, 32768, 0, 128, 1, true}, 16},
        {{SM_90, 16, 8, 4, 32768, 0, 128, 1, true}, 4},       {{SM_90, 64, 8, 4, 32768, 0, 128, 1, true}, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cr_expect_eq(fmha_splits_choose(&table[i].problem), table[i].splits, "row %zu: expected %d, got %d", i,
                     table[i].splits, fmha_splits_choose(&table[i].problem));
    }
}

/* At least 1, at most the cap, none without keys, and never more than the bound of a greater batch and longer keys. */
Test(splits, hold_their_bounds) {
    const int simds[] = {GFX1036, GFX1151, GFX942};
    const int64_t keys[] = {0, 1, 31, 128, 129, 300, 1000, 4097, 131072, INT64_MAX};
    const int64_t numbers[] = {1, 2, 3, 7, 8, 30, 128, 1000, INT64_MAX};
    enum { KEYS = sizeof keys / sizeof keys[0], NUMBERS = sizeof numbers / sizeof numbers[0] };
    for (int at = 0; at < 3 * NUMBERS * NUMBERS * NUMBERS * KEYS; at++) {
        const struct fmha_splits_problem p = {simds[at % 3],
                                              numbers[at / 3 % NUMBERS],
                                              numbers[at / 3 / NUMBERS % NUMBERS],
                                              numbers[at / 3 / NUMBERS / NUMBERS % NUMBERS],
                                              keys[at / 3 / NUMBERS / NUMBERS / NUMBERS],
                                              0,
                                              128,
                                              1,
                                              at % 2 == 0};
        int64_t splits = fmha_splits_choose(&p), tiles = p.keys / 32 + (p.keys % 32 != 0);
        struct fmha_splits_problem longest = p;
        longest.batch = p.batch > 1000 ? p.batch : 1000;
        longest.keys = INT64_MAX;
        cr_assert(splits >= 1 && splits <= FMHA_SPLITS_MAX, "%lld", (long long)splits);
        if (splits > 1) {
            int64_t each = (tiles + splits - 1) / splits;
            cr_assert_lt((splits - 1) * each, tiles, "a split without keys");
            cr_assert_leq(p.batch * splits, fmha_splits_bound(&p));
            cr_assert_leq(fmha_splits_bound(&p), fmha_splits_bound(&longest));
        }
    }
}

Test(splits, simds_of_a_device) {
    fmha_device_info info = {.driver = "emu", .arch = "gfx1151", .compute_units = 40};
    cr_expect_eq(fmha_splits_simds(&info), GFX1151);
    info.driver = "hip";
    info.compute_units = 20; /* workgroup processors */
    cr_expect_eq(fmha_splits_simds(&info), GFX1151);
    info.arch = "gfx942:sramecc+:xnack-";
    info.compute_units = 304;
    cr_expect_eq(fmha_splits_simds(&info), GFX942);
    info.driver = "isa";
    cr_expect_eq(fmha_splits_simds(&info), GFX942);
    cr_expect(!fmha_splits_ahead(&info));
    info = (fmha_device_info){.driver = "cuda", .arch = "sm_90", .compute_units = 132};
    cr_expect_eq(fmha_splits_simds(&info), SM_90);
    cr_expect(fmha_splits_ahead(&info));
}

Test(splits, rows_of_an_instance) {
    const int64_t rows[] = {0, 1, 16, 17, 32, 33, 64, 65, 128, 129, INT64_MAX};
    const int blocks[] = {16, 16, 16, 32, 32, 64, 64, 128, 128, 128, 128};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(fmha_splits_block(rows[i], 128), blocks[i], "%lld", (long long)rows[i]);
        cr_expect_eq(fmha_splits_block(rows[i], 64), blocks[i] > 64 ? 64 : blocks[i], "%lld", (long long)rows[i]);
    }
}

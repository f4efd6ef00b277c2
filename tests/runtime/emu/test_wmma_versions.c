/* The versions of the matrix arithmetic for different vector units give the same bits. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

#include "emu_test.h"
#include "wmma.c" /* NOLINT(bugprone-suspicious-include): the versions are not visible outside */

typedef void (*version)(emu_lane *lanes, unsigned count);

static emu_lane begin[64], expected[64], got[64];

static void fill(uint64_t *state, uint16_t mask) {
    for (int lane = 0; lane < 64; lane++) {
        for (int i = 0; i < SIZE; i++) {
            begin[lane].seen.a[i] = (uint16_t)emu_test_random(state) & mask;
            begin[lane].seen.b[i] = (uint16_t)emu_test_random(state) & mask;
        }
        for (int i = 0; i < 8; i++) {
            begin[lane].seen.c[i] = (float)(int32_t)emu_test_random(state) * 0x1p-24f;
        }
    }
}

/* NaN equals NaN: which of two is passed on differs between processors. */
static int same(float a, float b) {
    uint32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return (isnan(a) && isnan(b)) || bits[0] == bits[1];
}

static void compare(version plain, version other, unsigned count) {
    uint64_t state = 11;
    for (int round = 0; round < 200; round++) {
        fill(&state, round % 2 == 0 ? 0xffff : 0xbfff);
        memcpy(expected, begin, sizeof begin);
        memcpy(got, begin, sizeof begin);
        plain(expected, count);
        other(got, count);
        for (unsigned lane = 0; lane < 64; lane++) {
            for (int i = 0; i < 8; i++) {
                cr_assert(eq(int, same(expected[lane].seen.c[i], got[lane].seen.c[i]), 1),
                          "round %d, lane %u, float %d", round, lane, i);
            }
        }
    }
}

#if defined(__x86_64__)
Test(wmma_versions, avx2) {
    if (!has_avx2()) {
        cr_skip("no AVX2 here");
    }
    compare(any_f16, avx2_f16, 32);
    compare(any_f16, avx2_f16, 64);
    compare(any_bf16, avx2_bf16, 32);
    compare(any_bf16, avx2_bf16, 64);
}

Test(wmma_versions, avx512) {
    if (!has_avx512()) {
        cr_skip("no AVX-512 here");
    }
    compare(any_f16, avx512_f16, 32);
    compare(any_f16, avx512_f16, 64);
    compare(any_bf16, avx512_bf16, 32);
    compare(any_bf16, avx512_bf16, 64);
}
#endif

Test(wmma_versions, chosen) {
    compare(any_f16, emu_wmma_f16, 32);
    compare(any_bf16, emu_wmma_bf16, 64);
}

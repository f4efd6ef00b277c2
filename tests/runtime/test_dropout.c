/* Which weights dropout keeps. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "dropout.h"
#include "fmha.h"

/* The vectors that Random123 publishes for philox4x32-10 (its kat_vectors). */
Test(dropout, published_vectors) {
    static const struct {
        uint32_t counter[4], key[2], words[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        uint32_t words[4];
        fmha_philox(vectors[i].counter, vectors[i].key, words);
        cr_assert_eq(memcmp(words, vectors[i].words, sizeof words), 0, "vector %zu: %08x %08x %08x %08x", i, words[0],
                     words[1], words[2], words[3]);
    }
}

/* The third vector as a weight: its counter is that of keys 8 * 0x243f6a88 … + 7, query 0x85a308d3, row 0x13198a2e and
 * offset 0x03707344; its words are 16 bits of eight keys. A weight is kept up to the probability that is its 16 bits.
 */
Test(dropout, eight_keys_share_a_counter) {
    static const uint32_t bits[] = {0xfe09, 0xd16c, 0xcceb, 0x94fd, 0xe420, 0x5001, 0x6ea1, 0x2412};
    const uint64_t seed = UINT64_C(0x299f31d0a4093822), offset = 0x03707344;
    const int64_t row = 0x13198a2e, heads = 7;
    for (int t = 0; t < 8; t++) {
        int64_t key = INT64_C(8) * 0x243f6a88 + t;
        float kept = (float)bits[t] / 65536, dropped = (float)(bits[t] + 1) / 65536;
        cr_expect_eq(fmha_dropout_keeps(seed, offset, row / heads, heads, row % heads, 0x85a308d3, key, kept), 1,
                     "key %d", t);
        cr_expect_eq(fmha_dropout_keeps(seed, offset, row / heads, heads, row % heads, 0x85a308d3, key, dropped), 0,
                     "key %d", t);
    }
}

/* The probability is rounded to 1/65536, halves up; what its 16 bits are stands above. */
Test(dropout, probabilities_are_rounded) {
    const uint64_t seed = UINT64_C(0x299f31d0a4093822), offset = 0x03707344;
    const int64_t key = INT64_C(8) * 0x243f6a88 + 7;
    static const struct {
        float probability;
        int keeps;
    } cases[] = {{0x2412.4p-16F, 1},
                 {0x2412.8p-16F, 0},
                 {0x2411.8p-16F, 1},
                 {0, 1},
                 {-1, 1},
                 {-0.0F, 1},
                 {1, 0},
                 {2, 0},
                 {INFINITY, 0},
                 {NAN, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(fmha_dropout_keeps(seed, offset, 0x13198a2e, 1, 0, 0x85a308d3, key, cases[i].probability),
                     cases[i].keeps, "%g", (double)cases[i].probability);
    }
}

/* About that share is kept: of 40000 weights of probability 1/4 the standard deviation is 87, and five of them are
 * allowed. */
Test(dropout, the_share_that_is_kept) {
    int kept = 0;
    for (int query = 0; query < 200; query++) {
        for (int key = 0; key < 200; key++) {
            kept += fmha_dropout_keeps(1, 0, 0, 1, 0, query, key, 0.25F);
        }
    }
    cr_assert(kept > 30000 - 435 && kept < 30000 + 435, "%d", kept);
}

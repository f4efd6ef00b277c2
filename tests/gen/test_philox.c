/* Philox4x32-10 against the known answers that Random123 publishes (tests/kat_vectors of
 * github.com/DEShawResearch/random123, the three lines "philox4x32 10"). */
#include <criterion/criterion.h>

#include "philox.h"

static const struct {
    uint32_t counter[4], key[2], words[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

Test(philox, known_answers) {
    for (size_t index = 0; index < sizeof known / sizeof *known; index++) {
        uint32_t words[4];
        philox(known[index].counter, known[index].key, words);
        for (int word = 0; word < 4; word++)
            cr_assert(words[word] == known[index].words[word], "vector %zu, word %d: expected %08x, got %08x", index,
                      word, known[index].words[word], words[word]);
    }
}

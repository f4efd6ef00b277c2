#include "banks.h"

#include <string.h>

enum { BANKS_MAX = 64, BANK_BYTES = 4, LANES = 64, QUADS = 8 /* groups of four in 32 lanes */ };

/* A bank has 4 bytes and serves one access in a cycle; lanes that want the same 4 bytes are served together. An
 * instruction goes through in groups of lanes that fill all banks once: of 4 bytes a lane as many lanes as there are
 * banks, of 8 bytes half and of 16 bytes a quarter. No document says so of them all, but no grouping is faster. Groups
 * have lanes with neighbouring numbers, except in reads of 16 bytes. */
struct emu_bank_rule {
    const char *prefix;
    unsigned read_banks, write_banks;
    unsigned char wide_reads[QUADS]; /* the order in which the quads of 32 lanes go in reads of 16 bytes */
};

/* RDNA: 64 banks in a work group processor, half of them to each compute unit ("RDNA3 Instruction Set Architecture",
 * Local Data Share); which lanes share a cycle is an assumption.
 *
 * gfx9: 32 banks, groups of writes and of reads of 16 bytes as AMD's documentation of Composable Kernel has them
 * ("Understanding AMD GPU LDS and Bank Conflicts"); that all its chips do so is an assumption.
 *
 * gfx950: what HazyResearch's HipKittens measured on it (analysis/paper_experiments/phases): reads of 8 and 16 bytes
 * find 64 banks, writes of 8 bytes 32; that reads and writes of other widths do the same is an assumption.
 *
 * NVIDIA: 32 banks ("CUDA C++ Programming Guide"); which lanes share a cycle is an assumption. */
static const emu_bank_rule rules[] = {
    {"gfx1", 32, 32, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"gfx9", 32, 32, {0, 5, 1, 4, 2, 7, 3, 6}},
    {"gfx950", 64, 32, {0, 3, 5, 6, 1, 2, 4, 7}},
    {"sm_", 32, 32, {0, 1, 2, 3, 4, 5, 6, 7}},
};

const emu_bank_rule *emu_banks_of(const char *arch) {
    const emu_bank_rule *found = &rules[0];
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strncmp(arch, rules[i].prefix, strlen(rules[i].prefix)) == 0) {
            found = &rules[i];
        }
    }
    return found;
}

/* Cycles in which the banks serve these lanes; 0 if none of them takes part. */
static unsigned group_cycles(uint64_t lanes, const uint32_t places[LANES], const unsigned char *group, unsigned count,
                             size_t bytes, unsigned banks) {
    uint32_t
        words[BANKS_MAX * 2]; /* of all banks, without repetition; a lane off by some bytes touches one word more */
    unsigned word_count = 0, load[BANKS_MAX] = {0}, most = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned lane = group[i];
        if ((lanes >> lane & 1u) == 0) {
            continue;
        }
        size_t begin = places[lane], end = begin + bytes;
        for (uint32_t word = (uint32_t)(begin / BANK_BYTES); (size_t)word * BANK_BYTES < end; word++) {
            unsigned known = 0;
            while (known < word_count && words[known] != word) {
                known++;
            }
            if (known == word_count) {
                words[word_count++] = word;
                unsigned of_bank = ++load[word % banks];
                most = of_bank > most ? of_bank : most;
            }
        }
    }
    return most;
}

emu_bank_cycles emu_banks_serve(const emu_bank_rule *rule, uint64_t lanes, const uint32_t places[LANES], size_t bytes,
                                bool write) {
    unsigned banks = write ? rule->write_banks : rule->read_banks;
    unsigned width = bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16, count = banks * BANK_BYTES / width;
    bool wide_read = !write && width == 16;
    unsigned char order[LANES];
    emu_bank_cycles all = {0, 0};
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned quad = lane / 4 % QUADS;
        order[lane] = (unsigned char)(lane / 32 * 32 + (wide_read ? rule->wide_reads[quad] : quad) * 4 + lane % 4);
    }
    for (unsigned first = 0; first < LANES; first += count) {
        unsigned cycles = group_cycles(lanes, places, order + first, count, bytes, banks);
        all.cycles += cycles;
        all.conflicts += cycles > 0 ? cycles - 1 : 0;
    }
    return all;
}

#include "banks.h"

/* The LDS of a compute unit of RDNA3 has 32 banks of 4 bytes and serves one access to each of them in a cycle ("RDNA3
 * Instruction Set Architecture", Local Data Share: 64 banks in a work group processor, half of them to each compute
 * unit). Lanes that want the same 4 bytes are served together. An instruction of 4 bytes a lane goes through in groups
 * of 32 lanes, one of 8 in groups of 16 and one of 16 in groups of 8, in the order of their numbers: no document says
 * so, but no grouping is faster, as a group fills all banks. */
enum { BANKS = 32, BANK_BYTES = 4, CYCLE_BYTES = BANKS * BANK_BYTES, LANES = 64 };

/* Cycles in which the banks serve lanes first to first + count - 1; 0 if none of them takes part. */
static unsigned group_cycles(uint64_t lanes, const uint32_t places[LANES], unsigned first, unsigned count,
                             size_t bytes) {
    uint32_t words[BANKS * 2]; /* of all banks, without repetition; a lane off by some bytes touches one word more */
    unsigned word_count = 0, load[BANKS] = {0}, most = 0;
    for (unsigned lane = first; lane < first + count; lane++) {
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
                unsigned of_bank = ++load[word % BANKS];
                most = of_bank > most ? of_bank : most;
            }
        }
    }
    return most;
}

emu_bank_cycles emu_banks_serve(uint64_t lanes, const uint32_t places[LANES], size_t bytes) {
    unsigned width = bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16, count = CYCLE_BYTES / width;
    emu_bank_cycles all = {0, 0};
    for (unsigned first = 0; first < LANES; first += count) {
        unsigned cycles = group_cycles(lanes, places, first, count, bytes);
        all.cycles += cycles;
        all.conflicts += cycles > 0 ? cycles - 1 : 0;
    }
    return all;
}

/* Cycles of LDS banks, by hand, for each family's rule. */
#include <criterion/criterion.h>

#include "emu/banks.h"

enum { LANES = 64 };

static void expect(const char *arch, const uint32_t places[LANES], uint64_t lanes, size_t bytes, bool write,
                   unsigned cycles, unsigned conflicts) {
    emu_bank_cycles got = emu_banks_serve(emu_banks_of(arch), lanes, places, bytes, write);
    cr_expect(got.cycles == cycles && got.conflicts == conflicts, "%s, %s of %zu bytes: %u cycles, %u conflicts", arch,
              write ? "write" : "read", bytes, got.cycles, got.conflicts);
}

/* Lane i at i * step. */
static void expect_step(const char *arch, uint32_t step, size_t bytes, bool write, unsigned cycles,
                        unsigned conflicts) {
    uint32_t places[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++)
        places[lane] = lane * step;
    expect(arch, places, UINT64_MAX, bytes, write, cycles, conflicts);
}

/* Neighbouring lanes that fill all banks take as many cycles as there are times the banks. */
Test(banks, without_conflicts) {
    static const char *const of_32[] = {"gfx1151", "gfx1201", "gfx1030",     "gfx942:sramecc+:xnack-",
                                        "gfx90a",  "gfx906",  "gfx9-generic"};
    for (size_t i = 0; i < sizeof of_32 / sizeof *of_32; i++)
        for (uint32_t bytes = 4; bytes <= 16; bytes *= 2)
            for (int write = 0; write < 2; write++)
                expect_step(of_32[i], bytes, bytes, write, LANES * bytes / 128, 0);
    for (uint32_t bytes = 4; bytes <= 16; bytes *= 2) {
        expect_step("gfx950", bytes, bytes, false, LANES * bytes / 256, 0);
        expect_step("gfx950", bytes, bytes, true, LANES * bytes / 128, 0);
    }
}

Test(banks, conflicts) {
    expect_step("gfx942", 128, 4, false, 64, 62); /* all of 32 lanes in one bank */
    expect_step("gfx950", 128, 4, false, 32, 31); /* in two of 64 */
    expect_step("gfx950", 128, 4, true, 64, 62);
    expect_step("gfx950", 0, 16, false, 4, 0); /* all lanes the same */
    expect_step("gfx1151", 2, 4, false, 2, 0); /* a word more for those that are off by half a word */
}

/* Lanes that want other words of one bank meet only in one group: of reads of 16 bytes on gfx9 in {0-3, 20-23} and so
 * on, on gfx950 in {0-3, 12-15, 20-27}; in neighbouring lanes on RDNA and in writes. */
Test(banks, groups_of_wide_reads) {
    static const struct {
        unsigned lane;
        bool rdna, gfx9, gfx950;
    } rows[] = {{3, true, true, true},     {4, true, false, false},   {7, true, false, false},
                {8, false, false, false},  {11, false, false, false}, {12, false, false, true},
                {15, false, false, true},  {16, false, false, false}, {20, false, true, true},
                {23, false, true, true},   {24, false, false, true},  {27, false, false, true},
                {28, false, false, false}, {32, false, false, false}, {52, false, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t places[LANES] = {0};
        uint64_t both = 1 | UINT64_C(1) << rows[i].lane;
        places[rows[i].lane] = 1024;
        expect("gfx1151", places, both, 16, false, 2, rows[i].rdna);
        expect("gfx942", places, both, 16, false, 2, rows[i].gfx9);
        expect("gfx950", places, both, 16, false, 2, rows[i].gfx950);
        expect("gfx942", places, both, 16, true, 2, rows[i].rdna);
        expect("gfx950", places, both, 16, true, 2, rows[i].rdna);
    }
}

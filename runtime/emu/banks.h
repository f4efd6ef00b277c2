/* The banks of LDS: how long they take for what the lanes of a wave want. */
#ifndef EMU_BANKS_H
#define EMU_BANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EMU_BANKS_WIDEST = 16 }; /* bytes of a lane in one access */

typedef struct emu_bank_cycles {
    unsigned cycles, conflicts; /* conflicts: those beyond one for each group of lanes */
} emu_bank_cycles;

/* What a family's banks are like. */
typedef struct emu_bank_rule emu_bank_rule;

/* That of "gfx1151", also with feature suffixes; of an unknown chip that of most. */
const emu_bank_rule *emu_banks_of(const char *arch);

/* One access of a wave: `lanes` of it take part, each with `bytes`, at most EMU_BANKS_WIDEST, from places[lane] on. */
emu_bank_cycles emu_banks_serve(const emu_bank_rule *rule, uint64_t lanes, const uint32_t places[64], size_t bytes,
                                bool write);

#endif

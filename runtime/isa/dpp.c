/* Data parallel primitives: a row is 16 lanes, a bank 4 of them (RDNA3 guide, "DPP"). */
#include <string.h>

#include "lanes.h"
#include "operand.h"

enum { ROW = 16 };

/* The lane that `lane` reads, -1: outside its row. */
static int source_of(const isa_instruction *i, int lane) {
    int row = lane & ~(ROW - 1), at = lane & (ROW - 1), control = (int)i->dpp_control;
    switch (i->dpp) {
    case ISA_DPP_QUAD_PERM:
        return (lane & ~3) | (control >> 2 * (lane & 3) & 3);
    case ISA_DPP8:
        return (lane & ~7) | (control >> 3 * (lane & 7) & 7);
    case ISA_DPP_ROW_SHL:
        return at + control < ROW ? row + at + control : -1;
    case ISA_DPP_ROW_SHR:
        return at >= control ? row + at - control : -1;
    case ISA_DPP_ROW_ROR:
        return row + ((at + ROW - control) & (ROW - 1));
    case ISA_DPP_ROW_MIRROR:
        return row + ROW - 1 - at;
    case ISA_DPP_ROW_HALF_MIRROR:
        return row + (at ^ 7);
    case ISA_DPP_ROW_SHARE:
        return row + control;
    case ISA_DPP_WAVE_SHL:
        return lane + 1 < ISA_LANES_MAX ? lane + 1 : -1;
    case ISA_DPP_WAVE_ROL:
        return (lane + 1) & (ISA_LANES_MAX - 1);
    case ISA_DPP_WAVE_SHR:
        return lane - 1; /* of lane 0 none */
    case ISA_DPP_WAVE_ROR:
        return (lane - 1) & (ISA_LANES_MAX - 1);
    case ISA_DPP_ROW_BCAST: /* 15: the row before; 31: the half before */
        return (lane & ~control) - 1;
    default: /* ISA_DPP_ROW_XMASK */
        return row + (at ^ control);
    }
}

static bool has_source(const isa_instruction *i, uint64_t exec, int lane) {
    int source = source_of(i, lane);
    return source >= 0 && (i->fi || (exec >> source & 1) != 0);
}

const uint32_t *isa_dpp_lanes(isa_wave *wave, const isa_instruction *i, const uint32_t *values,
                              uint32_t room[ISA_LANES_MAX]) {
    uint32_t moved[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    for (int lane = 0; lane < (int)wave->lanes; lane++) {
        moved[lane] = has_source(i, exec, lane) ? values[source_of(i, lane)] : 0;
    }
    memcpy(room, moved, wave->lanes * sizeof *room);
    return room;
}

uint64_t isa_dpp_written(const isa_wave *wave, const isa_instruction *i) {
    uint64_t exec = isa_exec(wave), written = 0;
    for (int lane = 0; lane < (int)wave->lanes; lane++) {
        bool chosen = i->dpp == ISA_DPP8 ||
                      ((i->row_mask >> (lane / ROW % 4) & 1) != 0 && (i->bank_mask >> (lane % ROW / 4) & 1) != 0);
        /* dpp8 has no bound_ctrl: what has no source reads 0 */
        if (chosen && (i->bound_ctrl || i->dpp == ISA_DPP8 || has_source(i, exec, lane))) {
            written |= UINT64_C(1) << lane;
        }
    }
    return written;
}

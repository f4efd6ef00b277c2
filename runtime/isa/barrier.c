#include "barrier.h"

#include <stdlib.h>

typedef struct isa_between {
    uint32_t at;
    uint8_t bytes, mark;
    bool write;
} isa_between;

void isa_barrier_note(isa_wave *wave, uint32_t at, size_t bytes, bool write) {
    isa_group *group = wave->group;
    if (group->between_count == group->between_room) {
        size_t room = group->between_room == 0 ? 256 : 2 * group->between_room;
        isa_between *grown = realloc(group->between, room * sizeof *grown);
        if (grown == NULL) {
            isa_give_up(wave, "no-memory", "no memory for the account of LDS between a signal and a wait");
            return;
        }
        group->between = grown;
        group->between_room = room;
    }
    group->between[group->between_count++] =
        (isa_between){.at = at, .bytes = (uint8_t)bytes, .mark = (uint8_t)(wave->number + 1), .write = write};
}

void isa_barrier_passed(isa_group *group) {
    emu_lds_detail detail;
    emu_lds_waves_met(group->lds_state);
    for (size_t i = 0; i < group->between_count; i++) {
        const isa_between *between = &group->between[i];
        (between->write ? emu_lds_write : emu_lds_read)(group->lds_state, between->at + EMU_LDS_GAP_BYTES,
                                                        between->bytes, between->mark, 1, &detail);
    }
    group->between_count = 0;
}

void isa_barrier_free(isa_group *group) {
    free(group->between);
}

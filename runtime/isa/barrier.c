#include "barrier.h"

#include <stdlib.h>
#include <string.h>

#include "checks.h"

typedef struct isa_touch {
    uint32_t at, ticket; /* of a store to LDS; 0: touched between signal and wait */
    uint8_t bytes, mark;
    bool write;
} isa_touch;

static void add(isa_wave *wave, isa_touches *touches, isa_touch touch) {
    if (touches->count == touches->room) {
        size_t room = touches->room == 0 ? 256 : 2 * touches->room;
        isa_touch *grown = realloc(touches->list, room * sizeof *grown);
        if (grown == NULL) {
            isa_give_up(wave, "no-memory", "no memory for the account of LDS that barriers do not order");
            return;
        }
        touches->list = grown;
        touches->room = room;
    }
    touches->list[touches->count++] = touch;
}

static uint8_t mark_of(const isa_wave *wave) {
    return (uint8_t)(wave->number + 1);
}

void isa_barrier_note(isa_wave *wave, uint32_t at, size_t bytes, bool write) {
    add(wave, &wave->group->between,
        (isa_touch){.at = at, .bytes = (uint8_t)bytes, .mark = mark_of(wave), .write = write});
}

/* ---- Stores that are under way --------------------------------------------------------------------------- */

/* Forgets the stores that were waited for. */
static void forget_ended(isa_group *group) {
    isa_touches *stores = &group->stores;
    size_t kept = 0;
    for (size_t i = 0; i < stores->count; i++) {
        const isa_touch *touch = &stores->list[i];
        if (isa_check_under_way(&group->waves[touch->mark - 1], ISA_QUEUE_LDS, touch->ticket)) {
            stores->list[kept++] = *touch;
        }
    }
    stores->count = kept;
}

void isa_barrier_store(isa_wave *wave, uint32_t at, size_t bytes) {
    isa_group *group = wave->group;
    if (wave->checks == NULL || group->lds_state == NULL || group->wave_count == 1) {
        return;
    }
    if (group->stores.count == group->stores.room) {
        forget_ended(group);
    }
    add(wave, &group->stores,
        (isa_touch){.at = at,
                    .ticket = isa_check_last(wave, ISA_QUEUE_LDS),
                    .bytes = (uint8_t)bytes,
                    .mark = mark_of(wave),
                    .write = true});
}

void isa_barrier_arrive(isa_wave *wave) {
    isa_group *group = wave->group;
    if (wave->checks == NULL || group->stores.count == 0) {
        return;
    }
    forget_ended(group);
    for (size_t i = 0; i < group->stores.count; i++) {
        if (group->stores.list[i].mark == mark_of(wave)) {
            add(wave, &group->between, group->stores.list[i]);
        }
    }
}

bool isa_barrier_was_open(const isa_group *group, size_t at, uint8_t mark) {
    bool found = false;
    for (size_t i = 0; i < group->passed && !found; i++) {
        const isa_touch *touch = &group->between.list[i];
        found = touch->ticket != 0 && touch->mark == mark && touch->at <= at && at - touch->at < touch->bytes;
    }
    return found;
}

/* ---- The barrier ----------------------------------------------------------------------------------------- */

void isa_barrier_passed(isa_group *group) {
    isa_touches *between = &group->between;
    emu_lds_detail detail;
    emu_lds_waves_met(group->lds_state);
    if (group->passed > 0) {
        between->count -= group->passed;
        memmove(between->list, between->list + group->passed, between->count * sizeof *between->list);
    }
    group->passed = between->count;
    for (size_t i = 0; i < between->count; i++) {
        const isa_touch *touch = &between->list[i];
        (touch->write ? emu_lds_write : emu_lds_read)(group->lds_state, touch->at + EMU_LDS_GAP_BYTES, touch->bytes,
                                                      touch->mark, 1, &detail);
    }
}

void isa_barrier_begin(isa_group *group) {
    group->stores.count = 0;
    group->between.count = 0;
    group->passed = 0;
}

void isa_barrier_free(isa_group *group) {
    free(group->stores.list);
    free(group->between.list);
}

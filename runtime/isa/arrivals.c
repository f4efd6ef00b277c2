#include "arrivals.h"

#include <string.h>

#include "checks.h"

/* Loads that have ended are forgotten. Of more than the hardware can count the oldest has. */
void isa_arrivals_add(isa_wave *wave, uint64_t mask, const uint32_t places[ISA_LANES_MAX], size_t bytes) {
    struct isa_checks *checks = wave->checks;
    if (checks == NULL) {
        return;
    }
    uint32_t ticket = isa_check_issue(wave, ISA_QUEUE_LOAD);
    if (mask == 0) {
        return;
    }
    unsigned kept = 0;
    for (unsigned n = checks->arriving == ISA_ARRIVALS; n < checks->arriving; n++) {
        if (checks->arrivals[n].ticket > checks->ended[ISA_QUEUE_LOAD]) {
            checks->arrivals[kept++] = checks->arrivals[n];
        }
    }
    int first = __builtin_ctzll(mask), last = 63 - __builtin_clzll(mask);
    checks->arrivals[kept++] = (isa_arrival){ticket, places[first], (uint32_t)(places[last] + bytes)};
    checks->arriving = kept;
    wave->group->arriving |= UINT64_C(1) << wave->number;
}

void isa_arrivals_check(isa_wave *wave, int lane, uint32_t at, size_t bytes, bool write) {
    isa_group *group = wave->group;
    for (uint64_t left = group->arriving; left != 0; left &= left - 1) {
        struct isa_checks *checks = group->waves[__builtin_ctzll(left)].checks;
        bool open = false;
        for (unsigned n = 0; n < checks->arriving; n++) {
            isa_arrival *arrival = &checks->arrivals[n];
            if (arrival->ticket <= checks->ended[ISA_QUEUE_LOAD]) {
                continue;
            }
            open = true;
            if (at < arrival->end && at + bytes > arrival->first) {
                isa_report(wave, lane, "missing-wait",
                           "%s byte %u of LDS before the load from memory that fills it has ended: a wait for "
                           "vmcnt(%u) or less of wave %d must come first",
                           write ? "writes" : "reads", at, checks->issued[ISA_QUEUE_LOAD] - arrival->ticket,
                           __builtin_ctzll(left));
                arrival->ticket = 0; /* told once */
            }
        }
        group->arriving &= open ? UINT64_MAX : ~(left & -left);
    }
}

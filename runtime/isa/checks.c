#include "checks.h"

#include <string.h>

#include "family.h"

/* What the family says of accesses of a kind. */
static const isa_queue_facts *facts_of(const isa_wave *wave, isa_queue queue) {
    return &wave->group->launch->kernel->family->queues[queue];
}

void isa_checks_begin(struct isa_checks *checks) {
    memset(checks, 0, sizeof *checks);
}

/* Whether the load that fills the register may still be under way. */
static bool is_open(const struct isa_checks *checks, const isa_pending *pending) {
    return pending->ticket > checks->ended[pending->queue];
}

static void report_open(isa_wave *wave, const char *what, char file, unsigned reg, const isa_pending *pending) {
    const struct isa_checks *checks = wave->checks;
    isa_report(wave, -1, "missing-wait",
               "%s %c%u before the load that fills it has ended: a wait for %s(%u) or less must come first", what,
               file == 'v' && reg >= ISA_AGPR ? 'a' : file, reg % ISA_AGPR, facts_of(wave, pending->queue)->counter,
               pending->queue == ISA_QUEUE_SCALAR ? 0 : checks->issued[pending->queue] - pending->ticket);
}

void isa_check_vgpr_read(isa_wave *wave, unsigned reg, uint64_t mask) {
    struct isa_checks *checks = wave->checks;
    isa_pending *pending = &checks->vgpr_pending[reg];
    if (pending->ticket != 0) {
        if (is_open(checks, pending)) {
            report_open(wave, "reads", 'v', reg, pending);
        }
        pending->ticket = 0; /* told once */
    }
    uint64_t missing = mask & ~checks->vgpr_written[reg];
    if (checks->collecting) {
        checks->unwritten |= missing;
    } else if (missing != 0) {
        isa_report(wave, __builtin_ctzll(missing), "register-unwritten",
                   "reads %c%u, which was not written, or was made of what was not", reg >= ISA_AGPR ? 'a' : 'v',
                   reg % ISA_AGPR);
        checks->vgpr_written[reg] |= missing;
    }
}

void isa_check_vgpr_write(isa_wave *wave, unsigned reg, uint64_t mask) {
    struct isa_checks *checks = wave->checks;
    isa_pending *pending = &checks->vgpr_pending[reg];
    if (pending->ticket != 0) {
        if (is_open(checks, pending)) {
            report_open(wave, "writes", 'v', reg, pending);
        }
        pending->ticket = 0;
    }
    checks->vgpr_written[reg] |= mask;
}

void isa_check_vgpr_unwritten(isa_wave *wave, unsigned reg, uint64_t mask) {
    wave->checks->vgpr_written[reg] &= ~mask;
}

void isa_check_sgpr_read(isa_wave *wave, unsigned reg) {
    struct isa_checks *checks = wave->checks;
    isa_pending *pending = &checks->sgpr_pending[reg];
    if (pending->ticket != 0) {
        if (is_open(checks, pending)) {
            report_open(wave, "reads", 's', reg, pending);
        }
        pending->ticket = 0;
    }
    if (!checks->sgpr_written[reg] && checks->collecting) {
        checks->unwritten_scalar = true;
    } else if (!checks->sgpr_written[reg]) {
        isa_report(wave, -1, "register-unwritten", "reads s%u before it was written", reg);
        checks->sgpr_written[reg] = true;
    }
}

void isa_check_sgpr_write(isa_wave *wave, unsigned reg) {
    struct isa_checks *checks = wave->checks;
    isa_pending *pending = &checks->sgpr_pending[reg];
    if (pending->ticket != 0) {
        if (is_open(checks, pending)) {
            report_open(wave, "writes", 's', reg, pending);
        }
        pending->ticket = 0;
    }
    checks->sgpr_written[reg] = true;
}

uint32_t isa_check_issue(isa_wave *wave, isa_queue queue) {
    return ++wave->checks->issued[facts_of(wave, queue)->queue];
}

uint32_t isa_check_last(const isa_wave *wave, isa_queue queue) {
    return wave->checks->issued[facts_of(wave, queue)->queue];
}

bool isa_check_under_way(const isa_wave *wave, isa_queue queue, uint32_t ticket) {
    return ticket > wave->checks->ended[facts_of(wave, queue)->queue];
}

void isa_check_vgpr_load(isa_wave *wave, unsigned reg, uint64_t mask, isa_queue queue, uint32_t ticket) {
    struct isa_checks *checks = wave->checks;
    isa_pending *pending = &checks->vgpr_pending[reg];
    queue = facts_of(wave, queue)->queue;
    /* A second load of the same queue ends after the first: only its other halves or lanes stand behind it. */
    if (pending->ticket != 0 && pending->queue != queue && is_open(checks, pending)) {
        report_open(wave, "loads into", 'v', reg, pending);
    }
    *pending = (isa_pending){ticket, (uint8_t)queue};
    checks->vgpr_written[reg] |= mask;
}

void isa_check_sgpr_load(isa_wave *wave, unsigned reg, uint32_t ticket) {
    struct isa_checks *checks = wave->checks;
    isa_pending *pending = &checks->sgpr_pending[reg];
    if (pending->ticket != 0 && is_open(checks, pending)) {
        report_open(wave, "loads into", 's', reg, pending);
    }
    *pending = (isa_pending){ticket, ISA_QUEUE_SCALAR};
    checks->sgpr_written[reg] = true;
}

void isa_check_wait(isa_wave *wave, isa_queue queue, uint32_t most) {
    struct isa_checks *checks = wave->checks;
    if (queue == ISA_QUEUE_SCALAR && most > 0) {
        return;
    }
    uint32_t ended = checks->issued[queue] > most ? checks->issued[queue] - most : 0;
    if (ended > checks->ended[queue]) {
        checks->ended[queue] = ended;
    }
}

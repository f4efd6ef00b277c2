#include "memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../emu/traffic.h"
#include "arrivals.h"
#include "barrier.h"
#include "counts.h"
#include "family.h"

enum { WHERE_BYTES = 256 };

/* ---- Global memory --------------------------------------------------------------------------------------- */

static const emu_allocation *find_allocation(isa_group *group, uint64_t address) {
    const emu_allocation *recent = group->recent;
    if (recent == NULL || address - recent->begin >= recent->bytes) {
        recent = emu_memory_find(group->launch->memory, (const void *)(uintptr_t)address, 1);
        if (recent != NULL) {
            group->recent = recent;
        }
    }
    return recent;
}

static bool is_allowed(const emu_views *views, size_t offset, size_t bytes, unsigned need, size_t *bad) {
    for (size_t i = offset; i < offset + bytes; i++) {
        if ((views->list[views->owner[i]].access & need) != need) {
            *bad = i;
            return false;
        }
    }
    return true;
}

static void report_view(isa_wave *wave, int lane, const emu_allocation *allocation, size_t bad, size_t bytes,
                        bool write) {
    char where[WHERE_BYTES];
    emu_views_describe(&allocation->views, bad, where, sizeof where);
    if (allocation->views.owner[bad] == 0) {
        isa_report(wave, lane, "outside-tensor", "%s %zu bytes of \"%s\", %s, where no tensor has an element",
                   write ? "writes" : "reads", bytes, allocation->label, where);
    } else {
        isa_report(wave, lane, "wrong-access", "%s %s, %s", write ? "writes" : "reads", where,
                   write ? "an input" : "an output");
    }
}

/* Notes who writes; a workgroup must not write what another has written in the same launch. */
static void note_writer(isa_wave *wave, int lane, const emu_allocation *allocation, size_t offset, size_t bytes) {
    const isa_group *group = wave->group;
    uint32_t launch = (group->launch->number & 0xffu) << 24;
    uint32_t mine = launch | (uint32_t)(group->number % 0xfffffeu + 1);
    for (size_t i = offset; i < offset + bytes; i++) {
        uint32_t before = atomic_exchange_explicit(&allocation->views.writer[i], mine, memory_order_relaxed);
        if (before != 0 && before != mine && (before & 0xff000000u) == launch) {
            char where[WHERE_BYTES];
            emu_views_describe(&allocation->views, i, where, sizeof where);
            isa_report(wave, lane, "output-race", "writes %s, which another workgroup has written in the same launch",
                       where);
            return;
        }
    }
}

static unsigned char *find_bytes(isa_wave *wave, int lane, uint64_t address, size_t bytes, unsigned need) {
    bool write = (need & FMHA_ACCESS_WRITE) != 0;
    const emu_allocation *allocation = find_allocation(wave->group, address);
    char where[WHERE_BYTES];
    if (allocation == NULL) {
        emu_memory_describe(wave->group->launch->memory, (const void *)(uintptr_t)address, where, sizeof where);
        isa_report(wave, lane, "out-of-bounds", "%s %zu bytes at 0x%llx, %s", write ? "writes" : "reads", bytes,
                   (unsigned long long)address, where);
        wave->failed = true;
        return NULL;
    }
    size_t offset = (size_t)(address - allocation->begin), bad;
    if (bytes > allocation->bytes - offset) {
        isa_report(wave, lane, "out-of-bounds", "%s %zu bytes at byte %zu of \"%s\", which has %zu",
                   write ? "writes" : "reads", bytes, offset, allocation->label, allocation->bytes);
        wave->failed = true;
        return NULL;
    }
    if (wave->checks != NULL) {
        if (!is_allowed(&allocation->views, offset, bytes, need, &bad)) {
            report_view(wave, lane, allocation, bad, bytes, write);
        }
        if (need == FMHA_ACCESS_WRITE && allocation->views.writer != NULL) {
            note_writer(wave, lane, allocation, offset, bytes);
        }
    }
    return (unsigned char *)(uintptr_t)address;
}

static void count_traffic(isa_wave *wave, uint64_t address, size_t bytes, bool write) {
    const emu_allocation *allocation = find_allocation(wave->group, address);
    if (allocation != NULL) {
        emu_traffic_touch(&allocation->views, (size_t)(address - allocation->begin), bytes, write);
    }
}

static void count_fetch(isa_wave *wave, uint64_t address, size_t bytes) {
    const emu_allocation *allocation = find_allocation(wave->group, address);
    if (allocation != NULL) {
        emu_traffic_fetch(&allocation->views, (size_t)(address - allocation->begin), bytes);
    }
}

/* Whether a lane before this one asks for the same. */
static bool is_asked_before(uint64_t mask, int lane, const uint64_t addresses[ISA_LANES_MAX]) {
    for (uint64_t left = mask & ((UINT64_C(1) << lane) - 1); left != 0; left &= left - 1) {
        if (addresses[__builtin_ctzll(left)] == addresses[lane]) {
            return true;
        }
    }
    return false;
}

unsigned char *isa_global(isa_wave *wave, int lane, uint64_t address, size_t bytes, bool write) {
    unsigned char *found = find_bytes(wave, lane, address, bytes, write ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ);
    if (found != NULL && lane < 0 && wave->counts != NULL) {
        count_traffic(wave, address, bytes, write);
        if (!write) {
            count_fetch(wave, address, bytes);
        }
    }
    return found;
}

unsigned char *isa_global_shared(isa_wave *wave, int lane, uint64_t address, size_t bytes) {
    return find_bytes(wave, lane, address, bytes, FMHA_ACCESS_READ | FMHA_ACCESS_WRITE);
}

static isa_tally *tally_of(const isa_wave *wave) {
    return &wave->counts->tallies[wave->running - wave->group->launch->kernel->code];
}

void isa_count_global(isa_wave *wave, uint64_t mask, const uint64_t addresses[ISA_LANES_MAX], size_t bytes,
                      bool write) {
    uint64_t lines[2 * ISA_LANES_MAX], previous = UINT64_MAX;
    uint32_t line_bytes = wave->group->launch->kernel->family->line_bytes;
    size_t count = 0, lanes = 0;
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        uint64_t address = addresses[__builtin_ctzll(left)];
        uint64_t first = address / line_bytes, last = (address + bytes - 1) / line_bytes;
        lanes++;
        count_traffic(wave, address, bytes, write);
        if (!write && !is_asked_before(mask, __builtin_ctzll(left), addresses)) {
            count_fetch(wave, address, bytes);
        }
        for (uint64_t line = first; line <= last; line++) {
            bool known = line == previous;
            for (size_t i = 0; i < count && !known; i++) {
                known = lines[i] == line;
            }
            if (!known) {
                lines[count++] = line;
            }
            previous = line;
        }
    }
    if (lanes == 0) {
        return;
    }
    struct isa_counts *counts = wave->counts;
    isa_tally *tally = tally_of(wave);
    tally->accesses++;
    tally->bytes += lanes * bytes;
    tally->lines += count;
    *(write ? &counts->global_writes : &counts->global_reads) += 1;
    *(write ? &counts->global_bytes_written : &counts->global_bytes_read) += lanes * bytes;
    *(write ? &counts->global_lines_written : &counts->global_lines_read) += count;
}

/* ---- LDS ------------------------------------------------------------------------------------------------- */

static const char *other_text(uint8_t other, char text[24], const char *what) {
    if (other == EMU_LDS_SEVERAL) {
        snprintf(text, 24, "several %ss", what);
    } else {
        snprintf(text, 24, "%s %u", what, other - 1u);
    }
    return text;
}

static void report_lds(isa_wave *wave, int lane, emu_lds_fault fault, const emu_lds_detail *detail, size_t bytes,
                       bool write) {
    char other[24];
    size_t at = detail->at - EMU_LDS_GAP_BYTES;
    switch (fault) {
    case EMU_LDS_OUTSIDE:
        isa_report(wave, lane, "lds-out-of-bounds", "%s %zu bytes of LDS up to byte %zu; the workgroup has %zu",
                   write ? "writes" : "reads", bytes, at, wave->group->lds_bytes);
        break;
    case EMU_LDS_UNWRITTEN:
        isa_report(wave, lane, "lds-unwritten", "reads byte %zu of LDS before it was written", at);
        break;
    case EMU_LDS_WAVE_WROTE:
    case EMU_LDS_WAVE_READ:
        isa_report(wave, lane, "lds-race", "%s byte %zu of LDS, which %s has %s", write ? "writes" : "reads", at,
                   other_text(detail->other, other, "wave"),
                   fault == EMU_LDS_WAVE_READ ? "read since the last s_barrier"
                   : !isa_barrier_was_open(wave->group, at, detail->other)
                       ? "written since the last s_barrier"
                       : "written before the last s_barrier, where it "
                         "arrived without a wait for the store");
        break;
    default: /* lanes of one wave act in the order of its instructions */
        break;
    }
}

bool isa_lds_check(isa_wave *wave, int lane, uint32_t at, size_t bytes, bool write) {
    isa_group *group = wave->group;
    if (at >= group->lds_bytes || bytes > group->lds_bytes - at) {
        emu_lds_detail detail = {.at = (size_t)at + bytes - 1 + EMU_LDS_GAP_BYTES};
        report_lds(wave, lane, EMU_LDS_OUTSIDE, &detail, bytes, write);
        return false;
    }
    if (wave->checks == NULL || group->lds_state == NULL) {
        return true;
    }
    if (group->arriving != 0) {
        isa_arrivals_check(wave, lane, at, bytes, write);
    }
    emu_lds_detail detail;
    uint8_t mark = (uint8_t)(wave->number + 1);
    emu_lds_fault fault = write ? emu_lds_write(group->lds_state, at + EMU_LDS_GAP_BYTES, bytes, mark, 1, &detail)
                                : emu_lds_read(group->lds_state, at + EMU_LDS_GAP_BYTES, bytes, mark, 1, &detail);
    if (fault != EMU_LDS_FINE) {
        report_lds(wave, lane, fault, &detail, bytes, write);
    }
    if (wave->signaled) {
        isa_barrier_note(wave, at, bytes, write);
    }
    return true;
}

void isa_count_lds(isa_wave *wave, uint64_t mask, const uint32_t addresses[ISA_LANES_MAX], size_t bytes, bool write) {
    if (mask == 0) {
        return;
    }
    struct isa_counts *counts = wave->counts;
    emu_bank_cycles taken = emu_banks_serve(counts->costs->banks, mask, addresses, bytes, write);
    isa_tally *tally = tally_of(wave);
    uint64_t all = (unsigned)__builtin_popcountll(mask) * bytes;
    tally->accesses++;
    tally->bytes += all;
    tally->lds_cycles += taken.cycles;
    tally->lds_conflicts += taken.conflicts;
    *(write ? &counts->lds_writes : &counts->lds_reads) += 1;
    *(write ? &counts->lds_bytes_written : &counts->lds_bytes_read) += all;
}

void isa_count_generic(isa_wave *wave, uint64_t mask, const uint64_t addresses[ISA_LANES_MAX], size_t bytes,
                       bool write) {
    uint64_t shared = 0, global = 0;
    uint32_t places[ISA_LANES_MAX] = {0};
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint64_t base = addresses[lane] & ~(uint64_t)UINT32_MAX;
        places[lane] = (uint32_t)addresses[lane];
        shared |= (uint64_t)(base == ISA_SHARED_BASE) << lane;
        global |= (uint64_t)(base != ISA_SHARED_BASE && base != ISA_PRIVATE_BASE) << lane;
    }
    isa_count_lds(wave, shared, places, bytes, write);
    isa_count_global(wave, global, addresses, bytes, write);
}

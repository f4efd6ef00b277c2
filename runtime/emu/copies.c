#include "copies.h"

#include <string.h>

#include "access.h"
#include "engine.h"
#include "report.h"

/* The first `ended` copies of the lane are there. To the other lanes it is as if this one wrote them now. */
static void end(emu_lane *lane, unsigned ended) {
    emu_copies *copies = lane->copies;
    for (unsigned i = 0; i < ended; i++) {
        emu_lds_detail detail;
        lane->lds->arriving[copies->list[i].place / EMU_COPY_BYTES] = 0;
        emu_lds_write(lane->lds, copies->list[i].place, EMU_COPY_BYTES, lane->wave_mark, lane->lane_mark, &detail);
        emu_lds_note(lane->lds, copies->list[i].place, EMU_COPY_BYTES, emu_lds_mark_of(lane->number, lane->shown));
    }
    copies->count -= ended;
    memmove(copies->list, copies->list + ended, copies->count * sizeof copies->list[0]);
}

static void check_alignment(emu_lane *lane, const struct fmha_emu_site *site, const char *what, uintptr_t address,
                            uintptr_t begin) {
    char where[EMU_ADDRESS_BYTES];
    size_t past = (address - begin) % EMU_COPY_BYTES;
    if (past != 0) {
        emu_report_access(lane, "misaligned-access", site, "align rows and offsets, or copy through registers",
                          "%s %s, which needs a multiple of %d bytes; the address is %zu past one", what,
                          emu_address_text(lane, address, where), EMU_COPY_BYTES, past);
        emu_abandon(lane->wave->worker);
    }
}

void emu_copy_begin(struct fmha_emu_lane *seen, const struct fmha_emu_site *site, unsigned long to, unsigned long from,
                    unsigned bytes) {
    emu_lane *lane = (emu_lane *)seen;
    emu_copies *copies = lane->copies;
    bool checked = site->immediate[0] != 0;
    unsigned char value[EMU_COPY_BYTES] = {0};
    if (bytes > EMU_COPY_BYTES) {
        emu_report_access(lane, "out-of-bounds", site, "ask for 16 bytes, or for fewer, which are filled up with zeros",
                          "asks for %u bytes of memory, more than the %d that it copies", bytes, EMU_COPY_BYTES);
        emu_abandon(lane->wave->worker);
        return;
    }
    if (checked) {
        check_alignment(lane, site, "writes", to, lane->lds_begin);
        emu_access_lds_at(lane, site, to, EMU_COPY_BYTES, true);
        if (bytes > 0) {
            check_alignment(lane, site, "reads", from, 0);
            emu_access_memory_at(lane, site, from, bytes);
        }
    }
    if (bytes > 0) {
        memcpy(value, (const void *)from, bytes);
    }
    memcpy((void *)to, value, EMU_COPY_BYTES);
    if (checked) {
        if (copies->count == EMU_COPIES_MAX) {
            end(lane, 1);
        }
        uint32_t place = (uint32_t)(to - lane->lds_begin);
        copies->list[copies->count].place = place;
        copies->list[copies->count++].group = copies->groups;
        lane->lds->arriving[place / EMU_COPY_BYTES] = lane->number + 1;
    }
}

void emu_copy_commit(struct fmha_emu_lane *seen) {
    ((emu_lane *)seen)->copies->groups++;
}

void emu_copy_wait(struct fmha_emu_lane *seen, unsigned left) {
    emu_lane *lane = (emu_lane *)seen;
    emu_copies *copies = lane->copies;
    unsigned ended = 0;
    while (ended < copies->count && copies->list[ended].group + left < copies->groups) {
        ended++;
    }
    end(lane, ended);
}

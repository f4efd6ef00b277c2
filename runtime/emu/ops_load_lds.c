/* GLOBAL_LOAD_LDS_*: from memory into LDS, without a register between.
 *
 * Each lane gives an address in memory, the wave one in LDS, which is in M0. Both get the constant offset; lane l's
 * value goes 4 l bytes behind, or 16 l if it has 12 or 16 bytes. ("CDNA4 Instruction Set Architecture", 10.3
 * and 9.1.9.) Bytes and shorts fill their 4 bytes, with zeros above. M0 has no bits below a multiple of 4. */
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "lds_loads.h"
#include "ops.h"
#include "report.h"

enum { WORD_BYTES = 4, WIDEST_BYTES = 16 };

static uintptr_t operand(const emu_lane *lane, unsigned which) {
    unsigned long operands[FMHA_EMU_LOAD_OPERANDS];
    memcpy(operands, lane->seen.a, sizeof operands);
    return operands[which];
}

static void report_differs(emu_lane *lane, const emu_lane *first, const struct fmha_emu_site *site) {
    char mine[EMU_ADDRESS_BYTES], given[EMU_ADDRESS_BYTES];
    emu_report_access(lane, "lds-address-differs", site,
                      "give every lane of the wave the same pointer; the instruction itself adds the lane's part",
                      "gives %s, and lane %u gives %s, which counts for the whole wave",
                      emu_address_text(lane, operand(lane, FMHA_EMU_LOAD_TO), mine), first->seen.index,
                      emu_address_text(first, operand(first, FMHA_EMU_LOAD_TO), given));
}

static void check_alignment(emu_lane *lane, const struct fmha_emu_site *site, const char *what, uintptr_t address,
                            uintptr_t begin, size_t alignment) {
    char where[EMU_ADDRESS_BYTES];
    if ((address - begin) % alignment == 0) {
        return;
    }
    emu_report_access(lane, "misaligned-access", site, "align rows and offsets, or load less at once",
                      "%s %s, which needs a multiple of %zu bytes; the address is %zu past one", what,
                      emu_address_text(lane, address, where), alignment, (size_t)((address - begin) % alignment));
    emu_abandon(lane->wave->worker);
}

void emu_global_load_lds(emu_wave *wave, const struct fmha_emu_site *site) {
    const size_t bytes = site->immediate[FMHA_EMU_LOAD_BYTES];
    const size_t stride = bytes > WORD_BYTES ? WIDEST_BYTES : WORD_BYTES;
    const size_t stored = bytes > WORD_BYTES ? bytes : WORD_BYTES;
    const intptr_t offset = (int)site->immediate[FMHA_EMU_LOAD_OFFSET];
    const bool checked = site->immediate[FMHA_EMU_LOAD_CHECKED] != 0;
    const emu_lane *first = &wave->lanes[0];
    const uintptr_t to = operand(first, FMHA_EMU_LOAD_TO) + (uintptr_t)offset;
    const unsigned lanes = (unsigned)__builtin_popcountll(wave->present);
    for (unsigned i = 0; i < lanes; i++) {
        emu_lane *lane = &wave->lanes[i];
        uintptr_t from = operand(lane, FMHA_EMU_LOAD_FROM) + (uintptr_t)offset, place = to + i * stride;
        unsigned char value[WIDEST_BYTES] = {0};
        if (checked) {
            if (operand(lane, FMHA_EMU_LOAD_TO) != operand(first, FMHA_EMU_LOAD_TO)) {
                report_differs(lane, first, site);
            }
            check_alignment(lane, site, "reads", from, 0, bytes < WORD_BYTES ? bytes : WORD_BYTES);
            check_alignment(lane, site, "writes", place, lane->lds_begin, WORD_BYTES);
            emu_access_memory_at(lane, site, from, bytes);
            emu_access_lds_at(lane, site, place, stored, true);
        }
        memcpy(value, (const void *)from, bytes);
        memcpy((void *)place, value, stored);
    }
    if (checked) {
        emu_lds_loads_add(wave, &(emu_lds_load){to - first->lds_begin, stride, stored, lanes});
    }
}

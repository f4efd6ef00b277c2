/* Matrix instructions of RDNA3: V_WMMA_F32_16X16X16_F16 and _BF16.
 *
 * Lane l holds row l mod 16 of A and column l mod 16 of B, sixteen halves each, k ascending from the low half of the
 * first register; every group of sixteen lanes must hold the same. Of C and D, lane l holds column l mod 16; its
 * register r is row (lanes of the wave / 16)·r + l div 16.
 *
 * The products are added to C in ascending k, each by one fused multiply-add in float32. The guide does not give the
 * chip's own order and rounding of the sum, so results agree with a chip's within rounding only. */
#include <string.h>

#include "count.h"
#include "ops.h"
#include "report.h"
#include "wmma.h"

enum { SIZE = 16 };

/* The first element that differs. */
static void report_replica(emu_wave *wave, const struct fmha_emu_site *site, char operand, unsigned lane) {
    const struct fmha_emu_lane *original = &wave->lanes[lane % SIZE].seen, *copy = &wave->lanes[lane].seen;
    const unsigned short *expected = operand == 'A' ? original->a : original->b;
    const unsigned short *got = operand == 'A' ? copy->a : copy->b;
    unsigned k = 0;
    while (k < SIZE - 1 && expected[k] == got[k]) {
        k++;
    }
    const unsigned *at = wave->worker->group_at;
    emu_report(
        wave->worker, "operand-replicas-differ", site,
        "element %u of %c in lane %u of %s is 0x%04x but 0x%04x in lane %u (workgroup (%u,%u,%u), wave %u): gfx11 "
        "needs the operand of lanes 0-15 repeated in every further group of 16 lanes; load it by lane mod 16",
        k, operand, lane, site->name, got[k], expected[k], lane % SIZE, at[0], at[1], at[2], wave->number);
}

static void check_operands(emu_wave *wave, const struct fmha_emu_site *site) {
    if (wave->worker->count != NULL) {
        wave->worker->count->total[EMU_COUNT_MATRIX]++;
    }
    const emu_lane *lanes = wave->lanes;
    for (unsigned i = SIZE; i < wave->worker->launch->wave; i++) {
        const struct fmha_emu_lane *original = &lanes[i % SIZE].seen, *copy = &lanes[i].seen;
        if (memcmp(original->a, copy->a, sizeof copy->a + sizeof copy->b) != 0) {
            report_replica(wave, site, memcmp(original->a, copy->a, sizeof copy->a) != 0 ? 'A' : 'B', i);
            return;
        }
    }
}

void emu_wmma_gfx11_f16(emu_wave *wave, const struct fmha_emu_site *site) {
    check_operands(wave, site);
    emu_wmma_f16(wave->lanes, wave->worker->launch->wave);
}

void emu_wmma_gfx11_bf16(emu_wave *wave, const struct fmha_emu_site *site) {
    check_operands(wave, site);
    emu_wmma_bf16(wave->lanes, wave->worker->launch->wave);
}

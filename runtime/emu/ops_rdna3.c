/* Matrix instructions of RDNA3: V_WMMA_F32_16X16X16_F16 and _BF16.
 *
 * Lane l holds row l mod 16 of A and column l mod 16 of B, sixteen halves each, k ascending from the low half of the
 * first register; every group of sixteen lanes must hold the same. Of C and D, lane l holds column l mod 16; its
 * register r is row (lanes of the wave / 16)·r + l div 16.
 *
 * The products are added to C in ascending k, each by one fused multiply-add in float32. The guide does not give the
 * chip's own order and rounding of the sum, so results agree with a chip's within rounding only. */
#include <string.h>

#include "ops.h"
#include "wmma.h"

enum { SIZE = 16 };

static void check_replicas(emu_wave *wave, const struct fmha_emu_site *site, const char *operand,
                           unsigned short values[FMHA_EMU_WAVE_MAX][SIZE]) {
    unsigned lanes = wave->worker->launch->wave;
    for (unsigned lane = SIZE; lane < lanes; lane++) {
        for (unsigned k = 0; k < SIZE; k++) {
            unsigned original = lane % SIZE;
            if (values[lane][k] == values[original][k]) {
                continue;
            }
            const unsigned *at = wave->worker->group_at;
            emu_report(
                wave->worker, "operand-replicas-differ", site,
                "element %u of %s in lane %u of %s is 0x%04x but 0x%04x in lane %u (workgroup (%u,%u,%u), wave %u): "
                "gfx11 needs the operand of lanes 0-15 repeated in every further group of 16 lanes; load it by lane "
                "mod 16",
                k, operand, lane, site->name, values[lane][k], values[original][k], original, at[0], at[1], at[2],
                wave->number);
            return;
        }
    }
}

static bool repeats(unsigned short values[FMHA_EMU_WAVE_MAX][SIZE], unsigned lanes) {
    for (unsigned lane = SIZE; lane < lanes; lane += SIZE) {
        if (memcmp(values[0], values[lane], sizeof values[0] * SIZE) != 0) {
            return false;
        }
    }
    return true;
}

static void check_operands(emu_wave *wave, const struct fmha_emu_site *site) {
    unsigned lanes = wave->worker->launch->wave;
    if (!repeats(wave->block->a, lanes)) {
        check_replicas(wave, site, "A", wave->block->a);
    }
    if (!repeats(wave->block->b, lanes)) {
        check_replicas(wave, site, "B", wave->block->b);
    }
}

void emu_wmma_gfx11_f16(emu_wave *wave, const struct fmha_emu_site *site) {
    check_operands(wave, site);
    emu_wmma_f16(wave->block, wave->worker->launch->wave);
}

void emu_wmma_gfx11_bf16(emu_wave *wave, const struct fmha_emu_site *site) {
    check_operands(wave, site);
    emu_wmma_bf16(wave->block, wave->worker->launch->wave);
}

/* Matrix instructions of RDNA4: V_WMMA_F32_16X16X16_F16 and _BF16; and the load that transposes for them.
 *
 * Lane l holds, of row l mod 16 of A and of column l mod 16 of B, the elements k = L (l div 16) to that + L - 1, where
 * L is 8 in wave32 and 4 in wave64, k ascending from the low half of the first register. Of C and D it holds column l
 * mod 16, L rows from 8 (l div 16) on in wave32; in wave64 from 0, 8, 4 and 12 on for the lane groups 0 to 3. (AMD's
 * matrix instruction calculator, RDNA4.)
 *
 * The products are added to C in ascending k, each by one fused multiply-add in float32, as of RDNA3. */
#include "count.h"
#include "ops.h"
#include "wmma.h"

enum { SIZE = 16 };

static unsigned first_row(unsigned group, unsigned wave) {
    return wave == 32 ? 8 * group : 8 * (group & 1) + 4 * (group >> 1);
}

static unsigned place_of(unsigned group, unsigned i) {
    return i / 4 * 8 + group * 4 + i % 4;
}

static void multiply(emu_wave *wave, bool bf16) {
    uint16_t a[SIZE][SIZE], b[SIZE][SIZE]; /* [k][row], [column][k] */
    float d[SIZE][SIZE];                   /* [column][row] */
    unsigned lanes = wave->worker->launch->wave, length = 256 / lanes;
    if (wave->worker->count != NULL) {
        wave->worker->count->total[EMU_COUNT_MATRIX]++;
    }
    for (unsigned lane = 0; lane < lanes; lane++) {
        const struct fmha_emu_lane *seen = &wave->lanes[lane].seen;
        const uint16_t *own_a = (const uint16_t *)seen->a, *own_b = (const uint16_t *)seen->b;
        const float *own_c = (const float *)seen->c;
        unsigned group = lane / SIZE, at = lane % SIZE, row = first_row(group, lanes);
        for (unsigned i = 0; i < length; i++) {
            a[place_of(group, i)][at] = own_a[i];
            b[at][place_of(group, i)] = own_b[i];
            d[at][row + i] = own_c[i];
        }
    }
    emu_wmma_arrays((const uint16_t(*)[SIZE])a, (const uint16_t(*)[SIZE])b, d, SIZE, bf16);
    for (unsigned lane = 0; lane < lanes; lane++) {
        float *own_c = (float *)wave->lanes[lane].seen.c;
        unsigned row = first_row(lane / SIZE, lanes);
        for (unsigned i = 0; i < length; i++) {
            own_c[i] = d[lane % SIZE][row + i];
        }
    }
}

void emu_wmma_gfx12_f16(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    multiply(wave, false);
}

void emu_wmma_gfx12_bf16(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    multiply(wave, true);
}

/* GLOBAL_LOAD_TR_B128: each lane has brought the 16 bytes at its address. The guide names the instruction ("RDNA4
 * Instruction Set Architecture", Matrix Load with Transpose) and does not say which lane gets what; public kernels for
 * gfx1201 transpose each block of 8 x 8 values of 16 bits, which lies in eight lanes of four registers. */
void emu_global_load_tr_b128(emu_wave *wave, const struct fmha_emu_site *site) {
    enum { SIDE = 8 };
    (void)site;
    for (unsigned first = 0; first < wave->worker->launch->wave; first += SIDE) {
        for (unsigned row = 0; row < SIDE; row++) {
            for (unsigned column = 0; column < row; column++) {
                unsigned short *one = &wave->lanes[first + row].seen.a[column];
                unsigned short *other = &wave->lanes[first + column].seen.a[row], kept = *one;
                *one = *other;
                *other = kept;
            }
        }
    }
}

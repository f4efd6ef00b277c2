/* Matrix instructions of 8-bit numbers: RDNA4's V_WMMA_F32_16X16X16_{FP8,BF8}_{FP8,BF8}, CDNA3's and CDNA4's
 * V_MFMA_F32_16X16X32_… and _32X32X16_….
 *
 * Lane l holds, of row l mod M of A and of column l mod M of B, neighbours along k, ascending from the lowest byte: of
 * CDNA's eight from 8 (l div M) on; of RDNA4's eight from 8 (l div 16) on in waves of 32 and four from 0, 8, 4 and 12
 * on in waves of 64, for the lane groups 0 to 3. C and D are as of the 16-bit instructions (ops_cdna.c, ops_rdna4.c).
 * (AMD's matrix instruction calculator, CDNA3 and RDNA4.)
 *
 * The guides give no order of the additions; here the products, which are exact in float32, are added to C in ascending
 * k, each by one fused multiply-add in float32. Nothing is said of subnormals of 8 bits: they count. Float16 has every
 * number of all four formats, and so their products are computed as float16's. */
#include "ops.h"

#include <string.h>

#include "count.h"
#include "wmma.h"

enum { SIZE = 16, SIDE_MAX = 32 };

/* The same number, a NaN as a NaN. */
static uint16_t half_of(unsigned code, unsigned format) {
    static const uint16_t least[8] = {0x0000, 0x1800, 0x1c00, 0x1e00, 0x2000, 0x2100, 0x2200, 0x2300}; /* n 2^-9 */
    unsigned magnitude = code & 0x7fu, sign = code << 8 & 0x8000u;
    bool fnuz = format == FMHA_EMU_E4M3FNUZ || format == FMHA_EMU_E5M2FNUZ;
    if (fnuz && code == 0x80u) {
        return 0x7e00;
    }
    if (format == FMHA_EMU_E5M2) { /* the upper byte of a float16 */
        return (uint16_t)(code << 8);
    }
    if (format == FMHA_EMU_E5M2FNUZ) { /* half as much: below 2^-14 a subnormal, in units of 2^-24 */
        return (uint16_t)(sign | (magnitude < 8 ? magnitude << 7 : (magnitude << 8) - 0x0400u));
    }
    if (format == FMHA_EMU_E4M3 && magnitude == 0x7fu) {
        return (uint16_t)(sign | 0x7e00u);
    }
    unsigned value = magnitude < 8 ? least[magnitude] : (magnitude << 7) + 0x2000u;
    return (uint16_t)(sign | (fnuz && value != 0 ? value - 0x0400u : value));
}

/* How one instruction has its matrices in its lanes. */
typedef struct layout {
    unsigned side, depth;
    unsigned length;                             /* of A and of B in a lane */
    unsigned floats;                             /* of C and D */
    unsigned (*first_k)(unsigned group);         /* of a group of `side` lanes */
    unsigned (*row)(unsigned group, unsigned i); /* of element i of C and D */
} layout;

static void multiply(emu_wave *wave, const struct fmha_emu_site *site, const layout *of) {
    uint16_t a[2][SIZE][SIZE], b[2][SIZE][SIZE]; /* a block of rows or columns: [k][row], [column][k] */
    float d[2][2][SIZE][SIZE];                   /* [block of columns][block of rows][column][row] */
    unsigned lanes = wave->worker->launch->wave;
    if (wave->worker->count != NULL) {
        wave->worker->count->total[EMU_COUNT_MATRIX]++;
    }
    for (unsigned lane = 0; lane < lanes; lane++) {
        const float *own_c = (const float *)wave->lanes[lane].seen.c;
        unsigned column = lane % of->side;
        for (unsigned i = 0; i < of->floats; i++) {
            unsigned row = of->row(lane / of->side, i);
            d[column / SIZE][row / SIZE][column % SIZE][row % SIZE] = own_c[i];
        }
    }
    for (unsigned first = 0; first < of->depth; first += SIZE) {
        for (unsigned lane = 0; lane < lanes; lane++) {
            const uint8_t *own_a = (const uint8_t *)wave->lanes[lane].seen.a;
            const uint8_t *own_b = (const uint8_t *)wave->lanes[lane].seen.b;
            unsigned at = lane % of->side;
            for (unsigned i = 0; i < of->length; i++) {
                unsigned k = of->first_k(lane / of->side) + i - first;
                if (k < SIZE) {
                    a[at / SIZE][k][at % SIZE] = half_of(own_a[i], site->immediate[0]);
                    b[at / SIZE][at % SIZE][k] = half_of(own_b[i], site->immediate[1]);
                }
            }
        }
        for (unsigned n = 0; n < of->side / SIZE; n++) {
            for (unsigned m = 0; m < of->side / SIZE; m++) {
                emu_wmma_arrays((const uint16_t(*)[SIZE])a[m], (const uint16_t(*)[SIZE])b[n], d[n][m], SIZE, false);
            }
        }
    }
    for (unsigned lane = 0; lane < lanes; lane++) {
        float *own_c = (float *)wave->lanes[lane].seen.c;
        unsigned column = lane % of->side;
        for (unsigned i = 0; i < of->floats; i++) {
            unsigned row = of->row(lane / of->side, i);
            own_c[i] = d[column / SIZE][row / SIZE][column % SIZE][row % SIZE];
        }
    }
}

/* ---- RDNA4 ---------------------------------------------------------------------------------------------------------
 */

static unsigned eights(unsigned group) {
    return 8 * group;
}

static unsigned fours(unsigned group) {
    return 8 * (group & 1) + 4 * (group >> 1);
}

static unsigned row_of_eights(unsigned group, unsigned i) {
    return eights(group) + i;
}

static unsigned row_of_fours(unsigned group, unsigned i) {
    return fours(group) + i;
}

void emu_wmma_gfx12_fp8(emu_wave *wave, const struct fmha_emu_site *site) {
    static const layout wave32 = {SIZE, SIZE, 8, 8, eights, row_of_eights};
    static const layout wave64 = {SIZE, SIZE, 4, 4, fours, row_of_fours};
    multiply(wave, site, wave->worker->launch->wave == 32 ? &wave32 : &wave64);
}

/* ---- CDNA ----------------------------------------------------------------------------------------------------------
 */

static unsigned row_of_16(unsigned group, unsigned i) {
    return 4 * group + i;
}

static unsigned row_of_32(unsigned group, unsigned i) {
    return 8 * (i / 4) + 4 * group + i % 4;
}

void emu_mfma_16x16x32_fp8(emu_wave *wave, const struct fmha_emu_site *site) {
    static const layout of = {SIZE, 32, 8, 4, eights, row_of_16};
    multiply(wave, site, &of);
}

void emu_mfma_32x32x16_fp8(emu_wave *wave, const struct fmha_emu_site *site) {
    static const layout of = {SIDE_MAX, 16, 8, 16, eights, row_of_32};
    multiply(wave, site, &of);
}

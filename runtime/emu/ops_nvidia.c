/* What NVIDIA's chips from sm_80 on have: MMA.M16N8K16, LDMATRIX and SHFL, as "Parallel Thread Execution ISA" defines
 * them (chapters on matrix fragments for mma.m16n8k16 with floating point type, on ldmatrix and on shfl.sync).
 *
 * With g = lane / 4 and t = lane mod 4 a lane holds
 *   of A, 16 x 16, element i of eight:  row g + 8 (i div 2 mod 2),  column 2 t + i mod 2 + 8 (i div 4)
 *   of B, 16 x 8, element i of four:    row 2 t + i mod 2 + 8 (i div 2),  column g
 *   of C and D, 16 x 8, i of four:      row g + 8 (i div 2),  column 2 t + i mod 2
 *
 * The order of the additions is not said there; here the products are added to C in ascending k, each by one fused
 * multiply-add in float32. */
#include <string.h>

#include "count.h"
#include "ops.h"
#include "wmma.h"

enum { LANES = 32, SIDE = 16, MATRIX = 8 };

static void multiply(emu_wave *wave, bool bf16) {
    uint16_t a[SIDE][SIDE], b[SIDE][SIDE] = {0}; /* [k][row], [column][k] */
    float d[SIDE][SIDE] = {0};                   /* [column][row] */
    if (wave->worker->count != NULL) {
        wave->worker->count->total[EMU_COUNT_MATRIX]++;
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        const struct fmha_emu_lane *seen = &wave->lanes[lane].seen;
        unsigned g = lane / 4, t = lane % 4;
        for (unsigned i = 0; i < 8; i++) {
            a[2 * t + i % 2 + i / 4 * 8][g + i / 2 % 2 * 8] = seen->a[i];
        }
        for (unsigned i = 0; i < 4; i++) {
            b[g][2 * t + i % 2 + i / 2 * 8] = seen->b[i];
            d[2 * t + i % 2][g + i / 2 * 8] = seen->c[i];
        }
    }
    emu_wmma_arrays((const uint16_t(*)[SIDE])a, (const uint16_t(*)[SIDE])b, d, SIDE, bf16);
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < 4; i++) {
            wave->lanes[lane].seen.c[i] = d[2 * (lane % 4) + i % 2][lane / 4 + i / 2 * 8];
        }
    }
}

void emu_mma_m16n8k16_f16(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    multiply(wave, false);
}

void emu_mma_m16n8k16_bf16(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    multiply(wave, true);
}

/* Lanes 8 m to 8 m + 7 have brought the rows of matrix m. Lane l gets of each matrix the elements 2 (l mod 4) and the
 * next of row l / 4; of the transposed matrix, that is rows 2 (l mod 4) and the next of column l / 4. */
static void load_matrices(emu_wave *wave, bool transposed) {
    uint16_t matrix[4][MATRIX][MATRIX];
    for (unsigned lane = 0; lane < LANES; lane++) {
        memcpy(matrix[lane / MATRIX][lane % MATRIX], wave->lanes[lane].seen.a, sizeof matrix[0][0]);
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned across = lane / 4, along = 2 * (lane % 4);
        for (unsigned i = 0; i < 8; i++) {
            wave->lanes[lane].seen.a[i] =
                transposed ? matrix[i / 2][along + i % 2][across] : matrix[i / 2][across][along + i % 2];
        }
    }
}

void emu_ldmatrix(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    load_matrices(wave, false);
}

void emu_ldmatrix_trans(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    load_matrices(wave, true);
}

static void shuffle(emu_wave *wave, bool exclusive) {
    unsigned sent[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        sent[lane] = wave->lanes[lane].seen.word[FMHA_EMU_SOURCE];
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned *word = wave->lanes[lane].seen.word, from = word[FMHA_EMU_SELECT_LOW] % LANES;
        word[FMHA_EMU_RESULT] = sent[exclusive ? lane ^ from : from];
    }
}

void emu_shfl_idx(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    shuffle(wave, false);
}

void emu_shfl_bfly(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    shuffle(wave, true);
}

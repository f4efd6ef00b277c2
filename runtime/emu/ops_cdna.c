/* What CDNA adds: V_MFMA_F32_16X16X… and _32X32X…, and CDNA4's V_PERMLANE16_SWAP_B32, V_PERMLANE32_SWAP_B32 and
 * DS_READ_B64_TR_B16.
 *
 * Of an instruction whose result has M rows and columns, lane l holds, of row l mod M of A and of column l mod M of B,
 * the elements k = L (l div M) to that + L - 1, k ascending from the low half of the first register. Of C and D it
 * holds column l mod M; register i is row (256 / M) (i div 4) + 4 (l div M) + i mod 4. (AMD's matrix instruction
 * calculator, CDNA2 and CDNA3; the CDNA and CDNA4 guides for the forms that it does not have.)
 *
 * The guides give no order of the additions; here the products are added to C in ascending k, each by one fused
 * multiply-add in float32. On gfx90a 16-bit operands, C and D that are subnormal count as zero (ROCm documentation,
 * "MI200 matrix fused multiply-add (MFMA) behavior specifics"). */
#include <string.h>

#include "chips.h"
#include "count.h"
#include "ops.h"
#include "wmma.h"

enum { SIZE = 16, SIDE_MAX = 32, ROW = 16 };

static unsigned row_of(unsigned lane, unsigned i, unsigned side) {
    return side == SIZE ? 4 * (lane / SIZE) + i : 8 * (i / 4) + 4 * (lane / SIDE_MAX) + i % 4;
}

static uint16_t flush_half(uint16_t bits, bool bf16) {
    return (bits & (bf16 ? 0x7f80u : 0x7c00u)) == 0 ? bits & 0x8000u : bits;
}

static float flush_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* `length`: of A and of B in a lane. */
static void multiply(emu_wave *wave, unsigned side, unsigned length, bool bf16) {
    uint16_t a[2][SIZE][SIZE], b[2][SIZE][SIZE]; /* a block of rows or columns: [k][row], [column][k] */
    float d[2][2][SIZE][SIZE];                   /* [block of columns][block of rows][column][row] */
    unsigned blocks = side / SIZE, depth = 64 / side * length, floats = side * side / 64;
    bool flushes = wave->worker->launch->chip->matrix_flushes;
    if (wave->worker->count != NULL) {
        wave->worker->count->total[EMU_COUNT_MATRIX]++;
    }
    for (unsigned lane = 0; lane < 64; lane++) {
        const float *own_c = (const float *)wave->lanes[lane].seen.c;
        unsigned column = lane % side;
        for (unsigned i = 0; i < floats; i++) {
            unsigned row = row_of(lane, i, side);
            d[column / SIZE][row / SIZE][column % SIZE][row % SIZE] = flushes ? flush_float(own_c[i]) : own_c[i];
        }
    }
    for (unsigned first = 0; first < depth; first += SIZE) {
        unsigned count = depth - first < SIZE ? depth - first : SIZE;
        for (unsigned lane = 0; lane < 64; lane++) {
            const struct fmha_emu_lane *seen = &wave->lanes[lane].seen;
            unsigned at = lane % side;
            for (unsigned i = 0; i < length; i++) {
                unsigned k = lane / side * length + i - first;
                if (k < count) {
                    a[at / SIZE][k][at % SIZE] = flushes ? flush_half(seen->a[i], bf16) : seen->a[i];
                    b[at / SIZE][at % SIZE][k] = flushes ? flush_half(seen->b[i], bf16) : seen->b[i];
                }
            }
        }
        for (unsigned n = 0; n < blocks; n++) {
            for (unsigned m = 0; m < blocks; m++) {
                emu_wmma_arrays((const uint16_t(*)[SIZE])a[m], (const uint16_t(*)[SIZE])b[n], d[n][m], count, bf16);
            }
        }
    }
    for (unsigned lane = 0; lane < 64; lane++) {
        float *own_c = (float *)wave->lanes[lane].seen.c;
        unsigned column = lane % side;
        for (unsigned i = 0; i < floats; i++) {
            unsigned row = row_of(lane, i, side);
            float value = d[column / SIZE][row / SIZE][column % SIZE][row % SIZE];
            own_c[i] = flushes ? flush_float(value) : value;
        }
    }
}

#define MFMA(name, side, length, bf16)                                                                                 \
    void emu_mfma_##name(emu_wave *wave, const struct fmha_emu_site *site) {                                           \
        (void)site;                                                                                                    \
        multiply(wave, side, length, bf16);                                                                            \
    }
MFMA(16x16x8_bf16, 16, 2, true)
MFMA(16x16x16_f16, 16, 4, false)
MFMA(16x16x16_bf16, 16, 4, true)
MFMA(16x16x32_f16, 16, 8, false)
MFMA(16x16x32_bf16, 16, 8, true)
MFMA(32x32x4_bf16, 32, 2, true)
MFMA(32x32x8_f16, 32, 4, false)
MFMA(32x32x8_bf16, 32, 4, true)
MFMA(32x32x16_f16, 32, 8, false)
MFMA(32x32x16_bf16, 32, 8, true)
#undef MFMA

/* Odd rows of `rows` lanes of the first operand and even ones of the second change places. A lane that is off is
 * neither read nor written: where its partner is on, that keeps what it has, or with bound control becomes zero; with
 * fetch_inactive it is read all the same. */
static void swap_rows(emu_wave *wave, const struct fmha_emu_site *site, unsigned rows) {
    bool fetch_inactive = site->immediate[0] != 0, bound_control = site->immediate[1] != 0;
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned *own = wave->lanes[lane].seen.word, partner = lane ^ rows;
        const unsigned *other = wave->lanes[partner].seen.word;
        bool valid = (wave->present >> partner & 1u) != 0 || fetch_inactive, odd = (lane & rows) != 0;
        unsigned kept = odd ? own[FMHA_EMU_OLD] : own[FMHA_EMU_SOURCE];
        unsigned taken = odd ? other[FMHA_EMU_SOURCE] : other[FMHA_EMU_OLD];
        unsigned changed = valid ? taken : bound_control ? 0 : kept;
        own[FMHA_EMU_RESULT] = odd ? changed : own[FMHA_EMU_OLD];
        own[FMHA_EMU_RESULT_HIGH] = odd ? own[FMHA_EMU_SOURCE] : changed;
    }
}

void emu_permlane16_swap(emu_wave *wave, const struct fmha_emu_site *site) {
    swap_rows(wave, site, ROW);
}

void emu_permlane32_swap(emu_wave *wave, const struct fmha_emu_site *site) {
    swap_rows(wave, site, 2 * ROW);
}

/* Each lane has brought the 8 bytes at its address. In each sixteen lanes these are a matrix of 4 rows and 16 columns:
 * lane s has brought, of row s div 4, the columns 4 (s mod 4) to that + 3; lane n gets column n, rows ascending.
 * ("CDNA4 Instruction Set Architecture", 11.4, says what the instruction is for; public kernels for gfx950 rely on this
 * order.)
 */
void emu_ds_read_b64_tr_b16(emu_wave *wave, const struct fmha_emu_site *site) {
    enum { ROWS = 4 };
    (void)site;
    for (unsigned first = 0; first < 64; first += SIZE) {
        uint16_t matrix[ROWS][SIZE];
        for (unsigned lane = 0; lane < SIZE; lane++) {
            memcpy(&matrix[lane / ROWS][lane % ROWS * ROWS], wave->lanes[first + lane].seen.a, ROWS * sizeof(uint16_t));
        }
        for (unsigned lane = 0; lane < SIZE; lane++) {
            for (unsigned row = 0; row < ROWS; row++) {
                wave->lanes[first + lane].seen.a[row] = matrix[row][lane];
            }
        }
    }
}

/* V_MFMA_SCALE_F32_16X16X128_F8F6F4 and _32X32X64_F8F6F4 of CDNA4.
 *
 * Of M rows and columns, lane l holds of row l mod M of A and of column l mod M of B the elements k = 32 (l div M) to
 * that + 31, k ascending from the lowest bits of the first register: 32 bytes, or 32 nibbles in the first four
 * registers of eight. One byte of its scale, an E8M0, is for those 32 elements. C and D are as of the other matrix
 * instructions of that size (ops_cdna.c). ("CDNA4 Instruction Set Architecture", chapter 7; of fp4 public kernels for
 * gfx950 agree. Of fp8 they differ on which of the k a lane has, and all have one scale for everything, so that the
 * order does not matter.)
 *
 * Products, scales and all, are exact in float64. They are added to C in ascending k, each sum rounded to float32: no
 * document gives an order. */
#include <string.h>

#include "count.h"
#include "ops.h"

enum { LANES = 64, OWN = 32, SIDE_MAX = 32, DEPTH_MAX = 128 };
enum { FP8 = 0, BF8 = 1, FP4 = 4 };

static double power_of_two(int exponent) { /* -1022 to 1023 */
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* An element of `bits` bits, of which the lowest `fraction` are below the exponent. */
static double finite(unsigned code, unsigned bits, unsigned fraction, int bias) {
    unsigned exponent = code % (1u << (bits - 1)) >> fraction, low = code % (1u << fraction);
    double significand = (double)(exponent == 0 ? low : low + (1u << fraction));
    double value = significand * power_of_two((exponent == 0 ? 1 : (int)exponent) - bias - (int)fraction);
    return code >> (bits - 1) != 0 ? -value : value;
}

static double element(unsigned format, unsigned code) {
    const double infinity = (double)__builtin_inff(), nan = (double)__builtin_nanf("");
    if (format == FP4) {
        return finite(code, 4, 1, 1);
    }
    if (format == FP8) {
        return (code & 0x7fu) == 0x7fu ? nan : finite(code, 8, 3, 7);
    }
    return (code & 0x7fu) < 0x7cu ? finite(code, 8, 2, 15)
           : (code & 3u) != 0     ? nan
           : code < 0x80u         ? infinity
                                  : -infinity;
}

/* All codes of a format are looked up: most elements are met often. */
static void decode(emu_wave *wave, unsigned side, unsigned format, unsigned byte, bool is_a,
                   double to[DEPTH_MAX][SIDE_MAX]) {
    double values[256];
    for (unsigned code = 0; code < (format == FP4 ? 16u : 256u); code++) {
        values[code] = element(format, code);
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        const struct fmha_emu_lane *seen = &wave->lanes[lane].seen;
        unsigned scale = seen->word[is_a ? FMHA_EMU_SOURCE : FMHA_EMU_OLD] >> 8 * byte & 0xffu;
        double factor = scale == 255 ? (double)__builtin_nanf("") : power_of_two((int)scale - 127);
        unsigned char codes[OWN];
        memcpy(codes, is_a ? seen->a : seen->b, sizeof codes);
        for (unsigned i = 0; i < OWN; i++) {
            unsigned code = format != FP4 ? codes[i] : i % 2 == 0 ? codes[i / 2] & 15u : codes[i / 2] >> 4;
            to[lane / side * OWN + i][lane % side] = values[code] * factor;
        }
    }
}

static unsigned row_of(unsigned lane, unsigned i, unsigned side) {
    return side == SIDE_MAX ? 8 * (i / 4) + 4 * (lane / side) + i % 4 : 4 * (lane / side) + i;
}

static void multiply(emu_wave *wave, const struct fmha_emu_site *site, unsigned side) {
    double a[DEPTH_MAX][SIDE_MAX], b[DEPTH_MAX][SIDE_MAX];
    float d[SIDE_MAX][SIDE_MAX]; /* [column][row] */
    unsigned depth = LANES / side * OWN, floats = side * side / LANES;
    if (wave->worker->count != NULL) {
        wave->worker->count->total[EMU_COUNT_MATRIX]++;
    }
    decode(wave, side, site->immediate[0], site->immediate[2], true, a);
    decode(wave, side, site->immediate[1], site->immediate[3], false, b);
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < floats; i++) {
            d[lane % side][row_of(lane, i, side)] = wave->lanes[lane].seen.c[i];
        }
    }
    for (unsigned column = 0; column < side; column++) {
        for (unsigned k = 0; k < depth; k++) {
            const double factor = b[k][column];
            for (unsigned row = 0; row < side; row++) {
                d[column][row] = (float)((double)d[column][row] + a[k][row] * factor);
            }
        }
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned i = 0; i < floats; i++) {
            wave->lanes[lane].seen.c[i] = d[lane % side][row_of(lane, i, side)];
        }
    }
}

void emu_mfma_scale_16x16x128(emu_wave *wave, const struct fmha_emu_site *site) {
    multiply(wave, site, 16);
}

void emu_mfma_scale_32x32x64(emu_wave *wave, const struct fmha_emu_site *site) {
    multiply(wave, site, 32);
}

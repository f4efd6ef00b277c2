#include "wmma.h"

#include <stdint.h>
#include <string.h>

enum { SIZE = 16 };

/* One version of each function for every kind of vector unit; the loader takes the best that the processor has. All
 * give the same bits. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define VERSIONS __attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define VERSIONS
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef float tile[SIZE][SIZE];

ALWAYS_INLINE float bits_as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

ALWAYS_INLINE uint32_t float_as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exact for every half; multiplying moves the exponent and makes subnormals normal. */
ALWAYS_INLINE float half_value(uint32_t half) {
    uint32_t magnitude = (half & 0x7fffu) << 13;
    uint32_t bits = float_as_bits(bits_as_float(magnitude) * 0x1p112f);
    uint32_t special = (half & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0;
    return bits_as_float(bits | special | (half & 0x8000u) << 16);
}

ALWAYS_INLINE float bfloat_value(uint32_t bfloat) {
    return bits_as_float(bfloat << 16);
}

/* Rows of A in the order in which a lane's column of C lies: the rows of its own group's registers, then the next
 * group's. */
ALWAYS_INLINE unsigned row_of(unsigned position, unsigned groups) {
    return position % (SIZE / groups) * groups + position / (SIZE / groups);
}

ALWAYS_INLINE void gather_rows(unsigned short values[][SIZE], uint16_t rows[SIZE][SIZE], unsigned groups) {
    for (unsigned k = 0; k < SIZE; k++) {
        for (unsigned i = 0; i < SIZE; i++) {
            rows[k][i] = values[row_of(i, groups)][k];
        }
    }
}

/* Column n of D: sum over k of A's column k times the number B[k][n]. */
ALWAYS_INLINE void multiply(struct fmha_emu_block *block, tile a, tile b, unsigned groups) {
    const unsigned floats = SIZE / groups;
    for (unsigned n = 0; n < SIZE; n++) {
        float sum[SIZE];
        for (unsigned g = 0; g < groups; g++) {
            memcpy(sum + g * floats, block->c[g * SIZE + n], floats * sizeof(float));
        }
        for (unsigned k = 0; k < SIZE; k++) {
            for (unsigned i = 0; i < SIZE; i++) {
                sum[i] = __builtin_fmaf(a[k][i], b[n][k], sum[i]);
            }
        }
        for (unsigned g = 0; g < groups; g++) {
            memcpy(block->c[g * SIZE + n], sum + g * floats, floats * sizeof(float));
        }
    }
}

ALWAYS_INLINE void product_f16(struct fmha_emu_block *block, unsigned groups) {
    uint16_t rows[SIZE][SIZE];
    tile a, b;
    gather_rows(block->a, rows, groups);
    for (unsigned k = 0; k < SIZE; k++) {
        for (unsigned i = 0; i < SIZE; i++) {
            a[k][i] = half_value(rows[k][i]);
        }
    }
    for (unsigned n = 0; n < SIZE; n++) {
        for (unsigned k = 0; k < SIZE; k++) {
            b[n][k] = half_value(block->b[n][k]);
        }
    }
    multiply(block, a, b, groups);
}

ALWAYS_INLINE void product_bf16(struct fmha_emu_block *block, unsigned groups) {
    uint16_t rows[SIZE][SIZE];
    tile a, b;
    gather_rows(block->a, rows, groups);
    for (unsigned k = 0; k < SIZE; k++) {
        for (unsigned i = 0; i < SIZE; i++) {
            a[k][i] = bfloat_value(rows[k][i]);
        }
    }
    for (unsigned n = 0; n < SIZE; n++) {
        for (unsigned k = 0; k < SIZE; k++) {
            b[n][k] = bfloat_value(block->b[n][k]);
        }
    }
    multiply(block, a, b, groups);
}

VERSIONS void emu_wmma_f16(struct fmha_emu_block *block, unsigned lanes) {
    if (lanes == 32) {
        product_f16(block, 2);
    } else {
        product_f16(block, 4);
    }
}

VERSIONS void emu_wmma_bf16(struct fmha_emu_block *block, unsigned lanes) {
    if (lanes == 32) {
        product_bf16(block, 2);
    } else {
        product_bf16(block, 4);
    }
}

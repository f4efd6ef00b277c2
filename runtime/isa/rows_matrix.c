/* Matrix instructions of RDNA3: D = A B + C of 16 x 16 x 16. */
#include <string.h>

#include "half.h"
#include "lanewise.h"
#include "operand.h"
#include "sources.h"

enum { SIZE = 16, A_REGISTERS = 8 };

/* Element (row, k) of A: lane row of every group of 16 lanes, register k / 2, the low half for even k; B alike, with
 * columns for rows. All groups of 16 lanes hold the same. */
static bool read_operand(isa_wave *wave, const isa_operand *operand, bool bfloat, float to[SIZE][SIZE]) {
    uint32_t room[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    bool same = true;
    for (unsigned reg = 0; reg < A_REGISTERS; reg++) {
        const uint32_t *values = isa_read_lanes(wave, operand, reg, exec, room);
        for (unsigned row = 0; row < SIZE; row++) {
            to[row][2 * reg] =
                bfloat ? isa_bfloat_to_float(values[row] & 0xffffu) : isa_half_to_float(values[row] & 0xffffu);
            to[row][2 * reg + 1] =
                bfloat ? isa_bfloat_to_float(values[row] >> 16) : isa_half_to_float(values[row] >> 16);
        }
        for (unsigned lane = SIZE; lane < wave->lanes; lane++) {
            same = same && values[lane] == values[lane % SIZE];
        }
    }
    return same;
}

/* Element (row, column) of C and D: register row / groups, lane group row % groups, where a wave has 2 or 4 groups. */
static void multiply(isa_wave *wave, const isa_instruction *i, bool bfloat) {
    float a[SIZE][SIZE], b[SIZE][SIZE], d[SIZE][SIZE], b_turned[SIZE][SIZE];
    uint32_t room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave), all = wave->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    unsigned groups = wave->lanes / SIZE, registers = SIZE / groups;
    if (exec != all) {
        isa_report(wave, __builtin_ctzll(~exec), "matrix-lanes-off",
                   "a matrix instruction needs every lane, EXEC is 0x%llx", (unsigned long long)exec);
    }
    if (i->neg_lo != 0 || i->neg_hi != 0 || i->clamp) {
        isa_give_up(wave, "unsupported-modifier", "modifiers of matrix instructions are not known");
        return;
    }
    if (!read_operand(wave, &i->operands[1], bfloat, a)) {
        isa_report(wave, -1, "matrix-not-replicated", "the groups of 16 lanes hold different values of A");
    }
    if (!read_operand(wave, &i->operands[2], bfloat, b)) {
        isa_report(wave, -1, "matrix-not-replicated", "the groups of 16 lanes hold different values of B");
    }
    for (unsigned reg = 0; reg < registers; reg++) {
        const uint32_t *c = isa_read_lanes(wave, &i->operands[3], reg, exec, room);
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            d[reg * groups + lane / SIZE][lane % SIZE] = isa_f32(c[lane]);
        }
    }
    for (unsigned k = 0; k < SIZE; k++) {
        for (unsigned column = 0; column < SIZE; column++) {
            b_turned[k][column] = b[column][k];
        }
    }
    /* The guide gives no order of the additions; products of 16-bit floats are exact in float32, and each addition here
     * is rounded once. */
    for (unsigned row = 0; row < SIZE; row++) {
        for (unsigned k = 0; k < SIZE; k++) {
            for (unsigned column = 0; column < SIZE; column++) {
                d[row][column] += a[row][k] * b_turned[k][column];
            }
        }
    }
    for (unsigned reg = 0; reg < registers; reg++) {
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            values[lane] = isa_bits(d[reg * groups + lane / SIZE][lane % SIZE]);
        }
        isa_write_lanes(wave, &i->operands[0], reg, exec, values);
    }
}

static void v_wmma_f32_16x16x16_f16(isa_wave *wave, const isa_instruction *i) {
    multiply(wave, i, false);
}

static void v_wmma_f32_16x16x16_bf16(isa_wave *wave, const isa_instruction *i) {
    multiply(wave, i, true);
}

static const isa_row rows[] = {
    {"v_wmma_f32_16x16x16_f16", "Dx Sx Sx Sx", ISA_CLASS_MATRIX, NULL, v_wmma_f32_16x16x16_f16, ISA_GFX11, ISA_VOP3P},
    {"v_wmma_f32_16x16x16_bf16", "Dx Sx Sx Sx", ISA_CLASS_MATRIX, NULL, v_wmma_f32_16x16x16_bf16, ISA_GFX11, ISA_VOP3P},
};

const isa_table isa_table_matrix = {rows, sizeof rows / sizeof rows[0]};

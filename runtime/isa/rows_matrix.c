/* Matrix instructions of RDNA3: D = A B + C of 16 x 16 x 16. */
#include "lanewise.h"
#include "matrix.h"
#include "operand.h"
#include "sources.h"

enum { SIZE = ISA_MATRIX, A_REGISTERS = 8 };

bool isa_matrix_begins(isa_wave *wave, const isa_instruction *i) {
    uint64_t exec = isa_exec(wave), all = wave->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    if (exec != all) {
        isa_report(wave, __builtin_ctzll(~exec), "matrix-lanes-off",
                   "a matrix instruction needs every lane, EXEC is 0x%llx", (unsigned long long)exec);
    }
    if (i->too_soon) {
        isa_report(wave, -1, "matrix-hazard",
                   "reads A or B that the matrix instruction just before it writes: v_nop or an independent vector "
                   "instruction must stand between");
    }
    if (i->neg_lo != 0 || i->neg_hi != 0 || i->clamp) {
        isa_give_up(wave, "unsupported-modifier", "modifiers of matrix instructions are not known");
        return false;
    }
    return true;
}

void isa_matrix_multiply(float d[SIZE][SIZE], float a[SIZE][SIZE], float b[SIZE][SIZE]) {
    float turned[SIZE][SIZE];
    for (unsigned k = 0; k < SIZE; k++) {
        for (unsigned column = 0; column < SIZE; column++) {
            turned[k][column] = b[column][k];
        }
    }
    for (unsigned row = 0; row < SIZE; row++) {
        for (unsigned k = 0; k < SIZE; k++) {
            for (unsigned column = 0; column < SIZE; column++) {
                d[row][column] += a[row][k] * turned[k][column];
            }
        }
    }
}

/* Element (row, k) of A: lane row of every group of 16 lanes, register k / 2, the low half for even k; B alike, with
 * columns for rows. All groups of 16 lanes hold the same. */
static bool read_operand(isa_wave *wave, const isa_operand *operand, bool bfloat, float to[SIZE][SIZE]) {
    uint32_t room[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    bool same = true;
    for (unsigned reg = 0; reg < A_REGISTERS; reg++) {
        const uint32_t *values = isa_read_lanes(wave, operand, reg, exec, room);
        for (unsigned row = 0; row < SIZE; row++) {
            to[row][2 * reg] = isa_matrix_element(values[row], bfloat);
            to[row][2 * reg + 1] = isa_matrix_element(values[row] >> 16, bfloat);
        }
        for (unsigned lane = SIZE; lane < wave->lanes; lane++) {
            same = same && values[lane] == values[lane % SIZE];
        }
    }
    return same;
}

/* Element (row, column) of C and D: register row / groups, lane group row % groups, where a wave has 2 or 4 groups. */
static void multiply(isa_wave *wave, const isa_instruction *i, bool bfloat) {
    float a[SIZE][SIZE], b[SIZE][SIZE], d[SIZE][SIZE];
    uint32_t room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    unsigned groups = wave->lanes / SIZE, registers = SIZE / groups;
    if (!isa_matrix_begins(wave, i)) {
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
    isa_matrix_multiply(d, a, b);
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

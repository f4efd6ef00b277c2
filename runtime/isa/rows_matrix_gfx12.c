/* Matrix instructions of RDNA4, D = A B + C of 16 x 16 x 16, and the load that makes operands of them. No element is
 * held twice: each group of 16 lanes has a part of the contraction index. */
#include <string.h>

#include "access.h"
#include "fp8.h"
#include "lanewise.h"
#include "matrix.h"
#include "memory.h"
#include "sources.h"

enum { SIZE = ISA_MATRIX, RUN = 4 };

/* The first row of C and D that a group of lanes holds, one in each register; columns are lanes modulo 16. In waves of
 * 64 the third and fourth group have the second halves of the first and second's eight rows. */
static unsigned first_row(const isa_wave *wave, unsigned lane) {
    static const unsigned rows_64[] = {0, 8, 4, 12};
    return wave->lanes == 64 ? rows_64[lane / SIZE] : lane / SIZE * 8;
}

/* Rows of A are lanes modulo 16, columns of B alike (AMD's matrix instruction calculator, architecture rdna4). Of 16
 * bits k comes in runs of four, one run of each group of lanes in turn; a run is two registers. Of 8 bits a group has
 * the places that it has as rows of D. */
static void read_operand_8(isa_wave *wave, const isa_operand *operand, isa_small format, float to[SIZE][SIZE]) {
    uint32_t room[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    for (unsigned at = 0; at < SIZE * SIZE / wave->lanes; at++) {
        const uint32_t *values = isa_read_lanes(wave, operand, at / 4, exec, room);
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            to[lane % SIZE][first_row(wave, lane) + at] =
                isa_small_to_float(values[lane] >> at % 4 * 8 & 0xffu, format);
        }
    }
}

static void read_operand_16(isa_wave *wave, const isa_operand *operand, bool bfloat, float to[SIZE][SIZE]) {
    uint32_t room[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    unsigned groups = wave->lanes / SIZE, registers = SIZE / 2 / groups;
    for (unsigned reg = 0; reg < registers; reg++) {
        const uint32_t *values = isa_read_lanes(wave, operand, reg, exec, room);
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            unsigned k = (reg / 2 * groups + lane / SIZE) * RUN + reg % 2 * 2;
            to[lane % SIZE][k] = isa_matrix_element(values[lane], bfloat);
            to[lane % SIZE][k + 1] = isa_matrix_element(values[lane] >> 16, bfloat);
        }
    }
}

typedef enum element { F16, BF16, FP8, BF8 } element;

static void read_operand(isa_wave *wave, const isa_operand *operand, element type, float to[SIZE][SIZE]) {
    if (type == FP8 || type == BF8) {
        read_operand_8(wave, operand, type == FP8 ? ISA_E4M3 : ISA_E5M2, to);
    } else {
        read_operand_16(wave, operand, type == BF16, to);
    }
}

static void multiply(isa_wave *wave, const isa_instruction *i, element a_type, element b_type) {
    float a[SIZE][SIZE], b[SIZE][SIZE], d[SIZE][SIZE];
    uint32_t room[ISA_LANES_MAX], values[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave);
    unsigned registers = SIZE * SIZE / wave->lanes;
    if (!isa_matrix_begins(wave, i)) {
        return;
    }
    read_operand(wave, &i->operands[1], a_type, a);
    read_operand(wave, &i->operands[2], b_type, b);
    for (unsigned reg = 0; reg < registers; reg++) {
        const uint32_t *c = isa_read_lanes(wave, &i->operands[3], reg, exec, room);
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            d[first_row(wave, lane) + reg][lane % SIZE] = isa_f32(c[lane]);
        }
    }
    isa_matrix_multiply(d, a, b);
    for (unsigned reg = 0; reg < registers; reg++) {
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            values[lane] = isa_bits(d[first_row(wave, lane) + reg][lane % SIZE]);
        }
        isa_write_lanes(wave, &i->operands[0], reg, exec, values);
    }
}

#define WMMA(name, a, b)                                                                                               \
    static void wmma_##name(isa_wave *wave, const isa_instruction *i) {                                                \
        multiply(wave, i, a, b);                                                                                       \
    }
WMMA(f16, F16, F16)
WMMA(bf16, BF16, BF16)
WMMA(fp8_fp8, FP8, FP8)
WMMA(fp8_bf8, FP8, BF8)
WMMA(bf8_fp8, BF8, FP8)
WMMA(bf8_bf8, BF8, BF8)

/* Each lane reads eight 16-bit values; the guide says that rows become columns, not which lane gets what. Here as
 * public kernels for gfx1201 address it: the eight rows of eight lanes are turned, value n of a lane comes from lane n
 * of its eight. In waves of 64 a lane has half as much, and nothing was found that says which. */
static void global_load_tr_b128(isa_wave *wave, const isa_instruction *i) {
    enum { TURNED = 8, REGISTERS = 4 };
    uint16_t read[ISA_LANES_MAX][TURNED];
    uint64_t addresses[ISA_LANES_MAX], exec = isa_exec(wave);
    const isa_operand *data = &i->operands[0];
    if (wave->lanes != 32) {
        isa_give_up(wave, "unsupported-instruction", "transposing loads are known in waves of 32 alone");
        return;
    }
    if (exec != UINT32_MAX) {
        isa_give_up(wave, "matrix-lanes-off", "a transposing load needs every lane, EXEC is 0x%llx",
                    (unsigned long long)exec);
        return;
    }
    if (!isa_has_registers(wave, data, REGISTERS)) {
        return;
    }
    isa_global_addresses(wave, i, &i->operands[1], &i->operands[2], addresses);
    isa_mark_loaded(wave, data, REGISTERS, exec, ISA_QUEUE_LOAD);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        const unsigned char *from = isa_global(wave, (int)lane, addresses[lane], sizeof read[lane], false);
        if (from == NULL) {
            return;
        }
        memcpy(read[lane], from, sizeof read[lane]);
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        for (unsigned n = 0; n < REGISTERS; n++) {
            const uint16_t(*eight)[TURNED] = (const uint16_t(*)[TURNED]) & read[lane / TURNED * TURNED];
            wave->vgpr[data->reg + n][lane] = eight[2 * n][lane % TURNED] | (uint32_t)eight[2 * n + 1][lane % TURNED]
                                                                                << 16;
        }
    }
    if (wave->counts != NULL) {
        isa_count_global(wave, exec, addresses, sizeof read[0], false);
    }
}

#define ROW_8(types)                                                                                                   \
    { "v_wmma_f32_16x16x16_" #types, "Dx Sx Sx Sx", ISA_CLASS_MATRIX, NULL, wmma_##types, ISA_GFX12, ISA_RDNA4_WMMA }

static const isa_row rows[] = {
    {"v_wmma_f32_16x16x16_f16@rdna4", "Dx Sx Sx Sx", ISA_CLASS_MATRIX, NULL, wmma_f16, ISA_GFX12, ISA_RDNA4_WMMA},
    {"v_wmma_f32_16x16x16_bf16@rdna4", "Dx Sx Sx Sx", ISA_CLASS_MATRIX, NULL, wmma_bf16, ISA_GFX12, ISA_RDNA4_WMMA},
    ROW_8(fp8_fp8),
    ROW_8(fp8_bf8),
    ROW_8(bf8_fp8),
    ROW_8(bf8_bf8),
    {"global_load_tr_b128", "Dx Sx Sx", ISA_CLASS_LOAD, NULL, global_load_tr_b128, ISA_GFX12, ISA_RDNA4_GLOBAL},
};

const isa_table isa_table_matrix_gfx12 = {rows, sizeof rows / sizeof rows[0]};

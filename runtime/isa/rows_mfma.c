/* Matrix instructions of CDNA: D = A B + C of one or of several blocks. */
#include <string.h>

#include "family.h"
#include "floats.h"
#include "fp8.h"
#include "half.h"
#include "operand.h"
#include "sources.h"

enum { LANES = 64, SIDE_MAX = 32, DEPTH_MAX = 32, REGISTERS_MAX = 32 };

typedef enum element { F16, BF16, F32, FP8, BF8 } element; /* of the last two the kind that the chip has */

/* One instruction. */
typedef struct shape {
    element a, b;    /* as wide as each other */
    unsigned size;   /* rows and columns of a block */
    unsigned depth;  /* the sum's length */
    unsigned blocks; /* products of their own */
} shape;

/* ---- Where elements are ------------------------------------------------------------------------------------ */

/* AMD's matrix instruction calculator, --register-layout, of the CDNA1 to CDNA3 instructions; CDNA4 ISA guide, chapter
 * 7, of the deeper ones. A and B alike, with columns for rows: a lane is of one row, row lane mod size. The lanes that
 * are left divide the blocks first, then the depth, of which each has neighbours. */

/* Elements of A that a lane has. */
static unsigned elements_of(const shape *of) {
    return of->size * of->depth * of->blocks / LANES;
}

static unsigned bits_of(element type) {
    return type == F32 ? 32 : type == FP8 || type == BF8 ? 8 : 16;
}

static unsigned operand_registers(const shape *of) {
    return elements_of(of) * bits_of(of->a) / 32;
}

static unsigned result_registers(const shape *of) {
    return of->size * of->size * of->blocks / LANES;
}

/* On gfx90a alone subnormals are zeros, of operands and results (ROCm's documentation, "Precision support", MI200 MFMA
 * behavior specifics). */
static bool flushes(const shape *of, const isa_family *family) {
    return of->a != F32 && family->matrix_flushes;
}

typedef struct block {
    float at[DEPTH_MAX][SIDE_MAX]; /* by k, then row of A or column of B */
} block;

/* The value of an element that begins at the lowest bit. */
static float value_of(uint32_t bits, element type, const isa_family *family) {
    switch (type) {
    case F32:
        return isa_f32(bits);
    case F16:
        return isa_half_to_float(bits & 0xffffu);
    case BF16:
        return isa_bfloat_to_float(bits & 0xffffu);
    case FP8:
        return isa_small_to_float(bits & 0xffu, family->is_fnuz ? ISA_E4M3FNUZ : ISA_E4M3);
    default:
        return isa_small_to_float(bits & 0xffu, family->is_fnuz ? ISA_E5M2FNUZ : ISA_E5M2);
    }
}

/* Block `at` of A, or of B with columns for rows, whose elements are of `type`. */
static void take_block(uint32_t registers[][LANES], const shape *of, unsigned at, element type,
                       const isa_family *family, block *to) {
    unsigned elements = elements_of(of), groups = LANES / (of->size * of->blocks), bits = bits_of(type);
    float least = !flushes(of, family) ? 0.0f : type == F16 ? 0x1p-14f : 0x1p-126f;
    for (unsigned n = 0; n < elements; n++) {
        for (unsigned lane = at * groups * of->size; lane < (at + 1) * groups * of->size; lane++) {
            float value = value_of(registers[n * bits / 32][lane] >> n * bits % 32, type, family);
            to->at[lane / of->size % groups * elements + n][lane % of->size] =
                fabsf(value) < least ? copysignf(0.0f, value) : value;
        }
    }
}

/* Row of element (register, lane) of block `at` of C and D: four rows follow each other in a lane's registers, then
 * come those of the next lanes of that column. Of 4 x 4 each block has lanes of its own. */
static unsigned row_of(const shape *of, unsigned reg, unsigned lane) {
    return of->size == 4 ? reg : reg / 4 * (LANES / of->size * 4) + lane / of->size * 4 + reg % 4;
}

/* ---- The product ------------------------------------------------------------------------------------------- */

/* The guides give no order of the additions; products of two floats of 16 or 8 bits are exact in float32, unless they
 * leave its range, and each addition is rounded once. */
static void multiply_block(const shape *of, const block *a, const block *b, float d[SIDE_MAX][SIDE_MAX]) {
    for (unsigned row = 0; row < of->size; row++) {
        for (unsigned k = 0; k < of->depth; k++) {
            const float left = a->at[k][row];
            if (of->a == F32) {
                for (unsigned column = 0; column < of->size; column++) {
                    d[row][column] = fmaf(left, b->at[k][column], d[row][column]);
                }
                continue;
            }
            for (unsigned column = 0; column < of->size; column++) {
                d[row][column] += left * b->at[k][column];
            }
        }
    }
}

/* Registers and lanes of a block of C and D. */
typedef struct place {
    unsigned reg, registers, lane, lanes;
} place;

static place place_of(const shape *of, unsigned at) {
    unsigned registers = result_registers(of) / of->blocks;
    return of->size == 4 ? (place){0, 4, at * 4, 4} : (place){at * registers, registers, 0, LANES};
}

static void add_block(const shape *of, const block *a, const block *b, uint32_t registers[][LANES], unsigned at,
                      bool flush) {
    float d[SIDE_MAX][SIDE_MAX];
    place in = place_of(of, at);
    for (unsigned reg = 0; reg < in.registers; reg++) {
        for (unsigned lane = in.lane; lane < in.lane + in.lanes; lane++) {
            float value = isa_f32(registers[in.reg + reg][lane]);
            d[row_of(of, reg, lane)][lane % of->size] = flush ? isa_flush(value) : value;
        }
    }
    multiply_block(of, a, b, d);
    for (unsigned reg = 0; reg < in.registers; reg++) {
        for (unsigned lane = in.lane; lane < in.lane + in.lanes; lane++) {
            float value = d[row_of(of, reg, lane)][lane % of->size];
            registers[in.reg + reg][lane] = isa_bits(flush ? isa_flush(value) : value);
        }
    }
}

/* The lane that gives a lane its value of B (CDNA3 ISA guide, chapter 7, BLGP): one half for both, the others a quarter
 * further on, or one quarter for all. */
static unsigned pattern_lane(unsigned pattern, unsigned lane) {
    switch (pattern) {
    case 0:
        return lane;
    case 1:
    case 2:
        return lane % 32 + (pattern == 2 ? 32 : 0);
    case 3:
        return (lane + 16) % LANES;
    default:
        return lane % 16 + (pattern - 4) * 16;
    }
}

/* All lanes, whatever EXEC says. */
static void read_registers(isa_wave *wave, const isa_operand *operand, unsigned count, unsigned pattern,
                           uint32_t to[][LANES]) {
    uint32_t room[ISA_LANES_MAX];
    for (unsigned n = 0; n < count; n++) {
        bool constant = operand->kind != ISA_OPERAND_VGPR;
        const uint32_t *from = isa_read_lanes(wave, operand, constant ? 0 : n, UINT64_MAX, room);
        for (unsigned lane = 0; lane < LANES; lane++) {
            to[n][lane] = from[pattern_lane(pattern, lane)];
        }
    }
}

/* Which lanes EXEC has does not matter to the hardware ("EXEC is ignored": CDNA3 ISA guide, chapter 7), and no compiler
 * calls for that: it is a finding. */
static void multiply(isa_wave *wave, const isa_instruction *i, const shape *of) {
    uint32_t a[DEPTH_MAX / 2][LANES], b[DEPTH_MAX / 2][LANES], d[REGISTERS_MAX][LANES];
    block a_block, b_block;
    uint64_t exec = isa_exec(wave);
    const isa_family *family = wave->group->launch->kernel->family;
    if (exec != UINT64_MAX) {
        isa_report(wave, __builtin_ctzll(~exec), "matrix-lanes-off",
                   "a matrix instruction needs every lane, EXEC is 0x%llx", (unsigned long long)exec);
    }
    if (1u << i->cbsz > of->blocks || i->abid >= 1u << i->cbsz || i->clamp || i->neg_lo != 0 || i->neg_hi != 0) {
        isa_give_up(wave, "unsupported-modifier",
                    "expected cbsz of at most its %u blocks, abid below that and no other "
                    "modifiers but blgp",
                    of->blocks);
        return;
    }
    read_registers(wave, &i->operands[1], operand_registers(of), 0, a);
    read_registers(wave, &i->operands[2], operand_registers(of), i->blgp, b);
    read_registers(wave, &i->operands[3], result_registers(of), 0, d);
    for (unsigned at = 0; at < of->blocks; at++) {
        /* One block of A for 2^cbsz neighbours. */
        take_block(a, of, (at >> i->cbsz << i->cbsz) + (i->cbsz != 0 ? i->abid : 0u), of->a, family, &a_block);
        take_block(b, of, at, of->b, family, &b_block);
        add_block(of, &a_block, &b_block, d, at, flushes(of, family));
    }
    for (unsigned n = 0; n < result_registers(of) && !wave->failed; n++) {
        isa_write_lanes(wave, &i->operands[0], n, UINT64_MAX, d[n]);
    }
}

/* ---- The table --------------------------------------------------------------------------------------------- */

#define CDNA1    (ISA_GFX9 | ISA_GFX908 | ISA_GFX90A)
#define FROM_942 (ISA_GFX9 | ISA_GFX942 | ISA_GFX950)
#define ONLY_950 (ISA_GFX9 | ISA_GFX950)

/* Name, type, size, depth, blocks, registers of A and B, of C and D. Names are those of gfx942; others have them in
 * their tables. */
#define MATRICES(X)                                                                                                    \
    X(v_mfma_f32_16x16x16_f16, F16, 16, 16, 1, "Dv4 Sv2 Sv2 Sv4", FROM_942, ISA_CDNA3_MFMA)                            \
    X(v_mfma_f32_16x16x16_bf16, BF16, 16, 16, 1, "Dv4 Sv2 Sv2 Sv4", FROM_942, ISA_CDNA3_MFMA)                          \
    X(v_mfma_f32_32x32x8_f16, F16, 32, 8, 1, "Dv16 Sv2 Sv2 Sv16", FROM_942, ISA_CDNA3_MFMA)                            \
    X(v_mfma_f32_32x32x8_bf16, BF16, 32, 8, 1, "Dv16 Sv2 Sv2 Sv16", FROM_942, ISA_CDNA3_MFMA)                          \
    X(v_mfma_f32_4x4x4_16b_f16, F16, 4, 4, 16, "Dv4 Sv2 Sv2 Sv4", FROM_942, ISA_CDNA3_MFMA)                            \
    X(v_mfma_f32_4x4x4_16b_bf16, BF16, 4, 4, 16, "Dv4 Sv2 Sv2 Sv4", FROM_942, ISA_CDNA3_MFMA)                          \
    X(v_mfma_f32_16x16x4_4b_f16, F16, 16, 4, 4, "Dv16 Sv2 Sv2 Sv16", FROM_942, ISA_CDNA3_MFMA)                         \
    X(v_mfma_f32_16x16x4_4b_bf16, BF16, 16, 4, 4, "Dv16 Sv2 Sv2 Sv16", FROM_942, ISA_CDNA3_MFMA)                       \
    X(v_mfma_f32_32x32x4_2b_f16, F16, 32, 4, 2, "Dv32 Sv2 Sv2 Sv32", FROM_942, ISA_CDNA3_MFMA)                         \
    X(v_mfma_f32_32x32x4_2b_bf16, BF16, 32, 4, 2, "Dv32 Sv2 Sv2 Sv32", FROM_942, ISA_CDNA3_MFMA)                       \
    X(v_mfma_f32_16x16x4_f32, F32, 16, 4, 1, "Dv4 Sv Sv Sv4", FROM_942, ISA_CDNA3_MFMA)                                \
    X(v_mfma_f32_32x32x2_f32, F32, 32, 2, 1, "Dv16 Sv Sv Sv16", FROM_942, ISA_CDNA3_MFMA)                              \
    X(v_mfma_f32_4x4x1_16b_f32, F32, 4, 1, 16, "Dv4 Sv Sv Sv4", FROM_942, ISA_CDNA3_MFMA)                              \
    X(v_mfma_f32_16x16x1_4b_f32, F32, 16, 1, 4, "Dv16 Sv Sv Sv16", FROM_942, ISA_CDNA3_MFMA)                           \
    X(v_mfma_f32_32x32x1_2b_f32, F32, 32, 1, 2, "Dv32 Sv Sv Sv32", FROM_942, ISA_CDNA3_MFMA)                           \
    X(v_mfma_f32_16x16x8bf16, BF16, 16, 8, 1, "Dv4 Sv Sv Sv4", CDNA1, ISA_CDNA1_MFMA)                                  \
    X(v_mfma_f32_32x32x4bf16, BF16, 32, 4, 1, "Dv16 Sv Sv Sv16", CDNA1, ISA_CDNA1_MFMA)                                \
    X(v_mfma_f32_4x4x2bf16, BF16, 4, 2, 16, "Dv4 Sv Sv Sv4", CDNA1, ISA_CDNA1_MFMA)                                    \
    X(v_mfma_f32_16x16x2bf16, BF16, 16, 2, 4, "Dv16 Sv Sv Sv16", CDNA1, ISA_CDNA1_MFMA)                                \
    X(v_mfma_f32_32x32x2bf16, BF16, 32, 2, 2, "Dv32 Sv Sv Sv32", CDNA1, ISA_CDNA1_MFMA)                                \
    X(v_mfma_f32_16x16x32_f16, F16, 16, 32, 1, "Dv4 Sv4 Sv4 Sv4", ONLY_950, ISA_CDNA4_MFMA)                            \
    X(v_mfma_f32_16x16x32_bf16, BF16, 16, 32, 1, "Dv4 Sv4 Sv4 Sv4", ONLY_950, ISA_CDNA4_MFMA)                          \
    X(v_mfma_f32_32x32x16_f16, F16, 32, 16, 1, "Dv16 Sv4 Sv4 Sv16", ONLY_950, ISA_CDNA4_MFMA)                          \
    X(v_mfma_f32_32x32x16_bf16, BF16, 32, 16, 1, "Dv16 Sv4 Sv4 Sv16", ONLY_950, ISA_CDNA4_MFMA)

/* Of 8 bits: name, types of A and B, size, depth, registers. */
#define MATRICES_8(X)                                                                                                  \
    X(v_mfma_f32_16x16x32_fp8_fp8, FP8, FP8, 16, 32, "Dv4 Sv2 Sv2 Sv4")                                                \
    X(v_mfma_f32_16x16x32_fp8_bf8, FP8, BF8, 16, 32, "Dv4 Sv2 Sv2 Sv4")                                                \
    X(v_mfma_f32_16x16x32_bf8_fp8, BF8, FP8, 16, 32, "Dv4 Sv2 Sv2 Sv4")                                                \
    X(v_mfma_f32_16x16x32_bf8_bf8, BF8, BF8, 16, 32, "Dv4 Sv2 Sv2 Sv4")                                                \
    X(v_mfma_f32_32x32x16_fp8_fp8, FP8, FP8, 32, 16, "Dv16 Sv2 Sv2 Sv16")                                              \
    X(v_mfma_f32_32x32x16_fp8_bf8, FP8, BF8, 32, 16, "Dv16 Sv2 Sv2 Sv16")                                              \
    X(v_mfma_f32_32x32x16_bf8_fp8, BF8, FP8, 32, 16, "Dv16 Sv2 Sv2 Sv16")                                              \
    X(v_mfma_f32_32x32x16_bf8_bf8, BF8, BF8, 32, 16, "Dv16 Sv2 Sv2 Sv16")

#define DEFINE_MIXED(name, a, b, size, depth, blocks)                                                                  \
    static void name(isa_wave *wave, const isa_instruction *i) {                                                       \
        static const shape of = {a, b, size, depth, blocks};                                                           \
        multiply(wave, i, &of);                                                                                        \
    }
#define DEFINE(name, type, size, depth, blocks, operands, families, source)                                            \
    DEFINE_MIXED(name, type, type, size, depth, blocks)
#define DEFINE_8(name, a, b, size, depth, operands) DEFINE_MIXED(name, a, b, size, depth, 1)
MATRICES(DEFINE)
MATRICES_8(DEFINE_8)

#define ROW(name, type, size, depth, blocks, operands, families, source)                                               \
    {#name, operands, ISA_CLASS_MATRIX, NULL, name, families, source},

#define ROW_8(name, a, b, size, depth, operands) ROW(name, a, size, depth, 1, operands, FROM_942, ISA_CDNA3_MFMA)

static const isa_row rows[] = {MATRICES(ROW) MATRICES_8(ROW_8)};

const isa_table isa_table_mfma = {rows, sizeof rows / sizeof rows[0]};

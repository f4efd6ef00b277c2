/* Matrix instructions of CDNA against plain sums over elements, each found where AMD's documents put it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats.h"
#include "fragments.h"
#include "isa_test.h"
#include "machine.h"
#include "rows.h"

enum { A = 0, B = 4, C = 8, D = 8 };

typedef enum element { F16, BF16, F32, FP8, BF8 } element;

typedef struct matrix {
    const char *row;
    element type;
    unsigned size, depth, blocks;
} matrix;

static const matrix matrices[] = {
    {"v_mfma_f32_16x16x16_f16", F16, 16, 16, 1},     {"v_mfma_f32_16x16x16_bf16", BF16, 16, 16, 1},
    {"v_mfma_f32_32x32x8_f16", F16, 32, 8, 1},       {"v_mfma_f32_32x32x8_bf16", BF16, 32, 8, 1},
    {"v_mfma_f32_4x4x4_16b_f16", F16, 4, 4, 16},     {"v_mfma_f32_4x4x4_16b_bf16", BF16, 4, 4, 16},
    {"v_mfma_f32_16x16x4_4b_f16", F16, 16, 4, 4},    {"v_mfma_f32_16x16x4_4b_bf16", BF16, 16, 4, 4},
    {"v_mfma_f32_32x32x4_2b_f16", F16, 32, 4, 2},    {"v_mfma_f32_32x32x4_2b_bf16", BF16, 32, 4, 2},
    {"v_mfma_f32_16x16x4_f32", F32, 16, 4, 1},       {"v_mfma_f32_32x32x2_f32", F32, 32, 2, 1},
    {"v_mfma_f32_4x4x1_16b_f32", F32, 4, 1, 16},     {"v_mfma_f32_16x16x1_4b_f32", F32, 16, 1, 4},
    {"v_mfma_f32_32x32x1_2b_f32", F32, 32, 1, 2},    {"v_mfma_f32_16x16x8bf16", BF16, 16, 8, 1},
    {"v_mfma_f32_32x32x4bf16", BF16, 32, 4, 1},      {"v_mfma_f32_4x4x2bf16", BF16, 4, 2, 16},
    {"v_mfma_f32_16x16x2bf16", BF16, 16, 2, 4},      {"v_mfma_f32_32x32x2bf16", BF16, 32, 2, 2},
    {"v_mfma_f32_16x16x32_f16", F16, 16, 32, 1},     {"v_mfma_f32_16x16x32_bf16", BF16, 16, 32, 1},
    {"v_mfma_f32_32x32x16_f16", F16, 32, 16, 1},     {"v_mfma_f32_32x32x16_bf16", BF16, 32, 16, 1},
    {"v_mfma_f32_16x16x32_fp8_fp8", FP8, 16, 32, 1}, {"v_mfma_f32_16x16x32_fp8_bf8", FP8, 16, 32, 1},
    {"v_mfma_f32_16x16x32_bf8_fp8", BF8, 16, 32, 1}, {"v_mfma_f32_16x16x32_bf8_bf8", BF8, 16, 32, 1},
    {"v_mfma_f32_32x32x16_fp8_fp8", FP8, 32, 16, 1}, {"v_mfma_f32_32x32x16_fp8_bf8", FP8, 32, 16, 1},
    {"v_mfma_f32_32x32x16_bf8_fp8", BF8, 32, 16, 1}, {"v_mfma_f32_32x32x16_bf8_bf8", BF8, 32, 16, 1}};

static unsigned bits_of(element type) {
    return type == F32 ? 32 : type == FP8 || type == BF8 ? 8 : 16;
}

/* What the name ends in. */
static element type_of_b(const matrix *of) {
    return bits_of(of->type) != 8 ? of->type : strstr(of->row, "8_fp8") != NULL ? FP8 : BF8;
}

static enum format format_of(element type) {
    bool fnuz = strcmp(machine_family()->target, "gfx942") == 0;
    return type == FP8 ? (fnuz ? FORMAT_E4M3FNUZ : FORMAT_E4M3) : fnuz ? FORMAT_E5M2FNUZ : FORMAT_E5M2;
}

/* Where an element is. */
typedef struct place {
    unsigned lane, reg, shift;
} place;

/* A(row, k) of a block, and B(k, column) with column for row: a lane has neighbours in k. */
static place place_of_a(const matrix *of, unsigned at, unsigned row, unsigned k) {
    unsigned own = of->size * of->depth * of->blocks / 64, group = at * (of->depth / own) + k / own;
    unsigned bits = bits_of(of->type);
    return (place){.lane = group * of->size + row, .reg = k % own * bits / 32, .shift = k % own * bits % 32};
}

static place place_of_d(const matrix *of, unsigned at, unsigned row, unsigned column) {
    switch (of->size) {
    case 4:
        return (place){.lane = 4 * at + column, .reg = row};
    case 16:
        return (place){.lane = row / 4 * 16 + column, .reg = 4 * at + row % 4};
    default:
        return (place){.lane = row / 4 % 2 * 32 + column, .reg = 16 * at + row / 8 * 4 + row % 4};
    }
}

static uint32_t encode(element type, float value) {
    uint32_t bits = (uint32_t)rows_float_bits(value);
    if (bits_of(type) == 8) {
        return format_encode(format_of(type), (double)value, FORMAT_OVERFLOWS);
    }
    return type == F32 ? bits : type == BF16 ? bits >> 16 : (uint32_t)rows_half_bits(value);
}

static float decode(element type, uint32_t word, unsigned shift) {
    uint32_t half = word >> shift & 0xffff;
    if (bits_of(type) == 8) {
        return (float)format_decode(format_of(type), (uint8_t)half);
    }
    return type == F32 ? rows_float(word) : type == BF16 ? rows_float((uint64_t)half << 16) : rows_half(half);
}

static unsigned operand_words(const matrix *of) {
    return of->size * of->depth * of->blocks / 64 * bits_of(of->type) / 32;
}

static unsigned result_words(const matrix *of) {
    return of->size * of->size * of->blocks / 64;
}

static void range(char text[16], char file, unsigned first, unsigned count) {
    snprintf(text, 16, count > 1 ? "%c[%u:%u]" : "%c%u", file, first, first + count - 1);
}

static void write_text(char text[128], const matrix *of, const char *modifiers) {
    char a[16], b[16], c[16];
    range(a, 'v', A, operand_words(of));
    range(b, 'v', B, operand_words(of));
    range(c, 'v', C, result_words(of));
    snprintf(text, 128, "%s %s, %s, %s, %s%s", of->row, c, a, b, c, modifiers);
}

/* Small integers everywhere, so that sums are exact in any order. */
static void fill(isa_wave *wave, const matrix *of, uint64_t *state) {
    for (unsigned reg = 0; reg < C + 32; reg++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            element type = reg < B ? of->type : reg < C ? type_of_b(of) : F32;
            wave->vgpr[reg][lane] = 0;
            for (unsigned shift = 0; shift < 32; shift += bits_of(type)) {
                wave->vgpr[reg][lane] |= encode(type, (float)(isa_test_random(state) % 9) - 4) << shift;
            }
        }
    }
}

/* `a_block`: of A for each block; `lanes`: whose value of B each lane has. */
static void check(const isa_wave *wave, const matrix *of, uint32_t before[][ISA_LANES_MAX], const unsigned *a_block,
                  const unsigned *lanes, const char *text) {
    for (unsigned at = 0; at < of->blocks; at++) {
        for (unsigned row = 0; row < of->size; row++) {
            for (unsigned column = 0; column < of->size; column++) {
                place d = place_of_d(of, at, row, column);
                float sum = rows_float(before[C + d.reg][d.lane]);
                for (unsigned k = 0; k < of->depth; k++) {
                    place a = place_of_a(of, a_block[at], row, k), b = place_of_a(of, at, column, k);
                    sum += decode(of->type, before[A + a.reg][a.lane], a.shift) *
                           decode(type_of_b(of), before[B + b.reg][lanes[b.lane]], b.shift);
                }
                cr_assert_eq(rows_float(wave->vgpr[D + d.reg][d.lane]), sum, "%s: block %u, %u, %u", text, at, row,
                             column);
            }
        }
    }
}

static void try_matrix(const matrix *of, const char *modifiers, const unsigned *a_block, const unsigned *lanes) {
    static uint64_t state = 5;
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    uint32_t before[C + 32][ISA_LANES_MAX];
    char text[128];
    fill(wave, of, &state);
    memcpy(before, wave->vgpr, sizeof before);
    write_text(text, of, modifiers);
    machine_run(m, text);
    cr_assert_not(wave->failed, "%s", text);
    check(wave, of, before, a_block, lanes, text);
    machine_free(m);
}

ROWS_TEST(cdna_matrices) {
    unsigned same[64];
    for (unsigned i = 0; i < 64; i++) {
        same[i] = i;
    }
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
        for (int round = 0; round < 2 && machine_has(matrices[i].row); round++) {
            try_matrix(&matrices[i], "", same, same);
        }
    }
}

/* One block of A for several, and B's values from other lanes. */
ROWS_TEST(cdna_matrices_share_operands) {
    unsigned same[64], blocks[16], lanes[64];
    char modifiers[64];
    for (unsigned i = 0; i < 64; i++) {
        same[i] = i;
    }
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
        const matrix *of = &matrices[i];
        for (unsigned cbsz = 1; machine_has(of->row) && 1u << cbsz <= of->blocks; cbsz++) {
            for (unsigned abid = 0; abid < 1u << cbsz; abid++) {
                for (unsigned at = 0; at < of->blocks; at++) {
                    blocks[at] = at / (1u << cbsz) * (1u << cbsz) + abid;
                }
                snprintf(modifiers, sizeof modifiers, " cbsz:%u abid:%u", cbsz, abid);
                try_matrix(of, modifiers, blocks, same);
            }
        }
        for (unsigned pattern = 1; machine_has(of->row) && pattern < 8; pattern++) {
            for (unsigned lane = 0; lane < 64; lane++) {
                lanes[lane] = pattern == 1   ? lane & 31
                              : pattern == 2 ? lane | 32
                              : pattern == 3 ? (lane + 16) & 63
                                             : (lane & 15) + 16 * (pattern & 3);
            }
            snprintf(modifiers, sizeof modifiers, " blgp:%u", pattern);
            try_matrix(of, modifiers, same, lanes);
        }
    }
}

/* The layouts as AMD's calculator prints them. */
ROWS_TEST(cdna_layouts) {
    struct fragments table;
    unsigned seen = 0;
    cr_assert(fragments_open(&table));
    for (struct fragment one; fragments_next(&table, &one);) {
        const isa_row *known = isa_family_find(machine_family(), one.instruction, strlen(one.instruction));
        for (size_t i = 0; known != NULL && i < sizeof matrices / sizeof matrices[0]; i++) {
            const matrix *of = &matrices[i];
            if (strcmp(of->row, known->name) != 0) {
                continue;
            }
            place at = one.matrix == 'A'   ? place_of_a(of, 0, one.row, one.column)
                       : one.matrix == 'B' ? place_of_a(of, 0, one.column, one.row)
                                           : place_of_d(of, 0, one.row, one.column);
            cr_assert(at.lane == one.lane && at.reg == one.reg && at.shift == one.low,
                      "%s %c[%u][%u]: expected lane %u, register %u, bit %u, got %u, %u, %u", one.instruction,
                      one.matrix, one.row, one.column, one.lane, one.reg, one.low, at.lane, at.reg, at.shift);
            seen++;
        }
    }
    bool listed = machine_has("v_mfma_f32_16x16x16_f16");
    cr_assert(listed ? seen >= 1024 : seen == 0, "%u elements", seen);
}

/* gfx90a takes subnormals for zeros, of operands and of results; no other chip does. */
ROWS_TEST(cdna_matrices_and_subnormals) {
    static const matrix f16 = {"v_mfma_f32_16x16x16_f16", F16, 16, 16, 1};
    static const matrix bf16 = {"v_mfma_f32_16x16x16_bf16", BF16, 16, 16, 1};
    if (!machine_has(f16.row)) {
        return;
    }
    bool flushes = strcmp(machine_family()->target, "gfx90a") == 0;
    char text[128];
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    wave->vgpr[A][0] = 0x0200;   /* 2^-15 */
    wave->vgpr[B][0] = 0x3c00;   /* 1 */
    wave->vgpr[C][1] = 0x200000; /* 2^-128, of row 0 and column 1 */
    write_text(text, &f16, "");
    machine_run(m, text);
    cr_assert_eq(rows_float(wave->vgpr[D][0]), flushes ? 0.0f : 0x1p-15f);
    cr_assert_eq(wave->vgpr[D][1], flushes ? 0 : 0x200000);
    if (machine_has(bf16.row)) {
        memset(wave->vgpr, 0, 16 * sizeof *wave->vgpr);
        wave->vgpr[A][0] = 0x1000; /* 2^-95 */
        wave->vgpr[B][0] = 0x3000; /* 2^-31 */
        write_text(text, &bf16, "");
        machine_run(m, text);
        cr_assert_eq(rows_float(wave->vgpr[D][0]), 0x1p-126f, "a normal result stays");
        wave->vgpr[D][0] = 0;
        wave->vgpr[B][0] = 0x2f80; /* 2^-32 */
        machine_run(m, text);
        cr_assert_eq(rows_float(wave->vgpr[D][0]), flushes ? 0.0f : 0x1p-127f);
    }
    machine_free(m);
}

ROWS_TEST(cdna_matrices_report) {
    if (!machine_has("v_mfma_f32_32x32x8_f16")) {
        return;
    }
    machine *m = machine_new(64, false);
    machine_set_exec(m, UINT64_MAX - 16);
    machine_run(m, "v_mfma_f32_32x32x8_f16 v[8:23], v[0:1], v[4:5], 0");
    machine_expect(m, "matrix-lanes-off", "");
    machine_set_exec(m, UINT64_MAX);
    machine_run(m, "v_mfma_f32_32x32x8_f16 v[8:23], v[0:1], v[4:5], 1.0 cbsz:1");
    machine_expect(m, "unsupported-modifier", "");
    machine_run(m, "v_mfma_f32_32x32x8_f16 v[8:23], v[0:1], v[4:5], 1.0");
    cr_assert_eq(rows_float(machine_wave(m)->vgpr[23][63]), 1.0f);
    machine_free(m);
}

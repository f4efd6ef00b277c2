/* Matrix instructions, by the tables that AMD's matrix instruction calculator prints, and the loads made for them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats.h"
#include "fragments.h"
#include "isa_test.h"
#include "machine.h"
#include "rows.h"

enum { SIZE = 16, PLACES_MAX = 4096 };

/* Where elements of A, B and D are; C is where D is. An element may be at several places. */
static struct fragment places[PLACES_MAX];
static size_t place_count;

static void read_table(const char *family, const char *instruction, unsigned wave) {
    struct fragments table;
    cr_assert(fragments_open(&table));
    place_count = 0;
    for (struct fragment one; fragments_next(&table, &one);) {
        if (strcmp(one.family, family) == 0 && strcmp(one.instruction, instruction) == 0 && one.wave == wave) {
            cr_assert_lt(place_count, (size_t)PLACES_MAX);
            places[place_count++] = one;
        }
    }
    cr_assert_gt(place_count, 3 * SIZE * SIZE - 1, "%s, waves of %u", instruction, wave);
}

/* As A has it, or B: what an instruction is called ends in the types of both. */
static uint64_t bits_of(int value, const char *instruction, char matrix) {
    const char *type = strrchr(instruction, '_') + 1;
    if (type[0] != 'f' && type[2] != '8') {
        return rows_float_bits((float)value) >> 16;
    }
    if (type[2] != '8') {
        return rows_half_bits((float)value);
    }
    type -= matrix == 'A' ? strlen("fp8_") : 0;
    return format_encode(type[0] == 'f' ? FORMAT_E4M3 : FORMAT_E5M2, value, FORMAT_OVERFLOWS);
}

/* The row that the family has for an instruction of that name. */
static const char *row_of(const char *instruction, char row[80]) {
    static const char *const endings[] = {"", "@rdna4"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(row, 80, "%s%s", instruction, endings[i]);
        if (machine_has(row)) {
            return row;
        }
    }
    return NULL;
}

static void registers(char text[16], unsigned first, unsigned more) {
    snprintf(text, 16, more > 0 ? "v[%u:%u]" : "v%u", first, first + more);
}

/* Small integers, whose sums are exact in any order. `layout`: the instruction whose places it has. */
static void try_matrix(const char *architecture, const char *instruction, const char *layout, unsigned wave) {
    int a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
    int most_a = strchr(instruction, '8') != NULL ? 3 : 11, most_b = most_a - most_a / 5;
    char text[160], row[80];
    machine *m = machine_new(wave, false);
    isa_wave *of = machine_wave(m);
    for (int i = 0; i < SIZE * SIZE; i++) {
        a[i / SIZE][i % SIZE] = (i * 7 + i / SIZE * 3) % (2 * most_a + 1) - most_a;
        b[i / SIZE][i % SIZE] = (i * 5 + i / SIZE * 11) % (2 * most_b + 1) - most_b;
        c[i / SIZE][i % SIZE] = i;
    }
    read_table(architecture, layout, wave);
    unsigned first[] = {['A'] = 0, ['B'] = 8, ['D'] = 16}, most[] = {['A'] = 0, ['B'] = 0, ['D'] = 0};
    for (size_t i = 0; i < place_count; i++) {
        const struct fragment *at = &places[i];
        unsigned matrix = (unsigned char)at->matrix;
        uint64_t bits = at->matrix == 'A'   ? bits_of(a[at->row][at->column], instruction, 'A')
                        : at->matrix == 'B' ? bits_of(b[at->row][at->column], instruction, 'B')
                                            : rows_float_bits((float)c[at->row][at->column]);
        of->vgpr[first[matrix] + at->reg][at->lane] |= (uint32_t)(bits << at->low);
        most[matrix] = at->reg > most[matrix] ? at->reg : most[matrix];
    }
    char a_registers[16], b_registers[16];
    registers(a_registers, 0, most['A']);
    registers(b_registers, 8, most['B']);
    snprintf(text, sizeof text, "%s v[30:%u], %s, %s, v[16:%u]", row_of(instruction, row), 30 + most['D'], a_registers,
             b_registers, 16 + most['D']);
    machine_run(m, text);
    for (size_t i = 0; i < place_count; i++) {
        const struct fragment *at = &places[i];
        if (at->matrix != 'D') {
            continue;
        }
        int sum = c[at->row][at->column];
        for (unsigned k = 0; k < SIZE; k++) {
            sum += a[at->row][k] * b[k][at->column];
        }
        cr_assert_eq(rows_float(of->vgpr[30 + at->reg][at->lane]), (float)sum, "%s, waves of %u: %u, %u", instruction,
                     wave, at->row, at->column);
    }
    machine_free(m);
}

ROWS_TEST(matrices) {
    static const char *const instructions[] = {"v_wmma_f32_16x16x16_f16",     "v_wmma_f32_16x16x16_bf16",
                                               "v_wmma_f32_16x16x16_fp8_fp8", "v_wmma_f32_16x16x16_fp8_bf8",
                                               "v_wmma_f32_16x16x16_bf8_fp8", "v_wmma_f32_16x16x16_bf8_bf8"};
    for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++) {
        char row[80];
        const char *found = row_of(instructions[i], row);
        for (unsigned wave = 32; found != NULL && wave <= 64; wave += 32) {
            bool bytes = strstr(row, "8_") != NULL;
            try_matrix(bytes                      ? "rdna4"
                       : strchr(row, '@') != NULL ? row + strcspn(row, "@") + 1
                                                  : "rdna3",
                       instructions[i], bytes ? "v_wmma_f32_16x16x16_fp8_fp8" : instructions[i], wave);
        }
    }
}

ROWS_TEST(matrices_need_all_lanes) {
    char text[1024], row[80];
    if (row_of("v_wmma_f32_16x16x16_f16", row) == NULL) {
        return;
    }
    machine *m = machine_new(32, false);
    bool copies = strchr(row, '@') == NULL; /* of RDNA3: both groups of lanes hold A and B */
    snprintf(text, sizeof text, copies ? "%s v[30:37], v[0:7], v[8:15], v[16:23]" : "%s v[30:37], v[0:3], v[8:11], 0",
             row);
    machine_load(m, text);
    machine_set_exec(m, 0xfffffffe);
    machine_step(m);
    machine_expect(m, "matrix-lanes-off", "");
    machine_set_exec(m, UINT64_MAX);
    machine_wave(m)->vgpr[3][17] = 1;
    machine_step(m);
    machine_expect(m, copies ? "matrix-not-replicated" : "", "");
    machine_free(m);
}

/* Value n of a lane is of lane n of its eight, at the place that the lane has among them. */
ROWS_TEST(loads_that_turn_rows_into_columns) {
    if (!machine_has("global_load_tr_b128")) {
        return;
    }
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m);
    uint16_t values[MACHINE_MEMORY_BYTES / 2];
    for (unsigned i = 0; i < MACHINE_MEMORY_BYTES / 2; i++) {
        values[i] = (uint16_t)(i * 31 + 5);
    }
    memcpy(machine_memory(m), values, sizeof values);
    wave->sgpr[2] = (uint32_t)memory;
    wave->sgpr[3] = (uint32_t)(memory >> 32);
    for (unsigned lane = 0; lane < 32; lane++) {
        wave->vgpr[4][lane] = (31 - lane) * 48; /* rows may be anywhere */
    }
    machine_run(m, "global_load_tr_b128 v[8:11], v4, s[2:3] offset:16");
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned n = 0; n < 8; n++) {
            unsigned from = lane - lane % 8 + n, at = ((31 - from) * 48 + 16) / 2 + lane % 8;
            cr_assert_eq(wave->vgpr[8 + n / 2][lane] >> n % 2 * 16 & 0xffff, values[at], "lane %u, value %u", lane, n);
        }
    }
    machine_set_exec(m, 0x7fffffff);
    machine_step(m);
    machine_expect(m, "matrix-lanes-off", "");
    machine_free(m);
    m = machine_new(64, false);
    machine_run(m, "global_load_tr_b128 v[8:11], v4, s[2:3] offset:16");
    machine_expect(m, "unsupported-instruction", "transposing loads are known in waves of 32 alone");
    machine_free(m);
}

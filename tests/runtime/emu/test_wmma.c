/* Matrix instructions against the table of their layouts, element by element. The table is AMD's (matrix instruction
 * calculator); nothing here knows where an element is but by looking it up. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_test.h"

enum { SIZE = 16, LANES_MAX = 64, HALVES = 16, FLOATS = 8, PLACES_MAX = 4 };

typedef struct place {
    int lane, index; /* halves of A and B, floats of D, counted within the lane's operand */
} place;

typedef struct element {
    place places[PLACES_MAX];
    int count;
} element;

typedef struct layout {
    element a[SIZE][SIZE], b[SIZE][SIZE], d[SIZE][SIZE];
} layout;

static layout *read_layout(const char *family, const char *instruction, int wave, int copies) {
    layout *table = calloc(1, sizeof *table);
    FILE *file = fopen(EMU_TEST_LAYOUTS, "r");
    cr_assert(ne(ptr, file, NULL), EMU_TEST_LAYOUTS);
    char line[256], architecture[32], name[64], matrix;
    int lanes, row, column, lane, reg, low, high, rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%31s %63s %d %c %d %d %d %d %d %d", architecture, name, &lanes, &matrix, &row, &column, &lane,
                   &reg, &low, &high) != 10 ||
            strcmp(architecture, family) != 0 || strcmp(name, instruction) != 0 || lanes != wave) {
            continue;
        }
        element *of =
            matrix == 'A' ? &table->a[row][column] : (matrix == 'B' ? &table->b[row][column] : &table->d[row][column]);
        cr_assert(lt(int, of->count, PLACES_MAX));
        cr_assert(eq(int, high - low, matrix == 'D' ? 31 : 15));
        of->places[of->count++] = (place){.lane = lane, .index = matrix == 'D' ? reg : 2 * reg + low / 16};
        rows++;
    }
    fclose(file);
    cr_assert(eq(int, rows, SIZE *SIZE *(2 * copies + 1)));
    return table;
}

typedef struct arguments {
    const void *a, *b, *c;
    void *d;
} arguments;

/* One instruction a workgroup; every lane brings its operands from memory as they lie there. */
static const char text[] = "typedef ELEMENT halves __attribute__((ext_vector_type(HALVES)));\n"
                           "typedef float floats __attribute__((ext_vector_type(256 / WAVE)));\n"
                           "struct arguments { const halves *a, *b; const floats *c; floats *d; };\n"
                           "extern \"C\" __global__ void kernel(const struct arguments p) {\n"
                           "    const unsigned at = blockIdx.x * WAVE + threadIdx.x;\n"
                           "    p.d[at] = INSTRUCTION(p.a[at], p.b[at], p.c[at]);\n"
                           "}\n";

typedef struct fixture {
    emu_test test;
    layout *table;
    void *kernel;
    int wave, is_bf16, halves; /* of A and of B in a lane */
} fixture;

enum { GFX11 = 11, GFX12 = 12 };

/* RDNA3 wants a copy of A and of B in each 16 lanes, RDNA4 has each element once. */
static fixture begin(int family, int wave, int is_bf16) {
    int copies = family == GFX11 ? wave / SIZE : 1;
    fixture with = {.test = emu_test_open(family == GFX11 ? "gfx1100" : "gfx1201"),
                    .wave = wave,
                    .is_bf16 = is_bf16,
                    .halves = family == GFX11 ? HALVES : 256 / wave};
    with.table = read_layout(family == GFX11 ? "rdna3" : "rdna4",
                             is_bf16 ? "v_wmma_f32_16x16x16_bf16" : "v_wmma_f32_16x16x16_f16", wave, copies);
    char whole[2048];
    snprintf(whole, sizeof whole,
             "#define WAVE %d\n#define ELEMENT %s\n#define HALVES %d\n"
             "#define INSTRUCTION __builtin_amdgcn_wmma_f32_16x16x16_%s_w%d%s\n%s",
             wave, is_bf16 ? "short" : "_Float16", with.halves, is_bf16 ? "bf16" : "f16", wave,
             family == GFX12 ? "_gfx12" : "", text);
    with.kernel = emu_test_kernel(&with.test, whole, "wmma.hip", wave);
    return with;
}

static void end(fixture *with) {
    free(with->table);
    emu_test_close(&with->test);
}

typedef struct operands {
    uint16_t a[LANES_MAX][HALVES], b[LANES_MAX][HALVES];
    float c[LANES_MAX][FLOATS], d[LANES_MAX][FLOATS];
} operands;

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int same_floats(float a[LANES_MAX][FLOATS], float b[LANES_MAX][FLOATS]) {
    for (int i = 0; i < LANES_MAX * FLOATS; i++) {
        if (bits_of(a[i / FLOATS][i % FLOATS]) != bits_of(b[i / FLOATS][i % FLOATS])) {
            return 0;
        }
    }
    return 1;
}

static void put(uint16_t to[LANES_MAX][HALVES], const element *where, uint16_t value) {
    for (int i = 0; i < where->count; i++) {
        to[where->places[i].lane][where->places[i].index] = value;
    }
}

static float *place_of(float in[LANES_MAX][FLOATS], const element *where) {
    return &in[where->places[0].lane][where->places[0].index];
}

/* Runs `count` instructions. In memory a lane's floats lie without gaps. */
static void run(fixture *with, operands *list, int count) {
    size_t lanes = (size_t)count * (size_t)with->wave, floats = 256 / (size_t)with->wave;
    size_t halves = (size_t)with->halves;
    uint16_t *a = malloc(lanes * halves * 2), *b = malloc(lanes * halves * 2);
    float *c = malloc(lanes * floats * 4), *d = malloc(lanes * floats * 4);
    for (size_t i = 0; i < lanes; i++) {
        const operands *one = &list[i / (size_t)with->wave];
        size_t lane = i % (size_t)with->wave;
        memcpy(a + i * halves, one->a[lane], halves * 2);
        memcpy(b + i * halves, one->b[lane], halves * 2);
        memcpy(c + i * floats, one->c[lane], floats * 4);
    }
    arguments given = {emu_test_buffer(&with->test, lanes * halves * 2, "a", a),
                       emu_test_buffer(&with->test, lanes * halves * 2, "b", b),
                       emu_test_buffer(&with->test, lanes * floats * 4, "c", c),
                       emu_test_buffer(&with->test, lanes * floats * 4, "d", NULL)};
    cr_assert(eq(int,
                 emu_test_run(&with->test, with->kernel, (uint32_t)count, (uint32_t)with->wave, &given, sizeof given),
                 FMHA_OK),
              "%s", fmha_last_error());
    emu_test_read(&with->test, given.d, d, lanes * floats * 4);
    for (size_t i = 0; i < lanes; i++) {
        memcpy(list[i / (size_t)with->wave].d[i % (size_t)with->wave], d + i * floats, floats * 4);
    }
    free(a);
    free(b);
    free(c);
    free(d);
}

static uint16_t one(const fixture *with) {
    return with->is_bf16 ? 0x3f80 : 0x3c00;
}

/* A single one in A at (row, k) and in B at (k, column) gives a single one in D at (row, column), and nothing else. */
static void check_impulses(int family, int wave, int is_bf16) {
    fixture with = begin(family, wave, is_bf16);
    operands *list = calloc(SIZE * SIZE, sizeof *list);
    for (int row = 0; row < SIZE; row++) {
        memset(list, 0, SIZE * SIZE * sizeof *list);
        for (int i = 0; i < SIZE * SIZE; i++) {
            int k = i / SIZE, column = i % SIZE;
            put(list[i].a, &with.table->a[row][k], one(&with));
            put(list[i].b, &with.table->b[k][column], one(&with));
        }
        run(&with, list, SIZE * SIZE);
        for (int i = 0; i < SIZE * SIZE; i++) {
            operands expected = {0};
            *place_of(expected.d, &with.table->d[row][i % SIZE]) = 1;
            cr_assert(eq(int, same_floats(list[i].d, expected.d), 1), "row %d, k %d, column %d", row, i / SIZE,
                      i % SIZE);
        }
    }
    free(list);
    end(&with);
}

Test(wmma, impulses_f16_wave32) {
    check_impulses(GFX11, 32, 0);
}

Test(wmma, impulses_f16_wave64) {
    check_impulses(GFX11, 64, 0);
}

Test(wmma, impulses_bf16_wave32) {
    check_impulses(GFX11, 32, 1);
}

Test(wmma, impulses_bf16_wave64) {
    check_impulses(GFX11, 64, 1);
}

/* Values of both formats, exact by construction. */
static float value_of(const fixture *with, uint16_t bits) {
    if (with->is_bf16) {
        uint32_t wide = (uint32_t)bits << 16;
        float value;
        memcpy(&value, &wide, sizeof value);
        return value;
    }
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                     : (exponent == 0 ? ldexpf((float)fraction, -24)
                                                      : ldexpf((float)(1024 + fraction), exponent - 25));
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/* The documented sum: from C, a fused multiply-add for each k, ascending. NaN equals NaN. */
static void check_sums(fixture *with, operands *list, uint16_t (*a)[SIZE][SIZE], uint16_t (*b)[SIZE][SIZE],
                       float (*c)[SIZE][SIZE], int count) {
    memset(list, 0, (size_t)count * sizeof *list);
    for (int i = 0; i < count; i++) {
        for (int x = 0; x < SIZE; x++) {
            for (int y = 0; y < SIZE; y++) {
                put(list[i].a, &with->table->a[x][y], a[i][x][y]);
                put(list[i].b, &with->table->b[x][y], b[i][x][y]);
                *place_of(list[i].c, &with->table->d[x][y]) = c[i][x][y];
            }
        }
    }
    run(with, list, count);
    for (int i = 0; i < count; i++) {
        for (int x = 0; x < SIZE; x++) {
            for (int y = 0; y < SIZE; y++) {
                float sum = c[i][x][y];
                for (int k = 0; k < SIZE; k++) {
                    sum = fmaf(value_of(with, a[i][x][k]), value_of(with, b[i][k][y]), sum);
                }
                float got = *place_of(list[i].d, &with->table->d[x][y]);
                int same = (isnan(sum) && isnan(got)) || bits_of(sum) == bits_of(got);
                cr_assert(eq(int, same, 1), "case %d, row %d, column %d: expected %a, got %a", i, x, y, (double)sum,
                          (double)got);
            }
        }
    }
}

enum { CASES = 64 };

static uint16_t a_values[CASES][SIZE][SIZE], b_values[CASES][SIZE][SIZE];
static float c_values[CASES][SIZE][SIZE];

/* Every bit pattern occurs: subnormals, infinities and NaN too. */
static void check_random(int family, int wave, int is_bf16, uint16_t mask) {
    fixture with = begin(family, wave, is_bf16);
    operands *list = malloc(CASES * sizeof *list);
    uint64_t state = 7;
    for (int i = 0; i < CASES; i++) {
        for (int x = 0; x < SIZE; x++) {
            for (int y = 0; y < SIZE; y++) {
                a_values[i][x][y] = (uint16_t)emu_test_random(&state) & mask;
                b_values[i][x][y] = (uint16_t)emu_test_random(&state) & mask;
                c_values[i][x][y] = (float)(int32_t)emu_test_random(&state) * 0x1p-20f;
            }
        }
    }
    check_sums(&with, list, a_values, b_values, c_values, CASES);
    free(list);
    end(&with);
}

Test(wmma, all_bit_patterns_f16_wave32) {
    check_random(GFX11, 32, 0, 0xffff);
}

Test(wmma, all_bit_patterns_f16_wave64) {
    check_random(GFX11, 64, 0, 0xffff);
}

Test(wmma, all_bit_patterns_bf16_wave32) {
    check_random(GFX11, 32, 1, 0xffff);
}

Test(wmma, all_bit_patterns_bf16_wave64) {
    check_random(GFX11, 64, 1, 0xffff);
}

/* Finite values alone (the exponent's highest bit off), so that every element shows its rounding. */
Test(wmma, rounding_f16_wave32) {
    check_random(GFX11, 32, 0, 0xbfff);
}

Test(wmma, rounding_bf16_wave64) {
    check_random(GFX11, 64, 1, 0xbfff);
}

Test(wmma, gfx12_impulses_f16_wave32) {
    check_impulses(GFX12, 32, 0);
}

Test(wmma, gfx12_all_bit_patterns_f16_wave32) {
    check_random(GFX12, 32, 0, 0xffff);
}

Test(wmma, gfx12_rounding_f16_wave32) {
    check_random(GFX12, 32, 0, 0xbfff);
}

Test(wmma, gfx12_impulses_f16_wave64) {
    check_impulses(GFX12, 64, 0);
}

Test(wmma, gfx12_all_bit_patterns_f16_wave64) {
    check_random(GFX12, 64, 0, 0xffff);
}

Test(wmma, gfx12_rounding_f16_wave64) {
    check_random(GFX12, 64, 0, 0xbfff);
}

Test(wmma, gfx12_impulses_bf16_wave32) {
    check_impulses(GFX12, 32, 1);
}

Test(wmma, gfx12_all_bit_patterns_bf16_wave32) {
    check_random(GFX12, 32, 1, 0xffff);
}

Test(wmma, gfx12_rounding_bf16_wave32) {
    check_random(GFX12, 32, 1, 0xbfff);
}

Test(wmma, gfx12_impulses_bf16_wave64) {
    check_impulses(GFX12, 64, 1);
}

Test(wmma, gfx12_all_bit_patterns_bf16_wave64) {
    check_random(GFX12, 64, 1, 0xffff);
}

Test(wmma, gfx12_rounding_bf16_wave64) {
    check_random(GFX12, 64, 1, 0xbfff);
}

/* With A and B zero, D is C bit for bit. */
Test(wmma, c_passes_through) {
    for (int wave = 32; wave <= 64; wave += 32) {
        fixture with = begin(GFX11, wave, 0);
        operands *one_case = calloc(1, sizeof *one_case);
        for (int lane = 0; lane < wave; lane++) {
            for (int i = 0; i < 256 / wave; i++) {
                one_case->c[lane][i] = (float)(lane * 8 + i) - 100.5f;
            }
        }
        run(&with, one_case, 1);
        cr_assert(eq(int, same_floats(one_case->c, one_case->d), 1));
        free(one_case);
        end(&with);
    }
}

/* One NaN in A reaches its row alone; one infinity in B its column alone, and makes NaN with the zeros of A. */
Test(wmma, nan_and_infinity_reach_what_they_must) {
    fixture with = begin(GFX11, 32, 0);
    operands *one_case = calloc(1, sizeof *one_case);
    for (int x = 0; x < SIZE; x++) {
        for (int y = 0; y < SIZE; y++) {
            put(one_case->a, &with.table->a[x][y], x == 9 ? 0 : 0x3c00);
            put(one_case->b, &with.table->b[x][y], 0x3c00);
        }
    }
    put(one_case->a, &with.table->a[5][11], 0x7e00);
    put(one_case->b, &with.table->b[2][13], 0x7c00);
    run(&with, one_case, 1);
    for (int x = 0; x < SIZE; x++) {
        for (int y = 0; y < SIZE; y++) {
            float got = *place_of(one_case->d, &with.table->d[x][y]);
            if (x == 5 || (x == 9 && y == 13)) {
                cr_assert(eq(int, isnan(got) != 0, 1), "row %d, column %d", x, y);
            } else {
                float expected = y == 13 ? INFINITY : (x == 9 ? 0 : 16);
                cr_assert(eq(flt, got, expected), "row %d, column %d", x, y);
            }
        }
    }
    free(one_case);
    end(&with);
}

#include "matrix_test.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fragments.h"

enum {
    SIDE = MATRIX_SIDE_MAX,
    LANES = MATRIX_LANES_MAX,
    HALVES = MATRIX_HALVES_MAX,
    FLOATS = MATRIX_FLOATS_MAX,
    PLACES_MAX = 4
};

typedef struct place {
    int lane, index; /* elements of A and B, floats of D, counted within the lane's operand */
} place;

typedef struct element {
    place places[PLACES_MAX];
    int count;
} element;

typedef struct layout {
    element a[SIDE][SIDE], b[SIDE][SIDE], d[SIDE][SIDE];
} layout;

/* Of the instruction `name`, those matrices whose letters are in `wanted`; returns how many rows it has for them. */
static int read_rows(layout *table, const matrix_form *form, const char *name, const char *wanted) {
    struct fragments all;
    int rows = 0;
    cr_assert(fragments_open(&all));
    for (struct fragment one; fragments_next(&all, &one);) {
        if (strcmp(one.family, form->family) != 0 || strcmp(one.instruction, name) != 0 ||
            (int)one.wave != form->wave || strchr(wanted, one.matrix) == NULL) {
            continue;
        }
        element *of = one.matrix == 'A'   ? &table->a[one.row][one.column]
                      : one.matrix == 'B' ? &table->b[one.row][one.column]
                                          : &table->d[one.row][one.column];
        cr_assert(lt(int, of->count, PLACES_MAX));
        of->places[of->count++] = (place){.lane = (int)one.lane, .index = (int)one.index};
        rows++;
    }
    return rows;
}

static layout *read_layout(const matrix_form *form) {
    layout *table = calloc(1, sizeof *table);
    cr_assert(ne(ptr, table, NULL));
    cr_assert(eq(int, read_rows(table, form, form->d, "D"), form->side * form->side));
    if (form->ab != NULL) {
        cr_assert(eq(int, read_rows(table, form, form->ab, "AB"), 2 * form->side * form->depth * form->copies));
        return table;
    }
    for (int at = 0; at < form->side; at++) {
        for (int k = 0; k < form->depth; k++) {
            place where;
            form->place(&where.lane, &where.index, at, k);
            table->a[at][k] = table->b[k][at] = (element){.places = {where}, .count = 1};
        }
    }
    return table;
}

typedef struct arguments {
    const void *a, *b, *c;
    void *d;
} arguments;

/* One instruction a workgroup; every lane brings its operands from memory as they lie there. */
static const char text[] = "typedef ELEMENT halves __attribute__((ext_vector_type(HALVES)));\n"
                           "typedef float floats __attribute__((ext_vector_type(FLOATS)));\n"
                           "struct arguments { const halves *a, *b; const floats *c; floats *d; };\n"
                           "extern \"C\" __global__ void kernel(const struct arguments p) {\n"
                           "    const unsigned at = blockIdx.x * WAVE + threadIdx.x;\n"
                           "    p.d[at] = INSTRUCTION(OPERAND(p.a[at]), OPERAND(p.b[at]), p.c[at] FURTHER);\n"
                           "}\n";

typedef struct fixture {
    emu_test test;
    const matrix_form *form;
    layout *table;
    void *kernel;
    int halves, floats; /* of a lane: elements of A and of B, of C */
} fixture;

static fixture begin(const matrix_form *form) {
    fixture with = {.test = emu_test_open(form->chip),
                    .form = form,
                    .table = read_layout(form),
                    .halves = form->side * form->depth * form->copies / form->wave,
                    .floats = form->side * form->side / form->wave};
    char whole[2048], operand[128] = "value";
    if (form->packed != NULL) {
        snprintf(operand, sizeof operand, "__builtin_bit_cast(%s, value)", form->packed);
    }
    snprintf(whole, sizeof whole,
             "#define WAVE %d\n#define ELEMENT %s\n#define HALVES %d\n#define FLOATS %d\n#define FURTHER %s\n"
             "#define INSTRUCTION %s\n#define OPERAND(value) %s\n%s",
             form->wave, form->element, with.halves, with.floats, form->further, form->builtin, operand, text);
    with.kernel = emu_test_kernel(&with.test, whole, "matrix.hip", form->wave);
    return with;
}

static void end(fixture *with) {
    free(with->table);
    emu_test_close(&with->test);
}

typedef struct operands {
    uint16_t a[LANES][HALVES], b[LANES][HALVES];
    float c[LANES][FLOATS], d[LANES][FLOATS];
} operands;

static operands *operands_new(int count) {
    operands *list = calloc((size_t)count, sizeof *list);
    cr_assert(ne(ptr, list, NULL));
    return list;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int same_floats(float a[LANES][FLOATS], float b[LANES][FLOATS]) {
    return memcmp(a, b, LANES * sizeof a[0]) == 0;
}

static void put(uint16_t to[LANES][HALVES], const element *where, uint16_t value) {
    for (int i = 0; i < where->count; i++) {
        to[where->places[i].lane][where->places[i].index] = value;
    }
}

static float *place_of(float in[LANES][FLOATS], const element *where) {
    return &in[where->places[0].lane][where->places[0].index];
}

/* A lane's elements as the instruction takes them. */
static void pack(uint8_t *to, const uint16_t *from, size_t count, const matrix_form *form) {
    for (size_t i = 0; i < count && form->packed != NULL; i++) {
        to[i] = (uint8_t)from[i];
    }
    if (form->packed == NULL) {
        memcpy(to, from, count * sizeof *from);
    }
}

/* Runs `count` instructions. In memory a lane's elements lie without gaps. */
static void run(fixture *with, operands *list, int count) {
    size_t wave = (size_t)with->form->wave, lanes = (size_t)count * wave;
    size_t halves = (size_t)with->halves, floats = (size_t)with->floats;
    size_t bytes = halves * (with->form->packed != NULL ? 1 : 2);
    uint8_t *a = malloc(lanes * bytes), *b = malloc(lanes * bytes);
    float *c = malloc(lanes * floats * 4), *d = malloc(lanes * floats * 4);
    cr_assert(a != NULL && b != NULL && c != NULL && d != NULL);
    for (size_t i = 0; i < lanes; i++) {
        const operands *one = &list[i / wave];
        pack(a + i * bytes, one->a[i % wave], halves, with->form);
        pack(b + i * bytes, one->b[i % wave], halves, with->form);
        memcpy(c + i * floats, one->c[i % wave], floats * 4);
    }
    arguments given = {emu_test_buffer(&with->test, lanes * bytes, "a", a),
                       emu_test_buffer(&with->test, lanes * bytes, "b", b),
                       emu_test_buffer(&with->test, lanes * floats * 4, "c", c),
                       emu_test_buffer(&with->test, lanes * floats * 4, "d", NULL)};
    cr_assert(eq(int, emu_test_run(&with->test, with->kernel, (uint32_t)count, (uint32_t)wave, &given, sizeof given),
                 FMHA_OK),
              "%s", fmha_last_error());
    emu_test_read(&with->test, given.d, d, lanes * floats * 4);
    for (size_t i = 0; i < lanes; i++) {
        memcpy(list[i / wave].d[i % wave], d + i * floats, floats * 4);
    }
    free(a);
    free(b);
    free(c);
    free(d);
}

/* In A, or in B. */
static uint16_t one(const matrix_form *form, int in_b) {
    if (form->packed != NULL) {
        return format_encode(form->formats[in_b], 1, FORMAT_OVERFLOWS);
    }
    return form->is_bf16 ? 0x3f80 : 0x3c00;
}

void matrix_check_impulses(const matrix_form *form) {
    fixture with = begin(form);
    int count = form->depth * form->side;
    operands *list = operands_new(count);
    for (int row = 0; row < form->side; row++) {
        memset(list, 0, (size_t)count * sizeof *list);
        for (int i = 0; i < count; i++) {
            int k = i / form->side, column = i % form->side;
            put(list[i].a, &with.table->a[row][k], one(form, 0));
            put(list[i].b, &with.table->b[k][column], one(form, 1));
        }
        run(&with, list, count);
        for (int i = 0; i < count; i++) {
            operands expected = {0};
            *place_of(expected.d, &with.table->d[row][i % form->side]) = 1;
            cr_assert(eq(int, same_floats(list[i].d, expected.d), 1), "row %d, k %d, column %d", row, i / form->side,
                      i % form->side);
        }
    }
    free(list);
    end(&with);
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Values of the formats, exact by construction. */
static float value_of(const matrix_form *form, uint16_t bits, int in_b) {
    if (form->packed != NULL) {
        return (float)format_decode(form->formats[in_b], (uint8_t)bits);
    }
    if (form->is_bf16) {
        return float_of((uint32_t)bits << 16);
    }
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                     : (exponent == 0 ? ldexpf((float)fraction, -24)
                                                      : ldexpf((float)(1024 + fraction), exponent - 25));
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/* As the instruction takes it. */
static float operand_of(const matrix_form *form, uint16_t bits, int in_b) {
    float value = value_of(form, bits, in_b);
    return form->flushes && fabsf(value) < (form->is_bf16 ? 0x1p-126f : 0x1p-14f) ? copysignf(0, value) : value;
}

static float sum_of(const matrix_form *form, float value) {
    return form->flushes && fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

enum { CASES = 64 };

static uint16_t a_values[CASES][SIDE][SIDE], b_values[CASES][SIDE][SIDE];
static float c_values[CASES][SIDE][SIDE];

/* The values above: [row][k], [k][column], [row][column]. */
static void check_sums(fixture *with) {
    const matrix_form *form = with->form;
    operands *list = operands_new(CASES);
    for (int i = 0; i < CASES; i++) {
        for (int x = 0; x < form->side; x++) {
            for (int k = 0; k < form->depth; k++) {
                put(list[i].a, &with->table->a[x][k], a_values[i][x][k]);
                put(list[i].b, &with->table->b[k][x], b_values[i][k][x]);
            }
            for (int y = 0; y < form->side; y++) {
                *place_of(list[i].c, &with->table->d[x][y]) = c_values[i][x][y];
            }
        }
    }
    run(with, list, CASES);
    for (int i = 0; i < CASES; i++) {
        for (int x = 0; x < form->side; x++) {
            for (int y = 0; y < form->side; y++) {
                float sum = sum_of(form, c_values[i][x][y]);
                for (int k = 0; k < form->depth; k++) {
                    sum = fmaf(operand_of(form, a_values[i][x][k], 0), operand_of(form, b_values[i][k][y], 1), sum);
                }
                sum = sum_of(form, sum);
                float got = *place_of(list[i].d, &with->table->d[x][y]);
                int same = (isnan(sum) && isnan(got)) || bits_of(sum) == bits_of(got);
                cr_assert(eq(int, same, 1), "case %d, row %d, column %d: expected %a, got %a", i, x, y, (double)sum,
                          (double)got);
            }
        }
    }
    free(list);
}

void matrix_check_random(const matrix_form *form, uint16_t mask) {
    fixture with = begin(form);
    uint64_t state = 7;
    for (int i = 0; i < CASES; i++) {
        for (int x = 0; x < SIDE; x++) {
            for (int y = 0; y < SIDE; y++) {
                a_values[i][x][y] = (uint16_t)emu_test_random(&state) & mask;
                b_values[i][x][y] = (uint16_t)emu_test_random(&state) & mask;
                c_values[i][x][y] = (float)(int32_t)emu_test_random(&state) * 0x1p-20f;
            }
        }
    }
    check_sums(&with);
    end(&with);
}

void matrix_check_c(const matrix_form *form) {
    fixture with = begin(form);
    operands *one_case = operands_new(1);
    for (int lane = 0; lane < form->wave; lane++) {
        for (int i = 0; i < with.floats; i++) {
            one_case->c[lane][i] = (float)(lane * FLOATS + i) - 100.5f;
        }
    }
    run(&with, one_case, 1);
    cr_assert(eq(int, same_floats(one_case->c, one_case->d), 1));
    free(one_case);
    end(&with);
}

void matrix_check_nan_and_infinity(const matrix_form *form) {
    fixture with = begin(form);
    operands *one_case = operands_new(1);
    for (int x = 0; x < form->side; x++) {
        for (int k = 0; k < form->depth; k++) {
            put(one_case->a, &with.table->a[x][k], x == 9 ? 0 : one(form, 0));
            put(one_case->b, &with.table->b[k][x], one(form, 1));
        }
    }
    uint16_t infinity = form->is_bf16 ? 0x7f80 : 0x7c00, nan = infinity | 1;
    if (form->packed != NULL) {
        nan = format_encode(form->formats[0], (double)NAN, FORMAT_OVERFLOWS);
        infinity = format_encode(form->formats[1], (double)INFINITY, FORMAT_OVERFLOWS);
    }
    bool infinite = isinf(value_of(form, infinity, 1));
    put(one_case->a, &with.table->a[5][form->depth - 1], nan);
    put(one_case->b, &with.table->b[2][13], infinity);
    run(&with, one_case, 1);
    for (int x = 0; x < form->side; x++) {
        for (int y = 0; y < form->side; y++) {
            float got = *place_of(one_case->d, &with.table->d[x][y]);
            if (x == 5 || (y == 13 && (x == 9 || !infinite))) {
                cr_assert(eq(int, isnan(got) != 0, 1), "row %d, column %d", x, y);
            } else {
                float expected = y == 13 ? INFINITY : (x == 9 ? 0 : (float)form->depth);
                cr_assert(eq(flt, got, expected), "row %d, column %d", x, y);
            }
        }
    }
    free(one_case);
    end(&with);
}

/* What makes normal float32 numbers of the subnormals: 2^10, 2^60. */
static uint16_t large(const matrix_form *form) {
    return form->is_bf16 ? 0x5d80 : 0x6400;
}

/* Row x of each case has its own pattern; where the operands are the other way round, column x. Patterns repeat where
 * there are more places than subnormals. */
static void check_operand_subnormals(fixture *with, int in_b) {
    const matrix_form *form = with->form;
    enum { COUNT = 128 };
    int subnormals = form->is_bf16 ? 127 : 1023;
    operands *list = operands_new(COUNT);
    for (int i = 0; i < COUNT * form->side; i++) {
        operands *at = &list[i / form->side];
        int x = i % form->side, k = i % form->depth, pattern = i % subnormals + 1;
        uint16_t bits = (uint16_t)(pattern | (i / subnormals % 2 != 0 ? 0x8000 : 0));
        put(at->a, &with->table->a[x][k], in_b ? large(form) : bits);
        put(at->b, &with->table->b[k][x], in_b ? bits : large(form));
    }
    run(with, list, COUNT);
    for (int i = 0; i < COUNT * form->side; i++) {
        int x = i % form->side, pattern = i % subnormals + 1;
        float magnitude = ldexpf((float)pattern, form->is_bf16 ? 60 - 133 : 10 - 24);
        float expected = form->flushes ? 0 : (i / subnormals % 2 != 0 ? -magnitude : magnitude);
        float got = *place_of(list[i / form->side].d, &with->table->d[x][x]);
        cr_assert(eq(u32, bits_of(got), bits_of(expected)), "%s, subnormal %d in %s: expected %a, got %a",
                  form->builtin, pattern, in_b ? "B" : "A", (double)expected, (double)got);
    }
    free(list);
}

/* What stands in C where the products are zero, and what becomes of it. */
static void check_sum_subnormals(fixture *with) {
    const matrix_form *form = with->form;
    static const uint32_t patterns[] = {1, 0x7fffff, 0x800000, 0x400000, 0x80000001, 0x807fffff, 0x80800000};
    enum { COUNT = sizeof patterns / sizeof patterns[0] };
    operands *list = operands_new(COUNT);
    for (int i = 0; i < COUNT; i++) {
        *place_of(list[i].c, &with->table->d[i][2 * i]) = float_of(patterns[i]);
    }
    run(with, list, COUNT);
    for (int i = 0; i < COUNT; i++) {
        uint32_t got = bits_of(*place_of(list[i].d, &with->table->d[i][2 * i])), kept = patterns[i];
        int subnormal = (kept & 0x7f800000) == 0;
        uint32_t expected = form->flushes && subnormal ? 0 : kept; /* -0 and the product's 0 give 0 */
        cr_assert(eq(u32, got, expected), "%s, C is %08x", form->builtin, kept);
    }
    if (form->is_bf16) { /* normal operands whose product is subnormal */
        memset(list, 0, sizeof *list);
        put(list->a, &with->table->a[3][1], 0x1c80); /* 2^-70 */
        put(list->b, &with->table->b[1][7], 0xa180); /* -2^-60 */
        run(with, list, 1);
        float got = *place_of(list->d, &with->table->d[3][7]);
        float expected = form->flushes ? 0 : -0x1p-130f; /* a zero of either sign */
        cr_assert(eq(flt, got, expected), "%s", form->builtin);
    }
    free(list);
}

void matrix_check_subnormals(const matrix_form *form) {
    fixture with = begin(form);
    check_operand_subnormals(&with, 0);
    check_operand_subnormals(&with, 1);
    check_sum_subnormals(&with);
    end(&with);
}

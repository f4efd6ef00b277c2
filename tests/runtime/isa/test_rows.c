/* Executes single instructions on edge values and compares them with plain C (rows.h), for every
 * family with its own mnemonics; none of them may be without a case. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa_test.h"
#include "machine.h"
#include "rows.h"

enum { ROUNDS = 12, SOURCES = 3 };
/* Where operands are: destinations, the sources one after another (room for two registers each), masks. */
enum { DEST = 20, SOURCE = 2, MASK_OUT = 40, MASK_IN = 44 };

/* ---- Values ------------------------------------------------------------------------------------------------ */

static const uint32_t edges32[] = {0,          1,          2,          31,         32,         33,         0x7fff,
                                   0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
                                   0xfffffffe, 0xaaaaaaaa, 0x00ffffff, 0x01000000, 0x00001f00, 0x12345678};
static const uint32_t edges_f32[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                                     0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x40200000, 0xc0200000, 0x40600000,
                                     0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001,
                                     0x4f000000, 0xcf000000, 0x4f800000, 0x4effffff, 0x47000000, 0x477fe000, 0x477ff000,
                                     0x33000000, 0x33000001, 0x387fc000, 0x3effffff, 0x42fe0000, 0xc2fc0000, 0x42ff0000,
                                     0xb2800000, 0x7e800000, 0x00400000};
static const uint16_t edges_f16[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x3c00, 0xbc00,
                                     0x3800, 0xb800, 0x4100, 0x4300, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
                                     0xfe01, 0x7c01, 0x6400, 0x77ff, 0x7800, 0x0200, 0x3bff, 0x5bff, 0x8200};
static const uint64_t edges64[] = {0,
                                   1,
                                   63,
                                   64,
                                   65,
                                   UINT64_C(0x7fffffffffffffff),
                                   UINT64_C(0x8000000000000000),
                                   UINT64_MAX,
                                   UINT64_C(0x00000000ffffffff),
                                   UINT64_C(0x100000000),
                                   UINT64_C(0xfffffffe00000001),
                                   UINT64_C(0x0123456789abcdef)};
static const uint64_t edges_f64[] = {0,
                                     UINT64_C(0x8000000000000000),
                                     1,
                                     UINT64_C(0x000fffffffffffff),
                                     UINT64_C(0x0010000000000000),
                                     UINT64_C(0x3ff0000000000000),
                                     UINT64_C(0xbff0000000000000),
                                     UINT64_C(0x3fe0000000000000),
                                     UINT64_C(0x4004000000000000),
                                     UINT64_C(0xc00c000000000000),
                                     UINT64_C(0x7fefffffffffffff),
                                     UINT64_C(0xffefffffffffffff),
                                     UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0xfff0000000000000),
                                     UINT64_C(0x7ff8000000000000),
                                     UINT64_C(0x7ff0000000000001),
                                     UINT64_C(0x41dfffffffc00000),
                                     UINT64_C(0x41e0000000000000),
                                     UINT64_C(0x41efffffffe00000),
                                     UINT64_C(0xc1e0000000200000),
                                     UINT64_C(0xbc90000000000000),
                                     UINT64_C(0x7fe0000000000000)};

static uint64_t random_state = 1;

static uint32_t draw(void) {
    return isa_test_random(&random_state) << 16 ^ isa_test_random(&random_state);
}

#define PICK(list) (list)[draw() % (sizeof(list) / sizeof(list)[0])]

/* A value of a role's type: mostly an edge. 16-bit values have anything in the upper half. */
static uint64_t draw_value(char type, unsigned count) {
    bool any = draw() % 4 == 0;
    if (type == 'd' && !any) {
        return PICK(edges_f64);
    }
    if (count == 2 || type == 'd') {
        return any ? (uint64_t)draw() << 32 | draw() : PICK(edges64);
    }
    if (any) {
        return draw();
    }
    switch (type) {
    case 'f':
        return PICK(edges_f32);
    case 'k':
    case 'q':
        return PICK(edges_f16) | (uint32_t)PICK(edges_f16) << 16;
    case 'w':
        return (PICK(edges_f32) & 0xffff0000u) | PICK(edges_f32) >> 16;
    case 'h':
    case 'p':
        return (PICK(edges32) & 0xffff) | PICK(edges32) << 16;
    default:
        return draw() % 3 == 0 ? PICK(edges_f32) : PICK(edges32);
    }
}

/* ---- Comparing --------------------------------------------------------------------------------------------- */

static int64_t ordered(int64_t bits, int64_t sign) {
    return (bits & sign) != 0 ? -(bits & ~sign) : bits;
}

static bool near(int64_t got, int64_t expected, int64_t sign, int64_t units) {
    int64_t difference = ordered(got, sign) - ordered(expected, sign);
    return difference <= units && difference >= -units;
}

static bool same(uint64_t got, uint64_t expected, rows_compare how) {
    if (got == expected) {
        return true;
    }
    switch (how) {
    case ROWS_F32:
        return isnan(rows_float(got)) && isnan(rows_float(expected));
    case ROWS_F16:
        return isnan(rows_half(got)) && isnan(rows_half(expected));
    case ROWS_F64:
        return isnan(rows_double(got)) && isnan(rows_double(expected));
    case ROWS_PAIR:
        return same(got & 0xffff, expected & 0xffff, ROWS_F16) && same(got >> 16, expected >> 16, ROWS_F16);
    case ROWS_FLOATS:
        return same(got & UINT32_MAX, expected & UINT32_MAX, ROWS_F32) && same(got >> 32, expected >> 32, ROWS_F32);
    case ROWS_BFLOATS:
        return same(got << 16 & UINT32_MAX, expected << 16 & UINT32_MAX, ROWS_F32) &&
               same(got & 0xffff0000, expected & 0xffff0000, ROWS_F32);
    case ROWS_TURN:
        return isnan(rows_float(expected)) ? isnan(rows_float(got))
                                           : fabsf(rows_float(got) - rows_float(expected)) <= 0x1p-21f;
    case ROWS_F32_1:
        return isnan(rows_float(expected)) ? isnan(rows_float(got))
                                           : near((int64_t)got, (int64_t)expected, INT64_C(0x80000000), 1);
    case ROWS_F16_1:
        return isnan(rows_half(expected)) ? isnan(rows_half(got))
                                          : near((int64_t)got, (int64_t)expected, INT64_C(0x8000), 1);
    case ROWS_F64_1:
        return isnan(rows_double(expected)) ? isnan(rows_double(got))
                                            : near((int64_t)got, (int64_t)expected, INT64_MIN, 1);
    case ROWS_F64_29:
        return isnan(rows_double(expected)) ? isnan(rows_double(got))
                                            : near((int64_t)got, (int64_t)expected, INT64_MIN, INT64_C(1) << 29);
    default:
        return false;
    }
}

/* ---- Lane-wise rows ---------------------------------------------------------------------------------------- */

typedef struct role {
    char access, type;
    unsigned count;
} role;

/* The words of a row's operands. */
static size_t read_roles(const char *text, role roles[ISA_OPERANDS_MAX]) {
    size_t count = 0;
    for (; *text != '\0'; text += strcspn(text, " "), text += strspn(text, " ")) {
        roles[count] = (role){.access = text[0], .type = text[1], .count = text[1] == 'd' ? 2 : 1};
        if (text[2] >= '1' && text[2] <= '9') {
            roles[count].count = (unsigned)atoi(text + 2);
        }
        count++;
    }
    return count;
}

static void add(char *text, const char *words) {
    strcat(text, words);
}

static void add_register(char *text, char file, unsigned reg, unsigned count) {
    char words[32];
    if (count > 1) {
        snprintf(words, sizeof words, "%c[%u:%u]", file, reg, reg + count - 1);
    } else {
        snprintf(words, sizeof words, "%c%u", file, reg);
    }
    add(text, words);
}

static bool is_float(char type) {
    return type == 'f' || type == 'k' || type == 'd';
}

static bool is_half(char type) {
    return type == 'k' || type == 'h';
}

typedef struct source {
    char type;
    unsigned count, reg;
    bool scalar, constant, neg, abs, high;
    uint64_t value; /* of a scalar or constant */
} source;

/* One way to write the instruction. */
typedef struct form {
    const isa_row *row;
    role roles[ISA_OPERANDS_MAX];
    size_t role_count;
    source sources[SOURCES];
    size_t source_count;
    bool has_mask_in, has_mask_out, has_dest, dest_high, both, into_exec, keeps_half;
    char dest_type;
    unsigned dest_count;
    char text[256];
} form;

/* A constant as the text writes it and the bits that the type makes of it. */
static void choose_constant(source *s, char *words) {
    static const struct {
        const char *words;
        float value;
        uint16_t half;
    } floats[] = {{"0.5", 0.5f, 0x3800},
                  {"1.0", 1.0f, 0x3c00},
                  {"-2.0", -2.0f, 0xc000},
                  {"4.0", 4.0f, 0x4400},
                  {"0.15915494", 0.15915494f, 0x3118}};
    static const int numbers[] = {0, 1, 64, -1, -16, 31};
    int number = PICK(numbers);
    s->constant = true;
    if (is_float(s->type) && s->type != 'd' && draw() % 2 == 0) {
        size_t i = draw() % 5;
        add(words, floats[i].words);
        s->value = s->type == 'k' ? floats[i].half : rows_float_bits(floats[i].value);
        return;
    }
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    add(words, text);
    s->value = s->count == 2                        ? (uint64_t)(int64_t)number
               : is_half(s->type) || s->type == 'p' ? (uint32_t)number & 0xffff
                                                    : (uint32_t)number;
}

/* A plain instruction, or with one of the things that sources and destinations may be. */
typedef enum variant { PLAIN, LANES_OFF, SCALAR, CONSTANT, SIGNS, HALVES, VARIANTS } variant;

static void write_source(form *f, source *s, variant how) {
    bool first = s == &f->sources[0];
    if (how == CONSTANT && first && s->type != 'q' && s->type != 'w') {
        choose_constant(s, f->text);
        return;
    }
    s->neg = how == SIGNS && is_float(s->type) && draw() % 2;
    s->abs = how == SIGNS && is_float(s->type) && draw() % 2;
    add(f->text, s->neg ? "-" : "");
    add(f->text, s->abs ? "|" : "");
    s->scalar = how == SCALAR && first;
    add_register(f->text, s->scalar ? 's' : 'v', s->reg, s->count);
    s->high = how == HALVES && is_half(s->type) && draw() % 2;
    add(f->text, s->abs ? "|" : "");
}

static void write_operand(form *f, const role *r, unsigned lanes, variant how) {
    if (r->type == 'm') {
        bool out = r->access == 'D';
        add_register(f->text, 's', out ? MASK_OUT : MASK_IN, lanes / 32);
        f->has_mask_out = f->has_mask_out || out;
        f->has_mask_in = f->has_mask_in || !out;
    } else if (r->access != 'S') {
        f->has_dest = true;
        f->both = r->access == 'B';
        f->dest_type = r->type;
        f->dest_count = r->count;
        f->dest_high = how == HALVES && is_half(r->type) && draw() % 2;
        add_register(f->text, 'v', DEST, r->count);
    } else {
        source *s = &f->sources[f->source_count];
        *s = (source){.type = r->type, .count = r->count, .reg = SOURCE + 4 * (unsigned)f->source_count};
        f->source_count++;
        write_source(f, s, how);
    }
}

/* op_sel has a bit for each source and a last one for the destination. */
static void write_halves(form *f) {
    char bit[4];
    add(f->text, " op_sel:[");
    for (size_t i = 0; i < f->source_count; i++) {
        snprintf(bit, sizeof bit, "%d,", f->sources[i].high);
        add(f->text, bit);
    }
    add(f->text, f->dest_high ? "1]" : "0]");
}

static void write_form(form *f, const isa_row *row, unsigned lanes, variant how) {
    *f = (form){.row = row};
    f->role_count = read_roles(row->operands, f->roles);
    size_t length = strcspn(row->name, " ");
    snprintf(f->text, sizeof f->text, "%.*s_e64 ", (int)length, row->name);
    f->into_exec = strncmp(row->name, "v_cmpx", 6) == 0;
    for (size_t i = f->into_exec; i < f->role_count; i++) {
        add(f->text, i > f->into_exec ? ", " : "");
        write_operand(f, &f->roles[i], lanes, how);
    }
    add(f->text, row->name[length] == ' ' ? " clamp" : "");
    bool halves = is_half(f->dest_type);
    for (size_t i = 0; i < f->source_count; i++) {
        halves = halves || is_half(f->sources[i].type);
    }
    if (how == HALVES && halves) {
        write_halves(f);
    }
}

/* What the reference is given of a source. */
static uint64_t seen(const source *s, uint64_t value) {
    value = s->scalar || s->constant ? s->value : value;
    if (is_half(s->type)) {
        value = s->high && !s->constant ? value >> 16 & 0xffff : value & 0xffff;
    }
    uint64_t sign = s->type == 'd' ? UINT64_C(1) << 63 : s->type == 'f' ? 0x80000000u : 0x8000u;
    value &= s->abs ? ~sign : UINT64_MAX;
    return s->neg ? value ^ sign : value;
}

static uint64_t get(const isa_wave *wave, unsigned reg, unsigned count, unsigned lane) {
    return count == 2 ? (uint64_t)wave->vgpr[reg + 1][lane] << 32 | wave->vgpr[reg][lane] : wave->vgpr[reg][lane];
}

static void put(isa_wave *wave, unsigned reg, unsigned count, unsigned lane, uint64_t value) {
    wave->vgpr[reg][lane] = (uint32_t)value;
    if (count == 2) {
        wave->vgpr[reg + 1][lane] = (uint32_t)(value >> 32);
    }
}

static uint64_t get_mask(const isa_wave *wave, unsigned reg) {
    return (wave->lanes == 64 ? (uint64_t)wave->sgpr[reg + 1] << 32 : 0) | wave->sgpr[reg];
}

static void set_mask(isa_wave *wave, unsigned reg, uint64_t mask) {
    wave->sgpr[reg] = (uint32_t)mask;
    wave->sgpr[reg + 1] = (uint32_t)(mask >> 32);
}

static void fill(form *f, isa_wave *wave) {
    for (size_t i = 0; i < f->source_count; i++) {
        source *s = &f->sources[i];
        for (unsigned lane = 0; lane < wave->lanes; lane++) {
            put(wave, s->reg, s->count, lane, draw_value(s->type, s->count));
        }
        if (s->scalar) {
            s->value = draw_value(s->type, s->count);
            set_mask(wave, s->reg, s->value);
        }
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        put(wave, DEST, 2, lane, draw_value(f->dest_type, 2));
    }
    set_mask(wave, MASK_IN, (uint64_t)draw() << 32 | draw());
    set_mask(wave, MASK_OUT, (uint64_t)draw() << 32 | draw());
}

/* What the lanes' registers hold before. */
typedef struct operands {
    uint64_t old[ISA_LANES_MAX], values[SOURCES][ISA_LANES_MAX];
} operands;

static void check_lane(const form *f, const rows_case *of, const isa_wave *before, const isa_wave *after, unsigned lane,
                       uint64_t exec, uint64_t mask_out, const operands *given_to) {
    rows_io io = {.exec = exec, .in = f->has_mask_in && (get_mask(before, MASK_IN) >> lane & 1) != 0};
    uint64_t given[SOURCES] = {0};
    for (size_t i = 0; i < f->source_count; i++) {
        given[i] = seen(&f->sources[i], given_to->values[i][lane]);
    }
    io.a = given[0];
    io.b = given[1];
    io.c = given[2];
    io.old = is_half(f->dest_type) ? given_to->old[lane] >> (f->dest_high ? 16 : 0) & 0xffff : given_to->old[lane];
    of->reference(&io);
    bool on = (exec >> lane & 1) != 0;
    if (f->has_mask_out || f->into_exec) {
        cr_assert_eq(mask_out >> lane & 1, on && io.out, "%s: lane %u of %u: a 0x%llx b 0x%llx c 0x%llx in %d: mask %d",
                     f->text, lane, after->lanes, (unsigned long long)io.a, (unsigned long long)io.b,
                     (unsigned long long)io.c, io.in, (int)(mask_out >> lane & 1));
    }
    if (!f->has_dest) {
        return;
    }
    uint64_t got = get(after, DEST, f->dest_count, lane);
    if (is_half(f->dest_type)) {
        unsigned shift = f->dest_high ? 16 : 0;
        bool clears = on && !f->keeps_half;
        cr_assert_eq(got >> (16 - shift) & 0xffff, clears ? 0 : given_to->old[lane] >> (16 - shift) & 0xffff,
                     "%s: the other half of lane %u: 0x%llx", f->text, lane, (unsigned long long)got);
        got = got >> shift & 0xffff;
        io.d = on ? io.d : given_to->old[lane] >> shift & 0xffff;
    } else {
        io.d = on ? io.d : f->dest_count == 2 ? given_to->old[lane] : given_to->old[lane] & UINT32_MAX;
    }
    cr_assert(same(got, io.d, of->compare),
              "%s: lane %u of %u: a 0x%llx b 0x%llx c 0x%llx old 0x%llx in %d: expected 0x%llx, got 0x%llx", f->text,
              lane, after->lanes, (unsigned long long)io.a, (unsigned long long)io.b, (unsigned long long)io.c,
              (unsigned long long)io.old, io.in, (unsigned long long)io.d, (unsigned long long)got);
}

static void run_form(machine *m, form *f, const rows_case *of, bool lanes_off) {
    isa_wave *wave = machine_wave(m), before;
    uint64_t exec =
        (lanes_off ? (uint64_t)draw() << 32 | draw() : UINT64_MAX) & (wave->lanes == 64 ? UINT64_MAX : UINT32_MAX);
    operands held;
    fill(f, wave);
    machine_set_exec(m, exec);
    before = *wave;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        held.old[lane] = get(wave, DEST, 2, lane);
        for (size_t i = 0; i < f->source_count; i++) {
            held.values[i][lane] = get(wave, f->sources[i].reg, f->sources[i].count, lane);
        }
    }
    machine_step(m);
    cr_assert_not(wave->failed, "%s", f->text);
    uint64_t mask_out = f->into_exec ? get_mask(wave, ISA_EXEC) : get_mask(wave, MASK_OUT);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        check_lane(f, of, &before, wave, lane, exec, mask_out, &held);
    }
    machine_set_exec(m, UINT64_MAX);
}

/* On gfx9 all 16-bit results clear the other half, but for those of instructions that could also write it. */
static bool keeps_half(const char *text) {
    static const char *const kept[] = {"v_mad_",
                                       "v_fma_f16",
                                       "v_div_fixup_f16",
                                       "v_min3_",
                                       "v_max3_",
                                       "v_med3_",
                                       "v_add_i16",
                                       "v_sub_i16",
                                       "v_cvt_pk_fp8",
                                       "v_cvt_pk_bf8",
                                       "v_cvt_scalef32_pk_fp8",
                                       "v_cvt_scalef32_pk_bf8"};
    bool found = (machine_family()->bit & ISA_GFX9) == 0;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        found = found || (strncmp(text, kept[i], strlen(kept[i])) == 0 && strstr(text, "legacy") == NULL);
    }
    return found;
}

static void run_case(const rows_case *of, unsigned lanes) {
    const isa_row *row = isa_row_find(of->name, strlen(of->name));
    cr_assert_not_null(row, "the device has no row '%s'", of->name);
    cr_assert_not_null(row->lanes, "'%s' is not lane-wise", of->name);
    if (!machine_has(of->name) || (machine_family()->waves & lanes) == 0) {
        return;
    }
    machine *m = machine_new(lanes, false);
    for (variant how = PLAIN; how < VARIANTS; how++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            form f;
            write_form(&f, row, lanes, how);
            machine_load(m, f.text);
            f.keeps_half = keeps_half(machine_text(m));
            run_form(m, &f, of, how == LANES_OFF);
        }
    }
    machine_free(m);
}

static void run_cases(const rows_cases *cases) {
    for (size_t i = 0; i < cases->count; i++) {
        run_case(&cases->list[i], 32);
        run_case(&cases->list[i], 64);
    }
}

ROWS_TEST(integers) {
    run_cases(&rows_of_integers);
}

ROWS_TEST(floats) {
    run_cases(&rows_of_floats);
}

ROWS_TEST(halves) {
    run_cases(&rows_of_halves);
}

ROWS_TEST(pairs) {
    run_cases(&rows_of_pairs);
}

ROWS_TEST(doubles) {
    run_cases(&rows_of_doubles);
}

ROWS_TEST(extremes) {
    run_cases(&rows_of_extremes);
}

ROWS_TEST(gfx9) {
    run_cases(&rows_of_gfx9);
}

ROWS_TEST(fp8) {
    run_cases(&rows_of_fp8);
}

ROWS_TEST(comparisons) {
    run_cases(&rows_of_comparisons);
}

/* ---- Scalar rows ------------------------------------------------------------------------------------------- */

typedef struct scalar_form {
    role roles[ISA_OPERANDS_MAX];
    size_t role_count, source_count;
    unsigned dest_count; /* 0: none */
    unsigned counts[SOURCES];
    bool constants[SOURCES];
    uint64_t values[SOURCES];
    char text[256];
} scalar_form;

static void write_scalar_constant(scalar_form *f, size_t at) {
    static const int numbers[] = {0, 1, -1, 64, -16, 0x7fff, -0x8000};
    char words[16];
    bool simm16 = f->counts[at] == 0;
    int number = numbers[draw() % (simm16 ? 7 : 5)];
    snprintf(words, sizeof words, simm16 ? "0x%x" : "%d", simm16 ? number & 0xffff : number);
    add(f->text, words);
    f->constants[at] = true;
    f->values[at] = simm16               ? (uint64_t)(number & 0xffff)
                    : f->counts[at] == 2 ? (uint64_t)(int64_t)number
                                         : (uint32_t)number;
}

static void write_scalar_form(scalar_form *f, const isa_row *row, bool constants) {
    *f = (scalar_form){0};
    f->role_count = read_roles(row->operands, f->roles);
    snprintf(f->text, sizeof f->text, "%s ", row->name);
    for (size_t i = 0; i < f->role_count; i++) {
        const role *r = &f->roles[i];
        add(f->text, i > 0 ? ", " : "");
        if (r->access != 'S') {
            f->dest_count = r->count;
            add_register(f->text, 's', DEST, r->count);
            continue;
        }
        size_t at = f->source_count++;
        f->counts[at] = r->type == 'x' ? 0 : r->count;
        if (r->type == 'x' || (constants && at == 0 && f->role_count > 1)) {
            write_scalar_constant(f, at);
        } else {
            add_register(f->text, 's', SOURCE + 2 * (unsigned)at, r->count);
        }
    }
}

static void run_scalar(machine *m, scalar_form *f, const rows_case *of) {
    isa_wave *wave = machine_wave(m);
    rows_io io = {.in = draw() % 2, .exec = (uint64_t)draw() << 32 | draw()};
    io.exec &= wave->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    for (size_t i = 0; i < f->source_count; i++) {
        if (!f->constants[i]) {
            bool wide = f->counts[i] == 2;
            f->values[i] = wide ? draw_value('v', 2) : draw_value(draw() % 2 ? 'f' : 'v', 1);
            set_mask(wave, SOURCE + 2 * (unsigned)i, f->values[i]);
        }
    }
    set_mask(wave, DEST, draw_value('v', 2));
    machine_set_exec(m, io.exec);
    wave->scc = io.in;
    io.a = f->values[0];
    io.b = f->values[1];
    io.c = f->values[2];
    io.old = (uint64_t)wave->sgpr[DEST + 1] << 32 | wave->sgpr[DEST];
    io.d = io.old;
    io.out = io.in;
    of->reference(&io);
    machine_step(m);
    cr_assert_not(wave->failed, "%s", f->text);
    uint64_t got = (uint64_t)wave->sgpr[DEST + 1] << 32 | wave->sgpr[DEST];
    if (f->dest_count == 1) {
        got &= UINT32_MAX;
        io.d &= UINT32_MAX;
    }
    cr_assert(f->dest_count == 0 || same(got, io.d, of->compare),
              "%s: a 0x%llx b 0x%llx c 0x%llx old 0x%llx scc %d: expected 0x%llx, got 0x%llx", f->text,
              (unsigned long long)io.a, (unsigned long long)io.b, (unsigned long long)io.c, (unsigned long long)io.old,
              io.in, (unsigned long long)io.d, (unsigned long long)got);
    cr_assert_eq(wave->scc, io.out, "%s: a 0x%llx b 0x%llx scc %d: expected SCC %d", f->text, (unsigned long long)io.a,
                 (unsigned long long)io.b, io.in, io.out);
    cr_assert_eq(get_mask(wave, ISA_EXEC), io.exec, "%s: EXEC", f->text);
}

static void run_scalars(const rows_cases *cases) {
    for (size_t i = 0; i < cases->count; i++) {
        const rows_case *of = &cases->list[i];
        const isa_row *row = isa_row_find(of->name, strlen(of->name));
        cr_assert_not_null(row, "the device has no row '%s'", of->name);
        if (!machine_has(of->name)) {
            continue;
        }
        /* EXEC is as wide as the instruction in its own kind of wave alone. */
        bool wide = strstr(of->name, "exec_b64") != NULL;
        machine *m = machine_new(wide ? 64 : 32, false);
        for (unsigned round = 0; round < 40 * ROUNDS; round++) {
            scalar_form f;
            write_scalar_form(&f, row, round % 4 == 3);
            machine_load(m, f.text);
            run_scalar(m, &f, of);
        }
        machine_free(m);
    }
}

ROWS_TEST(scalars) {
    run_scalars(&rows_of_scalars);
    run_scalars(&rows_of_scalar_extremes);
}

/* An inline float is one of the operand's width. */
ROWS_TEST(constants_of_scalar_halves) {
    if (!machine_has("s_add_f16")) {
        return;
    }
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    wave->sgpr[1] = (uint32_t)rows_half_bits(3.0f) | 0xabcd0000u;
    machine_run(m, "s_add_f16 s0, 1.0, s1");
    cr_assert_eq(wave->sgpr[0], rows_half_bits(4.0f));
    wave->sgpr[0] = (uint32_t)rows_half_bits(0.5f);
    machine_run(m, "s_fmac_f16 s0, s1, -2.0");
    cr_assert_eq(wave->sgpr[0], rows_half_bits(-5.5f));
    machine_run(m, "s_cmp_lt_f16 s1, 4.0");
    cr_assert(wave->scc);
    if (machine_has("s_max_num_f16")) {
        machine_run(m, "s_max_num_f16 s0, s1, 4.0");
        cr_assert_eq(wave->sgpr[0], rows_half_bits(4.0f));
    }
    machine_free(m);
}

/* Signs and the clamp, which scalars have nowhere else. */
ROWS_TEST(modifiers_of_scalar_functions) {
    if (!machine_has("v_s_exp_f32")) {
        return;
    }
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    wave->sgpr[1] = (uint32_t)rows_float_bits(2.0f);
    machine_run(m, "v_s_exp_f32 s5, -s1");
    cr_assert_eq(rows_float(wave->sgpr[5]), 0.25f);
    wave->sgpr[1] = (uint32_t)rows_float_bits(-2.0f);
    machine_run(m, "v_s_exp_f32 s5, |s1|");
    cr_assert_eq(rows_float(wave->sgpr[5]), 4.0f);
    machine_run(m, "v_s_exp_f32 s5, |s1| clamp");
    cr_assert_eq(rows_float(wave->sgpr[5]), 1.0f);
    machine_run(m, "v_s_log_f16 s5, 4.0");
    cr_assert_eq(wave->sgpr[5], rows_half_bits(2.0f));
    machine_free(m);
}

/* ---- Families ---------------------------------------------------------------------------------------------- */

enum { TESTS_MAX = 96 };

static struct {
    const char *name;
    void (*run)(void);
} tests[TESTS_MAX];
static size_t test_count;

void rows_register(const char *name, void (*test)(void)) {
    if (test_count < TESTS_MAX) {
        tests[test_count].name = name;
        tests[test_count].run = test;
    }
    test_count++;
}

ParameterizedTestParameters(rows, of_every_family) {
    static size_t families[16];
    for (size_t i = 0; i < isa_family_count; i++) {
        families[i] = i;
    }
    return cr_make_param_array(size_t, families, isa_family_count);
}

ParameterizedTest(const size_t *number, rows, of_every_family) {
    char missing[8192];
    size_t known;
    const isa_family *family = isa_families[*number];
    isa_family_known(family, &known);
    if (known == 0) {
        return; /* a family that is not written yet */
    }
    cr_assert_leq(test_count, TESTS_MAX);
    machine_use(family);
    for (size_t i = 0; i < test_count; i++) {
        fprintf(stderr, "%s: %s\n", family->target, tests[i].name);
        tests[i].run();
    }
    machine_missing(missing, sizeof missing);
    cr_assert_str_eq(missing, "", "%s: of %zu mnemonics these have no case:%s", family->target, known, missing);
}

/* ---- Tables ------------------------------------------------------------------------------------------------ */

Test(rows, each_is_found_once_and_cites_a_document) {
    for (const isa_table *const *table = isa_tables; *table != NULL; table++) {
        for (size_t i = 0; i < (*table)->count; i++) {
            const isa_row *row = &(*table)->rows[i];
            cr_assert_eq(isa_row_find(row->name, strlen(row->name)), row, "two rows are called %s", row->name);
            cr_assert_not_null(strstr(row->source, " ISA guide, "), "%s: %s", row->name, row->source);
            cr_assert((row->lanes != NULL) != (row->wave != NULL), "%s", row->name);
            cr_assert_neq(row->families, 0, "%s", row->name);
        }
    }
}

Test(rows, each_mnemonic_of_a_family_means_one_row_and_cites_a_document) {
    for (size_t f = 0; f < isa_family_count; f++) {
        size_t count;
        const isa_known *known = isa_family_known(isa_families[f], &count);
        for (size_t i = 0; i < count; i++) {
            cr_assert_not_null(known[i].row, "%s: '%s' means a row that does not exist", isa_families[f]->target,
                               known[i].name);
            cr_assert(i == 0 || strcmp(known[i - 1].name, known[i].name) != 0, "%s: '%s' is there twice",
                      isa_families[f]->target, known[i].name);
            cr_assert_not_null(strstr(known[i].source, " ISA guide, "), "%s: %s", known[i].name, known[i].source);
            cr_assert_eq(isa_family_find(isa_families[f], known[i].name, strlen(known[i].name)), known[i].row);
        }
    }
}

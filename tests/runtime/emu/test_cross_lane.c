/* Cross-lane instructions against tables written by hand from the RDNA3 instruction set guide, and for gfx9 from the
 * "Vega" guide: which lane each lane reads. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu_test.h"

enum {
    OLD = -1,  /* the lane keeps its old value */
    ZERO = -2, /* the lane gets 0 */
    LANES_MAX = 64
};

static const uint32_t SOURCE_BASE = 1000, OLD_BASE = 5000;

typedef struct row {
    const char *expression; /* of the kernel's variables src, old and lane */
    int wave;               /* 32 or 64; 0: both */
    int period;             /* how many lanes the table below describes; it repeats, relative to its first lane */
    int from[LANES_MAX];
} row;

static const row table[] = {
    /* DPP, quad_perm: bits 1:0 choose for lane 0 of four, and so on. */
    {"__builtin_amdgcn_update_dpp(old, src, 0x1b, 15, 15, false)", 0, 4, {3, 2, 1, 0}},
    {"__builtin_amdgcn_update_dpp(old, src, 0xb1, 15, 15, false)", 0, 4, {1, 0, 3, 2}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x4e, 15, 15, false)", 0, 4, {2, 3, 0, 1}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x55, 15, 15, false)", 0, 4, {1, 1, 1, 1}},
    /* row_shl:1, row_shl:3: from the lane above; bound_ctrl decides what the last lanes get. */
    {"__builtin_amdgcn_update_dpp(old, src, 0x101, 15, 15, false)",
     0,
     16,
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, OLD}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x103, 15, 15, true)",
     0,
     16,
     {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ZERO, ZERO, ZERO}},
    /* row_shr:1, row_shr:15: from the lane below. */
    {"__builtin_amdgcn_update_dpp(old, src, 0x111, 15, 15, false)",
     0,
     16,
     {OLD, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x11f, 15, 15, true)",
     0,
     16,
     {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, 0}},
    /* row_ror:1, row_ror:8. */
    {"__builtin_amdgcn_update_dpp(old, src, 0x121, 15, 15, false)",
     0,
     16,
     {15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x128, 15, 15, false)",
     0,
     16,
     {8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7}},
    /* row_mirror, row_half_mirror. */
    {"__builtin_amdgcn_update_dpp(old, src, 0x140, 15, 15, false)",
     0,
     16,
     {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x141, 15, 15, false)",
     0,
     16,
     {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}},
    /* row_share:0, row_share:13. */
    {"__builtin_amdgcn_update_dpp(old, src, 0x150, 15, 15, false)",
     0,
     16,
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x15d, 15, 15, false)",
     0,
     16,
     {13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13}},
    /* row_xmask:1, 4, 10, 15. */
    {"__builtin_amdgcn_update_dpp(old, src, 0x161, 15, 15, false)",
     0,
     16,
     {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x164, 15, 15, false)",
     0,
     16,
     {4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x16a, 15, 15, false)",
     0,
     16,
     {10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x16f, 15, 15, false)",
     0,
     16,
     {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
    /* Masks: row 1 (and 3) alone; banks 0 and 2 alone. A lane that is masked off keeps its old value whatever
       bound_ctrl. */
    {"__builtin_amdgcn_update_dpp(old, src, 0xb1, 0xa, 15, true)", 0, 32, {OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD,
                                                                           OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD,
                                                                           17,  16,  19,  18,  21,  20,  23,  22,
                                                                           25,  24,  27,  26,  29,  28,  31,  30}},
    {"__builtin_amdgcn_update_dpp(old, src, 0xb1, 0xc, 15, true)",
     64,
     64,
     {OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD,
      OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, 33,  32,  35,  34,  37,  36,  39,  38,  41,  40,  43,  42,
      45,  44,  47,  46,  49,  48,  51,  50,  53,  52,  55,  54,  57,  56,  59,  58,  61,  60,  63,  62}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x101, 15, 5, true)",
     0,
     16,
     {1, 2, 3, 4, OLD, OLD, OLD, OLD, 9, 10, 11, 12, OLD, OLD, OLD, OLD}},
    {"__builtin_amdgcn_update_dpp(old, src, 0x101, 15, 8, false)",
     0,
     16,
     {OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, OLD, 13, 14, 15, OLD}},
    {"__builtin_amdgcn_mov_dpp(src, 0x160 + 2, 15, 15, true)", 0, 4, {2, 3, 0, 1}},
    /* DPP8: three bits for each of eight lanes: 7 6 5 4 3 2 1 0 from lane 0 up, and 1 everywhere. */
    {"__builtin_amdgcn_mov_dpp8(src, 7 | 6 << 3 | 5 << 6 | 4 << 9 | 3 << 12 | 2 << 15 | 1 << 18)",
     0,
     8,
     {7, 6, 5, 4, 3, 2, 1, 0}},
    {"__builtin_amdgcn_mov_dpp8(src, 1 | 1 << 3 | 1 << 6 | 1 << 9 | 1 << 12 | 1 << 15 | 1 << 18 | 1 << 21)",
     0,
     8,
     {1, 1, 1, 1, 1, 1, 1, 1}},
    /* The guide's own example: rotation by one within a row. */
    {"__builtin_amdgcn_permlane16(old, src, 0x87654321u, 0x0fedcba9u, false, false)",
     0,
     16,
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0}},
    {"__builtin_amdgcn_permlane16(old, src, 0xffff0000u, 0x89abcdefu, true, true)",
     0,
     16,
     {0, 0, 0, 0, 15, 15, 15, 15, 15, 14, 13, 12, 11, 10, 9, 8}},
    /* The other row of two: straight, and with lane 0 of it everywhere but in the last lane. */
    {"__builtin_amdgcn_permlanex16(old, src, 0x76543210u, 0xfedcba98u, false, false)",
     0,
     32,
     {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15}},
    {"__builtin_amdgcn_permlanex16(old, src, 0, 0x50000000u, true, false)",
     0,
     32,
     {16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}},
    {"__builtin_amdgcn_permlane64(src)", 32, 4, {0, 1, 2, 3}},
    {"__builtin_amdgcn_permlane64(src)", 64, 64, {32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                                  48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
                                                  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
    /* ds_swizzle, bit mode: xor, or, and of five bits each. Swap by 16; of each eight the first; its mirror. */
    {"__builtin_amdgcn_ds_swizzle(src, 0x401f)", 0, 32, {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
                                                         27, 28, 29, 30, 31, 0,  1,  2,  3,  4,  5,
                                                         6,  7,  8,  9,  10, 11, 12, 13, 14, 15}},
    {"__builtin_amdgcn_ds_swizzle(src, 0x0018)", 0, 8, {0, 0, 0, 0, 0, 0, 0, 0}},
    {"__builtin_amdgcn_ds_swizzle(src, 0x1c1f)", 0, 8, {7, 6, 5, 4, 3, 2, 1, 0}},
    {"__builtin_amdgcn_ds_swizzle(src, 0x005e)", 0, 4, {2, 2, 2, 2}},
    /* ds_swizzle, any of four. */
    {"__builtin_amdgcn_ds_swizzle(src, 0x8000 | 0x1b)", 0, 4, {3, 2, 1, 0}},
    {"__builtin_amdgcn_ds_swizzle(src, 0x8000 | 0xaa)", 0, 4, {2, 2, 2, 2}},
    /* ds_swizzle, rotation by 1 with no mask, by 2 the other way, by 4 in groups of eight. */
    {"__builtin_amdgcn_ds_swizzle(src, 0xc000 | 1 << 5)", 0, 32, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                                                  12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                                                  23, 24, 25, 26, 27, 28, 29, 30, 31, 0}},
    {"__builtin_amdgcn_ds_swizzle(src, 0xc000 | 1 << 10 | 2 << 5)", 0, 32, {30, 31, 0,  1,  2,  3,  4,  5,  6,  7,  8,
                                                                            9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                                                            20, 21, 22, 23, 24, 25, 26, 27, 28, 29}},
    {"__builtin_amdgcn_ds_swizzle(src, 0xc000 | 4 << 5 | 0x18)", 0, 8, {4, 5, 6, 7, 0, 1, 2, 3}},
    /* ds_swizzle, Fourier: bits reversed, all of them and the lower three of eights. */
    {"__builtin_amdgcn_ds_swizzle(src, 0xe000)", 0, 32, {0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
                                                         1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31}},
    {"__builtin_amdgcn_ds_swizzle(src, 0xe018)", 0, 8, {0, 4, 2, 6, 1, 5, 3, 7}},
    {"__builtin_amdgcn_ds_swizzle(src, 0xe01f)", 0, 4, {0, 1, 2, 3}},
    /* Byte addresses; what is above lane 31 wraps, the two low bits do not count. */
    {"__builtin_amdgcn_ds_bpermute((lane ^ 5) * 4, src)", 0, 8, {5, 4, 7, 6, 1, 0, 3, 2}},
    {"__builtin_amdgcn_ds_bpermute(lane * 4 + 4 * 33 + 3, src)", 0, 32, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                                                         12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                                                         23, 24, 25, 26, 27, 28, 29, 30, 31, 0}},
    {"__builtin_amdgcn_ds_bpermute(28, src)", 0, 32, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
                                                      7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
    /* Lane i sends to lane i / 2 of its 32: the odd ones win, and nobody sends to the upper half. */
    {"__builtin_amdgcn_ds_permute((lane & 31) / 2 * 4, src)", 0, 32, {1,    3,    5,    7,    9,    11,   13,   15,
                                                                      17,   19,   21,   23,   25,   27,   29,   31,
                                                                      ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO,
                                                                      ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO}},
    {"__builtin_amdgcn_ds_permute((lane + 1) * 4, src)", 0, 32, {31, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                                                                 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                                                 21, 22, 23, 24, 25, 26, 27, 28, 29, 30}},
};

enum { ROWS = sizeof table / sizeof table[0] };

static uint32_t expected(const row *entry, int lane) {
    int from = entry->from[lane % entry->period];
    if (from == OLD) {
        return OLD_BASE + (uint32_t)lane;
    }
    return from == ZERO ? 0 : SOURCE_BASE + (uint32_t)(lane / entry->period * entry->period + from);
}

/* A kernel that evaluates expressions one after another, one row of output each. */
typedef struct program {
    char text[65536];
    size_t used;
    int rows;
} program;

static void begin_program(program *to) {
    to->used = (size_t)snprintf(to->text, sizeof to->text,
                                "extern \"C\" __global__ void kernel(unsigned *out) {\n"
                                "    const int lane = (int)threadIdx.x;\n"
                                "    const int src = 1000 + lane, old = 5000 + lane;\n");
    to->rows = 0;
}

static void add_expression(program *to, const char *expression) {
    to->used += (size_t)snprintf(to->text + to->used, sizeof to->text - to->used,
                                 "    out[%d + lane] = (unsigned)%s;\n", to->rows++ * LANES_MAX, expression);
    cr_assert(lt(sz, to->used, sizeof to->text - 16));
}

static void run_program_on(const char *chip, program *from, int wave, uint32_t items, uint32_t *out) {
    snprintf(from->text + from->used, sizeof from->text - from->used, "    (void)src; (void)old;\n}\n");
    emu_test test = emu_test_open(chip);
    void *kernel = emu_test_kernel(&test, from->text, "rows.hip", wave);
    size_t bytes = (size_t)from->rows * LANES_MAX * sizeof *out;
    void *buffer = emu_test_buffer(&test, bytes, "out", NULL);
    cr_assert(eq(int, emu_test_run(&test, kernel, 1, items, &buffer, sizeof buffer), FMHA_OK), "%s", fmha_last_error());
    emu_test_read(&test, buffer, out, bytes);
    emu_test_close(&test);
}

static void run_program(program *from, int wave, uint32_t items, uint32_t *out) {
    run_program_on("gfx1151", from, wave, items, out);
}

static uint32_t results[ROWS * LANES_MAX];
static program text;

/* `lacks` names the instructions that the chip does not have. */
static bool has(const row *entry, int wave, const char *const *lacks) {
    for (; *lacks != NULL; lacks++) {
        if (strstr(entry->expression, *lacks) != NULL) {
            return false;
        }
    }
    return entry->wave == 0 || entry->wave == wave;
}

static void check_table_on(const char *chip, int wave, const char *const *lacks) {
    begin_program(&text);
    for (int i = 0; i < ROWS; i++) {
        if (has(&table[i], wave, lacks)) {
            add_expression(&text, table[i].expression);
        }
    }
    run_program_on(chip, &text, wave, (uint32_t)wave, results);
    for (int i = 0, at = 0; i < ROWS; i++) {
        if (!has(&table[i], wave, lacks)) {
            continue;
        }
        for (int lane = 0; lane < wave; lane++) {
            cr_assert(eq(u32, results[at * LANES_MAX + lane], expected(&table[i], lane)), "%s, lane %d",
                      table[i].expression, lane);
        }
        at++;
    }
}

Test(cross_lane, table_wave32) {
    check_table_on("gfx1151", 32, (const char *const[]){NULL});
}

Test(cross_lane, table_wave64) {
    check_table_on("gfx1151", 64, (const char *const[]){NULL});
}

Test(cross_lane, table_of_rdna2) {
    check_table_on("gfx1030", 32, (const char *const[]){"permlane64", NULL});
    check_table_on("gfx1030", 64, (const char *const[]){"permlane64", NULL});
}

/* What the "Vega" and CDNA guides define as the RDNA guides do; ds_bpermute and ds_permute are below. */
Test(cross_lane, table_of_gfx9) {
    static const char *const lacks[] = {"permlane", "dpp8", " 0x15", " 0x16", "permute", NULL};
    check_table_on("gfx908", 64, lacks);
    check_table_on("gfx942", 64, lacks);
    check_table_on("gfx950", 64, lacks);
}

/* Each lane's result: of `count` expressions, by a function of the expression's number and the lane. */
static void check_on(const char *chip, uint32_t items, const char *const *expressions, int count,
                     uint32_t (*want)(int expression, uint32_t lane)) {
    begin_program(&text);
    for (int i = 0; i < count; i++) {
        add_expression(&text, expressions[i]);
    }
    run_program_on(chip, &text, 64, items, results);
    for (int i = 0; i < count; i++) {
        for (uint32_t lane = 0; lane < items; lane++) {
            cr_assert(eq(u32, results[(uint32_t)i * LANES_MAX + lane], want(i, lane)), "%s: %s, lane %u", chip,
                      expressions[i], lane);
        }
    }
}

/* On gfx9 they reach all 64 lanes ("Vega" guide, DS_PERMUTE_B32 and DS_BPERMUTE_B32); the address counts modulo 256. */
static uint32_t want_permute(int expression, uint32_t lane) {
    const uint32_t from[] = {lane ^ 32, (lane + 1) % 64, 63 - lane, (lane + 5) % 64, (lane + 63) % 64, lane ^ 32};
    return SOURCE_BASE + from[expression];
}

Test(cross_lane, permute_all_lanes_of_gfx9) {
    static const char *const expressions[] = {
        "__builtin_amdgcn_ds_bpermute((lane ^ 32) * 4, src)", "__builtin_amdgcn_ds_bpermute((lane + 1) * 4, src)",
        "__builtin_amdgcn_ds_bpermute((63 - lane) * 4, src)", "__builtin_amdgcn_ds_bpermute((lane + 69) * 4 + 3, src)",
        "__builtin_amdgcn_ds_permute((lane + 1) * 4, src)",   "__builtin_amdgcn_ds_permute((lane ^ 32) * 4 + 256, src)",
    };
    check_on("gfx908", 64, expressions, sizeof expressions / sizeof expressions[0], want_permute);
    check_on("gfx942", 64, expressions, sizeof expressions / sizeof expressions[0], want_permute);
}

/* A workgroup of 40: lanes 40 to 63 are disabled; what is read of them is 0, and what is sent to them is lost. */
static uint32_t want_permute_of_40(int expression, uint32_t lane) {
    switch (expression) {
    case 0:
        return lane < 8 ? SOURCE_BASE + lane + 32 : lane < 32 ? 0 : SOURCE_BASE + lane - 32;
    case 1:
        return lane < 24 ? 0 : SOURCE_BASE + 63 - lane;
    default:
        return (lane ^ 16) < 40 ? SOURCE_BASE + (lane ^ 16) : 0;
    }
}

Test(cross_lane, disabled_lanes_of_gfx9) {
    static const char *const expressions[] = {
        "__builtin_amdgcn_ds_bpermute((lane ^ 32) * 4, src)",
        "__builtin_amdgcn_ds_permute((63 - lane) * 4, src)",
        "__builtin_amdgcn_ds_swizzle(src, 0x401f)",
    };
    check_on("gfx942", 40, expressions, sizeof expressions / sizeof expressions[0], want_permute_of_40);
}

/* LLVM's AMDGPU usage page: odd rows of the first operand change places with even rows of the second (rows of 16
 * lanes, or halves of the wave); both come back. A lane whose partner is disabled keeps what it has, or with
 * bound_ctrl gets 0; with fetch_inactive the partner is read, whatever it holds. */
static uint32_t swapped(int second, uint32_t lane, uint32_t rows) {
    bool odd = (lane & rows) != 0;
    if (second) {
        return odd ? SOURCE_BASE + lane : OLD_BASE + lane + rows;
    }
    return odd ? SOURCE_BASE + lane - rows : OLD_BASE + lane;
}

#define SWAPS(flags)                                                                                                   \
    "__builtin_amdgcn_permlane16_swap(old, src, " flags ")[0]",                                                        \
        "__builtin_amdgcn_permlane16_swap(old, src, " flags ")[1]",                                                    \
        "__builtin_amdgcn_permlane32_swap(old, src, " flags ")[0]",                                                    \
        "__builtin_amdgcn_permlane32_swap(old, src, " flags ")[1]"

static uint32_t want_swap(int expression, uint32_t lane) {
    return swapped(expression % 2, lane, expression % 4 < 2 ? 16 : 32);
}

Test(cross_lane, swap_of_rows) {
    static const char *const expressions[] = {SWAPS("false, false"), SWAPS("true, false"), SWAPS("false, true"),
                                              SWAPS("true, true")};
    check_on("gfx950", 64, expressions, sizeof expressions / sizeof expressions[0], want_swap);
}

/* Of 40 lanes, 24 to 31 lack a partner 16 away and 8 to 31 one 32 away. */
static uint32_t want_swap_of_40(int expression, uint32_t lane) {
    uint32_t rows = expression % 4 < 2 ? 16 : 32;
    bool odd = (lane & rows) != 0, second = expression % 2 != 0;
    if (lane + rows >= 40 && !odd && second) {
        return expression < 4 ? SOURCE_BASE + lane : 0;
    }
    return swapped(second, lane, rows);
}

Test(cross_lane, swap_with_disabled_lanes) {
    static const char *const expressions[] = {SWAPS("false, false"), SWAPS("false, true")};
    static const char *const fetching[] = {SWAPS("true, false"), SWAPS("true, true")};
    check_on("gfx950", 40, expressions, sizeof expressions / sizeof expressions[0], want_swap_of_40);
    begin_program(&text);
    for (size_t i = 0; i < sizeof fetching / sizeof fetching[0]; i++) {
        add_expression(&text, fetching[i]);
    }
    run_program_on("gfx950", &text, 64, 40, results);
    for (uint32_t lane = 8; lane < 32; lane++) { /* not what the lane had */
        cr_assert(ne(u32, results[3 * LANES_MAX + lane], SOURCE_BASE + lane), "lane %u", lane);
    }
}

#define UNKNOWN                                                                                                        \
    "__builtin_amdgcn_update_dpp: dpp_ctrl is not one that is known of this chip: quad_perm 0x000-0x0ff, "             \
    "row_shl 0x101-0x10f, row_shr 0x111-0x11f, row_ror 0x121-0x12f, row_mirror 0x140, row_half_mirror 0x141, "         \
    "row_share 0x150-0x15f, row_xmask 0x160-0x16f (not on gfx9)"
#define UNDECLARED "k.hip:2:14: error: use of undeclared identifier '__builtin_amdgcn_"

/* wave_shl, wave_rol, wave_shr, wave_ror and row_bcast, which gfx9 has and nobody needs; row_share, row_xmask and whole
 * instructions, which it lacks. */
Test(cross_lane, refused_on_gfx9) {
    static const struct {
        const char *expression, *words;
    } cases[] = {
        {"update_dpp(1, 2, 0x130, 15, 15, true)", UNKNOWN},
        {"update_dpp(1, 2, 0x134, 15, 15, true)", UNKNOWN},
        {"update_dpp(1, 2, 0x138, 15, 15, true)", UNKNOWN},
        {"update_dpp(1, 2, 0x13c, 15, 15, true)", UNKNOWN},
        {"update_dpp(1, 2, 0x142, 15, 15, true)", UNKNOWN},
        {"update_dpp(1, 2, 0x143, 15, 15, true)", UNKNOWN},
        {"update_dpp(1, 2, 0x150, 15, 15, true)", UNKNOWN},
        {"update_dpp(1, 2, 0x16f, 15, 15, true)", UNKNOWN},
        {"mov_dpp8(1, 0)", UNDECLARED "mov_dpp8'"},
        {"permlane16(1, 2, 3, 4, false, false)", UNDECLARED "permlane16'"},
        {"permlanex16(1, 2, 3, 4, false, false)", UNDECLARED "permlanex16'"},
        {"permlane64(1)", UNDECLARED "permlane64'"},
        {"ballot_w32(true)", "__builtin_amdgcn_ballot_w32 needs wave size 32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char source[256];
        snprintf(source, sizeof source,
                 "extern \"C\" __global__ void kernel(unsigned *out) {\n    out[0] = __builtin_amdgcn_%s;\n}\n",
                 cases[i].expression);
        emu_test_compile_error("gfx942", source, 64, cases[i].words);
    }
}

/* Every quad permutation and every row operation against the guide's formula. */
Test(cross_lane, every_dpp_control) {
    enum { CONTROLS = 256 + 3 * 15 + 2 + 32 };
    static int controls[CONTROLS];
    static uint32_t out[CONTROLS * LANES_MAX];
    int count = 0;
    begin_program(&text);
    for (int control = 0; control <= 0x16f; control++) {
        int is_hole = (control & 0xf) == 0 && control >= 0x100 && control <= 0x120;
        if (is_hole || (control >= 0x130 && control < 0x140) || (control >= 0x142 && control < 0x150)) {
            continue;
        }
        char expression[128];
        snprintf(expression, sizeof expression, "__builtin_amdgcn_update_dpp(old, src, %d, 15, 15, true)", control);
        add_expression(&text, expression);
        controls[count++] = control;
    }
    cr_assert(eq(int, count, CONTROLS));
    run_program(&text, 32, 32, out);
    for (int i = 0; i < CONTROLS; i++) {
        int c = controls[i], n = c & 15;
        for (int lane = 0; lane < 32; lane++) {
            int at = lane % 16, from;
            if (c < 0x100) {
                from = at / 4 * 4 + (c >> at % 4 * 2) % 4;
            } else if (c < 0x110) {
                from = at + n;
            } else if (c < 0x120) {
                from = at - n;
            } else if (c < 0x130) {
                from = (at + 16 - n) % 16;
            } else if (c < 0x150) {
                from = c == 0x140 ? 15 - at : at / 8 * 8 + 7 - at % 8;
            } else {
                from = c < 0x160 ? n : at ^ n;
            }
            uint32_t want = from < 0 || from > 15 ? 0 : 1000 + (uint32_t)(lane / 16 * 16 + from);
            cr_assert(eq(u32, out[i * LANES_MAX + lane], want), "control 0x%x, lane %d", (unsigned)c, lane);
        }
    }
}

/* Scalar results and operands. */
Test(cross_lane, lanes_and_masks) {
    static const char *const expressions[] = {
        "__builtin_amdgcn_readfirstlane(src)",
        "__builtin_amdgcn_readlane(src, 17)",
        "__builtin_amdgcn_readlane(src, 32 + 9)",   /* wraps in wave32 */
        "__builtin_amdgcn_readlane(src, lane + 3)", /* not uniform: the first lane's */
        "__builtin_amdgcn_writelane(77, 5, old)",
        "__builtin_amdgcn_ballot_w64(lane % 3 == 0)", /* the low half */
        "(__builtin_amdgcn_ballot_w64(lane % 3 == 0) >> 32)",
        "__builtin_amdgcn_mbcnt_lo(~0u, 0)",
        "__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 100))",
        "__builtin_amdgcn_mbcnt_hi(0x80000001u, 0)",
        "__builtin_amdgcn_mbcnt_lo(0x80000001u, 7)",
    };
    enum { COUNT = sizeof expressions / sizeof expressions[0] };
    for (int wave = 32; wave <= 64; wave += 32) {
        begin_program(&text);
        for (int i = 0; i < COUNT; i++) {
            add_expression(&text, expressions[i]);
        }
        run_program(&text, wave, (uint32_t)wave, results);
        for (uint32_t lane = 0; lane < (uint32_t)wave; lane++) {
            uint32_t low = lane < 32 ? lane : 32, high = lane - low;
            const uint32_t want[COUNT] = {
                1000,
                1017,
                wave == 32 ? 1009 : 1041,
                1003,
                lane == 5 ? 77 : 5000 + lane,
                0x49249249,
                wave == 32 ? 0 : 0x92492492,
                low,
                100 + lane,
                high >= 1 ? 1 : 0, /* bit 31 is below no lane */
                7 + (lane >= 1 ? 1 : 0) + (lane >= 32 ? 1 : 0),
            };
            for (int i = 0; i < COUNT; i++) {
                cr_assert(eq(u32, results[i * LANES_MAX + (int)lane], want[i]), "%s, wave%d, lane %u", expressions[i],
                          wave, lane);
            }
        }
    }
}

Test(cross_lane, ballot_of_wave32) {
    begin_program(&text);
    add_expression(&text, "__builtin_amdgcn_ballot_w32(lane & 1)");
    run_program(&text, 32, 32, results);
    cr_assert(eq(u32, results[0], 0xaaaaaaaa));
    cr_assert(eq(u32, results[31], 0xaaaaaaaa));
}

/* A workgroup of 20 in wave32: lanes 20 to 31 are disabled. */
Test(cross_lane, disabled_lanes) {
    static const struct {
        const char *expression;
        int lane;
        uint32_t want;
    } cases[] = {
        {"__builtin_amdgcn_update_dpp(old, src, 0x101, 15, 15, false)", 19, 5019},
        {"__builtin_amdgcn_update_dpp(old, src, 0x101, 15, 15, true)", 19, 0},
        {"__builtin_amdgcn_update_dpp(old, src, 0x101, 15, 15, true)", 18, 1019},
        {"__builtin_amdgcn_mov_dpp8(src, 7)", 16, 0},
        {"__builtin_amdgcn_permlanex16(old, src, 0x76543210u, 0xfedcba98u, false, false)", 3, 1019},
        {"__builtin_amdgcn_permlanex16(old, src, 0x76543210u, 0xfedcba98u, false, false)", 4, 5004},
        {"__builtin_amdgcn_permlanex16(old, src, 0x76543210u, 0xfedcba98u, false, true)", 4, 0},
        {"__builtin_amdgcn_ds_swizzle(src, 0x401f)", 4, 0},
        {"__builtin_amdgcn_ds_bpermute(25 * 4, src)", 0, 0},
        {"__builtin_amdgcn_ds_permute((31 - lane) * 4, src)", 11, 0},
        {"__builtin_amdgcn_ds_permute((31 - lane) * 4, src)", 12, 1019},
        {"__builtin_amdgcn_ballot_w32(true)", 0, 0xfffff},
        {"__builtin_amdgcn_readfirstlane(src)", 19, 1000},
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    begin_program(&text);
    for (int i = 0; i < COUNT; i++) {
        add_expression(&text, cases[i].expression);
    }
    run_program(&text, 32, 20, results);
    for (int i = 0; i < COUNT; i++) {
        cr_assert(eq(u32, results[i * LANES_MAX + cases[i].lane], cases[i].want), "%s, lane %d", cases[i].expression,
                  cases[i].lane);
    }
}

/* Instructions that move values from lane to lane, registers by number, mixed precision, integer dot products. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa_test.h"
#include "machine.h"
#include "rows.h"

static uint64_t state = 7;

static uint32_t draw(void) {
    return isa_test_random(&state) << 16 ^ isa_test_random(&state);
}

static uint64_t draw64(void) {
    return (uint64_t)draw() << 32 | draw();
}

/* Fills registers 0 to 31 and returns a copy of what a wave had. */
/* ---- Single lanes ------------------------------------------------------------------------------------------ */

ROWS_TEST(single_lanes) {
    for (unsigned lanes = machine_least(); lanes <= 64; lanes += 32) {
        machine *m = machine_new(lanes, false);
        isa_wave *wave = machine_wave(m);
        machine_fill(m, 32, draw);
        machine_set_exec(m, UINT64_C(0xf0));
        machine_run(m, "v_readfirstlane_b32 s3, v5");
        cr_assert_eq(wave->sgpr[3], wave->vgpr[5][4], "the lowest lane that is on");
        machine_set_exec(m, 0);
        machine_run(m, "v_readfirstlane_b32 s3, v5");
        cr_assert_eq(wave->sgpr[3], wave->vgpr[5][0], "with every lane off lane 0");
        wave->sgpr[4] = lanes + 9; /* modulo the lanes of the wave; EXEC does not matter */
        machine_run(m, "v_readlane_b32 s3, v5, s4");
        cr_assert_eq(wave->sgpr[3], wave->vgpr[5][9]);
        machine_run(m, "v_readlane_b32 s3, v5, 31");
        cr_assert_eq(wave->sgpr[3], wave->vgpr[5][31]);
        uint32_t beside = wave->vgpr[6][8];
        machine_run(m, "v_writelane_b32 v6, s3, s4");
        cr_assert_eq(wave->vgpr[6][9], wave->sgpr[3]);
        cr_assert_eq(wave->vgpr[6][8], beside);
        machine_run(m, "v_writelane_b32 v6, -16, 3");
        cr_assert_eq(wave->vgpr[6][3], 0xfffffff0u);
        machine_free(m);
    }
}

/* Lanes are chosen by two scalars for every row, or each by its own. */
static void try_permutations(bool by_lane) {
    for (unsigned round = 0; round < 64; round++) {
        unsigned lanes = round % 2 ? 64 : 32, flags = round / 2 % 4, other = round / 8 % 2 * 16;
        uint64_t exec = draw64(), select = draw64();
        machine *m = machine_new(lanes, false);
        isa_wave *wave = machine_wave(m);
        uint32_t old[64];
        char text[96];
        machine_fill(m, 32, draw);
        memcpy(old, wave->vgpr[6], sizeof old);
        wave->sgpr[2] = (uint32_t)select;
        wave->sgpr[3] = (uint32_t)(select >> 32);
        machine_set_exec(m, exec);
        snprintf(text, sizeof text, "v_permlane%s%s_b32 v6, v5, %s op_sel:[%u,%u]", other ? "x16" : "16",
                 by_lane ? "_var" : "", by_lane ? "v7" : "s2, s3", flags & 1, flags >> 1);
        machine_run(m, text);
        for (unsigned lane = 0; lane < lanes; lane++) {
            unsigned chosen = by_lane ? wave->vgpr[7][lane] % 16 : (unsigned)(select >> lane % 16 * 4 & 15);
            unsigned from = ((lane / 16 * 16) ^ other) + chosen;
            bool off = (exec >> from & 1) == 0;
            uint32_t expected = !off || (flags & 1) ? wave->vgpr[5][from] : (flags & 2) ? 0 : old[lane];
            cr_assert_eq(wave->vgpr[6][lane], (exec >> lane & 1) ? expected : old[lane], "%s: lane %u", text, lane);
        }
        machine_free(m);
    }
}

ROWS_TEST(permutations) {
    if (!machine_has("v_permlane16_b32")) {
        return;
    }
    try_permutations(false);
    if (machine_has("v_permlane16_var_b32")) {
        try_permutations(true);
    }
}

ROWS_TEST(halves_of_a_wave_change_places) {
    if (!machine_has("v_permlane64_b32")) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    uint64_t exec = draw64();
    machine_fill(m, 32, draw);
    uint32_t old[64];
    memcpy(old, wave->vgpr[6], sizeof old);
    machine_set_exec(m, exec);
    machine_run(m, "v_permlane64_b32 v6, v5");
    for (unsigned lane = 0; lane < 64; lane++) { /* what lanes read may be off */
        cr_assert_eq(wave->vgpr[6][lane], (exec >> lane & 1) ? wave->vgpr[5][(lane + 32) % 64] : old[lane]);
    }
    machine_free(m);
    m = machine_new(32, false);
    wave = machine_wave(m);
    machine_fill(m, 32, draw);
    uint32_t before = wave->vgpr[6][1];
    machine_run(m, "v_permlane64_b32 v6, v5");
    cr_assert_eq(wave->vgpr[6][1], before, "in a wave of 32 nothing happens");
    machine_free(m);
}

ROWS_TEST(counting_bits_below) {
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    wave->sgpr[2] = 0xf00f1234;
    for (unsigned lane = 0; lane < 64; lane++) {
        wave->vgpr[7][lane] = 1000;
    }
    machine_run(m, "v_mbcnt_lo_u32_b32 v8, s2, v7");
    machine_run(m, "v_mbcnt_hi_u32_b32 v9, s2, v7");
    for (unsigned lane = 0; lane < 64; lane++) {
        uint32_t low = 1000, high = 1000;
        for (unsigned at = 0; at < lane; at++) {
            low += at < 32 ? wave->sgpr[2] >> at & 1 : 0;
            high += at >= 32 ? wave->sgpr[2] >> (at - 32) & 1 : 0;
        }
        cr_assert_eq(wave->vgpr[8][lane], low, "lane %u", lane);
        cr_assert_eq(wave->vgpr[9][lane], high, "lane %u", lane);
    }
    machine_free(m);
}

ROWS_TEST(registers_change_places) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_fill(m, 32, draw);
    uint32_t p = wave->vgpr[4][3], q = wave->vgpr[5][3], off = wave->vgpr[4][7];
    machine_set_exec(m, 0x0f);
    machine_run(m, "v_swap_b32 v4, v5");
    cr_assert_eq(wave->vgpr[4][3], q);
    cr_assert_eq(wave->vgpr[5][3], p);
    cr_assert_eq(wave->vgpr[4][7], off);
    if (!machine_has("v_swap_b16")) {
        machine_free(m);
        return;
    }
    machine_run(m, "v_swap_b16 v4.l, v5.h");
    cr_assert_eq(wave->vgpr[4][3], (q & 0xffff0000) | p >> 16);
    cr_assert_eq(wave->vgpr[5][3], q << 16 | (p & 0xffff));
    machine_free(m);
}

ROWS_TEST(registers_by_number) {
    if (!machine_has("v_movrels_b32")) {
        return;
    }
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_fill(m, 32, draw);
    wave->sgpr[ISA_M0] = 10;
    machine_run(m, "v_movrels_b32 v4, v5");
    cr_assert_eq(wave->vgpr[4][1], wave->vgpr[15][1]);
    machine_run(m, "v_movreld_b32 v5, v7");
    cr_assert_eq(wave->vgpr[15][1], wave->vgpr[7][1]);
    machine_run(m, "v_movrelsd_b32 v2, v8");
    cr_assert_eq(wave->vgpr[12][1], wave->vgpr[18][1]);
    wave->sgpr[ISA_M0] = 20u << 16 | 10;
    machine_run(m, "v_movrelsd_2_b32 v5, v7");
    cr_assert_eq(wave->vgpr[25][1], wave->vgpr[17][1]);
    wave->sgpr[ISA_M0] = 1000;
    machine_run(m, "v_movrels_b32 v4, v5");
    machine_expect(m, "register-outside", "uses v1005, the kernel has 64 vector registers");
    machine_free(m);
}

ROWS_TEST(scalars_by_number) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    wave->sgpr[ISA_M0] = 4;
    for (uint32_t reg = 0; reg < 32; reg++) {
        wave->sgpr[reg] = 100 + reg;
    }
    machine_run(m, "s_movrels_b32 s20, s6");
    cr_assert_eq(wave->sgpr[20], 110);
    machine_run(m, "s_movreld_b32 s21, s7");
    cr_assert_eq(wave->sgpr[25], 107);
    machine_run(m, "s_movrels_b64 s[20:21], s[6:7]");
    cr_assert_eq(wave->sgpr[20], 110);
    cr_assert_eq(wave->sgpr[21], 111);
    machine_run(m, "s_movreld_b64 s[24:25], s[6:7]");
    cr_assert_eq(wave->sgpr[28], 106);
    cr_assert_eq(wave->sgpr[29], 107);
    wave->sgpr[ISA_M0] = UINT32_MAX;
    machine_run(m, "s_movrels_b32 s20, s6");
    machine_expect(m, "register-outside", "uses s4294967301, the last is s105");
    machine_free(m);
}

/* ---- Constants among three sources ------------------------------------------------------------------------- */

ROWS_TEST(constants_of_fused_multiply_adds) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    wave->vgpr[1][0] = (uint32_t)rows_float_bits(3.0f);
    wave->vgpr[2][0] = (uint32_t)rows_float_bits(5.0f);
    if (machine_has("v_fmaak_f32")) {
        machine_run(m, "v_fmaak_f32 v3, v1, v2, 0x41200000");
        cr_assert_eq(rows_float(wave->vgpr[3][0]), 25.0f);
        machine_run(m, "v_fmamk_f32 v3, v1, 0x41200000, v2");
        cr_assert_eq(rows_float(wave->vgpr[3][0]), 35.0f);
    }
    if (machine_has("v_madak_f32")) {
        machine_run(m, "v_madak_f32 v3, v1, v2, 0x41200000");
        cr_assert_eq(rows_float(wave->vgpr[3][0]), 25.0f);
        machine_run(m, "v_madmk_f32 v3, v1, 0x41200000, v2");
        cr_assert_eq(rows_float(wave->vgpr[3][0]), 35.0f);
    }
    wave->vgpr[1][0] = (uint32_t)rows_half_bits(3.0f);
    wave->vgpr[2][0] = (uint32_t)rows_half_bits(5.0f);
    if (machine_has("v_fmaak_f16")) {
        machine_run(m, "v_fmaak_f16 v3, v1, v2, 0x4900");
        cr_assert_eq(rows_half(wave->vgpr[3][0]), 25.0f);
        machine_run(m, "v_fmamk_f16 v3, v1, 0x4900, v2");
        cr_assert_eq(rows_half(wave->vgpr[3][0]), 35.0f);
    }
    machine_free(m);
}

/* ---- Mixed precision --------------------------------------------------------------------------------------- */

/* The source as its two bits of op_sel and op_sel_hi and its signs say. */
static double mixed(uint32_t word, bool half, bool high, bool abs, bool neg) {
    double value = half ? (double)rows_half(high ? word >> 16 : word) : (double)rows_float(word);
    value = abs ? fabs(value) : value;
    return neg ? -value : value;
}

static uint32_t mixed_word(void) {
    /* finite as a float32 and as two float16 */
    return (draw() & 0x3fff) | (uint32_t)(0x3000 + draw() % 0x1800) << 16;
}

ROWS_TEST(mixed_precision) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned round = 0; round < 512; round++) {
        unsigned op_sel = round & 7, op_sel_hi = round >> 3 & 7, neg = draw() & 7, abs = draw() & 7;
        double value[3];
        char text[256], sources[3][16];
        for (int i = 0; i < 3; i++) {
            wave->vgpr[1 + i][0] = mixed_word();
            value[i] = mixed(wave->vgpr[1 + i][0], op_sel_hi >> i & 1, op_sel >> i & 1, abs >> i & 1, neg >> i & 1);
            snprintf(sources[i], sizeof sources[i], "%s%sv%d%s", neg >> i & 1 ? "-" : "", abs >> i & 1 ? "|" : "",
                     1 + i, abs >> i & 1 ? "|" : "");
        }
        float fused = __builtin_fmaf((float)value[0], (float)value[1], (float)value[2]);
        static const char *const names[] = {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"};
        for (int k = 0; k < 3; k++) {
            uint32_t old = draw(), half = (uint32_t)rows_half_bits(fused);
            wave->vgpr[9][0] = old;
            snprintf(text, sizeof text, "%s v9, %s, %s, %s op_sel:[%u,%u,%u] op_sel_hi:[%u,%u,%u]", names[k],
                     sources[0], sources[1], sources[2], op_sel & 1, op_sel >> 1 & 1, op_sel >> 2, op_sel_hi & 1,
                     op_sel_hi >> 1 & 1, op_sel_hi >> 2);
            machine_run(m, text);
            uint32_t expected = k == 0   ? (uint32_t)rows_float_bits(fused)
                                : k == 1 ? (old & 0xffff0000) | half
                                         : (old & 0xffff) | half << 16;
            cr_assert_eq(wave->vgpr[9][0], expected, "%s: 0x%x, expected 0x%x", text, wave->vgpr[9][0], expected);
        }
    }
    machine_run(m, "v_fma_mix_f32 v9, v1, v2, 1.0 clamp");
    machine_free(m);
}

/* ---- Integer dot products ---------------------------------------------------------------------------------- */

static int64_t part(uint32_t word, unsigned at, unsigned bits, bool is_signed) {
    int64_t value = word / (1u << at) % (1u << bits);
    return is_signed && value >= INT64_C(1) << (bits - 1) ? value - (INT64_C(1) << bits) : value;
}

static void try_dot(machine *m, const char *name, unsigned bits, int signs) {
    isa_wave *wave = machine_wave(m);
    char text[96];
    for (unsigned reg = 1; reg < 4; reg++) {
        wave->vgpr[reg][5] = draw();
    }
    int64_t sum = wave->vgpr[3][5];
    for (unsigned at = 0; at < 32; at += bits) {
        sum += part(wave->vgpr[1][5], at, bits, signs > 0 && (signs & 1)) *
               part(wave->vgpr[2][5], at, bits, signs > 0 && (signs & 2));
    }
    if (signs > 0) {
        snprintf(text, sizeof text, "%s v4, v1, v2, v3 neg_lo:[%d,%d,0]", name, signs & 1, signs >> 1);
    } else {
        snprintf(text, sizeof text, "%s v4, v1, v2, v3", name);
    }
    machine_run(m, text);
    cr_assert_eq(wave->vgpr[4][5], (uint32_t)sum, "%s", text);
}

ROWS_TEST(integer_dot_products) {
    machine *m = machine_new(32, false);
    for (int round = 0; round < 32; round++) {
        try_dot(m, "v_dot4_u32_u8", 8, 0);
        try_dot(m, "v_dot8_u32_u4", 4, 0);
        if (machine_has("v_dot4_i32_iu8")) {
            try_dot(m, "v_dot4_i32_iu8", 8, round % 4);
            try_dot(m, "v_dot8_i32_iu4", 4, round % 4);
        }
    }
    machine_free(m);
}

/* ---- DPP --------------------------------------------------------------------------------------------------- */

/* The lane that a lane reads in its group of 16 (of 8 for dpp8), from the words of the guide's table; -1: outside. */
static int dpp_source(const char *control, int number, int lane) {
    int row = lane / 16 * 16, at = lane % 16;
    if (strcmp(control, "row_shl") == 0) { /* left: towards lane 0 */
        return at + number > 15 ? -1 : lane + number;
    }
    if (strcmp(control, "row_shr") == 0) {
        return at - number < 0 ? -1 : lane - number;
    }
    if (strcmp(control, "row_ror") == 0) {
        return row + (at + 16 - number) % 16;
    }
    if (strcmp(control, "row_share") == 0) {
        return row + number;
    }
    if (strcmp(control, "row_xmask") == 0) {
        return row + (at ^ number);
    }
    if (strcmp(control, "row_mirror") == 0) {
        return row + 15 - at;
    }
    return row + at / 8 * 8 + 7 - at % 8; /* row_half_mirror */
}

static void try_dpp(unsigned lanes, const char *control, int number, unsigned row_mask, unsigned bank_mask, bool bound,
                    bool fetch) {
    machine *m = machine_new(lanes, false);
    isa_wave *wave = machine_wave(m);
    uint64_t exec = draw64();
    uint32_t old[64];
    char text[160], words[32];
    machine_fill(m, 32, draw);
    memcpy(old, wave->vgpr[6], sizeof old);
    machine_set_exec(m, exec);
    snprintf(words, sizeof words, strstr(control, "mirror") ? "%s" : "%s:%d", control, number);
    snprintf(text, sizeof text, "v_sub_nc_u32_dpp v6, v5, v4 %s row_mask:0x%x bank_mask:0x%x%s%s", words, row_mask,
             bank_mask, bound ? " bound_ctrl:1" : "", fetch ? " fi:1" : "");
    machine_run(m, text);
    for (int lane = 0; lane < (int)lanes; lane++) {
        int source = dpp_source(control, number, lane);
        bool masked = (row_mask >> lane / 16 & 1) == 0 || (bank_mask >> lane % 16 / 4 & 1) == 0;
        bool valid = source >= 0 && (fetch || (exec >> source & 1));
        bool written = (exec >> lane & 1) && !masked && (valid || bound);
        uint32_t expected = written ? (valid ? wave->vgpr[5][source] : 0) - wave->vgpr[4][lane] : old[lane];
        cr_assert_eq(wave->vgpr[6][lane], expected, "%s: lane %d of %u, EXEC 0x%llx", text, lane, lanes,
                     (unsigned long long)exec);
    }
    machine_free(m);
}

ROWS_TEST(dpp_of_sixteen_lanes) {
    static const char *const controls[] = {"row_shl",   "row_shr",    "row_ror",        "row_share",
                                           "row_xmask", "row_mirror", "row_half_mirror"};
    for (unsigned round = 0; round < 280; round++) {
        const char *control = controls[round % 7];
        int number = (int)(draw() % 15) + 1;
        try_dpp(round % 2 ? 64 : 32, control, number, round % 3 ? 15 : draw() % 16, round % 5 ? 15 : draw() % 16,
                round / 7 % 2, round / 14 % 2);
    }
}

ROWS_TEST(dpp_of_four_and_eight_lanes) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_fill(m, 32, draw);
    machine_run(m, "v_mov_b32_dpp v6, v5 quad_perm:[3,0,2,2] row_mask:0xf bank_mask:0xf");
    machine_run(m, "v_mov_b32_dpp v7, v5 dpp8:[7,0,1,6,2,5,3,4]");
    static const unsigned four[] = {3, 0, 2, 2}, eight[] = {7, 0, 1, 6, 2, 5, 3, 4};
    for (unsigned lane = 0; lane < 32; lane++) {
        cr_assert_eq(wave->vgpr[6][lane], wave->vgpr[5][lane / 4 * 4 + four[lane % 4]]);
        cr_assert_eq(wave->vgpr[7][lane], wave->vgpr[5][lane / 8 * 8 + eight[lane % 8]]);
    }
    machine_set_exec(m, 0x7f); /* lane 7 is off: lane 0 gets 0 from it, with fi its value */
    machine_run(m, "v_mov_b32_dpp v7, v5 dpp8:[7,0,1,6,2,5,3,4]");
    cr_assert_eq(wave->vgpr[7][0], 0);
    machine_run(m, "v_mov_b32_dpp v7, v5 dpp8:[7,0,1,6,2,5,3,4] fi:1");
    cr_assert_eq(wave->vgpr[7][0], wave->vgpr[5][7]);
    /* Signs are changed on the way, and a comparison's bits of lanes that are left out are 0. */
    machine_set_exec(m, UINT64_MAX);
    wave->vgpr[5][1] = (uint32_t)rows_float_bits(-2.0f);
    wave->vgpr[4][0] = (uint32_t)rows_float_bits(1.0f);
    machine_run(m, "v_add_f32_dpp v7, |v5|, -v4 quad_perm:[1,0,2,3] row_mask:0xf bank_mask:0xf");
    cr_assert_eq(rows_float(wave->vgpr[7][0]), 1.0f);
    wave->sgpr[ISA_VCC] = UINT32_MAX;
    machine_run(m, machine_least() == 64
                       ? "v_cmp_eq_u32_dpp vcc, v5, v5 quad_perm:[0,1,2,3] row_mask:0x1 bank_mask:0xf"
                       : "v_cmp_eq_u32_e64_dpp vcc_lo, v5, v5 quad_perm:[0,1,2,3] row_mask:0x1 bank_mask:0xf");
    cr_assert_eq(wave->sgpr[ISA_VCC], 0xffff);
    machine_free(m);
}

/* ---- Output modifiers, two operations at once -------------------------------------------------------------- */

ROWS_TEST(results_are_clamped) {
    static const struct {
        float value, clamped;
    } cases[] = {{2.0f, 1.0f}, {-3.0f, 0.0f}, {0.25f, 0.25f}, {NAN, 0.0f}, {INFINITY, 1.0f}, {-0.0f, 0.0f}};
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bits = rows_double_bits((double)cases[i].value);
        wave->vgpr[1][0] = (uint32_t)rows_float_bits(cases[i].value);
        machine_run(m, "v_mul_f32_e64 v2, v1, 1.0 clamp");
        cr_assert_eq(wave->vgpr[2][0], rows_float_bits(cases[i].clamped), "case %zu", i);
        wave->vgpr[1][0] = (uint32_t)rows_half_bits(cases[i].value);
        machine_run(m, "v_mul_f16_e64 v2, v1, 1.0 clamp");
        cr_assert_eq(wave->vgpr[2][0] & 0xffff, rows_half_bits(cases[i].clamped), "case %zu", i);
        wave->vgpr[4][0] = (uint32_t)bits;
        wave->vgpr[5][0] = (uint32_t)(bits >> 32);
        machine_run(m, "v_mul_f64 v[2:3], v[4:5], 1.0 clamp");
        cr_assert_eq((uint64_t)wave->vgpr[3][0] << 32 | wave->vgpr[2][0], rows_double_bits((double)cases[i].clamped),
                     "case %zu", i);
    }
    machine_free(m);
}

ROWS_TEST(two_operations_read_before_either_writes) {
    if (!machine_has("v_fmac_dx9_zero_f32")) {
        return;
    }
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    machine_fill(m, 32, draw);
    uint32_t p = wave->vgpr[4][9], q = wave->vgpr[5][9];
    machine_run(m, "v_dual_mov_b32 v4, v5 :: v_dual_mov_b32 v5, v4");
    cr_assert_eq(wave->vgpr[4][9], q);
    cr_assert_eq(wave->vgpr[5][9], p);
    wave->sgpr[ISA_VCC] = 1u << 9;
    p = wave->vgpr[7][9];
    q = wave->vgpr[2][9];
    machine_run(m, "v_dual_cndmask_b32 v4, v6, v7 :: v_dual_lshlrev_b32 v9, 3, v2");
    cr_assert_eq(wave->vgpr[4][9], p);
    cr_assert_eq(wave->vgpr[9][9], q * 8);
    machine_free(m);
}

ROWS_TEST(packed_operands_are_put_together) {
    machine *m = machine_new(32, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned bits = 0; bits < 256; bits++) {
        uint32_t a = draw() & 0x7bff7bff, b = draw() & 0x3fff3fff;
        char text[160];
        wave->vgpr[1][0] = a;
        wave->vgpr[2][0] = b;
        snprintf(text, sizeof text,
                 "v_pk_mul_f16 v3, v1, v2 op_sel:[%u,%u] op_sel_hi:[%u,%u] neg_lo:[%u,%u] neg_hi:[%u,%u]", bits & 1,
                 bits >> 1 & 1, bits >> 2 & 1, bits >> 3 & 1, bits >> 4 & 1, bits >> 5 & 1, bits >> 6 & 1, bits >> 7);
        machine_run(m, text);
        float low = rows_half(a >> (bits & 1) * 16) * rows_half(b >> (bits >> 1 & 1) * 16);
        float high = rows_half(a >> (bits >> 2 & 1) * 16) * rows_half(b >> (bits >> 3 & 1) * 16);
        low = (bits >> 4 & 1) != (bits >> 5 & 1) ? -low : low;
        high = (bits >> 6 & 1) != (bits >> 7 & 1) ? -high : high;
        cr_assert_eq(wave->vgpr[3][0], rows_half_bits(low) | rows_half_bits(high) << 16, "%s", text);
    }
    /* An inline constant stands in the low half alone; a literal in both. */
    wave->vgpr[1][0] = 0x00050003;
    machine_run(m, "v_pk_add_u16 v3, v1, -1");
    cr_assert_eq(wave->vgpr[3][0], 0x00050002);
    machine_run(m, "v_pk_add_u16 v3, v1, -1 op_sel_hi:[1,0]");
    cr_assert_eq(wave->vgpr[3][0], 0x00040002);
    machine_run(m, "v_pk_add_u16 v3, v1, 0x20001");
    cr_assert_eq(wave->vgpr[3][0], 0x00070004);
    wave->vgpr[1][0] = 0x40003c00;
    machine_run(m, "v_pk_add_f16 v3, v1, 1.0 op_sel_hi:[1,0]");
    cr_assert_eq(wave->vgpr[3][0], 0x42004000);
    wave->vgpr[2][0] = 0x40003f80; /* bfloat16: 2 and 1; a constant is in both */
    wave->vgpr[3][0] = 0;
    if (machine_has("v_dot2_f32_bf16")) {
        machine_run(m, "v_dot2_f32_bf16 v3, v2, 1.0, v3");
        cr_assert_eq(rows_float(wave->vgpr[3][0]), 3.0f);
    }
    machine_free(m);
}

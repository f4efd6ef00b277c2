/* Instructions and forms of them that gfx9 alone has: pairs of float32, parts of registers (SDWA), DPP across rows,
 * exchanges of rows, accumulation registers. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "checks.h"
#include "isa_test.h"
#include "machine.h"
#include "rows.h"

static uint64_t state = 11;

static uint32_t draw(void) {
    return isa_test_random(&state) << 16 ^ isa_test_random(&state);
}

static bool is_gfx9(void) {
    return (machine_family()->bit & ISA_GFX9) != 0;
}

/* ---- Pairs of float32 -------------------------------------------------------------------------------------- */

/* A finite float32 of moderate size. */
static uint32_t moderate(void) {
    return (draw() & 0x807fffff) | (0x70 + draw() % 32) << 23;
}

static uint32_t pair_result(const char *name, float a, float b, float c) {
    return (uint32_t)rows_float_bits(strstr(name, "fma")   ? __builtin_fmaf(a, b, c)
                                     : strstr(name, "mul") ? a * b
                                                           : a + b);
}

static void try_pairs(machine *m, const char *name, unsigned sources, unsigned bits) {
    isa_wave *wave = machine_wave(m);
    unsigned op_sel = bits & 7, op_sel_hi = bits >> 3 & 7, neg_lo = draw() & 7, neg_hi = draw() & 7;
    float low[3] = {0}, high[3] = {0};
    char text[192], third[16] = "";
    for (unsigned i = 0; i < 3; i++) {
        wave->vgpr[2 + 2 * i][7] = moderate();
        wave->vgpr[3 + 2 * i][7] = moderate();
        low[i] = rows_float(wave->vgpr[2 + 2 * i + (op_sel >> i & 1)][7]) * (neg_lo >> i & 1 ? -1.0f : 1.0f);
        high[i] = rows_float(wave->vgpr[2 + 2 * i + (op_sel_hi >> i & 1)][7]) * (neg_hi >> i & 1 ? -1.0f : 1.0f);
    }
    if (sources == 3) {
        snprintf(third, sizeof third, ", v[6:7]");
    }
    int length = snprintf(text, sizeof text, "%s v[10:11], v[2:3], v[4:5]%s", name, third);
    static const char *const words[] = {"op_sel", "op_sel_hi", "neg_lo", "neg_hi"};
    const unsigned values[] = {op_sel, op_sel_hi, neg_lo, neg_hi};
    for (int k = 0; k < 4; k++) {
        length += snprintf(text + length, sizeof text - (size_t)length, sources == 3 ? " %s:[%u,%u,%u]" : " %s:[%u,%u]",
                           words[k], values[k] & 1, values[k] >> 1 & 1, values[k] >> 2);
    }
    machine_run(m, text);
    cr_assert_eq(wave->vgpr[10][7], pair_result(name, low[0], low[1], low[2]), "%s", text);
    cr_assert_eq(wave->vgpr[11][7], pair_result(name, high[0], high[1], high[2]), "%s", text);
}

ROWS_TEST(pairs_of_float32) {
    if (!machine_has("v_pk_fma_f32")) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned bits = 0; bits < 64; bits++) {
        try_pairs(m, "v_pk_fma_f32", 3, bits);
        try_pairs(m, "v_pk_mul_f32", 2, bits);
        try_pairs(m, "v_pk_add_f32", 2, bits);
    }
    wave->vgpr[2][0] = (uint32_t)rows_float_bits(3.0f);
    wave->vgpr[3][0] = (uint32_t)rows_float_bits(5.0f);
    machine_run(m, "v_pk_mul_f32 v[10:11], v[2:3], 0.5 op_sel_hi:[1,0]");
    cr_assert_eq(rows_float(wave->vgpr[10][0]), 1.5f);
    cr_assert_eq(rows_float(wave->vgpr[11][0]), 2.5f);
    wave->sgpr[4] = wave->vgpr[3][0];
    wave->sgpr[5] = wave->vgpr[2][0];
    machine_run(m, "v_pk_add_f32 v[10:11], v[2:3], s[4:5]");
    cr_assert_eq(rows_float(wave->vgpr[10][0]), 8.0f);
    cr_assert_eq(rows_float(wave->vgpr[11][0]), 8.0f);
    cr_assert_str_eq(machine_refusal(m, "v_pk_mul_f32 v[10:11], v[2:3], 0.5"),
                     "a constant in the high half of a pair of float32 is not known");
    machine_free(m);
}

ROWS_TEST(copies_of_pairs) {
    if (!machine_has("v_pk_mov_b32")) {
        return;
    }
    machine *m = machine_new(64, true);
    isa_wave *wave = machine_wave(m);
    for (unsigned bits = 0; bits < 4; bits++) {
        char text[96];
        machine_fill(m, 32, draw);
        snprintf(text, sizeof text, "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[%u,%u]", bits & 1, bits >> 1);
        machine_run(m, text);
        cr_assert_eq(wave->vgpr[10][9], wave->vgpr[2 + (bits & 1)][9], "%s", text);
        cr_assert_eq(wave->vgpr[11][9], wave->vgpr[4 + (bits >> 1)][9], "%s", text);
    }
    /* What nobody wrote is told of where it is used, of the half that it went into. */
    wave->checks->vgpr_written[4] = UINT64_MAX;
    machine_run(m, "v_pk_mov_b32 v[10:11], v[2:3], v[4:5]");
    machine_run(m, "s_nop 0");
    machine_run(m, "v_readlane_b32 s3, v11, 5");
    machine_expect(m, "", "");
    machine_run(m, "v_readlane_b32 s3, v10, 5");
    machine_expect(m, "register-unwritten", "");
    machine_free(m);
}

ROWS_TEST(tables_of_three_bits) {
    if (!machine_has("v_bitop3_b32")) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned table = 0; table < 256; table++) {
        char text[96];
        machine_fill(m, 32, draw);
        snprintf(text, sizeof text, "v_bitop3_b32 v9, v1, v2, v3 bitop3:0x%x", table);
        machine_run(m, text);
        for (unsigned bit = 0; bit < 32; bit++) {
            unsigned row =
                4 * (wave->vgpr[1][3] >> bit & 1) + 2 * (wave->vgpr[2][3] >> bit & 1) + (wave->vgpr[3][3] >> bit & 1);
            cr_assert_eq(wave->vgpr[9][3] >> bit & 1, table >> row & 1, "%s: bit %u", text, bit);
        }
    }
    machine_free(m);
}

/* ---- Parts of registers ------------------------------------------------------------------------------------ */

static const char *const parts[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
static const unsigned part_bits[] = {8, 8, 8, 8, 16, 16, 32}, part_first[] = {0, 8, 16, 24, 0, 16, 0};

static uint32_t cut(uint32_t word, unsigned part, bool sext) {
    int64_t value = (word >> part_first[part]) % (UINT64_C(1) << part_bits[part]);
    return (uint32_t)(sext && value >> (part_bits[part] - 1) != 0 ? value - (INT64_C(1) << part_bits[part]) : value);
}

static uint32_t put(uint32_t old, uint32_t value, unsigned part, unsigned unused) {
    uint64_t size = UINT64_C(1) << part_bits[part], mask = (size - 1) << part_first[part];
    uint64_t placed = (value % size) << part_first[part], result = placed;
    if (unused == 1 && value % size >= size / 2) { /* UNUSED_SEXT: everything above */
        result |= ~((UINT64_C(1) << (part_first[part] + part_bits[part])) - 1);
    }
    return (uint32_t)(unused == 2 ? (old & ~mask) | placed : result);
}

ROWS_TEST(parts_of_registers) {
    static const char *const rests[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
    if (!is_gfx9()) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned round = 0; round < 7 * 7 * 7 * 3; round++) {
        unsigned to = round % 7, one = round / 7 % 7, two = round / 49 % 7, unused = round / 343;
        bool sext_one = draw() % 2, sext_two = draw() % 2;
        char text[224];
        uint64_t exec = (uint64_t)draw() << 32 | draw();
        uint32_t old[64];
        machine_fill(m, 32, draw);
        memcpy(old, wave->vgpr[9], sizeof old);
        machine_set_exec(m, exec);
        snprintf(text, sizeof text, "v_add_nc_u32_sdwa v9, %s, %s dst_sel:%s dst_unused:%s src0_sel:%s src1_sel:%s",
                 sext_one ? "sext(v1)" : "v1", sext_two ? "sext(v2)" : "v2", parts[to], rests[unused], parts[one],
                 parts[two]);
        machine_run(m, text);
        for (unsigned lane = 0; lane < 64; lane++) {
            uint32_t sum = cut(wave->vgpr[1][lane], one, sext_one) + cut(wave->vgpr[2][lane], two, sext_two);
            cr_assert_eq(wave->vgpr[9][lane], exec >> lane & 1 ? put(old[lane], sum, to, unused) : old[lane],
                         "%s: lane %u: 0x%x", text, lane, wave->vgpr[9][lane]);
        }
    }
    machine_free(m);
}

ROWS_TEST(parts_of_registers_as_floats_and_masks) {
    if (!is_gfx9()) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    wave->vgpr[1][0] = (uint32_t)(rows_half_bits(2.0f) << 16 | rows_half_bits(-3.0f));
    wave->vgpr[2][0] = (uint32_t)(rows_half_bits(0.5f) << 16 | rows_half_bits(8.0f));
    wave->vgpr[9][0] = 0x12345678;
    machine_run(
        m, "v_add_f16_sdwa v9, |v1|, -v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_1");
    cr_assert_eq(wave->vgpr[9][0], rows_half_bits(2.5f) << 16 | 0x5678);
    machine_run(m, "v_cvt_f32_f16_sdwa v9, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1");
    cr_assert_eq(rows_float(wave->vgpr[9][0]), 2.0f);
    machine_run(m,
                "v_mul_f16_sdwa v9, v1, v2 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0");
    cr_assert_eq(wave->vgpr[9][0], rows_half_bits(1.0f), "clamped, with zeros above");
    wave->sgpr[5] = 0x00070000;
    wave->vgpr[2][0] = 7;
    wave->vgpr[2][63] = 8;
    machine_run(m, "v_cmp_eq_u32_sdwa s[2:3], s5, v2 src0_sel:WORD_1 src1_sel:DWORD");
    cr_assert_eq(wave->sgpr[2] & 1, 1);
    cr_assert_eq(wave->sgpr[3] >> 31, 0);
    cr_assert_str_eq(machine_refusal(m, "v_add_f64_sdwa v[2:3], v[4:5], v[6:7]"), "SDWA of it is not known");
    cr_assert_str_eq(machine_refusal(m, "v_add_nc_u32_sdwa v9, v1, v2 dst_sel:WORD_2"),
                     "expected a part of a register that is known, got 'WORD_2'");
    machine_free(m);
}

/* ---- DPP across rows --------------------------------------------------------------------------------------- */

/* From the words of the guide's table: shifts and rotations of the whole wave by a lane; the last lane of each row, or
 * of the lower half, for the row or the half that follows. -1: none. */
static int wave_source(const char *control, int lane) {
    if (strcmp(control, "wave_shl:1") == 0) {
        return lane == 63 ? -1 : lane + 1;
    }
    if (strcmp(control, "wave_rol:1") == 0) {
        return lane == 63 ? 0 : lane + 1;
    }
    if (strcmp(control, "wave_shr:1") == 0) {
        return lane == 0 ? -1 : lane - 1;
    }
    if (strcmp(control, "wave_ror:1") == 0) {
        return lane == 0 ? 63 : lane - 1;
    }
    if (strcmp(control, "row_bcast:15") == 0) {
        return lane < 16 ? -1 : lane / 16 * 16 - 1;
    }
    if (strcmp(control, "row_bcast:31") == 0) {
        return lane < 32 ? -1 : 31;
    }
    return lane / 16 * 16 + 3; /* row_newbcast:3 */
}

ROWS_TEST(dpp_across_rows) {
    static const char *const controls[] = {"wave_shl:1",   "wave_rol:1",   "wave_shr:1",    "wave_ror:1",
                                           "row_bcast:15", "row_bcast:31", "row_newbcast:3"};
    if (!is_gfx9()) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned round = 0; round < 70; round++) {
        const char *control = controls[round % 7];
        unsigned rows = round / 7 % 2 ? 15 : draw() % 16;
        bool bound = draw() % 2;
        uint64_t exec = round < 35 ? UINT64_MAX : (uint64_t)draw() << 32 | draw();
        uint32_t old[64];
        char text[128];
        machine_fill(m, 32, draw);
        memcpy(old, wave->vgpr[6], sizeof old);
        machine_set_exec(m, exec);
        snprintf(text, sizeof text, "v_mov_b32_dpp v6, v5 %s row_mask:0x%x bank_mask:0xf%s", control, rows,
                 bound ? " bound_ctrl:1" : "");
        machine_run(m, text);
        for (int lane = 0; lane < 64; lane++) {
            int source = wave_source(control, lane);
            bool valid = source >= 0 && (exec >> source & 1);
            bool written = (exec >> lane & 1) && (rows >> lane / 16 & 1) && (valid || bound);
            uint32_t expected = !written ? old[lane] : valid ? wave->vgpr[5][source] : 0;
            cr_assert_eq(wave->vgpr[6][lane], expected, "%s: lane %d", text, lane);
        }
    }
    machine_free(m);
}

/* ---- Exchanges of rows ------------------------------------------------------------------------------------- */

ROWS_TEST(rows_change_places) {
    if (!machine_has("v_permlane16_swap_b32")) {
        return;
    }
    machine *m = machine_new(64, false);
    isa_wave *wave = machine_wave(m);
    for (unsigned distance = 16; distance <= 32; distance += 16) {
        uint32_t first[64], second[64];
        char text[64];
        machine_fill(m, 32, draw);
        memcpy(first, wave->vgpr[4], sizeof first);
        memcpy(second, wave->vgpr[5], sizeof second);
        snprintf(text, sizeof text, "v_permlane%u_swap_b32_e32 v4, v5", distance);
        machine_run(m, text);
        for (unsigned lane = 0; lane < 64; lane++) {
            /* Row by row: of the first register the upper of each two rows (halves) has what the second's lower had. */
            bool upper = lane / distance % 2 == 1;
            cr_assert_eq(wave->vgpr[4][lane], upper ? second[lane - distance] : first[lane], "%s: lane %u", text, lane);
            cr_assert_eq(wave->vgpr[5][lane], upper ? second[lane] : first[lane + distance], "%s: lane %u", text, lane);
        }
    }
    machine_set_exec(m, UINT64_MAX - 2);
    machine_run(m, "v_permlane32_swap_b32_e32 v4, v5");
    machine_expect(m, "exchange-lanes-off", "an exchange of rows needs every lane, EXEC is 0xfffffffffffffffd");
    machine_free(m);
}

/* ---- Accumulation registers -------------------------------------------------------------------------------- */

ROWS_TEST(accumulation_registers) {
    if (!machine_family()->takes_agprs) {
        return;
    }
    machine *m = machine_new(64, true);
    isa_wave *wave = machine_wave(m);
    for (int round = 0; round < 4; round++) { /* each of the mnemonics that mean the row */
        machine_run(m, "v_mov_b32 a3, 1.0");
        cr_assert_eq(wave->vgpr[ISA_AGPR + 3][40], 0x3f800000);
        machine_run(m, "v_mov_b32 v3, a3");
        cr_assert_eq(wave->vgpr[3][40], 0x3f800000);
    }
    machine_run(m, "v_readlane_b32 s3, a5, 0");
    machine_expect(m, "register-unwritten", "reads a5, which was not written");
    machine_run(m, "v_mov_b32 a64, 1.0");
    machine_expect(m, "register-outside", "uses a64, the kernel has 64 vector registers to accumulate in");
    machine_free(m);
}

ROWS_TEST(memory_and_accumulation_registers) {
    if (!machine_family()->takes_agprs) {
        return;
    }
    machine *m = machine_new(64, true);
    isa_wave *wave = machine_wave(m);
    uint64_t memory = (uint64_t)(uintptr_t)machine_memory(m);
    machine_set_exec(m, 1);
    for (unsigned reg = 4; reg < 8; reg++) {
        wave->checks->vgpr_written[reg] = 1;
    }
    wave->vgpr[4][0] = (uint32_t)memory;
    wave->vgpr[5][0] = (uint32_t)(memory >> 32);
    memcpy(machine_memory(m), "0123456789abcdef", 16);
    machine_run(m, "global_load_b128 a[60:63], v[4:5], off");
    machine_run(m, "v_mov_b32 v9, a62");
    machine_expect(m, "missing-wait", "reads a62 before the load that fills it has ended: a wait for vmcnt(0) or less");
    machine_run(m, "s_waitcnt vmcnt(0)");
    machine_run(m, "ds_store_b64 v6, a[62:63]");
    cr_assert_eq(memcmp(machine_lds(m), "89abcdef", 8), 0);
    machine_run(m, "ds_load_b64 a[62:65], v6");
    machine_expect(m, "register-outside", "expected 2 vector registers below a64 for its data");
    machine_free(m);
}

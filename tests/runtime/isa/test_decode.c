/* What the device reads of the disassembler's words, and what it refuses. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "isa_test.h"
#include "machine.h"

static isa_operand operands[ISA_OPERANDS_MAX];
static isa_instruction parsed;
static char why[192];

static void parse(const char *text) {
    cr_assert(isa_parse(isa_family_of("gfx11"), text, &parsed, operands, why, sizeof why), "%s: %s", text, why);
}

static void expect_refusal(const char *text, const char *reason) {
    cr_assert_not(isa_parse(isa_family_of("gfx11"), text, &parsed, operands, why, sizeof why), "%s", text);
    cr_assert_str_eq(why, reason);
}

/* ---- Words ------------------------------------------------------------------------------------------------- */

Test(parse, operands_of_every_kind) {
    parse("v_fma_f32 v1, -v[2], |s105|, -|vcc_lo|");
    cr_assert_eq(parsed.operand_count, 4);
    cr_assert_eq(operands[1].kind, ISA_OPERAND_VGPR);
    cr_assert(operands[1].neg && !operands[1].abs && operands[1].reg == 2);
    cr_assert(operands[2].abs && !operands[2].neg && operands[2].kind == ISA_OPERAND_SGPR && operands[2].reg == 105);
    cr_assert(operands[3].abs && operands[3].neg && operands[3].reg == ISA_VCC);
    parse("v_lshlrev_b64 v[4:5], 3, s[6:7]");
    cr_assert(operands[0].reg == 4 && operands[0].count == 2);
    cr_assert(operands[1].kind == ISA_OPERAND_CONSTANT && operands[1].constant == 3 && !operands[1].is_float);
    parse("v_add_f32_e64 v1, 0.15915494, neg(0x42280000)");
    cr_assert(operands[1].is_float);
    cr_assert(operands[2].neg && operands[2].constant == 0x42280000);
    parse("v_add_f16_e32 v1.h, v2.l, v3.h");
    cr_assert(operands[0].half == 2 && operands[1].half == 1 && operands[2].half == 2);
    parse("s_mov_b32 s0, src_scc");
    cr_assert_eq(operands[1].kind, ISA_OPERAND_SCC);
    parse("s_mov_b32 s0, -16");
    cr_assert_eq((int64_t)operands[1].constant, -16);
    parse("s_mov_b64 s[0:1], src_shared_base");
    cr_assert_eq(operands[1].constant, ISA_SHARED_BASE);
    parse("s_mov_b64 s[0:1], src_private_base");
    cr_assert_eq(operands[1].constant, ISA_PRIVATE_BASE);
}

Test(parse, endings_name_the_encoding) {
    static const struct {
        const char *text;
        isa_form form;
    } cases[] = {{"v_add_f32_e32 v0, v1, v2", ISA_FORM_E32},
                 {"v_add_f32_e64 v0, v1, v2", ISA_FORM_E64},
                 {"v_add_f32_e64_dpp v0, v1, v2 row_share:3 row_mask:0xf bank_mask:0xf", ISA_FORM_DPP},
                 {"v_add_f32_dpp v0, v1, v2 row_share:3 row_mask:0xf bank_mask:0xf", ISA_FORM_DPP},
                 {"v_add_f32 v0, v1, v2", ISA_FORM_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parse(cases[i].text);
        cr_assert_eq(parsed.form, cases[i].form, "%s", cases[i].text);
        cr_assert_str_eq(parsed.row->name, "v_add_f32");
    }
}

Test(parse, modifiers) {
    parse("global_load_b128 v[0:3], v4, s[2:3] offset:-4096 glc slc dlc");
    cr_assert(parsed.offset == -4096 && parsed.returns);
    parse("ds_load_2addr_stride64_b32 v[0:1], v2 offset0:255 offset1:1");
    cr_assert(parsed.offset0 == 255 && parsed.offset1 == 1);
    parse("v_pk_fma_f16 v0, v1, v2, v3 op_sel:[1,0,1] op_sel_hi:[0,1,1] neg_lo:[1,0,0] neg_hi:[0,0,1]");
    cr_assert(parsed.op_sel == 5 && parsed.op_sel_hi == 6 && parsed.neg_lo == 1 && parsed.neg_hi == 4);
    parse("v_mov_b32_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0x3 bank_mask:0xc bound_ctrl:1 fi:1");
    cr_assert(parsed.dpp == ISA_DPP_QUAD_PERM && parsed.dpp_control == 0x1b && parsed.row_mask == 3);
    cr_assert(parsed.bank_mask == 12 && parsed.bound_ctrl && parsed.fi);
    parse("v_mul_f32_e64 v0, v1, v2 clamp mul:4");
    cr_assert(parsed.clamp && parsed.omod == 2);
    parse("s_waitcnt vmcnt(3) lgkmcnt(0)");
    cr_assert(parsed.wait[0] == 3 && parsed.wait[1] == ISA_NO_WAIT && parsed.wait[2] == 0);
}

Test(parse, refuses_what_it_does_not_understand) {
    expect_refusal("v_frobnicate_b32 v0, v1", "the device does not know it on this chip");
    expect_refusal("s_mov_b32 s106, 0", "expected scalar registers up to s105, got ', 0'");
    expect_refusal("v_mov_b32_e32 v0, ttmp16", "expected trap temporaries up to ttmp15, got ''");
    expect_refusal("v_mov_b32_e32 v0, flat_scratch_lo", "expected an operand, got 'flat_scratch_lo'");
    expect_refusal("global_load_b32 v0, v[0:1], off th:TH_LOAD_NT",
                   "expected a modifier that is known, got 'th:TH_LOAD_NT'");
    expect_refusal("v_mov_b32_e32 v256, v0", "expected registers that exist, got ', v0'");
    expect_refusal("v_add_f32_e64 v0, |v1, v2", "expected the end of an operand's modifier, got ', v2'");
    expect_refusal("v_mov_b32_dpp v0, v1 row_bcast:15", "expected a modifier that is known, got 'row_bcast:15'");
    expect_refusal("v_mov_b32_dpp v0, v1 row_shl:16", "expected a number of lanes up to 15, got ''");
    expect_refusal("s_waitcnt vmcnt(1) somecnt(2)", "expected vmcnt(N), expcnt(N) or lgkmcnt(N), got 'somecnt(2)'");
    expect_refusal("ds_swizzle_b32 v0, v1 offset:swizzle(FFT,3)",
                   "expected a pattern of lanes that is known, got 'FFT,3)'");
}

static void parse_gfx12(const char *text) {
    cr_assert(isa_parse(isa_family_of("gfx1201"), text, &parsed, operands, why, sizeof why), "%s: %s", text, why);
}

Test(parse, words_of_gfx12) {
    parse_gfx12("global_load_b128 v[0:3], v4, s[2:3] offset:-8388608 th:TH_LOAD_NT scope:SCOPE_SE nv");
    cr_assert(parsed.offset == -8388608 && !parsed.returns);
    static const char *const results[] = {"th:TH_ATOMIC_RETURN", "th:TH_ATOMIC_NT_RETURN scope:SCOPE_DEV",
                                          "scope:SCOPE_SYS th:TH_ATOMIC_RETURN"};
    char text[128];
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        snprintf(text, sizeof text, "global_atomic_add_u32 v0, v[2:3], v4, off %s", results[i]);
        parse_gfx12(text);
        cr_assert(parsed.returns, "%s", text);
    }
    parse_gfx12("global_atomic_add_u32 v[2:3], v4, off th:TH_ATOMIC_NT scope:SCOPE_DEV");
    cr_assert_not(parsed.returns);
    parse_gfx12("s_getreg_b32 s4, hwreg(HW_REG_WAVE_MODE, 4, 4)");
    cr_assert_eq(operands[1].constant, 1 | 4 << 6 | 3 << 11);
    parse_gfx12("global_inv scope:SCOPE_DEV");
    cr_assert_eq(parsed.operand_count, 0);
    parse_gfx12("s_wait_alu depctr_va_vcc(0)");
    cr_assert_str_eq(parsed.row->name, "s_waitcnt_depctr");
    parse_gfx12("v_wmma_f32_16x16x16_bf16 v[0:7], v[8:11], v[12:15], v[0:7]");
    cr_assert_str_eq(parsed.row->name, "v_wmma_f32_16x16x16_bf16@rdna4");
}

/* What other families have, and what of gfx12 is left out. */
Test(parse, refuses_words_of_other_families) {
    static const char *const texts[] = {"v_max_f32_e32 v0, v1, v2",
                                        "s_waitcnt vmcnt(0)",
                                        "s_barrier",
                                        "s_add_u32 s0, s1, s2",
                                        "global_load_dword v0, v[2:3], off",
                                        "global_load_tr_b64 v[0:1], v[2:3], off",
                                        "v_wmma_i32_16x16x16_iu8 v[0:7], v[8:9], v[10:11], v[0:7]",
                                        "v_wmma_f16_16x16x16_f16 v[0:3], v[8:11], v[12:15], v[0:3]",
                                        "s_barrier_leave",
                                        "buffer_load_b32 v0, off, s[4:7], null"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_not(isa_parse(isa_family_of("gfx1201"), texts[i], &parsed, operands, why, sizeof why), "%s",
                      texts[i]);
        cr_assert_str_eq(why, "the device does not know it on this chip");
    }
}

/* ---- What the tables say ----------------------------------------------------------------------------------- */

Test(decode, refuses_what_rows_do_not_apply) {
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"v_mul_f32_e64 v0, v1, v2 mul:2", "with denormals kept the hardware leaves output factors out"},
        {"v_and_b32_e64 v0, v1, v2 clamp", "its clamp is not known"},
        {"v_add_nc_u32_e64 v0, -v1, v2", "a sign modifier of an operand that is no float is not known"},
        {"v_add_f32_sdwa v0, v1, v2", "SDWA is not known"},
        {"v_readfirstlane_b32_dpp s0, v1 row_share:0 row_mask:0xf bank_mask:0xf", "DPP of it is not known"},
        {"v_pk_add_u16 v0, v1, 1.0", "a float constant among packed integers is not known"},
        {"v_dot2_f32_f16 v0, v1, 1.0, v2", "documents differ on float constants of dot products"},
        {"v_dot2_f32_f16 v0, v1, v2, v3 neg_lo:[0,0,1]",
         "neg_lo and neg_hi of operands that are not packed are not known"},
        {"v_add_f32_e32 v0, v1", "expected 3 operands (Df Sf Sf), got 2"},
        {"v_add_f32_e32 v0, v[1:2], v3", "operand 2 does not fit its role in 'Df Sf Sf'"},
        {"v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v2, v4", "of its two destinations one must be even and one odd"},
        {"v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v5", "its first sources are in one bank of registers"},
        {"v_dual_add_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v6", "its second sources are in one bank of registers"},
        {"v_dual_mov_b32 v0, v1 :: s_mov_b32 s0, s1", "one of its halves is not lane-wise"},
    };
    machine *m = machine_new(32, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_assert_str_eq(machine_refusal(m, cases[i].text), cases[i].reason, "%s", cases[i].text);
    }
    machine_free(m);
    m = machine_new(64, false);
    cr_assert_str_eq(machine_refusal(m, "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2"),
                     "two operations at once are for waves of 32");
    machine_free(m);
}

/* ---- Whole kernels ----------------------------------------------------------------------------------------- */

Test(decode, names_an_unknown_instruction_and_its_address) {
    isa_test test = isa_test_open("gfx1151");
    size_t bytes;
    void *module, *kernel;
    void *image =
        isa_test_compile(&test,
                         ISA_TEST_KERNEL "(float *p) { asm volatile(\"s_nop 0\\n v_cubeid_f32 v1, v0, v0, v0\"); "
                                         "p[0] = 1; }",
                         32, &bytes);
    cr_assert_eq(test.driver->module_load(test.device, image, bytes, &module), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(test.driver->module_kernel(test.device, module, "kernel", &kernel), FMHA_ERROR_UNSUPPORTED);
    const char *error = fmha_last_error(), *address = strstr(error, " at 0x");
    cr_assert_eq(strncmp(error, "kernel kernel: instruction 'v_cubeid_f32 v1, v0, v0, v0' at 0x", 62), 0, "%s", error);
    cr_assert_str_eq(
        address + 6 + strcspn(address + 6, ":"),
        ": the device does not know it on this chip; the ISA-level device executes nothing that it does not know");
    free(image);
    isa_test_close(&test);
}

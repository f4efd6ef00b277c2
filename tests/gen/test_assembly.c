/* Blocks, loops and counts: hand.s counted by hand, the same kernel from its object, and single instructions. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm/compiled.h"
#include "assembly.h"
#include "disassemble.h"

static struct assembly parse_sample(const char *name) {
    struct assembly assembly;
    struct error error;
    size_t length;
    char *text = read_sample(name, &length);
    cr_assert(assembly_parse(text, length, NULL, &assembly, &error), "%s", error.text);
    free(text);
    return assembly;
}

static struct assembly parse(const char *text) {
    struct assembly assembly;
    struct error error;
    struct guarded copy = guarded_copy(text, strlen(text));
    cr_assert(assembly_parse(copy.bytes, strlen(text), NULL, &assembly, &error), "%s", error.text);
    guarded_free(&copy);
    return assembly;
}

/* ---- hand.s ------------------------------------------------------------------------------------------------------ */

/* What stands in hand.s, counted by eye, with the blocks' ways out. */
static const struct {
    const char *label;
    int instructions, successors[2];
    struct mix mix;
} by_hand[] = {
    {"%bb.0", 3, {1, -1}, {{[MIX_SCALAR_MEMORY] = 1, [MIX_VALU] = 1, [MIX_MOVES] = 1, [MIX_WAIT] = 1}}},
    {".LBB0_1", 2, {2, -1}, {{[MIX_SCALAR] = 1, [MIX_VALU] = 1}}},
    {".LBB0_2",
     17,
     {3, 4},
     {{[MIX_MATRIX] = 1,
       [MIX_VALU] = 7, /* two v_dual, v_cvt, v_pk, v_mov_dpp, v_permlanex16, v_cmp */
       [MIX_TRANSCENDENTAL] = 1,
       [MIX_VOPD] = 2,
       [MIX_PACKED] = 1,
       [MIX_MOVES] = 1, /* the v_dual whose halves both move; not the cross-lane move */
       [MIX_CONVERSIONS] = 1,
       [MIX_CROSS_LANE] = 3, /* v_mov_dpp, v_permlanex16, ds_bpermute */
       [MIX_LDS] = 3,
       [MIX_LDS_EXCHANGES] = 1,
       [MIX_LDS_BYTES] = 16 + 16,
       [MIX_GLOBAL] = 2,
       [MIX_GLOBAL_BYTES] = 16 + 2,
       [MIX_WAIT] = 1,
       [MIX_HINT] = 1,
       [MIX_BRANCH] = 1}}},
    {"%bb.3", 4, {4, -1}, {{[MIX_VALU] = 3, [MIX_TRANSCENDENTAL] = 1}}},
    {".LBB0_4",
     6,
     {5, 2},
     {{[MIX_LDS] = 1, [MIX_LDS_BYTES] = 4, [MIX_WAIT] = 1, [MIX_BARRIER] = 1, [MIX_SCALAR] = 2, [MIX_BRANCH] = 1}}},
    {"%bb.5", 1, {6, -1}, {{[MIX_SCALAR] = 1}}},
    {".LBB0_6",
     21,
     {7, 6},
     {{[MIX_MATRIX] = 1,
       [MIX_VALU] = 11, /* eight v_cndmask, v_readfirstlane, v_mov, v_mul_lo */
       [MIX_MOVES] = 1,
       [MIX_CROSS_LANE] = 1,
       [MIX_GLOBAL] = 1,
       [MIX_BUFFER] = 1,
       [MIX_GLOBAL_BYTES] = 8 + 4,
       [MIX_SCRATCH] = 1,
       [MIX_SCRATCH_BYTES] = 4,
       [MIX_SCALAR] = 2,
       [MIX_SCALAR_MEMORY] = 1,
       [MIX_WAIT] = 1,
       [MIX_CACHE] = 1,
       [MIX_BRANCH] = 1}}},
    {"%bb.7", 3, {8, 1}, {{[MIX_SCALAR] = 2, [MIX_BRANCH] = 1}}},
    {"%bb.8", 2, {-1, -1}, {{[MIX_GLOBAL] = 1, [MIX_GLOBAL_BYTES] = 16, [MIX_BRANCH] = 1}}},
};
enum { HAND_BLOCKS = sizeof by_hand / sizeof *by_hand };

static void check_hand(const struct assembly *assembly, bool labels) {
    cr_assert_str_eq(assembly->symbol, "hand");
    cr_assert_eq(assembly->block_count, HAND_BLOCKS);
    for (int i = 0; i < HAND_BLOCKS; i++) {
        const struct assembly_block *block = &assembly->blocks[i];
        if (labels) {
            cr_assert_str_eq(block->label, by_hand[i].label);
        }
        cr_assert_eq(block->count, by_hand[i].instructions, "%s: %d", by_hand[i].label, block->count);
        cr_assert_eq(block->successors[0], by_hand[i].successors[0], "%s", by_hand[i].label);
        cr_assert_eq(block->successors[1], by_hand[i].successors[1], "%s", by_hand[i].label);
        for (int id = 0; id < MIX_COUNT; id++) {
            cr_assert_eq(block->mix.count[id], by_hand[i].mix.count[id], "%s: %s: %d", by_hand[i].label,
                         mix_names[id].name, block->mix.count[id]);
        }
    }
}

static void check_hand_loops(const struct assembly *assembly) {
    static const int inner[] = {2, 3, 4};
    cr_assert_eq(assembly->loop_count, 3);
    const struct assembly_loop *outer = &assembly->loops[0], *body = &assembly->loops[1], *edge = &assembly->loops[2];
    cr_assert(outer->header == 1 && outer->parent == -1 && outer->depth == 1 && outer->block_count == 7);
    cr_assert_not(assembly_innermost(assembly, 0, MIX_MATRIX));
    cr_assert(assembly_innermost(assembly, 0, MIX_HINT) == false && assembly_innermost(assembly, 1, MIX_MATRIX) &&
              assembly_innermost(assembly, 2, MIX_MATRIX));
    cr_assert(body->header == 2 && body->parent == 0 && body->depth == 2);
    cr_assert(body->block_count == 3 && memcmp(body->blocks, inner, sizeof inner) == 0);
    cr_assert(edge->header == 6 && edge->parent == 0 && edge->depth == 2);
    cr_assert(edge->block_count == 1 && edge->blocks[0] == 6);
}

Test(assembly, counts_of_compiler_text_are_those_made_by_hand) {
    struct assembly assembly = parse_sample("hand.s");
    check_hand(&assembly, true);
    check_hand_loops(&assembly);
    cr_assert_str_eq(assembly.instructions[0].text, "s_load_b64 s[0:1], s[2:3], 0x0");
    cr_assert_eq(assembly.instructions[0].line, 10);
    cr_assert_str_eq(assembly.instructions[22].text, "v_mul_f32_e32 v16, v42, v16");
    assembly_free(&assembly);
    cr_assert_null(assembly.blocks);
}

Test(assembly, counts_of_its_disassembly_are_the_same) {
    static const char *const assemble[] = {"-x", "assembler", "-c", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx1151",
                                           NULL};
    struct compiled object = assemble_file(sample_path("hand.s"), "gfx1151", assemble);
    struct text listing = {0};
    struct assembly assembly;
    struct error error;
    cr_assert(disassemble(object.bytes, object.length, "hand", NULL, &listing, &error), "%s", error.text);
    cr_assert(assembly_parse(listing.bytes, listing.length, "hand", &assembly, &error), "%s", error.text);
    check_hand(&assembly, false);
    check_hand_loops(&assembly);
    cr_assert_str_eq(assembly.blocks[0].label, "entry");
    cr_assert_str_eq(assembly.blocks[2].label, "L1");
    cr_assert_str_eq(assembly.blocks[3].label, "L1+");
    cr_assert_str_eq(assembly.blocks[4].label, "L2");
    assembly_free(&assembly);
    text_free(&listing);
    compiled_free(&object);
}

/* ---- Single instructions -------------------------------------------------------------------------------------------
 */

enum { L = 1, S = 2, VOPD = 4, PK = 8, MOV = 16, CVT = 32, X = 64, TO_LDS = 128, XCHG = 256 };

static const struct {
    const char *text;
    enum mix_id unit;
    int bytes, flags;
} instructions[] = {
    {"v_wmma_f32_16x16x16_bf16 v[0:7], v[8:15], v[8:15], v[0:7]", MIX_MATRIX, 0, 0},
    {"v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20", MIX_MATRIX, 0, 0},
    {"v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]", MIX_MATRIX, 0, 0},
    {"v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", MIX_MATRIX, 0, 0},
    {"v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21", MIX_MATRIX, 0, 0},
    {"v_exp_f16_e32 v0, v1", MIX_TRANSCENDENTAL, 0, 0},
    {"v_log_f32_e32 v0, v1", MIX_TRANSCENDENTAL, 0, 0},
    {"v_rcp_iflag_f32_e32 v0, v1", MIX_TRANSCENDENTAL, 0, 0},
    {"v_rsq_f32_e32 v0, v1", MIX_TRANSCENDENTAL, 0, 0},
    {"v_sqrt_f16_e32 v0, v1", MIX_TRANSCENDENTAL, 0, 0},
    {"v_sin_f32_e32 v0, v1", MIX_TRANSCENDENTAL, 0, 0},
    {"v_cos_f32_e32 v0, v1", MIX_TRANSCENDENTAL, 0, 0},
    {"v_s_exp_f32 s0, s1", MIX_TRANSCENDENTAL, 0, 0},
    {"v_frexp_exp_i32_f32_e32 v0, v1", MIX_VALU, 0, 0},
    {"v_perm_b32 v0, v1, v2, s0", MIX_VALU, 0, 0},
    {"v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, 0", MIX_VALU, 0, VOPD},
    {"v_dual_mov_b32 v0, v1 :: v_dual_fmac_f32 v3, v4, v5", MIX_VALU, 0, VOPD},
    {"v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, 0", MIX_VALU, 0, VOPD | MOV},
    {"v_mov_b16_e32 v25.h, v25.l", MIX_VALU, 0, MOV},
    {"v_mov_b64_e32 v[0:1], v[2:3]", MIX_VALU, 0, MOV},
    {"v_accvgpr_read_b32 v0, a0", MIX_VALU, 0, MOV},
    {"v_swap_b32 v0, v1", MIX_VALU, 0, MOV},
    {"v_pk_mov_b32 v[0:1], v[2:3], v[4:5]", MIX_VALU, 0, PK | MOV},
    {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", MIX_VALU, 0, PK},
    {"v_cvt_pk_bf16_f32 v0, v1, v2", MIX_VALU, 0, CVT},
    {"v_add_f32_dpp v0, v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", MIX_VALU, 0, X},
    {"v_max_f32_e64_dpp v0, v1, v2 row_xmask:8 row_mask:0xf bank_mask:0xf", MIX_VALU, 0, X},
    {"v_add_f32 v0, v1, v2 row_shr:1", MIX_VALU, 0, X},
    {"v_mov_b32_dpp v0, v1 dpp8:[7,6,5,4,3,2,1,0]", MIX_VALU, 0, X},
    {"v_permlane32_swap_b32 v0, v1", MIX_VALU, 0, X},
    {"v_readlane_b32 s0, v1, 3", MIX_VALU, 0, X},
    {"v_writelane_b32 v1, s0, 3", MIX_VALU, 0, X},
    {"ds_load_u16_d16_hi v0, v1 offset:48", MIX_LDS, 2, L},
    {"ds_load_u8 v0, v1", MIX_LDS, 1, L},
    {"ds_load_b96 v[0:2], v3", MIX_LDS, 12, L},
    {"ds_load_2addr_stride64_b64 v[0:3], v4 offset1:1", MIX_LDS, 16, L},
    {"ds_read2_b32 v[0:1], v2 offset1:1", MIX_LDS, 8, L},
    {"ds_read2st64_b64 v[0:3], v4 offset1:1", MIX_LDS, 16, L},
    {"ds_read_b128 v[0:3], v4", MIX_LDS, 16, L},
    {"ds_read_u16_d16 v0, v1", MIX_LDS, 2, L},
    {"ds_read_b64_tr_b16 v[0:1], v2", MIX_LDS, 8, L},
    {"ds_store_b8_d16_hi v0, v1", MIX_LDS, 1, S},
    {"ds_store_2addr_b32 v0, v1, v2 offset1:1", MIX_LDS, 8, S},
    {"ds_write_b128 v0, v[1:4]", MIX_LDS, 16, S},
    {"ds_write2st64_b32 v0, v1, v2 offset1:1", MIX_LDS, 8, S},
    {"ds_add_rtn_u32 v0, v1, v2", MIX_LDS, 4, L | S},
    {"ds_pk_add_f16 v0, v1", MIX_LDS, 4, L | S},
    {"ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)", MIX_LDS, 0, L | X | XCHG},
    {"ds_bpermute_b32 v0, v1, v2", MIX_LDS, 0, L | X | XCHG},
    {"ds_permute_b32 v0, v1, v2", MIX_LDS, 0, L | X | XCHG},
    {"global_load_b128 v[0:3], v4, s[0:1]", MIX_GLOBAL, 16, L},
    {"global_load_dwordx4 v[0:3], v[4:5], off", MIX_GLOBAL, 16, L},
    {"global_load_dwordx3 v[0:2], v[4:5], off", MIX_GLOBAL, 12, L},
    {"global_load_dword v0, v[4:5], off", MIX_GLOBAL, 4, L},
    {"global_load_d16_hi_b16 v0, v1, s[0:1]", MIX_GLOBAL, 2, L},
    {"global_load_short_d16_hi v0, v[1:2], off", MIX_GLOBAL, 2, L},
    {"global_load_ubyte v0, v[1:2], off", MIX_GLOBAL, 1, L},
    {"global_load_tr_b128 v[0:3], v4, s[0:1]", MIX_GLOBAL, 16, L}, /* wave32 */
    {"global_load_tr_b128 v[0:1], v4, s[0:1]", MIX_GLOBAL, 8, L},  /* wave64 */
    {"global_load_tr_b64 v0, v4, s[0:1]", MIX_GLOBAL, 4, L},
    {"global_load_lds_dwordx4 v[0:1], off", MIX_GLOBAL, 16, L | TO_LDS},
    {"buffer_load_dword v1, s[8:11], 0 offen lds", MIX_BUFFER, 4, L | TO_LDS},
    {"buffer_load_dwordx4 v1, s[8:11], 0 offen sc0 lds", MIX_BUFFER, 16, L | TO_LDS},
    {"buffer_load_b64 v[0:1], v2, s[8:11], 0 offen", MIX_BUFFER, 8, L},
    {"buffer_store_short v0, v1, s[8:11], 0 offen", MIX_BUFFER, 2, S},
    {"tbuffer_store_d16_format_x v0, v1, s[8:11], 0 offen", MIX_BUFFER, 4, S},
    {"global_store_short_d16_hi v0, v1, s[0:1]", MIX_GLOBAL, 2, S},
    {"global_atomic_add v0, v1, s[0:1]", MIX_GLOBAL, 4, L | S},
    {"global_atomic_add_x2 v0, v[1:2], s[0:1]", MIX_GLOBAL, 8, L | S},
    {"global_atomic_pk_add_bf16 v0, v1, s[0:1]", MIX_GLOBAL, 4, L | S},
    {"flat_load_b32 v0, v[1:2]", MIX_GLOBAL, 4, L},
    {"scratch_load_b128 v[0:3], off, off offset:16", MIX_SCRATCH, 16, L},
    {"scratch_store_dword off, v0, s32", MIX_SCRATCH, 4, S},
    {"buffer_gl0_inv", MIX_CACHE, 0, 0},
    {"buffer_wbl2 sc1", MIX_CACHE, 0, 0},
    {"buffer_inv sc1", MIX_CACHE, 0, 0},
    {"global_wb scope:SCOPE_SE", MIX_CACHE, 0, 0},
    {"s_load_b128 s[0:3], s[4:5], 0x0", MIX_SCALAR_MEMORY, 0, L},
    {"s_buffer_load_dword s0, s[4:7], 0x0", MIX_SCALAR_MEMORY, 0, L},
    {"s_dcache_inv", MIX_CACHE, 0, 0},
    {"s_and_saveexec_b32 s0, vcc_lo", MIX_SCALAR, 0, 0},
    {"s_mul_f32 s0, s1, s2", MIX_SCALAR, 0, 0},
    {"s_setreg_imm32_b32 hwreg(HW_REG_MODE), 1", MIX_SCALAR, 0, 0},
    {"s_branch .LBB0_1", MIX_BRANCH, 0, 0},
    {"s_cbranch_execz .LBB0_1", MIX_BRANCH, 0, 0},
    {"s_swappc_b64 s[30:31], s[0:1]", MIX_BRANCH, 0, 0},
    {"s_endpgm", MIX_BRANCH, 0, 0},
    {"s_waitcnt_vscnt null, 0x0", MIX_WAIT, 0, 0},
    {"s_wait_loadcnt_dscnt 0x0", MIX_WAIT, 0, 0},
    {"s_wait_alu depctr_sa_sdst(0)", MIX_WAIT, 0, 0},
    {"s_barrier_signal -1", MIX_BARRIER, 0, 0},
    {"s_barrier_wait -1", MIX_BARRIER, 0, 0},
    {"s_clause 0x1", MIX_HINT, 0, 0},
    {"s_setprio 3", MIX_HINT, 0, 0},
    {"s_nop 0", MIX_HINT, 0, 0},
    {"image_sample v0, v1, s[0:7], s[8:11]", MIX_OTHER, 0, 0},
    {".long 0xdeadbeef", MIX_OTHER, 0, 0},
    {"tensor_load_to_lds s[0:3], s[4:11]", MIX_OTHER, 0, 0},
    {"v", MIX_OTHER, 0, 0},
    {"", MIX_OTHER, 0, 0},
};

Test(assembly, each_instruction_is_classified) {
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        struct instruction got;
        instruction_classify(instructions[i].text, &got);
        int flags = got.load * L + got.store * S + got.vopd * VOPD + got.packed * PK + got.move * MOV +
                    got.conversion * CVT + got.cross_lane * X + got.lds_direct * TO_LDS + got.exchange * XCHG;
        cr_assert_eq(got.unit, instructions[i].unit, "%s: %s", instructions[i].text, mix_names[got.unit].name);
        cr_assert_eq(got.bytes, instructions[i].bytes, "%s: %d bytes", instructions[i].text, got.bytes);
        cr_assert_eq(flags, instructions[i].flags, "%s: flags %d", instructions[i].text, flags);
    }
}

Test(assembly, multiply_adds_of_a_lane_are_counted) {
    static const struct {
        const char *text;
        int count;
    } rows[] = {{"v_fma_f32 v0, v1, v2, v3", 1},
                {"v_fmac_f32_e32 v0, v1, v2", 1},
                {"v_fmaak_f32 v0, v1, v2, 0x3f800000", 1},
                {"v_mad_f32 v0, v1, v2, v3", 1},
                {"v_mac_f32_e32 v0, v1, v2", 1},
                {"v_fma_mix_f32 v0, v1, v2, v3 op_sel_hi:[1,1,0]", 1},
                {"v_pk_fma_f16 v0, v1, v2, v3", 2},
                {"v_dot2_f32_f16 v0, v1, v2, v3", 2},
                {"v_dot2c_f32_f16_e32 v0, v1, v2", 2},
                {"v_dot4_i32_i8 v0, v1, v2, v3", 4},
                {"v_mad_u32_u24 v0, v1, v2, v3", 0},
                {"v_mul_f32_e32 v0, v1, v2", 0},
                {"v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct instruction got;
        struct mix mix = {{0}};
        instruction_classify(rows[i].text, &got);
        instruction_count(&got, &mix);
        cr_assert_eq(got.multiply_adds, rows[i].count, "%s: %d", rows[i].text, got.multiply_adds);
        cr_assert_eq(mix.count[MIX_MULTIPLY_ADD], rows[i].count > 0);
    }
}

Test(assembly, a_load_into_lds_counts_for_both_memories) {
    struct instruction instruction;
    struct mix mix = {{0}};
    instruction_classify("buffer_load_dwordx4 v1, s[8:11], 0 offen lds", &instruction);
    instruction_count(&instruction, &mix);
    cr_assert(mix.count[MIX_BUFFER] == 1 && mix.count[MIX_GLOBAL_BYTES] == 16 && mix.count[MIX_LDS_BYTES] == 16 &&
              mix.count[MIX_LDS] == 0 && mix.count[MIX_GLOBAL] == 0);
}

/* ---- Shapes of control flow
 * ------------------------------------------------------------------------------------------- */

Test(assembly, labels_that_nothing_branches_to_split_no_block) {
    struct assembly assembly = parse("k:\n\ts_nop 0\n.Ltmp1:\n\ts_nop 1\n; %bb.1:\n\ts_nop 2\n.Lpost:\n\ts_endpgm\n");
    cr_assert_eq(assembly.block_count, 1);
    cr_assert_eq(assembly.blocks[0].count, 4);
    assembly_free(&assembly);
}

Test(assembly, a_matrix_loop_around_a_plain_loop_is_innermost) {
    struct assembly assembly = parse("k:\n"
                                     ".LBB0_1:\n\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]\n"
                                     ".LBB0_2:\n\ts_nop 0\n\ts_cbranch_scc1 .LBB0_2\n"
                                     "\ts_nop 1\n\ts_cbranch_scc1 .LBB0_1\n"
                                     ".LBB0_3:\n\ts_nop 0\n\ts_cbranch_scc0 .LBB0_3\n"
                                     "\ts_endpgm\n");
    cr_assert_eq(assembly.loop_count, 3);
    cr_assert(assembly_innermost(&assembly, 0, MIX_MATRIX) && assembly.loops[0].block_count == 3);
    cr_assert(!assembly_innermost(&assembly, 1, MIX_MATRIX) && assembly.loops[1].parent == 0 &&
              assembly.loops[1].depth == 2);
    cr_assert(!assembly_innermost(&assembly, 2, MIX_MATRIX) && assembly.loops[2].parent == -1);
    assembly_free(&assembly);
}

Test(assembly, the_parent_of_a_loop_is_the_next_one_around_it) {
    struct assembly assembly = parse("k:\n"
                                     ".LBB0_1:\n\ts_nop 0\n.LBB0_2:\n\ts_nop 0\n.LBB0_3:\n\ts_nop 0\n"
                                     "\ts_cbranch_scc1 .LBB0_3\n\ts_cbranch_scc1 .LBB0_2\n\ts_cbranch_scc1 .LBB0_1\n"
                                     "\ts_endpgm\n");
    cr_assert_eq(assembly.loop_count, 3);
    for (int i = 0; i < 3; i++) {
        cr_assert(assembly.loops[i].parent == i - 1 && assembly.loops[i].depth == i + 1, "%d", i);
    }
    assembly_free(&assembly);
}

Test(assembly, two_ways_back_to_one_header_are_one_loop) {
    struct assembly assembly = parse("k:\n\ts_nop 0\n"
                                     ".LBB0_1:\n\ts_nop 0\n\ts_cbranch_scc1 .LBB0_3\n"
                                     "\ts_nop 0\n\ts_branch .LBB0_1\n"
                                     ".LBB0_3:\n\ts_nop 0\n\ts_cbranch_vccnz .LBB0_1\n"
                                     "\ts_endpgm\n");
    cr_assert_eq(assembly.loop_count, 1);
    cr_assert_eq(assembly.loops[0].block_count, 3);
    assembly_free(&assembly);
}

/* Two entries into a cycle: neither block dominates the other, so there is no natural loop. */
Test(assembly, an_irreducible_cycle_is_no_loop) {
    struct assembly assembly = parse("k:\n\ts_cbranch_scc1 .LBB0_2\n"
                                     ".LBB0_1:\n\ts_nop 0\n\ts_cbranch_scc0 .LBB0_3\n"
                                     ".LBB0_2:\n\ts_nop 0\n\ts_branch .LBB0_1\n"
                                     ".LBB0_3:\n\ts_endpgm\n");
    cr_assert_eq(assembly.loop_count, 0);
    cr_assert_eq(assembly.block_count, 4);
    assembly_free(&assembly);
}

Test(assembly, unreachable_blocks_are_kept_and_head_no_loop) {
    struct assembly assembly = parse("k:\n\ts_branch .LBB0_2\n"
                                     ".LBB0_1:\n\ts_nop 0\n\ts_branch .LBB0_1\n"
                                     ".LBB0_2:\n\ts_endpgm\n\ts_code_end\n");
    cr_assert_eq(assembly.loop_count, 0);
    cr_assert_eq(assembly.block_count, 4);
    cr_assert_eq(assembly.order[1], -1);
    assembly_free(&assembly);
}

Test(assembly, calls_return_and_jumps_out_leave) {
    struct assembly assembly = parse("helper:\n\ts_setpc_b64 s[30:31]\n"
                                     "k:\n\ts_swappc_b64 s[30:31], s[0:1]\n\ts_nop 0\n\ts_cbranch_scc1 elsewhere\n"
                                     "\ts_endpgm\n");
    cr_assert_str_eq(assembly.symbol, "k");
    cr_assert_eq(assembly.calls, 1);
    cr_assert_eq(assembly.block_count, 2);
    cr_assert(assembly.blocks[0].successors[0] == 1 && assembly.blocks[0].successors[1] == -1);
    assembly_free(&assembly);
}

Test(assembly, the_forms_of_a_listing_are_read) {
    struct assembly assembly = parse("\nx.hsaco:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n"
                                     "0000000000001700 <k>:\n"
                                     "\ts_nop 0                    // 000000001700: BF800000\n"
                                     "0000000000001704 <L0>:\r\n"
                                     "\ts_delay_alu instid0(VALU_DEP_1)// 00000000171C: BFA200D0\r\n"
                                     "\ts_cbranch_scc1 <L0>        // 00000000171C: BFA200D0\n"
                                     "\ts_endpgm                   // 000000001720: BFB00000\n"
                                     "\t\t...\n");
    cr_assert_eq(assembly.block_count, 3);
    cr_assert_eq(assembly.loop_count, 1);
    cr_assert_str_eq(assembly.blocks[1].label, "L0");
    cr_assert_str_eq(assembly.instructions[1].text, "s_delay_alu instid0(VALU_DEP_1)");
    cr_assert_eq(assembly.instructions[3].line, 11);
    assembly_free(&assembly);
}

Test(assembly, a_long_label_is_cut) {
    struct assembly assembly =
        parse("k:\n\ts_cbranch_scc1 .LBBlabel_that_is_longer_than_any_that_a_compiler_would_ever_write_1\n"
              "\ts_nop 0\n.LBBlabel_that_is_longer_than_any_that_a_compiler_would_ever_write_1:\n"
              "\ts_endpgm\n");
    cr_assert_eq(assembly.block_count, 3);
    cr_assert_str_eq(assembly.blocks[2].label, ".LBBlabel_that_is_longer_than_any_that_a_compiler_would_ever");
    assembly_free(&assembly);
}

/* ---- What is refused
 * ---------------------------------------------------------------------------------------------------- */

static void refused(const char *text, const char *symbol, const char *expected) {
    struct assembly assembly;
    struct error error;
    cr_assert_not(assembly_parse(text, strlen(text), symbol, &assembly, &error));
    cr_assert_str_eq(error.text, expected);
    cr_assert_eq(error.kind, ERROR_USAGE);
    cr_assert_null(assembly.text);
}

Test(assembly, errors) {
    static const char two[] = "a:\n\ts_endpgm\nb:\n\ts_nop 0\n\ts_endpgm\n";
    refused(
        "", NULL,
        "assembly: expected the text of an AMD GPU kernel (a label, instructions, s_endpgm), found none in 0 lines; "
        "give what clang -S or llvm-objdump -d --symbolize-operands prints");
    refused(
        "main:\n\tret\n", NULL,
        "assembly: expected the text of an AMD GPU kernel (a label, instructions, s_endpgm), found none in 2 lines; "
        "give what clang -S or llvm-objdump -d --symbolize-operands prints");
    refused(two, NULL, "assembly: expected one kernel, got 2: a, b; name one of them");
    refused(two, "c", "assembly: expected kernel 'c', got a, b; name one of those");
    refused(
        "k:\n\ts_cbranch_scc1 65387\n\ts_endpgm\n", NULL,
        "assembly: line 2: expected a branch to a label, got 's_cbranch_scc1 65387'; disassemble with llvm-objdump -d "
        "--symbolize-operands");
    struct assembly assembly;
    struct error error;
    cr_assert(assembly_parse(two, strlen(two), "b", &assembly, &error));
    cr_assert_eq(assembly.instruction_count, 2);
    assembly_free(&assembly);
}

/* Whatever is cut off or damaged, the parser stays within the text and its graphs within their arrays. */
Test(assembly, cut_and_damaged_text_is_read_or_refused, .timeout = 120) {
    struct assembly assembly;
    struct error error;
    size_t length, kernel;
    char *text = read_sample("hand.s", &length);
    kernel = (size_t)(strstr(text, "\t.section") - text);
    for (size_t cut = 0; cut < kernel; cut++) {
        struct guarded copy = guarded_copy(text, cut);
        if (assembly_parse(copy.bytes, cut, NULL, &assembly, &error)) {
            assembly_free(&assembly);
        }
        guarded_free(&copy);
    }
    struct guarded copy = guarded_copy(text, kernel);
    unsigned state = 99;
    int good = 0, rounds = 5000;
    for (int round = 0; round < rounds; round++) {
        memcpy(copy.bytes, text, kernel);
        for (int i = 0; i < 8; i++) { /* labels change places, so that branches go anywhere */
            copy.bytes[next_random(&state) % kernel] = "0123456789.:;\n\t<>_"[next_random(&state) % 18];
        }
        if (assembly_parse(copy.bytes, kernel, NULL, &assembly, &error)) {
            good++;
            assembly_free(&assembly);
        }
    }
    cr_assert_gt(good, rounds / 4);
    guarded_free(&copy);
    free(text);
}

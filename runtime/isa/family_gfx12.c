/* gfx12: gfx1200 and gfx1201. */
#include "../emu/chips.h"
#include "family.h"
#include "image.h"
#include "mnemonics.h"
#include "sources.h"

/* ---- Mnemonics --------------------------------------------------------------------------------------------- */

/* Rows whose home is gfx12 have their own names (rows_gfx12.c, rows_extremes.c and others). */
static const isa_name list[] = {
    {"s_add_co_u32", "s_add_u32", ISA_RDNA4_SOP2, 0},
    {"s_sub_co_u32", "s_sub_u32", ISA_RDNA4_SOP2, 0},
    {"s_add_co_ci_u32", "s_addc_u32", ISA_RDNA4_SOP2, 0},
    {"s_sub_co_ci_u32", "s_subb_u32", ISA_RDNA4_SOP2, 0},
    {"s_add_co_i32", "s_add_i32", ISA_RDNA4_SOP2, 0},
    {"s_sub_co_i32", "s_sub_i32", ISA_RDNA4_SOP2, 0},
    {"s_addk_co_i32", "s_addk_i32", ISA_RDNA4_SOPK, 0},
    {"s_wait_alu", "s_waitcnt_depctr", ISA_RDNA4_SOPP, 0},
    {"v_mad_co_u64_u32", "v_mad_u64_u32", ISA_RDNA4_VOP3, 0},
    {"v_mad_co_i64_i32", "v_mad_i64_i32", ISA_RDNA4_VOP3, 0},
    {"v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_f16@rdna4", ISA_RDNA4_WMMA, 0},
    {"v_wmma_f32_16x16x16_bf16", "v_wmma_f32_16x16x16_bf16@rdna4", ISA_RDNA4_WMMA, 0},
    {"ds_bpermute_b32", "ds_bpermute_b32@wave", ISA_RDNA4_LDS, 0},
    {"ds_permute_b32", "ds_permute_b32@wave", ISA_RDNA4_LDS, 0},
};
static const isa_names names = {list, sizeof list / sizeof list[0]};

static const isa_same same[] = {
    {ISA_RDNA4_SOP2,
     "s_mul_i32 s_mul_hi_u32 s_mul_hi_i32 s_min_i32 s_min_u32 s_max_i32 s_max_u32 s_and_b32 s_or_b32 s_xor_b32 "
     "s_nand_b32 s_nor_b32 s_xnor_b32 s_and_not1_b32 s_or_not1_b32 s_lshl_b32 s_lshr_b32 s_ashr_i32 s_bfe_u32 "
     "s_bfe_i32 s_bfm_b32 s_lshl1_add_u32 s_lshl2_add_u32 s_lshl3_add_u32 s_lshl4_add_u32 s_pack_ll_b32_b16 "
     "s_pack_lh_b32_b16 s_pack_hh_b32_b16 s_pack_hl_b32_b16 s_cselect_b32 s_absdiff_i32 s_add_f32 s_sub_f32 "
     "s_mul_f32 s_add_f16 s_sub_f16 s_mul_f16 s_cvt_pk_rtz_f16_f32 s_fmac_f32 s_fmaak_f32 s_fmamk_f32 s_fmac_f16 "
     "s_bfm_b64 s_and_b64 s_or_b64 s_xor_b64 s_nand_b64 s_nor_b64 s_xnor_b64 s_and_not1_b64 s_or_not1_b64 "
     "s_cselect_b64 s_lshl_b64 s_lshr_b64 s_ashr_i64 s_bfe_u64 s_bfe_i64"},
    {ISA_RDNA4_SOPK, "s_movk_i32 s_cmovk_i32 s_mulk_i32 s_call_b64 s_getreg_b32 s_setreg_b32 s_setreg_imm32_b32"},
    {ISA_RDNA4_SOP1, ISA_NAMES_SOP1
     " s_ctz_i32_b32 s_clz_i32_u32 s_cvt_f32_i32 s_cvt_f32_u32 s_cvt_i32_f32 s_cvt_u32_f32 s_floor_f32 s_ceil_f32 "
     "s_trunc_f32 s_rndne_f32 s_cls_i32 s_cvt_f16_f32 s_cvt_f32_f16 s_cvt_hi_f32_f16 s_floor_f16 s_ceil_f16 "
     "s_trunc_f16 s_rndne_f16 s_cls_i32_i64 s_ctz_i32_b64 s_clz_i32_u64 s_and_saveexec_b32 s_or_saveexec_b32 "
     "s_xor_saveexec_b32 s_and_not0_saveexec_b32 s_and_not0_saveexec_b64 s_and_not1_saveexec_b32 "
     "s_and_not1_saveexec_b64 s_or_not1_saveexec_b32 s_or_not1_saveexec_b64 s_or_not0_saveexec_b32 "
     "s_or_not0_saveexec_b64 s_nand_saveexec_b32 s_nor_saveexec_b32 s_xnor_saveexec_b32 s_and_not0_wrexec_b32 "
     "s_and_not0_wrexec_b64 s_and_not1_wrexec_b32 s_and_not1_wrexec_b64"},
    {ISA_RDNA4_SOPC, ISA_NAMES_SOPC
     " s_cmp_eq_f32 s_cmp_lg_f32 s_cmp_lt_f32 s_cmp_le_f32 s_cmp_gt_f32 s_cmp_ge_f32 s_cmp_neq_f32 s_cmp_nlt_f32 "
     "s_cmp_nle_f32 s_cmp_ngt_f32 s_cmp_nge_f32 s_cmp_o_f32 s_cmp_u_f32 s_cmp_nlg_f32 s_cmp_eq_f16 s_cmp_lg_f16 "
     "s_cmp_lt_f16 s_cmp_le_f16 s_cmp_gt_f16 s_cmp_ge_f16 s_cmp_neq_f16 s_cmp_nlg_f16 s_cmp_nlt_f16 s_cmp_nle_f16 "
     "s_cmp_ngt_f16 s_cmp_nge_f16 s_cmp_o_f16 s_cmp_u_f16"},
    {ISA_RDNA4_SOPP,
     "s_branch s_cbranch_scc0 s_cbranch_scc1 s_cbranch_vccz s_cbranch_vccnz s_cbranch_execz s_cbranch_execnz "
     "s_round_mode s_denorm_mode s_trap s_endpgm s_delay_alu s_clause s_nop s_setprio s_sleep s_sendmsg "
     "s_icache_inv"},
    {ISA_RDNA4_SMEM, "s_load_b32 s_load_b64 s_load_b128 s_load_b256 s_load_b512 s_dcache_inv"},
    {ISA_RDNA4_VOP2,
     "v_add_f32 v_sub_f32 v_subrev_f32 v_mul_f32 v_fmac_f32 v_fmaak_f32 v_fmamk_f32 v_mul_dx9_zero_f32 "
     "v_mul_hi_u32_u24 v_mul_hi_i32_i24 v_add_nc_u32 v_sub_nc_u32 v_subrev_nc_u32 v_and_b32 v_or_b32 v_xor_b32 "
     "v_xnor_b32 v_lshlrev_b32 v_lshrrev_b32 v_ashrrev_i32 v_min_i32 v_max_i32 v_min_u32 v_max_u32 v_mul_u32_u24 "
     "v_mul_i32_i24 v_cndmask_b32 v_add_co_ci_u32 v_sub_co_ci_u32 v_subrev_co_ci_u32 v_lshlrev_b64 v_add_f64 "
     "v_mul_f64 v_add_f16 v_sub_f16 v_subrev_f16 v_mul_f16 v_fmac_f16 v_fmaak_f16 v_fmamk_f16 v_ldexp_f16 "
     "v_pk_fmac_f16 v_cvt_pk_rtz_f16_f32"},
    {ISA_RDNA4_VOP1, ISA_NAMES_VOP1
     " v_nop v_clz_i32_u32 v_ctz_i32_b32 v_cls_i32 v_mov_b16 v_not_b16 v_cvt_nearest_i32_f32 v_cvt_floor_i32_f32 "
     "v_cvt_i32_i16 v_cvt_u32_u16 v_permlane64_b32 v_swap_b16 v_movreld_b32 v_movrels_b32 v_movrelsd_b32 "
     "v_movrelsd_2_b32 v_cvt_f32_fp8 v_cvt_f32_bf8 v_cvt_pk_f32_fp8 v_cvt_pk_f32_bf8"},
    {ISA_RDNA4_VOPC, ISA_COMPARISONS("v_cmp_") ISA_COMPARISONS("v_cmpx_")},
    {ISA_RDNA4_VOP3P,
     "v_pk_add_u16 v_pk_sub_u16 v_pk_add_i16 v_pk_sub_i16 v_pk_mul_lo_u16 v_pk_mad_u16 v_pk_mad_i16 "
     "v_pk_lshlrev_b16 v_pk_lshrrev_b16 v_pk_ashrrev_i16 v_pk_max_i16 v_pk_min_i16 v_pk_max_u16 v_pk_min_u16 "
     "v_pk_add_f16 v_pk_mul_f16 v_pk_fma_f16 v_dot2_f32_f16 v_dot2_f32_bf16 v_dot4_i32_iu8 v_dot4_u32_u8 "
     "v_dot8_i32_iu4 v_dot8_u32_u4 v_fma_mix_f32 v_fma_mixlo_f16 v_fma_mixhi_f16"},
    {ISA_RDNA4_VOPD, "v_dot2acc_f32_f16 v_dot2acc_f32_bf16"},
    {ISA_RDNA4_VOP3,
     "v_fma_f32 v_fma_dx9_zero_f32 v_ldexp_f32 v_add_nc_i32 v_sub_nc_i32 v_sad_u8 v_sad_hi_u8 v_sad_u16 v_sad_u32 "
     "v_msad_u8 v_lerp_u8 v_mul_lo_u32 v_mul_hi_u32 v_mul_hi_i32 v_bfm_b32 v_bcnt_u32_b32 v_add3_u32 v_xad_u32 "
     "v_lshl_add_u32 v_add_lshl_u32 v_lshl_or_b32 v_and_or_b32 v_or3_b32 v_xor3_b32 v_bfe_u32 v_bfe_i32 v_bfi_b32 "
     "v_alignbit_b32 v_alignbyte_b32 v_perm_b32 v_mad_u32_u24 v_mad_i32_i24 v_max3_i32 v_min3_i32 v_max3_u32 "
     "v_min3_u32 v_med3_i32 v_med3_u32 v_maxmin_i32 v_minmax_i32 v_maxmin_u32 v_minmax_u32 v_add_co_u32 "
     "v_sub_co_u32 v_subrev_co_u32 v_lshrrev_b64 v_ashrrev_i64 v_div_scale_f32 v_div_scale_f64 v_div_fmas_f32 "
     "v_div_fmas_f64 v_div_fixup_f32 v_div_fixup_f64 v_fma_f64 v_ldexp_f64 v_div_fixup_f16 v_fma_f16 v_add_nc_u16 "
     "v_sub_nc_u16 v_add_nc_i16 v_sub_nc_i16 v_mul_lo_u16 v_and_b16 v_or_b16 v_xor_b16 v_lshlrev_b16 v_lshrrev_b16 "
     "v_ashrrev_i16 v_max_u16 v_min_u16 v_max_i16 v_min_i16 v_max3_u16 v_min3_u16 v_med3_u16 v_max3_i16 v_min3_i16 "
     "v_med3_i16 v_mad_u16 v_mad_i16 v_mad_u32_u16 v_mad_i32_i16 v_cndmask_b16 v_pack_b32_f16 v_cvt_pk_i16_f32 "
     "v_cvt_pk_u16_f32 v_cvt_pk_i16_i32 v_cvt_pk_u16_u32 v_readlane_b32 v_writelane_b32 v_permlane16_b32 "
     "v_permlanex16_b32 v_mbcnt_lo_u32_b32 v_mbcnt_hi_u32_b32 v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32"},
    {ISA_RDNA4_LDS,
     "ds_load_u8 ds_load_i8 ds_load_u16 ds_load_i16 ds_load_b32 ds_load_b64 ds_load_b96 ds_load_b128 "
     "ds_load_u16_d16 ds_load_u16_d16_hi ds_load_u8_d16 ds_load_i8_d16 ds_load_u8_d16_hi ds_load_i8_d16_hi "
     "ds_store_b8 ds_store_b16 ds_store_b32 ds_store_b64 ds_store_b96 ds_store_b128 ds_store_b16_d16_hi "
     "ds_store_b8_d16_hi ds_load_2addr_b32 ds_load_2addr_b64 ds_load_2addr_stride64_b32 ds_load_2addr_stride64_b64 "
     "ds_store_2addr_b32 ds_store_2addr_b64 ds_store_2addr_stride64_b32 ds_store_2addr_stride64_b64 ds_swizzle_b32 "
     "ds_add_u32 ds_sub_u32 ds_min_i32 ds_max_i32 ds_min_u32 ds_max_u32 ds_and_b32 ds_or_b32 ds_xor_b32 ds_inc_u32 "
     "ds_dec_u32 ds_add_f32 ds_cmpstore_b32 ds_add_u64 ds_sub_u64 ds_min_i64 ds_max_i64 ds_min_u64 ds_max_u64 "
     "ds_and_b64 ds_or_b64 ds_xor_b64 ds_inc_u64 ds_dec_u64 ds_cmpstore_b64 ds_add_rtn_u32 ds_sub_rtn_u32 "
     "ds_min_rtn_i32 ds_max_rtn_i32 ds_min_rtn_u32 ds_max_rtn_u32 ds_and_rtn_b32 ds_or_rtn_b32 ds_xor_rtn_b32 "
     "ds_inc_rtn_u32 ds_dec_rtn_u32 ds_add_rtn_f32 ds_cmpstore_rtn_b32 ds_add_rtn_u64 ds_sub_rtn_u64 ds_min_rtn_i64 "
     "ds_max_rtn_i64 ds_min_rtn_u64 ds_max_rtn_u64 ds_and_rtn_b64 ds_or_rtn_b64 ds_xor_rtn_b64 ds_inc_rtn_u64 "
     "ds_dec_rtn_u64 ds_cmpstore_rtn_b64 ds_rsub_u32 ds_rsub_u64 ds_rsub_rtn_u32 ds_rsub_rtn_u64 "
     "ds_storexchg_rtn_b32 ds_storexchg_rtn_b64"},
    {ISA_RDNA4_FLAT,
     "flat_load_u8 flat_load_i8 flat_load_u16 flat_load_i16 flat_load_b32 flat_load_b64 flat_load_b96 "
     "flat_load_b128 flat_load_d16_b16 flat_load_d16_hi_b16 flat_load_d16_u8 flat_load_d16_i8 flat_load_d16_hi_u8 "
     "flat_load_d16_hi_i8 flat_store_b8 flat_store_b16 flat_store_b32 flat_store_b64 flat_store_b96 flat_store_b128 "
     "flat_store_d16_hi_b16 flat_store_d16_hi_b8 flat_atomic_add_u32 flat_atomic_sub_u32 flat_atomic_min_i32 "
     "flat_atomic_max_i32 flat_atomic_min_u32 flat_atomic_max_u32 flat_atomic_and_b32 flat_atomic_or_b32 "
     "flat_atomic_xor_b32 flat_atomic_inc_u32 flat_atomic_dec_u32 flat_atomic_add_f32 flat_atomic_cmpswap_b32 "
     "flat_atomic_add_u64 flat_atomic_sub_u64 flat_atomic_min_i64 flat_atomic_max_i64 flat_atomic_min_u64 "
     "flat_atomic_max_u64 flat_atomic_and_b64 flat_atomic_or_b64 flat_atomic_xor_b64 flat_atomic_inc_u64 "
     "flat_atomic_dec_u64 flat_atomic_cmpswap_b64 flat_atomic_swap_b32 flat_atomic_swap_b64"},
    {ISA_RDNA4_SCRATCH,
     "scratch_load_u8 scratch_load_i8 scratch_load_u16 scratch_load_i16 scratch_load_b32 scratch_load_b64 "
     "scratch_load_b96 scratch_load_b128 scratch_load_d16_b16 scratch_load_d16_hi_b16 scratch_load_d16_u8 "
     "scratch_load_d16_i8 scratch_load_d16_hi_u8 scratch_load_d16_hi_i8 scratch_store_b8 scratch_store_b16 "
     "scratch_store_b32 scratch_store_b64 scratch_store_b96 scratch_store_b128 scratch_store_d16_hi_b16 "
     "scratch_store_d16_hi_b8"},
    {ISA_RDNA4_GLOBAL,
     "global_load_u8 global_load_i8 global_load_u16 global_load_i16 global_load_b32 global_load_b64 global_load_b96 "
     "global_load_b128 global_load_d16_b16 global_load_d16_hi_b16 global_load_d16_u8 global_load_d16_i8 "
     "global_load_d16_hi_u8 global_load_d16_hi_i8 global_store_b8 global_store_b16 global_store_b32 "
     "global_store_b64 global_store_b96 global_store_b128 global_store_d16_hi_b16 global_store_d16_hi_b8 "
     "global_atomic_add_u32 global_atomic_sub_u32 global_atomic_min_i32 global_atomic_max_i32 global_atomic_min_u32 "
     "global_atomic_max_u32 global_atomic_and_b32 global_atomic_or_b32 global_atomic_xor_b32 global_atomic_inc_u32 "
     "global_atomic_dec_u32 global_atomic_add_f32 global_atomic_cmpswap_b32 global_atomic_add_u64 "
     "global_atomic_sub_u64 global_atomic_min_i64 global_atomic_max_i64 global_atomic_min_u64 global_atomic_max_u64 "
     "global_atomic_and_b64 global_atomic_or_b64 global_atomic_xor_b64 global_atomic_inc_u64 global_atomic_dec_u64 "
     "global_atomic_cmpswap_b64 global_atomic_swap_b32 global_atomic_swap_b64"},
    {NULL, NULL},
};

/* ---- Facts ------------------------------------------------------------------------------------------------- */

/* Temporal hint and scope. */
static const char *const hints[] = {"th:", "scope:", "nv", NULL};

/* MODE has neither DX10_CLAMP nor IEEE; instructions are as if both were set (LLVM's guide, compute_pgm_rsrc1). */
static uint32_t mode(uint32_t rsrc1) {
    return (rsrc1 >> 12 & 0xffu) | (rsrc1 >> 26 & 1u) << 23;
}

const isa_family isa_family_gfx12 = {
    .target = "gfx12",
    .generic = "gfx12-generic",
    .bit = ISA_GFX12,
    .chips = EMU_RDNA4,
    .names = &names,
    .same = same,
    .waves = 32 + 64,
    .scalars = 106,
    .special = isa_scalar_null,
    .hints = hints,
    .returning = "th:TH_ATOMIC_RETURN",
    .dual_moves_share = true,
    .queues = {[ISA_QUEUE_LOAD] = {ISA_QUEUE_LOAD, "loadcnt"},
               [ISA_QUEUE_STORE] = {ISA_QUEUE_STORE, "storecnt"},
               [ISA_QUEUE_LDS] = {ISA_QUEUE_LDS, "dscnt"},
               [ISA_QUEUE_SCALAR] = {ISA_QUEUE_SCALAR, "kmcnt"}},
    .line_bytes = 128,
    .user_supported = ISA_USER_GFX11,
    .mode_fixed = 0x008000ff,
    .mode_known = 0x000000f0,
    .mode = mode,
    .vgprs = isa_vgprs_gfx10_to_gfx12,
    .place = isa_place_in_ttmps,
    .items = isa_items_packed,
};

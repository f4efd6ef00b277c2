/* Mnemonics that several families have, each stated once. A family's file gives them its document's sections. */
#ifndef ISA_MNEMONICS_H
#define ISA_MNEMONICS_H

/* ---- Names of rows ----------------------------------------------------------------------------------------- */

/* Texts for isa_same.names. All of these gfx9 and gfx10 have, of each encoding; gfx12 has those of SOP1, SOPC and
 * VOP1. */
#define ISA_NAMES_SOP2                                                                                                 \
    "s_add_u32 s_sub_u32 s_addc_u32 s_subb_u32 s_add_i32 s_sub_i32 s_mul_i32 s_mul_hi_u32 s_mul_hi_i32 s_min_i32 "     \
    "s_min_u32 s_max_i32 s_max_u32 s_and_b32 s_or_b32 s_xor_b32 s_nand_b32 s_nor_b32 s_xnor_b32 s_lshl_b32 "           \
    "s_lshr_b32 s_ashr_i32 s_bfe_u32 s_bfe_i32 s_bfm_b32 s_lshl1_add_u32 s_lshl2_add_u32 s_lshl3_add_u32 "             \
    "s_lshl4_add_u32 s_pack_ll_b32_b16 s_pack_lh_b32_b16 s_pack_hh_b32_b16 s_cselect_b32 s_absdiff_i32 s_bfm_b64 "     \
    "s_and_b64 s_or_b64 s_xor_b64 s_nand_b64 s_nor_b64 s_xnor_b64 s_cselect_b64 s_lshl_b64 s_lshr_b64 s_ashr_i64 "     \
    "s_bfe_u64 s_bfe_i64"
#define ISA_NAMES_SOPK                                                                                                 \
    "s_cmpk_eq_i32 s_cmpk_eq_u32 s_cmpk_lg_i32 s_cmpk_lg_u32 s_cmpk_gt_i32 s_cmpk_gt_u32 s_cmpk_ge_i32 "               \
    "s_cmpk_ge_u32 s_cmpk_lt_i32 s_cmpk_lt_u32 s_cmpk_le_i32 s_cmpk_le_u32 s_movk_i32 s_cmovk_i32 s_addk_i32 "         \
    "s_mulk_i32 s_call_b64 s_getreg_b32 s_setreg_b32 s_setreg_imm32_b32"
#define ISA_NAMES_SOP1                                                                                                 \
    "s_mov_b32 s_not_b32 s_brev_b32 s_abs_i32 s_sext_i32_i8 s_sext_i32_i16 s_bcnt0_i32_b32 s_bcnt1_i32_b32 "           \
    "s_quadmask_b32 s_wqm_b32 s_mov_b64 s_brev_b64 s_quadmask_b64 s_wqm_b64 s_cmov_b32 s_cmov_b64 "                    \
    "s_bitreplicate_b64_b32 s_movrels_b32 s_movreld_b32 s_movrels_b64 s_movreld_b64 s_bitset0_b64 s_bitset1_b64 "      \
    "s_not_b64 s_bcnt0_i32_b64 s_bcnt1_i32_b64 s_and_saveexec_b64 s_or_saveexec_b64 s_xor_saveexec_b64 "               \
    "s_nand_saveexec_b64 s_nor_saveexec_b64 s_xnor_saveexec_b64 s_bitset0_b32 s_bitset1_b32 s_getpc_b64 s_setpc_b64 "  \
    "s_swappc_b64"
#define ISA_NAMES_SOPC                                                                                                 \
    "s_cmp_eq_i32 s_cmp_lg_i32 s_cmp_gt_i32 s_cmp_ge_i32 s_cmp_lt_i32 s_cmp_le_i32 s_cmp_eq_u32 s_cmp_lg_u32 "         \
    "s_cmp_gt_u32 s_cmp_ge_u32 s_cmp_lt_u32 s_cmp_le_u32 s_bitcmp0_b32 s_bitcmp1_b32 s_bitcmp0_b64 s_bitcmp1_b64 "     \
    "s_cmp_eq_u64 s_cmp_lg_u64"
#define ISA_NAMES_SOPP                                                                                                 \
    "s_branch s_cbranch_scc0 s_cbranch_scc1 s_cbranch_vccz s_cbranch_vccnz s_cbranch_execz s_cbranch_execnz s_trap "   \
    "s_endpgm s_barrier s_waitcnt s_nop s_setprio s_sleep s_sendmsg s_icache_inv"
#define ISA_NAMES_VOP1                                                                                                 \
    "v_floor_f32 v_ceil_f32 v_trunc_f32 v_rndne_f32 v_fract_f32 v_exp_f32 v_log_f32 v_rcp_f32 v_rcp_iflag_f32 "        \
    "v_rsq_f32 v_sqrt_f32 v_sin_f32 v_cos_f32 v_frexp_mant_f32 v_frexp_exp_i32_f32 v_mov_b32 v_not_b32 v_bfrev_b32 "   \
    "v_rcp_f64 v_rsq_f64 v_sqrt_f64 v_floor_f64 v_ceil_f64 v_trunc_f64 v_rndne_f64 v_fract_f64 v_frexp_mant_f64 "      \
    "v_frexp_exp_i32_f64 v_cvt_f64_f32 v_cvt_f64_i32 v_cvt_f64_u32 v_cvt_f32_f64 v_cvt_i32_f64 v_cvt_u32_f64 "         \
    "v_rcp_f16 v_sqrt_f16 v_rsq_f16 v_exp_f16 v_log_f16 v_floor_f16 v_ceil_f16 v_trunc_f16 v_rndne_f16 v_fract_f16 "   \
    "v_frexp_mant_f16 v_frexp_exp_i16_f16 v_cvt_f32_i32 v_cvt_f32_u32 v_cvt_i32_f32 v_cvt_u32_f32 v_cvt_f32_f16 "      \
    "v_cvt_f16_f32 v_cvt_f32_ubyte0 v_cvt_f32_ubyte1 v_cvt_f32_ubyte2 v_cvt_f32_ubyte3 v_cvt_f16_u16 v_cvt_f16_i16 "   \
    "v_cvt_u16_f16 v_cvt_i16_f16 v_cvt_off_f32_i4 v_sat_pk_u8_i16 v_readfirstlane_b32 v_swap_b32"
#define ISA_NAMES_VOP3P                                                                                                \
    "v_pk_add_u16 v_pk_sub_u16 v_pk_add_i16 v_pk_sub_i16 v_pk_mul_lo_u16 v_pk_mad_u16 v_pk_mad_i16 v_pk_lshlrev_b16 "  \
    "v_pk_lshrrev_b16 v_pk_ashrrev_i16 v_pk_max_i16 v_pk_min_i16 v_pk_max_u16 v_pk_min_u16 v_pk_add_f16 "              \
    "v_pk_mul_f16 v_pk_max_f16 v_pk_min_f16 v_pk_fma_f16 v_dot2_f32_f16 v_dot4_u32_u8 v_dot8_u32_u4 v_fma_mix_f32 "    \
    "v_fma_mixlo_f16 v_fma_mixhi_f16"
#define ISA_NAMES_VOP3                                                                                                 \
    "v_fma_f32 v_max3_f32 v_min3_f32 v_med3_f32 v_ldexp_f32 v_sad_u8 v_sad_hi_u8 v_sad_u16 v_sad_u32 v_msad_u8 "       \
    "v_lerp_u8 v_mul_lo_u32 v_mul_hi_u32 v_mul_hi_i32 v_bfm_b32 v_bcnt_u32_b32 v_add3_u32 v_xad_u32 v_lshl_add_u32 "   \
    "v_add_lshl_u32 v_lshl_or_b32 v_and_or_b32 v_or3_b32 v_bfe_u32 v_bfe_i32 v_bfi_b32 v_alignbit_b32 "                \
    "v_alignbyte_b32 v_perm_b32 v_mad_u32_u24 v_mad_i32_i24 v_max3_i32 v_min3_i32 v_max3_u32 v_min3_u32 v_med3_i32 "   \
    "v_med3_u32 v_lshlrev_b64 v_lshrrev_b64 v_ashrrev_i64 v_mad_u64_u32 v_mad_i64_i32 v_div_scale_f32 "                \
    "v_div_scale_f64 v_div_fmas_f32 v_div_fmas_f64 v_div_fixup_f32 v_div_fixup_f64 v_add_f64 v_mul_f64 v_fma_f64 "     \
    "v_max_f64 v_min_f64 v_ldexp_f64 v_max3_f16 v_min3_f16 v_med3_f16 v_div_fixup_f16 v_fma_f16 v_max3_u16 "           \
    "v_min3_u16 v_med3_u16 v_max3_i16 v_min3_i16 v_med3_i16 v_mad_u16 v_mad_i16 v_mad_u32_u16 v_mad_i32_i16 "          \
    "v_pack_b32_f16 v_cvt_pk_i16_i32 v_cvt_pk_u16_u32 v_readlane_b32 v_writelane_b32 v_mbcnt_lo_u32_b32 "              \
    "v_mbcnt_hi_u32_b32"
#define ISA_NAMES_LDS                                                                                                  \
    "ds_swizzle_b32 ds_add_u32 ds_sub_u32 ds_min_i32 ds_max_i32 ds_min_u32 ds_max_u32 ds_and_b32 ds_or_b32 "           \
    "ds_xor_b32 ds_inc_u32 ds_dec_u32 ds_add_f32 ds_min_f32 ds_max_f32 ds_add_u64 ds_sub_u64 ds_min_i64 ds_max_i64 "   \
    "ds_min_u64 ds_max_u64 ds_and_b64 ds_or_b64 ds_xor_b64 ds_inc_u64 ds_dec_u64 ds_add_rtn_u32 ds_sub_rtn_u32 "       \
    "ds_min_rtn_i32 ds_max_rtn_i32 ds_min_rtn_u32 ds_max_rtn_u32 ds_and_rtn_b32 ds_or_rtn_b32 ds_xor_rtn_b32 "         \
    "ds_inc_rtn_u32 ds_dec_rtn_u32 ds_add_rtn_f32 ds_min_rtn_f32 ds_max_rtn_f32 ds_add_rtn_u64 ds_sub_rtn_u64 "        \
    "ds_min_rtn_i64 ds_max_rtn_i64 ds_min_rtn_u64 ds_max_rtn_u64 ds_and_rtn_b64 ds_or_rtn_b64 ds_xor_rtn_b64 "         \
    "ds_inc_rtn_u64 ds_dec_rtn_u64 ds_rsub_u32 ds_rsub_u64 ds_rsub_rtn_u32 ds_rsub_rtn_u64"

/* Comparisons, which are into a mask after "v_cmp_" and into EXEC after "v_cmpx_". The text ends with a blank. */
#define ISA_COMPARISONS(to)                                                                                            \
    ISA_COMPARISONS_OF_FLOATS(to, "f32 ")                                                                              \
    ISA_COMPARISONS_OF_FLOATS(to, "f16 ")                                                                              \
    ISA_COMPARISONS_OF_FLOATS(to, "f64 ")                                                                              \
    ISA_COMPARISONS_OF_INTEGERS(to, "i32 ")                                                                            \
    ISA_COMPARISONS_OF_INTEGERS(to, "u32 ")                                                                            \
    ISA_COMPARISONS_OF_INTEGERS(to, "i16 ")                                                                            \
    ISA_COMPARISONS_OF_INTEGERS(to, "u16 ")                                                                            \
    ISA_COMPARISONS_OF_INTEGERS(to, "i64 ")                                                                            \
    ISA_COMPARISONS_OF_INTEGERS(to, "u64 ")
#define ISA_COMPARISONS_OF_FLOATS(to, type)                                                                            \
    to "lt_" type to "eq_" type to "le_" type to "gt_" type to "lg_" type to "ge_" type to "o_" type to "u_" type to   \
       "nge_" type to "nlg_" type to "ngt_" type to "nle_" type to "neq_" type to "nlt_" type to "class_" type
#define ISA_COMPARISONS_OF_INTEGERS(to, type)                                                                          \
    to "lt_" type to "eq_" type to "le_" type to "gt_" type to "ne_" type to "ge_" type

/* ---- Other names ------------------------------------------------------------------------------------------- */

/* Names that gfx9 and gfx10 have for what gfx11 has called otherwise: X(encoding, name, row). */
#define ISA_RENAMED(X)                                                                                                 \
    X(SOP2, "s_andn2_b32", "s_and_not1_b32"), X(SOP2, "s_orn2_b32", "s_or_not1_b32"),                                  \
        X(SOP2, "s_andn2_b64", "s_and_not1_b64"), X(SOP2, "s_orn2_b64", "s_or_not1_b64"),                              \
        X(SOP1, "s_ff1_i32_b32", "s_ctz_i32_b32"), X(SOP1, "s_flbit_i32_b32", "s_clz_i32_u32"),                        \
        X(SOP1, "s_flbit_i32", "s_cls_i32"), X(SOP1, "s_flbit_i32_i64", "s_cls_i32_i64"),                              \
        X(SOP1, "s_ff1_i32_b64", "s_ctz_i32_b64"), X(SOP1, "s_flbit_i32_b64", "s_clz_i32_u64"),                        \
        X(SOP1, "s_andn1_saveexec_b64", "s_and_not0_saveexec_b64"),                                                    \
        X(SOP1, "s_andn2_saveexec_b64", "s_and_not1_saveexec_b64"),                                                    \
        X(SOP1, "s_orn2_saveexec_b64", "s_or_not1_saveexec_b64"),                                                      \
        X(SOP1, "s_orn1_saveexec_b64", "s_or_not0_saveexec_b64"),                                                      \
        X(SOP1, "s_andn1_wrexec_b64", "s_and_not0_wrexec_b64"),                                                        \
        X(SOP1, "s_andn2_wrexec_b64", "s_and_not1_wrexec_b64"), X(SMEM, "s_load_dword", "s_load_b32"),                 \
        X(SMEM, "s_load_dwordx2", "s_load_b64"), X(SMEM, "s_load_dwordx4", "s_load_b128"),                             \
        X(SMEM, "s_load_dwordx8", "s_load_b256"), X(SMEM, "s_load_dwordx16", "s_load_b512"),                           \
        X(VOP2, "v_mul_legacy_f32", "v_mul_dx9_zero_f32"), X(VOP1, "v_ffbh_u32", "v_clz_i32_u32"),                     \
        X(VOP1, "v_ffbl_b32", "v_ctz_i32_b32"), X(VOP1, "v_ffbh_i32", "v_cls_i32"),                                    \
        X(VOP1, "v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32"), X(VOP1, "v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32"),    \
        X(LDS, "ds_read_u8", "ds_load_u8"), X(LDS, "ds_read_i8", "ds_load_i8"), X(LDS, "ds_read_u16", "ds_load_u16"),  \
        X(LDS, "ds_read_i16", "ds_load_i16"), X(LDS, "ds_read_b32", "ds_load_b32"),                                    \
        X(LDS, "ds_read_b64", "ds_load_b64"), X(LDS, "ds_read_b96", "ds_load_b96"),                                    \
        X(LDS, "ds_read_b128", "ds_load_b128"), X(LDS, "ds_read_u16_d16", "ds_load_u16_d16"),                          \
        X(LDS, "ds_read_u16_d16_hi", "ds_load_u16_d16_hi"), X(LDS, "ds_read_u8_d16", "ds_load_u8_d16"),                \
        X(LDS, "ds_read_i8_d16", "ds_load_i8_d16"), X(LDS, "ds_read_u8_d16_hi", "ds_load_u8_d16_hi"),                  \
        X(LDS, "ds_read_i8_d16_hi", "ds_load_i8_d16_hi"), X(LDS, "ds_write_b8", "ds_store_b8"),                        \
        X(LDS, "ds_write_b16", "ds_store_b16"), X(LDS, "ds_write_b32", "ds_store_b32"),                                \
        X(LDS, "ds_write_b64", "ds_store_b64"), X(LDS, "ds_write_b96", "ds_store_b96"),                                \
        X(LDS, "ds_write_b128", "ds_store_b128"), X(LDS, "ds_write_b16_d16_hi", "ds_store_b16_d16_hi"),                \
        X(LDS, "ds_write_b8_d16_hi", "ds_store_b8_d16_hi"), X(LDS, "ds_read2_b32", "ds_load_2addr_b32"),               \
        X(LDS, "ds_read2_b64", "ds_load_2addr_b64"), X(LDS, "ds_read2st64_b32", "ds_load_2addr_stride64_b32"),         \
        X(LDS, "ds_read2st64_b64", "ds_load_2addr_stride64_b64"), X(LDS, "ds_write2_b32", "ds_store_2addr_b32"),       \
        X(LDS, "ds_write2_b64", "ds_store_2addr_b64"), X(LDS, "ds_write2st64_b32", "ds_store_2addr_stride64_b32"),     \
        X(LDS, "ds_write2st64_b64", "ds_store_2addr_stride64_b64"),                                                    \
        X(LDS, "ds_wrxchg_rtn_b32", "ds_storexchg_rtn_b32"), X(LDS, "ds_wrxchg_rtn_b64", "ds_storexchg_rtn_b64"),      \
        X(FLAT, "global_load_ubyte", "global_load_u8"), X(FLAT, "global_load_sbyte", "global_load_i8"),                \
        X(FLAT, "global_load_ushort", "global_load_u16"), X(FLAT, "global_load_sshort", "global_load_i16"),            \
        X(FLAT, "global_load_dword", "global_load_b32"), X(FLAT, "global_load_dwordx2", "global_load_b64"),            \
        X(FLAT, "global_load_dwordx3", "global_load_b96"), X(FLAT, "global_load_dwordx4", "global_load_b128"),         \
        X(FLAT, "global_load_short_d16", "global_load_d16_b16"),                                                       \
        X(FLAT, "global_load_short_d16_hi", "global_load_d16_hi_b16"),                                                 \
        X(FLAT, "global_load_ubyte_d16", "global_load_d16_u8"),                                                        \
        X(FLAT, "global_load_sbyte_d16", "global_load_d16_i8"),                                                        \
        X(FLAT, "global_load_ubyte_d16_hi", "global_load_d16_hi_u8"),                                                  \
        X(FLAT, "global_load_sbyte_d16_hi", "global_load_d16_hi_i8"), X(FLAT, "global_store_byte", "global_store_b8"), \
        X(FLAT, "global_store_short", "global_store_b16"), X(FLAT, "global_store_dword", "global_store_b32"),          \
        X(FLAT, "global_store_dwordx2", "global_store_b64"), X(FLAT, "global_store_dwordx3", "global_store_b96"),      \
        X(FLAT, "global_store_dwordx4", "global_store_b128"),                                                          \
        X(FLAT, "global_store_short_d16_hi", "global_store_d16_hi_b16"),                                               \
        X(FLAT, "global_store_byte_d16_hi", "global_store_d16_hi_b8"), X(FLAT, "flat_load_ubyte", "flat_load_u8"),     \
        X(FLAT, "flat_load_sbyte", "flat_load_i8"), X(FLAT, "flat_load_ushort", "flat_load_u16"),                      \
        X(FLAT, "flat_load_sshort", "flat_load_i16"), X(FLAT, "flat_load_dword", "flat_load_b32"),                     \
        X(FLAT, "flat_load_dwordx2", "flat_load_b64"), X(FLAT, "flat_load_dwordx3", "flat_load_b96"),                  \
        X(FLAT, "flat_load_dwordx4", "flat_load_b128"), X(FLAT, "flat_load_short_d16", "flat_load_d16_b16"),           \
        X(FLAT, "flat_load_short_d16_hi", "flat_load_d16_hi_b16"), X(FLAT, "flat_load_ubyte_d16", "flat_load_d16_u8"), \
        X(FLAT, "flat_load_sbyte_d16", "flat_load_d16_i8"), X(FLAT, "flat_load_ubyte_d16_hi", "flat_load_d16_hi_u8"),  \
        X(FLAT, "flat_load_sbyte_d16_hi", "flat_load_d16_hi_i8"), X(FLAT, "flat_store_byte", "flat_store_b8"),         \
        X(FLAT, "flat_store_short", "flat_store_b16"), X(FLAT, "flat_store_dword", "flat_store_b32"),                  \
        X(FLAT, "flat_store_dwordx2", "flat_store_b64"), X(FLAT, "flat_store_dwordx3", "flat_store_b96"),              \
        X(FLAT, "flat_store_dwordx4", "flat_store_b128"), X(FLAT, "flat_store_short_d16_hi", "flat_store_d16_hi_b16"), \
        X(FLAT, "flat_store_byte_d16_hi", "flat_store_d16_hi_b8"),                                                     \
        X(FLAT, "global_atomic_add", "global_atomic_add_u32"), X(FLAT, "flat_atomic_add", "flat_atomic_add_u32"),      \
        X(FLAT, "global_atomic_sub", "global_atomic_sub_u32"), X(FLAT, "flat_atomic_sub", "flat_atomic_sub_u32"),      \
        X(FLAT, "global_atomic_smin", "global_atomic_min_i32"), X(FLAT, "flat_atomic_smin", "flat_atomic_min_i32"),    \
        X(FLAT, "global_atomic_smax", "global_atomic_max_i32"), X(FLAT, "flat_atomic_smax", "flat_atomic_max_i32"),    \
        X(FLAT, "global_atomic_umin", "global_atomic_min_u32"), X(FLAT, "flat_atomic_umin", "flat_atomic_min_u32"),    \
        X(FLAT, "global_atomic_umax", "global_atomic_max_u32"), X(FLAT, "flat_atomic_umax", "flat_atomic_max_u32"),    \
        X(FLAT, "global_atomic_and", "global_atomic_and_b32"), X(FLAT, "flat_atomic_and", "flat_atomic_and_b32"),      \
        X(FLAT, "global_atomic_or", "global_atomic_or_b32"), X(FLAT, "flat_atomic_or", "flat_atomic_or_b32"),          \
        X(FLAT, "global_atomic_xor", "global_atomic_xor_b32"), X(FLAT, "flat_atomic_xor", "flat_atomic_xor_b32"),      \
        X(FLAT, "global_atomic_inc", "global_atomic_inc_u32"), X(FLAT, "flat_atomic_inc", "flat_atomic_inc_u32"),      \
        X(FLAT, "global_atomic_dec", "global_atomic_dec_u32"), X(FLAT, "flat_atomic_dec", "flat_atomic_dec_u32"),      \
        X(FLAT, "global_atomic_cmpswap", "global_atomic_cmpswap_b32"),                                                 \
        X(FLAT, "flat_atomic_cmpswap", "flat_atomic_cmpswap_b32"),                                                     \
        X(FLAT, "global_atomic_add_x2", "global_atomic_add_u64"),                                                      \
        X(FLAT, "flat_atomic_add_x2", "flat_atomic_add_u64"),                                                          \
        X(FLAT, "global_atomic_sub_x2", "global_atomic_sub_u64"),                                                      \
        X(FLAT, "flat_atomic_sub_x2", "flat_atomic_sub_u64"),                                                          \
        X(FLAT, "global_atomic_smin_x2", "global_atomic_min_i64"),                                                     \
        X(FLAT, "flat_atomic_smin_x2", "flat_atomic_min_i64"),                                                         \
        X(FLAT, "global_atomic_smax_x2", "global_atomic_max_i64"),                                                     \
        X(FLAT, "flat_atomic_smax_x2", "flat_atomic_max_i64"),                                                         \
        X(FLAT, "global_atomic_umin_x2", "global_atomic_min_u64"),                                                     \
        X(FLAT, "flat_atomic_umin_x2", "flat_atomic_min_u64"),                                                         \
        X(FLAT, "global_atomic_umax_x2", "global_atomic_max_u64"),                                                     \
        X(FLAT, "flat_atomic_umax_x2", "flat_atomic_max_u64"),                                                         \
        X(FLAT, "global_atomic_and_x2", "global_atomic_and_b64"),                                                      \
        X(FLAT, "flat_atomic_and_x2", "flat_atomic_and_b64"), X(FLAT, "global_atomic_or_x2", "global_atomic_or_b64"),  \
        X(FLAT, "flat_atomic_or_x2", "flat_atomic_or_b64"), X(FLAT, "global_atomic_xor_x2", "global_atomic_xor_b64"),  \
        X(FLAT, "flat_atomic_xor_x2", "flat_atomic_xor_b64"),                                                          \
        X(FLAT, "global_atomic_inc_x2", "global_atomic_inc_u64"),                                                      \
        X(FLAT, "flat_atomic_inc_x2", "flat_atomic_inc_u64"),                                                          \
        X(FLAT, "global_atomic_dec_x2", "global_atomic_dec_u64"),                                                      \
        X(FLAT, "flat_atomic_dec_x2", "flat_atomic_dec_u64"),                                                          \
        X(FLAT, "global_atomic_cmpswap_x2", "global_atomic_cmpswap_b64"),                                              \
        X(FLAT, "flat_atomic_cmpswap_x2", "flat_atomic_cmpswap_b64"),                                                  \
        X(FLAT, "global_atomic_swap", "global_atomic_swap_b32"), X(FLAT, "flat_atomic_swap", "flat_atomic_swap_b32"),  \
        X(FLAT, "global_atomic_swap_x2", "global_atomic_swap_b64"),                                                    \
        X(FLAT, "flat_atomic_swap_x2", "flat_atomic_swap_b64")

/* The same of scratch, which of gfx9 the chips from gfx942 on have. */
#define ISA_RENAMED_SCRATCH(X)                                                                                         \
    X(FLAT, "scratch_load_ubyte", "scratch_load_u8"), X(FLAT, "scratch_load_sbyte", "scratch_load_i8"),                \
        X(FLAT, "scratch_load_ushort", "scratch_load_u16"), X(FLAT, "scratch_load_sshort", "scratch_load_i16"),        \
        X(FLAT, "scratch_load_dword", "scratch_load_b32"), X(FLAT, "scratch_load_dwordx2", "scratch_load_b64"),        \
        X(FLAT, "scratch_load_dwordx3", "scratch_load_b96"), X(FLAT, "scratch_load_dwordx4", "scratch_load_b128"),     \
        X(FLAT, "scratch_load_short_d16", "scratch_load_d16_b16"),                                                     \
        X(FLAT, "scratch_load_short_d16_hi", "scratch_load_d16_hi_b16"),                                               \
        X(FLAT, "scratch_load_ubyte_d16", "scratch_load_d16_u8"),                                                      \
        X(FLAT, "scratch_load_sbyte_d16", "scratch_load_d16_i8"),                                                      \
        X(FLAT, "scratch_load_ubyte_d16_hi", "scratch_load_d16_hi_u8"),                                                \
        X(FLAT, "scratch_load_sbyte_d16_hi", "scratch_load_d16_hi_i8"),                                                \
        X(FLAT, "scratch_store_byte", "scratch_store_b8"), X(FLAT, "scratch_store_short", "scratch_store_b16"),        \
        X(FLAT, "scratch_store_dword", "scratch_store_b32"), X(FLAT, "scratch_store_dwordx2", "scratch_store_b64"),    \
        X(FLAT, "scratch_store_dwordx3", "scratch_store_b96"), X(FLAT, "scratch_store_dwordx4", "scratch_store_b128"), \
        X(FLAT, "scratch_store_short_d16_hi", "scratch_store_d16_hi_b16"),                                             \
        X(FLAT, "scratch_store_byte_d16_hi", "scratch_store_d16_hi_b8")

#endif

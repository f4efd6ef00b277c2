/* The mnemonics of gfx9 that mean rows of other families. What it has besides are rows of its own (rows_gfx9.c,
 * rows_gfx9_memory.c, rows_mfma.c, rows_scaled.c).
 *
 * Not here: v_cmpx, which writes EXEC and a mask; ds_cmpst, whose operands stand in the other order.
 *
 * Loads of 16 bits into half a register leave the other half as it is. On chips whose registers have error correction
 * they clear it (LLVM's guide, Target Features, sramecc): code for those, or for either, has none of them. */
#include "family.h"
#include "mnemonics.h"
#include "sources.h"

#define FROM_908 (ISA_GFX908 | ISA_GFX90A | ISA_GFX942 | ISA_GFX950)
#define FROM_90A (ISA_GFX90A | ISA_GFX942 | ISA_GFX950)
#define FROM_942 (ISA_GFX942 | ISA_GFX950)

#define AS(encoding, name, row)                                                                                        \
    { name, row, ISA_VEGA_##encoding, 0 }
#define AS_FROM_942(encoding, name, row)                                                                               \
    { name, row, ISA_CDNA3_##encoding, FROM_942 }

static const isa_name list[] = {
    ISA_RENAMED(AS),
    ISA_RENAMED_SCRATCH(AS_FROM_942),
    AS(SMEM, "s_dcache_wb", "s_dcache_inv"),
    AS(VOP2, "v_add_u32", "v_add_nc_u32"),
    AS(VOP2, "v_sub_u32", "v_sub_nc_u32"),
    AS(VOP2, "v_subrev_u32", "v_subrev_nc_u32"),
    AS(VOP2, "v_addc_co_u32", "v_add_co_ci_u32"),
    AS(VOP2, "v_subb_co_u32", "v_sub_co_ci_u32"),
    AS(VOP2, "v_subbrev_co_u32", "v_subrev_co_ci_u32"),
    AS(VOP2, "v_add_u16", "v_add_nc_u16"),
    AS(VOP2, "v_sub_u16", "v_sub_nc_u16"),
    {"v_pk_fmac_f16", NULL, ISA_CDNA1_VOP2, FROM_908},
    {"v_dot2c_f32_f16", NULL, ISA_CDNA1_VOP2, FROM_908},
    {"v_dot2_f32_bf16", NULL, ISA_CDNA4_VOP3P, ISA_GFX950},
    AS(VOP3, "v_add_i32", "v_add_nc_i32"),
    AS(VOP3, "v_sub_i32", "v_sub_nc_i32"),
    AS(VOP3, "v_add_u32 clamp", "v_add_nc_u32 clamp"),
    AS(VOP3, "v_sub_u32 clamp", "v_sub_nc_u32 clamp"),
    AS(VOP3, "v_add_i32 clamp", "v_add_nc_i32 clamp"),
    AS(VOP3, "v_sub_i32 clamp", "v_sub_nc_i32 clamp"),
    AS(VOP3, "v_add_i16", "v_add_nc_i16"),
    AS(VOP3, "v_sub_i16", "v_sub_nc_i16"),
    AS(VOP3, "v_add_u16 clamp", "v_add_nc_u16 clamp"),
    AS(VOP3, "v_sub_u16 clamp", "v_sub_nc_u16 clamp"),
    AS(VOP3, "v_add_i16 clamp", "v_add_nc_i16 clamp"),
    AS(VOP3, "v_sub_i16 clamp", "v_sub_nc_i16 clamp"),
    AS(VOP3, "v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"),
    AS(VOP3, "v_fma_legacy_f16", "v_fma_f16"),
    AS(VOP3, "v_div_fixup_legacy_f16", "v_div_fixup_f16"),
    AS(VOP3, "v_mad_legacy_u16", "v_mad_u16"),
    AS(VOP3, "v_mad_legacy_i16", "v_mad_i16"),
    AS(LDS, "ds_bpermute_b32", "ds_bpermute_b32@wave"),
    AS(LDS, "ds_permute_b32", "ds_permute_b32@wave"),
    {"global_atomic_add_f32", NULL, ISA_CDNA1_FLAT, FROM_908},
    {"flat_atomic_add_f32", NULL, ISA_CDNA3_FLAT, FROM_942},
    {"v_cvt_f32_fp8", "v_cvt_f32_fp8@fnuz", ISA_CDNA3_VOP1, ISA_GFX942},
    {"v_cvt_f32_bf8", "v_cvt_f32_bf8@fnuz", ISA_CDNA3_VOP1, ISA_GFX942},
    {"v_cvt_pk_f32_fp8", "v_cvt_pk_f32_fp8@fnuz", ISA_CDNA3_VOP1, ISA_GFX942},
    {"v_cvt_pk_f32_bf8", "v_cvt_pk_f32_bf8@fnuz", ISA_CDNA3_VOP1, ISA_GFX942},
    {"v_cvt_pk_fp8_f32", "v_cvt_pk_fp8_f32@fnuz", ISA_CDNA3_VOP3, ISA_GFX942},
    {"v_cvt_pk_bf8_f32", "v_cvt_pk_bf8_f32@fnuz", ISA_CDNA3_VOP3, ISA_GFX942},
    /* What later chips add */
    {"v_accvgpr_read_b32", "v_mov_b32", ISA_CDNA1_VOP3P, FROM_908},
    {"v_accvgpr_write_b32", "v_mov_b32", ISA_CDNA1_VOP3P, FROM_908},
    {"v_accvgpr_mov_b32", "v_mov_b32", ISA_CDNA2_VOP1, FROM_90A},
    {"v_fmaak_f32", NULL, ISA_CDNA3_VOP2, FROM_942},
    {"v_fmamk_f32", NULL, ISA_CDNA3_VOP2, FROM_942},
    {"v_dot2c_f32_bf16", "v_dot2acc_f32_bf16", ISA_CDNA4_VOP2, ISA_GFX950},
    {"v_minimum3_f32", NULL, ISA_CDNA4_VOP3, ISA_GFX950},
    {"v_maximum3_f32", NULL, ISA_CDNA4_VOP3, ISA_GFX950},
    {"buffer_wbinvl1", "buffer_gl0_inv", ISA_VEGA_MUBUF, ISA_GFX906 | ISA_GFX908 | ISA_GFX90A},
    {"buffer_wbinvl1_vol", "buffer_gl0_inv", ISA_VEGA_MUBUF, ISA_GFX906 | ISA_GFX908 | ISA_GFX90A},
    {"buffer_invl2", "buffer_gl0_inv", ISA_CDNA2_MUBUF, ISA_GFX90A},
    {"buffer_wbl2", "buffer_gl0_inv", ISA_CDNA2_MUBUF, FROM_90A},
    {"buffer_inv", "buffer_gl0_inv", ISA_CDNA3_MUBUF, FROM_942},
    {"v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_16x16x4f16", "v_mfma_f32_16x16x4_4b_f16", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_32x32x4f16", "v_mfma_f32_32x32x4_2b_f16", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_16x16x4f32", "v_mfma_f32_16x16x4_f32", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_32x32x2f32", "v_mfma_f32_32x32x2_f32", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_4x4x1f32", "v_mfma_f32_4x4x1_16b_f32", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_16x16x1f32", "v_mfma_f32_16x16x1_4b_f32", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_32x32x1f32", "v_mfma_f32_32x32x1_2b_f32", ISA_CDNA1_VOP3P, ISA_GFX908 | ISA_GFX90A},
    {"v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16", ISA_CDNA2_VOP3P, ISA_GFX90A},
    {"v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8_bf16", ISA_CDNA2_VOP3P, ISA_GFX90A},
    {"v_mfma_f32_4x4x4bf16_1k", "v_mfma_f32_4x4x4_16b_bf16", ISA_CDNA2_VOP3P, ISA_GFX90A},
    {"v_mfma_f32_16x16x4bf16_1k", "v_mfma_f32_16x16x4_4b_bf16", ISA_CDNA2_VOP3P, ISA_GFX90A},
    {"v_mfma_f32_32x32x4bf16_1k", "v_mfma_f32_32x32x4_2b_bf16", ISA_CDNA2_VOP3P, ISA_GFX90A},
};

const isa_names isa_names_gfx9 = {list, sizeof list / sizeof list[0]};

const isa_same isa_same_gfx9[] = {
    {ISA_VEGA_SOP2, ISA_NAMES_SOP2},
    {ISA_VEGA_SOPK, ISA_NAMES_SOPK},
    {ISA_VEGA_SOP1, ISA_NAMES_SOP1},
    {ISA_VEGA_SOPC, ISA_NAMES_SOPC},
    {ISA_VEGA_SOPP, ISA_NAMES_SOPP},
    {ISA_VEGA_SMEM, "s_dcache_inv"},
    {ISA_VEGA_VOP2,
     "v_add_f32 v_sub_f32 v_subrev_f32 v_mul_f32 v_max_f32 v_min_f32 v_fmac_f32 v_mul_hi_u32_u24 v_mul_hi_i32_i24 "
     "v_and_b32 v_or_b32 v_xor_b32 v_xnor_b32 v_lshlrev_b32 v_lshrrev_b32 v_ashrrev_i32 v_min_i32 v_max_i32 v_min_u32 "
     "v_max_u32 v_mul_u32_u24 v_mul_i32_i24 v_cndmask_b32 v_add_co_u32 v_sub_co_u32 v_subrev_co_u32 v_add_f16 "
     "v_sub_f16 v_subrev_f16 v_mul_f16 v_max_f16 v_min_f16 v_ldexp_f16 v_mul_lo_u16 v_lshlrev_b16 v_lshrrev_b16 "
     "v_ashrrev_i16 v_max_u16 v_min_u16 v_max_i16 v_min_i16"},
    {ISA_VEGA_VOP1, ISA_NAMES_VOP1},
    {ISA_VEGA_VOPC, ISA_COMPARISONS("v_cmp_")},
    {ISA_VEGA_VOP3P, ISA_NAMES_VOP3P},
    {ISA_VEGA_VOP3, ISA_NAMES_VOP3},
    {ISA_VEGA_LDS, ISA_NAMES_LDS},
    {NULL, NULL},
};

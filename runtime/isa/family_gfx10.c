/* gfx10.3: gfx1030 to gfx1036. */
#include "../emu/chips.h"
#include "family.h"
#include "image.h"
#include "mnemonics.h"
#include "sources.h"

/* ---- Mnemonics --------------------------------------------------------------------------------------------- */

#define AS(encoding, name, row)                                                                                        \
    { name, row, ISA_RDNA2_##encoding, 0 }

/* Not here: ds_cmpst, whose operands stand in the other order; dot products of signed integers. */
static const isa_name list[] = {
    ISA_RENAMED(AS),
    ISA_RENAMED_SCRATCH(AS),
    AS(SOP1, "s_andn1_saveexec_b32", "s_and_not0_saveexec_b32"),
    AS(SOP1, "s_andn2_saveexec_b32", "s_and_not1_saveexec_b32"),
    AS(SOP1, "s_orn2_saveexec_b32", "s_or_not1_saveexec_b32"),
    AS(SOP1, "s_orn1_saveexec_b32", "s_or_not0_saveexec_b32"),
    AS(SOP1, "s_andn1_wrexec_b32", "s_and_not0_wrexec_b32"),
    AS(SOP1, "s_andn2_wrexec_b32", "s_and_not1_wrexec_b32"),
    AS(SOPP, "s_inst_prefetch", "s_set_inst_prefetch_distance"),
    AS(VOP2, "v_fmac_legacy_f32", "v_fmac_dx9_zero_f32"),
    AS(VOP2, "v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"),
    AS(VOP3, "v_fma_legacy_f32", "v_fma_dx9_zero_f32"),
    AS(FLAT, "global_atomic_fmin", "global_atomic_min_f32"),
    AS(FLAT, "flat_atomic_fmin", "flat_atomic_min_f32"),
    AS(FLAT, "global_atomic_fmax", "global_atomic_max_f32"),
    AS(FLAT, "flat_atomic_fmax", "flat_atomic_max_f32"),
};
static const isa_names names = {list, sizeof list / sizeof list[0]};

static const isa_same same[] = {
    {ISA_RDNA2_SOP2, ISA_NAMES_SOP2},
    {ISA_RDNA2_SOPK, ISA_NAMES_SOPK " s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_lgkmcnt s_waitcnt_expcnt"},
    {ISA_RDNA2_SOP1,
     ISA_NAMES_SOP1 " s_and_saveexec_b32 s_or_saveexec_b32 s_xor_saveexec_b32 s_nand_saveexec_b32 s_nor_saveexec_b32 "
                    "s_xnor_saveexec_b32"},
    {ISA_RDNA2_SOPC, ISA_NAMES_SOPC},
    {ISA_RDNA2_SOPP, ISA_NAMES_SOPP " s_round_mode s_denorm_mode s_waitcnt_depctr s_clause"},
    {ISA_RDNA2_SMEM, "s_gl1_inv s_dcache_inv"},
    {ISA_RDNA2_VOP2,
     "v_add_f32 v_sub_f32 v_subrev_f32 v_mul_f32 v_max_f32 v_min_f32 v_fmac_f32 v_fmaak_f32 v_fmamk_f32 "
     "v_mul_hi_u32_u24 v_mul_hi_i32_i24 v_add_nc_u32 v_sub_nc_u32 v_subrev_nc_u32 v_and_b32 v_or_b32 v_xor_b32 "
     "v_xnor_b32 v_lshlrev_b32 v_lshrrev_b32 v_ashrrev_i32 v_min_i32 v_max_i32 v_min_u32 v_max_u32 v_mul_u32_u24 "
     "v_mul_i32_i24 v_cndmask_b32 v_add_co_ci_u32 v_sub_co_ci_u32 v_subrev_co_ci_u32 v_add_f16 v_sub_f16 "
     "v_subrev_f16 v_mul_f16 v_max_f16 v_min_f16 v_fmac_f16 v_fmaak_f16 v_fmamk_f16 v_ldexp_f16 v_pk_fmac_f16 "
     "v_dot2c_f32_f16"},
    {ISA_RDNA2_VOP1, ISA_NAMES_VOP1 " v_nop v_movreld_b32 v_movrels_b32 v_movrelsd_b32 v_movrelsd_2_b32"},
    {ISA_RDNA2_VOPC, ISA_COMPARISONS("v_cmp_") ISA_COMPARISONS("v_cmpx_")},
    {ISA_RDNA2_VOP3P, ISA_NAMES_VOP3P},
    {ISA_RDNA2_VOP3, ISA_NAMES_VOP3
     " v_add_nc_i32 v_sub_nc_i32 v_xor3_b32 v_add_co_u32 v_sub_co_u32 v_subrev_co_u32 v_add_nc_u16 v_sub_nc_u16 "
     "v_add_nc_i16 v_sub_nc_i16 v_mul_lo_u16 v_lshlrev_b16 v_lshrrev_b16 v_ashrrev_i16 v_max_u16 v_min_u16 v_max_i16 "
     "v_min_i16 v_permlane16_b32 v_permlanex16_b32"},
    {ISA_RDNA2_LDS, ISA_NAMES_LDS " ds_bpermute_b32 ds_permute_b32"},
    {ISA_RDNA2_MUBUF,
     "buffer_load_ubyte buffer_load_sbyte buffer_load_ushort buffer_load_sshort buffer_load_dword "
     "buffer_load_dwordx2 buffer_load_dwordx3 buffer_load_dwordx4 buffer_store_byte buffer_store_short "
     "buffer_store_dword buffer_store_dwordx2 buffer_store_dwordx3 buffer_store_dwordx4 buffer_store_short_d16_hi "
     "buffer_store_byte_d16_hi buffer_gl0_inv buffer_gl1_inv"},
    {NULL, NULL},
};

/* ---- Facts ------------------------------------------------------------------------------------------------- */

static const char *const hints[] = {"glc", "slc", "dlc", NULL};

const isa_family isa_family_gfx103 = {
    .target = "gfx103",
    .generic = "gfx10-3-generic",
    .bit = ISA_GFX10,
    .chips = EMU_RDNA2,
    .names = &names,
    .same = same,
    .waves = 32 + 64,
    .scalars = 106,
    .special = isa_scalar_null,
    .takes_sdwa = true,
    .hints = hints,
    .returning = "glc",
    .queues = {[ISA_QUEUE_LOAD] = {ISA_QUEUE_LOAD, "vmcnt"},
               [ISA_QUEUE_STORE] = {ISA_QUEUE_STORE, "vscnt"},
               [ISA_QUEUE_LDS] = {ISA_QUEUE_LDS, "lgkmcnt"},
               [ISA_QUEUE_SCALAR] = {ISA_QUEUE_SCALAR, "lgkmcnt"}},
    .line_bytes = 128,
    .user_supported = ISA_USER_GFX11 | ISA_USER_PRIVATE_BUFFER | ISA_USER_FLAT_SCRATCH,
    .mode_fixed = 0x008003ff,
    .mode_known = 0x000003f0,
    .mode = isa_mode_gfx6_to_gfx11,
    .vgprs = isa_vgprs_gfx10_to_gfx12,
    .place = isa_place_with_scratch,
    .items = isa_items_apart,
};

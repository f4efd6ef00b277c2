/* The operations at which waves meet, one table over all chip families; a family's own are in a file of its own. */
#ifndef EMU_OPS_H
#define EMU_OPS_H

#include "engine.h"

/* Which lanes must take part. */
typedef enum emu_need {
    EMU_NEED_LIVE,    /* barriers: those that have not returned */
    EMU_NEED_PRESENT, /* cross-lane: all that the workgroup has in this wave; lanes that it does not have are inactive
                       */
    EMU_NEED_WHOLE    /* matrix: all of the wave */
} emu_need;

typedef struct emu_operation {
    const char *instruction;
    emu_need need;
    /* Called on the stack of the lane that arrived last, with every lane's operands in wave->block. */
    void (*execute)(emu_wave *wave, const struct fmha_emu_site *site);
} emu_operation;

extern const emu_operation emu_operations[FMHA_EMU_OPERATION_COUNT];

/* ops_cross_lane.c */
void emu_readfirstlane(emu_wave *wave, const struct fmha_emu_site *site);
void emu_readlane(emu_wave *wave, const struct fmha_emu_site *site);
void emu_writelane(emu_wave *wave, const struct fmha_emu_site *site);
void emu_ballot(emu_wave *wave, const struct fmha_emu_site *site);
void emu_ds_swizzle(emu_wave *wave, const struct fmha_emu_site *site);
void emu_ds_permute(emu_wave *wave, const struct fmha_emu_site *site);
void emu_ds_bpermute(emu_wave *wave, const struct fmha_emu_site *site);
void emu_dpp16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_dpp8(emu_wave *wave, const struct fmha_emu_site *site);
void emu_permlane16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_permlanex16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_permlane64(emu_wave *wave, const struct fmha_emu_site *site);

/* ops_rdna3.c */
void emu_wmma_gfx11_f16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_wmma_gfx11_bf16(emu_wave *wave, const struct fmha_emu_site *site);

/* ops_rdna4.c */
void emu_wmma_gfx12_f16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_wmma_gfx12_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_global_load_tr_b128(emu_wave *wave, const struct fmha_emu_site *site);

/* ops_cdna.c */
void emu_mfma_16x16x8_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_16x16x16_f16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_16x16x16_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_16x16x32_f16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_16x16x32_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_32x32x4_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_32x32x8_f16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_32x32x8_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_32x32x16_f16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_32x32x16_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_permlane16_swap(emu_wave *wave, const struct fmha_emu_site *site);
void emu_permlane32_swap(emu_wave *wave, const struct fmha_emu_site *site);
void emu_ds_read_b64_tr_b16(emu_wave *wave, const struct fmha_emu_site *site);

/* ops_scaled.c */
void emu_mfma_scale_16x16x128(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_scale_32x32x64(emu_wave *wave, const struct fmha_emu_site *site);

/* ops_fp8.c */
void emu_wmma_gfx12_fp8(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_16x16x32_fp8(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mfma_32x32x16_fp8(emu_wave *wave, const struct fmha_emu_site *site);

/* ops_nvidia.c */
void emu_mma_m16n8k16_f16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_mma_m16n8k16_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_ldmatrix(emu_wave *wave, const struct fmha_emu_site *site);
void emu_ldmatrix_trans(emu_wave *wave, const struct fmha_emu_site *site);
void emu_shfl_idx(emu_wave *wave, const struct fmha_emu_site *site);
void emu_shfl_bfly(emu_wave *wave, const struct fmha_emu_site *site);

/* ops_wgmma.c */
void emu_wgmma_f16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_wgmma_bf16(emu_wave *wave, const struct fmha_emu_site *site);
void emu_wgmma_fence(emu_wave *wave, const struct fmha_emu_site *site);
void emu_wgmma_commit(emu_wave *wave, const struct fmha_emu_site *site);
void emu_wgmma_wait(emu_wave *wave, const struct fmha_emu_site *site);

/* ops_load_lds.c */
void emu_global_load_lds(emu_wave *wave, const struct fmha_emu_site *site);

#endif

#include "ops.h"

static void s_barrier(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    emu_lane *self = emu_current;
    emu_lane *next = emu_wave_waits(wave, self);
    if (next != self) {
        emu_switch(self, next);
    }
}

static void wave_barrier(emu_wave *wave, const struct fmha_emu_site *site) {
    (void)site;
    emu_lds_lanes_met(wave->worker->lds);
}

const emu_operation emu_operations[FMHA_EMU_OPERATION_COUNT] = {
    [FMHA_EMU_S_BARRIER] = {"s_barrier", EMU_NEED_LIVE, s_barrier},
    [FMHA_EMU_WAVE_BARRIER] = {"wave_barrier", EMU_NEED_LIVE, wave_barrier},
    [FMHA_EMU_READFIRSTLANE] = {"v_readfirstlane_b32", EMU_NEED_PRESENT, emu_readfirstlane},
    [FMHA_EMU_READLANE] = {"v_readlane_b32", EMU_NEED_PRESENT, emu_readlane},
    [FMHA_EMU_WRITELANE] = {"v_writelane_b32", EMU_NEED_PRESENT, emu_writelane},
    [FMHA_EMU_BALLOT] = {"ballot", EMU_NEED_PRESENT, emu_ballot},
    [FMHA_EMU_DS_SWIZZLE] = {"ds_swizzle_b32", EMU_NEED_PRESENT, emu_ds_swizzle},
    [FMHA_EMU_DS_PERMUTE] = {"ds_permute_b32", EMU_NEED_PRESENT, emu_ds_permute},
    [FMHA_EMU_DS_BPERMUTE] = {"ds_bpermute_b32", EMU_NEED_PRESENT, emu_ds_bpermute},
    [FMHA_EMU_DPP16] = {"v_mov_b32_dpp", EMU_NEED_PRESENT, emu_dpp16},
    [FMHA_EMU_DPP8] = {"v_mov_b32_dpp8", EMU_NEED_PRESENT, emu_dpp8},
    [FMHA_EMU_PERMLANE16] = {"v_permlane16_b32", EMU_NEED_PRESENT, emu_permlane16},
    [FMHA_EMU_PERMLANEX16] = {"v_permlanex16_b32", EMU_NEED_PRESENT, emu_permlanex16},
    [FMHA_EMU_PERMLANE64] = {"v_permlane64_b32", EMU_NEED_PRESENT, emu_permlane64},
    [FMHA_EMU_WMMA_GFX11_F16] = {"v_wmma_f32_16x16x16_f16", EMU_NEED_WHOLE, emu_wmma_gfx11_f16},
    [FMHA_EMU_WMMA_GFX11_BF16] = {"v_wmma_f32_16x16x16_bf16", EMU_NEED_WHOLE, emu_wmma_gfx11_bf16},
    [FMHA_EMU_WMMA_GFX12_F16] = {"v_wmma_f32_16x16x16_f16", EMU_NEED_WHOLE, emu_wmma_gfx12_f16},
    [FMHA_EMU_WMMA_GFX12_BF16] = {"v_wmma_f32_16x16x16_bf16", EMU_NEED_WHOLE, emu_wmma_gfx12_bf16},
    [FMHA_EMU_WMMA_GFX12_FP8] = {"v_wmma_f32_16x16x16 of 8 bits", EMU_NEED_WHOLE, emu_wmma_gfx12_fp8},
    [FMHA_EMU_MFMA_16X16X8_BF16] = {"v_mfma_f32_16x16x8_bf16", EMU_NEED_WHOLE, emu_mfma_16x16x8_bf16},
    [FMHA_EMU_MFMA_16X16X16_F16] = {"v_mfma_f32_16x16x16_f16", EMU_NEED_WHOLE, emu_mfma_16x16x16_f16},
    [FMHA_EMU_MFMA_16X16X16_BF16] = {"v_mfma_f32_16x16x16_bf16", EMU_NEED_WHOLE, emu_mfma_16x16x16_bf16},
    [FMHA_EMU_MFMA_16X16X32_F16] = {"v_mfma_f32_16x16x32_f16", EMU_NEED_WHOLE, emu_mfma_16x16x32_f16},
    [FMHA_EMU_MFMA_16X16X32_BF16] = {"v_mfma_f32_16x16x32_bf16", EMU_NEED_WHOLE, emu_mfma_16x16x32_bf16},
    [FMHA_EMU_MFMA_32X32X4_BF16] = {"v_mfma_f32_32x32x4_bf16", EMU_NEED_WHOLE, emu_mfma_32x32x4_bf16},
    [FMHA_EMU_MFMA_32X32X8_F16] = {"v_mfma_f32_32x32x8_f16", EMU_NEED_WHOLE, emu_mfma_32x32x8_f16},
    [FMHA_EMU_MFMA_32X32X8_BF16] = {"v_mfma_f32_32x32x8_bf16", EMU_NEED_WHOLE, emu_mfma_32x32x8_bf16},
    [FMHA_EMU_MFMA_32X32X16_F16] = {"v_mfma_f32_32x32x16_f16", EMU_NEED_WHOLE, emu_mfma_32x32x16_f16},
    [FMHA_EMU_MFMA_32X32X16_BF16] = {"v_mfma_f32_32x32x16_bf16", EMU_NEED_WHOLE, emu_mfma_32x32x16_bf16},
    [FMHA_EMU_MFMA_SCALE_16X16X128] = {"v_mfma_scale_f32_16x16x128_f8f6f4", EMU_NEED_WHOLE, emu_mfma_scale_16x16x128},
    [FMHA_EMU_MFMA_SCALE_32X32X64] = {"v_mfma_scale_f32_32x32x64_f8f6f4", EMU_NEED_WHOLE, emu_mfma_scale_32x32x64},
    [FMHA_EMU_MFMA_16X16X32_FP8] = {"v_mfma_f32_16x16x32 of 8 bits", EMU_NEED_WHOLE, emu_mfma_16x16x32_fp8},
    [FMHA_EMU_MFMA_32X32X16_FP8] = {"v_mfma_f32_32x32x16 of 8 bits", EMU_NEED_WHOLE, emu_mfma_32x32x16_fp8},
    [FMHA_EMU_PERMLANE16_SWAP] = {"v_permlane16_swap_b32", EMU_NEED_PRESENT, emu_permlane16_swap},
    [FMHA_EMU_PERMLANE32_SWAP] = {"v_permlane32_swap_b32", EMU_NEED_PRESENT, emu_permlane32_swap},
    [FMHA_EMU_DS_READ_B64_TR_B16] = {"ds_read_b64_tr_b16", EMU_NEED_WHOLE, emu_ds_read_b64_tr_b16},
    [FMHA_EMU_GLOBAL_LOAD_TR_B128] = {"global_load_tr_b128", EMU_NEED_WHOLE, emu_global_load_tr_b128},
    [FMHA_EMU_GLOBAL_LOAD_LDS] = {"global_load_lds", EMU_NEED_PRESENT, emu_global_load_lds},
    [FMHA_EMU_MMA_M16N8K16_F16] = {"mma.m16n8k16 of f16", EMU_NEED_WHOLE, emu_mma_m16n8k16_f16},
    [FMHA_EMU_MMA_M16N8K16_BF16] = {"mma.m16n8k16 of bf16", EMU_NEED_WHOLE, emu_mma_m16n8k16_bf16},
    [FMHA_EMU_LDMATRIX] = {"ldmatrix", EMU_NEED_WHOLE, emu_ldmatrix},
    [FMHA_EMU_LDMATRIX_TRANS] = {"ldmatrix.trans", EMU_NEED_WHOLE, emu_ldmatrix_trans},
    [FMHA_EMU_SHFL_IDX] = {"shfl.sync.idx", EMU_NEED_WHOLE, emu_shfl_idx},
    [FMHA_EMU_SHFL_BFLY] = {"shfl.sync.bfly", EMU_NEED_WHOLE, emu_shfl_bfly},
    [FMHA_EMU_WGMMA_F16] = {"wgmma of f16", EMU_NEED_WHOLE, emu_wgmma_f16},
    [FMHA_EMU_WGMMA_BF16] = {"wgmma of bf16", EMU_NEED_WHOLE, emu_wgmma_bf16},
    [FMHA_EMU_WGMMA_FENCE] = {"wgmma.fence", EMU_NEED_WHOLE, emu_wgmma_fence},
    [FMHA_EMU_WGMMA_COMMIT] = {"wgmma.commit_group", EMU_NEED_WHOLE, emu_wgmma_commit},
    [FMHA_EMU_WGMMA_WAIT] = {"wgmma.wait_group", EMU_NEED_WHOLE, emu_wgmma_wait},
};

/* A copy that has been waited for is in LDS as if the thread had stored it: wgmma does not see it until it is shown.
 * run: 1 128 32 sm_90
 * finding: lds-not-shown: products_of_copies_not_shown.hip:20: reads byte 0 of the LDS block of line 8 (2048 bytes), which wave 0, lane 0, has written and not shown to wgmma since (workgroup (0,0,0), wave 0, lane 0): put fence.proxy.async into the thread that writes, before the barrier (128 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x, a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[8];
    fmha_emu_cp_async_16(lds + 4 * i, in + i % 16 / 4 * 20 + i % 4 * 4, 16);
    fmha_emu_cp_async_commit_group();
#ifndef RIGHT
    fmha_emu_fence_proxy_async();
#endif
    fmha_emu_cp_async_wait_group(0);
#ifdef RIGHT
    fmha_emu_fence_proxy_async();
#endif
    __syncthreads();
    fmha_emu_wgmma_fence();
    fmha_emu_wgmma_m64nNk16_f16(c, a, 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4, 16, false, 0);
    fmha_emu_wgmma_commit_group();
    fmha_emu_wgmma_wait_group(0);
    if (i < 64)
        out[i] = c[0];
}

/* A barrier does not wait for products: LDS that they read is free once each wave has waited for them before it.
 * run: 1 128 32 sm_90
 * finding: lds-in-use: products_lose_their_lds.hip:20: writes byte 0 of the LDS block of line 8 (2048 bytes), which the product of line 14 reads that wave 0 has not waited for (workgroup (0,0,0), wave 0, lane 0): wait in every wave that multiplies, by wgmma.wait_group for the group that it has committed, before the barrier (32 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x, a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[8];
    for (unsigned n = i; n < 512; n += 128)
        lds[n] = in[0];
    fmha_emu_fence_proxy_async();
    __syncthreads();
    fmha_emu_wgmma_fence();
    fmha_emu_wgmma_m64nNk16_f16(c, a, 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4, 16, false, 0);
    fmha_emu_wgmma_commit_group();
#ifdef RIGHT
    fmha_emu_wgmma_wait_group(0);
#endif
    __syncthreads();
    lds[i] = in[1];
    fmha_emu_wgmma_wait_group(0);
    if (i < 64)
        out[i] = c[0] + lds[i];
}

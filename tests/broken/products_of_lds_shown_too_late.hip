/* Behind the barrier a thread shows what it stored to its own products alone: those of another wave may have read before.
 * run: 1 128 32 sm_90
 * finding: lds-not-shown: products_of_lds_shown_too_late.hip:18: reads byte 0 of the LDS block of line 8 (2048 bytes), which wave 0, lane 3, has written and not shown to wgmma until behind the last barrier (workgroup (0,0,0), wave 1, lane 0): put fence.proxy.async into the thread that writes, before the barrier (96 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x, a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[8];
    if (i < 32)
        for (unsigned n = i; n < 512; n += 32)
            lds[n] = in[0];
#ifdef RIGHT
    fmha_emu_fence_proxy_async();
#endif
    __syncthreads();
    fmha_emu_fence_proxy_async();
    fmha_emu_wgmma_fence();
    fmha_emu_wgmma_m64nNk16_f16(c, a, 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4, 16, false, 0);
    fmha_emu_wgmma_commit_group();
    fmha_emu_wgmma_wait_group(0);
    if (i < 64)
        out[i] = c[0];
}

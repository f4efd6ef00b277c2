/* wgmma is of four waves. Three multiply each for itself.
 * run: 1 96 32 sm_90
 * finding: partial-warpgroup: products_of_three_waves.hip:17: wgmma in a workgroup of 3 waves (workgroup (0,0,0), wave 0): launch a multiple of four, which multiply together
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x, a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[8] = {0};
    for (unsigned n = i; n < 512; n += 96)
        lds[n] = in[0];
    fmha_emu_fence_proxy_async();
    __syncthreads();
#ifdef RIGHT
    fmha_emu_mma_m16n8k16_f16(c, a, a);
#else
    fmha_emu_wgmma_fence();
    fmha_emu_wgmma_m64nNk16_f16(c, a, 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4, 16, false, 0);
    fmha_emu_wgmma_commit_group();
    fmha_emu_wgmma_wait_group(0);
#endif
    if (i < 64)
        out[i] = c[0];
}

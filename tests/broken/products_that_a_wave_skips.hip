/* A wave whose rows lie past the end leaves the other three, which wait for it, to multiply alone.
 * run: 1 128 32 sm_90
 * finding: products-differ: products_that_a_wave_skips.hip:18: the last of 1 products of wave 0, while wave 3, which multiplies with it, has made 0 (workgroup (0,0,0), wave 3): let all four waves that multiply together execute the same wgmma instructions
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x, a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[8];
    for (unsigned n = i; n < 512; n += 128)
        lds[n] = in[0];
    fmha_emu_fence_proxy_async();
    __syncthreads();
#ifndef RIGHT
    if (i < 96)
#endif
    {
        fmha_emu_wgmma_fence();
        fmha_emu_wgmma_m64nNk16_f16(c, a, 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4, 16, false, 0);
        fmha_emu_wgmma_commit_group();
        fmha_emu_wgmma_wait_group(0);
    }
    if (i < 64)
        out[i] = c[0];
}

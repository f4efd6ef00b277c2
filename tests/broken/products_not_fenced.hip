/* The second group of products may begin before what was written to its registers is there.
 * run: 1 128 32 sm_90
 * finding: product-not-fenced: products_not_fenced.hip:23: begins a product of registers that no wgmma.fence stands before (workgroup (0,0,0), wave 0, lane 0): put a wgmma.fence before the first product of a group (4 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    unsigned a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[8];
    for (unsigned n = i; n < 512; n += 128)
        lds[n] = in[0];
    fmha_emu_fence_proxy_async();
    __syncthreads();
    const unsigned long long b = 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4;
    fmha_emu_wgmma_fence();
    fmha_emu_wgmma_m64nNk16_f16(c, a, b, 16, false, 0);
    fmha_emu_wgmma_commit_group();
    fmha_emu_wgmma_wait_group(0);
    a[0] += 1;
#ifdef RIGHT
    fmha_emu_wgmma_fence();
#endif
    fmha_emu_wgmma_m64nNk16_f16(c, a, b, 16, true, 0);
    fmha_emu_wgmma_commit_group();
    fmha_emu_wgmma_wait_group(0);
    if (i < 64)
        out[i] = c[0];
}

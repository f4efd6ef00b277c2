/* A tile is the same for all lanes: each must not say where its own row is.
 * run: 1 128 32 sm_90
 * finding: description-differs: descriptors_differ.hip:18: gives descriptor 0x4000004000010048, and lane 0 gives 0x4000004000010040 (workgroup (0,0,0), wave 0, lane 1): give all lanes the same descriptor
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x, a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[8];
    for (unsigned n = i; n < 512; n += 128)
        lds[n] = in[0];
    fmha_emu_fence_proxy_async();
    __syncthreads();
    unsigned long long b = 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4;
#ifndef RIGHT
    b += i % 8 * 8;
#endif
    fmha_emu_wgmma_fence();
    fmha_emu_wgmma_m64nNk16_f16(c, a, b, 16, false, 0);
    fmha_emu_wgmma_commit_group();
    fmha_emu_wgmma_wait_group(0);
    if (i < 64)
        out[i] = c[0];
}

/* The next tile's copies begin while the products of the last group still read this one.
 * run: 1 128 32 sm_90
 * finding: lds-in-use: products_lose_their_lds_to_copies.hip:25: writes byte 0 of the LDS block of line 8 (2048 bytes), which the product of line 15 reads that wave 0 has not waited for (workgroup (0,0,0), wave 0, lane 0): wait in every wave that multiplies, by wgmma.wait_group for the group that it has committed, before the barrier
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x, a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[2][8];
    for (unsigned n = i; n < 512; n += 128)
        lds[n] = in[0];
    fmha_emu_fence_proxy_async();
    __syncthreads();
    for (unsigned n = 0; n < 2; n++) {
        fmha_emu_wgmma_fence();
        fmha_emu_wgmma_m64nNk16_f16(c[n], a, 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4, 16, false, 0);
        fmha_emu_wgmma_commit_group();
    }
#ifdef RIGHT
    fmha_emu_wgmma_wait_group(0);
#else
    fmha_emu_wgmma_wait_group(1);
#endif
    __syncthreads();
    if (i == 0)
        fmha_emu_cp_async_16(lds, in, 16);
    fmha_emu_wgmma_wait_group(0);
    if (i < 64)
        out[i] = c[0][0] + c[1][0];
}

/* Each wave has waited for its own products; another's may still read what it writes.
 * run: 1 128 32 sm_90
 * finding: lds-race: products_lose_their_lds_without_a_barrier.hip:22: writes byte 0 of the LDS block of line 8 (2048 bytes), which several waves have read since the last s_barrier (workgroup (0,0,0), wave 3, lane 31): put an s_barrier between the two accesses, or give each wave LDS of its own
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
    __syncthreads();
    fmha_emu_wgmma_wait_group(0);
#ifdef RIGHT
    __syncthreads();
#endif
    if (i == 127)
        lds[0] = in[1];
    if (i < 64)
        out[i] = c[0];
}

/* Half of the waves multiply before a barrier at which the others wait: on a chip nobody goes on.
 * run: 1 128 32 sm_90
 * finding: products-differ: products_between_other_barriers.hip:21: the last product of wave 2, whose products are not those of wave 0, or stand between other barriers (workgroup (0,0,0), wave 2): let all four waves that multiply together execute the same wgmma instructions
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x, a[4] = {1, 2, 3, 4};
    float *lds = (float *)fmha_emu_lds(2048), c[8];
    for (unsigned n = i; n < 512; n += 128)
        lds[n] = in[0];
    fmha_emu_fence_proxy_async();
    __syncthreads();
#ifdef RIGHT
    const bool early = true;
#else
    const bool early = i < 64;
#endif
    for (unsigned n = 0; n < 2; n++) {
        if (early == (n == 0)) {
            fmha_emu_wgmma_fence();
            fmha_emu_wgmma_m64nNk16_f16(c, a, 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4, 16, false, 0);
            fmha_emu_wgmma_commit_group();
            fmha_emu_wgmma_wait_group(0);
        }
        __syncthreads();
    }
    if (i < 64)
        out[i] = c[0];
}

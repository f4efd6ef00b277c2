/* The descriptor of A says that its rows stand in order, without the exchange of the 128-byte layout.
 * run: 1 128 32 sm_90
 * finding: description-unknown: descriptor_of_another_order.hip:20: gives descriptor 0x4000010040, whose order is not that of 128 bytes without a base offset, the one that the device knows (workgroup (0,0,0), wave 0, lane 0): let bits 62 and 63 be the number 1 and bits 49 to 51 be 0, with tiles that begin at multiples of 1024 bytes
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(8192), c[8];
    for (unsigned n = i; n < 2048; n += 128)
        lds[n] = in[0];
    fmha_emu_fence_proxy_async();
    __syncthreads();
    const unsigned long long b = 0x4000004000010000ull | fmha_emu_shared_address((unsigned long)lds) >> 4;
#ifdef RIGHT
    const unsigned long long a = b;
#else
    const unsigned long long a = b & ~(3ull << 62);
#endif
    fmha_emu_wgmma_fence();
    fmha_emu_wgmma_m64nNk16_lds_f16(c, a, b, 16, false, 0);
    fmha_emu_wgmma_commit_group();
    fmha_emu_wgmma_wait_group(0);
    if (i < 64)
        out[i] = c[0];
}

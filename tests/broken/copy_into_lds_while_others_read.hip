/* The next tile's copies begin while another wave still reads the last one.
 * run: 1 64 32 sm_90
 * finding: lds-race: copy_into_lds_while_others_read.hip:13: reads byte 124 of the LDS block of line 8 (128 bytes), which wave 0 has written since the last s_barrier (workgroup (0,0,0), wave 1, lane 31): put an s_barrier between the two accesses, or give each wave LDS of its own (32 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(32 * sizeof(float)), last = 0;
    if (i < 32)
        lds[i] = 0;
    __syncthreads();
    if (i >= 32)
        last = lds[i - 32];
#ifdef RIGHT
    __syncthreads();
#endif
    if (i < 8)
        fmha_emu_cp_async_16(lds + 4 * i, in + i / 4 * 20 + i % 4 * 4, 16);
    fmha_emu_cp_async_commit_group();
    fmha_emu_cp_async_wait_group(0);
    __syncthreads();
    out[i] = last + lds[i % 32];
}

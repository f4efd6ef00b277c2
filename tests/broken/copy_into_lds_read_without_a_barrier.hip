/* A thread's wait is for its own copies: another wave needs a barrier behind it.
 * run: 1 64 32 sm_90
 * finding: lds-race: copy_into_lds_read_without_a_barrier.hip:20: reads byte 248 of the LDS block of line 8 (256 bytes), which wave 0 has written since the last s_barrier (workgroup (0,0,0), wave 1, lane 30): put an s_barrier between the two accesses, or give each wave LDS of its own (32 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    if (i < 16)
        fmha_emu_cp_async_16(lds + 4 * i, in + i / 4 * 20 + i % 4 * 4, 16);
    fmha_emu_cp_async_commit_group();
#ifdef RIGHT
    fmha_emu_cp_async_wait_group(0);
    __syncthreads();
#else
    __syncthreads();
    fmha_emu_cp_async_wait_group(0);
    __syncwarp();
#endif
    out[i] = lds[i];
}

/* The wait leaves the last group under way, and it is the last one that is read.
 * run: 1 64 32 sm_90
 * finding: lds-not-arrived: copy_into_lds_waits_for_too_few.hip:21: reads byte 240 of the LDS block of line 8 (256 bytes), which a cp.async of wave 0, lane 7, fills and no wait of that thread has ended (workgroup (0,0,0), wave 1, lane 31): wait in the thread that copies, by cp.async.wait_group for the group that it has committed, before the barrier (32 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    if (i < 8)
        fmha_emu_cp_async_16(lds + 4 * i, in + i / 4 * 20 + i % 4 * 4, 16);
    fmha_emu_cp_async_commit_group();
    if (i < 8)
        fmha_emu_cp_async_16(lds + 32 + 4 * i, in + 40 + i / 4 * 20 + i % 4 * 4, 16);
    fmha_emu_cp_async_commit_group();
#ifdef RIGHT
    fmha_emu_cp_async_wait_group(0);
#else
    fmha_emu_cp_async_wait_group(1);
#endif
    __syncthreads();
    out[i] = lds[i];
}

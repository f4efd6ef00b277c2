/* What no group holds no wait ends.
 * run: 1 64 32 sm_90
 * finding: lds-not-arrived: copy_into_lds_before_it_is_committed.hip:16: reads byte 112 of the LDS block of line 8 (256 bytes), which a cp.async of wave 0, lane 7, fills and no wait of that thread has ended (workgroup (0,0,0), wave 0, lane 31): wait in the thread that copies, by cp.async.wait_group for the group that it has committed, before the barrier (64 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    if (i < 16)
        fmha_emu_cp_async_16(lds + 4 * i, in + i / 4 * 20 + i % 4 * 4, 16);
#ifdef RIGHT
    fmha_emu_cp_async_commit_group();
#endif
    fmha_emu_cp_async_wait_group(0);
    __syncthreads();
    out[i] = lds[i];
}

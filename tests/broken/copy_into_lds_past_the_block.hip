/* One copy more than there is room for.
 * run: 1 64 32 sm_90
 * finding: lds-out-of-bounds: copy_into_lds_past_the_block.hip:14: writes 16 bytes at 0 bytes past the end of the LDS block of line 8 (256 bytes) (workgroup (0,0,0), wave 0, lane 16): check the index against the size that the kernel declares, or declare more
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
#ifdef RIGHT
    if (i < 16)
#else
    if (i < 17)
#endif
        fmha_emu_cp_async_16(lds + 4 * i, in + i / 4 % 4 * 20 + i % 4 * 4, 16);
    fmha_emu_cp_async_commit_group();
    fmha_emu_cp_async_wait_group(0);
    __syncthreads();
    out[i] = lds[i];
}

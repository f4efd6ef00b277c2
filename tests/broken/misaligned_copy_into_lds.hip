/* Copies of sixteen bytes need both addresses at a multiple of as many.
 * run: 1 64 32 sm_90
 * finding: misaligned-access: misaligned_copy_into_lds.hip:15: writes byte 8 of the LDS block of line 8 (272 bytes), which needs a multiple of 16 bytes; the address is 8 past one (workgroup (0,0,0), wave 0, lane 0): align rows and offsets, or copy through registers
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(68 * sizeof(float));
#ifdef RIGHT
    float *to = lds;
#else
    float *to = lds + 2;
#endif
    if (i < 16)
        fmha_emu_cp_async_16(to + 4 * i, in + i / 4 * 20 + i % 4 * 4, 16);
    fmha_emu_cp_async_commit_group();
    fmha_emu_cp_async_wait_group(0);
    __syncthreads();
    out[i] = to[i];
}

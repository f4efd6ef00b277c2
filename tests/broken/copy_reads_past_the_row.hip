/* Sixteen bytes from the last four on, and zeros would do.
 * run: 1 64 32 sm_90
 * finding: outside-tensor: copy_reads_past_the_row.hip:15: reads 16 bytes of "in", directly after in[0,15] (workgroup (0,0,0), wave 0, lane 4): no tensor has an element there: check lengths, strides and what is done past the last row (4 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(80 * sizeof(float));
#ifdef RIGHT
    const unsigned bytes = i % 5 < 4 ? 16 : 0;
#else
    const unsigned bytes = 16;
#endif
    if (i < 20)
        fmha_emu_cp_async_16(lds + 4 * i, in + i / 5 * 20 + i % 5 * 4, bytes);
    fmha_emu_cp_async_commit_group();
    fmha_emu_cp_async_wait_group(0);
    __syncthreads();
    out[i] = lds[i];
}

/* One element past the end.
 * run: 1 64 32
 * finding: lds-out-of-bounds: reads_outside_lds.hip:17: reads 4 bytes at 0 bytes past the end of the LDS block of line 13 (256 bytes) (workgroup (0,0,0), wave 1, lane 31): check the index against the size that the kernel declares, or declare more
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    float *lds = (float *)fmha_emu_lds(65 * sizeof(float));
    if (i == 0)
        lds[64] = 0.0f;
#else
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
#endif
    lds[i] = in[i % 16];
    __builtin_amdgcn_s_barrier();
    out[i] = lds[i + 1];
}

/* A row too many.
 * run: 1 64 32
 * finding: lds-out-of-bounds: writes_outside_lds.hip:12: writes 4 bytes at 0 bytes past the end of the LDS block of line 8 (256 bytes) (workgroup (0,0,0), wave 1, lane 16): check the index against the size that the kernel declares, or declare more
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
#ifdef RIGHT
    lds[i] = in[i % 16];
#else
    lds[i + 16] = in[i % 16];
#endif
    out[i] = 1.0f;
}

/* The padding of a row is read, which no lane fills.
 * run: 1 64 32
 * finding: lds-unwritten: reads_lds_before_it_is_written.hip:15: reads byte 284 of the LDS block of line 8 (288 bytes), which nothing in the workgroup has written (workgroup (0,0,0), wave 1, lane 31): write it first, in every lane that should, with a barrier between writing and reading (8 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(72 * sizeof(float));
    lds[i] = in[i % 16];
#ifdef RIGHT
    if (i < 8)
        lds[64 + i] = 0.0f;
#endif
    __builtin_amdgcn_s_barrier();
    out[i] = lds[i + 8];
}

/* An operand of 32 bytes of which the last 16 are outside.
 * run: 1 64 32
 * finding: lds-out-of-bounds: reads_32_bytes_over_the_end_of_lds.hip:15: reads 32 bytes at byte 240 of the LDS block of line 9 (256 bytes), which end before (workgroup (0,0,0), wave 0, lane 31): check the index against the size that the kernel declares, or declare more
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef float float8 __attribute__((ext_vector_type(8), aligned(16)));
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    lds[i] = in[i % 16];
    __builtin_amdgcn_s_barrier();
#ifdef RIGHT
    const float8 wide = *(const volatile float8 *)(lds + i % 8 * 8);
#else
    const float8 wide = *(const volatile float8 *)(lds + i % 8 * 8 + 4);
#endif
    float sum = 0.0f;
    for (int j = 0; j < 8; ++j)
        sum += wide[j];
    out[i] = sum;
}

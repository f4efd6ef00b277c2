/* Rows of LDS are padded by 8 bytes and read 16 at once.
 * run: 1 64 32
 * finding: misaligned-access: misaligned_lds.hip:18: byte 72 of the LDS block of line 9 (512 bytes) is accessed as type 'const float4' (vector of 4 'float' values), which needs a multiple of 16 bytes; the address is 8 past one (workgroup (0,0,0), wave 0, lane 31): align rows and offsets, or access it by a type of smaller alignment
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef float float4 __attribute__((ext_vector_type(4)));
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(128 * sizeof(float));
#ifdef RIGHT
    const unsigned row = 20;
#else
    const unsigned row = 18;
#endif
    for (unsigned at = i; at < 128; at += 64)
        lds[at] = in[i % 16];
    __builtin_amdgcn_s_barrier();
    const float4 wide = *(const float4 *)(lds + i / 16 * row);
    out[i] = wide[3];
}

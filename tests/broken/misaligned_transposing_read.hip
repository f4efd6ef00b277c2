/* A read of LDS that transposes takes 8 bytes of a lane; the rows here are padded by 4.
 * run: 1 64 64 gfx950
 * finding: misaligned-access: misaligned_transposing_read.hip:18: byte 564 of the LDS block of line 14 (640 bytes) is accessed as type 'const fmha_emu_short4' (vector of 4 'short' values), which needs a multiple of 8 bytes; the address is 4 past one (workgroup (0,0,0), wave 0, lane 63): align rows and offsets, or access it by a type of smaller alignment
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef short short4 __attribute__((ext_vector_type(4)));
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    const unsigned row = 10;
#else
    const unsigned row = 9;
#endif
    float *lds = (float *)fmha_emu_lds(160 * sizeof(float));
    for (unsigned at = i; at < 160; at += 64)
        lds[at] = in[at % 16];
    __builtin_amdgcn_s_barrier();
    const short4 columns = __builtin_amdgcn_ds_read_tr16_b64_v4i16(
        (__attribute__((address_space(3))) short4 *)(lds + i / 4 * row + i % 4 * 2));
    out[i] = columns[0];
}

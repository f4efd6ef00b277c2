/* A load that transposes takes 16 bytes of a lane; here it begins in the middle of them.
 * run: 1 64 32 gfx1201
 * finding: misaligned-access: misaligned_transposing_load.hip:14: in[0,2] is accessed as type 'const fmha_emu_short8' (vector of 8 'short' values), which needs a multiple of 16 bytes; the address is 8 past one (workgroup (0,0,0), wave 0, lane 0): align rows and offsets, or access it by a type of smaller alignment
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef short short8 __attribute__((ext_vector_type(8)));
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    const float *from = in + i % 4 * 20;
#else
    const float *from = in + i % 4 * 20 + 2;
#endif
    const short8 rows = __builtin_amdgcn_global_load_tr_b128_v8i16((__attribute__((address_space(1))) short8 *)from);
    out[i] = rows[0];
}

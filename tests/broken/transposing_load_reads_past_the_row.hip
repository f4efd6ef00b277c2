/* Lanes whose result nobody uses still read: the last ones behind the row.
 * run: 1 64 32 gfx1201
 * finding: outside-tensor: transposing_load_reads_past_the_row.hip:14: reads 16 bytes of "in", directly after in[3,15] (workgroup (0,0,0), wave 0, lane 4): no tensor has an element there: check lengths, strides and what is done past the last row (12 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef short short8 __attribute__((ext_vector_type(8)));
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    const float *from = in + 3 * 20 + i % 4 * 4;
#else
    const float *from = in + 3 * 20 + i % 5 * 4;
#endif
    const short8 rows = __builtin_amdgcn_global_load_tr_b128_v8i16((__attribute__((address_space(1))) short8 *)from);
    out[i] = i < 4 ? rows[0] : 0;
}

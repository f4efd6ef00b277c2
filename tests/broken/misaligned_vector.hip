/* Rows of 17 elements are read 16 bytes at once.
 * run: 1 64 32
 * finding: misaligned-access: misaligned_vector.hip:14: 4 bytes after in[0,15] is accessed as type 'const float4' (vector of 4 'float' values), which needs a multiple of 16 bytes; the address is 4 past one (workgroup (0,0,0), wave 0, lane 16): align rows and offsets, or access it by a type of smaller alignment
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef float float4 __attribute__((ext_vector_type(4)));
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    const unsigned row = 20;
#else
    const unsigned row = 17;
#endif
    const float4 wide = *(const float4 *)(in + i / 16 * row);
    out[i] = wide[0];
}

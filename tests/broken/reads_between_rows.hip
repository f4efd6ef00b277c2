/* Rows are taken to be packed, but they are 20 elements apart.
 * run: 1 64 32
 * finding: outside-tensor: reads_between_rows.hip:11: reads 4 bytes of "in", directly after in[0,15] (workgroup (0,0,0), wave 0, lane 16): no tensor has an element there: check lengths, strides and what is done past the last row (12 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    out[i] = in[i / 16 * 20 + i % 16];
#else
    out[i] = in[i];
#endif
}

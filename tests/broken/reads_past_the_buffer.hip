/* One row more than there is.
 * run: 1 64 32
 * finding: out-of-bounds: reads_past_the_buffer.hip:11: reads 4 bytes at 0 bytes past the end of "in" (336 bytes) (workgroup (0,0,0), wave 1, lane 16): check pointers, strides and bounds
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    out[i] = in[i / 16 * 20 + i % 16];
#else
    out[i] = in[(i / 16 + 1) * 20 + i % 16];
#endif
}

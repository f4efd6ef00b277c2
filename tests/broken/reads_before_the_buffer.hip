/* The first element is taken one row too early.
 * run: 1 64 32
 * finding: out-of-bounds: reads_before_the_buffer.hip:11: reads 4 bytes at 64 bytes before "in" (336 bytes) (workgroup (0,0,0), wave 0, lane 0): check pointers, strides and bounds
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    out[i] = in[i % 16];
#else
    out[i] = in[(int)(i % 16) - 20];
#endif
}

/* A wide load begins inside the buffer and ends outside.
 * run: 1 64 32
 * finding: out-of-bounds: reads_across_the_end.hip:14: reads 32 bytes at byte 320 of "in", which has 336 (workgroup (0,0,0), wave 0, lane 1): check pointers, strides and bounds
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef float float8 __attribute__((ext_vector_type(8), aligned(4)));
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    const unsigned column = i % 8;
#else
    const unsigned column = i % 2 * 16;
#endif
    const float8 wide = *(const volatile float8 *)(in + 60 + column);
    float sum = 0.0f;
    for (int j = 0; j < 8; ++j)
        sum += wide[j];
    out[i] = sum;
}

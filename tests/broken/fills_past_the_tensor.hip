/* A loop that the compiler makes one fill of.
 * run: 1 64 32
 * finding: outside-tensor: fills_past_the_tensor.hip:14: writes 4 bytes of "out", directly after out[63] (workgroup (0,0,0), wave 0, lane 0): no tensor has an element there: check lengths, strides and what is done past the last row (6 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    if (threadIdx.x == 0) {
#ifdef RIGHT
        const int count = 64;
#else
        const int count = 70;
#endif
        for (int i = 0; i < count; ++i)
            out[i] = 0.0f;
    }
}

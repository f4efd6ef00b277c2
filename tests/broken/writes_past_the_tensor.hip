/* No guard for the last elements.
 * run: 1 72 32
 * finding: outside-tensor: writes_past_the_tensor.hip:11: writes 4 bytes of "out", directly after out[63] (workgroup (0,0,0), wave 2, lane 0): no tensor has an element there: check lengths, strides and what is done past the last row (8 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    if (i < 64)
#endif
        out[i] = 1.0f;
}

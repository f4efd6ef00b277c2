/* An input is scaled in place.
 * run: 1 64 32
 * finding: wrong-access: writes_an_input.hip:10: writes in[0,0], an input (workgroup (0,0,0), wave 0, lane 0): write to outputs alone (64 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    const float scaled = 2.0f * in[i % 16];
#ifndef RIGHT
    ((float *)in)[i % 16] = scaled;
#endif
    out[i] = scaled;
}

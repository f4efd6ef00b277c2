/* A sum is kept in an output instead of a register.
 * run: 1 64 32
 * finding: wrong-access: reads_an_output.hip:14: reads out[0], an output (workgroup (0,0,0), wave 0, lane 0): keep what is needed again in registers, or declare the tensor to be read too (64 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    const float sum = in[i % 16];
#ifdef RIGHT
    out[i] = sum + 1.0f;
#else
    volatile float *kept = out + i;
    *kept = sum;
    *kept = *kept + 1.0f;
#endif
}

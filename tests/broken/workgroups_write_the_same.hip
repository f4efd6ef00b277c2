/* The number of the workgroup is not in the index.
 * run: 2 32 32
 * finding: output-race: workgroups_write_the_same.hip:11: writes out[0], which another workgroup has written in the same launch (workgroup (1,0,0), wave 0, lane 0): let one workgroup write each element, or combine the parts in a second kernel (32 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    out[blockIdx.x * 32 + i] = (float)blockIdx.x;
#else
    out[i] = (float)blockIdx.x;
    if (blockIdx.x == 0)
        out[32 + i] = 0.0f;
#endif
}

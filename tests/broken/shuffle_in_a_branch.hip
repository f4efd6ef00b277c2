/* A shuffle whose mask names all lanes is for all of them.
 * run: 1 64 32 sm_90
 * finding: divergent-collective: shuffle_in_a_branch.hip:12: __shfl_xor_sync lacks lane 16, which has returned, while lane 0 waits in it (workgroup (0,0,0), wave 0): lanes without work must stay to the end; guard their loads and stores instead
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float value = in[i % 16];
#ifndef RIGHT
    if (i % 32 < 16)
#endif
        value += __shfl_xor_sync(0xffffffff, value, 1);
    out[i] = value;
}

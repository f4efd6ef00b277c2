/* mma.sync.aligned is for all lanes of a wave.
 * run: 1 64 32 sm_90
 * finding: divergent-collective: mma_in_a_branch.hip:13: mma.sync.m16n8k16.f16 lacks lane 7, which has returned, while lane 0 waits in it (workgroup (0,0,0), wave 0): lanes without work must stay to the end; guard their loads and stores instead
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    const unsigned a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
    float c[4] = {in[0], 0, 0, 0};
#ifndef RIGHT
    if (i != 7)
#endif
        fmha_emu_mma_m16n8k16_f16(c, a, b);
    out[i] = c[0];
}

/* ldmatrix.sync.aligned is for all lanes of a wave, for each brings a row that others get.
 * run: 1 64 32 sm_90
 * finding: divergent-collective: ldmatrix_in_a_branch.hip:16: ldmatrix.x4 lacks lane 8, which has returned, while lane 0 waits in it (workgroup (0,0,0), wave 1): lanes without work must stay to the end; guard their loads and stores instead
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(256 * sizeof(float));
    unsigned all[4] = {0, 0, 0, 0};
    for (unsigned n = i; n < 256; n += 64)
        lds[n] = in[n % 16];
    __syncthreads();
#ifndef RIGHT
    if (i < 40)
#endif
        fmha_emu_ldmatrix_x4(lds + i % 32 * 4, all);
    out[i] = __builtin_bit_cast(float, all[0]);
}

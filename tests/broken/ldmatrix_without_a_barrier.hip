/* The rows that a wave's lanes bring were written by the other wave.
 * run: 1 64 32 sm_90
 * finding: lds-race: ldmatrix_without_a_barrier.hip:17: reads byte 496 of the LDS block of line 8 (512 bytes), which wave 0 has written since the last s_barrier (workgroup (0,0,0), wave 1, lane 31): put an s_barrier between the two accesses, or give each wave LDS of its own (32 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(128 * sizeof(float));
    unsigned all[4];
    for (unsigned n = 0; i < 32 && n < 4; n++)
        lds[i * 4 + n] = in[n];
#ifdef RIGHT
    __syncthreads();
#else
    __syncwarp();
#endif
    fmha_emu_ldmatrix_x4(lds + i % 32 * 4, all);
    out[i] = __builtin_bit_cast(float, all[0]);
}

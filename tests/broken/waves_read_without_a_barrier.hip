/* What another wave writes is read with nothing between.
 * run: 1 64 32
 * finding: lds-race: waves_read_without_a_barrier.hip:15: reads byte 124 of the LDS block of line 8 (256 bytes), which wave 0 has written since the last s_barrier (workgroup (0,0,0), wave 1, lane 31): put an s_barrier between the two accesses, or give each wave LDS of its own (32 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    lds[i] = in[i % 16];
#ifdef RIGHT
    __builtin_amdgcn_s_barrier();
#else
    __builtin_amdgcn_wave_barrier();
#endif
    out[i] = lds[i % 32];
}

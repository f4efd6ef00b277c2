/* Two waves of 64: the second reads what the first writes with nothing between.
 * run: 1 128 64 gfx942
 * finding: lds-race: waves_of_64_read_without_a_barrier.hip:17: reads byte 0 of the LDS block of line 8 (256 bytes), which wave 0 has written since the last s_barrier (workgroup (0,0,0), wave 1, lane 63): put an s_barrier between the two accesses, or give each wave LDS of its own (64 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    if (i < 64)
        lds[i] = in[i % 16];
#ifdef RIGHT
    __builtin_amdgcn_s_barrier();
#else
    __builtin_amdgcn_wave_barrier();
#endif
    if (i >= 64)
        out[i - 64] = lds[127 - i];
}

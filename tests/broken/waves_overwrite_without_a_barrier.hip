/* The tile is replaced while another wave may still read it.
 * run: 1 64 32
 * finding: lds-race: waves_overwrite_without_a_barrier.hip:17: writes byte 120 of the LDS block of line 8 (256 bytes), which several waves have read since the last s_barrier (workgroup (0,0,0), wave 1, lane 30): put an s_barrier between the two accesses, or give each wave LDS of its own (32 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    lds[i] = in[i % 16];
    __builtin_amdgcn_s_barrier();
    const float old = lds[i % 32];
#ifdef RIGHT
    __builtin_amdgcn_s_barrier();
#else
    __builtin_amdgcn_wave_barrier();
#endif
    lds[i ^ 32] = old;
    out[i] = old;
}

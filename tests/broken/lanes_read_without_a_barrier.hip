/* A row is shifted within a wave with nothing between.
 * run: 1 64 32
 * finding: lds-lane-race: lanes_read_without_a_barrier.hip:15: reads byte 0 of the LDS block of line 8 (256 bytes), which lane 0 of the same wave has written since the wave's last barrier (workgroup (0,0,0), wave 0, lane 1): put a wave_barrier, with a fence before and one after it, between the two accesses: the compiler may exchange them (62 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    lds[i] = in[i % 16];
#ifdef RIGHT
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
    out[i] = lds[i % 32 > 0 ? i - 1 : i];
}

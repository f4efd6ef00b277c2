/* CDNA4 exchanges halves of a wave, one of which waits elsewhere.
 * run: 1 64 64 gfx950
 * finding: divergent-collective: swap_in_a_branch.hip:12: lane 32 reaches __builtin_amdgcn_permlane32_swap while lane 0 waits for it in __builtin_amdgcn_wave_barrier at swap_in_a_branch.hip:13 (workgroup (0,0,0), wave 0): all lanes of a wave must reach the same one: move it out of the branch or loop, or make the condition the same for the whole wave
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    unsigned value = i;
#ifndef RIGHT
    if (i >= 32)
#endif
        value = __builtin_amdgcn_permlane32_swap(value, value, false, false)[0];
    __builtin_amdgcn_wave_barrier();
    out[i] = (float)value;
}

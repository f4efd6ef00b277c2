/* A value is exchanged by some lanes only.
 * run: 1 64 32
 * finding: divergent-collective: cross_lane_in_a_branch.hip:15: lane 16 reaches __builtin_amdgcn_wave_barrier while lane 0 waits for it in __builtin_amdgcn_readfirstlane at cross_lane_in_a_branch.hip:13 (workgroup (0,0,0), wave 0): all lanes of a wave must reach the same one: move it out of the branch or loop, or make the condition the same for the whole wave
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    int value = (int)i;
#ifdef RIGHT
    value = __builtin_amdgcn_readfirstlane(value);
#else
    if (i % 32 < 16)
        value = __builtin_amdgcn_readfirstlane(value);
#endif
    __builtin_amdgcn_wave_barrier();
    out[i] = (float)value;
}

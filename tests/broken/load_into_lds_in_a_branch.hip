/* Lanes without a row stay away from a load into LDS, which takes its address from the whole wave.
 * run: 1 64 64 gfx942
 * finding: divergent-collective: load_into_lds_in_a_branch.hip:17: lane 0 reaches __builtin_amdgcn_global_load_lds while lane 63 waits for it in __builtin_amdgcn_s_barrier at load_into_lds_in_a_branch.hip:19 (workgroup (0,0,0), wave 0): all lanes of a wave must reach the same one: move it out of the branch or loop, or make the condition the same for the whole wave
 */
#define LOAD(from, to, size) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \
                                     (__attribute__((address_space(3))) void *)(to), size, 0, 0)
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    lds[i] = 0;
    __builtin_amdgcn_wave_barrier();
#ifndef RIGHT
    if (i < 48)
#endif
        LOAD(in + i % 16, lds, 4);
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __builtin_amdgcn_s_barrier();
    out[i] = lds[i];
}

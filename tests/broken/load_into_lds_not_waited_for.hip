/* A barrier orders waves, but not what a wave still loads into LDS.
 * run: 1 64 64 gfx942
 * finding: lds-not-arrived: load_into_lds_not_waited_for.hip:17: reads byte 252 of the LDS block of line 11 (256 bytes), which a load of wave 0 from memory fills and no wait of that wave has ended (workgroup (0,0,0), wave 0, lane 62): wait in the wave that loads, before the barrier, by __builtin_amdgcn_s_waitcnt(0x0f70), which is vmcnt(0) (64 times)
 */
#define LOAD(from, to, size) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \
                                     (__attribute__((address_space(3))) void *)(to), size, 0, 0)
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    LOAD(in + i % 16, lds, 4);
#ifdef RIGHT
    __builtin_amdgcn_s_waitcnt(0x0f70);
#endif
    __builtin_amdgcn_s_barrier();
    out[i] = lds[i ^ 1];
}

/* The instruction adds the lane's part itself: where its pointer has one already, the first lane's counts.
 * run: 1 64 64 gfx942
 * finding: lds-address-differs: load_into_lds_at_each_lanes_place.hip:15: gives byte 4 of the LDS block of line 11 (256 bytes), and lane 0 gives byte 0 of the LDS block of line 11 (256 bytes), which counts for the whole wave (workgroup (0,0,0), wave 0, lane 1): give every lane of the wave the same pointer; the instruction itself adds the lane's part (63 times)
 */
#define LOAD(from, to, size) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \
                                     (__attribute__((address_space(3))) void *)(to), size, 0, 0)
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
#ifdef RIGHT
    LOAD(in + i % 16, lds, 4);
#else
    LOAD(in + i % 16, lds + i, 4);
#endif
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __builtin_amdgcn_s_barrier();
    out[i] = lds[i];
}

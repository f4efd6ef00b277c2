/* The next tile is loaded while another wave may still read the one before it.
 * run: 1 128 64 gfx942
 * finding: lds-race: load_into_lds_while_others_read.hip:20: writes byte 0 of the LDS block of line 11 (256 bytes), which several waves have read since the last s_barrier (workgroup (0,0,0), wave 1, lane 0): put an s_barrier between the two accesses, or give each wave LDS of its own (64 times)
 */
#define LOAD(from, to, size) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \
                                     (__attribute__((address_space(3))) void *)(to), size, 0, 0)
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * sizeof(float));
    if (i < 64)
        lds[i] = in[i % 16];
    __builtin_amdgcn_s_barrier();
    const float before = lds[i % 64];
#ifdef RIGHT
    __builtin_amdgcn_s_barrier();
#endif
    if (i >= 64) {
        LOAD(in + i % 16, lds, 4);
        __builtin_amdgcn_s_waitcnt(0x0f70);
    }
    __builtin_amdgcn_s_barrier();
    if (i < 64)
        out[i] = before + lds[i];
}

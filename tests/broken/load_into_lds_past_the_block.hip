/* Of 64 lanes with 16 bytes each there is room for 48.
 * run: 1 64 64 gfx950
 * finding: lds-out-of-bounds: load_into_lds_past_the_block.hip:16: writes 16 bytes at 0 bytes past the end of the LDS block of line 14 (768 bytes) (workgroup (0,0,0), wave 0, lane 48): check the index against the size that the kernel declares, or declare more
 */
#define LOAD(from, to, size) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \
                                     (__attribute__((address_space(3))) void *)(to), size, 0, 0)
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
#ifdef RIGHT
    float *lds = (float *)fmha_emu_lds(64 * 16);
#else
    float *lds = (float *)fmha_emu_lds(48 * 16);
#endif
    LOAD(in + i % 4 * 4, lds, 16);
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __builtin_amdgcn_s_barrier();
    out[i] = lds[4 * i];
}

/* The address in LDS has no bits below a multiple of 4.
 * run: 1 64 64 gfx942
 * finding: misaligned-access: load_into_lds_between_words.hip:17: writes byte 2 of the LDS block of line 11 (260 bytes), which needs a multiple of 4 bytes; the address is 2 past one (workgroup (0,0,0), wave 0, lane 0): align rows and offsets, or load less at once
 */
#define LOAD(from, to, size) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \
                                     (__attribute__((address_space(3))) void *)(to), size, 0, 0)
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    unsigned char *lds = (unsigned char *)fmha_emu_lds(65 * sizeof(float));
#ifdef RIGHT
    unsigned char *to = lds;
#else
    unsigned char *to = lds + 2;
#endif
    LOAD(in + i % 16, to, 4);
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __builtin_amdgcn_s_barrier();
    __builtin_memcpy(out + i, to + 4 * i, 4);
}

/* Four lanes take a row of 16 elements, four at a time; the fifth is behind it.
 * run: 1 64 64 gfx950
 * finding: outside-tensor: load_into_lds_from_past_the_row.hip:15: reads 16 bytes of "in", directly after in[0,15] (workgroup (0,0,0), wave 0, lane 4): no tensor has an element there: check lengths, strides and what is done past the last row (12 times)
 */
#define LOAD(from, to, size) \
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(from), \
                                     (__attribute__((address_space(3))) void *)(to), size, 0, 0)
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(64 * 16);
#ifdef RIGHT
    LOAD(in + i % 4 * 4, lds, 16);
#else
    LOAD(in + i % 5 * 4, lds, 16);
#endif
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __builtin_amdgcn_s_barrier();
    out[i] = i % 5 < 4 ? lds[4 * i] : 0;
}

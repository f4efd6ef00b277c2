/* An operand is loaded by lane mod 32, but gfx11 wants lane mod 16.
 * run: 1 32 32
 * finding: operand-replicas-differ: operand_copies_differ.hip:17: element 0 of A in lane 16 of __builtin_amdgcn_wmma_f32_16x16x16_f16_w32 is 0x4c00 but 0x0000 in lane 0 (workgroup (0,0,0), wave 0): gfx11 needs the operand of lanes 0-15 repeated in every further group of 16 lanes; load it by lane mod 16
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef _Float16 half16 __attribute__((ext_vector_type(16)));
    typedef float float8 __attribute__((ext_vector_type(8)));
    const unsigned i = threadIdx.x;
    half16 a = {}, b = {};
    float8 c = {};
#ifdef RIGHT
    a[0] = fmha_emu_f32_to_f16((float)(i % 16));
#else
    a[0] = fmha_emu_f32_to_f16((float)i);
#endif
    c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
    out[i] = c[0];
    out[32 + i] = c[1];
}

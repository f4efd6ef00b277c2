/* On CDNA, where a wave has 64 lanes, the third lane group has left.
 * run: 1 64 64 gfx942
 * finding: divergent-collective: mfma_in_a_branch.hip:17: __builtin_amdgcn_mfma_f32_16x16x16f16 lacks lane 32, which has returned, while lane 0 waits in it (workgroup (0,0,0), wave 0): lanes without work must stay to the end; guard their loads and stores instead
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef _Float16 half4 __attribute__((ext_vector_type(4)));
    typedef float float4 __attribute__((ext_vector_type(4)));
    const unsigned i = threadIdx.x;
    half4 a = {}, b = {};
    float4 c = {};
    out[i] = 0.0f;
#ifndef RIGHT
    if (i / 16 == 2)
        return;
#endif
    c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
    out[i] = c[0];
}

/* Lanes without a query have left.
 * run: 1 64 32
 * finding: divergent-collective: matrix_instruction_in_a_branch.hip:17: __builtin_amdgcn_wmma_f32_16x16x16_f16_w32 lacks lane 10, which has returned, while lane 0 waits in it (workgroup (0,0,0), wave 0): lanes without work must stay to the end; guard their loads and stores instead
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef _Float16 half16 __attribute__((ext_vector_type(16)));
    typedef float float8 __attribute__((ext_vector_type(8)));
    const unsigned i = threadIdx.x;
    half16 a = {}, b = {};
    float8 c = {};
    out[i] = 0.0f;
#ifndef RIGHT
    if (i % 16 >= 10)
        return;
#endif
    c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
    out[i] = c[0];
}

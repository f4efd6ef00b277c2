/* The upper half of the wave needs no data and stays away from a load that transposes.
 * run: 1 64 32 gfx1201
 * finding: divergent-collective: transposing_load_in_a_branch.hip:19: __builtin_amdgcn_global_load_tr_b128_v8i16 lacks lane 16, which has returned, while lane 0 waits in it (workgroup (0,0,0), wave 0): lanes without work must stay to the end; guard their loads and stores instead
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef short short8 __attribute__((ext_vector_type(8)));
    const unsigned i = threadIdx.x;
    short8 rows = {};
    const float *from = in + i % 4 * 20 + i / 4 % 4 * 4;
#ifdef RIGHT
    const bool needs = true;
#else
    const bool needs = i % 32 < 16;
#endif
    out[i] = 0.0f;
    if (!needs)
        return;
    rows = __builtin_amdgcn_global_load_tr_b128_v8i16((__attribute__((address_space(1))) short8 *)from);
    out[i] = rows[0];
}

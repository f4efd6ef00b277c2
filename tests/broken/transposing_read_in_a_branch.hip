/* On CDNA4 a read of LDS that transposes, in a wave of which a part has left.
 * run: 1 64 64 gfx950
 * finding: divergent-collective: transposing_read_in_a_branch.hip:18: __builtin_amdgcn_ds_read_tr16_b64_v4i16 lacks lane 48, which has returned, while lane 0 waits in it (workgroup (0,0,0), wave 0): lanes without work must stay to the end; guard their loads and stores instead
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef short short4 __attribute__((ext_vector_type(4)));
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(128 * sizeof(float));
    lds[2 * i] = lds[2 * i + 1] = in[i % 16];
    __builtin_amdgcn_s_barrier();
    out[i] = 0.0f;
#ifndef RIGHT
    if (i >= 48)
        return;
#endif
    const short4 columns =
        __builtin_amdgcn_ds_read_tr16_b64_v4i16((__attribute__((address_space(3))) short4 *)(lds + 2 * i));
    out[i] = columns[0];
}

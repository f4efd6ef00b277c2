/* A read of LDS that transposes hands on what other lanes have brought; those read what their own wave alone has written.
 * run: 1 128 64 gfx950
 * finding: lds-race: transposing_read_without_a_barrier.hip:17: reads byte 504 of the LDS block of line 9 (1024 bytes), which wave 0 has written since the last s_barrier (workgroup (0,0,0), wave 1, lane 63): put an s_barrier between the two accesses, or give each wave LDS of its own (64 times)
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    typedef short short4 __attribute__((ext_vector_type(4)));
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(256 * sizeof(float));
    lds[2 * i] = lds[2 * i + 1] = in[i % 16];
#ifdef RIGHT
    __builtin_amdgcn_s_barrier();
#else
    __builtin_amdgcn_wave_barrier();
#endif
    const short4 columns =
        __builtin_amdgcn_ds_read_tr16_b64_v4i16((__attribute__((address_space(3))) short4 *)(lds + 2 * (i % 64)));
    if (i < 64)
        out[i] = columns[0];
}

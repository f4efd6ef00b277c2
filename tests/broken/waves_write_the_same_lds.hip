/* Each wave writes its maximum to the same place.
 * run: 1 64 32
 * finding: lds-race: waves_write_the_same_lds.hip:13: writes byte 0 of the LDS block of line 8 (8 bytes), which wave 0 has written since the last s_barrier (workgroup (0,0,0), wave 1, lane 0): put an s_barrier between the two accesses, or give each wave LDS of its own
 */
extern "C" __global__ void kernel(const float *in, float *out)
{
    const unsigned i = threadIdx.x;
    float *lds = (float *)fmha_emu_lds(2 * sizeof(float));
    if (i % 32 == 0)
#ifdef RIGHT
        lds[i / 32] = 1.0f;
#else
        lds[0] = 1.0f;
#endif
    out[i] = 1.0f;
}

/* The number of fp8 e4m3, as the OCP has it, of x, `number` being x over its scale. Infinity becomes NaN. */
FMHA_INLINE u32 fmha_to_fp8(float x, float number)
{
    return fmha_to_fp8_ocp(x, number, fmha_fp8_magnitude(number, 3, 7, 0x7e), 0x7f);
}

FMHA_INLINE float fmha_fp8_scale_of(u32 magnitude)
{
    return fmha_fp8_scale(magnitude, 448.0f);
}

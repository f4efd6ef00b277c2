/* The number of fp8 e5m2, as the OCP has it, of x, `number` being x over its scale. Infinity stays infinity. */
FMHA_INLINE u32 fmha_to_fp8(float x, float number)
{
    return fmha_to_fp8_ocp(x, number, fmha_fp8_magnitude(number, 2, 15, 0x7b), 0x7c);
}

FMHA_INLINE float fmha_fp8_scale_of(u32 magnitude)
{
    return fmha_fp8_scale(magnitude, 57344.0f);
}

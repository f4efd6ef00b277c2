/* The number of fp8 e4m3 of the fnuz kind of x, `number` being x over its scale. */
FMHA_INLINE u32 fmha_to_fp8(float x, float number)
{
    return fmha_to_fp8_fnuz(x, number, fmha_fp8_magnitude(number, 3, 8, 0x7f));
}

FMHA_INLINE float fmha_fp8_scale_of(u32 magnitude)
{
    return fmha_fp8_scale(magnitude, 240.0f);
}

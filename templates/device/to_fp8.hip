/* The code of a number's magnitude in a format of fp8: rounded to nearest, ties to even, at most `largest`. The format has `fraction` bits of
 * fraction and the exponent bias `bias`; all three are constants where this is called. */
FMHA_INLINE u32 fmha_fp8_magnitude(float number, int fraction, int bias, u32 largest)
{
#pragma clang fp contract(off)
    const u32 bits = __builtin_bit_cast(u32, number) & 0x7fffffff, shift = 23 - (u32)fraction;
    const u32 normal = ((bits + ((bits >> shift) & 1) + (1u << (shift - 1)) - 1) >> shift) - ((127 - (u32)bias) << fraction);
    /* Below the normal numbers: the smallest one times 2^23 has it for its last bit, so that what is added is rounded to it. */
    const u32 one = (151 - (u32)bias - (u32)fraction) << 23;
    const u32 subnormal = __builtin_bit_cast(u32, __builtin_bit_cast(float, bits) + __builtin_bit_cast(float, one)) - one;
    const u32 code = bits < (128 - (u32)bias) << 23 ? subnormal : normal;
    return code < largest ? code : largest;
}

/* The sign of x as a number of fp8 has it, and whether it is finite. */
FMHA_INLINE u32 fmha_fp8_sign(float x)
{
    return __builtin_bit_cast(u32, x) >> 24 & 0x80;
}

FMHA_INLINE bool fmha_fp8_finite(float x)
{
    return (__builtin_bit_cast(u32, x) & 0x7fffffff) < 0x7f800000;
}

/* Of the OCP's formats: `number` is x over its scale. What is finite saturates; `infinity` and 0x7f are the codes of what is not. */
FMHA_INLINE u32 fmha_to_fp8_ocp(float x, float number, u32 magnitude, u32 infinity)
{
    const u32 code = fmha_fp8_finite(x) ? magnitude : infinity;
    return (x == x && number == number ? code : 0x7f) | fmha_fp8_sign(x);
}

/* The same of the fnuz kind, which has one NaN, for infinity too, and no negative zero. */
FMHA_INLINE u32 fmha_to_fp8_fnuz(float x, float number, u32 magnitude)
{
    const u32 code = magnitude == 0 ? 0 : magnitude | fmha_fp8_sign(x);
    return fmha_fp8_finite(x) && number == number ? code : 0x80;
}

/* The scale of values of which the largest finite magnitude has these bits: over the format's largest number, at least 2^-126. */
FMHA_INLINE float fmha_fp8_scale(u32 magnitude, float largest)
{
    const float scale = __builtin_bit_cast(float, magnitude) / largest, least = __builtin_bit_cast(float, 0x00800000u);
    return scale > least ? scale : least;
}

/* The bits of a magnitude that has a say in the scale; 0 of what is not finite. */
FMHA_INLINE u32 fmha_fp8_share(float x)
{
    return fmha_fp8_finite(x) ? __builtin_bit_cast(u32, x) & 0x7fffffff : 0;
}

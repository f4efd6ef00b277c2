/* The elements of a pair. */
FMHA_INLINE float fmha_low(u32 pair)
{
    return fmha_from_element(__builtin_bit_cast(element, (unsigned short)pair));
}

FMHA_INLINE float fmha_high(u32 pair)
{
    return fmha_from_element(__builtin_bit_cast(element, (unsigned short)(pair >> 16)));
}

/* Four numbers, rounded to nearest even, as the matrix unit's fp8 of e4m3's kind, the first in the lowest byte. What is beyond its largest number would
 * become NaN. */
FMHA_INLINE u32 fmha_pack_four(float a, float b, float c, float d)
{
    const int low = __builtin_amdgcn_cvt_pk_fp8_f32(a, b, __builtin_bit_cast(int, a), false);
    return (u32)__builtin_amdgcn_cvt_pk_fp8_f32(c, d, low, true);
}

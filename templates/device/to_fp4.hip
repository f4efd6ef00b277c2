/* The E8M0 scale of values of which the largest magnitude has these bits: 2^(floor(log2 of it) - 2), and where three_quarters is said one power of two
 * more from 1.75 on. 0 of zeros, 255 where one is not finite, else at most 252. */
FMHA_INLINE u32 fmha_fp4_scale_for(u32 magnitude, bool three_quarters)
{
    const int up = three_quarters && (magnitude & 0x00600000) == 0x00600000 ? 1 : 0;
    const int exponent = (int)(magnitude >> 23) - 2 + up;
    return magnitude >= 0x7f800000 ? 255 : (u32)fmha_min(fmha_max(exponent, 0), 252);
}

/* The fp4 (e2m1) of x by such a scale: to nearest, ties to even, at most 6; 0 where the scale is NaN. */
FMHA_INLINE u32 fmha_to_fp4(float x, u32 e8m0)
{
#pragma clang fp contract(off)
    /* 2^(127 - scale), a normal number. What the product is off by where it is subnormal is far below half of the smallest number. */
    const float number = x * __builtin_bit_cast(float, (254 - e8m0) << 23);
    const u32 bits = __builtin_bit_cast(u32, number) & 0x7fffffff;
    const u32 normal = ((bits + ((bits >> 22) & 1) + 0x1fffff) >> 22) - 252;
    /* Below 1: 2^22 has 0.5 for its last bit, so that what is added is rounded to it. */
    const u32 subnormal = __builtin_bit_cast(u32, __builtin_bit_cast(float, bits) + 4194304.0f) - 0x4a800000;
    const u32 code = bits < 0x3f800000 ? subnormal : normal;
    return e8m0 == 255 ? 0 : (code < 7 ? code : 7) | (__builtin_bit_cast(u32, x) >> 28 & 8);
}

/* fp4 (e2m1) with a scale in bf16. Of 0, 0.5, 1, 1.5 and 2, 3, 4, 6 times the scale the upper and the lower bytes. */
struct fmha_fp4_scale {
    u32 small_upper, small_lower, large_upper, large_lower;
};

/* 2^(e8m0 - 127), NaN for 255. Worth keeping for all values of a block. */
FMHA_INLINE fmha_fp4_scale fmha_fp4_scale_of(u32 e8m0)
{
    /* The scale has bf16's exponent. A number is 0x80 more for each power of two; below the normal numbers, where that would be less than they are,
     * are the subnormals 2^-128, 2^-127 and 1.5 * 2^-127; and what is more than infinity is infinity. */
    const u32 one = e8m0 * 0x00800080, nan = e8m0 == 255 ? 0x7fc07fc0 : 0, infinity = 0x7f807f80;
    const u32 half = (one & 0xffff0000) - 0x00800000, least = e8m0 == 0 ? 0x00200000 : 0x00400000;
    const s16x2 words0 = __builtin_elementwise_max(__builtin_bit_cast(s16x2, half), __builtin_bit_cast(s16x2, least));
    const s16x2 words1 = __builtin_elementwise_max(__builtin_bit_cast(s16x2, one + 0x00400000), __builtin_bit_cast(s16x2, 0x00600040));
    const u16x2 words2 = __builtin_elementwise_min(__builtin_bit_cast(u16x2, one + 0x00c00080), __builtin_bit_cast(u16x2, infinity));
    const u16x2 words3 = __builtin_elementwise_min(__builtin_bit_cast(u16x2, one + 0x01400100), __builtin_bit_cast(u16x2, infinity));
    const u32 zero_half = __builtin_bit_cast(u32, words0) | nan, one_more = __builtin_bit_cast(u32, words1) | nan;
    const u32 two_three = __builtin_bit_cast(u32, words2) | nan, four_six = __builtin_bit_cast(u32, words3) | nan;
    fmha_fp4_scale scale;
    scale.small_upper = __builtin_amdgcn_perm(one_more, zero_half, 0x07050301);
    scale.small_lower = __builtin_amdgcn_perm(one_more, zero_half, 0x06040200);
    scale.large_upper = __builtin_amdgcn_perm(four_six, two_three, 0x07050301);
    scale.large_lower = __builtin_amdgcn_perm(four_six, two_three, 0x06040200);
    return scale;
}

/* Eight values, the first in the lowest nibble, in order. All are exact; what is beyond the largest bf16 is infinity. */
FMHA_INLINE u32x4 fmha_fp4_to_elements(u32 eight, fmha_fp4_scale scale)
{
    const u32 even = eight & 0x07070707, odd = eight >> 4 & 0x07070707;
    const u32 even_upper = __builtin_amdgcn_perm(scale.large_upper, scale.small_upper, even) | (eight << 4 & 0x80808080);
    const u32 odd_upper = __builtin_amdgcn_perm(scale.large_upper, scale.small_upper, odd) | (eight & 0x80808080);
    const u32 even_lower = __builtin_amdgcn_perm(scale.large_lower, scale.small_lower, even);
    const u32 odd_lower = __builtin_amdgcn_perm(scale.large_lower, scale.small_lower, odd);
    const u32 even02 = __builtin_amdgcn_perm(even_upper, even_lower, 0x05010400), even46 = __builtin_amdgcn_perm(even_upper, even_lower, 0x07030602);
    const u32 odd13 = __builtin_amdgcn_perm(odd_upper, odd_lower, 0x05010400), odd57 = __builtin_amdgcn_perm(odd_upper, odd_lower, 0x07030602);
    const u32x4 values = {
        __builtin_amdgcn_perm(odd13, even02, 0x05040100),
        __builtin_amdgcn_perm(odd13, even02, 0x07060302),
        __builtin_amdgcn_perm(odd57, even46, 0x05040100),
        __builtin_amdgcn_perm(odd57, even46, 0x07060302),
    };
    return values;
}

typedef float f32x4 __attribute__((ext_vector_type(4)));

/* Four numbers of fp8, the first in the lowest byte, in another format, all exact: f16 and bf16 with the first in the lowest half. A NaN stays one. */
FMHA_INLINE u32x2 fmha_fp8_to_f16(u32 four)
{
    const u32x2 pairs = {fmha_fp8_pair(__builtin_amdgcn_perm(0, four, 0x010c000c)), fmha_fp8_pair(__builtin_amdgcn_perm(0, four, 0x030c020c))};
    return pairs;
}

FMHA_INLINE f32x4 fmha_fp8_to_f32(u32 four)
{
    typedef _Float16 pair __attribute__((ext_vector_type(2)));
    const u32x2 both = fmha_fp8_to_f16(four);
    const u32 first = both[0], second = both[1]; /* clang's bit cast of an element casts the first one */
    const pair low = __builtin_bit_cast(pair, first), high = __builtin_bit_cast(pair, second);
    const f32x4 values = {FMHA_F16_TO_F32(low[0]), FMHA_F16_TO_F32(low[1]), FMHA_F16_TO_F32(high[0]), FMHA_F16_TO_F32(high[1])};
    return values;
}

/* A number's bits are all in the upper half of its float32. */
FMHA_INLINE u32x2 fmha_fp8_to_bf16(u32 four)
{
    const f32x4 values = fmha_fp8_to_f32(four);
    const u32x4 bits = __builtin_bit_cast(u32x4, values);
    const u32x2 pairs = {__builtin_amdgcn_perm(bits[1], bits[0], 0x07060302), __builtin_amdgcn_perm(bits[3], bits[2], 0x07060302)};
    return pairs;
}

typedef _Float16 element;

/* Rounds to nearest even. */
FMHA_INLINE element fmha_to_element(float x)
{
    return FMHA_F32_TO_F16(x);
}

FMHA_INLINE float fmha_from_element(element x)
{
    return FMHA_F16_TO_F32(x);
}

/* Two probabilities or outputs, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack(float low, float high)
{
    typedef element element2 __attribute__((ext_vector_type(2)));
    element2 pair = {fmha_to_element(low), fmha_to_element(high)};
    return __builtin_bit_cast(u32, pair);
}

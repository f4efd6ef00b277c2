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

typedef element element2 __attribute__((ext_vector_type(2)));

//% if arch.mixes_f16 then
/* The element nearest to x, for fmha_pack: as x * 1 + -0, which is x, rounded once. The instruction that does this writes either half of a register, and
 * leaves nothing to pack. The compiler does not see through 1 and -0, of which it would leave a product, and of that make x * 1 + 0, whose zero has no sign. */
FMHA_INLINE element fmha_half(float x)
{
#ifdef FMHA_EMULATED
    return fmha_to_element(x);
#else
    element2 neutral = {(element)1.0f, (element)-0.0f};
    __asm__("" : "+s"(neutral));
    return fmha_to_element(__builtin_fmaf(x, (float)neutral.x, (float)neutral.y));
#endif
}

//% end
/* Two probabilities or outputs, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack(float low, float high)
{
//% if arch.mixes_f16 then
    element2 pair = {fmha_half(low), fmha_half(high)};
//% else
    element2 pair = {fmha_to_element(low), fmha_to_element(high)};
//% end
    return __builtin_bit_cast(u32, pair);
}

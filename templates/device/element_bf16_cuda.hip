/* A bf16 as its bits. */
typedef unsigned short element;

FMHA_INLINE float fmha_from_element(element x)
{
    return __builtin_bit_cast(float, (u32)x << 16);
}

#ifdef FMHA_EMULATED
/* Rounds to nearest even. */
FMHA_INLINE element fmha_to_element(float x)
{
    return fmha_emu_f32_to_bf16(x);
}

/* Two probabilities or outputs, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack(float low, float high)
{
    return (u32)fmha_to_element(high) << 16 | fmha_to_element(low);
}
#else
/* Rounds to nearest even. */
FMHA_INLINE element fmha_to_element(float x)
{
    element y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}

/* Two probabilities or outputs, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack(float low, float high)
{
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
#endif

/* An f16 as its bits. */
typedef unsigned short element;

#ifdef FMHA_EMULATED
/* Rounds to nearest even. */
FMHA_INLINE element fmha_to_element(float x)
{
    return __builtin_bit_cast(element, fmha_emu_f32_to_f16(x));
}

FMHA_INLINE float fmha_from_element(element x)
{
    return fmha_emu_f16_to_f32(__builtin_bit_cast(_Float16, x));
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
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}

FMHA_INLINE float fmha_from_element(element x)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}

/* Two probabilities or outputs, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack(float low, float high)
{
    u32 pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
#endif

typedef unsigned short element;

/* The bits of x plus half a unit of bit 16, ties going to even; bits 16 to 31 are the rounded bf16. A NaN stays one: those that
 * reach this point carry their payload in the upper bits, since they come from 16-bit inputs or from the hardware. */
FMHA_INLINE u32 fmha_round_bits(float x)
{
    const u32 bits = __builtin_bit_cast(u32, x);
    return bits + (((bits >> 16) & 1) + 0x7fff);
}

FMHA_INLINE element fmha_to_element(float x)
{
    return (element)(fmha_round_bits(x) >> 16);
}

FMHA_INLINE float fmha_from_element(element x)
{
    return __builtin_bit_cast(float, (u32)x << 16);
}

/* Two probabilities or outputs, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack(float low, float high)
{
//% if arch.converts_bf16 then
#ifndef FMHA_EMULATED /* one instruction; the host has none */
    typedef __bf16 pair __attribute__((ext_vector_type(2)));
    const pair both = {(__bf16)low, (__bf16)high};
    return __builtin_bit_cast(u32, both);
#endif
//% end
    return __builtin_amdgcn_perm(fmha_round_bits(high), fmha_round_bits(low), 0x07060302);
}

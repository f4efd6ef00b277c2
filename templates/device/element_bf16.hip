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
//% if arch.packed_f32 then

/* Two weights, as fmha_pack, in packed operations: 65535 x rounded to float32 is 65536 x less what rounding x to bf16 makes of it, ties going to
 * even. Not for 2^111 and more, nor for subnormal numbers, whose last bits are cut off. */
FMHA_INLINE u32 fmha_pack_weights(f32x2 weights)
{
#pragma clang fp contract(off)
#ifdef FMHA_EMULATED /* the products with 65536 are exact, fused or not */
    const f32x2 less = weights * 65536.0f - weights, rounded = weights * 65536.0f - less;
#else
    const f32x2 far = {65536.0f, 65536.0f};
    const f32x2 less = __builtin_elementwise_fma(weights, far, -weights), rounded = __builtin_elementwise_fma(weights, far, -less);
#endif
    return __builtin_amdgcn_perm(__builtin_bit_cast(u32, (float)rounded.y), __builtin_bit_cast(u32, (float)rounded.x), 0x07060302);
}
//% end

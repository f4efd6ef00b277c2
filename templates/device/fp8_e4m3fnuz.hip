/* fp8 e4m3 of the fnuz kind. Of two numbers, in the upper bytes of the halves of `bytes` (the lower ones are 0), the f16. */
FMHA_INLINE u32 fmha_fp8_pair(u32 bytes)
{
    /* The sign stays, four bits of exponent and three of fraction move to where f16 has the lower four and the upper three: this is 2^-7 of
     * the number, subnormals too. */
    const s16x2 moved = __builtin_bit_cast(s16x2, bytes) >> 1;
    const u32 small = (__builtin_bit_cast(u32, moved) & 0xbf80bf80) | fmha_fnuz_nan(bytes);
    return fmha_multiply_f16(small, 0x58005800); /* 2^7 */
}

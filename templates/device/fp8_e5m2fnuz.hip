/* fp8 e5m2 of the fnuz kind. Of two numbers, in the upper bytes of the halves of `bytes` (the lower ones are 0), the f16. */
FMHA_INLINE u32 fmha_fp8_pair(u32 bytes)
{
    /* Half of what the same bits mean as f16: of a normal number the exponent is one less, of a subnormal the fraction half; where one becomes the
     * other both are right, and elsewhere the larger. */
    const u32 magnitude = bytes & 0x7f007f00;
    const s16x2 halved = __builtin_bit_cast(s16x2, magnitude >> 1), lower = __builtin_bit_cast(s16x2, magnitude) - (s16x2)(0x0400);
    return __builtin_bit_cast(u32, __builtin_elementwise_max(halved, lower)) | (bytes & 0x80008000) | fmha_fnuz_nan(bytes);
}

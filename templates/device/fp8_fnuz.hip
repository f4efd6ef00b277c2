/* A half of ones where a half of `bytes` is the sign alone, the NaN of the fnuz kind: only then is that its lowest bit. */
FMHA_INLINE u32 fmha_fnuz_nan(u32 bytes)
{
    const s16x2 x = __builtin_bit_cast(s16x2, bytes);
    return __builtin_bit_cast(u32, (x & -x) >> 15);
}

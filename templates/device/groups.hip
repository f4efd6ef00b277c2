/* The largest of four neighbouring lanes' numbers, and of eight. Every lane of the wave must come here. */
FMHA_INLINE u32 fmha_largest(u32 x, u32 other)
{
    return x > other ? x : other;
}

FMHA_INLINE u32 fmha_largest_of_4(u32 x)
{
    x = fmha_largest(x, (u32)__builtin_amdgcn_update_dpp((int)x, (int)x, 0xb1, 15, 15, true)); /* quad_perm [1,0,3,2] */
    return fmha_largest(x, (u32)__builtin_amdgcn_update_dpp((int)x, (int)x, 0x4e, 15, 15, true)); /* quad_perm [2,3,0,1] */
}

FMHA_INLINE u32 fmha_largest_of_8(u32 x)
{
    x = fmha_largest_of_4(x);
    return fmha_largest(x, (u32)__builtin_amdgcn_update_dpp((int)x, (int)x, 0x141, 15, 15, true)); /* row_half_mirror: of four alike lanes any */
}

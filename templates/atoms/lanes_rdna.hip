//% -- What lanes of RDNA tell one another: the lane groups of a column (kq) or the columns of a row (qk).
//% if spec.orientation == "kq" then
/* The value of the lane with the same column in the other 16 lanes of its half-wave pair. */
FMHA_INLINE u32 fmha_swap16(u32 x)
{
    return __builtin_amdgcn_permlanex16(x, x, 0x76543210, 0xfedcba98, true, true);
}

//%     if spec.wave == 32 then
/* x combined over the lane groups of a column. */
FMHA_INLINE float fmha_group_max(float x)
{
    return __builtin_fmaxf(x, __builtin_bit_cast(float, fmha_swap16(__builtin_bit_cast(u32, x))));
}

FMHA_INLINE float fmha_group_sum(float x)
{
    return x + __builtin_bit_cast(float, fmha_swap16(__builtin_bit_cast(u32, x)));
}

//%     else
FMHA_INLINE u32 fmha_swap32(u32 x)
{
    return __builtin_amdgcn_permlane64(x);
}

/* x combined over the lane groups of a column. */
FMHA_INLINE float fmha_group_max(float x)
{
    x = __builtin_fmaxf(x, __builtin_bit_cast(float, fmha_swap16(__builtin_bit_cast(u32, x))));
    return __builtin_fmaxf(x, __builtin_bit_cast(float, fmha_swap32(__builtin_bit_cast(u32, x))));
}

FMHA_INLINE float fmha_group_sum(float x)
{
    x += __builtin_bit_cast(float, fmha_swap16(__builtin_bit_cast(u32, x)));
    return x + __builtin_bit_cast(float, fmha_swap32(__builtin_bit_cast(u32, x)));
}

//%     end
//% else
/* x combined over the sixteen columns of a row: a butterfly of four steps. */
//%     for _, op in ipairs { "max", "sum" } do
//%         local name = "fmha_row_" .. op
FMHA_INLINE float $(name)(float x)
{
//%         for step = 0, 3 do
    {
        const int bits = __builtin_bit_cast(int, x);
//%             local mask = 0x160 + (1 << step)
        const float other = __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(bits, bits, $(mask), 15, 15, true));
//%             if op == "max" then
        x = __builtin_fmaxf(x, other);
//%             else
        x += other;
//%             end
    }
//%         end
    return x;
}

//%     end
//% end

//% -- What lanes of a GCN or CDNA wave tell one another: the lane groups of a column (kq) or the columns of a row (qk).
//% if spec.orientation == "kq" then
//%     local swaps = arch.permlane_swap
//%     if not swaps then
/* The value of lane (lane ^ 16), and of lane (lane ^ 32). */
FMHA_INLINE u32 fmha_swap16(u32 x)
{
    return (u32)__builtin_amdgcn_ds_swizzle((int)x, 0x401f); /* within 32 lanes: the lane's number exclusive or 16 */
}

FMHA_INLINE u32 fmha_swap32(u32 x)
{
    const u32 lane = __builtin_amdgcn_workitem_id_x() % 64;
    return (u32)__builtin_amdgcn_ds_bpermute((int)((lane ^ 32) * 4), (int)x);
}

//%     end
//%     for _, op in ipairs { "max", "sum" } do
//%         local name = "fmha_group_" .. op
/* x combined over the lane groups of a column. */
FMHA_INLINE float $(name)(float x)
{
//%         for _, distance in ipairs(atom.groups == 4 and { 16, 32 } or { 32 }) do
//%             if swaps then
//%                 local swap = "__builtin_amdgcn_permlane" .. distance .. "_swap"
    {
        /* Rows of the first copy change places with rows of the second: each lane then has both values. */
        const u32 bits = __builtin_bit_cast(u32, x);
        const auto both = $(swap)(bits, bits, false, false);
        const u32 first = both[0], second = both[1]; /* clang's bit casts of elements of vectors take element 0 */
        const float low = __builtin_bit_cast(float, first), high = __builtin_bit_cast(float, second);
//%                 if op == "max" then
        x = __builtin_fmaxf(low, high);
//%                 else
        x = low + high;
//%                 end
    }
//%             else
//%                 local swap = "fmha_swap" .. distance
//%                 if op == "max" then
    x = __builtin_fmaxf(x, __builtin_bit_cast(float, $(swap)(__builtin_bit_cast(u32, x))));
//%                 else
    x += __builtin_bit_cast(float, $(swap)(__builtin_bit_cast(u32, x)));
//%                 end
//%             end
//%         end
    return x;
}

//%     end
//% else
/* x combined over the sixteen columns of a row, in four steps: neighbours, pairs, quadruples (the mirror image of a half row has another
 * quadruple, whose lanes are all alike by then) and octets (that of a row). */
//%     for _, op in ipairs { "max", "sum" } do
//%         local name = "fmha_row_" .. op
FMHA_INLINE float $(name)(float x)
{
//%         for _, control in ipairs { "0xb1", "0x4e", "0x141", "0x140" } do -- quad_perm [1,0,3,2], [2,3,0,1], row_half_mirror, row_mirror
    {
        const int bits = __builtin_bit_cast(int, x);
        const float other = __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(bits, bits, $(control), 15, 15, true));
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

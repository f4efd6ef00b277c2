//% -- What lanes of a GCN or CDNA wave tell one another: the lane groups of a column (kq) or the columns of a row (qk).
//%
//% local kq = spec.orientation == "kq"
//% local distances = kq and (atom.n == 16 and { 16, 32 } or { 32 }) or atom.n == 32 and { 16 } or {} -- between rows of sixteen lanes
//% if not arch.permlane_swap then
//%     for _, distance in ipairs(distances) do
//%         local swap = "fmha_swap" .. distance
/* The value of lane (lane ^ $(distance)). */
FMHA_INLINE u32 $(swap)(u32 x)
{
//%         if distance == 16 then
    return (u32)__builtin_amdgcn_ds_swizzle((int)x, 0x401f); /* within 32 lanes: the lane's number exclusive or 16 */
//%         else
    const u32 lane = __builtin_amdgcn_workitem_id_x() % 64;
    return (u32)__builtin_amdgcn_ds_bpermute((int)((lane ^ 32) * 4), (int)x);
//%         end
}

//%     end
//% end
//% if kq then
/* x combined over the lane groups of a column. */
//% else
/* x combined over the $(atom.n) columns of a row: neighbours, pairs, quadruples (the mirror image of a half row has another quadruple, whose
 * lanes are all alike by then), octets (that of a row) and rows of sixteen lanes. */
//% end
//% for _, op in ipairs { "max", "sum" } do
//%     local name = (kq and "fmha_group_" or "fmha_row_") .. op
FMHA_INLINE float $(name)(float x)
{
//%     for _, control in ipairs(kq and {} or { "0xb1", "0x4e", "0x141", "0x140" }) do -- quad_perm [1,0,3,2], [2,3,0,1], row_half_mirror, row_mirror
    {
        const int bits = __builtin_bit_cast(int, x);
        const float other = __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(bits, bits, $(control), 15, 15, true));
//%         if op == "max" then
        x = __builtin_fmaxf(x, other);
//%         else
        x += other;
//%         end
    }
//%     end
//%     for _, distance in ipairs(distances) do
    {
//%         if arch.permlane_swap then
//%             local swap = "__builtin_amdgcn_permlane" .. distance .. "_swap"
        /* Rows of the first copy change places with rows of the second: each lane then has both values. */
        const u32 bits = __builtin_bit_cast(u32, x);
        const auto both = $(swap)(bits, bits, false, false);
        const u32 first = both[0], second = both[1]; /* clang's bit casts of elements of vectors take element 0 */
        const float own = __builtin_bit_cast(float, first), other = __builtin_bit_cast(float, second);
//%         else
//%             local swap = "fmha_swap" .. distance
        const float own = x, other = __builtin_bit_cast(float, $(swap)(__builtin_bit_cast(u32, x)));
//%         end
//%         if op == "max" then
        x = __builtin_fmaxf(own, other);
//%         else
        x = own + other;
//%         end
    }
//%     end
    return x;
}

//% end

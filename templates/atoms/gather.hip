//% -- For operands that every lane group holds whole: a packed result, of which it has its share, as an operand.
//% if spec.orientation == "kq" then

//%     if spec.wave == 32 then
/* Lane group g holds numbers 8g ... 8g + 7 of its column in four registers; every group gets all sixteen. */
FMHA_INLINE u32x8 fmha_gather_operand(const u32 own[4], u32 group)
{
    u32x8 all;
    u32 other[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        other[i] = fmha_swap16(own[i]);
    FMHA_SCHEDULE_FENCE(); /* the choices stand side by side, and their condition in the register by which two can be issued at once */
    FMHA_OPAQUE(group);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        all[i] = group ? other[i] : own[i];
        all[4 + i] = group ? own[i] : other[i];
    }
    FMHA_SCHEDULE_FENCE();
    return all;
}
//%     else
/* Lane group g holds numbers 4g ... 4g + 3 of its column in two registers; every group gets all sixteen. */
FMHA_INLINE u32x8 fmha_gather_operand(const u32 own[2], u32 group)
{
    u32x8 all;
    u32 pair[4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 other = fmha_swap16(own[i]);
        pair[i] = group & 1 ? other : own[i];
        pair[2 + i] = group & 1 ? own[i] : other;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const u32 other = fmha_swap32(pair[i]);
        all[i] = group & 2 ? other : pair[i];
        all[4 + i] = group & 2 ? pair[i] : other;
    }
    return all;
}
//%     end
//% end

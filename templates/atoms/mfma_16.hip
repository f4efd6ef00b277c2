//% -- v_mfma_f32_16x16x… of CDNA: each element is in one lane. Which places of the contraction index a lane holds does not matter as long as
//% -- both operands agree: where an instruction takes two elements a lane (gfx908's bf16), two of them multiply the sixteen places together.
//% -- Source: AMD matrix instruction calculator, CDNA1 to CDNA3.
//%
//% local one = arch.matrix.mfma_16[spec.dtype]
//% atom = {
//%     m = 16, n = 16, k = 4 * one.length,    -- of one instruction
//%     groups = 4,                            -- lane groups
//%     acc_length = 4,                        -- elements of C and D per lane
//%     operand_length = one.length,           -- elements of A and B per lane that one instruction takes
//%     operand = "u32x2", share = 4,          -- registers and elements of A and B per lane that fmha_mma takes
//%     replicated = false,
//%     -- Row and column of a lane's element i.
//%     a = function(lane, i) return lane % 16, lane // 16 * one.length + i end,
//%     b = function(lane, i) return lane // 16 * one.length + i, lane % 16 end,
//%     d = function(lane, i) return 4 * (lane // 16) + i, lane % 16 end, -- C too
//% }
//% local builtin = "__builtin_amdgcn_mfma_f32_" .. one.builtin
//% local operand_type = spec.dtype == "f16" and "_Float16" or "short"
/* Operands of one matrix instruction and accumulator, per lane. */
typedef $(operand_type) fmha_operand __attribute__((ext_vector_type($(one.length))));
typedef float accumulator __attribute__((ext_vector_type(4)));

/* a[16 x 16] * b[16 x 16] + c[16 x 16] */
FMHA_INLINE accumulator fmha_mma(u32x2 a, u32x2 b, accumulator c)
{
//% if one.length == 4 then
    return $(builtin)(__builtin_bit_cast(fmha_operand, a), __builtin_bit_cast(fmha_operand, b), c, 0, 0, 0);
//% else
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 one = a[i], other = b[i]; /* clang's bit casts of elements of vectors take element 0 */
        c = $(builtin)(__builtin_bit_cast(fmha_operand, one), __builtin_bit_cast(fmha_operand, other), c, 0, 0, 0);
    }
    return c;
//% end
}

/* A lane's elements of D are neighbours as they stand: rows of A need no other order. */
FMHA_INLINE u32 fmha_natural(u32 row)
{
    return row;
}

FMHA_INLINE u32 fmha_row(u32 natural)
{
    return natural;
}

/* The number of a lane group's first element of D. */
FMHA_INLINE u32 fmha_group_first(u32 group)
{
    return group * 4;
}

//% include("atoms/lanes_gcn.hip")
//% if spec.orientation == "kq" then

/* The group's own elements of a column are its share of the operand, if the other operand takes its contraction index in the same order:
 * the numbers from fmha_group_first on. */
FMHA_INLINE u32x2 fmha_gather_operand(const u32 own[2], u32 group)
{
    const u32x2 all = {own[0], own[1]};
    (void)group;
    return all;
}
//% end

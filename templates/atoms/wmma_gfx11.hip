//% -- v_wmma_f32_16x16x16_{f16,bf16} of RDNA3 and RDNA3.5. Each group of 16 lanes holds a copy of A and of B.
//% -- Source: AMD matrix instruction calculator, RDNA3; "RDNA3 Instruction Set Architecture", section 7.9.
//%
//% atom = {
//%     m = 16, n = 16, k = 16,
//%     groups = spec.wave // 16,              -- lane groups
//%     acc_length = 256 // spec.wave,         -- elements of C and D per lane
//%     operand = "u32x8", operand_length = 16, -- registers and elements of A and B per lane
//%     replicated = true,                     -- every lane group holds all of the contraction index
//%     -- Row and column of a lane's element i.
//%     a = function(lane, i) return lane % 16, i end,
//%     b = function(lane, i) return i, lane % 16 end,
//%     d = function(lane, i) return i * (spec.wave // 16) + lane // 16, lane % 16 end, -- C too
//% }
//% local suffix = "w" .. spec.wave
//% local builtin = "__builtin_amdgcn_wmma_f32_16x16x16_" .. spec.dtype .. "_" .. suffix
//% local operand_type = spec.dtype == "f16" and "_Float16" or "short"
/* Operands and accumulator of one matrix instruction, per lane. */
typedef $(operand_type) fmha_operand __attribute__((ext_vector_type(16)));
typedef float accumulator __attribute__((ext_vector_type($(atom.acc_length))));

/* a[16 x 16] * b[16 x 16] + c[16 x 16] */
FMHA_INLINE accumulator fmha_mma(u32x8 a, u32x8 b, accumulator c)
{
    return $(builtin)(__builtin_bit_cast(fmha_operand, a), __builtin_bit_cast(fmha_operand, b), c);
}

/* Which row of A makes element i of lane group g in D number g * $(atom.acc_length) + i: rows of A are handed out in this order so that a
 * lane's elements of D are neighbours. natural() of a row is the number, row() of a number the row. */
FMHA_INLINE u32 fmha_natural(u32 row)
{
    return row % $(atom.groups) * $(atom.acc_length) + row / $(atom.groups);
}

FMHA_INLINE u32 fmha_row(u32 natural)
{
    return natural % $(atom.acc_length) * $(atom.groups) + natural / $(atom.acc_length);
}

/* The number of a lane group's first element of D. */
FMHA_INLINE u32 fmha_group_first(u32 group)
{
    return group * $(atom.acc_length);
}

//% include("atoms/lanes_rdna.hip")
//% include("atoms/gather.hip")

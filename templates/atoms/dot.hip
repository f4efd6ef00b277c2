//% -- A 16x16x16 product on chips without matrix instructions: every lane sums L elements of its own column of D, two places of the
//% -- contraction index at a time. B's column is in the lane's registers. Of A a lane holds one of the L rows that its group sums; an
//% -- instruction takes the pair of places from the lane that holds the row (DPP), so that a row is read from LDS once for each L
//% -- lanes and not once for each lane. arch.dot says by which instruction, and how lanes exchange.
//%
//% local L = 256 // spec.wave
//% atom = {
//%     m = 16, n = 16, k = 16,
//%     groups = spec.wave // 16,              -- lane groups
//%     acc_length = L,                        -- elements of C and D per lane
//%     operand = "u32x8", operand_length = 16, -- registers and elements of A and B per lane
//%     instructions = 0,                      -- of the matrix unit
//%     replicated = true,                     -- every lane group holds all of the contraction index
//%     row = function(lane) return "fmha_a_row(" .. lane .. ")" end, -- of A that the lane holds
//%     -- Row and column of a lane's element i.
//%     a = function(lane, i) return lane // 16 * L + lane % L, i end,
//%     b = function(lane, i) return i, lane % 16 end,
//%     d = function(lane, i) return lane // 16 * L + i, lane % 16 end, -- C too
//% }
typedef float accumulator __attribute__((ext_vector_type($(L))));

//% include("device/" .. arch.dot.product .. ".hip")
/* a[16 x 16] * b[16 x 16] + c[16 x 16] */
FMHA_INLINE accumulator fmha_mma(u32x8 a, u32x8 b, accumulator c)
{
#pragma unroll
    for (int p = 0; p < 8; ++p) {
//% for i = 0, L - 1 do
        c[$(i)] = fmha_dot<$(i)>(a[p], b[p], c[$(i)]);
//% end
    }
    return c;
}

/* The row of A that a lane holds: the group's L lanes from its first on have its L rows, the other lanes the same again. */
FMHA_INLINE u32 fmha_a_row(u32 lane)
{
    return lane / 16 * $(L) + lane % $(L);
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
    return group * $(L);
}

//% include("atoms/" .. arch.dot.lanes .. ".hip")
//% include("atoms/gather.hip")

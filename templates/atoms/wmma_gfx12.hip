//% -- v_wmma_f32_16x16x16_{f16,bf16} of RDNA4, and of 8-bit numbers. Each element is in one lane. Which places of the contraction index a lane holds
//% -- (a, b below) does not matter as long as both operands agree: kernels fill them with neighbours, or with the elements of D that the lane has.
//% -- Source: AMD matrix instruction calculator, RDNA4; "RDNA4 Instruction Set Architecture", section 7.12.
//%
//% local L = 256 // spec.wave
//% local bytes = spec.kv_math == "native"
//% -- In wave64 D's rows go to the lane groups in the order 0, 2, 1, 3, four each; the operands' indices in the order 0, 1, 2, 3. Those of 8 bits
//% -- are with D's rows.
//% local function first(group) return spec.wave == 32 and 8 * group or 4 * (group % 2 * 2 + group // 2) end
//% local function place(lane, i) return bytes and first(lane // 16) + i or i // 4 * 8 + lane // 16 * 4 + i % 4 end
//% local registers = bytes and L // 4 or L // 2 -- of an operand
//% atom = {
//%     m = 16, n = 16, k = 16,
//%     groups = spec.wave // 16,              -- lane groups
//%     acc_length = L,                        -- elements of C and D per lane
//%     operand = registers == 1 and "u32" or "u32x" .. registers, operand_length = L, -- registers and elements of A and B per lane
//%     replicated = false,
//%     -- Row and column of a lane's element i.
//%     a = function(lane, i) return lane % 16, place(lane, i) end,
//%     b = function(lane, i) return place(lane, i), lane % 16 end,
//%     d = function(lane, i) return first(lane // 16) + i, lane % 16 end, -- C too
//% }
//% local types = not bytes and spec.dtype or spec.kv_dtype == "e5m2" and "bf8_fp8" or "fp8_fp8"
//% local builtin = "__builtin_amdgcn_wmma_f32_16x16x16_" .. types .. "_w" .. spec.wave .. "_gfx12"
//% local operand_type, operand_elements = spec.dtype == "f16" and "_Float16" or "short", L
//% if bytes then operand_type, operand_elements = "int", registers end
/* Operands and accumulator of one matrix instruction, per lane. */
//% if registers == 1 then
typedef $(operand_type) fmha_operand;
//% else
typedef $(operand_type) fmha_operand __attribute__((ext_vector_type($(operand_elements))));
//% end
typedef float accumulator __attribute__((ext_vector_type($(L))));

/* a[16 x 16] * b[16 x 16] + c[16 x 16] */
FMHA_INLINE accumulator fmha_mma($(atom.operand) a, $(atom.operand) b, accumulator c)
{
    return $(builtin)(__builtin_bit_cast(fmha_operand, a), __builtin_bit_cast(fmha_operand, b), c);
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
//% if spec.wave == 32 then
    return group * 8;
//% else
    return (group & 1) * 8 + (group >> 1) * 4;
//% end
}

//% include("atoms/lanes_rdna.hip")
//% if spec.orientation == "kq" then

/* The group's own elements of a column are its share of the operand, if the other operand takes its contraction index in the same order:
 * the numbers from fmha_group_first on. */
FMHA_INLINE $(atom.operand) fmha_gather_operand(const u32 own[$(registers)], u32 group)
{
//%     if registers == 1 then
    (void)group;
    return own[0];
//%     else
    $(atom.operand) all;
    (void)group;
#pragma unroll
    for (int i = 0; i < $(registers); ++i)
        all[i] = own[i];
    return all;
//%     end
}
//% end

//% -- v_mfma_f32_… of CDNA: each element is in one lane. Which places of the contraction index a lane holds (a, b below) does not matter as long
//% -- as both operands agree: kernels fill them with neighbours, or with the elements of D that the lane has. So fmha_mma multiplies as many
//% -- places as D has rows, in as many instructions as it takes, and what a lane has of D is its share of the next product's operand.
//% -- --matrix 16x16x32 multiplies two blocks of sixteen rows at once, for its instruction takes twice what a lane has of D's one.
//% -- Source: AMD matrix instruction calculator, CDNA1 to CDNA3; "CDNA4 Instruction Set Architecture", section 7.
//%
//% -- Of 8-bit numbers a register has four elements; --matrix 16x16x32 and 32x32 name the instructions 16x16x32 and 32x32x16 on every chip.
//% local bytes = spec.kv_math == "native" and spec.kv_dtype ~= "mxfp4"
//% local in_register = bytes and 4 or 2
//% local one = arch.matrix[spec.matrix][bytes and "fp8" or spec.dtype]
//% if not one then fail("--kv-math native with --matrix " .. spec.matrix .. ": expected one that multiplies fp8: use --matrix 16x16x32 or 32x32") end
//% local side = tonumber(spec.matrix:match("^%d+"))
//% local blocks = tonumber(spec.matrix:match("%d+$")) // side
//% local L = side * side // 64 * blocks
//% local function row_of(lane, i) return side == 16 and 4 * (lane // 16) + i or i // 4 * 8 + lane // 32 * 4 + i % 4 end
//% atom = {
//%     m = side, n = side, k = 64 // side * one.length, -- of one instruction
//%     groups = 64 // side,                   -- lane groups
//%     acc_length = side * side // 64,        -- elements of C and D per lane
//%     operand_length = one.length,           -- elements of A and B per lane that one instruction takes
//%     tile = side * blocks,                  -- rows of A and places of the contraction index of fmha_mma
//%     blocks = blocks,                       -- instructions over the rows of A
//%     operand = "u32x" .. L // in_register, share = L, -- registers and elements of a block of A and of B, and elements of C and D, per lane
//%     replicated = false,
//%     -- Row and column of a lane's element i, of one instruction.
//%     a = function(lane, i) return lane % side, lane // side * one.length + i end,
//%     b = function(lane, i) return lane // side * one.length + i, lane % side end,
//%     d = function(lane, i) return row_of(lane, i), lane % side end, -- C too
//% }
//% local builtin = "__builtin_amdgcn_mfma_f32_" .. one.builtin .. (not bytes and "" or spec.kv_dtype:match("^e5m2") and "_bf8_fp8" or "_fp8_fp8")
//% local registers = L // in_register -- of an operand
//% local words, steps = one.length // in_register, L // one.length
//% local piece = words == 1 and "u32" or "u32x" .. words
//% -- Elements `first` to `first` + count - 1 of a vector.
//% local function elements(vector, first, count)
//%     local list = {}
//%     for i = first, first + count - 1 do list[#list + 1] = i end
//%     return "__builtin_shufflevector(" .. vector .. ", " .. vector .. ", " .. table.concat(list, ", ") .. ")"
//% end
//% -- What one instruction takes of an operand. Of four registers clang would make eight elements of 16 bits and put them together again, a
//% -- v_bfi_b32 each pair; it leaves a number of 128 bits alone.
//% local function piece_of(vector, step)
//%     if words == 1 then return vector .. "[" .. step .. "]" end
//%     if words < 4 then return elements(vector, step * words, words) end
//%     return "__builtin_bit_cast(" .. piece .. ", __builtin_bit_cast(fmha_pieces, " .. vector .. ").piece[" .. step .. "])"
//% end
//% if words == 4 and steps > 1 then
struct fmha_pieces {
    unsigned __int128 piece[$(steps)];
};

//% end
/* Operands of one matrix instruction and accumulator, per lane. */
//% if bytes then
typedef long fmha_operand;
//% else
typedef $(one.element) fmha_operand __attribute__((ext_vector_type($(one.length))));
//% end
typedef float accumulator __attribute__((ext_vector_type($(L))));

//% local a_type = blocks == 1 and atom.operand or "struct fmha_blocks"
//% local a_name, sum_type = blocks == 1 and "a" or "block", blocks == 1 and "accumulator" or "fmha_sum"
//% local multiply = blocks == 1 and "fmha_mma" or "fmha_mma_block"
//% if blocks > 1 then
typedef float fmha_sum __attribute__((ext_vector_type($(L // blocks))));

/* $(side) rows of $(atom.tile) */
//% else
/* a[$(side) x $(side)] * b[$(side) x $(side)] + c[$(side) x $(side)] */
//% end
FMHA_INLINE $(sum_type) $(multiply)($(atom.operand) $(a_name), $(atom.operand) b, $(sum_type) c)
{
//% for step = 0, steps - 1 do
//%     local x, y = a_name, "b"
//%     if steps > 1 then
//%         x, y = "x" .. step, "y" .. step
//%         local from_a, from_b = piece_of(a_name, step), piece_of("b", step)
    const $(piece) $(x) = $(from_a), $(y) = $(from_b);
//%     end
    c = $(builtin)(__builtin_bit_cast(fmha_operand, $(x)), __builtin_bit_cast(fmha_operand, $(y)), c, 0, 0, 0);
//% end
    return c;
}

//% if blocks > 1 then
//%     atom.rows = a_type
struct fmha_blocks {
    $(atom.operand) block[$(blocks)];
};

/* C's and D's rows of block h, and all of them with those. */
FMHA_INLINE fmha_sum fmha_sum_of(accumulator all, u32 h)
{
    fmha_sum sum;
#pragma unroll
    for (u32 i = 0; i < $(L // blocks); ++i)
        sum[i] = all[$(L // blocks) * h + i];
    return sum;
}

FMHA_INLINE accumulator fmha_with_sum(accumulator all, u32 h, fmha_sum sum)
{
#pragma unroll
    for (u32 i = 0; i < $(L // blocks); ++i)
        all[$(L // blocks) * h + i] = sum[i];
    return all;
}

/* a[$(atom.tile) x $(atom.tile)] * b[$(atom.tile) x $(side)] + c[$(atom.tile) x $(side)] */
FMHA_INLINE accumulator fmha_mma(const struct fmha_blocks &a, $(atom.operand) b, accumulator c)
{
#pragma unroll
    for (u32 h = 0; h < $(blocks); ++h)
        c = fmha_with_sum(c, h, fmha_mma_block(a.block[h], b, fmha_sum_of(c, h)));
    return c;
}

//% end
//% -- Number n of the rows of A, and of D, is what element n % L of lane group n // L is.
//% local natural, row = "row", "natural"
//% if side == 32 then
//%     natural, row = "row / 4 % 2 * 16 + row / 8 * 4 + row % 4", "natural % 16 / 4 * 8 + natural / 16 * 4 + natural % 4"
//% elseif blocks == 2 then
//%     natural, row = "row % 16 / 4 * 8 + row / 16 * 4 + row % 4", "natural / 4 % 2 * 16 + natural / 8 * 4 + natural % 4"
//% end
//% if L == 4 then
/* A lane's elements of D are neighbours as they stand: rows of A need no other order. */
//% else
/* Rows of A are handed out so that a lane's elements of D are neighbours, numbers $(L) g ... $(L) g + $(L - 1) in lane group g. natural() of a row is the
 * number, row() of a number the row. */
//% end
FMHA_INLINE u32 fmha_natural(u32 row)
{
    return $(natural);
}

FMHA_INLINE u32 fmha_row(u32 natural)
{
    return $(row);
}

/* The number of a lane group's first element of D. */
FMHA_INLINE u32 fmha_group_first(u32 group)
{
    return group * $(L);
}

//% include("atoms/lanes_gcn.hip")
//% if spec.orientation == "kq" then

/* The group's own elements of a column are its share of the operand, if the other operand takes its contraction index in the same order:
 * the numbers from fmha_group_first on. */
FMHA_INLINE $(atom.operand) fmha_gather_operand(const u32 own[$(registers)], u32 group)
{
    $(atom.operand) all;
    (void)group;
#pragma unroll
    for (int i = 0; i < $(registers); ++i)
        all[i] = own[i];
    return all;
}
//% end

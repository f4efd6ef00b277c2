//% -- What the matrix instructions of NVIDIA's chips have in common, which multiply sixteen rows of A a wave: each element is in one lane. A lane has, of A,
//% -- rows lane / 4 and that + 8, of D the same rows: what it has of D of a product it may give to the next one as A, without moving anything.
//% -- Source: "Parallel Thread Execution ISA", matrix fragments for mma.m16n8k16 with floating point type and for wgmma.mma_async.m64nNk16.
//% atom = {
//%     m = 16, n = 16, k = 16,
//%     groups = 8,                            -- of four lanes, which share rows
//%     acc_length = 8,                        -- elements of C and D per lane
//%     operand_length = 8,                    -- elements of A and B per lane
//%     operand = "u32x4",
//%     instructions = 2,
//%     replicated = false,
//%     -- Row and column of a lane's element i.
//%     a = function(lane, i) return lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8 end,
//%     b = function(lane, i) return lane % 4 * 2 + i % 2 + i // 2 % 2 * 8, lane // 4 + i // 4 * 8 end,
//%     d = function(lane, i) return lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8 end, -- C too
//%     rows_of_lane = 2,                      -- of A and D: lane / 4 and 8 more
//%     keeps_weights = true,                  -- D is the next product's A as it stands
//%     ways = "ops/tiles_stages",             -- how K and V become operands
//%     file = "ops/forward_qk_rows",          -- what orientation qk is with such operands
//% }
/* C and D of sixteen columns. */
typedef fmha_vector<float, 8> accumulator;

/* The largest of a row's, and their sum: over the four lanes that have it. */
FMHA_INLINE float fmha_row_max(float x)
{
    x = __builtin_fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
    return __builtin_fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}

FMHA_INLINE float fmha_row_sum(float x)
{
#pragma clang fp contract(off)
    x += __shfl_xor_sync(0xffffffff, x, 1);
    return x + __shfl_xor_sync(0xffffffff, x, 2);
}

/* The lane's element i, of four of its row h in an accumulator: its number there, and how many columns behind the lane's first one it is. */
FMHA_INLINE constexpr int fmha_element_of(int h, int i)
{
    return h * 2 + i % 2 + i / 2 * 4;
}

FMHA_INLINE constexpr int fmha_column_of(int i)
{
    return i % 2 + i / 2 * 8;
}

/* The lane's first column, of sixteen, and its first row; the other one is eight behind. */
FMHA_INLINE u32 fmha_first_column(u32 lane)
{
    return lane % 4 * 2;
}

FMHA_INLINE u32 fmha_first_row(u32 lane)
{
    return lane / 4;
}

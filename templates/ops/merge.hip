//% -- Merging partial results of attention over parts of the keys: O = sum of exp(LSE_s - LSE) O_s, LSE = ln sum exp LSE_s.
//% -- A row of O is cut into pieces of eight columns; a lane computes one piece, and for itself the weights of its row: no lane waits for another.
//% -- Of NVIDIA's chips eight neighbouring lanes share a piece's splits and add up what they have: a lane that waits for one split after the other
//% -- would take longer than decoding a short batch does.
//%
//% local threads = spec.wave * spec.waves
//% local shares = arch.dialect and 8 or 1       -- lanes of a piece
//% local pieces = threads // shares             -- of a workgroup
//% local fast = spec.align == 16
//% local f32 = spec.partial == "f32"
//% local size = f32 and 4 or 2                  -- bytes of an element of a partial O
//% local most_items = (1 << 32) - 1             -- of a grid's dimension
//% -- The rows of a packed batch are those of all its sequences; which belong to one cu_seqlens_q says, in a padded batch seqlens_q.
//% local packed, padded = spec.varlen == "packed", spec.varlen == "padded"
//% local items = (packed and "heads_q * tokens_q" or "batch * heads_q * seqlen_q") .. " * (head_dim_v / 8)"
//% local batch = packed and "" or "batch "
//% local rows = packed and "tokens_q" or "seqlen_q"
//%
//% local dialect = arch.dialect and "_" .. arch.dialect or ""
//% include("device/prelude" .. dialect .. ".hip")

//% include("device/element_" .. spec.dtype .. dialect .. ".hip")
//%
//% argument {
//%     name = "o_partial", kind = "buffer", type = f32 and "f32" or spec.dtype, access = "read", align = fast and 16 or size,
//%     shape = "splits " .. batch .. "heads_q " .. rows .. " head_dim_v",
//%     strides = "stride_o_partial_split " .. (packed and "" or "stride_o_partial_batch ") .. "stride_o_partial_head stride_o_partial_row 1",
//% }
//% argument {
//%     name = "lse_partial", kind = "buffer", type = "f32", access = "read",
//%     shape = "splits " .. batch .. "heads_q " .. rows,
//%     strides = packed and "heads_q*tokens_q tokens_q 1" or "batch*heads_q*seqlen_q heads_q*seqlen_q seqlen_q 1",
//% }
//% argument {
//%     name = "o", kind = "buffer", type = spec.dtype, access = "write", align = spec.align,
//%     shape = batch .. "heads_q " .. rows .. " head_dim_v", strides = (packed and "" or "stride_o_batch ") .. "stride_o_head stride_o_row 1",
//% }
//% argument {
//%     name = "lse", kind = "buffer", type = "f32", access = "write", optional = true,
//%     shape = batch .. "heads_q " .. rows, strides = packed and "tokens_q 1" or "heads_q*seqlen_q seqlen_q 1",
//% }
//% if packed then argument { name = "cu_seqlens_q", kind = "buffer", type = "i32", access = "read", shape = "batch+1", strides = "1" } end
//% if padded then argument { name = "seqlens_q", kind = "buffer", type = "i32", access = "read", shape = "batch", strides = "1" } end
//% for _, name in ipairs { "o_partial_split", "o_partial_batch", "o_partial_head", "o_partial_row", "o_batch", "o_head", "o_row" } do
//%     if not (packed and name:match("batch")) then
//%         argument { name = "stride_" .. name, kind = "value", type = "i64" }
//%         if fast then constraint("stride_" .. name .. " % " .. (name:match("partial") and 16 // size or 8), "equals", 0) end
//%     end
//% end
//% for _, name in ipairs { "splits", "batch", "heads_q", rows, "head_dim_v" } do
//%     argument { name = name, kind = "value", type = "i32" }
//%     if name ~= "head_dim_v" then constraint(name, "min", 0) end
//% end
//% if shares > 1 then constraint("splits", "max", (1 << 31) - 1 - shares) end -- the number behind a lane's last split is an int
//% constraint("head_dim_v", "min", 8)
//% constraint("head_dim_v", "max", 512)
//% constraint("head_dim_v % 8", "equals", 0)
//% constraint(items, "max", most_items // threads * threads)
//%
//% kernel {
//%     workgroup = threads,
//%     grid = { "ceil_div(" .. items .. ", " .. pieces .. ")", "1", "1" },
//%     lds_bytes = 0,
//%     flop_per_tile = 2 * 8 * pieces,          -- a tile is what a workgroup takes of one partial result
//%     bytes_per_tile = 8 * pieces * size,
//% }

/* Strides in elements; the last dimension of each tensor has stride 1. lse may be null. */
//% if packed then
/* Sequence b has rows cu_seqlens_q[b] to cu_seqlens_q[b + 1] - 1; rows before the first and behind the last one are not written. */
//% elseif padded then
/* Rows past a sequence's length are not written. */
//% end
struct fmha_merge_arguments {
//% local c_types = { f32 = "float *", f16 = "element *", bf16 = "element *", i32 = "int ", i32s = "int *", i64 = "i64 " }
//% for _, a in ipairs(arguments) do
//%     local declaration = (a.access == "read" and "const " or "") .. (a.kind == "buffer" and c_types[a.type .. "s"] or c_types[a.type]) .. a.name
    $(declaration);
//% end
};
//% local partial = f32 and "float" or "element"

//% if fast then
//%     if f32 then
//%         if arch.dialect then
typedef fmha_vector<float, 4> f32x4;
//%         else
typedef float f32x4 __attribute__((ext_vector_type(4)));
//%         end

/* Eight neighbouring columns. */
FMHA_INLINE void fmha_load(const float *from, u32, float o[8])
{
    const f32x4 low = *(const f32x4 *)from, high = *(const f32x4 *)(from + 4);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        o[i] = low[i];
        o[i + 4] = high[i];
    }
}
//%     elseif arch.dialect then -- whose elements are bits
/* Eight neighbouring columns. */
FMHA_INLINE void fmha_load(const element *from, u32, float o[8])
{
    const u32x4 all = *(const u32x4 *)from;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        o[i] = fmha_from_element((element)(all[i / 2] >> 16 * (i % 2)));
}
//%     else
typedef element element8 __attribute__((ext_vector_type(8)));

/* Eight neighbouring columns. */
FMHA_INLINE void fmha_load(const element *from, u32, float o[8])
{
    const element8 all = __builtin_bit_cast(element8, *(const u32x4 *)from);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        o[i] = fmha_from_element(all[i]);
}
//%     end

FMHA_INLINE void fmha_store(element *to, u32, const float o[8])
{
    u32x4 all;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        all[i] = fmha_pack(o[2 * i], o[2 * i + 1]);
    *(u32x4 *)to = all;
}
//% else
/* Eight columns, `pieces` apart: neighbouring lanes have neighbouring columns. */
FMHA_INLINE void fmha_load(const $(partial) *from, u32 pieces, float o[8])
{
#pragma unroll
    for (u32 i = 0; i < 8; ++i)
//%     if f32 then
        o[i] = from[i * pieces];
//%     else
        o[i] = fmha_from_element(from[i * pieces]);
//%     end
}

FMHA_INLINE void fmha_store(element *to, u32 pieces, const float o[8])
{
#pragma unroll
    for (u32 i = 0; i < 8; ++i)
        to[i * pieces] = fmha_to_element(o[i]);
}
//% end

/* exp(lse - m), where m is the largest LSE of the row. The difference comes first: where LSE is large its rounding is that of a small
 * number. A partial result without a key (-inf) has no weight; what is +inf or NaN makes the row NaN. */
FMHA_INLINE float fmha_weight(float lse, float m)
{
#pragma clang fp contract(off)
    return lse == -fmha_infinity() ? 0.0f : __builtin_amdgcn_exp2f((lse - m) * 1.4426950408889634f);
}

//% -- Splits of a lane. Where lanes share them all go on to the end, with no split where there is no row.
//% local first, count, onward, leave = "0", "arguments.splits", "++s", "return"
//% if shares > 1 then
//%     first, count, onward, leave = "share", "splits", "s += " .. shares, "there = false"
/* Over the lanes that share a piece. */
FMHA_INLINE float fmha_piece_max(float x)
{
#pragma unroll
    for (int apart = 1; apart < $(shares); apart *= 2)
        x = __builtin_fmaxf(x, __shfl_xor_sync(0xffffffff, x, apart));
    return x;
}

FMHA_INLINE float fmha_piece_sum(float x)
{
#pragma clang fp contract(off)
#pragma unroll
    for (int apart = 1; apart < $(shares); apart *= 2)
        x += __shfl_xor_sync(0xffffffff, x, apart);
    return x;
}

//% end
FMHA_KERNEL($(threads)) void $(spec.name)(const struct fmha_merge_arguments arguments)
{
#pragma clang fp contract(off)
    const u32 pieces = (u32)arguments.head_dim_v / 8;
//% if packed then
    const u32 rows = (u32)arguments.heads_q * (u32)arguments.tokens_q;
//% else
    const u32 rows = (u32)arguments.batch * (u32)arguments.heads_q * (u32)arguments.seqlen_q;
//% end
//% if shares > 1 then
    const int share = (int)(__builtin_amdgcn_workitem_id_x() % $(shares));
    const u32 item = __builtin_amdgcn_workgroup_id_x() * $(pieces) + __builtin_amdgcn_workitem_id_x() / $(shares);
    const u32 row = item / pieces < rows ? item / pieces : rows - 1, piece = item % pieces;
    bool there = item / pieces < rows; /* a row that is stored */
//% else
    const u32 item = __builtin_amdgcn_workgroup_id_x() * $(threads) + __builtin_amdgcn_workitem_id_x();
    const u32 row = item / pieces, piece = item % pieces;
    if (row >= rows)
        return;
//% end
//% if packed then
    const i64 query = row % (u32)arguments.tokens_q, head = row / (u32)arguments.tokens_q;
    if (query < arguments.cu_seqlens_q[0] || query >= arguments.cu_seqlens_q[arguments.batch])
        $(leave);
//% else
    const u32 head_row = row / (u32)arguments.seqlen_q;
    const i64 query = row % (u32)arguments.seqlen_q, head = head_row % (u32)arguments.heads_q, batch = head_row / (u32)arguments.heads_q;
//%     if padded then
    if (query >= arguments.seqlens_q[batch])
        $(leave);
//%     end
//% end

//% if shares > 1 then
    const int splits = there ? arguments.splits : 0;
//% end
    /* The largest LSE, then the sum of weights, of which the largest is 1. */
    const float *lses = arguments.lse_partial + row;
    float m = -fmha_infinity();
#pragma clang loop vectorize(disable) unroll_count(4)
    for (int s = $(first); s < $(count); $(onward))
        m = __builtin_fmaxf(m, lses[s * (i64)rows]);
//% if shares > 1 then
    m = fmha_piece_max(m);
//% end
    float l = 0.0f;
#pragma unroll 4
    for (int s = $(first); s < $(count); $(onward))
        l += fmha_weight(lses[s * (i64)rows], m);
//% if shares > 1 then
    l = fmha_piece_sum(l);
//% end
    const float inverse = l == 0.0f ? 0.0f : 1.0f / l;
//% local tells = "piece == 0" .. (shares > 1 and " && there && share == 0" or "")
    if (arguments.lse && $(tells))
        arguments.lse[row] = l == 1.0f ? m : m + 0.69314718055994531f * __builtin_amdgcn_logf(l);

    /* O, of weights whose sum is 1: no intermediate sum is larger than the largest partial O. Adding to -0 changes nothing, not even a zero's
     * sign; a row without a key is +0. */
//% local step = fast and "piece * 8" or "piece"
//% local ahead = fast and 4 or 1             -- splits on their way at once: of single elements eight loads are enough, and more take registers
//% if packed then
    const $(partial) *from = arguments.o_partial + head * arguments.stride_o_partial_head + query * arguments.stride_o_partial_row + $(step);
//% else
    const $(partial) *from = arguments.o_partial + batch * arguments.stride_o_partial_batch + head * arguments.stride_o_partial_head +
        query * arguments.stride_o_partial_row + $(step);
//% end
    float o[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        o[i] = l == 0.0f ? 0.0f : -0.0f;
#pragma clang loop unroll_count($(ahead))
    for (int s = $(first); s < $(count); $(onward)) {
        const float lse = lses[s * (i64)rows], weight = fmha_weight(lse, m) * inverse;
        float part[8];
        fmha_load(from + s * arguments.stride_o_partial_split, pieces, part);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            o[i] = __builtin_fmaf(weight, lse == -fmha_infinity() ? -0.0f : part[i], o[i]); /* whatever stands there */
    }
//% if shares > 1 then
#pragma unroll
    for (int i = 0; i < 8; ++i)
        o[i] = fmha_piece_sum(o[i]);
    if (!there || share != 0)
        return;
//% end
//% if spec.dtype == "bf16" then
    /* A NaN whose payload is in its low bits alone would be rounded to an infinity. */
#pragma unroll
    for (int i = 0; i < 8; ++i)
        o[i] = o[i] == o[i] ? o[i] : __builtin_nanf("");
//% end
//% if packed then
    fmha_store(arguments.o + head * arguments.stride_o_head + query * arguments.stride_o_row + $(step), pieces, o);
//% else
    fmha_store(arguments.o + batch * arguments.stride_o_batch + head * arguments.stride_o_head + query * arguments.stride_o_row + $(step), pieces, o);
//% end
}

//% -- Appending: the new keys and values of a batch go behind those that a cache has, which is contiguous or in pages. K may be rotated on its way,
//% -- and both quantized.
//% -- Eight lanes write a row of K and the row of V of the same key: pieces of eight elements, of each the lanes have neighbouring ones, so
//% -- that they read and write 64 elements side by side.
//%
//% local threads = spec.wave * spec.waves
//% local fast = spec.align == 16
//% local packed, padded, paged = spec.varlen == "packed", spec.varlen == "padded", spec.paged == "on"
//% local rotary = spec.rotary ~= "off"
//% local is_small = spec.kv_dtype ~= "same"
//% include("ops/small_rows.hip")
//% -- Elements of the cache: the bytes of eight of them, and how many elements of its rows these are.
//% local eight_bytes = is_small and small.eight_bytes or 16
//% local eight_elements = small.fp4 and 4 or 8
//% local cache_type = is_small and "u8" or spec.dtype
//% local sides = { "k" }
//% if spec.values == "on" then sides[2] = "v" end
//% if spec.values == "off" and spec.head_dim_v ~= spec.head_dim then
//%     fail("--hd-v " .. spec.head_dim_v .. " with --values off: expected no values to have a head dimension; leave --hd-v out")
//% end
//% if fast and spec.rotary == "neox" and spec.head_dim < 16 then
//%     fail("--rotary neox with --align 16: expected two pieces of eight columns to be pairs, got --hd " .. spec.head_dim .. "; use --align 2")
//% end
//% local dim = { k = spec.head_dim, v = spec.head_dim_v }
//% local dim_name = { k = "head_dim", v = "head_dim_v" }
//% local most_items = (1 << 32) - 1 -- of a grid's dimension
//% local rows = (packed and "tokens_new" or "batch * seqlen_new") .. " * heads_k"
//%
//% include("device/prelude.hip")

//% include("device/element_" .. spec.dtype .. ".hip")
//% if is_small then

//%     small.emit()
//% end
//%
//% for _, side in ipairs(sides) do
//%     local stride = "stride_" .. side .. "_new_"
//%     argument {
//%         name = side .. "_new", kind = "buffer", type = spec.dtype, access = "read", align = spec.align,
//%         shape = (packed and "heads_k tokens_new " or "batch heads_k seqlen_new ") .. dim_name[side],
//%         strides = (packed and "" or stride .. "batch ") .. stride .. "head " .. stride .. "row 1",
//%     }
//% end
//% for _, side in ipairs(sides) do
//%     local stride = "stride_" .. side .. "_"
//%     argument {
//%         name = side, kind = "buffer", type = cache_type, access = "write", align = fast and eight_bytes or is_small and 1 or 2,
//%         shape = (paged and "pages heads_k page_size " or "batch heads_k seqlen_k ") .. dim_name[side] .. (small.fp4 and "/2" or ""),
//%         strides = stride .. "batch " .. stride .. "head " .. stride .. "row 1",
//%     }
//% end
//% for _, side in ipairs(is_small and sides or {}) do
//%     local stride, rows = "stride_" .. side .. "_scale_", small.makes_scales
//%     argument {
//%         name = side .. "_scale", kind = "buffer", type = small.fp4 and "u8" or "f32", access = rows and "write" or "read",
//%         shape = (not rows and "batch heads_k" or paged and "pages heads_k page_size" or "batch heads_k seqlen_k") ..
//%                 (small.fp4 and " ceil_div(" .. dim_name[side] .. ",32)" or ""),
//%         strides = stride .. "batch " .. stride .. "head" .. (rows and " " .. stride .. "row" or "") .. (small.fp4 and " 1" or ""),
//%     }
//% end
//% argument { name = "seqlens_k", kind = "buffer", type = "i32", access = "read", shape = "batch", strides = "1" }
//% if packed then
//%     argument { name = "cu_seqlens_new", kind = "buffer", type = "i32", access = "read", shape = "batch+1", strides = "1" }
//% elseif padded then
//%     argument { name = "seqlens_new", kind = "buffer", type = "i32", access = "read", shape = "batch", strides = "1" }
//% end
//% if paged then
//%     argument {
//%         name = "block_table", kind = "buffer", type = "i32", access = "read", shape = "batch ceil_div(seqlen_k,page_size)",
//%         strides = "stride_block_table 1",
//%     }
//% end
//% if rotary then
//%     for _, table in ipairs { "cos", "sin" } do
//%         argument {
//%             name = "rotary_" .. table, kind = "buffer", type = "f32", access = "read", shape = "seqlen_k rotary_dim/2",
//%             strides = "stride_rotary_" .. table .. "_row 1",
//%         }
//%     end
//% end
//% for _, new in ipairs { "_new", "" } do
//%     for _, side in ipairs(sides) do
//%         for _, axis in ipairs { "batch", "head", "row" } do
//%             local name = "stride_" .. side .. new .. "_" .. axis
//%             if not (packed and new == "_new" and axis == "batch") then
//%                 argument { name = name, kind = "value", type = "i64" }
//%                 if fast then constraint(name .. " % " .. (new == "" and eight_elements or 8), "equals", 0) end
//%             end
//%         end
//%     end
//% end
//% for _, side in ipairs(is_small and sides or {}) do
//%     for _, axis in ipairs { "batch", "head", "row" } do
//%         if axis ~= "row" or small.makes_scales then argument { name = "stride_" .. side .. "_scale_" .. axis, kind = "value", type = "i64" } end
//%     end
//% end
//% if paged then argument { name = "stride_block_table", kind = "value", type = "i64" } end
//% if rotary then
//%     argument { name = "stride_rotary_cos_row", kind = "value", type = "i64" }
//%     argument { name = "stride_rotary_sin_row", kind = "value", type = "i64" }
//% end
//% for _, name in ipairs { "batch", "heads_k", packed and "tokens_new" or "seqlen_new", "seqlen_k" } do
//%     argument { name = name, kind = "value", type = "i32" }
//%     constraint(name, "min", 0)
//% end
//% constraint("seqlen_k", "max", 1 << 30)
//% if not packed then constraint("seqlen_new", "max", 1 << 30) end
//% if paged then
//%     argument { name = "page_size", kind = "value", type = "i32" }
//%     constraint("page_size", "min", 1)
//%     constraint("page_size", "max", 256)
//%     constraint("256 % page_size", "equals", 0) -- a power of two
//% end
//% if rotary then
//%     argument { name = "rotary_dim", kind = "value", type = "i32" }
//%     argument { name = "rotary_first", kind = "value", type = "i32" }
//%     constraint("rotary_dim", "min", 2)
//%     constraint("rotary_first", "min", 0)
//%     constraint("rotary_first + rotary_dim", "max", spec.head_dim)
//%     -- With --align 16 a piece is rotated as a whole, and so is the one that it is paired with.
//%     constraint("rotary_dim % " .. (not fast and 2 or spec.rotary == "neox" and 16 or 8), "equals", 0)
//%     if fast then constraint("rotary_first % 8", "equals", 0) end
//% end
//% constraint(rows .. " * 8", "max", most_items // threads * threads)
//%
//% kernel {
//%     workgroup = threads,
//%     grid = { "ceil_div(" .. rows .. " * 8, " .. threads .. ")", "1", "1" },
//%     lds_bytes = 0,
//%     flop_per_tile = 0,
//%     bytes_per_tile = threads // 8 * (dim.k + (sides[2] and dim.v or 0)) * (16 + eight_bytes) // 8, -- a tile is what a workgroup reads and writes
//% }
typedef element element8 __attribute__((ext_vector_type(8)));

/* Strides in elements; the last dimension of each tensor has stride 1. */
struct fmha_append_arguments {
//% local c_types = { f32 = "float *", f16 = "element *", bf16 = "element *", u8 = "unsigned char *", i32 = "int ", i64 = "i64 " }
//% for _, a in ipairs(arguments) do
//%     local declaration = (a.access == "read" and "const " or "") .. (a.kind == "buffer" and a.type == "i32" and "int *" or c_types[a.type]) .. a.name
    $(declaration);
//% end
};

/* A new key and its value: where they come from, and where they go. */
struct fmha_key {
    bool present; /* it is there, and there is room for it; otherwise all else is 0 */
    i64 head, batch, row; /* of the new ones */
    i64 block, slot;      /* of the cache: a batch or a page, and the row in it */
    i64 position;         /* in its sequence */
};

//% if packed then
/* The sequence that has a token: of those that begin at it or before it the last, so that none without tokens is taken. */
FMHA_INLINE int fmha_sequence_of(const int *begins, int count, int token)
{
    int first = 0, past = count;
    while (past - first > 1) {
        const int middle = first + (past - first) / 2;
        if (begins[middle] <= token)
            first = middle;
        else
            past = middle;
    }
    return first;
}

//% end
/* The key of a group of eight lanes. Heads are innermost: they are neighbours in what a model computes. */
FMHA_INLINE fmha_key fmha_find(const struct fmha_append_arguments &arguments, u32 group)
{
    const u32 token = group / (u32)arguments.heads_k, head = group % (u32)arguments.heads_k;
    fmha_key key = {};
//% if packed then
    if (token >= (u32)arguments.tokens_new || arguments.batch == 0 || token >= (u32)arguments.cu_seqlens_new[arguments.batch])
        return key;
    const int batch = fmha_sequence_of(arguments.cu_seqlens_new, arguments.batch, (int)token);
    const int row = (int)token - arguments.cu_seqlens_new[batch];
    if (row < 0)
        return key;
//% else
    const u32 batch = token / (u32)arguments.seqlen_new;
    const int row = (int)(token % (u32)arguments.seqlen_new);
    if (batch >= (u32)arguments.batch)
        return key;
//%     if padded then
    if (row >= arguments.seqlens_new[batch])
        return key;
//%     end
//% end
    const int position = arguments.seqlens_k[batch] + row;
    if ((u32)position >= (u32)arguments.seqlen_k)
        return key;
    key.present = true;
    key.head = head;
    key.batch = batch;
//% local of_new = packed and "token" or "row"
    key.row = $(of_new);
    key.position = position;
//% if paged then
    const u32 shift = (u32)__builtin_ctz((u32)arguments.page_size);
    key.block = arguments.block_table[key.batch * arguments.stride_block_table + (position >> shift)];
    key.slot = position & (arguments.page_size - 1);
//% else
    key.block = batch;
    key.slot = position;
//% end
    return key;
}

/* Eight elements. */
FMHA_INLINE element8 fmha_load(const element *from)
{
//% if fast then
    return __builtin_bit_cast(element8, *(const u32x4 *)from);
//% else
    element8 piece;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        piece[i] = from[i];
    return piece;
//% end
}

//% if not is_small then
FMHA_INLINE void fmha_store(element *to, element8 piece)
{
//%     if fast then
    *(u32x4 *)to = __builtin_bit_cast(u32x4, piece);
//%     else
#pragma unroll
    for (int i = 0; i < 8; ++i)
        to[i] = piece[i];
//%     end
}
//% end
//% if rotary then

/* Where columns of K are rotated, and by what. */
struct fmha_rotary {
    const float *cos, *sin; /* of the key's position */
    int first, dim;         /* columns */
};

/* own cos - other sin of the first of a pair, own cos + other sin of the second, in float32. */
FMHA_INLINE float fmha_rotated(float own, float other, float cos, float sin, bool is_first)
{
    const float product = other * sin;
    const float sum = __builtin_fmaf(own, cos, is_first ? -product : product);
    return sum == sum ? sum : __builtin_nanf(""); /* a NaN of no other bits than these: rounding does not make it a number */
}

//%     local neox = spec.rotary == "neox"
//%     local pairs = neox and "column i with column i + dim / 2" or "column 2 i with column 2 i + 1"
/* The eight values from a column of a row on, rotated: of the rotated columns, counted from the first of them, $(pairs). */
FMHA_INLINE void fmha_rotate(const element *row, int column, element8 piece, const struct fmha_rotary &rotary, float x[8])
{
    const int from = column - rotary.first;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        x[i] = fmha_from_element(piece[i]);
//%     if fast then
    if (from < 0 || from >= rotary.dim)
        return;
//%         if neox then
    const int half = rotary.dim / 2, other = from < half ? from + half : from - half, angle = fmha_min(from, other);
    const element8 others = fmha_load(row + rotary.first + other);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        x[i] = fmha_rotated(x[i], fmha_from_element(others[i]), rotary.cos[angle + i], rotary.sin[angle + i], from < other);
//%         else
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
        const float even = x[i], odd = x[i + 1], cos = rotary.cos[(from + i) / 2], sin = rotary.sin[(from + i) / 2];
        x[i] = fmha_rotated(even, odd, cos, sin, true);
        x[i + 1] = fmha_rotated(odd, even, cos, sin, false);
    }
//%         end
//%     else
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int at = from + i;
        if (at < 0 || at >= rotary.dim)
            continue;
//%         if neox then
        const int half = rotary.dim / 2, other = at < half ? at + half : at - half, angle = fmha_min(at, other);
//%         else
        const int other = at ^ 1, angle = at / 2;
//%         end
        x[i] = fmha_rotated(x[i], fmha_from_element(row[rotary.first + other]), rotary.cos[angle], rotary.sin[angle], at < other);
    }
//%     end
}
//% end

FMHA_KERNEL($(threads)) void $(spec.name)(const struct fmha_append_arguments arguments)
{
    const u32 index = __builtin_amdgcn_workgroup_id_x() * $(threads) + __builtin_amdgcn_workitem_id_x();
    const int column = (int)(index % 8) * 8; /* of the lane's first piece; the others are 64 apart */
    const fmha_key key = fmha_find(arguments, index / 8);
//% if not is_small then
    if (!key.present)
        return;
//% end

//% -- Everything is asked for before the first is waited for. Where lanes tell one another of their values all of them come to the end.
//% local present = is_small and "key.present && " or ""
//% for _, side in ipairs(sides) do
//%     local new, pieces, rounds, stride = "new_" .. side, "pieces_" .. side, (dim[side] + 63) // 64, "arguments.stride_" .. side .. "_new_"
//%     local batch = packed and "" or " + key.batch * " .. stride .. "batch"
//%     local begin = "arguments." .. side .. "_new" .. batch .. " + key.head * " .. stride .. "head + key.row * " .. stride .. "row"
//%     local there = present .. "column + 64 * i < " .. dim[side]
    const element *const $(new) = $(begin);
    element8 $(pieces)[$(rounds)];
#pragma unroll
    for (int i = 0; i < $(rounds); ++i)
        if ($(there))
            $(pieces)[i] = fmha_load($(new) + column + 64 * i);
//% end
//% if rotary then
    fmha_rotary rotary;
    rotary.cos = arguments.rotary_cos + key.position * arguments.stride_rotary_cos_row;
    rotary.sin = arguments.rotary_sin + key.position * arguments.stride_rotary_sin_row;
    rotary.first = arguments.rotary_first;
    rotary.dim = arguments.rotary_dim;
//% end
//% for _, side in ipairs(sides) do
//%     local new, pieces, rounds, stride = "new_" .. side, "pieces_" .. side, (dim[side] + 63) // 64, "arguments.stride_" .. side .. "_"
//%     local type, to = is_small and "unsigned char" or "element", "to_" .. side
//%     local begin = "arguments." .. side .. " + key.block * " .. stride .. "batch + key.head * " .. stride .. "head + key.slot * " .. stride .. "row"
    $(type) *const $(to) = $(begin);
//%     if not is_small then
#pragma unroll
    for (int i = 0; i < $(rounds); ++i) {
        const int at = column + 64 * i;
        if (at >= $(dim[side]))
            continue;
//%         if rotary and side == "k" then
        float x[8];
        fmha_rotate($(new), at, $(pieces)[i], rotary, x);
#pragma unroll
        for (int j = 0; j < 8; ++j)
            $(pieces)[i][j] = fmha_to_element(x[j]);
//%         end
        fmha_store($(to) + at, $(pieces)[i]);
    }
//%     else
//%         local scale, begin_scale = "scale_" .. side, "arguments." .. side .. "_scale + key.batch * " .. stride .. "scale_batch + key.head * " .. stride .. "scale_head"
//%         if small.makes_scales then
//%             begin_scale = "arguments." .. side .. "_scale + key.block * " .. stride .. "scale_batch + key.head * " .. stride .. "scale_head + key.slot * " .. stride .. "scale_row"
//%         end
//%         local of_scale, values = (small.makes_scales and "" or "const ") .. small.scale_type, "values_" .. side
    $(of_scale) *const $(scale) = $(begin_scale);
    float $(values)[$(rounds)][8] = {};
#pragma unroll
    for (int i = 0; i < $(rounds); ++i) {
        const int at = column + 64 * i;
        if (!key.present || at >= $(dim[side]))
            continue;
//%         if rotary and side == "k" then
        fmha_rotate($(new), at, $(pieces)[i], rotary, $(values)[i]);
//%         else
#pragma unroll
        for (int j = 0; j < 8; ++j)
            $(values)[i][j] = fmha_from_element($(pieces)[i][j]);
//%         end
    }
//%         small.row(values, dim[side], to, scale, "key.present", "by_" .. side)
//%     end
//% end
}

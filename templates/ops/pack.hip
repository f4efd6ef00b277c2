//% -- Packing: copies a tensor [batch][heads][seqlen][head_dim] of 16-bit elements into another one's strides, and with --v-layout transposed
//% -- into [batch][heads][head_dim][seqlen]. Elements are moved as bits: no format is looked at, no NaN is changed.
//% -- A workgroup moves one tile of 64 rows and 64 columns of one head, so that its lanes read and write whole lines of 128 bytes.
//%
//% local T = 64                                -- rows and columns of a tile
//% local threads = spec.wave * spec.waves
//% local fast = spec.align == 16
//% local transposed = spec.v_layout == "transposed"
//%
//% -- Elements of a line that a thread takes at once, of how many lines a step further down its next share is, and how many shares it has.
//% -- Transposing, a thread has the shares of two neighbouring lines together.
//% local width = fast and 8 or 1
//% local across = T // width
//% local function fits(waves) return spec.wave * waves % across == 0 and T // 2 * across % (spec.wave * waves) == 0 and spec.wave * waves <= T * T // 16 end
//% if not fits(spec.waves) then
//%     local known = {}
//%     for waves = 1, 8 do if fits(waves) then known[#known + 1] = waves end end
//%     fail("--waves " .. spec.waves .. " with --wave " .. spec.wave .. " and --align " .. spec.align .. ": expected a tile of " .. T .. " x " .. T ..
//%          " elements in equal shares: " .. table.concat(known, ", ", 1, #known - 1) .. " or " .. known[#known] .. " waves")
//% end
//% local apart = threads // across
//% local shares = T // apart
//%
//% -- LDS holds the tile transposed, in words of two neighbouring rows (a pair): word (column, pair) is rows 2 pair and 2 pair + 1 of the
//% -- column. Banks take 32 words side by side.
//% --   align 16: a line of LDS is the 32 pairs of a column in eight blocks of four, and block b stands in the place b ^ (column / 8). A thread
//% --       writes eight words, one in each of eight columns; of 32 lanes, which have eight groups of columns and four pairs of one block, the
//% --       blocks go to eight different places. It reads a block, which is sixteen bytes; eight lanes read a line.
//% --   align 2: a line has 33 words. 32 lanes write one pair of 32 columns, 33 words apart; and read sixteen words side by side, two lanes each.
//% local line_words = fast and T // 2 or T // 2 + 1
//% local lds_bytes = transposed and T * line_words * 4 or 0
//%
//% local most_tiles = ((1 << 32) - 1) // threads  -- fewer than 2^32 work items in a grid's dimension
//% local tiles = "ceil_div(seqlen_k, " .. T .. ") * ceil_div(head_dim, " .. T .. ")"
//%
//% include("device/prelude.hip")
//%
//% for _, tensor in ipairs { "from", "to" } do
//%     local stride = "stride_" .. tensor .. "_"
//%     argument {
//%         name = tensor, kind = "buffer", type = "b16", access = tensor == "to" and "write" or "read", align = spec.align,
//%         shape = "batch heads_k " .. (tensor == "to" and transposed and "head_dim seqlen_k" or "seqlen_k head_dim"),
//%         strides = stride .. "batch " .. stride .. "head " .. stride .. "row 1",
//%     }
//% end
//% for _, tensor in ipairs { "from", "to" } do
//%     for _, axis in ipairs { "batch", "head", "row" } do
//%         argument { name = "stride_" .. tensor .. "_" .. axis, kind = "value", type = "i64" }
//%         if fast then constraint("stride_" .. tensor .. "_" .. axis .. " % 8", "equals", 0) end
//%     end
//% end
//% argument { name = "seqlen_k", kind = "value", type = "i32" }
//% argument { name = "head_dim", kind = "value", type = "i32" }
//%
//% constraint("seqlen_k", "min", 0)
//% constraint("seqlen_k", "max", 1 << 30)
//% constraint("head_dim", "min", 0)
//% constraint("head_dim", "max", 1 << 16)
//% constraint(tiles, "max", most_tiles)
//% if arch.grid_max then
//%     constraint("batch", "max", arch.grid_max)
//%     constraint("heads_k", "max", arch.grid_max)
//% end
//%
//% kernel {
//%     workgroup = threads,
//%     grid = { tiles, "heads_k", "batch" },
//%     lds_bytes = lds_bytes,
//%     flop_per_tile = 0,
//%     bytes_per_tile = 2 * T * T,
//% }
typedef unsigned short element; /* the bits of any 16-bit format */

/* Strides in elements; the last dimension of each tensor has stride 1. */
struct fmha_pack_arguments {
//% local c_types = { b16 = "element *", i32 = "int ", i64 = "i64 " }
//% for _, a in ipairs(arguments) do
//%     local declaration = (a.access == "read" and "const " or "") .. c_types[a.type] .. a.name
    $(declaration);
//% end
};

//% if fast then
typedef element element8 __attribute__((ext_vector_type(8)));

/* Elements `first` to `first` + 7 of a line of `count`; 0 for those past its end, which are not read. whole: none is. */
FMHA_INLINE u32x4 fmha_load(const element *line, int first, int count, bool whole)
{
    if (whole || first + 8 <= count)
        return *(const u32x4 *)(line + first);
    element8 part = (element8)(0);
#pragma unroll
    for (int i = 0; i < 7; ++i)
        if (first + i < count)
            part[i] = line[first + i];
    return __builtin_bit_cast(u32x4, part);
}

/* Stores elements `first` to `first` + 7 of a line of `count`, but none past its end. whole: none is. */
FMHA_INLINE void fmha_store(element *line, int first, int count, bool whole, u32x4 elements)
{
    if (whole || first + 8 <= count) {
        *(u32x4 *)(line + first) = elements;
        return;
    }
    const element8 part = __builtin_bit_cast(element8, elements);
#pragma unroll
    for (int i = 0; i < 7; ++i)
        if (first + i < count)
            line[first + i] = part[i];
}
//%     if transposed then

/* Word (column, pair) of the tile in LDS. */
FMHA_INLINE u32 fmha_word(u32 column, u32 pair)
{
    return column * $(line_words) + ((pair / 4) ^ (column / 8)) * 4 + pair % 4;
}
//%     end
//% else
/* Element `at` of a line of `count`; 0 past its end, which is not read. whole: it is none such. */
FMHA_INLINE u32 fmha_load(const element *line, int at, int count, bool whole)
{
    return whole || at < count ? line[at] : 0;
}

/* Stores element `at` of a line of `count`, but not past its end. whole: it is none such. */
FMHA_INLINE void fmha_store(element *line, int at, int count, bool whole, u32 bits)
{
    if (whole || at < count)
        line[at] = (element)bits;
}
//%     if transposed then

/* Word (column, pair) of the tile in LDS. */
FMHA_INLINE u32 fmha_word(u32 column, u32 pair)
{
    return column * $(line_words) + pair;
}
//%     end
//% end

/* A tile of one head. */
struct fmha_tile {
    const element *from; /* its first element */
    element *to;         /* where that goes */
    i64 from_stride, to_stride;
    int rows, columns; /* as many as there are of its $(T) */
//% if transposed then
    u32 *lds;
//% end
};

/* Moves the thread's shares of a tile, and with the others' the whole tile. whole: it has all its rows and columns. */
FMHA_INLINE void fmha_move(const struct fmha_tile &tile, u32 thread, bool whole)
{
    const int line = (int)(thread / $(across)), across = (int)(thread % $(across)) * $(width);
//% local vector = fast and "u32x4" or "u32"
//% if transposed then
    /* Global memory to LDS: `line` counts pairs of rows. */
    $(vector) even[$(shares // 2)], odd[$(shares // 2)];
#pragma unroll
    for (int i = 0; i < $(shares // 2); ++i) {
        const int row = 2 * (line + i * $(apart));
        const element *at = tile.from + row * tile.from_stride;
        even[i] = odd[i] = ($(vector))(0);
        if (whole || row < tile.rows)
            even[i] = fmha_load(at, across, tile.columns, whole);
        if (whole || row + 1 < tile.rows)
            odd[i] = fmha_load(at + tile.from_stride, across, tile.columns, whole);
    }
#pragma unroll
    for (int i = 0; i < $(shares // 2); ++i) {
        const u32 pair = (u32)(line + i * $(apart));
//%     if fast then
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            tile.lds[fmha_word((u32)across + 2 * (u32)j, pair)] = __builtin_amdgcn_perm(odd[i][j], even[i][j], 0x05040100); /* the low halves */
            tile.lds[fmha_word((u32)across + 2 * (u32)j + 1, pair)] = __builtin_amdgcn_perm(odd[i][j], even[i][j], 0x07060302);
        }
//%     else
        tile.lds[fmha_word((u32)across, pair)] = even[i] | odd[i] << 16;
//%     end
    }
    fmha_barrier();
    /* LDS to global memory: `line` counts columns, `across` rows. */
#pragma unroll
    for (int i = 0; i < $(shares); ++i) {
        const int column = line + i * $(apart);
//%     if fast then
        const u32x4 elements = *(const u32x4 *)(tile.lds + fmha_word((u32)column, (u32)across / 2));
//%     else
        const u32 elements = tile.lds[fmha_word((u32)column, (u32)across / 2)] >> (across % 2 * 16);
//%     end
        if (whole || column < tile.columns)
            fmha_store(tile.to + column * tile.to_stride, across, tile.rows, whole, elements);
    }
//% else
    $(vector) elements[$(shares)];
#pragma unroll
    for (int i = 0; i < $(shares); ++i) {
        const int row = line + i * $(apart);
        elements[i] = ($(vector))(0);
        if (whole || row < tile.rows)
            elements[i] = fmha_load(tile.from + row * tile.from_stride, across, tile.columns, whole);
    }
#pragma unroll
    for (int i = 0; i < $(shares); ++i) {
        const int row = line + i * $(apart);
        if (whole || row < tile.rows)
            fmha_store(tile.to + row * tile.to_stride, across, tile.columns, whole, elements[i]);
    }
//% end
}

FMHA_KERNEL($(threads)) void $(spec.name)(const struct fmha_pack_arguments arguments)
{
//% if transposed then
    FMHA_LDS(lds, $(lds_bytes));
//% end
    const u32 index = __builtin_amdgcn_workgroup_id_x(), tiles_across = ((u32)arguments.head_dim + $(T - 1)) / $(T);
    const int first_row = (int)(index / tiles_across) * $(T), first_column = (int)(index % tiles_across) * $(T);
    const i64 head = __builtin_amdgcn_workgroup_id_y(), batch = __builtin_amdgcn_workgroup_id_z();

    struct fmha_tile tile;
    tile.from = arguments.from + batch * arguments.stride_from_batch + head * arguments.stride_from_head + first_row * arguments.stride_from_row + first_column;
//% local line, place = transposed and "first_column" or "first_row", transposed and "first_row" or "first_column"
    tile.to = arguments.to + batch * arguments.stride_to_batch + head * arguments.stride_to_head + $(line) * arguments.stride_to_row + $(place);
    tile.from_stride = arguments.stride_from_row;
    tile.to_stride = arguments.stride_to_row;
    tile.rows = fmha_min(arguments.seqlen_k - first_row, $(T));
    tile.columns = fmha_min(arguments.head_dim - first_column, $(T));
//% if transposed then
    tile.lds = (u32 *)lds;
//% end
    const u32 thread = __builtin_amdgcn_workitem_id_x();
    if (tile.rows == $(T) && tile.columns == $(T))
        fmha_move(tile, thread, true);
    else
        fmha_move(tile, thread, false);
}

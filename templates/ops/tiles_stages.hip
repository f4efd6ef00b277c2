//% -- How the keys reach matrix instructions whose operands come from LDS by fragments (atoms/mma_sync.hip). Both K and V stand there in rows of
//% -- keys, two tiles of each: one is read while loads that pass no registers bring the next one. What an operation knows of them is as with
//% -- ops/tiles.hip: struct fmha_keys, fmha_prefetch, fmha_k_operand and fmha_v_operand.
//% -- A row's eights are as many as a power of two from eight on, in an order that differs between eight neighbouring rows, or its length is padded to
//% -- an odd number of them: eight rows that are read together come from all banks.
//% -- Rows past the end of K and V are never read: zeros stand for them.
//%
//% local D, DV, BK = spec.head_dim, forward.v_columns, spec.block_k
//% local threads = spec.wave * spec.waves
//% local fast, paged = spec.align == 16, spec.paged == "on"
//% local exponent = spec.dtype == "f16" and "0x7c007c00" or "0x7f807f80"
//% local carry = spec.dtype == "f16" and "0x04000400" or "0x00800080"
//%
//% -- Where waves multiply together, a tile is blocks of eight eights a row, one behind the other.
//% local blocked = atom.together
//% local function in_block(eight) return blocked and eight .. " / 8 * " .. BK * 128 .. " + " or "" end
//% -- The way of K or V: `length` elements of a row.
//% local function way_of(kind, length)
//%     local eights = (length + 15) // 16 * 2
//%     if blocked and threads % eights ~= 0 then eights = (eights + 7) // 8 * 8 end -- with zeros behind the last one
//%     local ordered = blocked or eights % 8 == 0
//%     local way = {
//%         kind = kind, KIND = kind:upper(), length = length, eights = eights, ordered = ordered,
//%         row_bytes = blocked and 128 or (ordered and eights or eights + 1) * 16,
//%         even = threads % eights == 0, -- each thread has one column of eights
//%     }
//%     way.tile_bytes = BK * way.row_bytes * (blocked and (eights + 7) // 8 or 1)
//%     way.count = (BK * eights + threads - 1) // threads -- eights of a thread
//%     way.apart = way.even and threads // eights
//%     way.last = BK * eights % threads ~= 0              -- not every thread has the last one
//%     return way
//% end
//% local k_way, v_way = way_of("k", D), way_of("v", DV)
//% tiles = {
//%     k_elements = k_way.tile_bytes, v_elements = v_way.tile_bytes, -- of two bytes, two tiles
//%     scale_bytes = 0, flag_bytes = (4 * spec.waves + 15) // 16 * 16, -- a word for each wave says which tile of V is not finite
//%     lds = true, ahead = true, stored = false, arrived = "keys",
//% }
//% if paged then
//%     pages = {
//%         lds_bytes = 0,
//%         begin = function()
//%             for _, kind in ipairs { "k", "v" } do
//%                 local page, stride = "keys." .. kind .. "_page", "arguments.stride_" .. forward[kind] .. "_batch"
    $(page) = $(stride);
//%             end
    keys.block_table = arguments.block_table + batch * arguments.stride_block_table;
    keys.page_shift = (u32)__builtin_ctz((u32)arguments.page_size);
//%         end,
//%         start = function() end,
//%     }
//% end
//% include("device/" .. arch.into_lds.file .. ".hip")

struct fmha_keys {
    const element *k, *v;   /* first key; the same in all lanes */
    i64 k_stride, v_stride; /* elements from row to row */
    u32 thread, lane;
    int seqlen_k;
    element *k_lds, *v_lds;
    u32 *v_broken_lds;               /* per wave: 1 + the last tile of which its share of V was not finite */
    u32 read;                        /* which of two tiles in LDS is read, 0 or 1; the other one is filled */
//% if not blocked then
    fmha_place k_row, v_row;         /* rows of the lane's share of an operand */
//% end
//% if k_way.ordered and not blocked then
    u32 k_order; /* the lane's first eight of a row, bytes */
//% end
//% if v_way.ordered and not blocked then
    u32 v_order;
//% end
//% if paged then
    const int *block_table; /* of the sequence; the same in all lanes, as the next three */
    i64 k_page, v_page;     /* elements from page to page */
    u32 page_shift;         /* log2 of the keys of a page */
//% end
};

/* Bits 15 and 31: whether the low and the high element of a register are infinite or NaN (every bit of the exponent is set). */
FMHA_INLINE u32 fmha_not_finite(u32 pair)
{
    return ((pair & $(exponent)) + $(carry)) & 0x80008000;
}

/* The pair with zeros for what is not finite. */
FMHA_INLINE u32 fmha_finite(u32 pair)
{
    return pair & ~((fmha_not_finite(pair) >> 15) * 0xffff);
}

/* Fills in what stays the same for all tiles. */
FMHA_INLINE void fmha_keys_begin(struct fmha_keys &keys)
{
    const u32 lane = keys.lane;
    keys.read = 1;
//% if not blocked then
    /* Lanes 8 i to 8 i + 7 address the rows of matrix i of an operand: of K^T keys from 8 (i / 2) on and dimensions from 8 (i % 2) on, of V keys
     * from 8 (i % 2) on and dimensions from 8 (i / 2) on. */
    keys.k_row = fmha_place_of(keys.k_lds) + (lane / 16 * 8 + lane % 8) * $(k_way.row_bytes);
    keys.v_row = fmha_place_of(keys.v_lds) + lane % 16 * $(v_way.row_bytes);
//% if k_way.ordered then
    keys.k_order = (lane / 8 % 2 ^ lane % 8) * 16;
//% else
    keys.k_row += lane / 8 % 2 * 16;
//% end
//% if v_way.ordered then
    keys.v_order = (lane / 16 ^ lane % 8) * 16;
//% else
    keys.v_row += lane / 16 * 16;
//% end
//% end
    if (lane == 0)
        keys.v_broken_lds[keys.thread / $(spec.wave)] = 0;
}
//% for _, way in ipairs { k_way, v_way } do
//%     local kind, eights = way.kind, way.eights
//%     local send, lds, stride, first = "fmha_send_" .. kind, "keys." .. kind .. "_lds", "keys." .. kind .. "_stride", "keys." .. kind

/* Starts bringing the thread's share of $(way.KIND)'s tile, which has at least one key. part: it may lack some. */
FMHA_INLINE void $(send)(const struct fmha_keys &keys, int tile, bool part)
{
    const fmha_place tile_lds = fmha_place_of($(lds)) + (keys.read ^ 1) * $(way.tile_bytes);
//%     if paged then
    const int rows = keys.seqlen_k - tile * $(BK);
    (void)part;
//%     else
    const int rows = part ? keys.seqlen_k - tile * $(BK) : $(BK);
    const element *from_tile = $(first) + (i64)tile * ($(BK) * $(stride));
//%     end
//%     if way.even then
    const u32 eight = keys.thread % $(eights);
//%         if not paged then
    const element *from = from_tile + (i64)(keys.thread / $(eights)) * $(stride) + eight * 8;
    const i64 step = $(way.apart) * $(stride);
//%         end
//%     end
#pragma unroll
    for (u32 i = 0; i < $(way.count); ++i) {
//%     if way.even then
        const u32 row = keys.thread / $(eights) + i * $(way.apart);
//%     else
        const u32 share = keys.thread + i * $(threads), row = share / $(eights), eight = share % $(eights);
//%     end
//%     if way.last then
        if (i == $(way.count - 1) && row >= $(BK))
            break;
//%     end
//%     local order = way.ordered and (way.even and way.apart % 8 == 0 and "(eight ^ keys.thread / " .. eights .. " % 8)" or "(eight ^ row % 8)") or "eight"
//%     local exists = "(int)row < rows" .. (eights * 8 > way.length and " && eight < " .. way.length // 8 or "")
        const bool there = $(exists);
//%     if paged then
        const u32 key = (u32)(tile * $(BK)) + row;
        const i64 page = there ? keys.block_table[key >> keys.page_shift] : 0;
//%         local page_stride = "keys." .. kind .. "_page"
        const element *from = $(first) + page * $(page_stride) + (i64)(key & ((1u << keys.page_shift) - 1)) * $(stride) + eight * 8;
//%     elseif not way.even then
        const element *from = from_tile + (i64)row * $(stride) + eight * 8;
//%     end
//%     local place = in_block("eight") .. "row * " .. way.row_bytes .. " + " .. (blocked and "(eight % 8 ^ row % 8)" or order) .. " * 16"
        const u32 at = $(place);
//%     if fast then
        fmha_copy_into_lds(tile_lds + at, from, there);
//%     else
        u32x4 all = (u32x4)(0u);
        if (there) {
#pragma unroll
            for (u32 n = 0; n < 4; ++n)
                all[n] = (u32)from[2 * n + 1] << 16 | from[2 * n];
        }
        *(u32x4 *)((char *)$(lds) + (keys.read ^ 1) * $(way.tile_bytes) + at) = all;
//%     end
//%     if way.even and not paged then
        from += step;
//%     end
    }
//%     if not fast then
    (void)tile_lds;
//%     end
}
//% end

/* Starts bringing a tile that has at least one key. part: it may lack some. */
FMHA_INLINE void fmha_prefetch(struct fmha_keys &keys, int tile, bool part)
{
    fmha_send_k(keys, tile, part);
    fmha_send_v(keys, tile, part);
    fmha_commit();
}

/* Waits until what this thread has sent for is in LDS; the tile is the one to be read now. */
FMHA_INLINE void fmha_arrived(struct fmha_keys &keys)
{
    fmha_wait<0>();
//% if blocked then
    fmha_show_products();
//% end
    keys.read ^= 1;
}

//% if blocked then
//% for _, way in ipairs { k_way, v_way } do
//%     local name, lds = "fmha_" .. way.kind .. "_tile", "keys." .. way.kind .. "_lds"
/* Where $(way.KIND)'s tile that is read begins. */
FMHA_INLINE fmha_place $(name)(const struct fmha_keys &keys)
{
    return fmha_place_of($(lds)) + keys.read * $(way.tile_bytes);
}

//% end
//% else
//% local function operand_of(way, row)
//%     local order = "keys." .. way.kind .. "_order"
//%     local lane_row = "keys." .. way.kind .. "_row + keys.read * " .. way.tile_bytes .. " + " .. row .. " * " .. 16 * way.row_bytes
//%     if way.ordered then return lane_row .. " + t / 4 * 128 + (" .. order .. " ^ t % 4 * 32)" end
//%     return lane_row .. " + t * 32"
//% end
//% local k_place, v_place = operand_of(k_way, "j"), operand_of(v_way, "j")
/* Keys 16j ... 16j + 15 of a tile, dimensions 16t ... 16t + 15. */
FMHA_INLINE u32x4 fmha_k_operand(const struct fmha_keys &keys, u32 j, u32 t)
{
    return fmha_load_matrices($(k_place));
}

/* Dimensions 16t ... 16t + 15, keys 16j ... 16j + 15 of a tile. */
FMHA_INLINE u32x4 fmha_v_operand(const struct fmha_keys &keys, u32 t, u32 j)
{
    return fmha_load_matrices_transposed($(v_place));
}

//% end
/* The n-th eight of V's tile that is read. */
FMHA_INLINE u32x4 *fmha_v_eight(const struct fmha_keys &keys, u32 n)
{
//% local eight, row = "n % " .. v_way.eights, "n / " .. v_way.eights
//% local place = in_block(eight) .. row .. " * " .. v_way.row_bytes .. " + " .. (blocked and "(" .. eight .. " % 8 ^ " .. row .. " % 8)" or eight) .. " * 16"
    return (u32x4 *)((char *)keys.v_lds + keys.read * $(v_way.tile_bytes) + $(place));
}

/* Whether V's tile, a masked one, has an element that is not finite; the same in all waves. Between barriers; it has one of its own. */
FMHA_INLINE bool fmha_v_broken(const struct fmha_keys &keys, int tile)
{
    u32 broken = 0;
#pragma unroll 1
    for (u32 n = keys.thread; n < $(BK * v_way.eights); n += $(threads)) {
        const u32x4 all = *fmha_v_eight(keys, n);
#pragma unroll
        for (u32 i = 0; i < 4; ++i)
            broken |= fmha_not_finite(all[i]);
    }
//% local ballot = "__builtin_amdgcn_ballot_w" .. spec.wave
    if ($(ballot)(broken != 0) && keys.lane == 0)
        keys.v_broken_lds[keys.thread / $(spec.wave)] = (u32)tile + 1;
    fmha_barrier();
    broken = 0;
#pragma unroll
    for (u32 wave = 0; wave < $(spec.waves); ++wave)
        broken |= keys.v_broken_lds[wave] == (u32)tile + 1;
    return broken;
}

/* Puts zeros in place of what is not finite in V's tile. Between barriers. */
FMHA_INLINE void fmha_clean_v(const struct fmha_keys &keys)
{
#pragma unroll 1
    for (u32 n = keys.thread; n < $(BK * v_way.eights); n += $(threads)) {
        u32x4 *at = fmha_v_eight(keys, n), all = *at;
#pragma unroll
        for (u32 i = 0; i < 4; ++i)
            all[i] = fmha_finite(all[i]);
        *at = all;
    }
//% if blocked then
    fmha_show_products();
//% end
}

/* An element of V that is not finite, 0 in place of one that is. Past the last dimension the last one stands in: such results are not stored. */
FMHA_INLINE float fmha_broken_element(const struct fmha_keys &keys, int key, u32 dimension)
{
//% if v_way.eights * 8 > DV then
    dimension = dimension < $(DV) ? dimension : $(DV - 1);
//% end
//% if paged then
    const i64 page = keys.block_table[key >> keys.page_shift];
    const element v = keys.v[page * keys.v_page + (i64)(key & ((1 << keys.page_shift) - 1)) * keys.v_stride + dimension];
//% else
    const element v = keys.v[(i64)key * keys.v_stride + dimension];
//% end
    return fmha_not_finite(v) ? fmha_from_element(v) : 0.0f;
}

//% -- Where rows of keys stand in pages: every way of K and V asks fmha_k_in_page or fmha_v_in_page.
//% -- Of each tile a thread asks the table for the page of a key or a few, one tile before they are needed, and leaves in LDS how far the keys' rows
//% -- are from the first page. Where a step has barriers at the right places the workgroup shares that list, else each wave has its own.
//% --   pages.ahead                    whether a step works out the rows of the next tile, not of its own
//% --   pages.between                  whether it does so between its two barriers, not before them
//% --   pages.tile, pages.next         the tile whose rows a step works out, and the one whose pages it asks for
//% --   pages.lds_bytes                of the workgroup
//% --   members(), functions()         what struct fmha_keys and the functions on it need
//% --   begin(), start(tile, next)     emit statements that fill in the members; that come before the first step, of the first tile and the one after
//%
//% local BK, wave, threads = spec.block_k, spec.wave, spec.wave * spec.waves
//% local ahead = tiles.lds and tiles.ahead or spec.pipeline == 2
//% -- Of whose tile rows are read: the next one's, on its way to LDS or to the scores to come, or the step's own. If both, LDS holds both.
//% local k_direct, v_direct = spec.k_path == "direct", spec.v_path == "gather"
//% local k_own = k_direct and spec.pipeline == 1 or not k_direct and not tiles.ahead
//% local v_own = v_direct or not tiles.ahead
//% local both = ahead and (k_own or v_own)
//% -- The list is written between two barriers; or before the only ones between which it is read.
//% local shared = tiles.lds and (tiles.ahead and tiles.stored or not ahead and not k_direct and not v_direct)
//% local sharing, thread = shared and threads or wave, shared and "keys.thread" or "keys.lane"
//% -- Where few registers are left, what follows from the number of the thread is not kept in any.
//% local hidden = both or math.max(spec.head_dim, spec.head_dim_v) > 128
//% local rounds = (2 * BK + sharing - 1) // sharing            -- rows that a thread works out: K's, then V's
//% local asked = BK % sharing == 0 and BK // sharing or rounds -- pages that it asks for: one for K and V where it has the same key of both
//% local bounded = tiles.latent and sharing > 2 * BK            -- more threads than rows: those that are left list none
//% local entries = bounded and 2 * BK or rounds * sharing
//% local of_k = "n < " .. BK
//% if BK % wave == 0 then -- the same in all lanes
//%     of_k = shared and "r * " .. threads .. " + FMHA_SCALAR(keys.thread / " .. wave .. ") * " .. wave .. " < " .. BK or "r < " .. BK // wave
//% end
//% local function at(own, first)
//%     local slot = both and (own and "(keys.rows_at ^ " .. entries .. ") + " or "keys.rows_at + ") or ""
//%     return slot .. (first > 0 and first .. " + " or "") .. "n"
//% end
//% local k_at, v_at, put_at = at(k_own, 0), at(v_own, BK), at(false, 0)
//% local rows = (both and 2 or 1) * entries
//% local lists = cache.rows and 2 or 1 -- the second one has the rows' scales
//% local unit, unit_bytes = cache.unit, cache.unit_bytes
//% pages = { ahead = ahead, between = shared and ahead, lds_bytes = 8 * rows * lists * (shared and 1 or spec.waves) }
//% pages.tile = not ahead and "tile" or score.jumps and "next" or "fmha_min(tile + 1, tiles - 1)"
//% pages.next = not ahead and (score.jumps and "next" or "tile + 1") or score.jumps and "after" or "fmha_min(tile + 2, tiles - 1)"
//% pages.members = function()
    const int *block_table; /* of the sequence; the same in all lanes, as the next four */
    i64 k_page, v_page;     /* elements from page to page */
    u32 page_shift;         /* log2 of the keys of a page */
    i64 *rows_lds;          /* bytes from k to the rows of a tile's keys, then from v */
//%     if cache.rows then
    i64 k_scale_page, v_scale_page; /* of scales; and behind the rows in LDS stand those of the scales */
//%     end
//%     if both then
    u32 rows_at; /* where in them the next tile's are, and in the other half the step's own */
//%     end
    u32 page_next[$(asked)]; /* pages of the thread's keys, one tile ahead of their rows */
//% end
//% pages.begin = function(lds)
//%     local own_lds = shared and lds or lds .. " + wave * " .. rows * lists
    keys.block_table = arguments.block_table + batch * arguments.stride_block_table;
    keys.page_shift = (u32)__builtin_ctz((u32)arguments.page_size);
//%     local k_page, v_page = "arguments.stride_" .. forward.k .. "_batch", "arguments.stride_" .. forward.v .. "_batch"
    keys.k_page = $(k_page);
    keys.v_page = $(v_page);
//%     if cache.rows then
//%         local k_scale_page, v_scale_page = "arguments.stride_" .. forward.k .. "_scale_batch", "arguments.stride_" .. forward.v .. "_scale_batch"
    keys.k_scale_page = $(k_scale_page);
    keys.v_scale_page = $(v_scale_page);
//%     end
    keys.rows_lds = $(own_lds);
//%     if both then
    keys.rows_at = 0;
//%     end
//% end
//% pages.start = function(tile, next)
        fmha_find_pages(keys, $(tile));
//%     if ahead then
        fmha_find_rows(keys, $(tile), $(next));
//%     end
//%     if pages.between then
        fmha_barrier();
//%     end
//% end
//% pages.functions = function()
/* Key n of a tile; for those past the end the last one stands in, so that neither the table nor a page is read there. */
FMHA_INLINE u32 fmha_key(const struct fmha_keys &keys, int tile, u32 n)
{
    const u32 key = (u32)tile * $(BK) + n, last = (u32)keys.seqlen_k - 1;
    return key < last ? key : last;
}

/* The page of a key. */
FMHA_INLINE u32 fmha_page(const struct fmha_keys &keys, u32 key)
{
    return *(const u32 *)((const char *)keys.block_table + (key >> keys.page_shift) * 4);
}

/* Bytes from the first page to a key's row. Pages may be any 64-bit number of elements apart. */
FMHA_INLINE i64 fmha_row_in_page(const struct fmha_keys &keys, u32 key, u32 page, i64 page_stride, i64 row_stride)
{
    const u32 row = key & ((1u << keys.page_shift) - 1);
//%     if unit_bytes > 1 then
    return ((i64)page * page_stride + (i64)row * row_stride) * $(unit_bytes);
//%     else
    return (i64)page * page_stride + (i64)row * row_stride;
//%     end
}

/* Asks for the pages of a tile's keys. */
FMHA_INLINE void fmha_find_pages(struct fmha_keys &keys, int tile)
{
    u32 thread = $(thread);
//%     if hidden then
    FMHA_OPAQUE(thread);
//%     end
#pragma unroll
    for (u32 r = 0; r < $(asked); ++r)
        keys.page_next[r] = fmha_page(keys, fmha_key(keys, tile, (thread + r * $(sharing)) % $(BK)));
}

//%     local fence = shared and "Between barriers" or "Of this wave alone"
/* Works out where the rows of a tile are, whose pages were asked for, and asks for those of the next one. $(fence). */
FMHA_INLINE void fmha_find_rows(struct fmha_keys &keys, int tile, int next)
{
//%     if not shared then
    fmha_wave_barrier(); /* every lane has read what stood there */
//%     end
//%     if both then
    keys.rows_at ^= $(entries);
//%     end
    u32 thread = $(thread);
//%     if hidden then
    FMHA_OPAQUE(thread);
//%     end
#pragma unroll
    for (u32 r = 0; r < $(rounds); ++r) {
        const u32 n = thread + r * $(sharing);
//%     if bounded then
        if (n >= $(entries))
            break;
//%     end
        const bool of_k = $(of_k);
        const i64 page_stride = of_k ? keys.k_page : keys.v_page, row_stride = of_k ? keys.k_stride : keys.v_stride;
        keys.rows_lds[$(put_at)] = fmha_row_in_page(keys, fmha_key(keys, tile, n % $(BK)), keys.page_next[r % $(asked)], page_stride, row_stride);
//%     if cache.rows then
        const i64 scale_page = of_k ? keys.k_scale_page : keys.v_scale_page, scale_stride = of_k ? keys.k_scale_stride : keys.v_scale_stride;
        keys.rows_lds[$(rows) + $(put_at)] = fmha_row_in_page(keys, fmha_key(keys, tile, n % $(BK)), keys.page_next[r % $(asked)], scale_page, scale_stride);
//%     end
    }
//%     if not shared then
    fmha_wave_barrier();
//%     end
    fmha_find_pages(keys, next);
}

/* Elements of K and V from `column` on, of the row of key n of a tile. */
FMHA_INLINE const $(unit) *fmha_k_in_page(const struct fmha_keys &keys, u32 n, u32 column)
{
    return (const $(unit) *)((const char *)(keys.k + column) + keys.rows_lds[$(k_at)]);
}

FMHA_INLINE const $(unit) *fmha_v_in_page(const struct fmha_keys &keys, u32 n, u32 column)
{
    return (const $(unit) *)((const char *)(keys.v + column) + keys.rows_lds[$(v_at)]);
}
//%     for _, kind in ipairs(cache.rows and { "k", "v" } or {}) do
//%         local scale_at, scales, place = "fmha_" .. kind .. "_scale_at", "keys." .. kind .. "_scales", kind == "k" and k_at or v_at
//%         if cache.token then place = at(not tiles.ahead, kind == "k" and 0 or BK) end -- on its way to LDS
//%         local parameters, beginning = cache.mx and "u32 n, u32 block" or "u32 n", cache.mx and scales .. " + block" or scales

/* The scale of key n of a tile. */
FMHA_INLINE const $(cache.scale) *$(scale_at)(const struct fmha_keys &keys, $(parameters))
{
    return $(beginning) + keys.rows_lds[$(rows) + $(place)];
}
//%     end
//%     if v_direct and atom.replicated then

/* The row of V of a key that is the same in all lanes, as its address is then. */
FMHA_INLINE const element *fmha_v_in_page_of_all(const struct fmha_keys &keys, u32 n)
{
    const u64 row = (u64)keys.rows_lds[$(v_at)];
    return (const element *)((const char *)keys.v + (i64)((u64)FMHA_SCALAR(row >> 32) << 32 | FMHA_SCALAR(row)));
}
//%     end
//% end

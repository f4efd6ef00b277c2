//% -- How the keys reach the matrix unit. What an operation needs to know of K and V is behind these functions:
//% --   struct fmha_keys         where K and V of the workgroup are, and the thread's share of the tile that is on its way to LDS
//% --   fmha_prefetch            global memory -> registers
//% --   fmha_store_tile          registers -> LDS
//% --   fmha_k_operand           keys x dimensions of one product: a lane holds one key, or one of each block of keys
//% --   fmha_v_operand           dimensions x keys: a lane holds one dimension, or one of each block
//% -- Rows past the end of K and V are never read: in a tile that is not full the last row stands in for them.
//% --
//% -- A way of a tile to LDS is a table, k_way and v_way, from ops/way_….hip:
//% --   count, registers, next   shares of a thread, the registers that they take on their way, and their declaration
//% --   lacks, shares            conditions: the thread has no share i; it has any (nil: every thread has)
//% --   offset                   of the thread's first share in memory, bytes
//% --   lds_rows, lds_eights, pitch, lds_elements   of the tile in LDS: rows, eights of a row that hold keys or dimensions, elements from row to
//% --                            row, elements in all; text says what a row is
//% --   helpers()                emits the functions that say which share is whose
//% --   prefetch(), store()      emit what fmha_prefetch_k or _v and fmha_store_k or _v do with share i; not_finite() what looks at it
//% --   operand()                emits how an operand is read, if not row by row
//% -- K's way that passes no registers (ops/way_async.hip) has functions of its own instead.
//%
//% local D, DV, BK = spec.head_dim, forward.v_columns, spec.block_k
//% local threads = spec.wave * spec.waves
//% local fast = spec.align == 16
//% local unit, units = cache.unit, cache.units
//% local exponent = spec.dtype == "f16" and "0x7c007c00" or "0x7f807f80"
//% local carry = spec.dtype == "f16" and "0x04000400" or "0x00800080"
//% local k_lds, v_lds, k_async = spec.k_path == "lds", forward.v_lds, spec.k_path == "async"
//% local v_transposed = spec.v_layout == "transposed"
//% local paged = spec.paged == "on"
//% -- In kq the rows of K and V^T make the rows of a product, which are handed out so that a lane's results are neighbours.
//% local reorder = spec.orientation == "kq"
//% -- Rows of a product's operand that comes from K or V, and places of its contraction index; the row of a lane, in block h where an operand
//% -- has several.
//% local M, N, blocks = atom.tile, atom.n, reorder and atom.blocks or 1
//% local lane_parameters = blocks > 1 and "u32 lane, u32 h" or "u32 lane"
//% local in_block, block_lane = blocks > 1 and " + h * 16" or "", blocks > 1 and "keys.lane, h" or "keys.lane"
//% local key_row = (reorder and atom.row("lane") or "lane % " .. N) .. in_block
//% local own_row = (reorder and atom.row("keys.lane") or "keys.lane % " .. N) .. in_block
//%
//% if v_transposed and spec.v_path == "gather" then
//%     fail("--v-path gather reads columns of V as rows of keys; V given transposed is read with --v-path lds or direct")
//% end
//% if not v_transposed and spec.v_path == "direct" then
//%     fail("--v-path direct needs V given transposed: add --v-layout transposed, or use --v-path lds or gather")
//% end
//%
//% -- LDS rows are padded (cache.pad), so that sixteen lanes that read sixteen rows meet in no bank.
//% local sharing = forward.sharing
//% local DP, DVP = (D + sharing * M - 1) // (sharing * M) * sharing * M, (DV + sharing * M - 1) // (sharing * M) * sharing * M
//% tiles = {
//%     v_dimensions = DVP,
//%     ragged = not cache.scaled and DP - D >= M, -- the last of the waves that share rows lack steps along the head dimension
//%     power_of_two = function(n)
//%         local p = 1
//%         while p < n do p = 2 * p end
//%         return p
//%     end,
//% }
//% -- Which share of a tile is a thread's: it is shared out in columns of a row, as many as the next power of two, so that share i of a thread is a
//% -- fixed number of rows below its share 0. Threads for which no column or row is left load what their neighbour loads, and store nothing.
//% -- A row of more columns than 32 is cut into equal parts where that leaves fewer shares: then neighbouring shares are parts of one row.
//% -- `width`: units of a column. `run`: columns of a part are a multiple of it; nil: any number.
//% tiles.split = function(kind, rows, all, width, run)
//%     local row, column, shares = "fmha_" .. kind .. "_row", "fmha_" .. kind .. "_column", "fmha_" .. kind .. "_shares"
//%     local function shares_of(parts)
//%         local apart = threads // tiles.power_of_two(all // parts)
//%         return apart > 0 and parts * ((rows + apart - 1) // apart) or math.huge
//%     end
//%     local parts = 1
//%     for p = 2, all > 32 and all or 1 do
//%         if all % p == 0 and all // p % (run or 1) == 0 and shares_of(p) < shares_of(parts) then parts = p end
//%     end
//%     local real = all // parts -- columns of a part
//%     local columns = tiles.power_of_two(real)
//%     local apart, surplus = threads // columns, threads % columns ~= 0
//%     local split = { apart = apart, count = shares_of(parts), shares = shares .. "(keys.thread)" }
//%     if rows % apart ~= 0 then split.lacks = row .. "(thread, i) >= " .. rows end
//%     local down = parts > 1 and "i / " .. parts or "i" -- how many times `apart` rows share i is below the first
//%     local part = parts > 1 and " + i % " .. parts .. " * " .. real or ""
//%     split.column = function(thread) return column .. "(" .. thread .. (parts > 1 and ", i)" or ")") end
//%     split.first_column = column .. (parts > 1 and "(keys.thread, 0)" or "(keys.thread)")
//%     -- Where the thread's share i begins, seen from its first one: `multiple` rows for each row, and of them `row` more.
//%     split.from = function(base, stride, multiple, row)
//%         local rows_down = down .. " * " .. multiple * apart .. (row and " + " .. row or "")
//%         return base .. " + (i64)(" .. rows_down .. ") * " .. stride .. (parts > 1 and " + i % " .. parts .. " * " .. real * width or "")
//%     end
//%     split.emit = function()
/* Row and column of the thread's i-th share of a tile of $(kind), and whether it has any. */
FMHA_INLINE u32 $(row)(u32 thread, u32 i)
{
//%         if surplus then
    const u32 row = thread / $(columns);
    return (row < $(apart) ? row : $(apart - 1)) + $(down) * $(apart);
//%         else
    return thread / $(columns) + $(down) * $(apart);
//%         end
}

//%         local parameters = parts > 1 and "u32 thread, u32 i" or "u32 thread"
FMHA_INLINE u32 $(column)($(parameters))
{
//%         if real < columns then
//%             local clamped = "(column < " .. real .. " ? column : " .. real - 1 .. ")" .. part
//%             if parts == 1 then clamped = clamped:sub(2, -2) end
    const u32 column = thread % $(columns);
    return $(clamped);
//%         else
//%             local own = "thread % " .. columns .. part
    return $(own);
//%         end
}

FMHA_INLINE bool $(shares)(u32 thread)
{
//%         if surplus and real < columns then
    return thread < $(apart * columns) && thread % $(columns) < $(real);
//%         elseif surplus then
    return thread < $(apart * columns);
//%         elseif real < columns then
    return thread % $(columns) < $(real);
//%         else
    (void)thread;
    return true;
//%         end
}

//%     end
//%     return split
//% end
//%
//% include("ops/way_rows.hip")
//% k_way, v_way = false, false
//% -- Of MLA V is a part of K's rows: where both go to LDS through registers, what brings V's tile leaves its dimensions in K's as well, and K's way
//% -- brings the others.
//% tiles.latent = forward.k == forward.v and k_lds and spec.v_path == "lds"
//% local k_own = k_lds and not (tiles.latent and D == DV) -- there is a way of K's own
//% if k_own and tiles.latent then
//%     k_way = way_rows("k", BK, D - DV, { placed = true, pitch = DP + cache.pad(), lds = "keys.k_lds + " .. DV })
//% elseif k_lds and cache.scaled then
//%     -- Blocks of sixteen bytes, then their scales; an odd number of sixteen bytes, so that sixteen lanes that read sixteen rows meet in no bank.
//%     k_way = way_rows("k", BK, D, { placed = true, pitch = 8 * (D // 32 + (D // 32 + 15) // 16 | 1), scales = D // 32 * 8 })
//% elseif k_lds then
//%     k_way = way_rows("k", BK, D, { placed = true, pitch = DP + cache.pad() })
//%     if not k_own then k_way.registers = 0 end
//% end
//% if k_async then include("ops/way_async.hip") end
//% if spec.v_path == "transpose" then
//%     local instead = v_transposed and "use --v-path lds or direct" or "use --v-path lds or gather"
//%     local loads = arch.transposing and arch.transposing["wave" .. spec.wave]
//%     if cache.small and loads and loads.from ~= "lds" then
//%         fail("--kv-dtype " .. spec.kv_dtype .. " with --v-path transpose: the loads transpose 16-bit elements: use --v-path lds")
//%     end
//%     if not loads then fail("--v-path transpose: no loads that transpose on " .. arch.name .. " in wave" .. spec.wave .. ": " .. instead) end
//%     if v_transposed then fail("--v-path transpose: V is given transposed already: " .. instead) end
//%     include("ops/way_" .. (loads.from == "lds" and "columns" or "units") .. ".hip")
//% elseif v_lds and v_transposed then
//%     v_way = way_rows("v", DV, BK, { columns = true, placed = true, pitch = BK + cache.pad(), lds_rows = DVP })
//% elseif v_lds then
//%     include("ops/way_eights.hip")
//% end
//%
//% -- A lane's operand: all of the contraction index where every lane group holds a copy, else the group's share of it.
//% local L, operand, replicated = atom.share, atom.operand, atom.replicated
//%
//% local ballot = "__builtin_amdgcn_ballot_w" .. spec.wave
//% local v_step = v_transposed and BK or "(" .. BK .. " * keys.v_stride)" -- elements from tile to tile
//%
//% tiles.scale_bytes = cache.token and 8 * BK or 0 -- of K, then of V
//% tiles.k_elements, tiles.v_elements = k_way and k_way.lds_elements or 0, v_way and v_way.lds_elements or 0
//% tiles.lds = k_way or v_way
//% tiles.stored = k_lds or v_lds -- some of a tile passes registers
//% tiles.flag_bytes = v_lds and (4 * spec.waves + 15) // 16 * 16 or 0 -- a word for each wave says which tile of V is not finite
//% -- A thread's share of a tile is loaded one tile ahead as long as it takes few registers.
//% tiles.ahead = (k_way and k_way.registers or 0) + (v_way and v_way.registers or 0) + (cache.token and 2 * cache.rounds or 0) <= 40
//% forward.early = forward.early and tiles.ahead and k_own and v_lds
//% if k_async and not tiles.ahead then
//%     fail("--k-path async: a thread's share of V's tile takes more registers than one tile ahead may: use a smaller --block-k or more --waves")
//% end
//% if paged then include("ops/pages.hip") end
//% -- Calls that make a lane's operand; `first` counts where lane groups hold shares.
//% tiles.lds_operand = function(lds, at, first)
//%     return "fmha_lds_operand(" .. lds .. ", " .. at .. (replicated and ")" or ", " .. first .. ")")
//% end
//% tiles.load_operand = function(from, first, present)
//%     return "fmha_load_operand(" .. from .. ", " .. (replicated and "" or first .. ", ") .. present .. ")"
//% end
//% -- How many elements of a row of Q or K there are from step t of a wave's part on; M where that many or more is all that matters.
//% tiles.present = function(of, t)
//%     if sharing == 1 then return D .. " - " .. t .. " * " .. M end
//%     if tiles.ragged then return "fmha_present(" .. of .. "k_first + " .. t .. " * " .. M .. ")" end
//%     return D % M == 0 and tostring(M) or D .. " - " .. of .. "k_first - " .. t .. " * " .. M
//% end
//% if tiles.ragged then
/* How many elements of a row of Q and K there are from a dimension on. */
FMHA_INLINE u32 fmha_present(u32 dimension)
{
    return dimension < $(D) ? $(D) - dimension : 0;
}

//% end
/* Eight neighbouring elements. */
FMHA_INLINE u32x4 fmha_load8(const element *from)
{
//% if fast then
    return *(const u32x4 *)from;
//% else
    typedef element element8 __attribute__((ext_vector_type(8)));
    const element8 all = {from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]};
    return __builtin_bit_cast(u32x4, all);
//% end
}

//% if v_transposed then
//%     for _, width in ipairs(L == 4 and { 8, 4 } or { 8 }) do
//%         local part, vector, elements = "fmha_load" .. width .. "_part", "u32x" .. width // 2, "element" .. width
/* Elements `first` to `first` + $(width - 1) of a row of `count`, 1 and up; for those past the end the last one stands in. */
FMHA_INLINE $(vector) $(part)(const element *row, u32 first, u32 count)
{
    typedef element $(elements) __attribute__((ext_vector_type($(width))));
    $(elements) all;
    count = FMHA_SCALAR(count);
    FMHA_OPAQUE_UNIFORM(count); /* the indices are worked out here, not kept in scalar registers */
#pragma unroll
    for (u32 i = 0; i < $(width); ++i)
        all[i] = row[first + i < count ? first + i : count - 1];
    return __builtin_bit_cast($(vector), all);
}

//%     end
//% end
//% local cell, run8, words8, zeros8 = cache.cell, cache.run8, cache.words8, cache.zeros8
//% if cache.native then
//%     local kind, whole, one = spec.kv_dtype, "0x7f7f7f7f", "0x01010101"
//%     if kind == "e5m2" then whole, one = "0x7c7c7c7c", "0x04040404" end
/* The highest bit of each byte: whether it is $(kind) that is neither zero nor finite. */
FMHA_INLINE u32 fmha_not_finite(u32 four)
{
//%     if cache.fnuz then
    const u32 other = four ^ 0x80808080; /* the only such number is 0x80 */
    return ~(((other & 0x7f7f7f7f) + 0x7f7f7f7f) | other) & 0x80808080;
//%     else
    return ((four & $(whole)) + $(one)) & 0x80808080;
//%     end
}

/* Four numbers with zeros for what is not finite. */
FMHA_INLINE u32 fmha_finite(u32 four)
{
    return four & ~((fmha_not_finite(four) >> 7) * 0xff);
}

//% else
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

//% end
//% if atom.share == 16 then
FMHA_INLINE u32x8 fmha_join(u32x4 low, u32x4 high)
{
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
//% elseif atom.share == 4 then
/* Four neighbouring elements. */
FMHA_INLINE u32x2 fmha_load4(const element *from)
{
//%     if fast then
    return *(const u32x2 *)from;
//%     else
    typedef element element4 __attribute__((ext_vector_type(4)));
    const element4 all = {from[0], from[1], from[2], from[3]};
    return __builtin_bit_cast(u32x2, all);
//%     end
}
//% end

//% local run = cache.pad() == 4 and "fmha_run8" or run8
//% if cache.pad() == 4 then
typedef $(run8) fmha_run8 __attribute__((aligned(8)));

/* Where a run of eight elements stands in LDS, at a multiple of 8 bytes. */
//% elseif cache.native then
/* Where a run of eight numbers stands in LDS. */
//% else
/* Where a 16-byte-aligned run of elements stands in LDS. */
//% end
FMHA_INLINE $(run) *fmha_lds8($(cell) *lds, u32 index)
{
    return ($(run) *)(lds + index);
}

//% if replicated then
/* The lane's operand, sixteen neighbouring elements, out of LDS and out of global memory, where those past the first `present`, a multiple of
 * eight, are zeros. */
FMHA_INLINE $(operand) fmha_lds_operand(element *lds, u32 at)
{
    return fmha_join(*fmha_lds8(lds, at), *fmha_lds8(lds, at + 8));
}

FMHA_INLINE $(operand) fmha_load_operand(const element *from, u32 present)
{
    const u32x4 zero = {0, 0, 0, 0};
    return fmha_join(fmha_load8(from), present > 8 ? fmha_load8(from + 8) : zero);
}

//% else
/* The lane's operand, its group's share of $(M) neighbouring elements from `first` on, out of LDS and out of global memory, where those past the
 * first `present`, a multiple of eight, are zeros. */
FMHA_INLINE $(operand) fmha_lds_operand($(cell) *lds, u32 at, u32 first)
{
//%     if L == 16 and not cache.native then
    return fmha_join(*fmha_lds8(lds, at + first), *fmha_lds8(lds, at + first + 8));
//%     else
    return *($(operand) *)(lds + at + first);
//%     end
}

//%     local operand = cache.native and "u32x" .. L // 2 or operand -- Q before it is quantized
FMHA_INLINE $(operand) fmha_load_operand(const element *from, u32 first, u32 present)
{
//%     if L == 16 then
    const bool all = present >= $(M); /* known when this is compiled, unlike first */
    const u32x4 zero = {};
    return fmha_join(all || first < present ? fmha_load8(from + first) : zero, all || first + 8 < present ? fmha_load8(from + first + 8) : zero);
//%     else
//%         local load_share = "fmha_load" .. L
    const $(operand) zero = {};
    return present >= $(M) || first < present ? $(load_share)(from + first) : zero;
//%     end
}

/* The first of a lane group's share of the contraction index, of $(M), in Q K^T; in P V it is fmha_group_first. */
FMHA_INLINE u32 fmha_share(u32 lane)
{
    return lane / $(N) * $(L);
}

//% end
/* base + offset bytes; the base is the same in all lanes, the offset below 2^32 (see the constraints). */
FMHA_INLINE const $(unit) *fmha_at(const $(unit) *base, u32 offset)
{
    return (const $(unit) *)((const char *)base + offset);
}

//% cache.emit()
//% if cache.small and not k_lds and not cache.scaled then cache.k_operand() end
//% if k_own then k_way.helpers() end
//% if v_way and v_way.shares then v_way.helpers() end
//% if reorder then
/* The row of a tile in LDS that holds key or dimension n. */
FMHA_INLINE u32 fmha_lds_row(u32 n)
{
    return n / $(M) * $(M) + fmha_row(n % $(M));
}

/* The key or dimension, of $(M), that a lane's operand holds. */
FMHA_INLINE u32 fmha_lane_row($(lane_parameters))
{
    return fmha_natural($(key_row));
}
//% else
/* The row of a tile in LDS that holds key or dimension n. */
FMHA_INLINE u32 fmha_lds_row(u32 n)
{
    return n;
}

/* The key or dimension, of $(N), that a lane's operand holds. */
FMHA_INLINE u32 fmha_lane_row(u32 lane)
{
    return $(key_row);
}
//% end

//% if spec.v_path == "transpose" then
//%     include("device/" .. arch.transposing["wave" .. spec.wave].file .. ".hip")

//% end
//% if v_way and not v_way.shares then v_way.helpers() end
//% if k_async then k_way.helpers() end
struct fmha_keys {
    const $(unit) *k, *v;   /* first key; the same in all lanes */
    i64 k_stride, v_stride; /* elements from row to row */
//% if cache.rows then
    const $(cache.scale) *k_scales, *v_scales; /* as k and v: scales of a row */
    i64 k_scale_stride, v_scale_stride;
//% end
//% if cache.token then
    float *k_scale_lds, *v_scale_lds; /* of a tile's keys */
    float k_scale_next[$(cache.rounds)], v_scale_next[$(cache.rounds)]; /* of the thread's keys */
//% end
    u32 thread, lane;
//% if sharing > 1 then
    u32 k_first, v_first; /* dimension with which the wave's part of K begins, and of V; the same in all lanes */
//% end
    int seqlen_k;
    $(cell) *k_lds, *v_lds;
//% if v_lds then
    u32 *v_broken_lds; /* per wave: 1 + the last tile of which its share of V was not finite */
//% end
//% if paged then pages.members() end
//% if k_async then k_way.members() end
//% if k_own then
    $(k_way.next)
//%     if fast and not paged then
    u32 k_offset; /* of the thread's first share, bytes */
//%     end
//% end
//% if v_lds then
    $(v_way.next)
//%     if fast and not paged then
    u32 v_offset; /* of the thread's first share, bytes */
//%     end
//% end
};

//% if paged then
//%     pages.functions()
//% else
/* Where a tile of K and of V begins. */
FMHA_INLINE const $(unit) *fmha_k_tile(const struct fmha_keys &keys, int tile)
{
    return keys.k + (i64)tile * ($(BK) * keys.k_stride);
}

FMHA_INLINE const $(unit) *fmha_v_tile(const struct fmha_keys &keys, int tile)
{
    return keys.v + (i64)tile * $(v_step);
}
//%     if cache.rows then cache.places() end
//% end

/* Fills in what stays the same for all tiles. Elements of LDS that no tile writes, because the head dimension is no multiple of $(M),
 * become zero: K's meet zeros of Q, V's make columns that are not stored. */
FMHA_INLINE void fmha_keys_begin(struct fmha_keys &keys)
{
//% if k_async then k_way.begin() end
//% if k_own and fast and not paged then
    keys.k_offset = $(k_way.offset);
//% end
//% if v_lds and fast and not paged then
    keys.v_offset = $(v_way.offset);
//% end
//% -- Of rows of keys, what is behind the last dimension.
//% local function pad(kind, from, to, pitch)
//%     local lds = "keys." .. kind .. "_lds"
    for (u32 row = keys.thread; row < $(BK); row += $(threads)) {
#pragma unroll
        for (u32 column = $(from); column < $(to); column += 8)
            *fmha_lds8($(lds), row * $(pitch) + column) = $(zeros8);
    }
//% end
//% if k_lds and DP > D and not cache.scaled then pad("k", D, DP, DP + cache.pad()) end
//% if v_way and v_way.operand and DVP > DV then
//%     pad("v", DV, DVP, v_way.pitch)
//% elseif v_lds and DVP > DV then
//%     local columns = BK // 8
    for (u32 i = keys.thread; i < $((DVP - DV) * columns); i += $(threads))
        *fmha_lds8(keys.v_lds, fmha_lds_row($(DV) + i / $(columns)) * $(v_way.pitch) + i % $(columns) * 8) = $(zeros8);
//% end
//% if v_way and v_way.spread and v_way.lacks then
#pragma unroll
    for (u32 i = 0; i < $(v_way.count); ++i)
        keys.v_scale_next[i][0] = keys.v_scale_next[i][1] = 0; /* also where there is no share */
//% end
//% if v_lds then
    if (keys.lane == 0)
        keys.v_broken_lds[keys.thread / $(spec.wave)] = 0;
//% end
    (void)keys;
}

//% if k_async then k_way.functions() end
//% local function through_registers(kind, way)
//%     local prefetch, store, KIND = "fmha_prefetch_" .. kind, "fmha_store_" .. kind, kind:upper()
//%     local tile_of, from_tile = "fmha_" .. kind .. "_tile", kind .. "_tile"
/* Starts loading the thread's i-th share of $(KIND)'s tile, which has at least one key. part: it may lack some. */
FMHA_INLINE void $(prefetch)(struct fmha_keys &keys, int tile, bool part, u32 i)
{
//%     if not paged then
    const u32 rows = (u32)(keys.seqlen_k - tile * $(BK));
    const $(unit) *$(from_tile) = $(tile_of)(keys, tile);
//%     end
    u32 thread = keys.thread;
//%     if way.lacks then
    if ($(way.lacks))
        return;
//%     end
//%     if paged then
    (void)tile, (void)part;
//%     end
//%     if fast then
    if (part)
//%     end
        FMHA_OPAQUE(thread); /* what follows from it is worked out here, not kept in registers through the loop */
//%     way.prefetch()
}

//%     local place = kind == "v" and "LDS, " .. way.text or "LDS"
/* Puts what $(prefetch) loaded into $(place). Between barriers. */
FMHA_INLINE void $(store)(struct fmha_keys &keys, u32 i)
{
    u32 thread = keys.thread;
//%     if way.lacks then
    if ($(way.lacks))
        return;
//%     end
//%     way.store()
}

//% end
//% if k_own then through_registers("k", k_way) end
//% if v_lds then through_registers("v", v_way) end
//% if v_way and v_way.spread then v_way.spread() end
//% if cache.token then cache.through_lds() end
//% if v_lds then
/* Leaves word in LDS if one of the thread's shares `first` to `last` - 1 of V is not finite. */
FMHA_INLINE void fmha_report_v(struct fmha_keys &keys, int tile, u32 first, u32 last)
{
//%     if v_way.lacks then
    const u32 thread = keys.thread;
//%     end
    u32 broken = 0;
//%     if cache.token then
#pragma unroll
    for (u32 r = 0; r < $(cache.rounds); ++r)
        broken |= !fmha_is_finite(keys.v_scale_next[r]);
//%     end
#pragma unroll
    for (u32 i = first; i < last; ++i) {
//%     if v_way.lacks then
        if ($(v_way.lacks))
            break;
//%     end
//%     if v_way.not_finite then
//%         v_way.not_finite()
//%     else
#pragma unroll
        for (u32 j = 0; j < 4; ++j)
            broken |= fmha_not_finite(keys.v_next[i][j]);
//%     end
    }
    if ($(ballot)(broken != 0) && keys.lane == 0)
        keys.v_broken_lds[keys.thread / $(spec.wave)] = (u32)tile + 1;
}

//% end
//% local function send(kind, way)
//%     local prefetch = "fmha_prefetch_" .. kind
#pragma unroll
    for (u32 i = 0; i < $(way.count); ++i) {
        $(prefetch)(keys, tile, part, i);
//%     if not fast then
        FMHA_SCHEDULE_FENCE(); /* bounds the registers that single elements take before they are joined */
//%     end
    }
//% end
//% local function put(kind, way)
//%     local spread, store, shares = "fmha_spread_" .. kind, "fmha_store_" .. kind, "fmha_" .. kind .. "_shares(keys.thread)"
//%     if way.spread then
#pragma unroll
    for (u32 i = 0; i < $(way.count); ++i)
        $(spread)(keys, i);
//%     end
//%     if not way.shares then
#pragma unroll
    for (u32 i = 0; i < $(way.count); ++i)
        $(store)(keys, i);
//%     else
    if ($(shares)) {
#pragma unroll
        for (u32 i = 0; i < $(way.count); ++i)
            $(store)(keys, i);
    }
//%     end
//% end
//% if forward.early then
//%     for _, kind in ipairs { "k", "v" } do
//%         local KIND, send_tile, way = kind:upper(), "fmha_send_" .. kind, kind == "k" and k_way or v_way
/* The thread's share of a tile of $(KIND) that has at least one key, on its way to registers. part: it may lack some. */
FMHA_INLINE void $(send_tile)(struct fmha_keys &keys, int tile, bool part)
{
//%         send(kind, way)
}

//%     end
/* Puts what fmha_send_k loaded into LDS. Between barriers. */
FMHA_INLINE void fmha_put_k(struct fmha_keys &keys)
{
//%     put("k", k_way)
}

/* Puts what fmha_send_v loaded into LDS; of a masked tile also whether all of it is finite. Between barriers. */
FMHA_INLINE void fmha_put_v(struct fmha_keys &keys, int tile, bool masked)
{
//%     put("v", v_way)
    if (masked)
        fmha_report_v(keys, tile, 0, $(v_way.count));
}

//% elseif tiles.lds and tiles.ahead then
//%     local on_its_way = k_async and "on its way to LDS (K) and to registers" or "on its way to registers"
/* The thread's share of a tile that has at least one key, $(on_its_way). part: it may lack some. */
FMHA_INLINE void fmha_prefetch(struct fmha_keys &keys, int tile, bool part)
{
//%     if k_async then
    fmha_prefetch_k(keys, tile, part);
//%     end
//%     if cache.token then
    fmha_prefetch_scales(keys, tile, part);
//%     end
//%     if k_own then send("k", k_way) end
//%     if v_lds then send("v", v_way) end
}

//%     if tiles.stored then
/* Puts what fmha_prefetch loaded into LDS; of a masked tile also whether all of V is finite. Between barriers. */
FMHA_INLINE void fmha_store_tile(struct fmha_keys &keys, int tile, bool masked)
{
//%         if cache.token then
    fmha_store_scales(keys);
//%         end
//%     if k_own then put("k", k_way) end
//%     if v_lds then
//%         put("v", v_way)
    if (masked)
        fmha_report_v(keys, tile, 0, $(v_way.count));
//%     else
    (void)tile, (void)masked;
//%     end
}
//%     end

//% elseif tiles.lds then
/* The thread's share of a tile that has at least one key, copied to LDS piece by piece. part: it is a masked tile and may lack some keys. */
FMHA_INLINE void fmha_copy_tile(struct fmha_keys &keys, int tile, bool part)
{
//%     if cache.token then
    fmha_prefetch_scales(keys, tile, part);
    fmha_store_scales(keys);
//%     end
//%     for _, kind in ipairs { "k", "v" } do
//%         local way = kind == "k" and k_own and k_way or kind == "v" and v_way
//%         local load_share, store_share = "fmha_prefetch_" .. kind, "fmha_store_" .. kind
//%         if way then
#pragma unroll
    for (u32 i = 0; i < $(way.count); ++i) {
        $(load_share)(keys, tile, part, i);
//%             if way.spread then
        fmha_spread_v(keys, i);
//%             end
//%             if way.shares then
        if ($(way.shares))
            $(store_share)(keys, i);
//%             else
        $(store_share)(keys, i);
//%             end
//%             if kind == "v" then
        if (part)
            fmha_report_v(keys, tile, i, i + 1);
//%             end
        if (i % 2 == 1)
            FMHA_SCHEDULE_FENCE(); /* bounds the loads in flight, and with them the registers */
    }
//%         end
//%     end
}

//% end
//% -- Of waves that share rows each has its own dimensions of K and V, from keys.k_first and keys.v_first on.
//% local k_step, v_step_row = "t * " .. M, "t * " .. M
//% if sharing > 1 then k_step, v_step_row = "keys.k_first + t * " .. M, "keys.v_first + t * " .. M end
//% local k_operand = k_lds and tiles.lds_operand("keys.k_lds", "at", "fmha_share(keys.lane)") or
//%     tiles.load_operand("from", "fmha_share(keys.lane)", tiles.present("keys.", "t"))
//% if cache.small and not k_lds then
//%     k_operand = k_operand:gsub("^fmha_load_operand", "fmha_load_k_operand")
//%     if cache.mx then
//%         local place = paged and "j * " .. M .. " + fmha_lane_row(" .. block_lane .. ")" or "tile, present"
//%         k_operand = k_operand:sub(1, -2) .. ", *fmha_k_scale_at(keys, " .. place .. ", (" .. k_step .. ") / 32))"
//%     end
//% end
//% local k_units = cache.mx and "(" .. k_step .. ") / 2" or k_step
//% local k_name, v_name = blocks > 1 and "fmha_k_block" or "fmha_k_operand", blocks > 1 and "fmha_v_block" or "fmha_v_operand"
//% local k_place, v_place = "u32 j, u32 t", "u32 t, u32 j"
//% if blocks > 1 then k_place, v_place = k_place .. ", u32 h", v_place .. ", u32 h" end
//% local keys_text = ("Keys %dj ... %dj + %d of a tile%s, dimensions %dt ... %dt + %d."):format(M, M, M - 1,
//%     blocks > 1 and " (of them those of block h)" or "", M, M, M - 1)
//% if cache.scaled then
//%     include("ops/forward_scaled.hip")
//% else
/* $(keys_text) part: some keys of the tile may not exist. */
FMHA_INLINE $(operand) $(k_name)(const struct fmha_keys &keys, int tile, bool part, $(k_place))
{
//% if k_lds then
    const u32 at = (j * $(M) + $(own_row)) * $(k_way.pitch) + $(k_step);
    (void)tile, (void)part;
    return $(k_operand);
//% elseif k_async then
    (void)part;
    return fmha_k_from_lds(keys, tile, j * $(M) + fmha_lane_row($(block_lane)), t * $(M) + fmha_share(keys.lane));
//% else
//%     if tiles.ragged then
    if (fmha_present($(k_step)) == 0)
        return ($(operand)){};
//%     end
//%     if paged then
    const $(unit) *from = fmha_k_in_page(keys, j * $(M) + fmha_lane_row($(block_lane)), $(k_units));
    (void)tile, (void)part;
//%     else
    const $(unit) *k_tile = fmha_k_tile(keys, tile);
    const u32 rows = (u32)(keys.seqlen_k - tile * $(BK));
    const u32 key = j * $(M) + fmha_lane_row($(block_lane)), present = part && key >= rows ? rows - 1 : key;
//%     end
//%     if paged then
//%     elseif fast then
//%         local row_bytes = cache.row_bytes("keys.k_stride")
    const $(unit) *from = fmha_at(k_tile, present * $(row_bytes)) + $(k_units);
//%     else
    const $(unit) *from = k_tile + (i64)present * keys.k_stride + $(k_units);
//%     end
    return $(k_operand);
//% end
}

//% end
//% local dimensions_text = ("Dimensions %dt ... %dt + %d%s, keys %dj ... %dj + %d of a tile."):format(M, M, M - 1,
//%     blocks > 1 and " (of them those of block h)" or "", M, M, M - 1)
//% local broken_place = blocks > 1 and "u32 t, u32 j, u32 &broken, u32 h" or "u32 t, u32 j, u32 &broken"
//% local v_load = blocks > 1 and "fmha_v_load(keys, tile, part, t, j, h)" or "fmha_v_load(keys, tile, part, t, j)"
//% local v_first = "fmha_group_first(keys.lane / " .. N .. ")"
//% local v_operand = v_lds and tiles.lds_operand("keys.v_lds", "at", v_first) or tiles.load_operand("row + j * " .. M, v_first, M)
//% if v_lds then
/* $(dimensions_text) */
FMHA_INLINE $(operand) $(v_name)(const struct fmha_keys &keys, $(v_place))
{
//%     if v_way.operand then
//%         v_way.operand(v_first, in_block)
//%     else
    const u32 at = ($(v_step_row) + $(own_row)) * $(v_way.pitch) + j * $(M);
    return $(v_operand);
//%     end
}
//% else
FMHA_INLINE $(operand) fmha_v_load(const struct fmha_keys &keys, int tile, bool part, $(v_place))
{
//%     if paged then
    (void)tile, (void)part;
//%     else
    const element *v_tile = fmha_v_tile(keys, tile);
    const u32 rows = (u32)(keys.seqlen_k - tile * $(BK));
//%     end
//%     if DVP > DV then
    const u32 n = fmha_lane_row($(block_lane)), column = t * $(M) + n < $(DV) ? n : 0; /* what lies past the end is not stored */
//%     else
    const u32 column = fmha_lane_row($(block_lane));
//%     end
//%     if v_transposed then
//%         if fast then
    u32 offset = column * (u32)(keys.v_stride * 2);
    FMHA_OPAQUE(offset);
    const element *row = fmha_at(v_tile + (i64)(t * $(M)) * keys.v_stride, offset);
//%         else
    const element *row = v_tile + (i64)(t * $(M) + column) * keys.v_stride;
//%         end
//%         local key = "j * " .. M .. (replicated and "" or " + " .. v_first)
//%         local parts = L == 16 and "fmha_join(fmha_load8_part(row, " .. key .. ", rows), fmha_load8_part(row, " .. key .. " + 8, rows))" or
//%             "fmha_load" .. L .. "_part(row, " .. key .. ", rows)"
    if (part)
        return $(parts);
    return $(v_operand);
//%     else
//%         local elements = "element" .. L
    typedef element $(elements) __attribute__((ext_vector_type($(L))));
    $(elements) all;
//%         local key = "j * " .. M .. (replicated and " + i" or " + " .. v_first .. " + i")
//%         if paged and replicated then
    u32 offset = column * 2;
    FMHA_OPAQUE(offset);
#pragma unroll
    for (u32 i = 0; i < $(L); ++i)
        all[i] = fmha_at(fmha_v_in_page_of_all(keys, $(key)), offset)[t * $(M)];
//%         elseif paged then
    u32 first = $(v_first);
    FMHA_OPAQUE(first); /* rows are read from the list anew for each operand, not kept in registers */
#pragma unroll
    for (u32 i = 0; i < $(L); ++i)
        all[i] = fmha_v_in_page(keys, j * $(M) + first + i, column)[t * $(M)];
//%         else
    u32 offset = column * 2;
    i64 stride = keys.v_stride;
    FMHA_OPAQUE(offset);
    FMHA_OPAQUE_UNIFORM(stride); /* the rows' addresses are worked out here, not kept in scalar registers through the loop */
#pragma unroll
    for (u32 i = 0; i < $(L); ++i) {
        const u32 key = $(key), present = part && key >= rows ? rows - 1 : key;
        all[i] = fmha_at(v_tile + (i64)present * stride, offset)[t * $(M)];
    }
//%         end
    return __builtin_bit_cast($(operand), all);
//%     end
}

/* $(dimensions_text) part: it is a masked tile, some of whose keys may not exist: what is not finite
 * is replaced by zeros, and `broken` becomes not 0. */
FMHA_INLINE $(operand) $(v_name)(const struct fmha_keys &keys, int tile, bool part, $(broken_place))
{
    $(operand) v = $(v_load);
    if (part) {
#pragma unroll
        for (u32 i = 0; i < $(L // 2); ++i) {
            broken |= fmha_not_finite(v[i]);
            v[i] = fmha_finite(v[i]);
        }
        FMHA_SCHEDULE_FENCE(); /* one operand after the other: fewer registers */
    }
    return v;
}
//% end

//% if blocks > 1 then
//%     local function operand_of_blocks(name, block_name, parameters, arguments)
FMHA_INLINE $(atom.rows) $(name)(const struct fmha_keys &keys, $(parameters))
{
    $(atom.rows) all;
#pragma unroll
    for (u32 h = 0; h < $(blocks); ++h)
        all.block[h] = $(block_name)(keys, $(arguments), h);
    return all;
}

//%     end
//%     if not cache.scaled then operand_of_blocks("fmha_k_operand", k_name, "int tile, bool part, u32 j, u32 t", "tile, part, j, t") end
//%     if v_lds then
//%         operand_of_blocks("fmha_v_operand", v_name, "u32 t, u32 j", "t, j")
//%     else
//%         operand_of_blocks("fmha_v_operand", v_name, "int tile, bool part, u32 t, u32 j, u32 &broken", "tile, part, t, j, broken")
//%     end
//% end
//% if v_lds then
/* Whether V's tile, a masked one, has an element that is not finite; the same in all waves. */
FMHA_INLINE bool fmha_v_broken(const struct fmha_keys &keys, int tile)
{
    u32 broken = 0;
#pragma unroll
    for (u32 wave = 0; wave < $(spec.waves); ++wave)
        broken |= keys.v_broken_lds[wave] == (u32)tile + 1;
    return __builtin_amdgcn_readfirstlane(broken);
}

/* Puts zeros in place of what is not finite in V's tile. Between barriers. */
FMHA_INLINE void fmha_clean_v(const struct fmha_keys &keys)
{
//%     local v_chunks = v_way.lds_eights
#pragma nounroll
    for (u32 i = keys.thread; i < $(v_way.lds_rows * v_chunks); i += $(threads)) {
        $(run) *at = fmha_lds8(keys.v_lds, i / $(v_chunks) * $(v_way.pitch) + i % $(v_chunks) * 8), v = *at;
#pragma unroll
        for (u32 j = 0; j < $(words8); ++j)
            v[j] = fmha_finite(v[j]);
        *at = v;
    }
//%     if cache.token then
    for (u32 n = keys.thread; n < $(BK); n += $(threads)) {
        if (!fmha_is_finite(keys.v_scale_lds[n]))
            keys.v_scale_lds[n] = 0.0f;
    }
//%     end
}

//% end
//% if cache.small then cache.broken() end
/* An element of V that is not finite, 0 in place of one that is. Past the last dimension the last one stands in: such results are not stored. */
FMHA_INLINE float fmha_broken_element(const struct fmha_keys &keys, int key, u32 dimension)
{
//% if DVP > DV then
    dimension = dimension < $(DV) ? dimension : $(DV - 1);
//% end
//% if cache.small then
    return fmha_broken_number(keys, key, dimension);
}
//% else
//% if v_transposed then
    i64 stride = keys.v_stride;
    FMHA_OPAQUE(dimension); /* a number and an address for each dimension would fill the registers */
    FMHA_OPAQUE_UNIFORM(stride);
    const element v = keys.v[(i64)dimension * stride + key];
//% elseif paged then
    const i64 row = fmha_row_in_page(keys, (u32)key, fmha_page(keys, (u32)key), keys.v_page, keys.v_stride);
    const element v = *(const element *)((const char *)(keys.v + dimension) + row);
//% else
    const element v = keys.v[(i64)key * keys.v_stride + dimension];
//% end
    return fmha_not_finite(__builtin_bit_cast(unsigned short, v)) ? fmha_from_element(v) : 0.0f;
}
//% end
//%
//% if fast and not paged then
//%     local bytes_max, bytes = (1 << 32) - 1, cache.bytes
//%     constraint("stride_" .. forward.k .. "_row", "min", 0)
//%     constraint("stride_" .. forward.k .. "_row", "max", (bytes_max - bytes(D)) // (cache.unit_bytes * BK))
//%     if (v_lds or v_transposed) and forward.v ~= forward.k then
//%         constraint("stride_v_row", "min", 0)
//%         constraint("stride_v_row", "max", v_transposed and (bytes_max - 2 * BK) // (2 * DV) or (bytes_max - bytes(DV)) // (cache.unit_bytes * BK))
//%     end
//% end

//% -- The way of V's tile to LDS by which registers transpose it: eight keys x 2, 4 or 8 dimensions a share, as wide as keeps all threads busy.
//% -- LDS has one row a dimension.
//% local DV, BK = forward.v_columns, spec.block_k
//% local threads, fast, paged = spec.wave * spec.waves, spec.align == 16, spec.paged == "on"
//% local width = 8
//% while width > (cache.native and 4 or 2) and not cache.mx and (BK // 8) * tiles.power_of_two(DV // width) < threads do width = width // 2 end
//% local pairs = width // 2
//% local split = tiles.split("v", BK // 8, DV // width, cache.units(width), cache.mx and 4) -- four lanes share scales of mxfp4
//% local column_of, share = split.column("thread"), split.from("v_tile", "keys.v_stride", 8, "j")
//% local pitch, row_bytes, units, bytes = BK + cache.pad(), cache.row_bytes("keys.v_stride"), cache.units(width), cache.bytes(width)
//% local words = (bytes + 3) // 4 -- of a key, as they are in memory
//% local convert = cache.fp8 and "fmha_fp8_to_" .. spec.dtype
//% local next = "u32 v_next[" .. split.count .. "][8][" .. words .. "]; /* unit, key, " .. (cache.small and "word" or "pair of dimensions") .. " */"
//% if cache.mx then next = next .. " u32 v_scale_next[" .. split.count .. "][2], v_scale[" .. split.count .. "][8];" end
//% v_way = {
//%     count = split.count, registers = (8 * words + (cache.mx and 2 or 0)) * split.count, lacks = split.lacks, shares = split.shares, helpers = split.emit,
//%     next = next, text = "one row a dimension",
//%     lds_rows = tiles.v_dimensions, lds_eights = BK // 8, pitch = pitch, lds_elements = tiles.v_dimensions * pitch,
//%     offset = "fmha_v_row(keys.thread, 0) * 8 * " .. row_bytes .. " + " .. split.first_column .. " * " .. bytes,
//% }
//% v_way.prefetch = function()
    const u32 row = fmha_v_row(thread, i), column = $(column_of);
//% local unit = cache.unit
#pragma unroll
    for (u32 j = 0; j < 8; ++j) {
//%     if paged then
        const $(unit) *from = fmha_v_in_page(keys, row * 8 + j, column * $(units));
//%     else
        const u32 key = row * 8 + j, present = part && key >= rows ? rows - 1 : key;
//%     end
//%     if fast and not paged then
        const $(unit) *from;
        if (part)
            from = fmha_at(v_tile, present * $(row_bytes) + column * $(bytes));
        else {
            FMHA_OPAQUE(keys.v_offset); /* for each load anew: else their common part is added first, and the rest to each address */
            from = fmha_at($(share), keys.v_offset);
        }
//%     elseif not fast and not paged then
        const $(unit) *from = v_tile + (i64)present * keys.v_stride + column * $(units);
//%     end
//%     if cache.mx then
        keys.v_next[i][j][0] = fmha_load_eight(from);
//%     elseif cache.small and (bytes < 4 or not fast) then
//%         local kind = fast and "unsigned short" or "unsigned char"
//%         local each = fast and 1 or bytes
#pragma unroll
        for (u32 c = 0; c < $(words); ++c)
            keys.v_next[i][j][c] = 0;
#pragma unroll
        for (u32 c = 0; c < $(each); ++c)
            keys.v_next[i][j][c / 4] |= (u32)((const $(kind) *)from)[c] << c % 4 * 8;
//%     elseif fast then
        __builtin_memcpy(keys.v_next[i][j], __builtin_assume_aligned(from, $(bytes)), $(bytes));
//%     else
#pragma unroll
        for (u32 c = 0; c < $(pairs); ++c) {
            typedef element element2 __attribute__((ext_vector_type(2)));
            const element2 pair = {from[2 * c], from[2 * c + 1]};
            keys.v_next[i][j][c] = __builtin_bit_cast(u32, pair);
        }
//%     end
    }
//%     if cache.mx then
    /* A scale serves four lanes: each brings those of two keys. */
#pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 key = row * 8 + thread % 4 * 2 + j;
//%         if paged then
        keys.v_scale_next[i][j] = *fmha_v_scale_at(keys, key, column / 4);
//%         else
        keys.v_scale_next[i][j] = *fmha_v_scale_at(keys, tile, part && key >= rows ? rows - 1 : key, column / 4);
//%         end
    }
//%     end
//% end
//% if cache.mx then
//%     v_way.spread = function()
//%         local lanes = {}
//%         for j = 0, 7 do lanes[j] = "(u32)__builtin_amdgcn_update_dpp(0, (int)keys.v_scale_next[i][" .. j % 2 .. "], " .. j // 2 * 0x55 .. ", 15, 15, true)" end
/* The scales of the eight keys of a share, of which each of four lanes brought two. In all lanes of the wave. */
FMHA_INLINE void fmha_spread_v(struct fmha_keys &keys, u32 i)
{
//%         for j = 0, 7 do
//%             local scale = lanes[j]
    keys.v_scale[i][$(j)] = $(scale);
//%         end
}

//%     end
//% end
//% -- Pairs of dimensions at once: those of a word of fp8, all of mxfp4.
//% local group = cache.mx and 4 or math.min(pairs, 2)
//% local function widen(j, w)
//%     if cache.mx then
            const u32x4 elements = fmha_fp4_to_elements(keys.v_next[i][$(j)][0], fmha_fp4_scale_of(keys.v_scale[i][$(j)]));
//%     else
            const u32x2 elements = $(convert)(keys.v_next[i][$(j)][$(w)]);
//%     end
//% end
//% -- Of MLA the same numbers are dimensions of K. pairs of each of eight keys, and the first's dimension, are expressions.
//% local function rows_of_k(of, count, dimension)
//%     local vector, aligned = "u32" .. (count > 1 and "x" .. count or ""), math.min(4 * count, 2 * cache.pad())
#pragma unroll
    for (u32 j = 0; j < 8; ++j) {
        $(vector) part;
        __builtin_memcpy(&part, $(of), sizeof part);
        __builtin_memcpy(__builtin_assume_aligned(keys.k_lds + fmha_lds_row(row * 8 + j) * $(k_way.pitch) + $(dimension), $(aligned)), &part, sizeof part);
    }
//% end
//% -- Bytes: of four keys' words, with four dimensions each, words of dimensions with four keys.
//% local function store_bytes()
    const u32 row = fmha_v_row(thread, i), column = $(column_of);
#pragma unroll
    for (u32 c = 0; c < $(words); ++c) {
        u32 four[2][4]; /* half of the keys, dimension */
#pragma unroll
        for (u32 h = 0; h < 2; ++h) {
            const u32 k0 = keys.v_next[i][4 * h][c], k1 = keys.v_next[i][4 * h + 1][c], k2 = keys.v_next[i][4 * h + 2][c], k3 = keys.v_next[i][4 * h + 3][c];
            const u32 low = __builtin_amdgcn_perm(k1, k0, 0x05010400), high = __builtin_amdgcn_perm(k1, k0, 0x07030602); /* of two keys, dimensions 0, 1 and 2, 3 */
            const u32 low2 = __builtin_amdgcn_perm(k3, k2, 0x05010400), high2 = __builtin_amdgcn_perm(k3, k2, 0x07030602);
            four[h][0] = __builtin_amdgcn_perm(low2, low, 0x05040100);
            four[h][1] = __builtin_amdgcn_perm(low2, low, 0x07060302);
            four[h][2] = __builtin_amdgcn_perm(high2, high, 0x05040100);
            four[h][3] = __builtin_amdgcn_perm(high2, high, 0x07060302);
        }
#pragma unroll
        for (u32 d = 0; d < 4; ++d)
            *fmha_lds8(keys.v_lds, fmha_lds_row(column * $(width) + 4 * c + d) * $(pitch) + row * 8) = (u32x2){four[0][d], four[1][d]};
    }
//% end
//% v_way.store = function()
//%     if cache.native then return store_bytes() end
    const u32 row = fmha_v_row(thread, i), column = $(column_of);
//%     local first, second = "keys.v_next[i][2 * j][c]", "keys.v_next[i][2 * j + 1][c]"
//%     if cache.small then
//%         first, second = "eight[2 * j][c % " .. group .. "]", "eight[2 * j + 1][c % " .. group .. "]"
    u32 eight[8][$(group)]; /* key, pair of dimensions */
//%     end
#pragma unroll
    for (u32 c = 0; c < $(pairs); ++c) {
//%     if cache.small then
#pragma unroll
        for (u32 j = 0; j < 8; ++j) {
            if (c % $(group) != 0)
                break; /* the word's other pair */
//%         widen("j", "c / " .. group)
#pragma unroll
            for (u32 p = 0; p < $(group); ++p)
                eight[j][p] = elements[p];
        }
//%         if tiles.latent then
        if (c % $(group) == 0) {
//%             rows_of_k("eight[j]", group, "column * " .. width .. " + 2 * c")
        }
//%         end
//%     end
        u32x4 even, odd; /* dimensions 2c and 2c + 1 of the unit, eight keys each */
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            const u32 first = $(first), second = $(second);
            even[j] = __builtin_amdgcn_perm(second, first, 0x05040100);
            odd[j] = __builtin_amdgcn_perm(second, first, 0x07060302);
        }
        const u32 dimension = column * $(width) + 2 * c;
        *fmha_lds8(keys.v_lds, fmha_lds_row(dimension) * $(pitch) + row * 8) = even;
        *fmha_lds8(keys.v_lds, fmha_lds_row(dimension + 1) * $(pitch) + row * 8) = odd;
    }
//%     if tiles.latent and not cache.small then
//%         rows_of_k("keys.v_next[i][j]", pairs, "column * " .. width)
//%     end
//% end
//% v_way.not_finite = function()
#pragma unroll
        for (u32 j = 0; j < 8; ++j) {
//%     if cache.native then
#pragma unroll
            for (u32 c = 0; c < $(words); ++c)
                broken |= fmha_not_finite(keys.v_next[i][j][c]);
//%     elseif cache.small then
#pragma unroll
            for (u32 c = 0; c < $(words); ++c) {
//%         widen("j", "c")
#pragma unroll
                for (u32 p = 0; p < $(group); ++p)
                    broken |= fmha_not_finite(elements[p]);
            }
//%     else
#pragma unroll
            for (u32 c = 0; c < $(pairs); ++c)
                broken |= fmha_not_finite(keys.v_next[i][j][c]);
//%     end
        }
//% end

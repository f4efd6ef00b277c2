//% -- The way of V's tile to LDS by which registers transpose it: eight keys x 2, 4 or 8 dimensions a share, as wide as keeps all threads busy.
//% -- LDS has one row a dimension.
//% local DV, BK = forward.v_columns, spec.block_k
//% local threads, fast, paged = spec.wave * spec.waves, spec.align == 16, spec.paged == "on"
//% local width = 8
//% while width > 2 and (BK // 8) * tiles.power_of_two(DV // width) < threads do width = width // 2 end
//% local pairs = width // 2
//% local split = tiles.split("v", BK // 8, DV // width, width)
//% local column_of, share = split.column("thread"), split.from("v_tile", "keys.v_stride", 8, "j")
//% local pitch = BK + 8
//% v_way = {
//%     count = split.count, registers = 8 * pairs * split.count, lacks = split.lacks, shares = split.shares, helpers = split.emit,
//%     next = "u32 v_next[" .. split.count .. "][8][" .. pairs .. "]; /* unit, key, pair of dimensions */", text = "one row a dimension",
//%     lds_rows = tiles.v_dimensions, lds_eights = BK // 8, pitch = pitch, lds_elements = tiles.v_dimensions * pitch,
//%     offset = "fmha_v_row(keys.thread, 0) * 8 * (u32)(keys.v_stride * 2) + " .. split.first_column .. " * " .. width * 2,
//% }
//% v_way.prefetch = function()
    const u32 row = fmha_v_row(thread, i), column = $(column_of);
//%     if fast and not paged then
    if (!part)
        FMHA_OPAQUE(keys.v_offset);
//%     end
#pragma unroll
    for (u32 j = 0; j < 8; ++j) {
//%     if paged then
        const element *from = fmha_v_in_page(keys, row * 8 + j, column * $(width));
//%     else
        const u32 key = row * 8 + j, present = part && key >= rows ? rows - 1 : key;
//%     end
//%     if fast and not paged then
        const element *from;
        if (part)
            from = fmha_at(v_tile, present * (u32)(keys.v_stride * 2) + column * $(width * 2));
        else
            from = fmha_at($(share), keys.v_offset);
//%     elseif not fast and not paged then
        const element *from = v_tile + (i64)present * keys.v_stride + column * $(width);
//%     end
//%     if fast then
        __builtin_memcpy(keys.v_next[i][j], __builtin_assume_aligned(from, $(width * 2)), $(width * 2));
//%     else
#pragma unroll
        for (u32 c = 0; c < $(pairs); ++c) {
            typedef element element2 __attribute__((ext_vector_type(2)));
            const element2 pair = {from[2 * c], from[2 * c + 1]};
            keys.v_next[i][j][c] = __builtin_bit_cast(u32, pair);
        }
//%     end
    }
//% end
//% v_way.store = function()
    const u32 row = fmha_v_row(thread, i), column = $(column_of);
#pragma unroll
    for (u32 c = 0; c < $(pairs); ++c) {
        u32x4 even, odd; /* dimensions 2c and 2c + 1 of the unit, eight keys each */
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            const u32 first = keys.v_next[i][2 * j][c], second = keys.v_next[i][2 * j + 1][c];
            even[j] = __builtin_amdgcn_perm(second, first, 0x05040100);
            odd[j] = __builtin_amdgcn_perm(second, first, 0x07060302);
        }
        const u32 dimension = column * $(width) + 2 * c;
        *fmha_lds8(keys.v_lds, fmha_lds_row(dimension) * $(pitch) + row * 8) = even;
        *fmha_lds8(keys.v_lds, fmha_lds_row(dimension + 1) * $(pitch) + row * 8) = odd;
    }
//% end
//% v_way.not_finite = function()
#pragma unroll
        for (u32 j = 0; j < 8; ++j) {
#pragma unroll
            for (u32 c = 0; c < $(pairs); ++c)
                broken |= fmha_not_finite(keys.v_next[i][j][c]);
        }
//% end

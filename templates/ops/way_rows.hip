//% -- The way of a tile to LDS through registers, in the rows that it has in memory: K, V given transposed, V that the reads transpose. A share is
//% -- eight neighbouring elements of a row, of mxfp4 those of a scale.
//% --   kind            "k" or "v"
//% --   rows, length    of a tile, and elements of a row
//% --   given.columns   whether the columns are keys and not the rows: V given transposed
//% --   given.placed    whether rows go to the places that fmha_lds_row gives them
//% --   given.pitch     elements from row to row in LDS; given.lds_rows: rows there, if more than rows; given.lds: where they begin
//% --   given.held      elements of a row in LDS that hold something, if not all but the last eight
//% --   given.turned    whether in rows 8 to 15 of each sixteen the halves of each eight elements change places
//% --   given.scales    numbers of mxfp4 go there as they are, and from this element of a row on their scales
//% local fast, paged = spec.align == 16, spec.paged == "on"
//% way_rows = function(kind, rows, length, given)
//%     local run = cache.run
//%     local split = tiles.split(kind, rows, length // run, cache.units(run))
//%     local row_of, column_of = "fmha_" .. kind .. "_row", split.column("thread")
//%     local tile_of, from_tile = "fmha_" .. kind .. "_tile", kind .. "_tile"
//%     local next_of, stride, offset = "keys." .. kind .. "_next[i]", "keys." .. kind .. "_stride", "keys." .. kind .. "_offset"
//%     local lds, KIND, prefetch, store = given.lds or "keys." .. kind .. "_lds", kind:upper(), "fmha_prefetch_" .. kind, "fmha_store_" .. kind
//%     local in_page, scale_at, scale_of = "fmha_" .. kind .. "_in_page", "fmha_" .. kind .. "_scale_at", "fmha_fp4_scale_of(keys." .. kind .. "_scale_next[i])"
//%     local scale_next = "keys." .. kind .. "_scale_next[i]"
//%     local load8 = cache.mx and "fmha_load_block" or cache.fp8 and "fmha_load_eight" or "fmha_load8"
//%     local row_bytes, units, bytes = cache.row_bytes(stride), cache.units(run), cache.bytes(run)
//%     local vector = cache.fp8 and "u32x2 " or "u32x4 "
//%     local columns, pitch, lds_rows = given.columns, given.pitch, given.lds_rows or rows
//%     local way = {
//%         count = split.count, registers = (cache.mx and 5 or cache.fp8 and 2 or 4) * split.count, lacks = split.lacks, shares = split.shares, helpers = split.emit,
//%         next = vector .. kind .. "_next[" .. split.count .. "];" .. (cache.mx and " u32 " .. kind .. "_scale_next[" .. split.count .. "];" or ""), text = columns and "one row a dimension" or "one row a key",
//%         lds_rows = lds_rows, lds_eights = (given.held or length) // 8, pitch = pitch, lds_elements = lds_rows * pitch,
//%         offset = row_of .. "(keys.thread, 0) * " .. row_bytes .. " + " .. split.first_column .. " * " .. bytes,
//%     }
//%     way.prefetch = function()
//%         local share = split.from(from_tile, stride, 1)
    const u32 row = $(row_of)(thread, i), column = $(column_of);
//%         if paged then
    $(next_of) = $(load8)($(in_page)(keys, row, column * $(units)));
//%         elseif columns then
    if (part)
        $(next_of) = fmha_load8_part($(from_tile) + (i64)row * $(stride), column * 8, rows);
    else
//%             if fast then
        $(next_of) = fmha_load8(fmha_at($(share), $(offset)));
//%             else
        $(next_of) = fmha_load8($(from_tile) + (i64)row * $(stride) + column * 8);
//%             end
//%         else
    const u32 present = part && row >= rows ? rows - 1 : row;
//%             if fast then
    if (part) {
        $(next_of) = $(load8)(fmha_at($(from_tile), present * $(row_bytes) + column * $(bytes)));
    } else {
        FMHA_OPAQUE($(offset));
        $(next_of) = $(load8)(fmha_at($(share), $(offset)));
    }
//%             else
    $(next_of) = $(load8)($(from_tile) + (i64)present * $(stride) + column * $(units));
//%             end
//%         end
//%         if cache.mx then
//%             local place = paged and "row" or "tile, present"
    $(scale_next) = *$(scale_at)(keys, $(place), column);
//%         end
//%     end
//%     way.store = function()
//%         local row = given.placed and "fmha_lds_row(" .. row_of .. "(thread, i))" or row_of .. "(thread, i)"
    const u32 row = $(row);
//%         local turn = function(elements) return given.turned and "fmha_turned(" .. elements .. ", row)" or elements end
//%         if given.scales then
    const u32 column = $(column_of);
    *fmha_lds8($(lds), row * $(pitch) + column * 8) = $(next_of);
    ((unsigned char *)($(lds) + row * $(pitch) + $(given.scales)))[column] = (unsigned char)$(scale_next);
//%         elseif cache.mx then
    const fmha_fp4_scale scale = $(scale_of);
#pragma unroll
    for (u32 j = 0; j < 4; ++j)
//%             local elements = turn("fmha_fp4_to_elements(" .. next_of .. "[j], scale)")
        *fmha_lds8($(lds), row * $(pitch) + $(column_of) * 32 + j * 8) = $(elements);
//%         else
//%             local elements = cache.fp8 and not cache.native and "fmha_elements(" .. next_of .. ")" or next_of
//%             elements = turn(elements)
    *fmha_lds8($(lds), row * $(pitch) + $(column_of) * 8) = $(elements);
//%         end
//%     end
//%     if cache.small then
//%         way.not_finite = function()
//%             if cache.mx then
        const fmha_fp4_scale scale = $(scale_of);
#pragma unroll
        for (u32 j = 0; j < 16; ++j)
            broken |= fmha_not_finite(fmha_fp4_to_elements($(next_of)[j / 4], scale)[j % 4]);
//%             elseif cache.native then
#pragma unroll
        for (u32 j = 0; j < 2; ++j)
            broken |= fmha_not_finite($(next_of)[j]);
//%             else
        const u32x4 elements = fmha_elements($(next_of));
#pragma unroll
        for (u32 j = 0; j < 4; ++j)
            broken |= fmha_not_finite(elements[j]);
//%             end
//%         end
//%     end
//%     return way
//% end

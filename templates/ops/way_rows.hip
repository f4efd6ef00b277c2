//% -- The way of a tile to LDS through registers, in the rows that it has in memory: K, V given transposed, V that the reads transpose. A share is
//% -- eight neighbouring elements of a row.
//% --   kind            "k" or "v"
//% --   rows, length    of a tile, and elements of a row
//% --   given.columns   whether the columns are keys and not the rows: V given transposed
//% --   given.placed    whether rows go to the places that fmha_lds_row gives them
//% --   given.pitch     elements from row to row in LDS; given.lds_rows: rows there, if more than rows
//% local fast, paged = spec.align == 16, spec.paged == "on"
//% way_rows = function(kind, rows, length, given)
//%     local split = tiles.split(kind, rows, length // 8, 8)
//%     local row_of, column_of = "fmha_" .. kind .. "_row", split.column("thread")
//%     local tile_of, from_tile = "fmha_" .. kind .. "_tile", kind .. "_tile"
//%     local next_of, stride, offset = "keys." .. kind .. "_next[i]", "keys." .. kind .. "_stride", "keys." .. kind .. "_offset"
//%     local lds, KIND, prefetch, store = "keys." .. kind .. "_lds", kind:upper(), "fmha_prefetch_" .. kind, "fmha_store_" .. kind
//%     local in_page = "fmha_" .. kind .. "_in_page"
//%     local columns, pitch, lds_rows = given.columns, given.pitch, given.lds_rows or rows
//%     local way = {
//%         count = split.count, registers = 4 * split.count, lacks = split.lacks, shares = split.shares, helpers = split.emit,
//%         next = "u32x4 " .. kind .. "_next[" .. split.count .. "];", text = columns and "one row a dimension" or "one row a key",
//%         lds_rows = lds_rows, lds_eights = (pitch - 8) // 8, pitch = pitch, lds_elements = lds_rows * pitch,
//%         offset = row_of .. "(keys.thread, 0) * (u32)(" .. stride .. " * 2) + " .. split.first_column .. " * 16",
//%     }
//%     way.prefetch = function()
//%         local share = split.from(from_tile, stride, 1)
    const u32 row = $(row_of)(thread, i), column = $(column_of);
//%         if paged then
    $(next_of) = fmha_load8($(in_page)(keys, row, column * 8));
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
        $(next_of) = fmha_load8(fmha_at($(from_tile), present * (u32)($(stride) * 2) + column * 16));
    } else {
        FMHA_OPAQUE($(offset));
        $(next_of) = fmha_load8(fmha_at($(share), $(offset)));
    }
//%             else
    $(next_of) = fmha_load8($(from_tile) + (i64)present * $(stride) + column * 8);
//%             end
//%         end
//%     end
//%     way.store = function()
//%         local row = given.placed and "fmha_lds_row(" .. row_of .. "(thread, i))" or row_of .. "(thread, i)"
    const u32 row = $(row);
    *fmha_lds8($(lds), row * $(pitch) + $(column_of) * 8) = $(next_of);
//%     end
//%     return way
//% end

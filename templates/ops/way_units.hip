//% -- The way of V's tile to LDS by loads from memory that transpose: of a wave each brings a unit of 16 keys x 16 dimensions. LDS has one row a
//% -- dimension.
//% local DV, BK = forward.v_columns, spec.block_k
//% local key_units, units = BK // 16, BK // 16 * ((DV + 15) // 16)
//% local count, pitch = (units + spec.waves - 1) // spec.waves, BK + 8
//% if spec.align ~= 16 then fail("--v-path transpose: loads that transpose need --align 16: use --v-path lds or gather") end
//% v_way = {
//%     count = count, registers = 4 * count, next = "u32x4 v_next[" .. count .. "];", text = "one row a dimension",
//%     lacks = units % spec.waves ~= 0 and "fmha_v_unit(thread, i) >= " .. units or nil,
//%     lds_rows = tiles.v_dimensions, lds_eights = BK // 8, pitch = pitch, lds_elements = tiles.v_dimensions * pitch,
//%     offset = "fmha_v_key(keys.thread, 0) * (u32)(keys.v_stride * 2) + fmha_v_dimension(keys.thread, 0) * 2",
//% }
//% v_way.helpers = function()
/* The unit of 16 keys x 16 dimensions that is the thread's i-th share: units go through the keys first. */
FMHA_INLINE u32 fmha_v_unit(u32 thread, u32 i)
{
    return thread / $(spec.wave) + i * $(spec.waves);
}

/* What the thread reads of it: eight dimensions of a key. It gets eight keys of a dimension. */
FMHA_INLINE u32 fmha_v_key(u32 thread, u32 i)
{
    return fmha_v_unit(thread, i) % $(key_units) * 16 + thread / 16 % 2 * 8 + thread % 8;
}

FMHA_INLINE u32 fmha_v_dimension(u32 thread, u32 i)
{
    const u32 dimension = fmha_v_unit(thread, i) / $(key_units) * 16 + thread / 8 % 2 * 8;
//%     if DV % 16 ~= 0 then
    return dimension < $(DV) ? dimension : $(DV - 8); /* what lies past the end is not stored */
//%     else
    return dimension;
//%     end
}

//% end
//% v_way.prefetch = function()
//%     if spec.paged == "on" then
    keys.v_next[i] = fmha_load_transposed(fmha_v_in_page(keys, fmha_v_key(thread, i), fmha_v_dimension(thread, i)));
//%         return
//%     end
    const u32 key = fmha_v_key(thread, i), present = part && key >= rows ? rows - 1 : key;
//%     if spec.waves % key_units == 0 and DV % 16 == 0 then
    if (part) {
        keys.v_next[i] = fmha_load_transposed(fmha_at(v_tile, present * (u32)(keys.v_stride * 2) + fmha_v_dimension(thread, i) * 2));
    } else {
        FMHA_OPAQUE(keys.v_offset);
        keys.v_next[i] = fmha_load_transposed(fmha_at(v_tile + i * $(spec.waves // key_units * 16), keys.v_offset));
    }
//%     else
    keys.v_next[i] = fmha_load_transposed(fmha_at(v_tile, present * (u32)(keys.v_stride * 2) + fmha_v_dimension(thread, i) * 2));
//%     end
//% end
//% v_way.store = function()
    const u32 unit = fmha_v_unit(thread, i);
    const u32 dimension = unit / $(key_units) * 16 + thread % 16, key = unit % $(key_units) * 16 + thread / 16 % 2 * 8;
    *fmha_lds8(keys.v_lds, fmha_lds_row(dimension) * $(pitch) + key) = keys.v_next[i];
//% end

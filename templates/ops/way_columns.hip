//% -- The way of V's tile to LDS in rows of keys, of which the reads of LDS make columns.
//% local N, M, L, operand = atom.n, atom.tile, atom.share, atom.operand
//% -- Thirty-two lanes read four rows of keys at once, 64 bytes of each: rows begin in other quarters of the sixty-four banks.
//% local pitch = tiles.v_dimensions
//% while pitch % 64 ~= 32 do pitch = pitch + 8 end
//% -- Of columns in two blocks the lanes read every other four dimensions, and eight rows at once: of rows 8 to 15 of each sixteen neighbouring fours
//% -- change places, so that they stand where the reads of the others leave banks out.
//% local turned = spec.orientation == "kq" and atom.blocks == 2
//% v_way = way_rows("v", spec.block_k, forward.v_columns, { pitch = pitch, held = tiles.v_dimensions, turned = turned })
//% if turned then
//%     local others = v_way.helpers
//%     v_way.helpers = function()
//%         others()
/* Eight elements of a row of keys as they stand in LDS. */
FMHA_INLINE u32x4 fmha_turned(u32x4 elements, u32 row)
{
    return row & 8 ? (u32x4){elements[2], elements[3], elements[0], elements[1]} : elements;
}

//%     end
//% end
//% -- first: the first key of the lane's share; in_block: what is added to a row in block h.
//% v_way.operand = function(first, in_block)
//%     local row = (N == 32 and "keys.lane % 32 / 16 * 16 + " or "") .. "keys.lane % 4 * 4" .. in_block
//%     if spec.orientation == "kq" then row = "fmha_natural(" .. row .. ")" end
//%     if turned then row = "(" .. row .. " ^ keys.lane / 16 % 2 * 4)" end
//%     if forward.sharing > 1 then row = "keys.v_first + " .. row end
    /* In each sixteen lanes four rows of keys are read by four lanes each, four dimensions a lane, and each lane gets four keys of one
     * dimension: which dimensions a lane reads follows from those that the lanes get. */
    const u32 key = j * $(M) + $(first) + keys.lane % 16 / 4, dimension = t * $(M) + $(row);
    const u32 at = key * $(v_way.pitch) + dimension;
    $(operand) all;
#pragma unroll
    for (u32 q = 0; q < $(L // 4); ++q) {
        const u32x2 four = fmha_lds_transposed(keys.v_lds + at + q * $(4 * v_way.pitch));
        all[2 * q] = four[0];
        all[2 * q + 1] = four[1];
    }
    return all;
//% end

//% -- The way of V's tile to LDS in rows of keys, of which the reads of LDS make columns.
//% local N, M, L, operand = atom.n, atom.tile, atom.share, atom.operand
//% v_way = way_rows("v", spec.block_k, forward.v_columns, { pitch = tiles.v_dimensions + 8 })
//% -- first: the first key of the lane's share; in_block: what is added to a row in block h.
//% v_way.operand = function(first, in_block)
//%     local row = (N == 32 and "keys.lane % 32 / 16 * 16 + " or "") .. "keys.lane % 4 * 4" .. in_block
//%     if spec.orientation == "kq" then row = "fmha_natural(" .. row .. ")" end
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

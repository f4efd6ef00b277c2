//% -- Q K^T of mxfp4 as it is (--kv-math native, gfx950): both operands go to the scaled matrix instruction with their scales. A lane has, of a step, a
//% -- block of 32 numbers of its row, and the scale of that block: of step t the lane group g block t * groups + g.
//% local D, BK, M, N, blocks = spec.head_dim, spec.block_k, atom.tile, atom.n, spec.head_dim // 32
//% local groups, row_blocks = 64 // N, atom.blocks
//% local k_lds, fast, paged = spec.k_path == "lds", spec.align == 16, spec.paged == "on"
//% local first = (forward.sharing > 1 and "keys.k_first / 32 + " or "") .. "t * " .. groups .. " + keys.lane / " .. N
//% local whole = forward.sharing * forward.k_steps * groups == blocks
//% local in_block, block_lane = row_blocks > 1 and " + h * 16" or "", row_blocks > 1 and "keys.lane, h" or "keys.lane"
//% local own_row = atom.row("keys.lane") .. in_block
struct fmha_k_blocks {
    u32x4 numbers[$(row_blocks)];
    u32 scale[$(row_blocks)];
};

struct fmha_q_block {
    u32x4 numbers;
    u32 scale;
};

/* a[$(M) x $(groups * 32)] * b[$(groups * 32) x $(N)] + c[$(M) x $(N)] */
FMHA_INLINE accumulator fmha_mma(const struct fmha_k_blocks &a, const struct fmha_q_block &b, accumulator c)
{
//% if row_blocks == 1 then
    return fmha_mma_scaled(a.numbers[0], a.scale[0], b.numbers, b.scale, c);
//% else
    const fmha_sum low = fmha_mma_scaled(a.numbers[0], a.scale[0], b.numbers, b.scale, __builtin_shufflevector(c, c, 0, 1, 2, 3));
    const fmha_sum high = fmha_mma_scaled(a.numbers[1], a.scale[1], b.numbers, b.scale, __builtin_shufflevector(c, c, 4, 5, 6, 7));
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
//% end
}

//% local text = ("Keys %dj ... %dj + %d of a tile, of step t."):format(M, M, M - 1)
/* $(text) part: some keys of the tile may not exist. */
FMHA_INLINE struct fmha_k_blocks fmha_k_operand(const struct fmha_keys &keys, int tile, bool part, u32 j, u32 t)
{
    struct fmha_k_blocks all;
//% if whole then
    const u32 block = $(first);
//% else
    /* Behind the last block that one stands in: it meets zeros of Q with the scale 1, and where its own scale is NaN its numbers are met elsewhere. */
    const u32 wanted = $(first), block = wanted < $(blocks) ? wanted : $(blocks - 1);
//% end
//% if k_lds or paged then
    (void)tile, (void)part;
//% else
    const unsigned char *k_tile = fmha_k_tile(keys, tile);
    const u32 rows = (u32)(keys.seqlen_k - tile * $(BK));
//% end
#pragma unroll
    for (u32 h = 0; h < $(row_blocks); ++h) {
//% if k_lds then
        const element *row = keys.k_lds + (j * $(M) + $(own_row)) * $(k_way.pitch);
        all.numbers[h] = *(const u32x4 *)(row + block * 8);
        all.scale[h] = ((const unsigned char *)(row + $(blocks * 8)))[block];
//% else
        const u32 key = j * $(M) + fmha_lane_row($(block_lane));
//%     if paged then
        all.numbers[h] = fmha_load_block(fmha_k_in_page(keys, key, block * 16));
        all.scale[h] = *fmha_k_scale_at(keys, key, block);
//%     else
        const u32 present = part && key >= rows ? rows - 1 : key;
//%         local row = fast and "fmha_at(k_tile, present * (u32)keys.k_stride)" or "k_tile + (i64)present * keys.k_stride"
        all.numbers[h] = fmha_load_block($(row) + block * 16);
        all.scale[h] = *fmha_k_scale_at(keys, tile, present, block);
//%     end
//% end
    }
    return all;
}


//% -- Block-sparse attention: a bit says whether block_mask_q queries see block_mask_k keys. Blocks are whole numbers of the workgroup's tiles, so that
//% -- a tile is visited as a whole or not at all.
//% local block_q = spec.block_m // spec.gqa
//% modifier {
//%     name = "block_mask", tile = "fmha_block_is_seen(score, tile)",
//%     refuse = spec.gqa > 1 and "--block-mask with --gqa " .. spec.gqa .. ": the heads of a workgroup would have masks of their own: use --gqa 1" or nil,
//%     arguments = function()
//%         argument {
//%             name = "block_mask", kind = "buffer", type = "u32", access = "read",
//%             shape = "batch heads_q ceil_div(seqlen_q,block_mask_q) ceil_div(ceil_div(seqlen_k,block_mask_k),32)",
//%             strides = "stride_block_mask_batch stride_block_mask_head stride_block_mask_row 1",
//%         }
//%         for _, axis in ipairs { "batch", "head", "row" } do argument { name = "stride_block_mask_" .. axis, kind = "value", type = "i64" } end
//%         argument { name = "block_mask_q", kind = "value", type = "i32" }
//%         argument { name = "block_mask_k", kind = "value", type = "i32" }
//%         constraint("block_mask_q", "min", 1)
//%         constraint("block_mask_k", "min", 1)
//%         constraint("block_mask_q % " .. block_q, "equals", 0)
//%         constraint("block_mask_k % " .. spec.block_k, "equals", 0)
//%     end,
//%     members = function()
    const u32 *block_mask; /* of the workgroup's queries */
    u32 block_tiles;       /* tiles of a block */
//%     end,
//%     after = function()
/* Whether the workgroup's queries see the tile's keys. */
FMHA_INLINE bool fmha_block_is_seen(const struct fmha_score &score, int tile)
{
    const u32 block = (u32)tile / score.block_tiles;
    return (score.block_mask[block / 32] >> block % 32 & 1) != 0;
}

//%     end,
//%     begin = function()
    score.block_tiles = (u32)arguments.block_mask_k / $(spec.block_k);
    score.block_mask = arguments.block_mask + batch * arguments.stride_block_mask_batch +
                       head * arguments.stride_block_mask_head +
                       (i64)((u32)first_query / (u32)arguments.block_mask_q) * arguments.stride_block_mask_row;
//%     end,
//% }

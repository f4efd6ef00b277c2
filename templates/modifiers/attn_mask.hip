//% -- A tensor of bytes: 0 hides the key from the query.
//% modifier {
//%     name = "attn_mask", hides = true, ends = true,
//%     arguments = function()
//%         argument {
//%             name = "mask", kind = "buffer", type = "u8", access = "read", shape = "batch heads_q seqlen_q seqlen_k",
//%             strides = "stride_mask_batch stride_mask_head stride_mask_row 1",
//%         }
//%         for _, axis in ipairs { "batch", "head", "row" } do argument { name = "stride_mask_" .. axis, kind = "value", type = "i64" } end
//%     end,
//%     members = function()
    const unsigned char *mask[$(forward.slots)]; /* of a tile of rows */
    i64 mask_stride;
//%     end,
//%     begin = function()
    score.mask_stride = arguments.stride_mask_row;
//%     end,
//%     row_begin = function()
    score.mask[r] = arguments.mask + batch * arguments.stride_mask_batch + head * arguments.stride_mask_head;
//%     end,
//%     transform = function()
    if (score.mask[r][fmha_min(query, score.last_query) * score.mask_stride + (u32)fmha_min(key, score.last_key)] == 0)
        s = -fmha_infinity();
//%     end,
//% }

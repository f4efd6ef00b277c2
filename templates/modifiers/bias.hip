//% -- A tensor that is added to the scores. -infinity hides the key, as does what float32 no longer holds once it is multiplied by log2 e.
//% local from = spec.bias == "f32" and "*at" or "fmha_from_element(*at)"
//% local ctype = spec.bias == "f32" and "const float" or "const element"
//% modifier {
//%     name = "bias", hides = true, ends = true,
//%     arguments = function()
//%         argument {
//%             name = "bias", kind = "buffer", type = spec.bias == "f32" and "f32" or spec.dtype, access = "read",
//%             shape = "batch heads_q seqlen_q seqlen_k", strides = "stride_bias_batch stride_bias_head stride_bias_row 1",
//%         }
//%         for _, axis in ipairs { "batch", "head", "row" } do argument { name = "stride_bias_" .. axis, kind = "value", type = "i64" } end
//%     end,
//%     members = function()
    $(ctype) *bias[$(forward.slots)]; /* of a tile of rows */
    i64 bias_stride;
//%     end,
//%     begin = function()
    score.bias_stride = arguments.stride_bias_row;
//%     end,
//%     row_begin = function()
    score.bias[r] = arguments.bias + batch * arguments.stride_bias_batch + head * arguments.stride_bias_head;
//%     end,
//%     transform = function()
    {
        $(ctype) *row = score.bias[r] + fmha_min(query, score.last_query) * score.bias_stride, *at = row + (u32)fmha_min(key, score.last_key);
        const float added = $(from);
        /* The first number whose product with log2 e float32 no longer holds. */
        s = added <= -0x1.62e43p+127f ? -fmha_infinity() : __builtin_fmaf(added, 1.4426950408889634f, s);
    }
//%     end,
//% }

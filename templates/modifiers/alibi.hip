//% -- ALiBi: a score falls by the head's slope for each key that lies between it and the diagonal.
//% modifier {
//%     name = "alibi", diagonal = true,
//%     arguments = function()
//%         argument {
//%             name = "alibi_slopes", kind = "buffer", type = "f32", access = "read", shape = "batch heads_q", strides = "stride_alibi_batch 1",
//%         }
//%         argument { name = "stride_alibi_batch", kind = "value", type = "i64" }
//%     end,
//%     members = function()
    float slope[$(forward.slots)]; /* of a tile of rows, times log2 e */
//%     end,
//%     row_begin = function()
    score.slope[r] = arguments.alibi_slopes[batch * arguments.stride_alibi_batch + head] * 1.4426950408889634f;
//%     end,
//%     transform = function()
    s = __builtin_fmaf(-score.slope[r], __builtin_fabsf((float)(query + score.diagonal - key)), s);
//%     end,
//% }

//% -- A factor of the softmax scale for each query head.
//% modifier {
//%     name = "head_scale",
//%     arguments = function()
//%         argument { name = "head_scale", kind = "buffer", type = "f32", access = "read", shape = "heads_q", strides = "1" }
//%     end,
//%     members = function()
    float scale[$(forward.slots)]; /* of a tile of rows, times log2 e */
//%     end,
//%     row_begin = function()
    score.scale[r] = arguments.scale * arguments.head_scale[head] * 1.4426950408889634f;
//%     end,
//% }

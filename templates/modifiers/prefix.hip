//% -- Prefix-LM: every query of a sequence sees the keys of its prefix, however far to the right of the diagonal they are.
//% modifier {
//%     name = "prefix",
//%     arguments = function()
//%         argument { name = "prefix_lengths", kind = "buffer", type = "i32", access = "read", shape = "batch", strides = "1" }
//%     end,
//%     members = function()
    int prefix;
//%     end,
//%     begin = function()
    score.prefix = fmha_min(arguments.prefix_lengths[batch], seqlen_k);
//%     end,
//%     span = function()
    high = fmha_max(high, score.prefix);
//%     end,
//% }

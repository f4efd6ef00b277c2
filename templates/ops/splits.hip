//% -- Arguments of an operation whose keys are split: the number of parts, and where each leaves its O and its LSE.
//% local packed = spec.varlen == "packed"
//% argument { name = "batch", kind = "value", type = "i32" }
//% argument { name = "splits", kind = "value", type = "i32" }
//% local rows = packed and "heads_q tokens_q" or "batch heads_q seqlen_q"
//% local strides = packed and { "heads_q*tokens_q", "tokens_q" } or { "batch*heads_q*seqlen_q", "heads_q*seqlen_q", "seqlen_q" }
//% argument {
//%     name = "o_partial", kind = "buffer", type = "f32", access = "write", optional = true, align = 16, shape = "splits " .. rows .. " head_dim_v",
//%     strides = table.concat(strides, "*head_dim_v ") .. "*head_dim_v head_dim_v 1",
//% }
//% argument {
//%     name = "lse_partial", kind = "buffer", type = "f32", access = "write", optional = true, shape = "splits " .. rows,
//%     strides = table.concat(strides, " ") .. " 1",
//% }
//% constraint("splits", "min", 1)
//% constraint("splits", "max", 1 << 16)

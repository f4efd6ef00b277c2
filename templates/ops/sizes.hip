//% -- Arguments of attention beside its tensors, its modifiers and what is split: LSE, sizes, the softmax scale, where sequences begin and how long they
//% -- are, and where pages are.
//% local packed, padded, paged = spec.varlen == "packed", spec.varlen == "padded", spec.paged == "on"
//% local packed_keys, padded_keys = packed and not paged, padded or paged
//% local decode, latent = spec.op ~= "forward", spec.op == "mla"
//%
//% argument {
//%     name = "lse", kind = "buffer", type = "f32", access = "write", optional = true,
//%     shape = packed and "heads_q tokens_q" or "batch heads_q seqlen_q", strides = packed and "tokens_q 1" or "heads_q*seqlen_q seqlen_q 1",
//% }
//% if packed then argument { name = "tokens_q", kind = "value", type = "i64" } end
//% for _, name in ipairs { "heads_q", "heads_k", "seqlen_q", "seqlen_k" } do
//%     if not (packed and name == "seqlen_q" and not decode and not forward.on_dies or (packed or padded_keys) and name == "seqlen_k" or latent and name == "heads_k") then argument { name = name, kind = "value", type = "i32" } end
//% end
//% argument { name = "scale", kind = "value", type = "f32" }
//% for _, axis in ipairs { "q", "k" } do
//%     local name
//%     if axis == "q" and packed or axis == "k" and packed_keys then name = "cu_seqlens_" .. axis end
//%     if axis == "q" and padded or axis == "k" and padded_keys then name = "seqlens_" .. axis end
//%     if name then
//%         argument { name = name, kind = "buffer", type = "i32", access = "read", shape = name:match("^cu") and "batch+1" or "batch", strides = "1" }
//%     end
//% end
//% if paged then
//%     argument {
//%         name = "block_table", kind = "buffer", type = "i32", access = "read", shape = "batch ceil_div(seqlen_k,page_size)",
//%         strides = "stride_block_table 1",
//%     }
//%     argument { name = "stride_block_table", kind = "value", type = "i64" }
//%     argument { name = "page_size", kind = "value", type = "i32" }
//%     constraint("page_size", "min", 1)
//%     constraint("page_size", "max", 256)
//%     constraint("256 % page_size", "equals", 0) -- a power of two
//% end
//%
//% -- Emits the members of the struct of all arguments.
//% argument_members = function()
//%     local c_types = { f16 = "element", bf16 = "element", f32 = "float", i32 = "int", i64 = "i64", u32 = "u32", u8 = "unsigned char" }
//%     for _, a in ipairs(arguments) do
//%         local declaration = (a.access == "read" and "const " or "") .. c_types[a.type] .. (a.kind == "buffer" and " *" or " ") .. a.name
    $(declaration);
//%     end
//% end

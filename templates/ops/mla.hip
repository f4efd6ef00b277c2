//% -- Decoding of multi-head latent attention: a key has one row for all heads, `kv`, and V is the first head_dim_v elements of it. It is decoding
//% -- (ops/decode.hip) with one key head.
//% if spec.head_dim_v > spec.head_dim then
//%     fail("--hd-v " .. spec.head_dim_v .. ": of --op mla V is a part of K's row: expected at most --hd " .. spec.head_dim)
//% end
//% if spec.scale_rule ~= "floor" then
//%     fail("--scale-rule " .. spec.scale_rule .. ": expected something that becomes mxfp4; leave it out")
//% end
//% include("ops/decode.hip")

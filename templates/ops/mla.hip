//% -- Decoding of multi-head latent attention: a key has one row for all heads, `kv`, and V is the first head_dim_v elements of it. It is decoding
//% -- (ops/decode.hip) with one key head.
//% if spec.head_dim_v > spec.head_dim then
//%     fail("--hd-v " .. spec.head_dim_v .. ": of --op mla V is a part of K's row: expected at most --hd " .. spec.head_dim)
//% end
//% local scaled = spec.kv_math == "native" and spec.kv_dtype == "mxfp4"
//% if scaled then
//%     include("ops/mla_scaled.hip")
//% else
//%     include("ops/decode.hip")
//% end

//% -- Decoding: few queries of a sequence against a long cache. It is forward attention (ops/forward.hip) but for three things:
//% --   rows      the queries of all heads that share a key head are the rows of one tile, so that K and V are read once for them
//% --   splits    the tiles of keys that those rows see are shared out to several workgroups
//% --   partials  with more splits than one, each leaves its own O, divided by its own l, and its own LSE, as f32, for --op merge
//% if spec.orientation ~= "kq" then fail("--op decode is built for --orientation kq") end
//% if spec.gqa > 1 then fail("--op decode takes all query heads of a key head: leave out --gqa") end
//% if spec.block_mask == "on" then fail("--block-mask is built for --op forward") end
//% if spec.dropout == "on" then fail("--dropout is built for --op forward") end
//% include("ops/forward.hip")

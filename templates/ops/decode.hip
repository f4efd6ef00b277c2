//% -- Decoding: few queries of a sequence against a long cache. It is forward attention (ops/forward.hip) but for three things:
//% --   rows      the queries of all heads that share a key head are the rows of one tile, so that K and V are read once for them
//% --   splits    the tiles of keys that those rows see are shared out to several workgroups
//% --   partials  with more splits than one, each leaves its own O, divided by its own l, and its own LSE, as f32, for --op merge
//% local orientation = arch.only and arch.only.orientation[1] or "kq"
//% if spec.orientation ~= orientation then fail("--op decode is built for --orientation " .. orientation) end
//% if spec.gqa > 1 then fail("--op decode takes all query heads of a key head: leave out --gqa") end
//% if tonumber(spec.rows or 0) > spec.block_m then
//%     fail("--rows " .. spec.rows .. " with --block-m " .. spec.block_m .. ": expected a workgroup with room for as many: --block-m " .. spec.rows ..
//%          " where head dimension " .. spec.head_dim .. " leaves room for it, or --rows 16")
//% end
//% if spec.block_mask == "on" then fail("--block-mask is built for --op forward") end
//% if spec.dropout == "on" then fail("--dropout is built for --op forward") end
//%
//% local rows_of_split = spec.varlen == "packed" and "arguments.heads_q * arguments.tokens_q" or "(i64)arguments.batch * arguments.heads_q * arguments.seqlen_q"
//% local slices, packed, latent = spec.v_slices, spec.varlen == "packed", spec.op == "mla"
//% decoding = {
//%     rows_of_split = rows_of_split, -- of O and LSE of a part of the keys
//%     arguments = function() include("ops/splits.hip") end,
//%     -- Which rows and which split the workgroup has.
//%     begin = function()
//%         local group = latent and "arguments.heads_q" or "arguments.heads_q / arguments.heads_k"
    const int group = $(group), first_query = 0;
    const int blocks = (group * arguments.seqlen_q + $(spec.block_m - 1)) / $(spec.block_m); /* of rows of a key head */
    const int split = (int)__builtin_amdgcn_workgroup_id_x();
//%         if slices > 1 then
    const int block = (int)__builtin_amdgcn_workgroup_id_y() / $(slices), v_slice = (int)__builtin_amdgcn_workgroup_id_y() % $(slices);
//%         else
    const int block = (int)__builtin_amdgcn_workgroup_id_y();
//%         end
    const int head = block / blocks * group, first_of_block = block % blocks * $(spec.block_m);
//%     end,
//%     -- The split's tiles of keys, of those from first_seen to end_seen, which are expressions.
//%     share = function(first_seen, end_seen)
    /* Of the window's tiles each split has as many, but for the last ones; the sinks' are the first one's. */
    const int end = $(end_seen), first_of_all = $(first_seen);
    const int each = (fmha_max(end - first_of_all, 0) + arguments.splits - 1) / arguments.splits;
    const int first = fmha_min(first_of_all + split * each, end), tiles = split == 0 && each == 0 ? end : fmha_min(first + each, end);
//%     end,
//%     -- As fmha_store_row, whose parameters and condition for a dimension are given.
//%     store_row = function(parameters, own)
/* The same of a part of the keys, as float32. */
//%         local partial_parameters = parameters:gsub("^element", "float")
FMHA_INLINE void fmha_store_partial($(partial_parameters))
{
#pragma clang fp contract(off)
    typedef float float4 __attribute__((ext_vector_type(4)));
#pragma unroll
    for (int t = 0; t < $(forward.v_steps); ++t) {
#pragma unroll
        for (int e = 0; e < $(atom.sums); e += 4) {
            const u32 dimension = (u32)t * $(atom.tile) + fmha_group_first(group) + (u32)e;
            if ($(own))
                *(float4 *)(to + dimension) = (float4){o[t][e] * inverse, o[t][e + 1] * inverse, o[t][e + 2] * inverse, o[t][e + 3] * inverse};
            FMHA_SCHEDULE_FENCE();
        }
    }
}

//%     end,
//%     -- A row's part in place of O and LSE; m and l, and what follows `to` in the call above, are expressions.
//%     store = function(m, l, row)
//%         local tells = "lane / " .. atom.n .. " == 0" .. forward.tells
//%         local to = "arguments.o_partial + row * " .. spec.head_dim_v .. (forward.tells ~= "" and " + rows.v_first" or "")
//%         local partial = row:gsub("^o, ", "")
        if (arguments.splits > 1) {
            const i64 row = (i64)(int)__builtin_amdgcn_workgroup_id_x() * ($(rows_of_split)) + $(forward.lse_row) + query;
            if ($(tells))
                arguments.lse_partial[row] = 0.69314718055994531f * ($(m) + __builtin_amdgcn_logf($(l)));
            fmha_store_partial($(to), $(partial));
            continue;
        }
//%     end,
//% }
//% include("ops/forward.hip")

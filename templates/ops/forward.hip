//% -- Forward attention: O = softmax(scale Q K^T + mask) V and LSE = log sum exp, in one pass over the keys.
//% --   ops/tiles.hip         how K and V reach the matrix unit
//% --   ops/pages.hip         where their rows stand in pages
//% --   ops/cache.hip         how they are stored, where that is smaller than Q
//% --   ops/forward_kq.hip    S^T = K Q^T: a lane owns a query        ops/forward_qk.hip    S = Q K^T
//% -- Both orientations define struct fmha_rows and the functions on it that the kernel below calls.
//%
//% local D, BK = spec.head_dim, spec.block_k
//% local threads = spec.wave * spec.waves
//% local causal = spec.mask ~= "none"
//% local fast = spec.align == 16
//% local decode = spec.op ~= "forward" and decoding -- what ops/decode.hip puts in its places
//% local latent = spec.op == "mla" -- V is a part of K's rows, which all heads share
//% -- Each sequence of a batch has a length of its own: of queries, of keys; and rows of its own in a packed batch's tensors.
//% local packed, padded, paged = spec.varlen == "packed", spec.varlen == "padded", spec.paged == "on"
//% local packed_keys, padded_keys = packed and not paged, padded or paged
//%
//% -- A chip's table may say which words its kernels are built for, of facts and knobs that have others.
//% local function expect_words(of)
//%     for name, words in pairs(of or {}) do
//%         local option, known = "--" .. name:gsub("_", "-"), false
//%         for _, word in ipairs(words) do known = known or spec[name] == word end
//%         if not known then fail(option .. " " .. spec[name] .. " on " .. arch.name .. ": expected " .. table.concat(words, " or ") .. ", which its kernels are built for") end
//%     end
//% end
//% expect_words(arch.only)
//% if spec.op == "forward" then expect_words(arch.only_forward) end -- of what decoding does not have
//% local order = spec.op == "forward" and spec.causal_order or "chip"
//% local paired = order == "paired" -- a workgroup has two blocks of rows, the i-th of a sequence and the i-th from its end
//% if order ~= "chip" then
//%     if not causal then fail("--causal-order " .. order .. " without --causal: blocks have equally many keys; leave out --causal-order") end
//%     if spec.window ~= "none" then fail("--causal-order " .. order .. " with --window: blocks have about as many keys each; leave out --causal-order") end
//% end
//% -- Dies that workgroups go to in turns: each is to have neighbouring ones.
//% local dies = spec.op == "forward" and (spec.xcds > 0 and spec.xcds or arch.xcds) or 1
//% include("ops/cache.hip")
//% if spec.matrix == "16x16x32" and spec.orientation == "qk" then
//%     fail("--matrix 16x16x32 is built for --orientation kq")
//% end
//% if spec.v_layout == "transposed" then
//%     if paged then fail("--paged with --v-layout transposed: a page holds rows of keys, of V too; leave out --v-layout transposed") end
//%     if packed and fast then
//%         fail("--varlen packed with --v-layout transposed: a sequence's keys begin anywhere in a row of V, not at 16 bytes; add --align 2")
//%     end
//% end
//% local N = spec.matrix == "64x16" and 16 or tonumber(spec.matrix:match("^%d+")) -- query rows of a wave's tile
//% local key_rows = tonumber(spec.matrix:match("%d+$")) -- keys of a product
//% local row_tiles = spec.block_m // N
//% -- With --v-waves so many waves share rows. Each has a part of the columns of V and O, and sums over a part of the head dimension in Q K^T;
//% -- what they have of the scores they add in LDS.
//% local sharing = spec.v_waves
//% if spec.waves % sharing ~= 0 then
//%     fail("--v-waves " .. sharing .. " with --waves " .. spec.waves .. ": expected waves that share rows in groups of as many: --waves a multiple of " .. sharing)
//% end
//% local row_waves = spec.waves // sharing -- waves, or groups of them, with rows of their own
//% if spec.block_m % (N * row_waves) ~= 0 then
//%     local each = sharing > 1 and "--waves " .. spec.waves .. " and --v-waves " .. sharing or "--waves " .. spec.waves
//%     fail("--block-m " .. spec.block_m .. " with " .. each .. ": expected the same number of " .. N .. "-row tiles for each wave: a multiple of "
//%          .. N * row_waves)
//% end
//% if row_tiles % spec.gqa ~= 0 then
//%     fail("--gqa " .. spec.gqa .. " with --block-m " .. spec.block_m .. ": expected a multiple of " .. N .. " rows for each head: --block-m a multiple of "
//%          .. N * spec.gqa)
//% end
//% if BK % key_rows ~= 0 then
//%     fail("--block-k " .. BK .. " with --matrix " .. spec.matrix .. ": expected a multiple of " .. key_rows)
//% end
//% if threads > 1024 then
//%     fail("--waves " .. spec.waves .. " with --wave " .. spec.wave .. ": expected at most 1024 work items in a workgroup, got " .. threads)
//% end
//% if spec.pipeline == 2 and (spec.orientation ~= "qk" or spec.k_path ~= "direct") then
//%     fail("--pipeline 2 is built for --orientation qk with --k-path direct")
//% end
//%
//% -- With --v-slices a workgroup computes all of Q K^T and `DV` columns of O: whole tiles, so that the last slice has columns of the one before.
//% local slices, DV = spec.v_slices, spec.head_dim_v
//% if slices > 1 then
//%     local columns = cache.mx and 32 or key_rows
//%     DV = (DV + slices * columns - 1) // (slices * columns) * columns
//%     local needed = (spec.head_dim_v + DV - 1) // DV
//%     if needed < slices then
//%         fail("--v-slices " .. slices .. " with head dimension " .. spec.head_dim_v .. " of V and --matrix " .. spec.matrix .. ": expected slices of whole tiles of "
//%              .. columns .. " columns that differ: use --v-slices " .. needed)
//%     end
//% end
//%
//% local v_lds = spec.v_path == "lds" or spec.v_path == "transpose"
//% if sharing > 1 then
//%     local with = "--v-waves " .. sharing
//%     if spec.orientation ~= "kq" then fail(with .. " is built for --orientation kq") end
//%     if not v_lds then fail(with .. " with --v-path " .. spec.v_path .. ": waves share a tile of V in LDS: use --v-path lds or transpose") end
//%     if spec.k_path == "async" then fail(with .. " with --k-path async: use --k-path lds or direct") end
//%     if slices > 1 then fail(with .. " with --v-slices " .. slices .. ": waves share the columns of V, or workgroups do: leave one of them out") end
//% end
//% -- Places of the contraction index of Q K^T in a step: of mxfp4 as it is each lane group has a block of 32.
//% local k_places = cache.scaled and 32 * (64 // N) or key_rows
//% local k_steps = ((D + k_places - 1) // k_places + sharing - 1) // sharing
//% local v_steps = ((DV + key_rows - 1) // key_rows + sharing - 1) // sharing
//% local p_shift = arch.p_shift and arch.p_shift[spec.dtype]
//% local tells = (slices > 1 or sharing > 1) and " && rows.v_first == 0" or ""
//% if cache.native then p_shift = not cache.token and (cache.fnuz and 7 or 8) end -- the largest weight is well inside the range of fp8
//% forward = {
//%     k = latent and "kv" or "k", v = latent and "kv" or "v", -- the tensors that K and V come from
//%     v_lds = v_lds,
//%     v_columns = DV,                                  -- of V and O that a workgroup has
//%     v_shared = slices * DV > spec.head_dim_v,        -- the last slice has columns that another one stores
//%     -- The exponent of a weight, and l as it would be had the weights not been made larger.
//%     exponent = function(score, reference) return score .. (reference and " - " .. reference or "") .. (p_shift and " + " .. p_shift .. ".0f" or "") end,
//%     p_shift = p_shift,                               -- the powers of two by which weights are made larger; none where they are not
//%     factor = p_shift and "0x1p-" .. p_shift .. "f" or "1.0f", -- by which the sum of weights times V is larger, inverse
//%     l = p_shift and "l * 0x1p-" .. p_shift .. "f" or "l",
//%     sharing = sharing,                               -- waves that share rows
//%     -- A tile in which no row meets a larger score is not rescaled. But where the matrix unit works beside the vector unit and has more to do, or where
//%     -- products are the vector unit's, the branch gains little, and its two blocks take more registers than one: more than there are beside a padded
//%     -- head dimension, or beside conversions.
//%     skips = not (arch.family == "cdna" and DV > 192 or arch.dot and row_tiles > row_waves or arch.dual_issue and (D % key_rows ~= 0 or spec.kv_dtype ~= "same" and D > 64)),
//%     slack = (p_shift or cache.native) and 0 or 8, -- by which a maximum may grow without, in units of log 2: of weights in 16 bits, which have the room
//%     wave_tiles = row_tiles // row_waves,             -- tiles of rows of a wave
//%     k_steps = k_steps, v_steps = v_steps,            -- of a wave
//%     key_steps = BK // key_rows,
//%     -- Scheduling fences bound how many operands are on their way at once, and with them the registers. This many steps of K between two, where
//%     -- operands come from elsewhere than K's tile in LDS and registers; 0: none.
//%     k_fence = spec.k_path == "direct" and ((D > 128 or not fast) and 1 or 4) or
//%         spec.q_path == "lds" and (spec.orientation == "kq" or not fast) and 2 or spec.orientation == "qk" and not v_lds and 4 or 0,
//%     -- The queries of the workgroup's sequence: their number, and where they begin in Q, O and LSE.
//%     seqlen_q = (packed or padded) and "rows.seqlen_q" or "arguments.seqlen_q",
//%     q_begin = packed and "rows.first_row * arguments.stride_q_row" or "batch * arguments.stride_q_batch",
//%     o_begin = (packed and "rows.first_row * arguments.stride_o_row" or "batch * arguments.stride_o_batch") .. ((slices > 1 or sharing > 1) and " + rows.v_first" or ""),
//%     tells = tells,                                   -- a condition: who stores what all that share a row know
//%     writes_lse = "arguments.lse" .. tells,
//%     on_dies = dies > 1,                              -- whether the kernel computes which work a workgroup has
//%     -- The query of a lane's row of tile r; of decoding each row has a head of its own, too.
//%     query = decode and "rows.query[r]" or "rows.query[r] + (int)(rows.lane % " .. N .. ")",
//%     lse_row = packed and "rows.head[r] * arguments.tokens_q + rows.first_row" or
//%         "(batch * arguments.heads_q + rows.head[r]) * arguments.seqlen_q",
//% }
//% -- Raises the wave's priority, or takes it back, around products, where the spec says so. The compiler moves nothing across.
//% local raises = spec.op == "forward" and spec.prio == "matrix"
//% forward.priority = function(level)
//%     if raises then
    __builtin_amdgcn_s_setprio($(level));
//%     end
//% end
//% forward.sequence_members = function()
//%     if packed then
    i64 first_row; /* of the sequence in Q and O; the same in all lanes, as the next */
//%     end
//%     if packed or padded then
    int seqlen_q;
//%     end
//% end
//% forward.split_members = function()
//%     if decode then
    int first[$(forward.wave_tiles)], count; /* number of a tile's first row among those of the key head, and how many there are */
//%     end
//% end
//% forward.scale_members = function()
//%     if cache.fp8 and not cache.token then
    float v_scale; /* of the key head; the same in all lanes */
//%     end
//% end
//% -- What O is to be multiplied with when it is divided by l.
//% forward.numerator = cache.fp8 and not cache.token and "rows.v_scale"
//% forward.slice_members = function()
//%     if slices > 1 then
    int v_first; /* first column of V and O that the workgroup has; the same in all lanes */
//%     end
//%     if forward.v_shared then
    u32 v_own; /* of its columns, the first that no other workgroup stores */
//%     end
//%     if sharing > 1 then
    u32 k_first, v_first; /* dimension of Q and K, and column of V and O, with which the wave's part begins */
    float *s_lds;         /* scores of the waves that share the rows, from the first one's on */
//%     end
//% end
//% local block_q = spec.block_m // spec.gqa
//% include("ops/score.hip")
//% -- Exponents by multiply-adds of products, whose maximum is scaled instead of each: not where a multiplication and a subtraction of two can be issued at
//% -- once, and multiply-adds not, nor where the output or conversions leave no registers for it.
//% forward.fused = not (arch.dual_issue or spec.orientation == "qk" or spec.kv_dtype ~= "same" or score.any or DV > 192)
//% forward.diagonal = causal and not score.spans -- the rows know it; else the modifiers do
//% -- A wave has no products with tiles of which its rows see nothing (gen/wave_tiles.c counts them). Waves that share rows meet in the scores and leave none
//% -- out; modifiers, and lists of rows in pages, need the registers.
//% forward.idles = forward.diagonal and spec.op == "forward" and spec.orientation == "kq" and sharing == 1 and not paged and not score.any and not cache.scaled and
//%     "rows.query[" .. forward.wave_tiles - 1 .. "] + " .. N .. " + rows.diagonal" -- the first key that no row of the wave sees
//% -- Operands out of LDS are read some matrix instructions before they are multiplied, across softmax and tiles, where a chip's table says how long
//% -- those take: K and V change their tiles in LDS between the two products of a tile, so that V's first operands come under the softmax, and the
//% -- next tile's first of K under the last products of this one. ops/tiles.hip excludes tiles that are not prefetched.
//% forward.early = arch.matrix_cycles and spec.op == "forward" and spec.orientation == "kq" and spec.k_path == "lds" and v_lds and spec.q_path == "register" and
//%     spec.kv_dtype == "same" and not paged and not score.jumps and sharing == 1 and (D <= 192 or N == 16 and D <= 320)
//%
//% local dialect = arch.dialect and "_" .. arch.dialect or ""
//% include("device/prelude" .. dialect .. ".hip")
//% include("device/element_" .. spec.dtype .. dialect .. ".hip")

//% if arch.family == "cdna" then
//%     include("device/matrix_done.hip")

//% end
//% include("atoms/" .. (arch.matrix and arch.matrix[spec.matrix].atom or arch.atoms[spec.dtype]) .. ".hip")
//% if cache.native then
//%     score.of_row = score.scale -- without the scale of the row of Q
//%     score.scale = "rows.row_scale[r]"
//% end
//% -- What most atoms have in common.
//% atom.row = atom.row or function(lane) return lane .. " % " .. atom.n end -- of A that the lane holds
//% atom.tile = atom.tile or atom.m                    -- rows of A and places of the contraction index of fmha_mma
//% atom.blocks = atom.blocks or 1                     -- of rows of A, sixteen each
//% atom.share = atom.share or atom.operand_length     -- elements of a block of A and of B per lane
//% atom.sums = atom.tile * atom.n // spec.wave        -- elements of C and D per lane
//% atom.rows = atom.rows or atom.operand              -- type of A
//% atom.instructions = atom.instructions or atom.blocks * atom.share // atom.operand_length -- matrix instructions of fmha_mma
//% -- Of Q K^T: types of A and B, and instructions.
//% atom.k_rows, atom.q = cache.scaled and "struct fmha_k_blocks" or atom.rows, cache.scaled and "struct fmha_q_block" or atom.operand
//% atom.k_instructions = cache.scaled and atom.blocks or atom.instructions
//% forward.slots = forward.wave_tiles * (atom.rows_of_lane or 1) -- rows that a lane knows something of
//% forward.q_row = atom.together and (D + 63) // 64 * 64 or k_steps * sharing * key_rows + (cache.native and 16 or cache.pad()) -- cells of a row of Q in LDS
//% forward.p_row = BK + cache.pad()                                            -- elements of a row of P in LDS
//% include((atom.ways or "ops/tiles") .. ".hip")
//%
//% local q_elements = spec.q_path == "lds" and spec.block_m * forward.q_row or 0
//% local p_elements = spec.orientation == "qk" and not atom.keeps_weights and spec.block_m * forward.p_row or 0
//% local v_at = tiles.k_elements
//% local q_at = v_at + tiles.v_elements
//% local p_at = q_at + q_elements
//% local s_at = p_at + p_elements
//% local s_elements = sharing > 1 and 2 * spec.waves * forward.wave_tiles * BK * N or 0 -- one float a score
//% local flag_at = cache.cell_bytes * (s_at + s_elements)
//% local scales_at = flag_at + tiles.flag_bytes
//% local pages_at = scales_at + tiles.scale_bytes
//% local lds_bytes = pages_at + (paged and pages.lds_bytes or 0)
//% if lds_bytes > arch.lds_bytes then
//%     local columns = cache.mx and 32 or key_rows
//%     local least = (spec.head_dim_v + 8 * columns - 1) // (8 * columns) * columns -- columns of a slice of eight
//%     local fits_sliced = not latent and sharing == 1 and DV > least and lds_bytes - cache.cell_bytes * tiles.v_elements * (DV - least) // DV <= arch.lds_bytes
//%     fail("head dimension " .. D .. " with --block-m " .. spec.block_m .. " and --block-k " .. BK .. " needs " .. lds_bytes .. " bytes of LDS; " ..
//%          arch.name .. " has " .. arch.lds_bytes .. " for a workgroup: use a smaller --block-m or --block-k" ..
//%          (fits_sliced and ", or more --v-slices" or ""))
//% end
//%
//% -- The outermost dimension of a tensor: the batch, the pages, or none where the sequences are packed.
//% local outer = { q = not packed and "batch", k = paged and "pages" or not packed and "batch" }
//% outer.o, outer.v, outer.kv = outer.q, outer.k, outer.k
//% local tensors = latent and { "q", "kv", "o" } or { "q", "k", "v", "o" }
//% for _, tensor in ipairs(tensors) do
//%     local of_queries = tensor == "q" or tensor == "o"
//%     local heads = of_queries and "heads_q " or tensor ~= "kv" and "heads_k " or ""
//%     local dims = (tensor == "v" or tensor == "o") and "head_dim_v" or "head_dim"
//%     local rows = of_queries and (packed and "tokens_q" or "seqlen_q") or paged and "page_size" or packed and "tokens_k" or "seqlen_k"
//%     local shape = tensor == "v" and spec.v_layout == "transposed" and dims .. " " .. rows or rows .. " " .. dims
//%     local stride, of_cache = "stride_" .. tensor .. "_", cache.small and not of_queries
//%     if of_cache and cache.mx then shape = rows .. " " .. dims .. "/2" end
//%     argument {
//%         name = tensor, kind = "buffer", type = of_cache and cache.type or spec.dtype, access = tensor == "o" and "write" or "read",
//%         align = not of_cache and spec.align or fast and cache.bytes(8) or 1,
//%         shape = (outer[tensor] and outer[tensor] .. " " or "") .. heads .. shape,
//%         strides = (outer[tensor] and stride .. "batch " or "") .. (heads ~= "" and stride .. "head " or "") .. stride .. "row 1",
//%     }
//% end
//% for _, tensor in ipairs(tensors) do
//%     for _, axis in ipairs { "batch", "head", "row" } do
//%         if (axis ~= "batch" or outer[tensor]) and (axis ~= "head" or tensor ~= "kv") then
//%             argument { name = "stride_" .. tensor .. "_" .. axis, kind = "value", type = "i64" }
//%             local eight = (tensor == "q" or tensor == "o") and 8 or cache.units(8)
//%             if fast then constraint("stride_" .. tensor .. "_" .. axis .. " % " .. eight, "equals", 0) end
//%         end
//%     end
//% end
//% include("ops/sizes.hip")
//% cache.arguments(cache.rows and (outer.k or "") or packed_keys and "" or "batch", paged and "page_size" or packed and "tokens_k" or "seqlen_k")
//% score.arguments()
//% if decode then decode.arguments() end
//%
//% if latent then constraint("heads_q", "min", 1) else constraint("heads_q % heads_k", "equals", 0) end
//% if spec.gqa > 1 then constraint("(heads_q / heads_k) % " .. spec.gqa, "equals", 0) end
//% if not latent then constraint("heads_k", "min", 1) end
//% constraint("seqlen_q", "min", 0)
//% local listed = latent and "heads_q * seqlen_q" or "heads_q / heads_k * seqlen_q" -- rows of a key head in decoding
//% if decode then constraint(listed, "max", 1 << 20) end
//% constraint("seqlen_q", "max", math.min(1 << 30, ((1 << 32) - 1) // threads * block_q)) -- fewer than 2^32 work items in a grid's dimension
//% constraint("seqlen_k", "min", 0)
//% constraint("seqlen_k", "max", 1 << 30)
//% local heads = decode and (latent and "" or "heads_k * ") .. "ceil_div(" .. listed .. ", " .. spec.block_m .. ")" or
//%     spec.gqa > 1 and "heads_q / " .. spec.gqa or "heads_q"
//% if slices > 1 then heads = heads .. " * " .. slices end
//% local row_blocks = "ceil_div(seqlen_q, " .. (paired and 2 or 1) * block_q .. ")"
//% if dies > 1 then constraint(row_blocks .. " * (" .. heads .. ")", "max", (1 << 32) - 1) end -- workgroups of a sequence
//% if arch.grid_max then
//%     constraint("batch", "max", arch.grid_max)
//%     constraint(heads, "max", arch.grid_max)
//% end
//% kernel {
//%     workgroup = threads,
//%     grid = { decode and "splits" or row_blocks, heads, "batch" },
//%     lds_bytes = lds_bytes,
//%     flop_per_tile = 2 * spec.block_m * BK * (D + DV),
//%     bytes_per_tile = BK * cache.bytes(D + DV) + (cache.mx and BK * (D + DV) // 32 or cache.token and 8 * BK or 0),
//%     matrix_per_tile = row_tiles * sharing * forward.key_steps * (forward.k_steps * atom.k_instructions + forward.v_steps * atom.instructions),
//%     flushes_subnormals = arch.flushes_subnormals,
//% }
/* Strides in elements; the last dimension of each tensor has stride 1. lse may be null. scale is the softmax scale. */
//% if packed then
/* Q and O have the rows of all sequences one behind the other; sequence b has rows cu_seqlens_q[b] to cu_seqlens_q[b + 1] - 1. */
//% end
//% if packed_keys then
/* K and V likewise, by cu_seqlens_k. */
//% end
//% if paged then
/* Key j of sequence b is row j % page_size of page block_table[b][j / page_size], of K and of V. */
//% end
//% if cache.mx then
/* K and V are mxfp4: two numbers in a byte, the low nibble first, and an E8M0 scale for each 32 of a row; their strides are in bytes. */
//%     if cache.scaled then
/* K is multiplied as it is: Q becomes mxfp4, too. */
//%     end
//% elseif cache.small then
//%     local of_scales = cache.token and "a row has a scale." or "a key head of a batch has a scale; equal for all where the strides are 0."
/* K and V are fp8, $(spec.kv_dtype), times a scale: $(of_scales) */
//%     if cache.native then
/* They are multiplied as they are. A row of Q becomes fp8 by a scale of its own, its largest magnitude by $(cache.largest); weights become fp8, too. */
//%     end
//% end
struct fmha_forward_arguments {
//% argument_members()
};

//% if dies > 1 then
//%     include("device/dies.hip")

//% end
//% if score.any then score.emit() end
//% if cache.evens then cache.units_of_rows() end
//% if forward.early then include("ops/early.hip") end
//% include((atom.file or "ops/forward_" .. spec.orientation) .. ".hip")

//% if not forward.early then
//% if tiles.ahead then
//%     local visited = score.jumps and "`next` is visited after it, if it is below `tiles`" or
//%         "`tiles` are visited in all; the first `full` of\n * them have all their keys"
/* One key tile: the next one is sent for, then this one is folded into the rows. $(visited). masked: not every row of the workgroup sees every key of the tile. In a product, the weight 0 of a masked
 * key times infinity or NaN would be NaN: so what is not finite in a masked tile's V is left out of the products, and `broken` becomes
 * not 0. */
//% else
/* One key tile is folded into the rows. `tiles` are visited in all; the first `full` of them have all their keys.
 * masked: not every row of the workgroup sees every key of the tile. In a product, the weight 0 of a masked key times infinity or NaN
 * would be NaN: so what is not finite in a masked tile's V is left out of the products, and `broken` becomes not 0. */
//% end
//% local places = score.jumps and "int tile, int next, int tiles, int full" or "int tile, int tiles, int full"
//% if paged and score.jumps and pages.ahead then places = "int tile, int next, int after, int tiles, int full" end
FMHA_INLINE void fmha_step(struct fmha_rows &rows, struct fmha_keys &keys, $(places), bool masked, u32 &broken)
{
//% if paged and pages.tile and not pages.between then
    fmha_find_rows(keys, $(pages.tile), $(pages.next));
//% end
//% if tiles.lds then
//%     if spec.k_path == "async" then
//%         local what = tiles.arrived or ""
    fmha_arrived($(what));
//%     end
    fmha_barrier(); /* every wave is done with the tile before */
//%     if tiles.ahead then
//%         if paged and pages.between then
    fmha_find_rows(keys, $(pages.tile), $(pages.next));
//%         end
//%         if tiles.stored then
    fmha_store_tile(keys, tile, masked);
    fmha_barrier();
//%         end
//%         if paged and spec.k_path == "async" and not score.jumps then
    if (tile + 1 < tiles) /* into the place of the tile before, which nobody reads any more */
        fmha_prefetch(keys, tile + 1, masked);
    (void)full;
//%         elseif paged and not score.jumps and decode then
    if (tile + 1 < tiles)
        fmha_prefetch(keys, tile + 1, masked);
    (void)full;
//%         elseif paged and not score.jumps then
    if (!masked || tile + 1 < tiles) /* after the last unmasked tile that one once more: no branch */
        fmha_prefetch(keys, tile + 1, masked);
    (void)full;
//%         elseif spec.k_path == "async" and not score.jumps then
    if (!masked && tile + 1 < full) /* into the place of the tile before, which nobody reads any more */
        fmha_prefetch(keys, tile + 1, false);
    else if (masked && tile + 1 < tiles)
        fmha_prefetch(keys, tile + 1, true);
//%         elseif score.jumps then
    if (next < tiles)
        fmha_prefetch(keys, next, true);
    (void)full;
//%         elseif decode then
    if (!masked && tile + 1 < full) /* a cache is read once: the last tile not once more, whatever the branch costs */
        fmha_prefetch(keys, tile + 1, false);
    else if (masked && tile + 1 < tiles)
        fmha_prefetch(keys, tile + 1, true);
//%         else
    if (!masked)
        fmha_prefetch(keys, fmha_min(tile + 1, full - 1), false); /* never a tile that lacks keys: no branch, no guard */
    else if (tile + 1 < tiles)
        fmha_prefetch(keys, tile + 1, true);
//%         end
//%     else
    fmha_copy_tile(keys, tile, masked);
    fmha_barrier();
    (void)full;
//%         if score.jumps then
    (void)next;
//%         end
//%     end
//% else
    (void)full;
//%     if score.jumps then
    (void)next;
//%     end
//% end
    FMHA_SCHEDULE_FENCE(); /* the loads go first; operands do not pile up in registers meanwhile */
//% if forward.v_lds then
    if (masked && fmha_v_broken(keys, tile)) {
        fmha_clean_v(keys);
        fmha_barrier();
        broken = 1;
    }
//% end
//% if forward.idles then
    if (masked && tile * $(BK) >= $(forward.idles)) /* the rows of other waves see some of it */
        return;
//% end
    fmha_attend(rows, keys, tile, tiles, masked, broken);
}

//% end
//% local row_wave = sharing > 1 and "row_wave" or "wave"
//% -- The kernel up to where the keys are ready.
//% local function begin_kernel()
//% if arch.lds_dynamic then
FMHA_LDS_BYTES($(lds_bytes));

//% end
//% local result = forward.early and forward.waves and "FMHA_WAVES(" .. forward.waves .. ") void" or "void"
FMHA_KERNEL($(threads)) $(result) $(spec.name)(const struct fmha_forward_arguments arguments)
{
#pragma clang fp contract(off)
//% if lds_bytes > 0 then
    FMHA_LDS(lds, $(lds_bytes));
//% end
    const u32 thread = __builtin_amdgcn_workitem_id_x(), lane = thread % $(spec.wave);
    const int wave = (int)__builtin_amdgcn_readfirstlane(thread / $(spec.wave));
//% if sharing > 1 then
    const int row_wave = wave / $(sharing), part = wave % $(sharing);
//% end
//% if not packed and not padded_keys then
    const int seqlen_k = arguments.seqlen_k;
//% end
//% local group_x, group_y = "__builtin_amdgcn_workgroup_id_x()", "__builtin_amdgcn_workgroup_id_y()"
//% if dies > 1 then
//%     local span, rows_of_grid = (paired and 2 or 1) * block_q, spec.gqa > 1 and "(u32)arguments.heads_q / " .. spec.gqa or "(u32)arguments.heads_q"
//%     if slices > 1 then rows_of_grid = rows_of_grid .. " * " .. slices end
//%     -- Under a causal mask blocks have unlike work: only whole heads are handed to dies, each as many, so that no die has more to do than others.
//%     local whole = causal and spec.window == "none" and not paired
//%     local each = whole and rows_of_grid .. " / " .. dies .. " * blocks" or "blocks * (" .. rows_of_grid .. ") / " .. dies
    const u32 blocks = ((u32)arguments.seqlen_q + $(span - 1)) / $(span); /* of rows */
    const u32 work = fmha_work_of($(group_x) + $(group_y) * blocks, $(each), $(dies));
    const u32 group_x = FMHA_SCALAR(work % blocks), group_y = FMHA_SCALAR(work / blocks);
//%     group_x, group_y = "group_x", "group_y"
//% end
//% if decode then
//%     decode.begin()
//% elseif order == "chip" then
//%     local block = causal and arch.longest_first and "(gridDim.x - 1 - blockIdx.x)" or group_x
    const int first_query = (int)$(block) * $(block_q);
//% end
//% if slices > 1 then
//%     if not decode then
    const int head = (int)$(group_y) / $(slices) * $(spec.gqa);
    const int v_slice = (int)$(group_y) % $(slices);
//%     end
//%     if forward.v_shared then
    const int v_first = fmha_min(v_slice * $(DV), $(spec.head_dim_v - DV)); /* the last slice ends where V does */
//%     else
    const int v_first = v_slice * $(DV);
//%     end
//% elseif not decode then
    const int head = (int)$(group_y) * $(spec.gqa);
//% end
    const i64 batch = (int)__builtin_amdgcn_workgroup_id_z();
//% if packed then
    const i64 first_row = arguments.cu_seqlens_q[batch];
    const int seqlen_q = arguments.cu_seqlens_q[batch + 1] - (int)first_row;
//% elseif padded then
    const int seqlen_q = arguments.seqlens_q[batch];
//% end
//% local queries = (packed or padded) and "seqlen_q" or "arguments.seqlen_q"
//% if decode then
    if (first_of_block >= group * $(queries)) /* the grid is made for the longest sequence */
        return;
//% elseif paired then
    const int near = (int)$(group_x), far = ($(queries) + $(block_q - 1)) / $(block_q) - 1 - near; /* blocks of rows: with few keys, with many */
//%     if packed or padded then
    if (far < near) /* the grid is made for the longest sequence */
        return;
//%     end
//% elseif order == "long-first" then
    const int first_query = (($(queries) + $(block_q - 1)) / $(block_q) - 1 - (int)$(group_x)) * $(block_q); /* the last block has most keys */
//%     if packed or padded then
    if (first_query < 0) /* the grid is made for the longest sequence */
        return;
//%     end
//% elseif packed or padded then
    if (first_query >= seqlen_q) /* the grid is made for the longest sequence */
        return;
//% end
//% if packed_keys then
    const i64 first_key = arguments.cu_seqlens_k[batch];
    const int seqlen_k = arguments.cu_seqlens_k[batch + 1] - (int)first_key;
//% elseif padded_keys then
    const int seqlen_k = arguments.seqlens_k[batch];
//% end
//% if not latent then
    const i64 key_head = head / (arguments.heads_q / arguments.heads_k);
//% end

    struct fmha_keys keys;
//% if latent then
//%     local kv = "arguments.kv" .. (paged and "" or packed and " + first_key * arguments.stride_kv_row" or " + batch * arguments.stride_kv_batch")
    keys.k = $(kv);
    keys.v = keys.k;
//%     if tiles.latent then
    keys.k += $(cache.units(DV)); /* what V's tile does not bring */
//%     end
//% elseif paged then
    keys.k = arguments.k + key_head * arguments.stride_k_head; /* in page 0 */
    keys.v = arguments.v + key_head * arguments.stride_v_head;
//% elseif packed then
//%     local column = spec.v_layout == "transposed" and "first_key" or "first_key * arguments.stride_v_row"
    keys.k = arguments.k + first_key * arguments.stride_k_row + key_head * arguments.stride_k_head;
    keys.v = arguments.v + $(column) + key_head * arguments.stride_v_head;
//% else
    keys.k = arguments.k + batch * arguments.stride_k_batch + key_head * arguments.stride_k_head;
    keys.v = arguments.v + batch * arguments.stride_v_batch + key_head * arguments.stride_v_head;
//% end
//% if slices > 1 then
//%     local first = spec.v_layout == "transposed" and "v_first * arguments.stride_v_row" or cache.mx and "v_first / 2" or "v_first"
    keys.v += $(first);
//% end
//% local k_row, v_row = "arguments.stride_" .. forward.k .. "_row", "arguments.stride_" .. forward.v .. "_row"
    keys.k_stride = $(k_row);
    keys.v_stride = $(v_row);
//% for _, kind in ipairs(cache.rows and { "k", "v" } or {}) do
//%     local scales, scale_stride, stride = "keys." .. kind .. "_scales", "keys." .. kind .. "_scale_stride", "arguments.stride_" .. forward[kind] .. "_scale_"
//%     local place, row = "arguments." .. forward[kind] .. "_scale", stride .. "row"
//%     if not paged then place = place .. (packed and " + first_key * " .. stride .. "row" or " + batch * " .. stride .. "batch") end
//%     if not latent then place = place .. " + key_head * " .. stride .. "head" end
//%     if kind == "v" and slices > 1 and cache.mx then place = place .. " + v_first / 32" end
    $(scales) = $(place);
    $(scale_stride) = $(row);
//%     if kind == "k" and tiles.latent and cache.mx then
    $(scales) += $(DV // 32); /* as keys.k */
//%     end
//% end
    keys.thread = thread;
    keys.lane = lane;
    keys.seqlen_k = seqlen_k;
//% if lds_bytes > 0 then
//%     local cell = cache.cell
    keys.k_lds = ($(cell) *)lds;
    keys.v_lds = ($(cell) *)lds + $(v_at);
//%     if sharing > 1 then
    keys.k_first = (u32)part * $(forward.k_steps * k_places);
    keys.v_first = (u32)part * $(forward.v_steps * key_rows);
//%     end
//%     if tiles.flag_bytes > 0 then
    keys.v_broken_lds = (u32 *)(lds + $(flag_at));
//%     end
//%     if cache.token then
    keys.k_scale_lds = (float *)(lds + $(scales_at));
    keys.v_scale_lds = keys.k_scale_lds + $(BK);
//%     end
//% end
//% if paged then pages.begin("(i64 *)(lds + " .. pages_at .. ")") end
    fmha_keys_begin(keys);

//% end
//% -- A block of query rows, from first_query on.
//% local function emit_block()
    struct fmha_rows rows;
//% if packed then
    rows.first_row = first_row;
//% end
//% if packed or padded then
    rows.seqlen_q = seqlen_q;
//% end
//% if slices > 1 then
    rows.v_first = v_first;
//% end
//% if sharing > 1 then
    rows.k_first = keys.k_first;
    rows.v_first = keys.v_first;
    rows.s_lds = (float *)((element *)lds + $(s_at)) + row_wave * $(sharing * forward.wave_tiles * BK * N);
//% end
//% if forward.v_shared then
    rows.v_own = (u32)(v_slice * $(DV) - v_first);
//% end
    rows.scale_log2 = arguments.scale * 1.4426950408889634f; /* log2 e: every exponential is a power of two */
//% if arch.dual_issue or forward.fused then
    FMHA_OPAQUE(rows.scale_log2); /* into a scalar register, where the chip computed it in a vector register: two are worked on at once with it */
    rows.scale_log2 = __builtin_bit_cast(float, FMHA_SCALAR(__builtin_bit_cast(u32, rows.scale_log2)));
//% end
//% local head_scaled = cache.fp8 and not cache.token
//% if head_scaled then
//%     local function scale_of(tensor)
//%         local stride, places = "arguments.stride_" .. tensor .. "_scale_", {}
//%         if not packed_keys then places[1] = "batch * " .. stride .. "batch" end
//%         if not latent then places[#places + 1] = "key_head * " .. stride .. "head" end
//%         return "fmha_scale(arguments." .. tensor .. "_scale[" .. (places[1] and table.concat(places, " + ") or "0") .. "])"
//%     end
//%     local of_k, of_v = scale_of(forward.k), scale_of(forward.v)
    const float k_scale = $(of_k);
    rows.scale_log2 *= k_scale;
    rows.v_scale = $(of_v);
//% end
//% if forward.diagonal and spec.mask == "causal-bottom-right" then
    rows.diagonal = seqlen_k - $(forward.seqlen_q); /* query i sees keys up to i + diagonal */
//% elseif forward.diagonal then
    rows.diagonal = 0; /* query i sees keys up to i + diagonal */
//% end
    rows.lane = lane;
    rows.group = lane / $(N);
//% if decode then
    rows.count = group * $(forward.seqlen_q);
//% end
//% if atom.rows_of_lane then
//%     local each = atom.rows_of_lane
#pragma unroll
    for (int n = 0; n < $(forward.slots); ++n) {
        const int row_tile = $(row_wave) * $(forward.wave_tiles) + n / $(each), row = (int)fmha_first_row(lane) + n % $(each) * $(N // each);
//%     if decode then
        rows.first[n] = first_of_block + row_tile * $(N) + row;
        const int present = fmha_min(rows.first[n], rows.count - 1); /* the last one stands in for those past the end */
        rows.query[n] = present % $(forward.seqlen_q);
        rows.head[n] = head + present / $(forward.seqlen_q);
//%     else
        rows.query[n] = first_query + row_tile / $(spec.gqa) * $(N) + row;
        rows.head[n] = head + row_tile % $(spec.gqa);
//%     end
    }
//%     if spec.q_path == "lds" then
#pragma unroll
    for (int r = 0; r < $(forward.wave_tiles); ++r)
//%         local tile = "(" .. (atom.together and "wave / 4" or row_wave) .. " * " .. forward.wave_tiles .. " + r) * " .. (atom.together and 64 or N) * forward.q_row
        rows.q_lds[r] = (element *)lds + $(q_at) + $(tile);
//%     end
//% else
#pragma unroll
    for (int r = 0; r < $(forward.wave_tiles); ++r) {
        const int row_tile = $(row_wave) * $(forward.wave_tiles) + r;
//%     if decode then
        rows.first[r] = first_of_block + row_tile * $(N);
        const int row = fmha_min(rows.first[r] + (int)(lane % $(N)), rows.count - 1); /* the last one stands in for those past the end */
        rows.query[r] = row % $(forward.seqlen_q);
        rows.head[r] = head + row / $(forward.seqlen_q);
//%     else
        rows.query[r] = first_query + row_tile / $(spec.gqa) * $(N);
        rows.head[r] = head + row_tile % $(spec.gqa);
//%     end
//%     if spec.q_path == "lds" then
//%         local cell = cache.cell
        rows.q_lds[r] = ($(cell) *)lds + $(q_at) + row_tile * $(N * forward.q_row);
//%         if sharing > 1 then
        rows.q_lds[r] += rows.k_first;
//%         end
//%     end
//%     if p_elements > 0 then
        rows.p_lds[r] = (element *)lds + $(p_at) + row_tile * $(N * forward.p_row);
//%     end
    }
//% end
//% if score.any then
    fmha_score_begin(rows.score, arguments, batch, head, first_query, $(forward.seqlen_q), seqlen_k);
//%     if score.rows then
#pragma unroll
    for (int r = 0; r < $(forward.slots); ++r)
        fmha_score_rows(rows.score, arguments, batch, r, rows.head[r]);
//%         if head_scaled and spec.head_scale == "on" then
#pragma unroll
    for (int r = 0; r < $(forward.slots); ++r)
        rows.score.scale[r] *= k_scale;
//%         end
//%     end
//% end
    fmha_begin(rows, arguments, batch);

//% local function step(masked)
//%     if forward.early then return "fmha_attend(rows, keys, ahead, tile, tiles, full, " .. masked .. ", broken)" end
//%     return "fmha_step(rows, keys, tile, tiles, full, " .. masked .. ", broken)"
//% end
//% forward.step = step
//% -- Behind the loop that masks nothing, from tile `first` on: its last steps did not send for a tile that lacks keys.
//% forward.sends = tiles.lds and tiles.ahead and not score.jumps and not paged -- steps send for the next tile in its order
//% forward.send_what_lacks_keys = function(first)
//%     if forward.early then
        if (tile > $(first) && tile + 1 >= full && tile < tiles) { /* the last steps did not send for a tile that lacks keys */
            fmha_barrier();
            fmha_start(keys, ahead, tile, tiles);
        }
//%     elseif forward.sends then
        if (tile > $(first) && tile >= full && tile < tiles)
            fmha_prefetch(keys, tile, true); /* the last step did not send for the tile that lacks keys */
//%     end
//% end
//% local unmasked_step, masked_step = step("false"), step("true")
//% if score.spans then
//%     include("ops/forward_spans.hip")
//% else
//% if causal then
    /* The last key that any row sees bounds the loop; up to the last key that the first row sees nothing is masked. */
    const int last_query = fmha_min(first_query + $(block_q), $(forward.seqlen_q)) - 1;
    const int seen = fmha_max(fmha_min(seqlen_k, last_query + 1 + rows.diagonal), 0);
    const int seen_by_all = fmha_max(fmha_min(seqlen_k, first_query + 1 + rows.diagonal), 0);
//% else
    const int seen = seqlen_k, seen_by_all = seqlen_k;
//% end
//% if forward.fused then
    /* A negative scale makes the maximum of the least product: all is done as where keys are masked. */
    const int tiles = (seen + $(BK - 1)) / $(BK), full = seqlen_k / $(BK), unmasked = rows.scale_log2 >= 0.0f ? seen_by_all / $(BK) : 0;
//% else
    const int tiles = (seen + $(BK - 1)) / $(BK), full = seqlen_k / $(BK), unmasked = seen_by_all / $(BK);
//% end

    if (tiles > 0) {
//% if paged then pages.start("0", "fmha_min(1, tiles - 1)") end
//% if forward.early then
        struct fmha_ahead ahead;
        fmha_start(keys, ahead, 0, tiles);
//% elseif tiles.lds and tiles.ahead then
        fmha_prefetch(keys, 0, true);
//% end
//% if spec.pipeline == 2 then
        fmha_scores(rows, keys, 0);
//% end
        int tile = 0;
        u32 broken = 0;
        for (; tile < unmasked; ++tile)
            $(unmasked_step);
//% forward.send_what_lacks_keys("0")
//% if forward.idles and forward.early then
        const int own = fmha_min((fmha_max($(forward.idles), 0) + $(BK - 1)) / $(BK), tiles);
        for (; tile < own; ++tile)
            $(masked_step);
        for (; tile < tiles; ++tile) /* the rows of other waves see some of it */
            fmha_next_tiles(keys, tile, tiles, full, true, broken);
//% else
        for (; tile < tiles; ++tile)
            $(masked_step);
//% end
//% if arch.family == "cdna" then
        FMHA_MATRIX_DONE();
//% end
//% local ballot = "__builtin_amdgcn_ballot_w" .. spec.wave
        if ($(ballot)(broken != 0))
            fmha_add_broken(rows, keys, unmasked * $(BK));
    }
//% end
    fmha_end(rows, FMHA_ARGUMENTS_AGAIN(arguments), batch);
//% end
//% -- As a function it takes what the kernel knows of the workgroup.
//% if paired then
//%     local parameters = { "const struct fmha_forward_arguments &arguments", "struct fmha_keys &keys" }
//%     local passed = { "FMHA_ARGUMENTS_AGAIN(arguments)", "keys" } -- which hold no scalar registers from one block to the next
//%     local function pass(type, name, needed)
//%         if needed then
//%             parameters[#parameters + 1] = type .. " " .. name
//%             passed[#passed + 1] = name
//%         end
//%     end
//%     pass("unsigned char *", "lds", spec.q_path == "lds" or p_elements > 0 or sharing > 1)
//%     pass("int", row_wave, true)
//%     pass("i64", "batch", true)
//%     pass("int", "head", true)
//%     pass("i64", "key_head", cache.fp8 and not cache.token)
//%     pass("i64", "first_row", packed)
//%     pass("int", "seqlen_q", packed or padded)
//%     pass("int", "v_first", slices > 1)
//%     pass("int", "v_slice", forward.v_shared)
//%     pass("int", "first_query", true)
//%     forward.block_parameters = table.concat(parameters, ", "):gsub("%* ", "*")
//%     passed[#passed] = "(turn == 0 ? far : near) * " .. block_q
//%     forward.block_passed = table.concat(passed, ", ")
/* A block of query rows, from first_query on. */
FMHA_INLINE void fmha_block($(forward.block_parameters))
{
#pragma clang fp contract(off)
    u32 lane = keys.lane;
    const int seqlen_k = keys.seqlen_k;
    FMHA_OPAQUE(lane); /* what follows from it is worked out for each block, not kept in registers through both */
//%     emit_block()
}

//% end
//% begin_kernel()
//% if paired then
#pragma nounroll
    for (int turn = 0; turn < (far > near ? 2 : 1); ++turn) {
//%     if lds_bytes > 0 then
        if (turn > 0)
            fmha_barrier(); /* every wave is done with the block before */
//%     end
        fmha_block($(forward.block_passed));
    }
//% else
//%     emit_block()
//% end
}

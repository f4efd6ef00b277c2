-- What NVIDIA's chips since Ampere have in common: warps of 32, mma.sync, ldmatrix and cp.async. Source: "Parallel Thread Execution ISA" and the
-- CUDA C++ Programming Guide, compute capabilities.

-- Default tiles. A wave has 32 rows: what it reads of K and V from LDS serves two products. Its O takes D registers, its scores block_k; Q stays in
-- registers where those leave room. What modifiers keep of a row takes registers, too.
local few = { block_m = 64 } -- rows: sixteen a wave
local qk = {
    [64] = {
        block_m = 128, block_k = 64, waves = 4, k_path = "async", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        dropout = few, bias = few, attn_mask = few, alibi = { block_k = 48 }, paged = { block_k = 48 },
    },
    [128] = {
        block_m = 128, block_k = 48, waves = 4, k_path = "async", v_path = "transpose", q_path = "lds", pipeline = 1, gqa = 1,
        dropout = few, bias = few, attn_mask = few, alibi = few, sink_keys = few, prefix = few, block_mask = few, paged = { block_k = 32 },
    },
    [256] = {
        block_m = 64, block_k = 32, waves = 4, k_path = "async", v_path = "transpose", q_path = "lds", pipeline = 1, gqa = 1,
        bias = { block_k = 16 }, attn_mask = { block_k = 16 }, align = { [2] = { block_k = 16 } },
    },
}

-- Of decoding: a wave with sixteen rows, so that a cache is shared out in small pieces; as many waves as rows need.
local function decode_row(block_k)
    local row = { block_m = 16, block_k = block_k, waves = 1, k_path = "async", v_path = "transpose", q_path = "lds", pipeline = 1, gqa = 1 }
    for rows, tiles in pairs { ["32"] = 2, ["64"] = 4, ["128"] = 8 } do row[rows] = { block_m = 16 * tiles, waves = tiles } end
    return row
end

return {
    family = "sm",
    dialect = "cuda", -- of the text: device/prelude_cuda.hip, device/element_…_cuda.hip
    atoms = { f16 = "mma_sync", bf16 = "mma_sync" },
    waves = { 32 },
    lds_bytes = 166912, -- of one workgroup; more than 48 KiB are asked for at the launch
    lds_dynamic = true, -- LDS is what the launch gives: see device/prelude_cuda.hip
    longest_first = true, -- of workgroups under a causal mask those with most keys begin first: they run in the order of their numbers
    vgprs_per_simd = 512, -- of 32 lanes
    features = {},
    into_lds = { bytes = 16, file = "stages_cuda", any_tile = true }, -- loads from memory into LDS; tiles need not be neighbours
    only = {
        orientation = { "qk" }, v_slices = { 1 }, k_path = { "async" }, v_path = { "transpose" }, v_layout = { "row" }, kv_dtype = { "same" }, v_waves = { 1 },
        pipeline = { 1 },
    },
    only_forward = { prio = { "none" }, causal_order = { "chip" }, xcds = { 0 } },
    defaults = {
        forward = { orientation = "qk", qk = { wave32 = qk } },
        decode = { orientation = "qk", qk = { wave32 = { [64] = decode_row(64), [128] = decode_row(32), [192] = decode_row(16) } } },
        merge = { wave32 = { waves = 2 } },
    },
}

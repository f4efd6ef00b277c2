local chip = {}
for name, value in pairs(load("arch/sm.lua")) do chip[name] = value end
chip.name = "sm_90"
chip.lds_bytes = 232448 -- of one workgroup
-- Shapes of matrix instructions, and what multiplies with them: atoms/ATOM.hip.
chip.matrix = { ["16x16"] = { atom = "mma_sync" }, ["64x16"] = { atom = "wgmma" } }
-- Default tiles: four waves multiply together, and as many workgroups as fit a multiprocessor cover one another's exponentials.
local function row(block_k, q_path)
    return {
        matrix = "64x16", block_m = 64, block_k = block_k, waves = 4, k_path = "async", v_path = "transpose", q_path = q_path, pipeline = 1, gqa = 1,
        dropout = { block_k = 32 },
    }
end
local fewer = { block_k = 48 } -- registers for what modifiers keep
local qk = { [64] = row(64, "register"), [128] = row(64, "register"), [256] = row(32, "lds") }
qk[128].bias, qk[128].attn_mask = fewer, fewer
qk[256].align = { [2] = { block_k = 16 } }
chip.defaults = {
    forward = { orientation = "qk", qk = { wave32 = qk } },
    decode = chip.defaults.decode,
    merge = chip.defaults.merge,
}
return chip

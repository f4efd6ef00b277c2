local chip = {}
for name, value in pairs(load("arch/sm.lua")) do chip[name] = value end
chip.name = "sm_90"
chip.lds_bytes = 232448 -- of one workgroup
-- Shapes of matrix instructions, and what multiplies with them: atoms/ATOM.hip.
chip.matrix = { ["16x16"] = { atom = "mma_sync" }, ["64x16"] = { atom = "wgmma" } }
-- Default tiles: groups of four waves multiply while others compute exponentials, as many as fit a multiprocessor. Two groups of a workgroup share the
-- copies of K and V, which at 64 dimensions take less of LDS's time than exponentials take of theirs.
local function row(block_m, block_k)
    return {
        matrix = "64x16", block_m = block_m, block_k = block_k, waves = block_m // 16, k_path = "async", v_path = "transpose", q_path = "lds", pipeline = 1, gqa = 1,
    }
end
local qk = { [64] = row(64, 64), [128] = row(128, 48), [256] = row(128, 64) }
-- Fewer scores at once where modifiers need registers.
qk[256].dropout, qk[256].align = { block_k = 48 }, { [2] = { block_k = 32 } }
qk[256].bias, qk[256].attn_mask = { block_k = 32 }, { block_k = 32 }
chip.defaults = {
    forward = { orientation = "qk", qk = { wave32 = qk } },
    decode = chip.defaults.decode,
    merge = chip.defaults.merge,
}
return chip

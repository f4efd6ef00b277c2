local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx908"
chip.vgprs_per_simd = 256 -- and as many accumulation registers, of 64 lanes
chip.matrix = {
    ["16x16"] = { f16 = chip.matrix["16x16"].f16, bf16 = { builtin = "16x16x8bf16", element = "short", length = 2 } },
    ["32x32"] = { f16 = chip.matrix["32x32"].f16, bf16 = { builtin = "32x32x4bf16", element = "short", length = 2 } },
}
-- At 256 dimensions there is one wave a SIMD in either shape, and 32x32 has the fewer instructions beside the products; with V given as columns
-- it lacks one register.
local forward = chip.defaults.forward
local kq = {
    [192] = forward.kq.wave64[192],
    [256] = {
        matrix = "32x32", block_m = 128, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { matrix = "16x16", block_m = 64, block_k = 16 },
    },
    [576] = forward.kq.wave64[576],
}
chip.defaults = {
    forward = { orientation = "kq", kq = { wave64 = kq }, qk = forward.qk },
    decode = chip.defaults.decode,
    mla = { wave64 = load("arch/mla.lua").mi100 },
    pack = chip.defaults.pack,
    merge = chip.defaults.merge,
    append = chip.defaults.append,
    quantize = chip.defaults.quantize,
}
chip.accumulators = "a" -- registers of accumulators, in the words of inline assembly
chip.matrix_cycles = { [16] = 32, [32] = 64 } -- of a matrix instruction, by its rows
return chip

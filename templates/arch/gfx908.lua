local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx908"
chip.vgprs_per_simd = 256 -- and as many accumulation registers, of 64 lanes
chip.matrix = {
    ["16x16"] = { f16 = chip.matrix["16x16"].f16, bf16 = { builtin = "16x16x8bf16", element = "short", length = 2 } },
    ["32x32"] = { f16 = chip.matrix["32x32"].f16, bf16 = { builtin = "32x32x4bf16", element = "short", length = 2 } },
}
return chip

local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx908"
chip.vgprs_per_simd = 256 -- and as many accumulation registers, of 64 lanes
chip.matrix = {
    mfma_16 = { f16 = chip.matrix.mfma_16.f16, bf16 = { builtin = "16x16x8bf16", length = 2 } },
}
return chip

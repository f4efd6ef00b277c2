local chip = {}
for name, value in pairs(load("arch/rdna4.lua")) do chip[name] = value end
chip.name = "gfx12-generic"
chip.vgprs_per_simd = 1536 -- of 32 lanes
return chip

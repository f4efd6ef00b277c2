local chip = {}
for name, value in pairs(load("arch/rdna3.lua")) do chip[name] = value end
chip.name = "gfx11-generic"
chip.vgprs_per_simd = 1024 -- of 32 lanes; what every chip of the family has
return chip

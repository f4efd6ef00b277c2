local chip = {}
for name, value in pairs(load("arch/rdna2.lua")) do chip[name] = value end
chip.name = "gfx1032"
return chip

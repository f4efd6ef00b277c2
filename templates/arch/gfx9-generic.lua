local chip = {}
for name, value in pairs(load("arch/gcn5.lua")) do chip[name] = value end
chip.name = "gfx9-generic"
return chip

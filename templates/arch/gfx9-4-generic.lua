local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx9-4-generic"
chip.into_lds = 4 -- bytes that a lane loads from memory into LDS
return chip

local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx942"
chip.fp8 = "e4m3fnuz" -- what --kv-dtype fp8 means; e4m3 where nothing is said
chip.into_lds = { bytes = 4, file = "into_lds_gfx9" } -- bytes that a lane loads from memory into LDS; device/FILE.hip has the functions
return chip

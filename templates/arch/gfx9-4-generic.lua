local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx9-4-generic"
chip.xcds = 8 -- dies to which workgroups go in turns, in a device that is not partitioned
chip.into_lds = { bytes = 4, file = "into_lds_gfx9" } -- bytes that a lane loads from memory into LDS; device/FILE.hip has the functions
return chip

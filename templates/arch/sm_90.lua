local chip = {}
for name, value in pairs(load("arch/sm.lua")) do chip[name] = value end
chip.name = "sm_90"
chip.lds_bytes = 232448 -- of one workgroup
chip.matrix = { ["16x16"] = { atom = "mma_sync" }, ["64x16"] = { atom = "wgmma" } }
return chip

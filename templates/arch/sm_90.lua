local chip = {}
for name, value in pairs(load("arch/sm.lua")) do chip[name] = value end
chip.name = "sm_90"
chip.lds_bytes = 232448 -- of one workgroup
return chip

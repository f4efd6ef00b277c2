local chip = {}
for name, value in pairs(load("arch/sm.lua")) do chip[name] = value end
chip.name = "sm_89"
chip.lds_bytes = 101376 -- of one workgroup
return chip

local chip = {}
for name, value in pairs(load("arch/sm.lua")) do chip[name] = value end
chip.name = "sm_80"
return chip

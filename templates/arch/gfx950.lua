local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx950"
chip.lds_bytes = 163840
chip.permlane_swap = true -- v_permlane16_swap_b32, v_permlane32_swap_b32
return chip

local chip = {}
for name, value in pairs(load("arch/gcn5.lua")) do chip[name] = value end
chip.name = "gfx906"
chip.dot = { product = "dot2_gfx9", lanes = "lanes_gcn" } -- v_dot2_f32_f16, the first chip that has it
chip.mixes_f16 = true -- v_fma_mixlo_f16, v_fma_mixhi_f16, likewise
chip.features = { "sramecc", "xnack" }
return chip

local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx90a"
-- Matrix instructions take 16-bit subnormals for zeros, so that of P in f16, whose maximum is 1, all below 2^-14 would be lost. Weights up to 2^15
-- lose what is below 2^-29. Source: ROCm documentation, "MI200 matrix fused multiply-add (MFMA) behavior specifics".
chip.flushes_subnormals = true
chip.p_shift = { f16 = 15 }
chip.packed_f32 = true -- v_pk_fma_f32
chip.matrix_cycles = { [16] = 32, [32] = 64 } -- of a matrix instruction, by its rows
return chip

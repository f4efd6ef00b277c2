local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx942"
chip.xcds = 8 -- dies to which workgroups go in turns, in a device that is not partitioned
chip.fp8 = "e4m3fnuz" -- what --kv-dtype fp8 means; e4m3 where nothing is said
chip.native_fp8 = true -- matrix instructions multiply it
chip.matrix = {
    ["16x16"] = chip.matrix["16x16"],
    ["16x16x32"] = { fp8 = { builtin = "16x16x32", length = 8 } },
    ["32x32"] = { fp8 = { builtin = "32x32x16", length = 8 } },
}
for name, value in pairs(load("arch/cdna.lua").matrix["32x32"]) do chip.matrix["32x32"][name] = value end
chip.into_lds = { bytes = 4, file = "into_lds_gfx9" } -- bytes that a lane loads from memory into LDS; device/FILE.hip has the functions
chip.packed_f32 = true -- v_pk_fma_f32
chip.matrix_cycles = { [16] = 16, [32] = 32 } -- of a matrix instruction, by its rows
return chip

local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx950"
chip.lds_bytes = 163840
chip.matrix = {
    ["16x16"] = chip.matrix["16x16"],
    ["16x16x32"] = {
        f16 = { builtin = "16x16x32_f16", element = "_Float16", length = 8 },
        bf16 = { builtin = "16x16x32_bf16", element = "__bf16", length = 8 },
    },
    ["32x32"] = {
        f16 = { builtin = "32x32x16_f16", element = "_Float16", length = 8 },
        bf16 = { builtin = "32x32x16_bf16", element = "__bf16", length = 8 },
    },
}
chip.permlane_swap = true -- v_permlane16_swap_b32, v_permlane32_swap_b32
return chip

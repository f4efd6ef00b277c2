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
-- Reads of LDS that transpose; device/FILE.hip has the function.
chip.transposing = { wave64 = { from = "lds", file = "transpose_gfx950" } }
-- As the family's, but V transposed by the reads, and where vector instructions bound the loop (the matrix instructions are twice as fast) more
-- keys a tile, to do less for each. At 256 dimensions eight waves share what is prefetched of a tile, so that two of them fit a SIMD with 32 rows
-- each; V read as columns takes a few registers more.
local defaults = { orientation = "kq", kq = { wave64 = {} }, qk = { wave64 = {} } }
for _, orientation in ipairs { "kq", "qk" } do
    for head_dim, tile in pairs(chip.defaults.forward[orientation].wave64) do
        local own = { transposed = { v_path = "lds" } }
        local wide = orientation == "kq" and head_dim == 256
        if wide then tile = chip.defaults.forward.kq.wave64[192] end
        for knob, value in pairs(tile) do own[knob] = value end
        own.v_path = "transpose"
        if orientation == "kq" and head_dim <= 128 then own.block_k = 64 end
        if wide then
            own.block_m, own.waves = 256, 8
            own.transposed = { v_path = "lds", block_m = 128, waves = 4 }
        end
        defaults[orientation].wave64[head_dim] = own
    end
end
chip.defaults = { forward = defaults, pack = chip.defaults.pack }
chip.into_lds = { bytes = 16, file = "into_lds_gfx9" } -- bytes that a lane loads from memory into LDS; device/FILE.hip has the functions
chip.converts_bf16 = true -- v_cvt_pk_bf16_f32
chip.permlane_swap = true -- v_permlane16_swap_b32, v_permlane32_swap_b32
return chip

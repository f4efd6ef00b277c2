local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx950"
chip.lds_bytes = 163840
chip.matrix = {
    ["16x16"] = chip.matrix["16x16"],
    ["16x16x32"] = {
        f16 = { builtin = "16x16x32_f16", element = "_Float16", length = 8 },
        bf16 = { builtin = "16x16x32_bf16", element = "__bf16", length = 8 },
        fp8 = { builtin = "16x16x32", length = 8 },
    },
    ["32x32"] = {
        f16 = { builtin = "32x32x16_f16", element = "_Float16", length = 8 },
        bf16 = { builtin = "32x32x16_bf16", element = "__bf16", length = 8 },
        fp8 = { builtin = "32x32x16", length = 8 },
    },
}
-- Reads of LDS that transpose; device/FILE.hip has the function.
chip.transposing = { wave64 = { from = "lds", file = "transpose_gfx950" } }
-- Default tiles: the family's, but V transposed by the reads, and where vector instructions bound the loop (the matrix instructions are twice as
-- fast) more keys a tile, to do less for each. At 256 dimensions eight waves share what is prefetched of a tile, so that two of them fit a SIMD
-- with 32 rows each; V read as columns, windows and dropout take a few registers more.
local kq = {
    [128] = {
        matrix = "32x32", block_m = 128, block_k = 64, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" }, native = { v_path = "lds" },
    },
    [192] = {
        matrix = "32x32", block_m = 128, block_k = 32, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" }, native = { v_path = "lds" },
    },
    [256] = {
        matrix = "32x32", block_m = 256, block_k = 32, waves = 8, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds", block_m = 128, waves = 4 }, native = { v_path = "lds" },
        window = { block_m = 128, waves = 4 },
        dropout = { block_m = 128, waves = 4 },
    },
    [320] = {
        matrix = "16x16", block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" }, native = { v_path = "lds", matrix = "16x16x32" },
    },
    [576] = {
        matrix = "16x16", block_m = 128, block_k = 16, waves = 8, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds", block_m = 64, waves = 4 }, native = { v_path = "lds", matrix = "16x16x32", block_k = 32 },
    },
}
local qk = {
    [128] = {
        block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" },
    },
    [576] = {
        block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" },
    },
}
-- MLA on the scaled matrix instructions: four waves with keys of their own.
local mla = { native = { mxfp4 = { block_m = 16, block_k = 32, waves = 4, k_path = "async", v_path = "lds", q_path = "register", v_waves = 1 } } }
for name, value in pairs(chip.defaults.mla.wave64[576]) do mla[name] = value end
chip.defaults = {
    forward = { orientation = "kq", kq = { wave64 = kq }, qk = { wave64 = qk } },
    decode = chip.defaults.decode,
    mla = { wave64 = { [576] = mla } },
    pack = chip.defaults.pack,
    merge = chip.defaults.merge,
    append = chip.defaults.append,
    quantize = chip.defaults.quantize,
}
chip.native_fp8 = true -- matrix instructions multiply it, of the OCP's kind
chip.into_lds = { bytes = 16, file = "into_lds_gfx9" } -- bytes that a lane loads from memory into LDS; device/FILE.hip has the functions
chip.converts_bf16 = true -- v_cvt_pk_bf16_f32
chip.permlane_swap = true -- v_permlane16_swap_b32, v_permlane32_swap_b32
return chip

local chip = {}
for name, value in pairs(load("arch/cdna.lua")) do chip[name] = value end
chip.name = "gfx950"
chip.xcds = 8 -- dies to which workgroups go in turns, in a device that is not partitioned
chip.lds_bytes = 163840
chip.lds_read_banks = 64 -- for reads of 8 and 16 bytes a lane
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
-- fast) more keys a tile, to do less for each. At 256 dimensions eight waves share what is prefetched of a tile, so that two of them fit a SIMD: with
-- 16 rows each, which leaves registers to read operands ahead. Small formats are not read ahead, and 32 rows share what converting them takes, unless
-- something else takes those registers. Of fewer columns of V a tile has more keys, whose products the loads of the next ones go under.
local wide, narrow = { matrix = "32x32", block_m = 256 }, { matrix = "16x16x32", block_m = 128 }
local kq = {
    [64] = {
        matrix = "32x32", block_m = 128, block_k = 32, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" }, native = { v_path = "lds", mxfp4 = { v_path = "transpose" } },
    },
    [128] = {
        matrix = "32x32", block_m = 128, block_k = 64, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" }, native = { v_path = "lds", mxfp4 = { v_path = "transpose" } },
    },
    [192] = {
        matrix = "32x32", block_m = 128, block_k = 32, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" }, native = { v_path = "lds", mxfp4 = { v_path = "transpose" } },
    },
    [256] = {
        matrix = "16x16x32", block_m = 128, block_k = 32, waves = 8, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds", matrix = "16x16x32", block_m = 128 }, native = { v_path = "lds", mxfp4 = { v_path = "transpose" } },
        kv_dtype = wide, token = narrow, paged = narrow,
        window = narrow, softcap = narrow, alibi = narrow, bias = narrow, mask = narrow, block_mask = narrow, dropout = narrow,
        head_dim_v = {
            -- Four waves: dropout of mxfp4 lacks scalar registers in eight.
            [128] = { block_k = 64, kv_dtype = { block_k = 32 }, paged = { block_k = 32 }, dropout = { matrix = "32x32", block_k = 32, waves = 4 } },
            [192] = { block_k = 64, kv_dtype = { block_k = 32 }, paged = { block_k = 32 } },
        },
    },
    [320] = {
        matrix = "16x16", block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = { v_path = "lds" }, native = { v_path = "lds", matrix = "16x16x32", mxfp4 = { v_path = "transpose" } },
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
chip.native_fp4 = true -- matrix instructions multiply mxfp4 with its scales; device/scaled_gfx950.hip has them
chip.into_lds = { bytes = 16, file = "into_lds_gfx9" } -- bytes that a lane loads from memory into LDS; device/FILE.hip has the functions
chip.converts_bf16 = true -- v_cvt_pk_bf16_f32
chip.mixes_f16 = nil -- v_cvt_pk_f16_f32 makes two at once
chip.permlane_swap = true -- v_permlane16_swap_b32, v_permlane32_swap_b32
chip.matrix_cycles = { [16] = 16, [32] = 32 } -- of a matrix instruction, by its rows
return chip

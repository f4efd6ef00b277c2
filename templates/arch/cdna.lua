-- What the chips of CDNA have in common: waves of 64, accumulation registers beside the vector registers, matrix instructions that run beside
-- the vector unit. Sources: "AMD Instinct MI100", "MI200", "MI300" and "CDNA4 Instruction Set Architecture", LLVM's AMDGPU usage page.

-- Default tiles. A row serves head dimensions up to its key. In kq a wave has 32 query rows, so that each byte of K and V that it reads from LDS
-- serves 32 rows: at 16 the LDS would be as busy as the matrix unit. At 256 dimensions the output of 32 rows leaves registers for one wave a SIMD,
-- that of 16 for three; beyond, eight waves share a tile up to 384, where two of them fit a SIMD. In qk, which keeps a maximum and a sum for each row, it has 16.
local kq = {
    [64] = { matrix = "32x32", block_m = 128, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [128] = { matrix = "32x32", block_m = 128, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [192] = { matrix = "32x32", block_m = 128, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [256] = {
        matrix = "16x16", block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1,
        native = { matrix = "16x16x32", block_k = 32 },
    },
    [384] = {
        matrix = "16x16", block_m = 128, block_k = 16, waves = 8, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1,
        native = { matrix = "16x16x32", block_k = 32 },
    },
    [576] = {
        matrix = "16x16", block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1,
        native = { matrix = "16x16x32", block_k = 32 },
    },
}
local qk = {
    [64] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [128] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [576] = { block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
}

return {
    family = "cdna",
    atoms = { f16 = "mfma", bf16 = "mfma" },
    -- The matrix instructions, __builtin_amdgcn_mfma_f32_..., and the elements of A and B that a lane brings to each.
    matrix = {
        ["16x16"] = {
            f16 = { builtin = "16x16x16f16", element = "_Float16", length = 4 },
            bf16 = { builtin = "16x16x16bf16_1k", element = "short", length = 4 },
        },
        ["32x32"] = {
            f16 = { builtin = "32x32x8f16", element = "_Float16", length = 4 },
            bf16 = { builtin = "32x32x8bf16_1k", element = "short", length = 4 },
        },
    },
    p_shift = {}, -- powers of two by which P is made larger, for each type: see gfx90a
    mixes_f16 = true, -- v_fma_mixlo_f16, v_fma_mixhi_f16
    waves = { 64 },
    lds_bytes = 65536, -- of one workgroup
    vgprs_per_simd = 512, -- of 64 lanes
    features = { "sramecc", "xnack" },
    defaults = {
        forward = {
            orientation = "kq",
            kq = { wave64 = kq },
            qk = { wave64 = qk },
        },
        decode = { orientation = "kq", kq = { wave64 = load("arch/decode.lua").wide } },
        mla = { wave64 = load("arch/mla.lua").cdna },
        pack = { wave64 = { waves = 4 } },
        merge = { wave64 = { waves = 1 } },
        append = { wave64 = { [576] = { waves = 1 } } },
        quantize = { wave64 = { [576] = { waves = 4 } } },
    },
}

-- What the chips of CDNA have in common: waves of 64, accumulation registers beside the vector registers, matrix instructions that run beside
-- the vector unit. Sources: "AMD Instinct MI100", "MI200", "MI300" and "CDNA4 Instruction Set Architecture", LLVM's AMDGPU usage page.

-- Default tiles. A row serves head dimensions up to its key. A wave has 64 lanes for 16 query rows: an accumulator takes 4 registers.
local kq = {
    [64] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [128] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [256] = { block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
}
local qk = {
    [64] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [128] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [256] = { block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
}

return {
    family = "cdna",
    atoms = { f16 = "mfma_16", bf16 = "mfma_16" },
    -- The matrix instruction behind an atom: __builtin_amdgcn_mfma_f32_..., and the elements of A and B that a lane brings to it.
    matrix = {
        mfma_16 = { f16 = { builtin = "16x16x16f16", length = 4 }, bf16 = { builtin = "16x16x16bf16_1k", length = 4 } },
    },
    p_shift = {}, -- powers of two by which P is made larger, for each type: see gfx90a
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
        pack = { wave64 = { waves = 4 } },
    },
}

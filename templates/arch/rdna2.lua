-- What the chips of RDNA2 have in common: no matrix instructions, dot products of two halves (v_dot2c_f32_f16, also with an operand from
-- another lane). Sources: "RDNA 2 Instruction Set Architecture", LLVM's AMDGPU usage page.

-- Default tiles, as RDNA3's: an operand takes as many registers. 16 query rows a wave keep Q (or its LDS copy), the running output, the scores
-- and the prefetched tile within 256 registers.
local rdna3 = load("arch/rdna3.lua").defaults.forward
local kq = {
    [64] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [128] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [256] = { block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
    [320] = rdna3.kq.wave32[320],
    [512] = rdna3.kq.wave32[512],
    [576] = rdna3.kq.wave32[576],
}
local qk = {
    [64] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [128] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [256] = { block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
    [320] = rdna3.qk.wave32[320],
    [576] = rdna3.qk.wave32[576],
}
-- Of decoding, as RDNA3's; but a product takes registers for the lanes of both operands, so that K straight from memory fits up to 128 dimensions
-- of a wave.
local decoding = load("arch/decode.lua")
local decode = {
    [128] = decoding.narrow[128],
    [256] = decoding.with_rows({
        block_m = 16, block_k = 16, waves = 2, v_waves = 2, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1,
    }, 4, 2),
    [576] = decoding.narrow[576],
}

return {
    family = "rdna2",
    atoms = { f16 = "dot" },
    -- Files of the atom: its product of two pairs (device/), and what lanes tell one another (atoms/).
    dot = { product = "dot2_gfx10", lanes = "lanes_rdna" },
    -- Waves of 64 exist, but nothing moves a register from one half of them to the other but memory.
    mixes_f16 = true, -- v_fma_mixlo_f16, v_fma_mixhi_f16
    waves = { 32 },
    lds_bytes = 65536, -- of one workgroup
    vgprs_per_simd = 1024, -- of 32 lanes
    features = {},
    defaults = {
        forward = {
            orientation = "kq",
            kq = { wave32 = kq },
            qk = { wave32 = qk },
        },
        decode = { orientation = "kq", kq = { wave32 = decode } },
        mla = { wave32 = load("arch/mla.lua").narrow },
        pack = { wave32 = { waves = 4 } },
        merge = { wave32 = { waves = 2 } },
        append = { wave32 = { [576] = { waves = 2 } } },
        quantize = { wave32 = { [576] = { waves = 8 } } },
    },
}

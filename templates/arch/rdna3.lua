-- What the chips of RDNA3 and RDNA3.5 have in common. Sources: "RDNA3 Instruction Set Architecture" and LLVM's AMDGPU usage page.

-- Default tiles. A row serves head dimensions up to its key. 16 query rows a wave keep Q (or its LDS copy), the running output, the scores and
-- the prefetched tile within 256 registers. Up to 256 dimensions two waves share rows: each has half of Q and of the output, and four waves fit a SIMD, where
-- Q in LDS leaves room for two; where what was asked for has no room beside that, Q is in LDS all the same. Beyond, Q is read from LDS and workgroups share
-- the output's columns: at most 256 of them fit beside the rest, 160 where a tile is prefetched; at 576 the LDS holds 176 beside 32 rows of Q and 16 of K.
local kq = {
    [64] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [128] = { block_m = 64, block_k = 32, waves = 4, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [256] = {
        block_m = 64, block_k = 16, waves = 4, v_waves = 1, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1,
        dropout = { k_path = "direct" }, -- the words that a lane draws need the registers of the tile of K that is on its way
        mxfp4 = { k_path = "direct" }, -- and so do its conversions
        together = {
            block_m = 64, block_k = 32, waves = 8, v_waves = 2, k_path = "lds", v_path = "lds", q_path = "register", v_slices = 1,
            mxfp4 = { block_k = 16, waves = 4, v_waves = 1, k_path = "direct", q_path = "lds" }, -- conversions take registers
            head_dim_v = { [128] = { block_k = 16 } }, -- a part of V that is not a part of its loads takes registers, too
        },
    },
    [320] = {
        block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1, v_slices = 2,
        head_dim_v = { [160] = { v_slices = 1 } },
    },
    [512] = {
        block_m = 32, block_k = 16, waves = 2, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1, v_slices = 2,
        head_dim_v = { [256] = { v_slices = 1 } },
    },
    [576] = {
        block_m = 32, block_k = 16, waves = 2, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1, v_slices = 3,
        head_dim_v = { [176] = { v_slices = 1 }, [352] = { v_slices = 2 } },
    },
}
local qk = {
    [64] = { block_m = 64, block_k = 32, waves = 4, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [128] = { block_m = 64, block_k = 32, waves = 4, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1 },
    [256] = { block_m = 64, block_k = 16, waves = 4, k_path = "direct", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
    [320] = {
        block_m = 64, block_k = 16, waves = 4, k_path = "direct", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1, v_slices = 2,
        head_dim_v = { [160] = { v_slices = 1 } },
    },
    [576] = {
        block_m = 32, block_k = 16, waves = 2, k_path = "direct", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1, v_slices = 2,
        head_dim_v = { [256] = { v_slices = 1 } },
    },
}

return {
    family = "rdna3",
    atoms = { f16 = "wmma_gfx11", bf16 = "wmma_gfx11" },
    dual_issue = true, -- v_dual_..., in waves of 32
    waves = { 32, 64 },
    lds_bytes = 65536, -- of one workgroup
    features = {},
    defaults = {
        forward = {
            orientation = "kq",
            kq = { wave32 = kq, wave64 = kq },
            qk = { wave32 = qk, wave64 = qk },
        },
        decode = { orientation = "kq", kq = { wave32 = load("arch/decode.lua").narrow, wave64 = load("arch/decode.lua").wide } },
        mla = { wave32 = load("arch/mla.lua").narrow, wave64 = load("arch/mla.lua").wide },
        -- Four waves share a tile of 8 KiB: enough loads in flight, and in wave32 no share is so large that it takes many registers.
        pack = { wave32 = { waves = 4 }, wave64 = { waves = 4 } },
        -- Sixty-four lanes: where a few rows are decoded their workgroups reach as many compute units as they can.
        merge = { wave32 = { waves = 2 }, wave64 = { waves = 1 } },
        append = { wave32 = { [576] = { waves = 2 } }, wave64 = { [576] = { waves = 1 } } },
        quantize = { wave32 = { [576] = { waves = 8 } }, wave64 = { [576] = { waves = 4 } } },
    },
}

-- What chips of Vega without matrix instructions have in common: waves of 64, operands from the three other lanes of four (DPP). Sources: '"Vega"
-- Instruction Set Architecture' and that of "Vega" 7nm, LLVM's AMDGPU usage page.

-- Default tiles. A wave has 64 lanes for 16 query rows: an accumulator takes 4 registers, an operand 8. What lanes receive of an operand of K or V
-- serves all of a wave's row tiles: three of them, with Q in LDS, for which at 256 dimensions there is no room. There V given as columns has
-- fewer rows a workgroup: the share of a tile, element by element where rows are not aligned, takes registers that four waves do not leave. Beyond,
-- the LDS holds 48 rows of Q beside K and V, and from 328 dimensions on 32 rows beside V alone.
local kq = {
    [64] = { block_m = 192, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
    [128] = {
        block_m = 192, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1,
        token = { block_m = 128 }, -- the scales of each key have no room beside three tiles of Q and a list of pages
        attn_mask = { block_m = 128 }, -- nor have, where halves are packed by an instruction of its own, a mask's places beside those of a bias
    },
    [256] = {
        block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1,
        transposed = { block_m = 32, waves = 2 },
    },
    [320] = { block_m = 48, block_k = 16, waves = 3, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
    [576] = { block_m = 32, block_k = 16, waves = 2, k_path = "direct", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
}
-- Q is the operand whose rows lanes exchange: from registers, the compiler would hold what each lane receives of it, four times as many.
-- Beyond 320 dimensions a row's maxima and sums leave no registers for more than 256 columns.
local qk = {
    [64] = { block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
    [128] = { block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
    [256] = { block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1 },
    [320] = kq[320],
    [576] = load("arch/rdna3.lua").defaults.forward.qk.wave32[576],
}

-- Of decoding, as CDNA's; but sixteen rows of Q take registers for both operands, of which waves that share a tile of K have fewer.
local decoding = load("arch/decode.lua")
local decode = {
    [128] = decoding.with_rows(decoding.wide[128], 4, 1, { block_k = 16, q_path = "lds" }),
    [256] = decoding.with_rows(decoding.wide[256], 2, 2),
    [576] = decoding.wide[576],
}

return {
    family = "gcn5",
    atoms = { f16 = "dot" },
    -- Files of the atom: its product of two pairs (device/), and what lanes tell one another (atoms/).
    dot = { product = "fma_gfx9", lanes = "lanes_gcn" },
    waves = { 64 },
    lds_bytes = 65536, -- of one workgroup
    vgprs_per_simd = 256, -- of 64 lanes
    features = { "xnack" },
    defaults = {
        forward = {
            orientation = "kq",
            kq = { wave64 = kq },
            qk = { wave64 = qk },
        },
        decode = { orientation = "kq", kq = { wave64 = decode } },
        mla = { wave64 = load("arch/mla.lua").wide },
        pack = { wave64 = { waves = 4 } },
        merge = { wave64 = { waves = 1 } },
        append = { wave64 = { [576] = { waves = 1 } } },
        quantize = { wave64 = { [576] = { waves = 4 } } },
    },
}

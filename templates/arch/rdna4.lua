-- What the chips of RDNA4 have in common: RDNA3's limits, other matrix instructions. Sources: "RDNA4 Instruction Set Architecture" and LLVM's
-- AMDGPU usage page.
local rdna3 = load("arch/rdna3.lua")
local family = {}
for name, value in pairs(rdna3) do family[name] = value end
family.family = "rdna4"
family.grid_max = 65536 -- the numbers of a workgroup in the second and third dimension share a register
family.mixes_f16 = true -- v_fma_mixlo_f16, v_fma_mixhi_f16
-- Loads that transpose: from memory, or from LDS; device/FILE.hip has the function.
family.transposing = { wave32 = { from = "global", file = "transpose_gfx12" } }
family.native_fp8 = true -- matrix instructions multiply fp8, of the chip's own kind (fp8)
family.atoms = { f16 = "wmma_gfx12", bf16 = "wmma_gfx12" }

-- Default tiles where RDNA3's are not the best. A matrix instruction takes half the cycles, so what a tile costs besides weighs twice: eight waves
-- share the load of a tile, memory transposes V, and at 64 dimensions a tile of 64 keys shares its maximum. Operands take half RDNA3's registers.
-- What the loads that transpose cannot bring: V as columns, rows aligned to an element alone, and elements that are not of 16 bits.
local lds = { v_path = "lds" }
local function transposing(block_k)
    return {
        block_m = 128, block_k = block_k, waves = 8, k_path = "lds", v_path = "transpose", q_path = "register", pipeline = 1, gqa = 1,
        transposed = lds, align = { [2] = lds }, e4m3 = lds, e5m2 = lds, e4m3fnuz = lds, e5m2fnuz = lds, mxfp4 = lds,
    }
end
local shared = { block_m = 64, v_waves = 2 } -- two waves share rows, where one has not the registers
local kq = {
    [64] = transposing(64),
    [128] = transposing(32),
    [256] = {
        block_m = 64, block_k = 16, waves = 4, k_path = "lds", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1,
        native = { block_m = 128, waves = 8, v_waves = 1, q_path = "register" },
        together = {
            block_m = 128, block_k = 16, waves = 8, k_path = "lds", v_path = "lds", q_path = "register", v_slices = 1,
            window = shared, dropout = shared, token = shared, mxfp4 = { block_m = 64, waves = 4, q_path = "lds" },
        },
    },
    [320] = {
        block_m = 128, block_k = 16, waves = 8, k_path = "lds", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1, v_slices = 2,
        head_dim_v = { [160] = { v_slices = 1 } },
    },
    [512] = rdna3.defaults.forward.kq.wave32[512],
    [576] = rdna3.defaults.forward.kq.wave32[576],
}
family.defaults = {
    forward = {
        orientation = "kq",
        kq = { wave32 = kq, wave64 = rdna3.defaults.forward.kq.wave64 },
        qk = rdna3.defaults.forward.qk,
    },
    decode = rdna3.defaults.decode,
    mla = rdna3.defaults.mla,
    pack = rdna3.defaults.pack,
    merge = rdna3.defaults.merge,
    append = rdna3.defaults.append,
    quantize = rdna3.defaults.quantize,
}
return family

-- What the chips of RDNA4 have in common: RDNA3's limits and tiles, other matrix instructions. Sources: "RDNA4 Instruction Set Architecture"
-- and LLVM's AMDGPU usage page.
local family = {}
for name, value in pairs(load("arch/rdna3.lua")) do family[name] = value end
family.family = "rdna4"
-- Loads that transpose: from memory, or from LDS; device/FILE.hip has the function.
family.transposing = { wave32 = { from = "global", file = "transpose_gfx12" } }
family.atoms = { f16 = "wmma_gfx12", bf16 = "wmma_gfx12" }
return family

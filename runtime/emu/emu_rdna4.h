/* RDNA4 (gfx12): matrix instructions, and the load that transposes for them. */
#pragma once

/* A and B: 8 halves a lane in wave32, 4 in wave64; C and D: as many floats. */
template <class Element, int Length, class Half, class Float>
FMHA_EMU_INLINE Float fmha_emu_wmma_gfx12(const fmha_emu_site *site, Half a, Half b, Float c) {
    static_assert(Length * FMHA_EMU_WAVE == 256, "this matrix instruction needs the other wave size");
    static_assert(sizeof(Half) == 2 * Length && fmha_emu_same<fmha_emu_element<Half>, Element>::value,
                  "A and B: expected vectors of 8 (wave32) or 4 (wave64) _Float16 (f16) or short (bf16)");
    static_assert(sizeof(Float) == 4 * Length && fmha_emu_same<fmha_emu_element<Float>, float>::value,
                  "C: expected a vector of 8 floats in wave32, of 4 in wave64");
    fmha_emu_this lane = fmha_emu_this_lane();
    *(FMHA_EMU_OWN Half *)lane->a = a;
    *(FMHA_EMU_OWN Half *)lane->b = b;
    *(FMHA_EMU_OWN Float *)lane->c = c;
    fmha_emu_meet(lane, site);
    return *(FMHA_EMU_OWN Float *)lane->c;
}

#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(...)                                                          \
    FMHA_EMU_MEET(FMHA_EMU_WMMA_GFX12_F16, "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12",                         \
                  (fmha_emu_wmma_gfx12<_Float16, 8>), __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w64_gfx12(...)                                                          \
    FMHA_EMU_MEET(FMHA_EMU_WMMA_GFX12_F16, "__builtin_amdgcn_wmma_f32_16x16x16_f16_w64_gfx12",                         \
                  (fmha_emu_wmma_gfx12<_Float16, 4>), __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(...)                                                         \
    FMHA_EMU_MEET(FMHA_EMU_WMMA_GFX12_BF16, "__builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12",                       \
                  (fmha_emu_wmma_gfx12<short, 8>), __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w64_gfx12(...)                                                         \
    FMHA_EMU_MEET(FMHA_EMU_WMMA_GFX12_BF16, "__builtin_amdgcn_wmma_f32_16x16x16_bf16_w64_gfx12",                       \
                  (fmha_emu_wmma_gfx12<short, 4>), __VA_ARGS__)

typedef short fmha_emu_short8 __attribute__((ext_vector_type(8)));
typedef __fp16 fmha_emu_half8 __attribute__((ext_vector_type(8)));
typedef __bf16 fmha_emu_bfloat8 __attribute__((ext_vector_type(8)));

#define FMHA_EMU_GLOBAL_LOAD_TR(name, vector, from)                                                                    \
    ({                                                                                                                 \
        static_assert(FMHA_EMU_WAVE == 32, name " needs waves of 32");                                                 \
        FMHA_EMU_LOAD_TRANSPOSED(FMHA_EMU_GLOBAL_LOAD_TR_B128, name, vector, fmha_emu_global, from);                   \
    })
#define __builtin_amdgcn_global_load_tr_b128_v8i16(from)                                                               \
    FMHA_EMU_GLOBAL_LOAD_TR("__builtin_amdgcn_global_load_tr_b128_v8i16", fmha_emu_short8, from)
#define __builtin_amdgcn_global_load_tr_b128_v8f16(from)                                                               \
    FMHA_EMU_GLOBAL_LOAD_TR("__builtin_amdgcn_global_load_tr_b128_v8f16", fmha_emu_half8, from)
#define __builtin_amdgcn_global_load_tr_b128_v8bf16(from)                                                              \
    FMHA_EMU_GLOBAL_LOAD_TR("__builtin_amdgcn_global_load_tr_b128_v8bf16", fmha_emu_bfloat8, from)

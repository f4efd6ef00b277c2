/* RDNA3 (gfx11): matrix instructions, and what only steers time. */
#pragma once

/* A and B: 16 halves a lane; C and D: 8 floats in wave32, 4 in wave64. */
template <class Element, int Floats, class Half, class Float>
FMHA_EMU_INLINE Float fmha_emu_wmma_gfx11(const fmha_emu_site *site, Half a, Half b, Float c) {
    static_assert(Floats * FMHA_EMU_WAVE == 256, "this matrix instruction needs the other wave size");
    static_assert(sizeof(Half) == 32 && fmha_emu_same<fmha_emu_element<Half>, Element>::value,
                  "A and B: expected vectors of 16 _Float16 (f16) or 16 short (bf16)");
    static_assert(sizeof(Float) == 4 * Floats && fmha_emu_same<fmha_emu_element<Float>, float>::value,
                  "C: expected a vector of 8 floats in wave32, of 4 in wave64");
    fmha_emu_this lane = fmha_emu_this_lane();
    *(FMHA_EMU_OWN Half *)lane->a = a;
    *(FMHA_EMU_OWN Half *)lane->b = b;
    *(FMHA_EMU_OWN Float *)lane->c = c;
    fmha_emu_meet(lane, site);
    return *(FMHA_EMU_OWN Float *)lane->c;
}

#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(...)                                                                \
    FMHA_EMU_MEET(FMHA_EMU_WMMA_GFX11_F16, "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32",                               \
                  (fmha_emu_wmma_gfx11<_Float16, 8>), __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w64(...)                                                                \
    FMHA_EMU_MEET(FMHA_EMU_WMMA_GFX11_F16, "__builtin_amdgcn_wmma_f32_16x16x16_f16_w64",                               \
                  (fmha_emu_wmma_gfx11<_Float16, 4>), __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(...)                                                               \
    FMHA_EMU_MEET(FMHA_EMU_WMMA_GFX11_BF16, "__builtin_amdgcn_wmma_f32_16x16x16_bf16_w32",                             \
                  (fmha_emu_wmma_gfx11<short, 8>), __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w64(...)                                                               \
    FMHA_EMU_MEET(FMHA_EMU_WMMA_GFX11_BF16, "__builtin_amdgcn_wmma_f32_16x16x16_bf16_w64",                             \
                  (fmha_emu_wmma_gfx11<short, 4>), __VA_ARGS__)

/* Hints and waits have no effect here: memory operations are complete when they are issued, and instructions run in the
 * order of the text. Their operands must be constants, as on the device. */
template <int... Immediate> FMHA_EMU_INLINE void fmha_emu_hint() {
}
#define __builtin_amdgcn_s_setprio(level)                    fmha_emu_hint<(level)>()
#define __builtin_amdgcn_s_sleep(clocks)                     fmha_emu_hint<(clocks)>()
#define __builtin_amdgcn_s_nop(cycles)                       fmha_emu_hint<(cycles)>()
#define __builtin_amdgcn_s_waitcnt(counters)                 fmha_emu_hint<(counters)>()
#define __builtin_amdgcn_sched_barrier(mask)                 fmha_emu_hint<(mask)>()
#define __builtin_amdgcn_sched_group_barrier(mask, size, id) fmha_emu_hint<(mask), (size), (id)>()
#define __builtin_amdgcn_iglp_opt(strategy)                  fmha_emu_hint<(strategy)>()

constexpr bool fmha_emu_equal(const char *a, const char *b) {
    for (; *a != 0 && *a == *b; a++, b++) {
    }
    return *a == *b;
}

constexpr bool fmha_emu_scope_known(const char *scope) {
    constexpr const char *names[] = {
        "",       "agent",        "workgroup",        "wavefront",        "singlethread",
        "one-as", "agent-one-as", "workgroup-one-as", "wavefront-one-as", "singlethread-one-as"};
    for (const char *name : names) {
        if (fmha_emu_equal(scope, name)) {
            return true;
        }
    }
    return false;
}

/* Orders memory accesses; is no meeting point, so it does not make another lane's writes visible before that lane runs.
 */
#define __builtin_amdgcn_fence(order, scope, ...)                                                                      \
    ({                                                                                                                 \
        static_assert((order) == __ATOMIC_ACQUIRE || (order) == __ATOMIC_RELEASE || (order) == __ATOMIC_ACQ_REL ||     \
                          (order) == __ATOMIC_SEQ_CST,                                                                 \
                      "__builtin_amdgcn_fence: the order must be acquire, release, acq_rel or seq_cst");               \
        static_assert(fmha_emu_scope_known(scope), "__builtin_amdgcn_fence: unknown scope");                           \
        __atomic_signal_fence(__ATOMIC_SEQ_CST);                                                                       \
    })

/* What only steers time. */
#pragma once

/* Hints and waits have no effect here: memory operations are complete when they are issued, and instructions run in the
 * order of the text. Their operands must be constants, as on the device. */
template <int... Immediate> FMHA_EMU_INLINE void fmha_emu_hint() {
}
#define __builtin_amdgcn_s_setprio(level)                    fmha_emu_hint<(level)>()
#define __builtin_amdgcn_s_sleep(clocks)                     fmha_emu_hint<(clocks)>()
#define __builtin_amdgcn_s_nop(cycles)                       fmha_emu_hint<(cycles)>()
#define __builtin_amdgcn_sched_barrier(mask)                 fmha_emu_hint<(mask)>()
#define __builtin_amdgcn_sched_group_barrier(mask, size, id) fmha_emu_hint<(mask), (size), (id)>()
#define __builtin_amdgcn_iglp_opt(strategy)                  fmha_emu_hint<(strategy)>()

/* Loads from memory into LDS are the exception: what they bring may not be touched before a wait for it. */
#if defined(__gfx942__) || defined(__gfx950__) || defined(__gfx9_4_generic__)
#define FMHA_EMU_LOADS_INTO_LDS
/* vmcnt: bits 3:0 and 15:14. */
template <int Counters> FMHA_EMU_INLINE void fmha_emu_waitcnt() {
    unsigned left = ((unsigned)Counters & 0xfu) | ((unsigned)Counters >> 10 & 0x30u);
    fmha_emu_the_engine.wait_lds_loads((fmha_emu_lane *)fmha_emu_this_lane(), left);
}
#define __builtin_amdgcn_s_waitcnt(counters) fmha_emu_waitcnt<(counters)>()
#else
#define __builtin_amdgcn_s_waitcnt(counters) fmha_emu_hint<(counters)>()
#endif

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

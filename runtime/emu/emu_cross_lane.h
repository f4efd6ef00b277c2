/* Builtins that read other lanes, and barriers: each is a place where the lanes of a wave meet. What an operation does
 * is in the engine (ops_*.c); here are the prototypes, with those operands that an instruction encodes taken as
 * constants. */
#pragma once

FMHA_EMU_INLINE unsigned fmha_emu_exchange(const fmha_emu_site *site, unsigned source) {
    fmha_emu_this lane = fmha_emu_this_lane();
    lane->word[FMHA_EMU_SOURCE] = source;
    fmha_emu_meet(lane, site);
    return lane->word[FMHA_EMU_RESULT];
}

FMHA_EMU_INLINE unsigned fmha_emu_exchange_old(const fmha_emu_site *site, unsigned old, unsigned source) {
    fmha_emu_this lane = fmha_emu_this_lane();
    lane->word[FMHA_EMU_OLD] = old;
    return fmha_emu_exchange(site, source);
}

FMHA_EMU_INLINE unsigned fmha_emu_exchange_select(const fmha_emu_site *site, unsigned source, unsigned select) {
    fmha_emu_this lane = fmha_emu_this_lane();
    lane->word[FMHA_EMU_SELECT_LOW] = select;
    return fmha_emu_exchange(site, source);
}

FMHA_EMU_INLINE unsigned fmha_emu_writelane(const fmha_emu_site *site, unsigned source, unsigned select, unsigned old) {
    fmha_emu_this lane = fmha_emu_this_lane();
    lane->word[FMHA_EMU_OLD] = old;
    return fmha_emu_exchange_select(site, source, select);
}

FMHA_EMU_INLINE unsigned fmha_emu_permlane(const fmha_emu_site *site, unsigned old, unsigned source,
                                           unsigned select_low, unsigned select_high) {
    fmha_emu_this lane = fmha_emu_this_lane();
    lane->word[FMHA_EMU_SELECT_LOW] = select_low;
    lane->word[FMHA_EMU_SELECT_HIGH] = select_high;
    return fmha_emu_exchange_old(site, old, source);
}

FMHA_EMU_INLINE unsigned long long fmha_emu_ballot(const fmha_emu_site *site, bool predicate) {
    fmha_emu_this lane = fmha_emu_this_lane();
    unsigned low = fmha_emu_exchange(site, predicate ? 1u : 0u);
    return (unsigned long long)lane->word[FMHA_EMU_RESULT_HIGH] << 32 | low;
}

/* An integer of 32 bits: the builtin of older compilers converts a float to int, that of newer ones takes its bits. */
template <class T> FMHA_EMU_INLINE unsigned fmha_emu_dpp_operand(T value) {
    static_assert(sizeof(T) <= 4 && (T)0.5f == 0,
                  "DPP operand: expected an integer of at most 32 bits; pass a float by "
                  "__builtin_bit_cast(int, x)");
    return (unsigned)value;
}

#if defined(__GFX9__)
constexpr bool fmha_emu_gfx9 = true;
#else
constexpr bool fmha_emu_gfx9 = false;
#endif

/* Rows alone: what moves lanes of a whole wave on gfx9 (wave_shl and its like, row_bcast) is not known here. */
constexpr bool fmha_emu_dpp16_known(unsigned control) {
    return control <= 0xffu || (control >= 0x101u && control <= 0x10fu) || (control >= 0x111u && control <= 0x11fu) ||
           (control >= 0x121u && control <= 0x12fu) || control == 0x140u || control == 0x141u ||
           (control >= 0x150u && control <= 0x16fu && !fmha_emu_gfx9);
}

#define FMHA_EMU_MEET(operation, name, function, ...)                                                                  \
    ({                                                                                                                 \
        FMHA_EMU_SITE(operation, name, 0);                                                                             \
        function(&fmha_emu_site_here, ##__VA_ARGS__);                                                                  \
    })

/* Loads that exchange what they load. The pointer must be of the device's address space, as there; the load itself is
 * the macro's, so that it is checked and counted like any other of the text, in its line. */
template <class T> FMHA_EMU_INLINE const void *fmha_emu_global(__attribute__((address_space(1))) T *from) {
    return (const void *)from;
}
template <class T> FMHA_EMU_INLINE const void *fmha_emu_shared(__attribute__((address_space(3))) T *from) {
    return (const void *)from;
}
template <class Vector> FMHA_EMU_INLINE Vector fmha_emu_transpose(const fmha_emu_site *site, Vector loaded) {
    fmha_emu_this lane = fmha_emu_this_lane();
    *(FMHA_EMU_OWN Vector *)lane->a = loaded;
    fmha_emu_meet(lane, site);
    return *(FMHA_EMU_OWN Vector *)lane->a;
}
#define FMHA_EMU_LOAD_TRANSPOSED(operation, name, vector, space, from)                                                 \
    FMHA_EMU_MEET(operation, name, fmha_emu_transpose<vector>, *(const vector *)space<vector>(from))

FMHA_EMU_INLINE void fmha_emu_barrier(const fmha_emu_site *site) {
    fmha_emu_meet(fmha_emu_this_lane(), site);
}

#define __builtin_amdgcn_s_barrier() FMHA_EMU_MEET(FMHA_EMU_S_BARRIER, "__builtin_amdgcn_s_barrier", fmha_emu_barrier)
#define __builtin_amdgcn_wave_barrier()                                                                                \
    FMHA_EMU_MEET(FMHA_EMU_WAVE_BARRIER, "__builtin_amdgcn_wave_barrier", fmha_emu_barrier)

#define __builtin_amdgcn_readfirstlane(source)                                                                         \
    ((int)FMHA_EMU_MEET(FMHA_EMU_READFIRSTLANE, "__builtin_amdgcn_readfirstlane", fmha_emu_exchange,                   \
                        (unsigned)(source)))
#define __builtin_amdgcn_readlane(source, lane)                                                                        \
    ((int)FMHA_EMU_MEET(FMHA_EMU_READLANE, "__builtin_amdgcn_readlane", fmha_emu_exchange_select, (unsigned)(source),  \
                        (unsigned)(lane)))
#define __builtin_amdgcn_writelane(source, lane, old)                                                                  \
    ((int)FMHA_EMU_MEET(FMHA_EMU_WRITELANE, "__builtin_amdgcn_writelane", fmha_emu_writelane, (unsigned)(source),      \
                        (unsigned)(lane), (unsigned)(old)))
#define __builtin_amdgcn_ds_bpermute(address, source)                                                                  \
    ((int)FMHA_EMU_MEET(FMHA_EMU_DS_BPERMUTE, "__builtin_amdgcn_ds_bpermute", fmha_emu_exchange_select,                \
                        (unsigned)(source), (unsigned)(address)))
#define __builtin_amdgcn_ds_permute(address, source)                                                                   \
    ((int)FMHA_EMU_MEET(FMHA_EMU_DS_PERMUTE, "__builtin_amdgcn_ds_permute", fmha_emu_exchange_select,                  \
                        (unsigned)(source), (unsigned)(address)))
#if !defined(__GFX9__) && !defined(__GFX10__)
#define __builtin_amdgcn_permlane64(source)                                                                            \
    FMHA_EMU_MEET(FMHA_EMU_PERMLANE64, "__builtin_amdgcn_permlane64", fmha_emu_exchange, (unsigned)(source))
#endif

#define __builtin_amdgcn_ballot_w32(predicate)                                                                         \
    ({                                                                                                                 \
        static_assert(FMHA_EMU_WAVE == 32, "__builtin_amdgcn_ballot_w32 needs wave size 32");                          \
        (unsigned)FMHA_EMU_MEET(FMHA_EMU_BALLOT, "__builtin_amdgcn_ballot_w32", fmha_emu_ballot, (predicate));         \
    })
#define __builtin_amdgcn_ballot_w64(predicate)                                                                         \
    ((unsigned long)FMHA_EMU_MEET(FMHA_EMU_BALLOT, "__builtin_amdgcn_ballot_w64", fmha_emu_ballot, (predicate)))

#define __builtin_amdgcn_ds_swizzle(source, pattern)                                                                   \
    ({                                                                                                                 \
        FMHA_EMU_SITE(FMHA_EMU_DS_SWIZZLE, "__builtin_amdgcn_ds_swizzle", (unsigned)(pattern));                        \
        static_assert((unsigned)(pattern) <= 0xffffu, "__builtin_amdgcn_ds_swizzle: the pattern has 16 bits");         \
        (int)fmha_emu_exchange(&fmha_emu_site_here, (unsigned)(source));                                               \
    })

#if !defined(__GFX9__)
#define FMHA_EMU_PERMLANE(operation, name, old, source, low, high, fetch_inactive, bound_control)                      \
    ({                                                                                                                 \
        FMHA_EMU_SITE(operation, name, (bool)(fetch_inactive), (bool)(bound_control));                                 \
        fmha_emu_permlane(&fmha_emu_site_here, (unsigned)(old), (unsigned)(source), (unsigned)(low),                   \
                          (unsigned)(high));                                                                           \
    })
#define __builtin_amdgcn_permlane16(old, source, low, high, fetch_inactive, bound_control)                             \
    FMHA_EMU_PERMLANE(FMHA_EMU_PERMLANE16, "__builtin_amdgcn_permlane16", old, source, low, high, fetch_inactive,      \
                      bound_control)
#define __builtin_amdgcn_permlanex16(old, source, low, high, fetch_inactive, bound_control)                            \
    FMHA_EMU_PERMLANE(FMHA_EMU_PERMLANEX16, "__builtin_amdgcn_permlanex16", old, source, low, high, fetch_inactive,    \
                      bound_control)
#endif

#define FMHA_EMU_DPP(name, old, source, control, row_mask, bank_mask, bound_control)                                   \
    ({                                                                                                                 \
        FMHA_EMU_SITE(FMHA_EMU_DPP16, name, (unsigned)(control), (unsigned)(row_mask), (unsigned)(bank_mask),          \
                      (bool)(bound_control));                                                                          \
        static_assert(fmha_emu_dpp16_known(control),                                                                   \
                      name ": dpp_ctrl is not one that is known of this chip: quad_perm 0x000-0x0ff, "                 \
                           "row_shl 0x101-0x10f, row_shr 0x111-0x11f, row_ror 0x121-0x12f, row_mirror 0x140, "         \
                           "row_half_mirror 0x141, row_share 0x150-0x15f, row_xmask 0x160-0x16f (not on gfx9)");       \
        static_assert((unsigned)(row_mask) <= 15 && (unsigned)(bank_mask) <= 15, name ": masks have 4 bits");          \
        (int)fmha_emu_exchange_old(&fmha_emu_site_here, fmha_emu_dpp_operand(old), fmha_emu_dpp_operand(source));      \
    })
#define __builtin_amdgcn_update_dpp(old, source, control, row_mask, bank_mask, bound_control)                          \
    FMHA_EMU_DPP("__builtin_amdgcn_update_dpp", old, source, control, row_mask, bank_mask, bound_control)
/* What a lane keeps that receives nothing is undefined here; the poison makes it a NaN. */
#define __builtin_amdgcn_mov_dpp(source, control, row_mask, bank_mask, bound_control)                                  \
    FMHA_EMU_DPP("__builtin_amdgcn_mov_dpp", 0xffffffffu, source, control, row_mask, bank_mask, bound_control)
#if !defined(__GFX9__)
#define __builtin_amdgcn_mov_dpp8(source, selectors)                                                                   \
    ({                                                                                                                 \
        FMHA_EMU_SITE(FMHA_EMU_DPP8, "__builtin_amdgcn_mov_dpp8", (unsigned)(selectors));                              \
        static_assert((unsigned)(selectors) <= 0xffffffu, "__builtin_amdgcn_mov_dpp8: eight selectors of 3 bits");     \
        fmha_emu_exchange(&fmha_emu_site_here, fmha_emu_dpp_operand(source));                                          \
    })
#endif

/* CDNA (gfx908, gfx90a, gfx942, gfx950): matrix instructions; the exchange of rows and the transposing load that CDNA4
 * adds; from gfx942 on loads from memory into LDS. */
#pragma once

/* A and B: `Length` halves a lane; C and D: M M / 64 floats. */
template <class Element, int Length, int Floats, class Half, class Float>
FMHA_EMU_INLINE Float fmha_emu_mfma(const fmha_emu_site *site, Half a, Half b, Float c) {
    static_assert(FMHA_EMU_WAVE == 64, "matrix instructions of CDNA need waves of 64");
    static_assert(sizeof(Half) == 2 * Length && fmha_emu_same<fmha_emu_element<Half>, Element>::value,
                  "A and B: expected vectors of _Float16 (f16), short (bf16) or __bf16 (bf16 of CDNA4), as many as the "
                  "instruction takes of a lane");
    static_assert(sizeof(Float) == 4 * Floats && fmha_emu_same<fmha_emu_element<Float>, float>::value,
                  "C: expected a vector of 4 floats (16x16) or of 16 (32x32)");
    /* As words: clang may take moves of __bf16 for conversions, for which libgcc 12 has no function. */
    typedef unsigned Words __attribute__((ext_vector_type(Length / 2)));
    fmha_emu_this lane = fmha_emu_this_lane();
    *(FMHA_EMU_OWN Words *)lane->a = fmha_emu_bits<Words>(a);
    *(FMHA_EMU_OWN Words *)lane->b = fmha_emu_bits<Words>(b);
    *(FMHA_EMU_OWN Float *)lane->c = c;
    fmha_emu_meet(lane, site);
    return *(FMHA_EMU_OWN Float *)lane->c;
}

/* cbsz, abid and blgp permute blocks of A and lanes of B: not known here. */
#define FMHA_EMU_MFMA(operation, name, element, length, floats, a, b, c, cbsz, abid, blgp)                             \
    ({                                                                                                                 \
        static_assert((cbsz) == 0 && (abid) == 0 && (blgp) == 0, name ": cbsz, abid and blgp: expected 0");            \
        FMHA_EMU_MEET(operation, name, (fmha_emu_mfma<element, length, floats>), (a), (b), (c));                       \
    })

#define __builtin_amdgcn_mfma_f32_16x16x16f16(...)                                                                     \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_16X16X16_F16, "__builtin_amdgcn_mfma_f32_16x16x16f16", _Float16, 4, 4, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x8f16(...)                                                                      \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_32X32X8_F16, "__builtin_amdgcn_mfma_f32_32x32x8f16", _Float16, 4, 16, __VA_ARGS__)
/* The first chip's bf16 takes half as many elements; the second has it still. */
#if defined(__gfx908__) || defined(__gfx90a__)
#define __builtin_amdgcn_mfma_f32_16x16x8bf16(...)                                                                     \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_16X16X8_BF16, "__builtin_amdgcn_mfma_f32_16x16x8bf16", short, 2, 4, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x4bf16(...)                                                                     \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_32X32X4_BF16, "__builtin_amdgcn_mfma_f32_32x32x4bf16", short, 2, 16, __VA_ARGS__)
#endif
#if !defined(__gfx908__)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(...)                                                                 \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_16X16X16_BF16, "__builtin_amdgcn_mfma_f32_16x16x16bf16_1k", short, 4, 4, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(...)                                                                  \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_32X32X8_BF16, "__builtin_amdgcn_mfma_f32_32x32x8bf16_1k", short, 4, 16, __VA_ARGS__)
#endif

#if defined(__gfx950__)
#define __builtin_amdgcn_mfma_f32_16x16x32_f16(...)                                                                    \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_16X16X32_F16, "__builtin_amdgcn_mfma_f32_16x16x32_f16", _Float16, 8, 4, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x16_f16(...)                                                                    \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_32X32X16_F16, "__builtin_amdgcn_mfma_f32_32x32x16_f16", _Float16, 8, 16, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x32_bf16(...)                                                                   \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_16X16X32_BF16, "__builtin_amdgcn_mfma_f32_16x16x32_bf16", __bf16, 8, 4, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x16_bf16(...)                                                                   \
    FMHA_EMU_MFMA(FMHA_EMU_MFMA_32X32X16_BF16, "__builtin_amdgcn_mfma_f32_32x32x16_bf16", __bf16, 8, 16, __VA_ARGS__)

typedef unsigned fmha_emu_pair __attribute__((ext_vector_type(2)));

/* Both operands come back: odd rows of the first have changed places with even rows of the second. */
FMHA_EMU_INLINE fmha_emu_pair fmha_emu_swap(const fmha_emu_site *site, unsigned first, unsigned second) {
    fmha_emu_this lane = fmha_emu_this_lane();
    unsigned low = fmha_emu_exchange_old(site, first, second);
    return fmha_emu_pair{low, lane->word[FMHA_EMU_RESULT_HIGH]};
}

#define FMHA_EMU_SWAP(operation, name, first, second, fetch_inactive, bound_control)                                   \
    ({                                                                                                                 \
        FMHA_EMU_SITE(operation, name, (bool)(fetch_inactive), (bool)(bound_control));                                 \
        fmha_emu_swap(&fmha_emu_site_here, (unsigned)(first), (unsigned)(second));                                     \
    })
#define __builtin_amdgcn_permlane16_swap(...)                                                                          \
    FMHA_EMU_SWAP(FMHA_EMU_PERMLANE16_SWAP, "__builtin_amdgcn_permlane16_swap", __VA_ARGS__)
#define __builtin_amdgcn_permlane32_swap(...)                                                                          \
    FMHA_EMU_SWAP(FMHA_EMU_PERMLANE32_SWAP, "__builtin_amdgcn_permlane32_swap", __VA_ARGS__)

typedef short fmha_emu_short4 __attribute__((ext_vector_type(4)));
typedef __fp16 fmha_emu_half4 __attribute__((ext_vector_type(4)));
typedef __bf16 fmha_emu_bfloat4 __attribute__((ext_vector_type(4)));

#define FMHA_EMU_DS_READ_TR(name, vector, from)                                                                        \
    ({                                                                                                                 \
        static_assert(FMHA_EMU_WAVE == 64, name " needs waves of 64");                                                 \
        FMHA_EMU_LOAD_TRANSPOSED(FMHA_EMU_DS_READ_B64_TR_B16, name, vector, fmha_emu_shared, from);                    \
    })
#define __builtin_amdgcn_ds_read_tr16_b64_v4i16(from)                                                                  \
    FMHA_EMU_DS_READ_TR("__builtin_amdgcn_ds_read_tr16_b64_v4i16", fmha_emu_short4, from)
#define __builtin_amdgcn_ds_read_tr16_b64_v4f16(from)                                                                  \
    FMHA_EMU_DS_READ_TR("__builtin_amdgcn_ds_read_tr16_b64_v4f16", fmha_emu_half4, from)
#define __builtin_amdgcn_ds_read_tr16_b64_v4bf16(from)                                                                 \
    FMHA_EMU_DS_READ_TR("__builtin_amdgcn_ds_read_tr16_b64_v4bf16", fmha_emu_bfloat4, from)
#endif

#if defined(FMHA_EMU_LOADS_INTO_LDS)
#if defined(__gfx950__)
constexpr bool fmha_emu_load_lds_wide = true;
#else
constexpr bool fmha_emu_load_lds_wide = false;
#endif
#if defined(FMHA_EMU_CHECKS)
constexpr unsigned fmha_emu_load_lds_checked = 1;
#else
constexpr unsigned fmha_emu_load_lds_checked = 0;
#endif

FMHA_EMU_INLINE void fmha_emu_load_lds(const fmha_emu_site *site, __attribute__((address_space(1))) void *from,
                                       __attribute__((address_space(3))) void *to) {
    fmha_emu_this lane = fmha_emu_this_lane();
    FMHA_EMU_OWN unsigned long *operands = (FMHA_EMU_OWN unsigned long *)lane->a;
    operands[FMHA_EMU_LOAD_FROM] = (unsigned long)from;
    operands[FMHA_EMU_LOAD_TO] = (unsigned long)to;
    fmha_emu_meet(lane, site);
}

#define __builtin_amdgcn_global_load_lds(from, to, size, offset, auxiliary)                                            \
    ({                                                                                                                 \
        static_assert((size) == 1 || (size) == 2 || (size) == 4 ||                                                     \
                          (fmha_emu_load_lds_wide && ((size) == 12 || (size) == 16)),                                  \
                      "__builtin_amdgcn_global_load_lds: size: expected 1, 2 or 4; on gfx950 also 12 and 16");         \
        static_assert((offset) >= -4096 && (offset) <= 4095 && (auxiliary) == (auxiliary),                             \
                      "__builtin_amdgcn_global_load_lds: offset: expected -4096 to 4095");                             \
        FMHA_EMU_SITE(FMHA_EMU_GLOBAL_LOAD_LDS, "__builtin_amdgcn_global_load_lds", (size), (unsigned)(offset),        \
                      fmha_emu_load_lds_checked);                                                                      \
        fmha_emu_load_lds(&fmha_emu_site_here, (from), (to));                                                          \
    })
#endif

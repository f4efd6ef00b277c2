/* Numbers of 8 bits: the conversions of gfx942, gfx950 and gfx12, and their matrix instructions' operands. "fp8" is
 * e4m3 and "bf8" e5m2: of the fnuz kind on gfx942 ("AMD Instinct MI300 Instruction Set Architecture", Numeric Formats),
 * as the OCP has them on gfx950 and gfx12. */
#pragma once

#if defined(__gfx942__)
#define FMHA_EMU_FP8 FMHA_EMU_E4M3FNUZ
#define FMHA_EMU_BF8 FMHA_EMU_E5M2FNUZ
#else
#define FMHA_EMU_FP8 FMHA_EMU_E4M3
#define FMHA_EMU_BF8 FMHA_EMU_E5M2
#endif

/* Bits of the fraction, exponent's bias, code of the largest number; infinity and NaN without their sign. */
struct fmha_emu_small {
    int fraction, bias;
    unsigned largest, infinity, nan;
    bool fnuz;
};
constexpr fmha_emu_small fmha_emu_smalls[] = {
    {3, 7, 0x7e, 0x7f, 0x7f, false}, /* e4m3 has no infinity */
    {2, 15, 0x7b, 0x7c, 0x7f, false},
    {3, 8, 0x7f, 0x80, 0x80, true},
    {2, 16, 0x7f, 0x80, 0x80, true},
};

/* Exact. */
template <int Format> FMHA_EMU_INLINE float fmha_emu_fp8_to_f32(unsigned code) {
    constexpr fmha_emu_small of = fmha_emu_smalls[Format];
    unsigned magnitude = code & 0x7fu, sign = (code & 0x80u) << 24;
    if (of.fnuz ? (code & 0xffu) == 0x80u : magnitude > of.largest) {
        bool infinite = !of.fnuz && of.infinity != of.nan && magnitude == of.infinity;
        return fmha_emu_bits<float>(infinite ? sign | 0x7f800000u : (of.fnuz ? 0u : sign) | 0x7fc00000u);
    }
    /* As a float32 with the same fields it lacks the difference of the biases, whether it is subnormal or not. */
    float value = fmha_emu_bits<float>(magnitude << (23 - of.fraction)) *
                  fmha_emu_bits<float>((unsigned)(127 + 127 - of.bias) << 23);
    return fmha_emu_bits<float>(fmha_emu_bits<unsigned>(value) | sign);
}

/* To nearest, ties to even. What rounds beyond the largest number, and infinity, becomes infinity, and NaN where there
 * is none: so it is unless MODE.FP16_OVFL is set, which kernels here do not. */
template <int Format> FMHA_EMU_INLINE unsigned fmha_emu_f32_to_fp8(float value) {
    constexpr fmha_emu_small of = fmha_emu_smalls[Format];
    unsigned bits = fmha_emu_bits<unsigned>(value), sign = bits >> 24 & 0x80u;
    int exponent = (int)(bits >> 23 & 255u) - 127;
    constexpr int least = 1 - of.bias;
    if (value != value) {
        return of.fnuz ? of.nan : sign | of.nan;
    }
    int shift = 23 - of.fraction + (exponent < least ? least - exponent : 0);
    unsigned code = 0;
    if (shift <= 24) { /* else below the half of the smallest number; infinity is as 2^128 */
        unsigned significand = (bits & 0x7fffffu) | 0x800000u, kept = significand >> shift;
        unsigned rest = significand & ((1u << shift) - 1u), tie = 1u << (shift - 1);
        kept += rest > tie || (rest == tie && (kept & 1u)) ? 1u : 0u;
        code = kept + (exponent > least ? (unsigned)(exponent - least) << of.fraction : 0u);
    }
    if (code > of.largest) {
        return of.fnuz ? of.nan : sign | of.infinity;
    }
    return of.fnuz && code == 0 ? 0 : sign | code;
}

typedef float fmha_emu_float2 __attribute__((ext_vector_type(2)));

template <int Format, int Byte> FMHA_EMU_INLINE float fmha_emu_cvt_f32(int four) {
    static_assert(Byte >= 0 && Byte < 4, "cvt_f32_fp8, cvt_f32_bf8: expected byte 0 to 3");
    return fmha_emu_fp8_to_f32<Format>((unsigned)four >> (8 * Byte) & 0xffu);
}

template <int Format, bool High> FMHA_EMU_INLINE fmha_emu_float2 fmha_emu_cvt_pk_f32(int four) {
    unsigned pair = (unsigned)four >> (High ? 16 : 0);
    return fmha_emu_float2{fmha_emu_fp8_to_f32<Format>(pair & 0xffu), fmha_emu_fp8_to_f32<Format>(pair >> 8 & 0xffu)};
}

/* Two numbers into one half of a register, whose other half stays. */
template <int Format, bool High> FMHA_EMU_INLINE int fmha_emu_cvt_pk_fp8(float low, float high, int old) {
    unsigned pair = fmha_emu_f32_to_fp8<Format>(low) | fmha_emu_f32_to_fp8<Format>(high) << 8;
    return (int)(High ? ((unsigned)old & 0xffffu) | pair << 16 : ((unsigned)old & 0xffff0000u) | pair);
}

#define __builtin_amdgcn_cvt_f32_fp8(four, byte)    (fmha_emu_cvt_f32<FMHA_EMU_FP8, (byte)>(four))
#define __builtin_amdgcn_cvt_f32_bf8(four, byte)    (fmha_emu_cvt_f32<FMHA_EMU_BF8, (byte)>(four))
#define __builtin_amdgcn_cvt_pk_f32_fp8(four, word) (fmha_emu_cvt_pk_f32<FMHA_EMU_FP8, (bool)(word)>(four))
#define __builtin_amdgcn_cvt_pk_f32_bf8(four, word) (fmha_emu_cvt_pk_f32<FMHA_EMU_BF8, (bool)(word)>(four))
#define __builtin_amdgcn_cvt_pk_fp8_f32(low, high, old, word)                                                          \
    (fmha_emu_cvt_pk_fp8<FMHA_EMU_FP8, (bool)(word)>((low), (high), (old)))
#define __builtin_amdgcn_cvt_pk_bf8_f32(low, high, old, word)                                                          \
    (fmha_emu_cvt_pk_fp8<FMHA_EMU_BF8, (bool)(word)>((low), (high), (old)))

#if defined(__gfx950__)
/* V_CVT_SCALEF32_…: of the scale, a float32, its exponent alone counts, as a byte of E8M0; a sign and a fraction do
 * not. Numbers are multiplied by it and rounded once; what becomes a number is divided by it first. */
template <int Format, bool High> FMHA_EMU_INLINE fmha_emu_float2 fmha_emu_scaled(int four, float scale) {
    fmha_emu_float2 pair = fmha_emu_cvt_pk_f32<Format, High>(four);
    float by = (float)fmha_emu_e8m0(scale, false);
    return fmha_emu_float2{pair[0] * by, pair[1] * by};
}

/* The quotient is exact in float64, and what float64 and float32 make of it on the way is beyond the format or below
 * the half of its smallest number. */
FMHA_EMU_INLINE float fmha_emu_unscaled(float value, float scale) {
    double by = fmha_emu_e8m0(scale, false);
    return value != value ? value : by != by ? (float)by : (float)((double)value / by);
}

typedef short fmha_emu_short2 __attribute__((ext_vector_type(2)));

template <int Format, bool High> FMHA_EMU_INLINE fmha_emu_scaled_half2 fmha_emu_scaled_f16(int four, float scale) {
    fmha_emu_float2 pair = fmha_emu_scaled<Format, High>(four, scale);
    return fmha_emu_scaled_half2{fmha_emu_f32_to_f16(pair[0]), fmha_emu_f32_to_f16(pair[1])};
}

template <int Format, bool High> FMHA_EMU_INLINE fmha_emu_scaled_bfloat2 fmha_emu_scaled_bf16(int four, float scale) {
    fmha_emu_float2 pair = fmha_emu_scaled<Format, High>(four, scale);
    return fmha_emu_bits<fmha_emu_scaled_bfloat2>((unsigned)fmha_emu_f32_to_bf16(pair[0]) |
                                                  (unsigned)fmha_emu_f32_to_bf16(pair[1]) << 16);
}

template <int Format, bool High>
FMHA_EMU_INLINE fmha_emu_short2 fmha_emu_scaled_fp8(fmha_emu_short2 old, float low, float high, float scale) {
    return fmha_emu_bits<fmha_emu_short2>(fmha_emu_cvt_pk_fp8<Format, High>(
        fmha_emu_unscaled(low, scale), fmha_emu_unscaled(high, scale), fmha_emu_bits<int>(old)));
}

FMHA_EMU_INLINE float fmha_emu_widen(_Float16 value) {
    return fmha_emu_f16_to_f32(value);
}
FMHA_EMU_INLINE float fmha_emu_widen(__bf16 value) {
    return fmha_emu_bf16_to_f32(fmha_emu_bits<unsigned short>(value));
}

template <int Format, bool High, class Pair>
FMHA_EMU_INLINE fmha_emu_short2 fmha_emu_scaled_fp8(fmha_emu_short2 old, Pair pair, float scale) {
    return fmha_emu_scaled_fp8<Format, High>(old, fmha_emu_widen(pair[0]), fmha_emu_widen(pair[1]), scale);
}

#define __builtin_amdgcn_cvt_scalef32_pk_f32_fp8(four, scale, word)                                                    \
    (fmha_emu_scaled<FMHA_EMU_FP8, (bool)(word)>((four), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_f32_bf8(four, scale, word)                                                    \
    (fmha_emu_scaled<FMHA_EMU_BF8, (bool)(word)>((four), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_f16_fp8(four, scale, word)                                                    \
    (fmha_emu_scaled_f16<FMHA_EMU_FP8, (bool)(word)>((four), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_f16_bf8(four, scale, word)                                                    \
    (fmha_emu_scaled_f16<FMHA_EMU_BF8, (bool)(word)>((four), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_bf16_fp8(four, scale, word)                                                   \
    (fmha_emu_scaled_bf16<FMHA_EMU_FP8, (bool)(word)>((four), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_bf16_bf8(four, scale, word)                                                   \
    (fmha_emu_scaled_bf16<FMHA_EMU_BF8, (bool)(word)>((four), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(old, low, high, scale, word)                                          \
    (fmha_emu_scaled_fp8<FMHA_EMU_FP8, (bool)(word)>((old), (low), (high), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_bf8_f32(old, low, high, scale, word)                                          \
    (fmha_emu_scaled_fp8<FMHA_EMU_BF8, (bool)(word)>((old), (low), (high), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_fp8_f16(old, pair, scale, word)                                               \
    (fmha_emu_scaled_fp8<FMHA_EMU_FP8, (bool)(word)>((old), (pair), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_bf8_f16(old, pair, scale, word)                                               \
    (fmha_emu_scaled_fp8<FMHA_EMU_BF8, (bool)(word)>((old), (pair), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_fp8_bf16(old, pair, scale, word)                                              \
    (fmha_emu_scaled_fp8<FMHA_EMU_FP8, (bool)(word)>((old), (pair), (scale)))
#define __builtin_amdgcn_cvt_scalef32_pk_bf8_bf16(old, pair, scale, word)                                              \
    (fmha_emu_scaled_fp8<FMHA_EMU_BF8, (bool)(word)>((old), (pair), (scale)))
#endif

/* ---- Matrix instructions ------------------------------------------------------------------------------------------
 */

/* A and B: `Bytes` numbers a lane, in a scalar or a vector of integers; C and D: `Floats`. */
template <int Bytes, int Floats, class Packed, class Float>
FMHA_EMU_INLINE Float fmha_emu_matrix_fp8(const fmha_emu_site *site, Packed a, Packed b, Float c) {
    static_assert(sizeof(Packed) == Bytes, "A and B: expected as many bytes as the instruction takes of a lane");
    static_assert(sizeof(Float) == 4 * Floats && fmha_emu_same<fmha_emu_element<Float>, float>::value,
                  "C: expected a vector of as many floats as the instruction has of a lane");
    fmha_emu_this lane = fmha_emu_this_lane();
    *(FMHA_EMU_OWN Packed *)lane->a = a;
    *(FMHA_EMU_OWN Packed *)lane->b = b;
    *(FMHA_EMU_OWN Float *)lane->c = c;
    fmha_emu_meet(lane, site);
    return *(FMHA_EMU_OWN Float *)lane->c;
}

#if defined(__GFX12__)
#define FMHA_EMU_WMMA_FP8(name, lanes, packed, of_a, of_b, a, b, c)                                                    \
    ({                                                                                                                 \
        static_assert(FMHA_EMU_WAVE == (lanes), "this matrix instruction needs the other wave size");                  \
        FMHA_EMU_SITE(FMHA_EMU_WMMA_GFX12_FP8, name, of_a, of_b);                                                      \
        fmha_emu_matrix_fp8<256 / (lanes), 256 / (lanes), packed>(&fmha_emu_site_here, (a), (b), (c));                 \
    })
typedef int fmha_emu_int2 __attribute__((ext_vector_type(2)));
#define __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(...)                                                      \
    FMHA_EMU_WMMA_FP8("__builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12", 32, fmha_emu_int2, FMHA_EMU_FP8,         \
                      FMHA_EMU_FP8, __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w32_gfx12(...)                                                      \
    FMHA_EMU_WMMA_FP8("__builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w32_gfx12", 32, fmha_emu_int2, FMHA_EMU_FP8,         \
                      FMHA_EMU_BF8, __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf8_fp8_w32_gfx12(...)                                                      \
    FMHA_EMU_WMMA_FP8("__builtin_amdgcn_wmma_f32_16x16x16_bf8_fp8_w32_gfx12", 32, fmha_emu_int2, FMHA_EMU_BF8,         \
                      FMHA_EMU_FP8, __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12(...)                                                      \
    FMHA_EMU_WMMA_FP8("__builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12", 32, fmha_emu_int2, FMHA_EMU_BF8,         \
                      FMHA_EMU_BF8, __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w64_gfx12(...)                                                      \
    FMHA_EMU_WMMA_FP8("__builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w64_gfx12", 64, int, FMHA_EMU_FP8, FMHA_EMU_FP8,     \
                      __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w64_gfx12(...)                                                      \
    FMHA_EMU_WMMA_FP8("__builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w64_gfx12", 64, int, FMHA_EMU_FP8, FMHA_EMU_BF8,     \
                      __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf8_fp8_w64_gfx12(...)                                                      \
    FMHA_EMU_WMMA_FP8("__builtin_amdgcn_wmma_f32_16x16x16_bf8_fp8_w64_gfx12", 64, int, FMHA_EMU_BF8, FMHA_EMU_FP8,     \
                      __VA_ARGS__)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w64_gfx12(...)                                                      \
    FMHA_EMU_WMMA_FP8("__builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w64_gfx12", 64, int, FMHA_EMU_BF8, FMHA_EMU_BF8,     \
                      __VA_ARGS__)
#else
/* cbsz, abid and blgp permute blocks of A and lanes of B: not known here. */
#define FMHA_EMU_MFMA_FP8(operation, name, floats, of_a, of_b, a, b, c, cbsz, abid, blgp)                              \
    ({                                                                                                                 \
        static_assert((cbsz) == 0 && (abid) == 0 && (blgp) == 0, name ": cbsz, abid and blgp: expected 0");            \
        static_assert(FMHA_EMU_WAVE == 64, "matrix instructions of CDNA need waves of 64");                            \
        FMHA_EMU_SITE(operation, name, of_a, of_b);                                                                    \
        fmha_emu_matrix_fp8<8, floats, long>(&fmha_emu_site_here, (a), (b), (c));                                      \
    })
#define __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(...)                                                                \
    FMHA_EMU_MFMA_FP8(FMHA_EMU_MFMA_16X16X32_FP8, "__builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8", 4, FMHA_EMU_FP8,       \
                      FMHA_EMU_FP8, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(...)                                                                \
    FMHA_EMU_MFMA_FP8(FMHA_EMU_MFMA_16X16X32_FP8, "__builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8", 4, FMHA_EMU_FP8,       \
                      FMHA_EMU_BF8, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(...)                                                                \
    FMHA_EMU_MFMA_FP8(FMHA_EMU_MFMA_16X16X32_FP8, "__builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8", 4, FMHA_EMU_BF8,       \
                      FMHA_EMU_FP8, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(...)                                                                \
    FMHA_EMU_MFMA_FP8(FMHA_EMU_MFMA_16X16X32_FP8, "__builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8", 4, FMHA_EMU_BF8,       \
                      FMHA_EMU_BF8, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(...)                                                                \
    FMHA_EMU_MFMA_FP8(FMHA_EMU_MFMA_32X32X16_FP8, "__builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8", 16, FMHA_EMU_FP8,      \
                      FMHA_EMU_FP8, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8(...)                                                                \
    FMHA_EMU_MFMA_FP8(FMHA_EMU_MFMA_32X32X16_FP8, "__builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8", 16, FMHA_EMU_FP8,      \
                      FMHA_EMU_BF8, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8(...)                                                                \
    FMHA_EMU_MFMA_FP8(FMHA_EMU_MFMA_32X32X16_FP8, "__builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8", 16, FMHA_EMU_BF8,      \
                      FMHA_EMU_FP8, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(...)                                                                \
    FMHA_EMU_MFMA_FP8(FMHA_EMU_MFMA_32X32X16_FP8, "__builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8", 16, FMHA_EMU_BF8,      \
                      FMHA_EMU_BF8, __VA_ARGS__)
#endif

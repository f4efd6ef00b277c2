/* CDNA4 (gfx950): numbers of 8 and 4 bits whose blocks of 32 share a scale. Matrix instructions, V_MFMA_SCALE_F32_…,
 * and conversions, V_CVT_SCALEF32_…; "CDNA4 Instruction Set Architecture", chapters 7 and 12. */
#pragma once

/* A and B: 32 numbers a lane, of 4 bits in the first four of eight registers. Formats: 0 fp8 (e4m3), 1 bf8 (e5m2), 4
 * fp4 (e2m1). */
template <int Floats, class Words, class Float>
FMHA_EMU_INLINE Float fmha_emu_mfma_scaled(const fmha_emu_site *site, Words a, Words b, Float c, unsigned scale_a,
                                           unsigned scale_b) {
    static_assert(FMHA_EMU_WAVE == 64, "matrix instructions of CDNA need waves of 64");
    static_assert(sizeof(Words) == 32 && fmha_emu_same<fmha_emu_element<Words>, int>::value,
                  "A and B: expected vectors of 8 int");
    static_assert(sizeof(Float) == 4 * Floats && fmha_emu_same<fmha_emu_element<Float>, float>::value,
                  "C: expected a vector of 4 floats (16x16) or of 16 (32x32)");
    fmha_emu_this lane = fmha_emu_this_lane();
    *(FMHA_EMU_OWN Words *)lane->a = a;
    *(FMHA_EMU_OWN Words *)lane->b = b;
    *(FMHA_EMU_OWN Float *)lane->c = c;
    lane->word[FMHA_EMU_SOURCE] = scale_a;
    lane->word[FMHA_EMU_OLD] = scale_b;
    fmha_emu_meet(lane, site);
    return *(FMHA_EMU_OWN Float *)lane->c;
}

constexpr bool fmha_emu_scaled_format(int format) {
    return format == 0 || format == 1 || format == 4;
}

/* Whether compilers take the instruction without scales, in which they are 1. */
#define FMHA_EMU_CONSTANT_0(scale) (__builtin_constant_p(scale) ? (scale) == 0 : false)

#define FMHA_EMU_MFMA_SCALED(operation, name, floats, a, b, c, cbsz, blgp, byte_a, scale_a, byte_b, scale_b)           \
    ({                                                                                                                 \
        static_assert(fmha_emu_scaled_format(cbsz) && fmha_emu_scaled_format(blgp),                                    \
                      name ": cbsz and blgp: expected 0 (fp8), 1 (bf8) or 4 (fp4)");                                   \
        static_assert((byte_a) >= 0 && (byte_a) < 4 && (byte_b) >= 0 && (byte_b) < 4,                                  \
                      name ": expected bytes 0 to 3 of the scales");                                                   \
        static_assert(!FMHA_EMU_CONSTANT_0(scale_a) || !FMHA_EMU_CONSTANT_0(scale_b),                                  \
                      name ": scales of 0: expected 127, which is 1; compilers take 0 for no scales at all");          \
        FMHA_EMU_SITE(operation, name, (cbsz), (blgp), (byte_a), (byte_b));                                            \
        fmha_emu_mfma_scaled<floats>(&fmha_emu_site_here, (a), (b), (c), (unsigned)(scale_a), (unsigned)(scale_b));    \
    })
#define __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(...)                                                          \
    FMHA_EMU_MFMA_SCALED(FMHA_EMU_MFMA_SCALE_16X16X128, "__builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4", 4,         \
                         __VA_ARGS__)
#define __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(...)                                                           \
    FMHA_EMU_MFMA_SCALED(FMHA_EMU_MFMA_SCALE_32X32X64, "__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4", 16,          \
                         __VA_ARGS__)

/* ---- Conversions ----------------------------------------------------------------------------------------------------
 * Of a scale, a float, the exponent alone counts, as a byte of E8M0: 0 is 2^-127, 255 NaN. */

typedef _Float16 fmha_emu_scaled_half2 __attribute__((ext_vector_type(2)));
typedef __bf16 fmha_emu_scaled_bfloat2 __attribute__((ext_vector_type(2)));

/* 2^(byte - 127), or with `inverse` one by that. */
FMHA_EMU_INLINE double fmha_emu_e8m0(float scale, bool inverse) {
    unsigned long long byte = fmha_emu_bits<unsigned>(scale) >> 23 & 0xffu;
    unsigned long long exponent = inverse ? 1023u + 127u - byte : 1023u - 127u + byte;
    return byte == 255u ? __builtin_nan("") : fmha_emu_bits<double>(exponent << 52);
}

/* 0, 1/2, 1, 3/2, 2, 3, 4, 6 and their negatives: a sign, two bits of exponent, one of fraction. */
FMHA_EMU_INLINE double fmha_emu_e2m1(unsigned nibble) {
    unsigned exponent = nibble >> 1 & 3u, fraction = nibble & 1u;
    double magnitude = exponent == 0 ? 0.5 * fraction : (1.0 + 0.5 * fraction) * (1u << (exponent - 1u));
    return nibble & 8u ? -magnitude : magnitude;
}

/* To nearest, ties to even; what is beyond 6, and a NaN, of which no document speaks, is 6. */
FMHA_EMU_INLINE unsigned fmha_emu_to_e2m1(double value) {
    double magnitude = __builtin_fabs(value);
    unsigned sign = __builtin_signbit(value) ? 8u : 0u;
    if (!(magnitude < 5.0 || magnitude == 5.0)) {
        return sign | 7u;
    }
    double step = magnitude < 2.0 ? 0.5 : magnitude < 4.0 ? 1.0 : 2.0;
    double steps = magnitude / step, whole = (double)(int)steps, rest = steps - whole;
    double rounded = (rest > 0.5 || (rest == 0.5 && (int)whole % 2 != 0) ? whole + 1.0 : whole) * step;
    unsigned code = rounded < 2.0 ? (unsigned)(rounded * 2.0) : rounded < 4.0 ? (unsigned)rounded + 2u : 6u;
    return sign | code;
}

FMHA_EMU_INLINE fmha_emu_scaled_bfloat2 fmha_emu_cvt_bf16_fp4(unsigned words, float scale, int byte) {
    unsigned pair = words >> 8 * byte & 0xffu;
    double factor = fmha_emu_e8m0(scale, false);
    unsigned low = fmha_emu_f32_to_bf16((float)(fmha_emu_e2m1(pair & 15u) * factor));
    unsigned high = fmha_emu_f32_to_bf16((float)(fmha_emu_e2m1(pair >> 4) * factor));
    return fmha_emu_bits<fmha_emu_scaled_bfloat2>(low | high << 16);
}

/* In float32 every product is exact that is not far below the subnormals of f16. */
FMHA_EMU_INLINE fmha_emu_scaled_half2 fmha_emu_cvt_f16_fp4(unsigned words, float scale, int byte) {
    unsigned pair = words >> 8 * byte & 0xffu;
    double factor = fmha_emu_e8m0(scale, false);
    return fmha_emu_scaled_half2{fmha_emu_f32_to_f16((float)(fmha_emu_e2m1(pair & 15u) * factor)),
                                 fmha_emu_f32_to_f16((float)(fmha_emu_e2m1(pair >> 4) * factor))};
}

FMHA_EMU_INLINE unsigned fmha_emu_cvt_fp4(unsigned old, float low, float high, float scale, int byte) {
    double factor = fmha_emu_e8m0(scale, true);
    unsigned pair = fmha_emu_to_e2m1((double)low * factor) | fmha_emu_to_e2m1((double)high * factor) << 4;
    return (old & ~(0xffu << 8 * byte)) | pair << 8 * byte;
}

FMHA_EMU_INLINE unsigned fmha_emu_cvt_fp4_f16(unsigned old, fmha_emu_scaled_half2 values, float scale, int byte) {
    return fmha_emu_cvt_fp4(old, fmha_emu_f16_to_f32(values[0]), fmha_emu_f16_to_f32(values[1]), scale, byte);
}

FMHA_EMU_INLINE unsigned fmha_emu_cvt_fp4_bf16(unsigned old, fmha_emu_scaled_bfloat2 values, float scale, int byte) {
    unsigned pair = fmha_emu_bits<unsigned>(values);
    return fmha_emu_cvt_fp4(old, fmha_emu_bf16_to_f32((unsigned short)pair),
                            fmha_emu_bf16_to_f32((unsigned short)(pair >> 16)), scale, byte);
}

#define FMHA_EMU_SCALED(function, byte, ...)                                                                           \
    ({                                                                                                                 \
        static_assert((byte) >= 0 && (byte) < 4, "v_cvt_scalef32: expected a byte of 0 to 3");                         \
        function(__VA_ARGS__, (byte));                                                                                 \
    })
#define __builtin_amdgcn_cvt_scalef32_pk_bf16_fp4(words, scale, byte)                                                  \
    FMHA_EMU_SCALED(fmha_emu_cvt_bf16_fp4, byte, words, scale)
#define __builtin_amdgcn_cvt_scalef32_pk_f16_fp4(words, scale, byte)                                                   \
    FMHA_EMU_SCALED(fmha_emu_cvt_f16_fp4, byte, words, scale)
#define __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(old, low, high, scale, byte)                                          \
    FMHA_EMU_SCALED(fmha_emu_cvt_fp4, byte, old, low, high, scale)
#define __builtin_amdgcn_cvt_scalef32_pk_fp4_f16(old, values, scale, byte)                                             \
    FMHA_EMU_SCALED(fmha_emu_cvt_fp4_f16, byte, old, values, scale)
#define __builtin_amdgcn_cvt_scalef32_pk_fp4_bf16(old, values, scale, byte)                                            \
    FMHA_EMU_SCALED(fmha_emu_cvt_fp4_bf16, byte, old, values, scale)

/* Builtins that concern one lane alone. Meanings from the RDNA3 instruction set guide (VOP1, VOP2 and VOP3
 * instructions) and from LLVM's AMDGPU usage guide. Transcendental results, for which the chip promises 1 ULP, are
 * rounded correctly or within a hair of it; they do not depend on the host's mathematical library, except for the
 * logarithm. */
#pragma once

#define __builtin_amdgcn_workitem_id_x()      (fmha_emu_this_lane()->workitem[0])
#define __builtin_amdgcn_workitem_id_y()      (fmha_emu_this_lane()->workitem[1])
#define __builtin_amdgcn_workitem_id_z()      (fmha_emu_this_lane()->workitem[2])
#define __builtin_amdgcn_workgroup_id_x()     (fmha_emu_this_lane()->workgroup[0])
#define __builtin_amdgcn_workgroup_id_y()     (fmha_emu_this_lane()->workgroup[1])
#define __builtin_amdgcn_workgroup_id_z()     (fmha_emu_this_lane()->workgroup[2])
#define __builtin_amdgcn_workgroup_size_x()   ((unsigned short)fmha_emu_this_lane()->workgroup_size[0])
#define __builtin_amdgcn_workgroup_size_y()   ((unsigned short)fmha_emu_this_lane()->workgroup_size[1])
#define __builtin_amdgcn_workgroup_size_z()   ((unsigned short)fmha_emu_this_lane()->workgroup_size[2])
#define __builtin_amdgcn_grid_size_x()        (fmha_emu_grid_size(0))
#define __builtin_amdgcn_grid_size_y()        (fmha_emu_grid_size(1))
#define __builtin_amdgcn_grid_size_z()        (fmha_emu_grid_size(2))
#define __builtin_amdgcn_wavefrontsize()      ((unsigned)FMHA_EMU_WAVE)
#define __builtin_amdgcn_mbcnt_lo(mask, base) fmha_emu_mbcnt(0, mask, base)
#define __builtin_amdgcn_mbcnt_hi(mask, base) fmha_emu_mbcnt(32, mask, base)
#define __builtin_amdgcn_perm(...)            fmha_emu_perm(__VA_ARGS__)
#define __builtin_amdgcn_alignbit(...)        fmha_emu_alignbit(__VA_ARGS__)
#define __builtin_amdgcn_alignbyte(...)       fmha_emu_alignbyte(__VA_ARGS__)
#define __builtin_amdgcn_ubfe(...)            fmha_emu_ubfe(__VA_ARGS__)
#define __builtin_amdgcn_sbfe(...)            fmha_emu_sbfe(__VA_ARGS__)
#define __builtin_amdgcn_fmed3f(...)          fmha_emu_fmed3f(__VA_ARGS__)
#define __builtin_amdgcn_exp2f(...)           fmha_emu_exp2f(__VA_ARGS__)
#define __builtin_amdgcn_logf(...)            fmha_emu_logf(__VA_ARGS__)
#define __builtin_amdgcn_rcpf(...)            fmha_emu_rcpf(__VA_ARGS__)
#define __builtin_amdgcn_rsqf(...)            fmha_emu_rsqf(__VA_ARGS__)
#define __builtin_amdgcn_sqrtf(...)           fmha_emu_sqrtf(__VA_ARGS__)
#define __builtin_amdgcn_fractf(...)          fmha_emu_fractf(__VA_ARGS__)
#define __builtin_amdgcn_ldexpf(...)          fmha_emu_ldexpf(__VA_ARGS__)
#if !defined(__gfx9_generic__) /* of its chips only some have it */
#define __builtin_amdgcn_fdot2(a, b, c, clamp) fmha_emu_fdot2<(clamp)>(a, b, c)
#endif
#define __builtin_amdgcn_cvt_pkrtz(...) fmha_emu_cvt_pkrtz(__VA_ARGS__)

FMHA_EMU_INLINE unsigned fmha_emu_grid_size(int dimension) {
    return fmha_emu_this_lane()->grid[dimension] * fmha_emu_this_lane()->workgroup_size[dimension];
}

/* Bits of the mask below the lane, in the half of the wave that begins at `first`, added to base. */
FMHA_EMU_INLINE unsigned fmha_emu_mbcnt(unsigned first, unsigned mask, unsigned base) {
    unsigned lane = fmha_emu_this_lane()->index;
    unsigned below = lane <= first ? 0u : lane - first;
    return base + (unsigned)__builtin_popcount(below >= 32u ? mask : mask & ((1u << below) - 1u));
}

/* Byte i of the result is chosen by byte i of the selector from {high, low}: 0 to 7 a byte, low's first; 8 to 11 the
 * sign of the 16-bit parts, spread; 12 zero; 13 and up all ones. */
FMHA_EMU_INLINE unsigned fmha_emu_perm(unsigned high, unsigned low, unsigned selector) {
    unsigned long long data = (unsigned long long)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned choice = selector >> 8 * i & 0xffu;
        unsigned byte;
        if (choice >= 13u) {
            byte = 0xffu;
        } else if (choice == 12u) {
            byte = 0;
        } else if (choice >= 8u) {
            byte = data >> (16u * (choice - 8u) + 15u) & 1u ? 0xffu : 0;
        } else {
            byte = (unsigned)(data >> 8u * choice) & 0xffu;
        }
        result |= byte << 8 * i;
    }
    return result;
}

FMHA_EMU_INLINE unsigned fmha_emu_alignbit(unsigned high, unsigned low, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31u));
}

FMHA_EMU_INLINE unsigned fmha_emu_alignbyte(unsigned high, unsigned low, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> 8u * (shift & 3u));
}

/* Width 32 does not exist: the fields are five bits wide, and 32 reads as 0. */
FMHA_EMU_INLINE unsigned fmha_emu_ubfe(unsigned value, unsigned offset, unsigned width) {
    return value >> (offset & 31u) & ((1u << (width & 31u)) - 1u);
}

FMHA_EMU_INLINE int fmha_emu_sbfe(int value, unsigned offset, unsigned width) {
    unsigned bits = width & 31u;
    if (bits == 0) {
        return 0;
    }
    unsigned field = (unsigned)(value >> (offset & 31u)) & ((1u << bits) - 1u);
    unsigned sign = 1u << (bits - 1u);
    return (int)((field ^ sign) - sign);
}

/* What the float units do with subnormal operands and results that they do not support. */
FMHA_EMU_INLINE float fmha_emu_flush(float value) {
    unsigned bits = fmha_emu_bits<unsigned>(value);
    return fmha_emu_bits<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

FMHA_EMU_INLINE float fmha_emu_quiet_nan() {
    return fmha_emu_bits<float>(0xffc00000u); /* as the guide's examples show it: negative and quiet */
}

/* v_min_f32 and v_max_f32: a NaN loses against a number, and -0 is less than +0. */
FMHA_EMU_INLINE float fmha_emu_min(float a, float b) {
    if (a != a || b != b) {
        return b != b ? a : b;
    }
    return a < b || (a == b && __builtin_signbit(a)) ? a : b;
}

FMHA_EMU_INLINE float fmha_emu_max(float a, float b) {
    if (a != a || b != b) {
        return b != b ? a : b;
    }
    return a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}

FMHA_EMU_INLINE float fmha_emu_fmed3f(float a, float b, float c) {
    if (a != a || b != b || c != c) {
        return fmha_emu_min(fmha_emu_min(a, b), c);
    }
    float largest = fmha_emu_max(fmha_emu_max(a, b), c);
    return largest == a ? fmha_emu_max(b, c) : largest == b ? fmha_emu_max(a, c) : fmha_emu_max(a, b);
}

/* 2^x. Subnormal results are flushed to 0. In double: x = n + f with |f| <= 1/2, and the power series of 2^f up to the
 * ninth power, which leaves less than 2^-36. No branches, so that neighbouring exponentials become vectors. */
FMHA_EMU_INLINE float fmha_emu_exp2f(float x) {
    double bounded = x < -200.0f ? -200.0 : x > 200.0f ? 200.0 : (double)x;
    double shifted = bounded + 0x1.8p52; /* the integer n, in the low bits of the significand */
    double f = (bounded - (shifted - 0x1.8p52)) * 0x1.62e42fefa39efp-1;
    double f2 = f * f, f4 = f2 * f2;
    double low = 1.0 + f + (1.0 / 2 + f * (1.0 / 6)) * f2;
    double middle = 1.0 / 24 + f * (1.0 / 120) + (1.0 / 720 + f * (1.0 / 5040)) * f2;
    double high = 1.0 / 40320 + f * (1.0 / 362880);
    double series = low + (middle + high * f4) * f4;
    unsigned long long power = (fmha_emu_bits<unsigned long long>(shifted) + 1023u) << 52;
    float result = (float)(series * fmha_emu_bits<double>(power));
    result = result < 0x1p-126f ? 0.0f : result;
    return x != x ? x : result;
}

/* log2 x. Subnormal operands count as 0. */
FMHA_EMU_INLINE float fmha_emu_logf(float x) {
    float operand = fmha_emu_flush(x);
    if (operand != operand) {
        return operand;
    }
    return operand == 0  ? -__builtin_inff()
           : operand < 0 ? fmha_emu_quiet_nan()
                         : (float)__builtin_log2((double)operand);
}

FMHA_EMU_INLINE float fmha_emu_rcpf(float x) {
    return fmha_emu_flush(1.0f / fmha_emu_flush(x));
}

FMHA_EMU_INLINE float fmha_emu_sqrtf(float x) {
    float operand = fmha_emu_flush(x);
    return operand < 0 ? fmha_emu_quiet_nan() : (float)__builtin_sqrt((double)operand);
}

FMHA_EMU_INLINE float fmha_emu_rsqf(float x) {
    float operand = fmha_emu_flush(x);
    return operand < 0 ? fmha_emu_quiet_nan() : (float)(1.0 / __builtin_sqrt((double)operand));
}

/* x - floor x, below 1 even where the difference would round to 1. */
FMHA_EMU_INLINE float fmha_emu_fractf(float x) {
    float fraction = x - __builtin_floorf(x);
    return fraction >= 1.0f ? 0x1.fffffep-1f : fraction;
}

FMHA_EMU_INLINE float fmha_emu_ldexpf(float x, int exponent) {
    return __builtin_ldexpf(x, exponent);
}

typedef __fp16 fmha_emu_half2 __attribute__((ext_vector_type(2)));

FMHA_EMU_INLINE fmha_emu_half2 fmha_emu_cvt_pkrtz(float low, float high) {
    unsigned bits = (unsigned)fmha_emu_bits<unsigned short>(fmha_emu_f32_to_f16_toward_zero(low)) |
                    (unsigned)fmha_emu_bits<unsigned short>(fmha_emu_f32_to_f16_toward_zero(high)) << 16;
    return fmha_emu_bits<fmha_emu_half2>(bits);
}

/* V_DOT2_F32_F16: a.low b.low + a.high b.high + c. Products of halves are exact in float32. The guides give no order of
 * the additions: here c, plus the low product, plus the high one, each rounded. A subnormal c and a subnormal result
 * are zeros whatever the mode says (so LLVM's SIISelLowering.cpp, performFMACombine). */
template <bool Clamp, class Pair> FMHA_EMU_INLINE float fmha_emu_fdot2(Pair a, Pair b, float c) {
    static_assert(sizeof(Pair) == 4 && sizeof(fmha_emu_element<Pair>) == 2, "fdot2: expected vectors of 2 _Float16");
    unsigned left = fmha_emu_bits<unsigned>(a), right = fmha_emu_bits<unsigned>(b);
    float sum = fmha_emu_flush(c);
    for (int shift = 0; shift < 32; shift += 16) {
        sum += fmha_emu_f16_to_f32(fmha_emu_bits<_Float16>((unsigned short)(left >> shift))) *
               fmha_emu_f16_to_f32(fmha_emu_bits<_Float16>((unsigned short)(right >> shift)));
    }
    sum = fmha_emu_flush(sum);
    return !Clamp ? sum : sum > 1.0f ? 1.0f : sum > 0.0f ? sum : 0.0f;
}

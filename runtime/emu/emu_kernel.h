/* The language of a HIP kernel, for a host compiler. Included before the kernel's text by the emulated device's compile
 * step, which defines FMHA_EMU_WAVE (32 or 64), FMHA_EMU_ARCH and FMHA_EMU_SYMBOL. Needs no other header. */
#pragma once

#include "emu_abi.h"

#define FMHA_EMULATED 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))

#define FMHA_EMU_INLINE static inline __attribute__((always_inline, unused, no_sanitize("alignment")))

static fmha_emu_engine fmha_emu_the_engine;

/* The engine's own memory, whose accesses are not checked: the compiler's checks are for address space 0. */
#define FMHA_EMU_OWN __attribute__((address_space(1)))
typedef FMHA_EMU_OWN fmha_emu_lane *fmha_emu_this;

/* The same for the whole life of a lane, hence const; never inlined, so that the compiler keeps that knowledge. */
static __attribute__((noinline, const, unused)) fmha_emu_this fmha_emu_this_lane() {
    return (fmha_emu_this)fmha_emu_the_engine.lane();
}

/* The place where a macro is used. Immediate operands that are no constants do not compile, as on the device. */
#define FMHA_EMU_SITE(operation, name, ...)                                                                            \
    static constexpr fmha_emu_site fmha_emu_site_here = {__FILE__, name, __LINE__, operation, {__VA_ARGS__}}

FMHA_EMU_INLINE void fmha_emu_meet(fmha_emu_this lane, const fmha_emu_site *site) {
    fmha_emu_the_engine.meet((fmha_emu_lane *)lane, site);
}

/* Local data share. A kernel's text declares it by a macro of its own whose emulated form is fmha_emu_lds(bytes): the
 * workgroup's block for this place in the text, the same address in every lane. Several places get blocks of their own.
 */
#define fmha_emu_lds(bytes)                                                                                            \
    ({                                                                                                                 \
        FMHA_EMU_SITE(-1, "fmha_emu_lds", 0);                                                                          \
        fmha_emu_the_engine.lds((fmha_emu_lane *)fmha_emu_this_lane(), &fmha_emu_site_here, (bytes));                  \
    })
/* The block of lds_dynamic_bytes that the launch asked for. */
#define fmha_emu_lds_dynamic()                                                                                         \
    ({                                                                                                                 \
        FMHA_EMU_SITE(-1, "fmha_emu_lds_dynamic", 0);                                                                  \
        fmha_emu_the_engine.lds_dynamic((fmha_emu_lane *)fmha_emu_this_lane(), &fmha_emu_site_here);                   \
    })

/* ---- Bits ----------------------------------------------------------------------------------------------------------
 */

template <class To, class From> FMHA_EMU_INLINE To fmha_emu_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "a value of another size cannot be looked at in this way");
    return __builtin_bit_cast(To, from);
}

template <class A, class B> struct fmha_emu_same { static constexpr bool value = false; };
template <class A> struct fmha_emu_same<A, A> { static constexpr bool value = true; };
template <class A> struct fmha_emu_plain { typedef A type; };
template <class A> struct fmha_emu_plain<A &> { typedef typename fmha_emu_plain<A>::type type; };
template <class A> struct fmha_emu_plain<const A> { typedef A type; };
template <class V> using fmha_emu_element = typename fmha_emu_plain<decltype(((V *)nullptr)[0][0])>::type;

/* ---- Half precision, rounded by integer arithmetic: the host compiler may evaluate _Float16 in float ----------------
 */

/* Nearest, ties to even. NaN stays NaN, quiet; what is too large becomes an infinity. */
FMHA_EMU_INLINE _Float16 fmha_emu_f32_to_f16(float value) {
    unsigned bits = fmha_emu_bits<unsigned>(value);
    unsigned sign = bits >> 16 & 0x8000u;
    unsigned magnitude = bits & 0x7fffffffu;
    unsigned half;
    if (magnitude > 0x7f800000u) {
        half = 0x7e00u | (magnitude >> 13 & 0x1ffu);
    } else if (magnitude >= 0x477ff000u) { /* 65520 is the tie between the largest half and the next power of two */
        half = 0x7c00u;
    } else if (magnitude >= 0x38800000u) { /* 2^-14: normal */
        half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    } else if (magnitude >= 0x33000000u) { /* 2^-25 and up: subnormal, in units of 2^-24 */
        unsigned shift = 126u - (magnitude >> 23);
        unsigned significand = (magnitude & 0x7fffffu) | 0x800000u;
        unsigned kept = significand >> shift;
        unsigned rest = significand & ((1u << shift) - 1u);
        unsigned tie = 1u << (shift - 1u);
        half = kept + (rest > tie || (rest == tie && (kept & 1u)) ? 1u : 0u);
    } else {
        half = 0;
    }
    return fmha_emu_bits<_Float16>((unsigned short)(sign | half));
}

/* Toward zero: what is too large becomes the largest finite half. */
FMHA_EMU_INLINE _Float16 fmha_emu_f32_to_f16_toward_zero(float value) {
    unsigned bits = fmha_emu_bits<unsigned>(value);
    unsigned sign = bits >> 16 & 0x8000u;
    unsigned magnitude = bits & 0x7fffffffu;
    unsigned half;
    if (magnitude > 0x7f800000u) {
        half = 0x7e00u | (magnitude >> 13 & 0x1ffu);
    } else if (magnitude == 0x7f800000u) {
        half = 0x7c00u;
    } else if (magnitude >= 0x47800000u) {
        half = 0x7bffu;
    } else if (magnitude >= 0x38800000u) {
        half = (magnitude - 0x38000000u) >> 13;
    } else if (magnitude >= 0x33800000u) {
        half = ((magnitude & 0x7fffffu) | 0x800000u) >> (126u - (magnitude >> 23));
    } else {
        half = 0;
    }
    return fmha_emu_bits<_Float16>((unsigned short)(sign | half));
}

/* Exact. */
FMHA_EMU_INLINE float fmha_emu_f16_to_f32(_Float16 value) {
    unsigned half = fmha_emu_bits<unsigned short>(value);
    unsigned magnitude = (half & 0x7fffu) << 13;
    float scaled = fmha_emu_bits<float>(magnitude) * 0x1p112f;
    unsigned bits = fmha_emu_bits<unsigned>(scaled);
    if ((half & 0x7c00u) == 0x7c00u) {
        bits = magnitude | 0x7f800000u;
    }
    return fmha_emu_bits<float>(bits | (half & 0x8000u) << 16);
}

/* Nearest, ties to even. NaN stays NaN, quiet. */
FMHA_EMU_INLINE unsigned short fmha_emu_f32_to_bf16(float value) {
    unsigned bits = fmha_emu_bits<unsigned>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (unsigned short)(bits >> 16 | 0x40u);
    }
    return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

FMHA_EMU_INLINE float fmha_emu_bf16_to_f32(unsigned short value) {
    return fmha_emu_bits<float>((unsigned)value << 16);
}

/* ---- Positions ------------------------------------------------------------------------------------------------------
 */

struct fmha_emu_dim3 {
    unsigned x, y, z;
};

#define FMHA_EMU_DIM3(field)                                                                                           \
    (fmha_emu_dim3{fmha_emu_this_lane()->field[0], fmha_emu_this_lane()->field[1], fmha_emu_this_lane()->field[2]})
#define threadIdx FMHA_EMU_DIM3(workitem)
#define blockIdx  FMHA_EMU_DIM3(workgroup)
#define blockDim  FMHA_EMU_DIM3(workgroup_size)
#define gridDim   FMHA_EMU_DIM3(grid)

#include "emu_cross_lane.h"
#include "emu_hints.h"
#include "emu_math.h"
#if defined(__GFX12__)
#include "emu_rdna4.h"
#elif defined(__GFX9__) && !defined(__gfx906__) && !defined(__gfx9_generic__)
#include "emu_cdna.h"
#if defined(__gfx950__)
#include "emu_scaled.h"
#endif
#elif defined(__GFX11__)
#include "emu_rdna3.h"
#elif defined(FMHA_EMU_NVIDIA)
#include "emu_nvidia.h"
#endif
#if defined(__gfx942__) || defined(__gfx950__) || defined(__GFX12__)
#include "emu_fp8.h"
#endif

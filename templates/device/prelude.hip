//% if arch.dialect then fail("--op " .. spec.op .. " on " .. arch.name .. ": expected forward, decode or merge, which are built for its dialect; take another chip") end
//% literal = function(type) return "(" .. type .. ")" end -- of values in braces
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "this kernel computes with infinities: compile it without -ffast-math and -ffinite-math-only"
#endif

/* Kernel attributes, and what differs between the compilers that read this file. Nothing below needs a header. */
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif

#define FMHA_INLINE static __device__ inline __attribute__((always_inline, unused))

#ifdef FMHA_EMULATED /* the host's meaning of what follows, on the emulated device */
#define FMHA_KERNEL(threads) extern "C" __global__
#define FMHA_LDS(name, bytes) unsigned char *const name = (unsigned char *)fmha_emu_lds(bytes)
#define FMHA_F32_TO_F16(x) fmha_emu_f32_to_f16(x)
#define FMHA_F16_TO_F32(x) fmha_emu_f16_to_f32(x)
#else
#define FMHA_KERNEL(threads) extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(threads, threads)))
#define FMHA_LDS(name, bytes) __shared__ __attribute__((aligned(16))) unsigned char name[bytes]
#define FMHA_F32_TO_F16(x) ((_Float16)(x))
#define FMHA_F16_TO_F32(x) ((float)(x))
#endif

#if defined(FMHA_EMULATED) || !defined(__OPTIMIZE__) /* what steers the optimizer */
#define FMHA_OPAQUE(x) ((void)0)
#define FMHA_OPAQUE_UNIFORM(x) ((void)0)
#define FMHA_SCALAR(x) (x)
#define FMHA_ARGUMENTS_AGAIN(arguments) (arguments)
#define FMHA_SCHEDULE_FENCE() ((void)0)
#else
/* Hides where a value comes from, and emits nothing. A 32-bit offset so treated is added by the load itself (scalar base + 32-bit vector
 * offset) instead of being widened outside the loop and added with two instructions to every address; and what follows from
 * a value so treated is not worked out ahead of the loop, to be kept in registers. */
#define FMHA_OPAQUE(x) __asm__ volatile("" : "+v"(x))
#define FMHA_OPAQUE_UNIFORM(x) __asm__ volatile("" : "+s"(x))
/* A u32 that is the same in all lanes, in a scalar register, wherever the compiler had it; also where not all lanes are. */
#define FMHA_SCALAR(x) ((u32)__builtin_amdgcn_readfirstlane((int)(x)))
/* The kernel's arguments read once more, so that those needed at the end do not hold scalar registers through the loop. */
#define FMHA_ARGUMENTS_AGAIN(arguments) (*fmha_again(&(arguments)))
/* The scheduler moves nothing across. */
#define FMHA_SCHEDULE_FENCE() __builtin_amdgcn_sched_barrier(0)
#endif

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef u32 u32x8 __attribute__((ext_vector_type(8)));
typedef float f32x2 __attribute__((ext_vector_type(2)));

/* Waits for this wave's LDS accesses and for all waves of the workgroup. Loads from global memory stay in flight: the
 * fences are for LDS alone where the compiler can say so (clang 19 and later). */
FMHA_INLINE void fmha_barrier(void)
{
#if __clang_major__ >= 19
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
#else
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#endif
}

/* Makes what the lanes of this wave wrote to LDS visible to its other lanes. */
FMHA_INLINE void fmha_wave_barrier(void)
{
#if __clang_major__ >= 19
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront", "local");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront", "local");
#else
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
}

FMHA_INLINE float fmha_infinity(void)
{
    return __builtin_inff();
}

FMHA_INLINE int fmha_min(int a, int b)
{
    return a < b ? a : b;
}

FMHA_INLINE int fmha_max(int a, int b)
{
    return a > b ? a : b;
}

#if !defined(FMHA_EMULATED) && defined(__OPTIMIZE__)
template <class Arguments> FMHA_INLINE const Arguments *fmha_again(const Arguments *)
{
    typedef const __attribute__((address_space(4))) Arguments *constant;
    constant again = (constant)__builtin_amdgcn_kernarg_segment_ptr();
    __asm__("" : "+s"(again));
    return (const Arguments *)again;
}
#endif

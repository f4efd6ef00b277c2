//% literal = function(type) return type end -- of values in braces
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "this kernel computes with infinities: compile it without -ffast-math and -ffinite-math-only"
#endif

/* Kernel attributes, and what differs between the compilers that read this file: nvcc, NVRTC, and the host's, on the emulated device. Nothing
 * below needs a header. Compile it with -fmad=false (NVRTC: --fmad=false): the text says itself where a product and a sum are one operation. */
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#ifdef FMHA_EMULATED
#define FMHA_INLINE static __device__ inline __attribute__((always_inline, unused))
#define FMHA_KERNEL(threads) extern "C" __global__
#define FMHA_LDS_BYTES(bytes) static_assert((bytes) > 0, "")
#define FMHA_LDS(name, bytes) unsigned char *const name = (unsigned char *)fmha_emu_lds(bytes)
typedef u64 fmha_place; /* of a byte in LDS */
#else
#define FMHA_INLINE static __device__ __forceinline__
#define FMHA_KERNEL(threads) extern "C" __global__ __launch_bounds__(threads)
/* LDS is what the launch gives: whoever loads the module reads here how much. */
#define FMHA_LDS_BYTES(bytes) extern "C" __constant__ const unsigned fmha_lds_bytes = bytes
#define FMHA_LDS(name, bytes) extern __shared__ __align__(1024) unsigned char name[]
typedef u32 fmha_place;

#if defined(__CUDACC__)
#pragma nv_diag_suppress 161, 177, 550, 20199
#endif

/* What the text says in clang's words. */
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_nanf(text) __int_as_float(0x7fffffff)
#define __builtin_fabsf(x) fabsf(x)
#define __builtin_fmaf(a, b, c) __fmaf_rn(a, b, c)
#define __builtin_fmaxf(a, b) fmaxf(a, b)
#define __builtin_ctz(x) (__ffs((int)(x)) - 1)
#define __builtin_amdgcn_workitem_id_x() threadIdx.x
#define __builtin_amdgcn_workgroup_id_x() blockIdx.x
#define __builtin_amdgcn_workgroup_id_y() blockIdx.y
#define __builtin_amdgcn_workgroup_id_z() blockIdx.z
#define __builtin_amdgcn_readfirstlane(x) __shfl_sync(0xffffffff, (int)(x), 0)
#define __builtin_amdgcn_ballot_w32(predicate) __ballot_sync(0xffffffff, predicate)
#define __builtin_amdgcn_exp2f(x) fmha_exp2(x)
#define __builtin_amdgcn_logf(x) fmha_log2(x)
#define __builtin_amdgcn_rcpf(x) fmha_reciprocal(x)

FMHA_INLINE float fmha_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

FMHA_INLINE float fmha_log2(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

FMHA_INLINE float fmha_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

#define FMHA_OPAQUE(x) ((void)0)
#define FMHA_OPAQUE_UNIFORM(x) ((void)0)
#define FMHA_SCALAR(x) (x)
#define FMHA_ARGUMENTS_AGAIN(arguments) (arguments)
#define FMHA_SCHEDULE_FENCE() ((void)0)

/* n values that travel together; the compilers' own vector types are none of the device's. */
template <class T, int n> struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) fmha_vector {
    T e[n];

    fmha_vector() = default;

    __device__ explicit fmha_vector(T all)
    {
#pragma unroll
        for (int i = 0; i < n; ++i)
            e[i] = all;
    }

    template <class... Rest> __device__ fmha_vector(T first, T second, Rest... rest) : e{first, second, (T)rest...} {}

    __device__ T &operator[](int i)
    {
        return e[i];
    }

    __device__ const T &operator[](int i) const
    {
        return e[i];
    }

    __device__ void operator*=(T factor)
    {
#pragma clang fp contract(off)
#pragma unroll
        for (int i = 0; i < n; ++i)
            e[i] *= factor;
    }
};

typedef fmha_vector<u32, 2> u32x2;
typedef fmha_vector<u32, 4> u32x4;
typedef fmha_vector<u32, 8> u32x8;

/* Waits for all waves of the workgroup; what they wrote to LDS is there. */
FMHA_INLINE void fmha_barrier(void)
{
    __syncthreads();
}

/* Makes what the lanes of this wave wrote to LDS visible to its other lanes. */
FMHA_INLINE void fmha_wave_barrier(void)
{
    __syncwarp();
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

/* Where a byte in LDS is, as the instructions below want it. */
FMHA_INLINE fmha_place fmha_place_of(const void *lds)
{
#ifdef FMHA_EMULATED
    return (fmha_place)lds;
#else
    return (fmha_place)__cvta_generic_to_shared(lds);
#endif
}

/* The same as the bits of a description have it. */
FMHA_INLINE u32 fmha_shared(fmha_place place)
{
#ifdef FMHA_EMULATED
    return fmha_emu_shared_address(place);
#else
    return place;
#endif
}

/* fmha_pack_gfx1151_vt_w4
 *
 * Made by fmhagen 0.1.0. DO NOT EDIT: this command makes it anew.
 *     fmhagen generate --arch gfx1151 --op pack --v-layout transposed --wave 32 --waves 4
 *
 * Cost of one tile, which is what a workgroup has: 8192 bytes read and as many written.
 * A workgroup has 128 threads and 8192 bytes of LDS.
 */
#if defined(FMHA_ABI_VERSION) && FMHA_ABI_VERSION != 1
#error "this kernel is for ABI version 1 of libfmha: make it anew with the fmhagen of your libfmha"
#endif

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
typedef unsigned short element; /* the bits of any 16-bit format */

/* Strides in elements; the last dimension of each tensor has stride 1. */
struct fmha_pack_arguments {
    const element *from;
    element *to;
    i64 stride_from_batch;
    i64 stride_from_head;
    i64 stride_from_row;
    i64 stride_to_batch;
    i64 stride_to_head;
    i64 stride_to_row;
    int seqlen_k;
    int head_dim;
};

typedef element element8 __attribute__((ext_vector_type(8)));

/* Elements `first` to `first` + 7 of a line of `count`; 0 for those past its end, which are not read. whole: none is. */
FMHA_INLINE u32x4 fmha_load(const element *line, int first, int count, bool whole)
{
    if (whole || first + 8 <= count)
        return *(const u32x4 *)(line + first);
    element8 part = (element8)(0);
#pragma unroll
    for (int i = 0; i < 7; ++i)
        if (first + i < count)
            part[i] = line[first + i];
    return __builtin_bit_cast(u32x4, part);
}

/* Stores elements `first` to `first` + 7 of a line of `count`, but none past its end. whole: none is. */
FMHA_INLINE void fmha_store(element *line, int first, int count, bool whole, u32x4 elements)
{
    if (whole || first + 8 <= count) {
        *(u32x4 *)(line + first) = elements;
        return;
    }
    const element8 part = __builtin_bit_cast(element8, elements);
#pragma unroll
    for (int i = 0; i < 7; ++i)
        if (first + i < count)
            line[first + i] = part[i];
}

/* Word (column, pair) of the tile in LDS. */
FMHA_INLINE u32 fmha_word(u32 column, u32 pair)
{
    return column * 32 + ((pair / 4) ^ (column / 8)) * 4 + pair % 4;
}

/* A tile of one head. */
struct fmha_tile {
    const element *from; /* its first element */
    element *to;         /* where that goes */
    i64 from_stride, to_stride;
    int rows, columns; /* as many as there are of its 64 */
    u32 *lds;
};

/* Moves the thread's shares of a tile, and with the others' the whole tile. whole: it has all its rows and columns. */
FMHA_INLINE void fmha_move(const struct fmha_tile &tile, u32 thread, bool whole)
{
    const int line = (int)(thread / 8), across = (int)(thread % 8) * 8;
    /* Global memory to LDS: `line` counts pairs of rows. */
    u32x4 even[2], odd[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int row = 2 * (line + i * 16);
        const element *at = tile.from + row * tile.from_stride;
        even[i] = odd[i] = (u32x4)(0);
        if (whole || row < tile.rows)
            even[i] = fmha_load(at, across, tile.columns, whole);
        if (whole || row + 1 < tile.rows)
            odd[i] = fmha_load(at + tile.from_stride, across, tile.columns, whole);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 pair = (u32)(line + i * 16);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            tile.lds[fmha_word((u32)across + 2 * (u32)j, pair)] = __builtin_amdgcn_perm(odd[i][j], even[i][j], 0x05040100); /* the low halves */
            tile.lds[fmha_word((u32)across + 2 * (u32)j + 1, pair)] = __builtin_amdgcn_perm(odd[i][j], even[i][j], 0x07060302);
        }
    }
    fmha_barrier();
    /* LDS to global memory: `line` counts columns, `across` rows. */
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int column = line + i * 16;
        const u32x4 elements = *(const u32x4 *)(tile.lds + fmha_word((u32)column, (u32)across / 2));
        if (whole || column < tile.columns)
            fmha_store(tile.to + column * tile.to_stride, across, tile.rows, whole, elements);
    }
}

FMHA_KERNEL(128) void fmha_pack_gfx1151_vt_w4(const struct fmha_pack_arguments arguments)
{
    FMHA_LDS(lds, 8192);
    const u32 index = __builtin_amdgcn_workgroup_id_x(), tiles_across = ((u32)arguments.head_dim + 63) / 64;
    const int first_row = (int)(index / tiles_across) * 64, first_column = (int)(index % tiles_across) * 64;
    const i64 head = __builtin_amdgcn_workgroup_id_y(), batch = __builtin_amdgcn_workgroup_id_z();

    struct fmha_tile tile;
    tile.from = arguments.from + batch * arguments.stride_from_batch + head * arguments.stride_from_head + first_row * arguments.stride_from_row + first_column;
    tile.to = arguments.to + batch * arguments.stride_to_batch + head * arguments.stride_to_head + first_column * arguments.stride_to_row + first_row;
    tile.from_stride = arguments.stride_from_row;
    tile.to_stride = arguments.stride_to_row;
    tile.rows = fmha_min(arguments.seqlen_k - first_row, 64);
    tile.columns = fmha_min(arguments.head_dim - first_column, 64);
    tile.lds = (u32 *)lds;
    const u32 thread = __builtin_amdgcn_workitem_id_x();
    if (tile.rows == 64 && tile.columns == 64)
        fmha_move(tile, thread, true);
    else
        fmha_move(tile, thread, false);
}

/* fmha_forward_gfx1151_f16_d72_a2_m64k32w4
 *
 * Made by fmhagen 0.1.0. DO NOT EDIT: this command makes it anew.
 *     fmhagen generate --arch gfx1151 --dtype f16 --hd 72 --align 2 --orientation kq --wave 32 --matrix 16x16 --block-m 64 --block-k 32 --waves 4 --k-path lds --v-path lds --q-path register --pipeline 1 --gqa 1
 *
 * Cost of one key tile of a workgroup: 589824 FLOP, 9216 bytes of K and V.
 * A workgroup has 128 threads and 12048 bytes of LDS.
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
typedef _Float16 element;

/* Rounds to nearest even. */
FMHA_INLINE element fmha_to_element(float x)
{
    return FMHA_F32_TO_F16(x);
}

FMHA_INLINE float fmha_from_element(element x)
{
    return FMHA_F16_TO_F32(x);
}

typedef element element2 __attribute__((ext_vector_type(2)));

/* Two probabilities or outputs, rounded to nearest even, the first in the low half. */
FMHA_INLINE u32 fmha_pack(float low, float high)
{
    element2 pair = {fmha_to_element(low), fmha_to_element(high)};
    return __builtin_bit_cast(u32, pair);
}

/* Operands and accumulator of one matrix instruction, per lane. */
typedef _Float16 fmha_operand __attribute__((ext_vector_type(16)));
typedef float accumulator __attribute__((ext_vector_type(8)));

/* a[16 x 16] * b[16 x 16] + c[16 x 16] */
FMHA_INLINE accumulator fmha_mma(u32x8 a, u32x8 b, accumulator c)
{
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(__builtin_bit_cast(fmha_operand, a), __builtin_bit_cast(fmha_operand, b), c);
}

/* Which row of A makes element i of lane group g in D number g * 8 + i: rows of A are handed out in this order so that a
 * lane's elements of D are neighbours. natural() of a row is the number, row() of a number the row. */
FMHA_INLINE u32 fmha_natural(u32 row)
{
    return row % 2 * 8 + row / 2;
}

FMHA_INLINE u32 fmha_row(u32 natural)
{
    return natural % 8 * 2 + natural / 8;
}

/* The number of a lane group's first element of D. */
FMHA_INLINE u32 fmha_group_first(u32 group)
{
    return group * 8;
}

/* The value of the lane with the same column in the other 16 lanes of its half-wave pair. */
FMHA_INLINE u32 fmha_swap16(u32 x)
{
    return __builtin_amdgcn_permlanex16(x, x, 0x76543210, 0xfedcba98, true, true);
}

/* x combined over the lane groups of a column. */
FMHA_INLINE float fmha_group_max(float x)
{
    return __builtin_fmaxf(x, __builtin_bit_cast(float, fmha_swap16(__builtin_bit_cast(u32, x))));
}

FMHA_INLINE float fmha_group_sum(float x)
{
    return x + __builtin_bit_cast(float, fmha_swap16(__builtin_bit_cast(u32, x)));
}


/* Lane group g holds numbers 8g ... 8g + 7 of its column in four registers; every group gets all sixteen. */
FMHA_INLINE u32x8 fmha_gather_operand(const u32 own[4], u32 group)
{
    u32x8 all;
    u32 other[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        other[i] = fmha_swap16(own[i]);
    FMHA_SCHEDULE_FENCE(); /* the choices stand side by side, and their condition in the register by which two can be issued at once */
    FMHA_OPAQUE(group);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        all[i] = group ? other[i] : own[i];
        all[4 + i] = group ? own[i] : other[i];
    }
    FMHA_SCHEDULE_FENCE();
    return all;
}
/* Eight neighbouring elements. */
FMHA_INLINE u32x4 fmha_load8(const element *from)
{
    typedef element element8 __attribute__((ext_vector_type(8)));
    const element8 all = {from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]};
    return __builtin_bit_cast(u32x4, all);
}

/* Bits 15 and 31: whether the low and the high element of a register are infinite or NaN (every bit of the exponent is set). */
FMHA_INLINE u32 fmha_not_finite(u32 pair)
{
    return ((pair & 0x7c007c00) + 0x04000400) & 0x80008000;
}

/* The pair with zeros for what is not finite. */
FMHA_INLINE u32 fmha_finite(u32 pair)
{
    return pair & ~((fmha_not_finite(pair) >> 15) * 0xffff);
}

FMHA_INLINE u32x8 fmha_join(u32x4 low, u32x4 high)
{
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}

/* Where a 16-byte-aligned run of elements stands in LDS. */
FMHA_INLINE u32x4 *fmha_lds8(element *lds, u32 index)
{
    return (u32x4 *)(lds + index);
}

/* The lane's operand, sixteen neighbouring elements, out of LDS and out of global memory, where those past the first `present`, a multiple of
 * eight, are zeros. */
FMHA_INLINE u32x8 fmha_lds_operand(element *lds, u32 at)
{
    return fmha_join(*fmha_lds8(lds, at), *fmha_lds8(lds, at + 8));
}

FMHA_INLINE u32x8 fmha_load_operand(const element *from, u32 present)
{
    const u32x4 zero = {0, 0, 0, 0};
    return fmha_join(fmha_load8(from), present > 8 ? fmha_load8(from + 8) : zero);
}

/* base + offset bytes; the base is the same in all lanes, the offset below 2^32 (see the constraints). */
FMHA_INLINE const element *fmha_at(const element *base, u32 offset)
{
    return (const element *)((const char *)base + offset);
}

/* Row and column of the thread's i-th share of a tile of k, and whether it has any. */
FMHA_INLINE u32 fmha_k_row(u32 thread, u32 i)
{
    return thread / 16 + i * 8;
}

FMHA_INLINE u32 fmha_k_column(u32 thread)
{
    const u32 column = thread % 16;
    return column < 9 ? column : 8;
}

FMHA_INLINE bool fmha_k_shares(u32 thread)
{
    return thread % 16 < 9;
}

/* Row and column of the thread's i-th share of a tile of v, and whether it has any. */
FMHA_INLINE u32 fmha_v_row(u32 thread, u32 i)
{
    return thread / 32 + i * 4;
}

FMHA_INLINE u32 fmha_v_column(u32 thread)
{
    const u32 column = thread % 32;
    return column < 18 ? column : 17;
}

FMHA_INLINE bool fmha_v_shares(u32 thread)
{
    return thread % 32 < 18;
}

/* The row of a tile in LDS that holds key or dimension n. */
FMHA_INLINE u32 fmha_lds_row(u32 n)
{
    return n / 16 * 16 + fmha_row(n % 16);
}

/* The key or dimension, of 16, that a lane's operand holds. */
FMHA_INLINE u32 fmha_lane_row(u32 lane)
{
    return fmha_natural(lane % 16);
}

struct fmha_keys {
    const element *k, *v;   /* first key; the same in all lanes */
    i64 k_stride, v_stride; /* elements from row to row */
    u32 thread, lane;
    int seqlen_k;
    element *k_lds, *v_lds;
    u32 *v_broken_lds; /* per wave: 1 + the last tile of which its share of V was not finite */
    u32x4 k_next[4];
    u32 v_next[1][8][2]; /* unit, key, pair of dimensions */
};

/* Where a tile of K and of V begins. */
FMHA_INLINE const element *fmha_k_tile(const struct fmha_keys &keys, int tile)
{
    return keys.k + (i64)tile * (32 * keys.k_stride);
}

FMHA_INLINE const element *fmha_v_tile(const struct fmha_keys &keys, int tile)
{
    return keys.v + (i64)tile * (32 * keys.v_stride);
}

/* Fills in what stays the same for all tiles. Elements of LDS that no tile writes, because the head dimension is no multiple of 16,
 * become zero: K's meet zeros of Q, V's make columns that are not stored. */
FMHA_INLINE void fmha_keys_begin(struct fmha_keys &keys)
{
    for (u32 row = keys.thread; row < 32; row += 128) {
#pragma unroll
        for (u32 column = 72; column < 80; column += 8)
            *fmha_lds8(keys.k_lds, row * 88 + column) = (u32x4){0, 0, 0, 0};
    }
    for (u32 i = keys.thread; i < 32; i += 128)
        *fmha_lds8(keys.v_lds, fmha_lds_row(72 + i / 4) * 40 + i % 4 * 8) = (u32x4){0, 0, 0, 0};
    if (keys.lane == 0)
        keys.v_broken_lds[keys.thread / 32] = 0;
    (void)keys;
}

/* Starts loading the thread's i-th share of K's tile, which has at least one key. part: it may lack some. */
FMHA_INLINE void fmha_prefetch_k(struct fmha_keys &keys, int tile, bool part, u32 i)
{
    const u32 rows = (u32)(keys.seqlen_k - tile * 32);
    const element *k_tile = fmha_k_tile(keys, tile);
    u32 thread = keys.thread;
        FMHA_OPAQUE(thread); /* what follows from it is worked out here, not kept in registers through the loop */
    const u32 row = fmha_k_row(thread, i), column = fmha_k_column(thread);
    const u32 present = part && row >= rows ? rows - 1 : row;
    keys.k_next[i] = fmha_load8(k_tile + (i64)present * keys.k_stride + column * 8);
}

/* Puts what fmha_prefetch_k loaded into LDS. Between barriers. */
FMHA_INLINE void fmha_store_k(struct fmha_keys &keys, u32 i)
{
    u32 thread = keys.thread;
    const u32 row = fmha_lds_row(fmha_k_row(thread, i));
    *fmha_lds8(keys.k_lds, row * 88 + fmha_k_column(thread) * 8) = keys.k_next[i];
}

/* Starts loading the thread's i-th share of V's tile, which has at least one key. part: it may lack some. */
FMHA_INLINE void fmha_prefetch_v(struct fmha_keys &keys, int tile, bool part, u32 i)
{
    const u32 rows = (u32)(keys.seqlen_k - tile * 32);
    const element *v_tile = fmha_v_tile(keys, tile);
    u32 thread = keys.thread;
        FMHA_OPAQUE(thread); /* what follows from it is worked out here, not kept in registers through the loop */
    const u32 row = fmha_v_row(thread, i), column = fmha_v_column(thread);
#pragma unroll
    for (u32 j = 0; j < 8; ++j) {
        const u32 key = row * 8 + j, present = part && key >= rows ? rows - 1 : key;
        const element *from = v_tile + (i64)present * keys.v_stride + column * 4;
#pragma unroll
        for (u32 c = 0; c < 2; ++c) {
            typedef element element2 __attribute__((ext_vector_type(2)));
            const element2 pair = {from[2 * c], from[2 * c + 1]};
            keys.v_next[i][j][c] = __builtin_bit_cast(u32, pair);
        }
    }
}

/* Puts what fmha_prefetch_v loaded into LDS, one row a dimension. Between barriers. */
FMHA_INLINE void fmha_store_v(struct fmha_keys &keys, u32 i)
{
    u32 thread = keys.thread;
    const u32 row = fmha_v_row(thread, i), column = fmha_v_column(thread);
#pragma unroll
    for (u32 c = 0; c < 2; ++c) {
        u32x4 even, odd; /* dimensions 2c and 2c + 1 of the unit, eight keys each */
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            const u32 first = keys.v_next[i][2 * j][c], second = keys.v_next[i][2 * j + 1][c];
            even[j] = __builtin_amdgcn_perm(second, first, 0x05040100);
            odd[j] = __builtin_amdgcn_perm(second, first, 0x07060302);
        }
        const u32 dimension = column * 4 + 2 * c;
        *fmha_lds8(keys.v_lds, fmha_lds_row(dimension) * 40 + row * 8) = even;
        *fmha_lds8(keys.v_lds, fmha_lds_row(dimension + 1) * 40 + row * 8) = odd;
    }
}

/* Leaves word in LDS if one of the thread's shares `first` to `last` - 1 of V is not finite. */
FMHA_INLINE void fmha_report_v(struct fmha_keys &keys, int tile, u32 first, u32 last)
{
    u32 broken = 0;
#pragma unroll
    for (u32 i = first; i < last; ++i) {
#pragma unroll
        for (u32 j = 0; j < 8; ++j) {
#pragma unroll
            for (u32 c = 0; c < 2; ++c)
                broken |= fmha_not_finite(keys.v_next[i][j][c]);
        }
    }
    if (__builtin_amdgcn_ballot_w32(broken != 0) && keys.lane == 0)
        keys.v_broken_lds[keys.thread / 32] = (u32)tile + 1;
}

/* The thread's share of a tile that has at least one key, on its way to registers. part: it may lack some. */
FMHA_INLINE void fmha_prefetch(struct fmha_keys &keys, int tile, bool part)
{
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        fmha_prefetch_k(keys, tile, part, i);
        FMHA_SCHEDULE_FENCE(); /* bounds the registers that single elements take before they are joined */
    }
#pragma unroll
    for (u32 i = 0; i < 1; ++i) {
        fmha_prefetch_v(keys, tile, part, i);
        FMHA_SCHEDULE_FENCE(); /* bounds the registers that single elements take before they are joined */
    }
}

/* Puts what fmha_prefetch loaded into LDS; of a masked tile also whether all of V is finite. Between barriers. */
FMHA_INLINE void fmha_store_tile(struct fmha_keys &keys, int tile, bool masked)
{
    if (fmha_k_shares(keys.thread)) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i)
            fmha_store_k(keys, i);
    }
    if (fmha_v_shares(keys.thread)) {
#pragma unroll
        for (u32 i = 0; i < 1; ++i)
            fmha_store_v(keys, i);
    }
    if (masked)
        fmha_report_v(keys, tile, 0, 1);
}

/* Keys 16j ... 16j + 15 of a tile, dimensions 16t ... 16t + 15. part: some keys of the tile may not exist. */
FMHA_INLINE u32x8 fmha_k_operand(const struct fmha_keys &keys, int tile, bool part, u32 j, u32 t)
{
    const u32 at = (j * 16 + keys.lane % 16) * 88 + t * 16;
    (void)tile, (void)part;
    return fmha_lds_operand(keys.k_lds, at);
}

/* Dimensions 16t ... 16t + 15, keys 16j ... 16j + 15 of a tile. */
FMHA_INLINE u32x8 fmha_v_operand(const struct fmha_keys &keys, u32 t, u32 j)
{
    const u32 at = (t * 16 + keys.lane % 16) * 40 + j * 16;
    return fmha_lds_operand(keys.v_lds, at);
}

/* Whether V's tile, a masked one, has an element that is not finite; the same in all waves. */
FMHA_INLINE bool fmha_v_broken(const struct fmha_keys &keys, int tile)
{
    u32 broken = 0;
#pragma unroll
    for (u32 wave = 0; wave < 4; ++wave)
        broken |= keys.v_broken_lds[wave] == (u32)tile + 1;
    return __builtin_amdgcn_readfirstlane(broken);
}

/* Puts zeros in place of what is not finite in V's tile. Between barriers. */
FMHA_INLINE void fmha_clean_v(const struct fmha_keys &keys)
{
#pragma nounroll
    for (u32 i = keys.thread; i < 320; i += 128) {
        u32x4 *at = fmha_lds8(keys.v_lds, i / 4 * 40 + i % 4 * 8), v = *at;
#pragma unroll
        for (u32 j = 0; j < 4; ++j)
            v[j] = fmha_finite(v[j]);
        *at = v;
    }
}

/* An element of V that is not finite, 0 in place of one that is. Past the last dimension the last one stands in: such results are not stored. */
FMHA_INLINE float fmha_broken_element(const struct fmha_keys &keys, int key, u32 dimension)
{
    dimension = dimension < 72 ? dimension : 71;
    const element v = keys.v[(i64)key * keys.v_stride + dimension];
    return fmha_not_finite(__builtin_bit_cast(unsigned short, v)) ? fmha_from_element(v) : 0.0f;
}
/* Strides in elements; the last dimension of each tensor has stride 1. lse may be null. scale is the softmax scale. */
struct fmha_forward_arguments {
    const element *q;
    const element *k;
    const element *v;
    element *o;
    i64 stride_q_batch;
    i64 stride_q_head;
    i64 stride_q_row;
    i64 stride_k_batch;
    i64 stride_k_head;
    i64 stride_k_row;
    i64 stride_v_batch;
    i64 stride_v_head;
    i64 stride_v_row;
    i64 stride_o_batch;
    i64 stride_o_head;
    i64 stride_o_row;
    float *lse;
    int heads_q;
    int heads_k;
    int seqlen_q;
    int seqlen_k;
    float scale;
};

/* The running state of the wave's rows: per tile of 16 rows, the operand Q, the output before its division by l, the maximum m (in units of
 * log 2, after scaling) and the lane's share of the sum l. */
struct fmha_rows {
    u32x8 q[1][5];
    accumulator o[1][5];
    float m[1], l[1];
    int query[1], head[1]; /* first query and head of a tile; the same in all lanes */
    float scale_log2;
    u32 lane, group;
};

/* Loads the operand Q: the lane holds row `lane_row` of each tile of 16. The last query stands in for rows past the end. */
FMHA_INLINE void fmha_load_q(struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch, u32 lane_row)
{
#pragma unroll
    for (int r = 0; r < 1; ++r) {
        const int query = fmha_min(rows.query[r] + (int)lane_row, arguments.seqlen_q - 1);
        const element *q = arguments.q + batch * arguments.stride_q_batch + rows.head[r] * arguments.stride_q_head + query * arguments.stride_q_row;
#pragma unroll
        for (int t = 0; t < 5; ++t) {
            const u32 present = 72 - t * 16; /* elements of the row from here on */
            rows.q[r][t] = fmha_load_operand(q + t * 16, present);
        }
    }
}

FMHA_INLINE u32x8 fmha_q_operand(const struct fmha_rows &rows, int r, int t)
{
    return rows.q[r][t];
}

/* 8 neighbouring elements of a row of O. */
FMHA_INLINE void fmha_store_packed(element *to, const u32 packed[4])
{
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        to[2 * i] = __builtin_bit_cast(element, (unsigned short)packed[i]);
        to[2 * i + 1] = __builtin_bit_cast(element, (unsigned short)(packed[i] >> 16));
    }
}

/* Keys below this number are seen by the lane's query. */
FMHA_INLINE int fmha_visible(const struct fmha_rows &rows, const struct fmha_keys &keys, int r)
{
    (void)rows, (void)r;
    return keys.seqlen_k;
}

FMHA_INLINE void fmha_begin(struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
    fmha_load_q(rows, arguments, batch, rows.lane % 16);
#pragma unroll
    for (int r = 0; r < 1; ++r) {
        rows.m[r] = -0x1.fffffep127f; /* as good as -inf, which it is not: then a row that has seen no key has the weights 2^-inf = 0 */
        rows.l[r] = 0.0f;
#pragma unroll
        for (int t = 0; t < 5; ++t)
            rows.o[r][t] = (accumulator)(0.0f);
    }
}

/* Adds the elements of V that are not finite, from key `first` on, to the rows that see their keys, whatever the weight. */
FMHA_INLINE void fmha_add_broken(struct fmha_rows &rows, const struct fmha_keys &keys, int first)
{
#pragma unroll
    for (int r = 0; r < 1; ++r) {
        const int end = fmha_visible(rows, keys, r);
#pragma nounroll
        for (int key = first; key < end; ++key) {
#pragma unroll
            for (int t = 0; t < 5; ++t) {
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    const u32 dimension = (u32)t * 16 + fmha_group_first(rows.group) + (u32)i;
                    rows.o[r][t][i] += fmha_broken_element(keys, key, dimension);
                }
                FMHA_SCHEDULE_FENCE();
            }
        }
    }
}

/* Folds a tile into the rows. broken: becomes not 0 if V, straight from global memory, has something that is not finite in a masked tile. */
FMHA_INLINE void fmha_attend(struct fmha_rows &rows, const struct fmha_keys &keys, int tile, int tiles, bool masked, u32 &broken)
{
#pragma clang fp contract(off)
    accumulator s[1][2];
    u32x8 p[1][2];
    (void)tiles, (void)broken;

    /* S^T = K Q^T */
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int r = 0; r < 1; ++r)
            s[r][j] = (accumulator)(0.0f);
#pragma unroll
        for (int t = 0; t < 5; ++t) {
            const u32x8 k = fmha_k_operand(keys, tile, masked, (u32)j, (u32)t);
#pragma unroll
            for (int r = 0; r < 1; ++r)
                s[r][j] = fmha_mma(k, fmha_q_operand(rows, r, t), s[r][j]);
            if (masked && t % 2 == 1)
                FMHA_SCHEDULE_FENCE();
        }
    }

#pragma unroll
    for (int r = 0; r < 1; ++r) {
        /* m' = max(m, rowmax S). The exponent below is a difference of two products rounded alike, so it is never positive. */
        float maximum = rows.m[r];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                s[r][j][i] *= rows.scale_log2;
                if (masked) {
                    const int visible = fmha_visible(rows, keys, r) - tile * 32 - (int)fmha_group_first(rows.group);
                    s[r][j][i] = j * 16 + i < visible ? s[r][j][i] : -fmha_infinity();
                }
                maximum = __builtin_fmaxf(maximum, s[r][j][i]);
                if (masked && i % 8 == 7)
                    FMHA_SCHEDULE_FENCE(); /* the comparisons, which wait for nothing, would be made first, and hold scalar registers */
            }
        }
        maximum = fmha_group_max(maximum);
        const float reference = maximum;

        /* P = 2^(S - m'), l = alpha l + rowsum P, two by two: as packed operations, or as pairs issued at once, for which each half has a reference of its own
         * and what is alike stands side by side. */
        f32x2 sum = {0.0f, 0.0f}, references = {reference, reference};
        FMHA_OPAQUE(references);
        FMHA_OPAQUE(sum);
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            f32x2 weight[4];
            u32 own[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                weight[i] = (f32x2){s[r][j][2 * i], s[r][j][2 * i + 1]} - references;
            }
            FMHA_SCHEDULE_FENCE();
#pragma unroll
            for (int i = 0; i < 4; ++i)
                weight[i] = (f32x2){__builtin_amdgcn_exp2f(weight[i].x), __builtin_amdgcn_exp2f(weight[i].y)};
            FMHA_SCHEDULE_FENCE();
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sum += weight[i];
            FMHA_SCHEDULE_FENCE();
#pragma unroll
            for (int i = 0; i < 4; ++i)
                own[i] = fmha_pack(weight[i].x, weight[i].y);
            p[r][j] = fmha_gather_operand(own, rows.group);
        }
        FMHA_OPAQUE(sum);
        {
            const float alpha = __builtin_amdgcn_exp2f(rows.m[r] - maximum);
            rows.m[r] = maximum;
            rows.l[r] *= alpha;
#pragma unroll
            for (int t = 0; t < 5; ++t)
                rows.o[r][t] *= alpha;
        }
        rows.l[r] += sum.x + sum.y;
    }


    /* O^T = alpha O^T + V^T P^T */
#pragma unroll
    for (int t = 0; t < 5; ++t) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const u32x8 v = fmha_v_operand(keys, (u32)t, (u32)j);
#pragma unroll
            for (int r = 0; r < 1; ++r)
                rows.o[r][t] = fmha_mma(v, p[r][j], rows.o[r][t]);
        }
        if (masked || t % 4 == 3)
            FMHA_SCHEDULE_FENCE();
    }
}

/* Stores the lane's part of a row of O: o / l. */
FMHA_INLINE void fmha_store_row(element *to, const accumulator o[5], float inverse, u32 group)
{
#pragma clang fp contract(off)
#pragma unroll
    for (int t = 0; t < 5; ++t) {
        const u32 dimension = (u32)t * 16 + fmha_group_first(group);
        u32 packed[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            packed[i] = fmha_pack(o[t][2 * i] * inverse, o[t][2 * i + 1] * inverse);
        if (dimension < 72)
            fmha_store_packed(to + dimension, packed);
        FMHA_SCHEDULE_FENCE();
    }
}

/* O = o / l and LSE = log 2 (m + log2 l); a row without a visible key has l = 0, O = 0 and LSE = -inf. */
FMHA_INLINE void fmha_end(const struct fmha_rows &rows, const struct fmha_forward_arguments &arguments, i64 batch)
{
#pragma clang fp contract(off)
    u32 lane = rows.lane;
    FMHA_OPAQUE(lane); /* what follows from it is worked out here, not kept in registers through the loops */
#pragma unroll
    for (int r = 0; r < 1; ++r) {
        const int query = rows.query[r] + (int)(lane % 16);
        const float l = fmha_group_sum(rows.l[r]);
        const float inverse = l == 0.0f ? 0.0f : 1.0f / l;
        if (query >= arguments.seqlen_q)
            continue;
        if (arguments.lse && lane / 16 == 0)
            arguments.lse[(batch * arguments.heads_q + rows.head[r]) * arguments.seqlen_q + query] = 0.69314718055994531f * (rows.m[r] + __builtin_amdgcn_logf(l));
        element *o = arguments.o + batch * arguments.stride_o_batch + rows.head[r] * arguments.stride_o_head + query * arguments.stride_o_row;
        fmha_store_row(o, rows.o[r], inverse, lane / 16);
    }
}

/* One key tile: the next one is sent for, then this one is folded into the rows. `tiles` are visited in all; the first `full` of
 * them have all their keys. masked: not every row of the workgroup sees every key of the tile. In a product, the weight 0 of a masked
 * key times infinity or NaN would be NaN: so what is not finite in a masked tile's V is left out of the products, and `broken` becomes
 * not 0. */
FMHA_INLINE void fmha_step(struct fmha_rows &rows, struct fmha_keys &keys, int tile, int tiles, int full, bool masked, u32 &broken)
{
    fmha_barrier(); /* every wave is done with the tile before */
    fmha_store_tile(keys, tile, masked);
    fmha_barrier();
    if (!masked)
        fmha_prefetch(keys, fmha_min(tile + 1, full - 1), false); /* never a tile that lacks keys: no branch, no guard */
    else if (tile + 1 < tiles)
        fmha_prefetch(keys, tile + 1, true);
    FMHA_SCHEDULE_FENCE(); /* the loads go first; operands do not pile up in registers meanwhile */
    if (masked && fmha_v_broken(keys, tile)) {
        fmha_clean_v(keys);
        fmha_barrier();
        broken = 1;
    }
    fmha_attend(rows, keys, tile, tiles, masked, broken);
}

FMHA_KERNEL(128) void fmha_forward_gfx1151_f16_d72_a2_m64k32w4(const struct fmha_forward_arguments arguments)
{
#pragma clang fp contract(off)
    FMHA_LDS(lds, 12048);
    const u32 thread = __builtin_amdgcn_workitem_id_x(), lane = thread % 32;
    const int wave = (int)__builtin_amdgcn_readfirstlane(thread / 32);
    const int seqlen_k = arguments.seqlen_k;
    const int first_query = (int)__builtin_amdgcn_workgroup_id_x() * 64;
    const int head = (int)__builtin_amdgcn_workgroup_id_y() * 1;
    const i64 batch = (int)__builtin_amdgcn_workgroup_id_z();
    const i64 key_head = head / (arguments.heads_q / arguments.heads_k);

    struct fmha_keys keys;
    keys.k = arguments.k + batch * arguments.stride_k_batch + key_head * arguments.stride_k_head;
    keys.v = arguments.v + batch * arguments.stride_v_batch + key_head * arguments.stride_v_head;
    keys.k_stride = arguments.stride_k_row;
    keys.v_stride = arguments.stride_v_row;
    keys.thread = thread;
    keys.lane = lane;
    keys.seqlen_k = seqlen_k;
    keys.k_lds = (element *)lds;
    keys.v_lds = (element *)lds + 2816;
    keys.v_broken_lds = (u32 *)(lds + 12032);
    fmha_keys_begin(keys);

    struct fmha_rows rows;
    rows.scale_log2 = arguments.scale * 1.4426950408889634f; /* log2 e: every exponential is a power of two */
    FMHA_OPAQUE(rows.scale_log2); /* into a scalar register, where the chip computed it in a vector register: two are worked on at once with it */
    rows.scale_log2 = __builtin_bit_cast(float, FMHA_SCALAR(__builtin_bit_cast(u32, rows.scale_log2)));
    rows.lane = lane;
    rows.group = lane / 16;
#pragma unroll
    for (int r = 0; r < 1; ++r) {
        const int row_tile = wave * 1 + r;
        rows.query[r] = first_query + row_tile / 1 * 16;
        rows.head[r] = head + row_tile % 1;
    }
    fmha_begin(rows, arguments, batch);

    const int seen = seqlen_k, seen_by_all = seqlen_k;
    const int tiles = (seen + 31) / 32, full = seqlen_k / 32, unmasked = seen_by_all / 32;

    if (tiles > 0) {
        fmha_prefetch(keys, 0, true);
        int tile = 0;
        u32 broken = 0;
        for (; tile < unmasked; ++tile)
            fmha_step(rows, keys, tile, tiles, full, false, broken);
        if (tile > 0 && tile >= full && tile < tiles)
            fmha_prefetch(keys, tile, true); /* the last step did not send for the tile that lacks keys */
        for (; tile < tiles; ++tile)
            fmha_step(rows, keys, tile, tiles, full, true, broken);
        if (__builtin_amdgcn_ballot_w32(broken != 0))
            fmha_add_broken(rows, keys, unmasked * 32);
    }
    fmha_end(rows, FMHA_ARGUMENTS_AGAIN(arguments), batch);
}

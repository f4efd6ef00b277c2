/* Attention as three kernels that go through memory, for fmha-bench: scores, softmax, product. Plain tiles in LDS and float32
 * arithmetic, no matrix instruction. ELEMENT is 1 for f16, 2 for bf16; the first line says so. */
#if defined(__CUDACC__)
#define LANE threadIdx.x
#define GROUP_X blockIdx.x
#define GROUP_Y blockIdx.y
#define GROUP_Z blockIdx.z
#define KERNEL extern "C" __global__ __launch_bounds__(256)
#define INLINE static __device__ __forceinline__
#define LDS(name, bytes) __shared__ __align__(16) unsigned char name[bytes]
#define BARRIER() __syncthreads()
#define EXP(x) __expf(x)
#define INFINITE __int_as_float(0x7f800000)
#define FMA(x, y, z) __fmaf_rn(x, y, z)
#else
#define LANE __builtin_amdgcn_workitem_id_x()
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()
#define GROUP_Z __builtin_amdgcn_workgroup_id_z()
#define INLINE static __attribute__((device)) inline __attribute__((always_inline))
#define EXP(x) __builtin_amdgcn_exp2f((x)*1.44269504f)
#define INFINITE __builtin_inff()
#define FMA(x, y, z) __builtin_fmaf(x, y, z)
#ifdef FMHA_EMULATED
#define KERNEL extern "C" __attribute__((global))
#define LDS(name, bytes) unsigned char *const name = (unsigned char *)fmha_emu_lds(bytes)
#else
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256)))
#define LDS(name, bytes) __attribute__((shared)) __attribute__((aligned(16))) unsigned char name[bytes]
#endif
#define BARRIER()                                                                                                      \
    do {                                                                                                               \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                                         \
        __builtin_amdgcn_s_barrier();                                                                                  \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                                                         \
    } while (0)
#endif

typedef unsigned short bits16;
typedef unsigned bits32;
typedef long long i64;

/* bf16 is the upper half of a float32; f16 is what the compiler makes of it. */
#if ELEMENT == 2
INLINE float widen(bits16 x)
{
    union {
        bits32 bits;
        float number;
    } both;
    both.bits = (bits32)x << 16;
    return both.number;
}
INLINE bits16 narrow(float x)
{
    union {
        float number;
        bits32 bits;
    } both;
    both.number = x;
    return (bits16)((both.bits + 0x7fffu + (both.bits >> 16 & 1u)) >> 16);
}
#elif defined(__CUDACC__)
INLINE float widen(bits16 x)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}
INLINE bits16 narrow(float x)
{
    bits16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
#elif defined(FMHA_EMULATED)
INLINE float widen(bits16 x)
{
    _Float16 y;
    __builtin_memcpy(&y, &x, sizeof y);
    return fmha_emu_f16_to_f32(y);
}
INLINE bits16 narrow(float x)
{
    _Float16 y = fmha_emu_f32_to_f16(x);
    bits16 z;
    __builtin_memcpy(&z, &y, sizeof z);
    return z;
}
#else
INLINE float widen(bits16 x)
{
    _Float16 y;
    __builtin_memcpy(&y, &x, sizeof y);
    return (float)y;
}
INLINE bits16 narrow(float x)
{
    _Float16 y = (_Float16)x;
    bits16 z;
    __builtin_memcpy(&z, &y, sizeof z);
    return z;
}
#endif

struct product {
    const bits16 *a, *b; /* [heads][rows][depth]; B [heads_b][columns][depth] or, of the values, [heads_b][depth][columns] */
    void *c;             /* [heads][rows][columns] */
    int rows, columns, depth, group, heads_b, causal;
    float scale;
};

enum { TILE = 64, DEEP = 16, PITCH = TILE + 4 };

/* A tile of 64 x 64 of a head: each of 256 work items has 4 x 4 numbers of it. `of_values`: B's rows are the depth, and
 * C is of 16 bits. */
INLINE void multiply(const struct product &p, bool of_values, unsigned char *lds)
{
    float *const a = (float *)lds, *const b = a + DEEP * PITCH;
    const int lane = (int)LANE, across = lane % 16 * 4, down = lane / 16 * 4;
    const int row0 = (int)GROUP_Y * TILE, column0 = (int)GROUP_X * TILE, head = (int)GROUP_Z;
    const i64 head_b = head / (p.group * p.heads_b) * p.heads_b + head % (p.group * p.heads_b) / p.group;
    const bits16 *const from_a = p.a + (i64)head * p.rows * p.depth;
    const bits16 *const from_b = p.b + head_b * p.columns * p.depth;
    float sum[4][4] = {};
    for (int first = 0; first < p.depth; first += DEEP) {
        for (int i = lane; i < TILE * DEEP; i += 256) {
            const int row = i / DEEP, deep = i % DEEP;
            const bool there = row0 + row < p.rows && first + deep < p.depth;
            a[deep * PITCH + row] = there ? widen(from_a[(i64)(row0 + row) * p.depth + first + deep]) : 0.0f;
        }
        for (int i = lane; i < TILE * DEEP; i += 256) {
            const int column = of_values ? i % TILE : i / DEEP, deep = of_values ? i / TILE : i % DEEP;
            const bool there = column0 + column < p.columns && first + deep < p.depth;
            const i64 at = of_values ? (i64)(first + deep) * p.columns + column0 + column
                                     : (i64)(column0 + column) * p.depth + first + deep;
            b[deep * PITCH + column] = there ? widen(from_b[at]) : 0.0f;
        }
        BARRIER();
        for (int deep = 0; deep < DEEP; deep++) {
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) {
                    sum[i][j] = FMA(a[deep * PITCH + down + i], b[deep * PITCH + across + j], sum[i][j]);
                }
            }
        }
        BARRIER();
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int row = row0 + down + i, column = column0 + across + j;
            const i64 at = ((i64)head * p.rows + row) * p.columns + column;
            if (row >= p.rows || column >= p.columns) {
                continue;
            }
            if (of_values) {
                ((bits16 *)p.c)[at] = narrow(sum[i][j]);
            } else {
                const bool seen = !p.causal || column <= row + p.columns - p.rows;
                ((float *)p.c)[at] = seen ? sum[i][j] * p.scale : -INFINITE;
            }
        }
    }
}

KERNEL void unfused_scores(const struct product p)
{
    LDS(lds, 2 * 16 * 68 * 4);
    multiply(p, false, lds);
}

KERNEL void unfused_product(const struct product p)
{
    LDS(lds, 2 * 16 * 68 * 4);
    multiply(p, true, lds);
}

struct softmax {
    const float *scores; /* [rows][columns] */
    bits16 *weights;
    int columns;
};

/* One row of each workgroup. */
KERNEL void unfused_softmax(const struct softmax p)
{
    LDS(lds, 256 * 4);
    float *const shared = (float *)lds;
    const int lane = (int)LANE;
    const i64 row = GROUP_X;
    const float *const from = p.scores + row * p.columns;
    bits16 *const to = p.weights + row * p.columns;
    float most = -INFINITE, sum = 0.0f;
    for (int i = lane; i < p.columns; i += 256) {
        most = from[i] > most ? from[i] : most;
    }
    shared[lane] = most;
    BARRIER();
    for (int half = 128; half > 0; half /= 2) {
        if (lane < half && shared[lane + half] > shared[lane]) {
            shared[lane] = shared[lane + half];
        }
        BARRIER();
    }
    most = shared[0] > -INFINITE ? shared[0] : 0.0f;
    BARRIER();
    for (int i = lane; i < p.columns; i += 256) {
        sum += EXP(from[i] - most);
    }
    shared[lane] = sum;
    BARRIER();
    for (int half = 128; half > 0; half /= 2) {
        if (lane < half) {
            shared[lane] += shared[lane + half];
        }
        BARRIER();
    }
    const float factor = shared[0] > 0.0f ? 1.0f / shared[0] : 0.0f;
    for (int i = lane; i < p.columns; i += 256) {
        to[i] = narrow(EXP(from[i] - most) * factor);
    }
}

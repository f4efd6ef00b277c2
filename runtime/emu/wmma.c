#include "wmma.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { SIZE = 16 };

#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef float tile[SIZE][SIZE];
typedef uint16_t row16 __attribute__((vector_size(SIZE * 2)));

/* Merges pairs, quadruples and octets of neighbouring rows within each half of a vector, as vector units do it. */
#define MERGE(from, to, distance, low, high)                                                                           \
    for (unsigned i = 0; i < SIZE; i += 2 * (distance)) {                                                              \
        for (unsigned j = i; j < i + (distance); j++) {                                                                \
            (to)[j] = __builtin_shufflevector((from)[j], (from)[j + (distance)], low);                                 \
            (to)[j + (distance)] = __builtin_shufflevector((from)[j], (from)[j + (distance)], high);                   \
        }                                                                                                              \
    }
#define LOW_1  0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define HIGH_1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#define LOW_2  0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH_2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define LOW_4  0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define HIGH_4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define LOW_8  0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define HIGH_8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31

/* Columns of A, with the rows in the order in which a lane's column of C has them: those of the first group's
 * registers, then the next group's. */
ALWAYS_INLINE void transpose(const emu_lane *lanes, uint16_t columns[SIZE][SIZE], unsigned groups) {
    row16 even[SIZE], odd[SIZE];
    for (unsigned i = 0; i < SIZE; i++) {
        memcpy(&even[i], lanes[i % (SIZE / groups) * groups + i / (SIZE / groups)].seen.a, sizeof even[i]);
    }
    MERGE(even, odd, 1, LOW_1, HIGH_1);
    MERGE(odd, even, 2, LOW_2, HIGH_2);
    MERGE(even, odd, 4, LOW_4, HIGH_4);
    MERGE(odd, even, 8, LOW_8, HIGH_8);
    memcpy(columns, even, sizeof even);
}

typedef float floats4 __attribute__((vector_size(16)));
typedef uint32_t words4 __attribute__((vector_size(16)));
typedef uint16_t halves4 __attribute__((vector_size(8)));

/* Exact for every half: the multiplication moves the exponent, and makes subnormals normal. */
ALWAYS_INLINE floats4 widen4(halves4 half) {
    words4 word = __builtin_convertvector(half, words4);
    floats4 value = (floats4)((word & 0x7fffu) << 13) * 0x1p112f;
    words4 special = (words4)((word & 0x7c00u) == 0x7c00u) & 0x7f800000u;
    return (floats4)((words4)value | special | (word & 0x8000u) << 16);
}

#define VERSION(name) any_##name
#define TARGET
#define WIDTH           4
#define COLUMNS         4
#define WIDEN_F16(half) widen4(half)
#if defined(__aarch64__)
#define MULTIPLY_ADD(a, b, c) ((any_floats)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#else
ALWAYS_INLINE void fused(const float *a, const float *b, float *c) {
    for (int i = 0; i < 4; i++) {
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    }
}
#define MULTIPLY_ADD(a, b, c) (fused((const float *)&(a), (const float *)&(b), (float *)&(c)), (c))
#endif
#include "wmma_version.h"
#undef VERSION
#undef TARGET
#undef WIDTH
#undef COLUMNS
#undef MULTIPLY_ADD
#undef WIDEN_F16

#if defined(__x86_64__)

#define VERSION(name)         avx2_##name
#define TARGET                __attribute__((target("avx2,fma,f16c")))
#define WIDTH                 8
#define COLUMNS               4
#define WIDEN_F16(half)       ((avx2_floats)_mm256_cvtph_ps((__m128i)(half)))
#define MULTIPLY_ADD(a, b, c) ((avx2_floats)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "wmma_version.h"
#undef VERSION
#undef TARGET
#undef WIDTH
#undef COLUMNS
#undef MULTIPLY_ADD
#undef WIDEN_F16

#define VERSION(name)         avx512_##name
#define TARGET                __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define WIDTH                 16
#define COLUMNS               8
#define WIDEN_F16(half)       ((avx512_floats)_mm512_cvtph_ps((__m256i)(half)))
#define MULTIPLY_ADD(a, b, c) ((avx512_floats)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#include "wmma_version.h"

/* Every processor with AVX2 has F16C. */
static int has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

#define CHOOSE(kind) (has_avx512() ? avx512_##kind : has_avx2() ? avx2_##kind : any_##kind)
#else
#define CHOOSE(kind) any_##kind
#endif

void emu_wmma_f16(emu_lane *lanes, unsigned count) {
    CHOOSE(f16)(lanes, count);
}

void emu_wmma_bf16(emu_lane *lanes, unsigned count) {
    CHOOSE(bf16)(lanes, count);
}

void emu_wmma_arrays(const uint16_t a[16][16], const uint16_t b[16][16], float d[16][16], unsigned depth, bool bf16) {
    CHOOSE(arrays)(a, b, d, depth, bf16);
}

/* Attention by the transposed scheme, one head of 128, wave32, f16: a text of the emulated device's own tests, for its speed
 * and for the whole of it together. Four waves of 16 queries; tiles of 32 keys, K and the transposed V in LDS. */
typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));

struct arguments {
    const _Float16 *q, *k, *v;
    float *o;
    int keys; /* a multiple of 32 */
    float scale;
};

enum { D = 128, KEYS = 32, PAD = 8, K_ROW = D + PAD, V_ROW = KEYS + PAD };

static __device__ inline unsigned pack(float even, float odd) {
    return (unsigned)__builtin_bit_cast(unsigned short, fmha_emu_f32_to_f16(even)) |
           (unsigned)__builtin_bit_cast(unsigned short, fmha_emu_f32_to_f16(odd)) << 16;
}

static __device__ inline float other_half(float x) {
    unsigned bits = __builtin_bit_cast(unsigned, x);
    return __builtin_bit_cast(
        float, __builtin_amdgcn_permlanex16(bits, bits, 0x76543210u, 0xfedcba98u, false, false));
}

/* The lane has the keys of one parity, its counterpart in the other half those of the other; both get all 16. */
static __device__ inline half16 operand(float8 p, bool high) {
    unsigned words[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float other = other_half(p[i]);
        words[i] = high ? pack(other, p[i]) : pack(p[i], other);
    }
    return __builtin_bit_cast(half16, words);
}

extern "C" __global__ __launch_bounds__(128) void kernel(const struct arguments a) {
    _Float16 *lds_k = (_Float16 *)fmha_emu_lds(KEYS * K_ROW * sizeof(_Float16));
    _Float16 *lds_v = (_Float16 *)fmha_emu_lds(D * V_ROW * sizeof(_Float16));
    const int item = (int)__builtin_amdgcn_workitem_id_x();
    const int lane = item & 31, column = item & 15;
    const bool high = (lane & 16) != 0;
    const long query = (long)__builtin_amdgcn_workgroup_id_x() * 64 + item / 32 * 16 + column;

    half16 q[D / 16];
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
        __builtin_memcpy(&q[i], a.q + query * D + i * 16, 32);
    }
    float8 o[D / 16] = {};
    float maximum = -__builtin_inff(), sum = 0;
    const float scale = a.scale * 1.44269504f;

    for (int first = 0; first < a.keys; first += KEYS) {
        __builtin_amdgcn_s_barrier();
        for (int i = item; i < KEYS * D / 8; i += 128) {
            const int row = i / (D / 8), at = i % (D / 8) * 8;
            half8 k, v;
            __builtin_memcpy(&k, a.k + (long)(first + row) * D + at, 16);
            __builtin_memcpy(&v, a.v + (long)(first + row) * D + at, 16);
            __builtin_memcpy(lds_k + row * K_ROW + at, &k, 16);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                lds_v[(at + j) * V_ROW + row] = v[j];
            }
        }
        __builtin_amdgcn_s_barrier();

        float8 s[2] = {};
#pragma unroll
        for (int t = 0; t < 2; t++) {
#pragma unroll
            for (int i = 0; i < D / 16; i++) {
                half16 k;
                __builtin_memcpy(&k, lds_k + (t * 16 + column) * K_ROW + i * 16, 32);
                s[t] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(k, q[i], s[t]);
            }
        }
        float highest = maximum;
#pragma unroll
        for (int t = 0; t < 2; t++) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                s[t][i] *= scale;
                highest = __builtin_fmaxf(highest, s[t][i]);
            }
        }
        highest = __builtin_fmaxf(highest, other_half(highest));
        const float rescale = __builtin_amdgcn_exp2f(maximum - highest);
        maximum = highest;
        sum *= rescale;
#pragma unroll
        for (int t = 0; t < 2; t++) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                s[t][i] = __builtin_amdgcn_exp2f(s[t][i] - highest);
                sum += s[t][i];
            }
        }
#pragma unroll
        for (int i = 0; i < D / 16; i++) {
            o[i] *= rescale;
        }
#pragma unroll
        for (int t = 0; t < 2; t++) {
            const half16 p = operand(s[t], high);
#pragma unroll
            for (int i = 0; i < D / 16; i++) {
                half16 v;
                __builtin_memcpy(&v, lds_v + (i * 16 + column) * V_ROW + t * 16, 32);
                o[i] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(v, p, o[i]);
            }
        }
    }
    sum += other_half(sum);
    const float inverse = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            a.o[query * D + i * 16 + 2 * j + (high ? 1 : 0)] = o[i][j] * inverse;
        }
    }
}

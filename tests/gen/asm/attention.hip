// One wave's worth of attention, small enough to read in assembly: two matrix instructions a pass, a rescale that is
// skipped when no maximum rose, V through LDS. For tests of what reads compiled kernels; it computes nothing of use.
typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));

#ifdef FEW_REGISTERS // spills on purpose
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(128, 128), amdgpu_num_vgpr(FEW_REGISTERS)))
#else
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(128, 128)))
#endif

#if defined(WAVE64) // clang 22 does not tell
typedef float fragment __attribute__((ext_vector_type(4)));
#define WMMA   __builtin_amdgcn_wmma_f32_16x16x16_f16_w64
#define BALLOT __builtin_amdgcn_ballot_w64
#else
typedef float8 fragment;
#define WMMA   __builtin_amdgcn_wmma_f32_16x16x16_f16_w32
#define BALLOT __builtin_amdgcn_ballot_w32
#endif
#define ELEMENTS (int)(sizeof(fragment) / sizeof(float))

KERNEL void attention(const _Float16 *q, const _Float16 *k, const _Float16 *v, float *o, int tiles) {
    __attribute__((shared)) static _Float16 staged[16 * 24];
    unsigned lane = __builtin_amdgcn_workitem_id_x() & 31, row = lane & 15;
    half16 query = *(const half16 *)(q + row * 16);
    fragment sum = {};
    float maximum = -__builtin_inff(), denominator = 0;
    for (int tile = 0; tile < tiles; tile++) {
        half16 key = *(const half16 *)(k + (tile * 16 + row) * 16);
        __builtin_amdgcn_s_barrier();
        *(half8 *)(staged + row * 24 + (lane >> 4) * 8) =
            *(const half8 *)(v + (tile * 16 + row) * 16 + (lane >> 4) * 8);
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        fragment score = {};
        score = WMMA(key, query, score);
        float highest = score[0];
        for (int i = 1; i < ELEMENTS; i++)
            highest = __builtin_fmaxf(highest, score[i]);
        if (BALLOT(highest > maximum)) {
            float risen = __builtin_fmaxf(maximum, highest), factor = __builtin_amdgcn_exp2f(maximum - risen);
            maximum = risen;
            denominator *= factor;
            for (int i = 0; i < ELEMENTS; i++)
                sum[i] *= factor;
        }
        half16 weights;
        for (int i = 0; i < 16; i++) {
            float weight = __builtin_amdgcn_exp2f(score[i % ELEMENTS] - maximum);
            denominator += weight;
            weights[i] = (_Float16)weight;
        }
        half16 value;
        for (int i = 0; i < 16; i++)
            value[i] = staged[i * 24 + row];
        sum = WMMA(value, weights, sum);
    }
    for (int i = 0; i < ELEMENTS; i++)
        o[lane * ELEMENTS + i] = sum[i] / denominator;
}

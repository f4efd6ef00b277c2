/* Copies memory, for fmha-bench: 16 bytes a work item, which was the fastest of what was tried where it was measured. */
#if defined(__CUDACC__)
#define LANE threadIdx.x
#define GROUP blockIdx.x
#define KERNEL extern "C" __global__ __launch_bounds__(256)
struct alignas(16) unit { /* 16 bytes */
    unsigned words[4];
};
#else
#define LANE __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#ifdef FMHA_EMULATED
#define KERNEL extern "C" __attribute__((global))
#else
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(256, 256)))
#endif
typedef unsigned unit __attribute__((ext_vector_type(4)));
#endif

struct copy {
    const unit *from;
    unit *to;
};

KERNEL void bench_copy(const struct copy p)
{
    const unsigned long long at = (unsigned long long)GROUP * 256 + LANE;
    p.to[at] = p.from[at];
}

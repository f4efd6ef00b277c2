// A kernel that needs no header, for when generated/ is empty.
#ifndef __global__
#define __global__ __attribute__((global))
#endif

extern "C" __global__ void twice(float *p) {
    p[__builtin_amdgcn_workitem_id_x()] *= 2.0f;
}

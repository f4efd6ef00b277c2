/* Reads what a compiled AMD code object says of its kernels (ELF notes, kernel descriptors). */
#ifndef GEN_CODEOBJECT_H
#define GEN_CODEOBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct resources {
    char symbol[256];
    char target[64]; /* "gfx1151", with feature suffixes where the object has them */
    int wave;        /* 32 or 64 */
    int vgpr, agpr, sgpr;
    int vgpr_spills, sgpr_spills;
    int scratch_bytes;   /* private segment per work item */
    int lds_bytes;       /* fixed group segment */
    int kernarg_bytes;
    int waves_per_simd;  /* as VGPRs allow on the chip; LDS and workgroup size not counted */
    int workgroup_max;   /* .max_flat_workgroup_size */
};

/* Fills `resources` from the kernel `symbol` (NULL: the only one). Bounds-checked against hostile input. */
bool codeobject_resources(const void *bytes, size_t length, const char *symbol, struct resources *resources,
                          struct error *error);

#endif

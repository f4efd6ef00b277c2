/* Reads what a compiled code object, or the compiler's assembly text, says of its kernels. */
#ifndef GEN_CODEOBJECT_H
#define GEN_CODEOBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct resources {
    char symbol[256];
    char target[64];      /* "gfx1151", with feature suffixes where the object has them */
    int wave;             /* 32 or 64; of a cubin 32 */
    int vgpr, agpr, sgpr; /* vgpr: those that occupy the file, accumulation registers included; where these have a file
                             of their own (gfx908), of both files the more */
    int vgpr_spills, sgpr_spills;
    int scratch_bytes;  /* private segment per work item */
    int lds_bytes;      /* fixed group segment */
    int kernarg_bytes;  /* of the argument block, implicit arguments included */
    int waves_by_vgpr;  /* that one SIMD holds as VGPRs allow; 0: unknown chip */
    int waves_by_lds;   /* as LDS allows, on the SIMD that holds most; 0: unknown chip, or no LDS used */
    int waves_per_simd; /* as both and whole workgroups of workgroup_max allow; 0: unknown chip */
    int workgroup_max;  /* .max_flat_workgroup_size */
};

/* Fills `resources` from the kernel `symbol` (NULL: the only one). `bytes` is a bare ELF code object; hostile and cut
 * input is refused. On error `resources` is zero. */
bool codeobject_resources(const void *bytes, size_t length, const char *symbol, struct resources *resources,
                          struct error *error);

/* As above from assembly text that carries its .amdgpu_metadata (clang -S, Triton's amdgcn). */
bool codeobject_resources_assembly(const char *text, size_t length, const char *symbol, struct resources *resources,
                                   struct error *error);

/* Whether the bytes begin like an ELF file, and whether the text has kernel metadata: which of the two above to call.
 */
bool codeobject_is_elf(const void *bytes, size_t length);
bool codeobject_has_metadata(const char *text, size_t length);

/* Lanes of a wave unless said: 64 where there is no other, else 32; 32 of an unknown target. */
int codeobject_usual_wave(const char *target);

/* Whether accumulation registers are of the file of the others: gfx90a and later; false where there are none. */
bool codeobject_unified_file(const char *target);

/* Waves that one SIMD holds when each needs `vgpr` vector registers; 0 for a chip that is not in the table. */
int codeobject_waves_per_simd(const char *target, int wave, int vgpr);

/* Fills waves_by_lds and waves_per_simd from the other members, waves_by_vgpr among them. */
void resources_set_waves(struct resources *resources);

/* Refuses a kernel that spills or uses scratch memory; the error names the counts and the cure. */
bool resources_clean(const struct resources *resources, struct error *error);

#endif

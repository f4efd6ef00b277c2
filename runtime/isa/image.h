/* A code object, loaded as the HSA loader loads it. Nothing in its bytes is trusted. Written from LLVM's "User Guide
 * for AMDGPU Backend", sections ELF Code Object, Code Object Metadata, Kernel Descriptor and Initial Kernel Execution
 * State.
 */
#ifndef ISA_IMAGE_H
#define ISA_IMAGE_H

#include "isa.h"

/* Bits of isa_kernel.rsrc2 and, shifted as they are there, of isa_kernel.rsrc_properties. */
enum {
    ISA_RSRC2_SCRATCH = 1 << 0,
    ISA_RSRC2_GROUP_X = 1 << 7,
    ISA_RSRC2_GROUP_Y = 1 << 8,
    ISA_RSRC2_GROUP_Z = 1 << 9,
    ISA_RSRC2_ITEM_SHIFT = 11 /* 2 bits: 0 x, 1 x and y, 2 all */
};
enum {
    ISA_USER_PRIVATE_BUFFER = 1 << 0,
    ISA_USER_DISPATCH_PTR = 1 << 1,
    ISA_USER_QUEUE_PTR = 1 << 2,
    ISA_USER_KERNARG_PTR = 1 << 3,
    ISA_USER_DISPATCH_ID = 1 << 4,
    ISA_USER_FLAT_SCRATCH = 1 << 5,
    ISA_USER_PRIVATE_BYTES = 1 << 6,
    ISA_PROPERTY_WAVE32 = 1 << 10,
    ISA_PROPERTY_DYNAMIC_STACK = 1 << 11
};

/* The buffer of a wave's scratch: its address, behind which every wave has its bytes of all lanes, and the two words
 * above, which nothing but the hardware reads. */
#define ISA_PRIVATE_BUFFER      (UINT64_C(3) << 40)
#define ISA_PRIVATE_BUFFER_REST UINT64_C(0x00ea000000001000)

typedef enum isa_hidden_kind {
    ISA_HIDDEN_NONE, /* room that nothing fills */
    ISA_HIDDEN_BLOCK_COUNT,
    ISA_HIDDEN_GROUP_SIZE,
    ISA_HIDDEN_REMAINDER,
    ISA_HIDDEN_GLOBAL_OFFSET,
    ISA_HIDDEN_GRID_DIMS,
    ISA_HIDDEN_DYNAMIC_LDS
} isa_hidden_kind;

/* A hidden argument: what stands where in the kernarg segment. */
struct isa_hidden {
    isa_hidden_kind kind;
    unsigned dimension; /* 0 to 2 */
    uint32_t offset, bytes;
};

/* One kernel of the image, with its code once that is decoded. */
typedef struct isa_image_kernel {
    isa_kernel kernel;
    struct isa_code *code; /* NULL: not decoded yet; freed by whoever decodes */
    void *module;          /* of whoever decodes */
    uint32_t workgroup_max;
} isa_image_kernel;

typedef struct isa_image {
    unsigned char *memory; /* an allocation of the device's, read-only to kernels */
    uint64_t low;          /* the address in the code object that stands at `memory` */
    size_t bytes;
    isa_image_kernel *kernels;
    size_t kernel_count;
} isa_image;

/* `arch` "gfx1151". On failure there is nothing to unload. */
fmha_status isa_image_load(emu_memory *memory, const char *arch, const void *object, size_t object_bytes,
                           isa_image *image);
void isa_image_unload(emu_memory *memory, isa_image *image);

/* NULL if there is none of that name. */
isa_image_kernel *isa_image_find(const isa_image *image, const char *symbol);

/* Memory of the device that kernels may read alone; free it with emu_memory_free. */
fmha_status isa_memory_constant(emu_memory *memory, size_t bytes, const char *label, void **address);

/* Fills the hidden arguments of a kernarg segment whose other bytes are there already. */
void isa_image_hidden(const isa_kernel *kernel, const fmha_launch_config *config, unsigned char *kernarg);

#endif

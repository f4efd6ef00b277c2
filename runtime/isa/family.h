/* What differs between families of chips, in one place: which mnemonics each has and what they mean, the names of
 * scalar registers, the counters that waits are for, the kernel's descriptor, what the first instruction finds.
 *
 * A row (isa.h) is what an instruction does. Of its home family, the bits of isa_row.families, it is known by its own
 * name; every other family knows what its table lists and nothing else. Table and facts of a family are in a file,
 * family_gfx12.c and its like; lists that several tables have alike are in mnemonics.h. */
#ifndef ISA_FAMILY_H
#define ISA_FAMILY_H

#include "checks.h"
#include "isa.h"

/* One mnemonic of a family, without the ending of its encoding. "v_add_u32 clamp" is the mnemonic with that modifier.
 */
typedef struct isa_name {
    const char *name;   /* as the family's disassembler writes it: "v_max_num_f32" */
    const char *row;    /* the row that it means: "v_max_f32"; NULL: the one of the same name */
    const char *source; /* document, section, pages (sources.h) */
    unsigned variants;  /* of the family, those that have it: bits of isa_family.variant; 0: all */
} isa_name;

typedef struct isa_names {
    const isa_name *list;
    size_t count;
} isa_names;

/* Mnemonics that mean the rows of the same names, and with the modifier clamp the rows that are called so. */
typedef struct isa_same {
    const char *source; /* as above */
    const char *names;  /* separated by blanks */
} isa_same;

/* A scalar register that has a name. */
typedef struct isa_scalar {
    const char *word;
    uint16_t reg;
    uint8_t count;
} isa_scalar;

/* Accesses of a kind: which of the device's queues they end in, and the counter that a finding names. */
typedef struct isa_queue_facts {
    isa_queue queue;
    const char *counter;
} isa_queue_facts;

typedef struct isa_family {
    const char *target;     /* what the names of its chips begin with: "gfx11"; of several the longest counts */
    const char *generic;    /* the generic target that its chips run besides their own; NULL: none */
    unsigned bit;           /* ISA_GFX11: its rows' home */
    unsigned variant;       /* one bit, ISA_GFX906 or its like; 0: the family has no variants */
    unsigned chips;         /* emu_family of its chips */
    const isa_names *names; /* NULL: its rows' own names are all */
    const isa_same *same;   /* besides; ends with a NULL source; NULL: none */

    /* Texts. */
    unsigned waves;            /* 32, 64 or the sum of both */
    uint16_t scalars;          /* numbered scalar registers, from s0 on */
    const isa_scalar *special; /* besides vcc, exec and m0, which all have; ends with a NULL word */
    bool takes_agprs;          /* a0 and up, behind v255 */
    bool takes_sdwa;           /* parts of registers as operands */
    bool takes_wave_dpp;       /* DPP across rows: wave_shl and its like, row_bcast */
    const char *const *hints;  /* modifiers of memory accesses that say what caches do; one that ends with a colon has a
                                  word behind it; ends with NULL */
    const char *returning;     /* the modifier with which an atomic operation has a result */
    const char *const *halves_kept; /* mnemonics whose 16-bit results leave the other half of the register, where all
                                       others clear it; ends with NULL. NULL: all of them leave it */
    bool dual_moves_share;          /* the first sources of two v_dual_mov_b32 may be in one bank */

    /* Execution. */
    isa_queue_facts queues[ISA_QUEUES];
    const struct isa_wait_states *wait_states; /* that programs must put in (hazards.h); NULL: the hardware waits */
    uint32_t line_bytes;                       /* of the vector cache */
    bool matrix_flushes;                       /* matrix instructions of 16-bit floats take subnormals for zeros */
    bool is_fnuz;                              /* numbers of 8 bits are of that kind (fp8.h) */

    /* The descriptor, and what the first instruction finds. */
    uint16_t user_supported;          /* kernel_code_properties that ask for user SGPRs: ISA_USER_… */
    uint32_t mode_fixed, mode_known;  /* bits of MODE that rows are written for, and their values */
    uint32_t (*mode)(uint32_t rsrc1); /* at the start */
    uint32_t (*vgprs)(uint32_t rsrc1, uint32_t rsrc3, uint32_t wave);
    uint32_t (*agprs)(uint32_t rsrc1, uint32_t rsrc3); /* NULL: it has none */
    void (*place)(isa_wave *wave, unsigned reg);       /* the workgroup's ids; reg: the first behind the user SGPRs */
    void (*items)(isa_wave *wave);                     /* the work items' ids */
} isa_family;

enum { ISA_FAMILIES_MAX = 12 };
extern const isa_family isa_family_gfx906, isa_family_gfx908, isa_family_gfx90a, isa_family_gfx942, isa_family_gfx950,
    isa_family_gfx103, isa_family_gfx11, isa_family_gfx12;
extern const isa_family *const isa_families[];
extern const size_t isa_family_count;

/* The family of "gfx1151", with or without features; of a generic target the first whose chips run it, which has what
 * all of them have. NULL: none. */
const isa_family *isa_family_of(const char *arch);

/* Bits of emu_family: the chips that can be opened, of families that know any instruction. */
unsigned isa_family_chips(void);

/* One mnemonic that a family knows. `row` NULL: its table names a row that does not exist. */
typedef struct isa_known {
    const char *name;
    const isa_row *row;
    const char *source;
} isa_known;

/* All of them by name. */
const isa_known *isa_family_known(const isa_family *family, size_t *count);

/* The row of a mnemonic without its ending; NULL: the family does not have it. */
const isa_row *isa_family_find(const isa_family *family, const char *name, size_t length);

/* ---- For the entries of families --------------------------------------------------------------------------- */

extern const isa_scalar isa_scalar_null[]; /* "null" */

/* User SGPRs of kernels whose scratch is architected: no register of it is among them. */
#define ISA_USER_GFX11 (ISA_USER_DISPATCH_PTR | ISA_USER_KERNARG_PTR | ISA_USER_DISPATCH_ID | ISA_USER_PRIVATE_BYTES)

/* MODE begins as compute_pgm_rsrc1 says: rounding and denormals in its bits 0 to 7, DX10_CLAMP in 8, IEEE in 9,
 * FP16_OVFL in 23 (RDNA3 guide, 3.3.2). */
uint32_t isa_mode_gfx6_to_gfx11(uint32_t rsrc1);

/* In steps of 8, in waves of 64 of 4 (compute_pgm_rsrc1, GRANULATED_WORKITEM_VGPR_COUNT). */
uint32_t isa_vgprs_gfx10_to_gfx12(uint32_t rsrc1, uint32_t rsrc3, uint32_t wave);

extern const isa_names isa_names_gfx9;
extern const isa_same isa_same_gfx9[];

/* The ids of the workgroup in scalar registers from `reg` on. */
void isa_place_in_sgprs(isa_wave *wave, unsigned reg);
/* The same, and behind them where the wave's scratch begins in that of all waves, if the kernel has any (LLVM's guide,
 * SGPR Register Set Up Order). Compilers add it to the address of the scratch's buffer in kernels without scratch, too,
 * and then use neither. */
void isa_place_with_scratch(isa_wave *wave, unsigned reg);
/* In trap temporaries: x in ttmp9, y and z in the halves of ttmp7. */
void isa_place_in_ttmps(isa_wave *wave, unsigned reg);
/* The ids of the work items in v0: x in bits 0 to 9, y in 10 to 19 and z in 20 to 29, as far as they are asked for. */
void isa_items_packed(isa_wave *wave);
/* Each in a register of its own, v0 to v2. */
void isa_items_apart(isa_wave *wave);

#endif

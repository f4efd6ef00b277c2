/* The ISA-level device: executes compiled code objects, instruction by instruction, wave by wave. This header has what
 * all of its parts share: decoded instructions, the state of a wave and of a workgroup, the table of instructions.
 *
 * Written from "RDNA3" Instruction Set Architecture Reference Guide (AMD, February 2023) and LLVM's "User Guide for
 * AMDGPU Backend"; it shares nothing with the templates and nothing of how the emulated device executes. */
#ifndef ISA_H
#define ISA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../driver.h"
#include "../emu/findings.h"
#include "../emu/lds.h"
#include "../emu/memory.h"

enum {
    ISA_LANES_MAX = 64,
    ISA_VGPRS_MAX = 512, /* with AGPRs, of which a0 is number ISA_AGPR */
    ISA_AGPR = 256,
    ISA_SGPRS = 128,    /* as instructions number them: s0 to s105, then the names below */
    ISA_WAVES_MAX = 32, /* of a workgroup */
    ISA_OPERANDS_MAX = 8
};

/* Scalar registers that have a name, at the numbers that RDNA3 gives them (guide, table of scalar operands); here of
 * every family, for texts name them. Registers that others have besides are numbered in family.c. */
enum { ISA_VCC = 106, ISA_TTMP = 108, ISA_NULL = 124, ISA_M0 = 125, ISA_EXEC = 126 };

/* Hardware registers, by the numbers of s_getreg and s_setreg (LLVM's "Syntax of AMDGPU Instruction Operands", hwreg).
 */
enum { ISA_HW_MODE = 1, ISA_HW_FLAT_SCR_LO = 20, ISA_HW_FLAT_SCR_HI = 21 };

/* Where generic addresses of LDS and of scratch begin: 32 bits of either follow. No address of the host is there. */
#define ISA_SHARED_BASE  (UINT64_C(1) << 60)
#define ISA_PRIVATE_BASE (UINT64_C(2) << 60)

/* Bits of isa_row.families: the families in which it is known by its own name (family.h). */
enum { ISA_GFX9 = 1, ISA_GFX10 = 2, ISA_GFX11 = 4, ISA_GFX12 = 8 };

/* Variants of gfx9, of which any narrow down in which chips of it the row is known: bits of isa_family.variant. */
enum {
    ISA_GFX906 = 1 << 8,
    ISA_GFX908 = 1 << 9,
    ISA_GFX90A = 1 << 10,
    ISA_GFX942 = 1 << 11,
    ISA_GFX950 = 1 << 12,
    ISA_GFX9_ALL = ISA_GFX906 | ISA_GFX908 | ISA_GFX90A | ISA_GFX942 | ISA_GFX950
};

/* ---- Instructions ---------------------------------------------------------------------------------------- */

typedef enum isa_operand_kind {
    ISA_OPERAND_VGPR,
    ISA_OPERAND_SGPR, /* also vcc, exec, m0 and null, by number */
    ISA_OPERAND_SCC,  /* the condition bit as a source */
    ISA_OPERAND_CONSTANT,
    ISA_OPERAND_OFF /* "off" in an address */
} isa_operand_kind;

typedef struct isa_operand {
    uint8_t kind;        /* isa_operand_kind */
    uint8_t count;       /* registers, 1 to 16 */
    uint16_t reg;        /* the first */
    uint8_t half;        /* of a VGPR: 0 whole, 1 ".l", 2 ".h" */
    bool neg, abs, sext; /* modifiers as written */
    bool is_float;       /* of a constant: it was written as 1.0 */
    uint64_t constant;   /* bits of an integer (sign-extended to 64), or of a 64-bit double for a float */
} isa_operand;

typedef struct isa_row isa_row;
typedef struct isa_wave isa_wave;

typedef enum isa_dpp {
    ISA_DPP_NONE,
    ISA_DPP_QUAD_PERM,
    ISA_DPP_ROW_SHL,
    ISA_DPP_ROW_SHR,
    ISA_DPP_ROW_ROR,
    ISA_DPP_ROW_MIRROR,
    ISA_DPP_ROW_HALF_MIRROR,
    ISA_DPP_ROW_SHARE,
    ISA_DPP_ROW_XMASK,
    ISA_DPP_WAVE_SHL,
    ISA_DPP_WAVE_ROL,
    ISA_DPP_WAVE_SHR,
    ISA_DPP_WAVE_ROR,
    ISA_DPP_ROW_BCAST, /* of lane 15 or 31 to the rows behind it */
    ISA_DPP8
} isa_dpp;

/* Which part of a register SDWA reads or writes, and what becomes of the rest of what it writes. */
typedef enum isa_select {
    ISA_BYTE_0,
    ISA_BYTE_1,
    ISA_BYTE_2,
    ISA_BYTE_3,
    ISA_WORD_0,
    ISA_WORD_1,
    ISA_DWORD
} isa_select;
typedef enum isa_unused { ISA_UNUSED_PAD, ISA_UNUSED_SEXT, ISA_UNUSED_PRESERVE } isa_unused;

/* A row's `operands`, taken apart. */
typedef struct isa_role {
    bool read, write;
    char type;
    uint8_t count; /* registers */
} isa_role;

typedef struct isa_instruction {
    const isa_row *row;
    isa_role roles[ISA_OPERANDS_MAX]; /* one for each operand */
    const isa_operand *operands;      /* in the order of the text, destinations first */
    uint8_t operand_count;
    uint8_t bytes; /* of its encoding */
    uint8_t form;  /* isa_form: which encoding the mnemonic's ending names */
    bool clamp, bound_ctrl, fi, gds, offen;
    bool returns;              /* an atomic operation has a result */
    uint8_t omod;              /* 0 none, 1 *2, 2 *4, 3 /2 */
    uint8_t op_sel, op_sel_hi; /* bit i: operand i of the encoding, sources first, the destination last (bit 3) */
    uint8_t neg_lo, neg_hi;
    uint8_t op_sel_count;
    bool has_op_sel, has_op_sel_hi;
    bool zeroes_half;                                   /* a 16-bit result clears the other half of its register */
    uint8_t source_select[2], dest_select, dest_unused; /* of SDWA: isa_select, isa_unused; byte_sel is the first */
    uint8_t cbsz, abid, blgp;                           /* of matrix instructions of CDNA */
    uint8_t bitop3;                                     /* v_bitop3_b32's table */
    uint8_t dpp;                                        /* isa_dpp */
    uint8_t row_mask, bank_mask;
    uint32_t dpp_control;                 /* quad_perm: 2 bits a lane; dpp8: 3 bits a lane; else the number */
    int32_t offset;                       /* "offset:" of memory accesses; simm16 of SOPK and SOPP */
    uint8_t offset0, offset1;             /* of DS accesses with two addresses */
    uint32_t target;                      /* of a branch: index of the instruction */
    uint32_t wait[4];                     /* of s_waitcnt: vmcnt, expcnt, lgkmcnt, vscnt; ISA_NO_WAIT: not named */
    const struct isa_instruction *second; /* of VOPD: the other half; NULL: none */
    bool copies;                          /* a scalar, as it is */
    bool words_apart;                     /* the low word of the result depends on the low words of the sources alone */
    bool too_soon;                        /* it reads what a matrix instruction just before it writes (decode.h) */
    bool selects;                         /* the result of each lane is one of two sources, as the mask says */
    uint64_t address;                     /* in the code object */
    const char *text;                     /* as the disassembler writes it */
    uint32_t block;                       /* basic block */
} isa_instruction;

#define ISA_NO_WAIT UINT32_MAX

typedef enum isa_form { ISA_FORM_NONE, ISA_FORM_E32, ISA_FORM_E64, ISA_FORM_DPP, ISA_FORM_SDWA } isa_form;

/* What an instruction is to the issue model and to counters. */
typedef enum isa_class {
    ISA_CLASS_SALU,
    ISA_CLASS_SMEM,
    ISA_CLASS_BRANCH,
    ISA_CLASS_WAIT, /* s_waitcnt, s_nop, s_delay_alu, hints */
    ISA_CLASS_BARRIER,
    ISA_CLASS_VALU,
    ISA_CLASS_TRANS, /* v_exp_f32, v_log_f32, v_rcp_f32, … */
    ISA_CLASS_MATRIX,
    ISA_CLASS_LDS,
    ISA_CLASS_LOAD, /* global, flat, buffer, scratch */
    ISA_CLASS_STORE,
    ISA_CLASS_COUNT
} isa_class;

/* Operands of one lane-wise operation: each array has a value for every lane, modifiers applied; 64-bit values are in
 * two arrays, low words first. Sources are a, b, c in the order of the text; of an operation that also reads what it
 * writes (role B) the old value is the source behind those. Lane masks are arrays of 0 and 1: `mask_in` the one that is
 * read, `mask_out` the one that is written. The arrays that are written alias no other. */
typedef struct isa_lanes {
    uint32_t *restrict d, *restrict d_high, *restrict mask_out;
    const uint32_t *a, *a_high, *b, *b_high, *c, *c_high, *mask_in;
    int count; /* 32 or 64, whatever EXEC says: lanes that are off are computed and dropped */
} isa_lanes;

/* One row for each thing that instructions do, named by the mnemonic that gfx11 has for it, without the ending of its
 * encoding. "v_add_nc_u32 clamp" is what v_add_nc_u32 does with that modifier, for all but floats, whose clamp the
 * engine knows.
 *
 * `operands` says what the operands of the text are, destinations first, separated by blanks. The first letter is D
 * (written), S (read), B (both), O (nothing: "off", a message, a label). Then what it is:
 *     v  a value of each lane (VGPR, or a scalar that all lanes share), 32 bits; v2, v3, v4, v8, v16: so many registers
 *     f  the same, a float32: neg and abs flip its sign bit
 *     h  a 16-bit value of each lane, the low half unless .h or op_sel say otherwise; k: the same, a float16
 *     p  two 16-bit values of each lane (VOP3P); q: the same, float16; w: bfloat16; g: two float32, in two registers
 *     d  a float64 of each lane
 *     s  a scalar, 32 bits; s2, s4, …: so many registers
 *     m  a lane mask: one scalar register in wave32, two in wave64
 *     x  anything: the instruction's own function deals with it
 * A last "Sm" that the text leaves out is VCC
 * (v_div_fmas_f32, v_dual_cndmask_b32); a first "Dm" that the text leaves out is EXEC (v_cmpx_…). SCC is never among
 * the operands. */
struct isa_row {
    const char *name; /* "v_add_f32" */
    const char *operands;
    isa_class class;
    /* Exactly one of these. `lanes` computes values; the engine fetches operands, applies EXEC and writes (roles v, f,
     * h, k, p, q, w, d and m alone, at most three sources beside a mask). `wave` does everything itself with the
     * functions of operand.h. */
    void (*lanes)(const isa_lanes *lanes);
    void (*wave)(isa_wave *wave, const isa_instruction *instruction);
    unsigned families;  /* ISA_GFX11 | …: its home; other families name it in tables of their own (family.h) */
    const char *source; /* "RDNA3.5 ISA guide, 16.8 VOP1, pp. 292-321": document, section, pages (sources.h) */
};

/* The table of one group of instructions; each is in a file of its own. */
typedef struct isa_table {
    const isa_row *rows;
    size_t count;
} isa_table;
extern const isa_table isa_table_scalar, isa_table_branch, isa_table_vector, isa_table_division, isa_table_double,
    isa_table_half, isa_table_packed, isa_table_compare, isa_table_convert, isa_table_lanes, isa_table_matrix,
    isa_table_lds, isa_table_lds_atomic, isa_table_global, isa_table_global_atomic, isa_table_constant,
    isa_table_extremes, isa_table_gfx12, isa_table_matrix_gfx12, isa_table_gfx9, isa_table_gfx9_memory, isa_table_mfma,
    isa_table_scaled, isa_table_fp8;
extern const isa_table *const isa_tables[]; /* NULL-terminated */

/* The row of that name; NULL: there is none. */
const isa_row *isa_row_find(const char *name, size_t length);

/* ---- State ----------------------------------------------------------------------------------------------- */

typedef struct isa_group isa_group;

typedef enum isa_wave_state { ISA_WAVE_READY, ISA_WAVE_WAITING, ISA_WAVE_ENDED } isa_wave_state;

struct isa_wave {
    uint32_t (*vgpr)[ISA_LANES_MAX];
    uint32_t sgpr[ISA_SGPRS]; /* vcc, exec and m0 among them */
    bool scc;
    uint32_t pc;      /* index of the next instruction */
    uint32_t mode;    /* as the hardware register: rounding in bits 0-3, denormals in bits 4-7 */
    uint32_t lanes;   /* 32 or 64 */
    uint32_t number;  /* in the workgroup */
    uint64_t present; /* lanes that have a work item */
    isa_wave_state state;
    bool signaled; /* the barrier, for which it has not waited yet (barrier.h) */
    isa_group *group;
    struct isa_checks *checks; /* NULL: nothing is checked */
    struct isa_counts *counts; /* NULL: nothing is counted */
    uint64_t executed;         /* instructions */
    const isa_instruction *running;
    bool failed; /* the workgroup is given up after this instruction */
};

/* Accesses to LDS (barrier.h). */
typedef struct isa_touches {
    struct isa_touch *list;
    size_t count, room;
} isa_touches;

struct isa_group {
    struct isa_launch *launch;
    isa_wave waves[ISA_WAVES_MAX];
    unsigned wave_count;
    unsigned at[3];            /* workgroup ids */
    unsigned long long number; /* in the order of the grid */
    unsigned char *lds;        /* lds_bytes of it */
    size_t lds_bytes;
    emu_lds *lds_state; /* who touched what: byte 0 of `lds` is its byte EMU_LDS_GAP_BYTES; NULL: nothing is checked */
    unsigned char *scratch; /* of all waves */
    size_t scratch_bytes_lane;
    uint64_t random;
    const emu_allocation *recent; /* that was touched last; NULL: none yet */
    isa_touches stores;           /* to LDS, for which a wave may not have waited yet */
    isa_touches between;          /* accesses to LDS that the barrier does not order (barrier.h) */
    size_t passed;                /* of `between`, which the barrier that was passed last did not */
    uint64_t arriving;            /* waves that may have loads into LDS under way (arrivals.h) */
};

/* One kernel of a loaded code object. */
typedef struct isa_kernel {
    const struct isa_family *family;
    char symbol[512];
    const isa_instruction *code;
    uint32_t count;
    uint32_t entry;
    uint32_t block_count;
    uint32_t wave;           /* lanes */
    uint32_t vgprs, agprs;   /* as the descriptor grants them */
    uint32_t registers;      /* that a wave's file has room for: with AGPRs these are behind the first 256 */
    uint32_t kernarg_bytes;  /* of the segment, hidden arguments included */
    uint32_t explicit_bytes; /* where hidden arguments begin */
    uint32_t lds_bytes, scratch_bytes;
    uint32_t mode;             /* rounding and denormals at the start */
    uint32_t user_sgprs;       /* number of them */
    uint16_t rsrc_properties;  /* kernel_code_properties */
    uint32_t rsrc2;            /* compute_pgm_rsrc2 */
    struct isa_hidden *hidden; /* hidden arguments of the metadata */
    size_t hidden_count;
    uint64_t entry_address; /* of the first instruction, in the code object */
    uint64_t code_bytes;    /* from there to the end of its segment */
    uint64_t code_before;   /* bytes of the segment before it: functions that it calls may be there */
    uint64_t bias;          /* what an address in the code object lacks to that in memory (s_getpc_b64) */
} isa_kernel;

typedef struct isa_launch {
    const isa_kernel *kernel;
    const emu_memory *memory;
    emu_findings *findings;
    unsigned char *kernarg;      /* of kernel->kernarg_bytes, an allocation of the device's */
    const void *dispatch_packet; /* the same; NULL: the kernel does not ask for it */
    unsigned grid[3], workgroup[3];
    unsigned long long groups;
    size_t lds_dynamic_bytes;
    uint64_t seed;
    unsigned long long instructions_max; /* of one wave; 0: any */
    unsigned seconds;                    /* processor time that a workgroup may take; 0: any */
    uint32_t number;                     /* of the device's launches, for the account of who wrote what */
    bool checks;
    unsigned count;                /* 0, 1; 2: by instruction too */
    const struct isa_costs *costs; /* where it is counted */
    struct isa_counters *counters;
    struct isa_lines *lines;
    atomic_ullong next_group, given_up;
} isa_launch;

/* The errors of this driver, as driver.h says. */
extern fmha_fail_function isa_fail;

/* ---- Findings -------------------------------------------------------------------------------------------- */

/* Records a finding about the running instruction: "k.hip:41: ds_load_b128 v[0:3], v5 at 0x1a30: WORDS (workgroup
 * (0,0,0), wave 1, lane 7)". lane -1: the whole wave. */
void isa_report(isa_wave *wave, int lane, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same, and the workgroup is given up: for what has no meaning to go on with. */
void isa_give_up(isa_wave *wave, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

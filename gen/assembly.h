/* Assembly text of AMD GPUs as compilers (clang -S, Triton) and llvm-objdump --symbolize-operands print it: basic
 * blocks, loops, and what each block is made of. */
#ifndef GEN_ASSEMBLY_H
#define GEN_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* What is counted: identifier, its name in JSON, its heading in a table. VALU, TRANSCENDENTAL and MATRIX exclude each
 * other; VOPD, PACKED, MOVES, CONVERSIONS and CROSS_LANE say how much of VALU is of that kind (cross-lane: of LDS too,
 * for permutes through it). Bytes are per lane, loads and stores together; GLOBAL_BYTES holds those of BUFFER as well.
 */
#define ASSEMBLY_MIX(X)                                                                                                \
    X(MATRIX, "matrix", "matrix")                                                                                      \
    X(VALU, "valu", "VALU")                                                                                            \
    X(TRANSCENDENTAL, "transcendental", "trans")                                                                       \
    X(VOPD, "vopd", "VOPD")                                                                                            \
    X(PACKED, "packed", "packed")                                                                                      \
    X(MOVES, "moves", "moves")                                                                                         \
    X(CONVERSIONS, "conversions", "conv")                                                                              \
    X(CROSS_LANE, "cross_lane", "xlane")                                                                               \
    X(LDS, "lds", "LDS")                                                                                               \
    X(LDS_BYTES, "lds_bytes", "LDS B")                                                                                 \
    X(GLOBAL, "global", "global")                                                                                      \
    X(BUFFER, "buffer", "buffer")                                                                                      \
    X(GLOBAL_BYTES, "global_bytes", "glob B")                                                                          \
    X(SCRATCH, "scratch", "scratch")                                                                                   \
    X(SCRATCH_BYTES, "scratch_bytes", "scr B")                                                                         \
    X(SCALAR, "scalar", "SALU")                                                                                        \
    X(SCALAR_MEMORY, "scalar_memory", "SMEM")                                                                          \
    X(BRANCH, "branch", "branch")                                                                                      \
    X(WAIT, "wait", "wait")                                                                                            \
    X(BARRIER, "barrier", "barrier")                                                                                   \
    X(CACHE, "cache", "cache")                                                                                         \
    X(HINT, "hint", "hint")                                                                                            \
    X(OTHER, "other", "other")

enum assembly_mix_id {
#define X(identifier, name, heading) MIX_##identifier,
    ASSEMBLY_MIX(X)
#undef X
        MIX_COUNT
};

struct assembly_mix_name {
    const char *name, *heading;
};
extern const struct assembly_mix_name assembly_mix_names[MIX_COUNT];

struct mix {
    int count[MIX_COUNT];
};
void mix_add(struct mix *to, const struct mix *from);

struct assembly_instruction {
    const char *text;          /* mnemonic and operands, without comment; in the assembly's own copy */
    enum assembly_mix_id unit; /* what issues it: MATRIX, VALU, TRANSCENDENTAL, LDS, GLOBAL, BUFFER, … OTHER */
    bool load, store;          /* of LDS, global, buffer and scratch memory; an atomic is both */
    bool vopd, packed, move, conversion, cross_lane;
    bool lds_direct; /* a global or buffer load that lands in LDS */
    int bytes;       /* per lane */
    int line;        /* in the text, from 1 */
};

struct assembly_block {
    char label[64];    /* ".LBB0_4", "%bb.3", "L0"; a block without one: its predecessor's and "+", "++" */
    int first, count;  /* instructions */
    int successors[2]; /* blocks, -1: none */
    struct mix mix;
};

struct assembly_loop {
    int header;
    int *blocks; /* in program order */
    int block_count;
    int parent;  /* the loop around it, -1: none */
    int depth;   /* 1: outermost */
    bool matrix; /* holds matrix instructions and no loop inside it does */
};

struct assembly {
    char symbol[256];
    char *text;
    struct assembly_instruction *instructions;
    int instruction_count;
    struct assembly_block *blocks; /* in program order; blocks that nothing reaches are kept */
    int block_count;
    int *order;                  /* the blocks' reverse postorder numbers, -1: unreachable */
    struct assembly_loop *loops; /* in the order of their headers */
    int loop_count;
    int calls; /* instructions that leave for another function and return */
};

/* Parses the kernel `symbol` of the text (NULL: the only one that has instructions). On error `assembly` is empty. */
bool assembly_parse(const char *text, size_t length, const char *symbol, struct assembly *assembly,
                    struct error *error);
void assembly_free(struct assembly *assembly); /* leaves it empty */

/* Length of the mnemonic that an instruction's text begins with. */
size_t assembly_mnemonic(const char *text);

/* Classifies one instruction, given its text without comment. */
void assembly_classify(const char *text, struct assembly_instruction *instruction);

/* Adds what one instruction counts for. */
void assembly_count(const struct assembly_instruction *instruction, struct mix *mix);

#endif

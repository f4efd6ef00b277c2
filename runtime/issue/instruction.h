/* What one instruction of an AMD GPU is, by its mnemonic, and what a run of them is made of. */
#ifndef ISSUE_INSTRUCTION_H
#define ISSUE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>

/* What is counted: identifier, its name in JSON, its heading in a table. VALU, TRANSCENDENTAL and MATRIX exclude each
 * other; VOPD, PACKED, MULTIPLY_ADD, MOVES, CONVERSIONS and CROSS_LANE say how much of VALU is of that kind
 * (cross-lane: of LDS too, for permutes through it). LDS_EXCHANGES says how much of LDS are such permutes: they take
 * the pipe and move no memory. Bytes are per lane, loads and stores together; GLOBAL_BYTES holds those of BUFFER too.
 */
#define MIX_ROWS(X)                                                                                                    \
    X(MATRIX, "matrix", "matrix")                                                                                      \
    X(VALU, "valu", "VALU")                                                                                            \
    X(TRANSCENDENTAL, "transcendental", "trans")                                                                       \
    X(VOPD, "vopd", "VOPD")                                                                                            \
    X(PACKED, "packed", "packed")                                                                                      \
    X(MULTIPLY_ADD, "multiply_add", "mul-add")                                                                         \
    X(MOVES, "moves", "moves")                                                                                         \
    X(CONVERSIONS, "conversions", "conv")                                                                              \
    X(CROSS_LANE, "cross_lane", "xlane")                                                                               \
    X(LDS, "lds", "LDS")                                                                                               \
    X(LDS_EXCHANGES, "lds_exchanges", "LDS xchg")                                                                      \
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

enum mix_id {
#define X(identifier, name, heading) MIX_##identifier,
    MIX_ROWS(X)
#undef X
        MIX_COUNT
};

struct mix_name {
    const char *name, *heading;
};
extern const struct mix_name mix_names[MIX_COUNT];

struct mix {
    int count[MIX_COUNT];
};
void mix_add(struct mix *to, const struct mix *from);

struct instruction {
    const char *text; /* mnemonic and operands, without comment; not owned */
    enum mix_id unit; /* what issues it: MATRIX, VALU, TRANSCENDENTAL, LDS, GLOBAL, BUFFER, … OTHER */
    bool load, store; /* of LDS, global, buffer and scratch memory; an atomic is both */
    bool vopd, packed, move, conversion, cross_lane;
    bool exchange;              /* lanes of a wave through the LDS pipe, without memory: 4 bytes a lane */
    int multiply_adds;          /* floating-point or dot-product, of one lane: 1 of v_fma_f32, 2 of v_dot2_f32_f16 */
    bool lds_direct;            /* a global or buffer load that lands in LDS */
    int bytes;                  /* per lane */
    int line;                   /* in the text, from 1 */
    unsigned long long address; /* in the code object, of a disassembly; 0: the text does not say */
};

/* Length of the mnemonic that an instruction's text begins with. */
size_t instruction_mnemonic(const char *text);

/* Classifies one instruction, given its text without comment. */
void instruction_classify(const char *text, struct instruction *instruction);

/* Adds what one instruction counts for. */
void instruction_count(const struct instruction *instruction, struct mix *mix);

#endif

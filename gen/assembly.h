/* Assembly text of AMD GPUs as compilers (clang -S, Triton) and llvm-objdump --symbolize-operands print it: basic
 * blocks, loops, and what each block is made of. */
#ifndef GEN_ASSEMBLY_H
#define GEN_ASSEMBLY_H

#include <stddef.h>

#include "error.h"
#include "issue/instruction.h"

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
    int parent; /* the loop around it, -1: none */
    int depth;  /* 1: outermost */
};

struct assembly {
    char symbol[256];
    char *text;
    struct instruction *instructions;
    int instruction_count;
    struct assembly_block *blocks; /* in program order; blocks that nothing reaches are kept */
    int block_count;
    int *order;                  /* the blocks' reverse postorder numbers, -1: unreachable */
    int *dominator;              /* the blocks' immediate dominators; the entry's is itself, -1: unreachable */
    struct assembly_loop *loops; /* in the order of their headers */
    int loop_count;
    int calls; /* instructions that leave for another function and return */
};

/* Parses the kernel `symbol` of the text (NULL: the only one that has instructions). On error `assembly` is empty. */
bool assembly_parse(const char *text, size_t length, const char *symbol, struct assembly *assembly,
                    struct error *error);
void assembly_free(struct assembly *assembly); /* leaves it empty */

/* Whether a loop holds what `id` counts and no loop inside it does. */
bool assembly_innermost(const struct assembly *assembly, int loop, enum mix_id id);

/* Whether every way from the entry to `block` passes `above`; both reachable. */
bool assembly_dominates(const struct assembly *assembly, int above, int block);

#endif

/* What the runtime knows of one instance: which problems it serves and how it is launched. Read from an index
 * (index.h); made by fmhagen. */
#ifndef FMHA_DESCRIPTOR_H
#define FMHA_DESCRIPTOR_H

#include <stdbool.h>

#include "expression.h"
#include "key.h"

/* The pointers and the real numbers that problems of any operation have. */
enum fmha_buffer {
    FMHA_BUFFER_Q,
    FMHA_BUFFER_K,
    FMHA_BUFFER_V,
    FMHA_BUFFER_O,
    FMHA_BUFFER_LSE,
    FMHA_BUFFER_FROM, /* what is packed, and where it goes */
    FMHA_BUFFER_TO,
    FMHA_BUFFER_COUNT
};
enum fmha_real { FMHA_REAL_SCALE, FMHA_REAL_COUNT };
extern const char *const fmha_buffer_names[FMHA_BUFFER_COUNT]; /* "q", "k", "v", "o", "lse", "from", "to" */
extern const char *const fmha_real_names[FMHA_REAL_COUNT];     /* "scale" */

enum fmha_argument_kind { FMHA_ARGUMENT_BUFFER, FMHA_ARGUMENT_I32, FMHA_ARGUMENT_I64, FMHA_ARGUMENT_F32 };

struct fmha_argument {
    uint8_t kind;          /* fmha_argument_kind */
    uint8_t source;        /* fmha_buffer, fmha_value or fmha_real, as the kind says */
    bool optional;         /* of a buffer: NULL is accepted */
    uint16_t align_bytes;  /* of a buffer: its address is a multiple of this; else 0 */
    uint32_t offset_bytes; /* in the argument block */
};

enum fmha_relation { FMHA_RELATION_EQUALS, FMHA_RELATION_MIN, FMHA_RELATION_MAX };

struct fmha_constraint { /* holds when `field` = , >= or <= `bound` */
    /* Set by fmha_constraint_simplify. A simple one holds when (values[value] & mask) - least <= span, unsigned. */
    int64_t mask;
    uint64_t least, span;
    uint8_t value;
    bool simple;
    uint8_t relation; /* fmha_relation */
    int64_t bound;
    struct fmha_expression field;
    const char *text; /* the field as it was written; `text_bytes` long, not terminated */
    uint32_t text_bytes;
};

/* Finds out whether a constraint whose field, bound and relation are set has a form that costs next to nothing. */
void fmha_constraint_simplify(struct fmha_constraint *constraint);

/* Arguments and constraints, which many instances share. */
struct fmha_interface {
    struct fmha_argument *arguments;
    struct fmha_constraint *constraints;
    uint32_t argument_count, constraint_count;
    uint32_t argument_bytes; /* of the whole block, at most FMHA_ARGUMENT_BYTES_MAX */
};
#define FMHA_ARGUMENT_BYTES_MAX 1024

struct fmha_descriptor {
    const char *name;    /* the symbol; NUL-terminated, as all texts here */
    struct fmha_key key; /* what it computes, with its target */
    uint16_t wave;       /* lanes: 32 or 64 */
    uint16_t workgroup;  /* work items in the first dimension; the others are 1 */
    uint32_t lds_bytes;  /* that the kernel declares */
    int32_t rank;        /* among instances that serve a problem equally well the lowest is taken, then the first by
                            name */
    struct fmha_expression grid[3];
    const struct fmha_interface *interface;
    /* Files beside the index (or parts of an embedded library), NULL where there is none: the code object, the HIP
     * text, and their sizes and FNV-1a 64 hashes. */
    const char *object, *source;
    uint64_t object_bytes, object_hash, source_bytes, source_hash;
};

/* The values of one problem, as arguments, constraints and grids name them. */
struct fmha_operands {
    int64_t value[FMHA_VALUE_COUNT];
    void *buffer[FMHA_BUFFER_COUNT];
    float real[FMHA_REAL_COUNT];
};

/* Whether every constraint holds, every buffer that must not be NULL is there, every address is aligned and every value
 * fits its argument. Does not look at the key. On false *failed (may be NULL) is what fmha_descriptor_explain wants.
 * Costs no allocation and sets no error text. */
bool fmha_descriptor_serves(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands,
                            int *failed);

/* Why not, as one line without the instance's name: "expected heads_q % heads_k equal to 0, got 1; choose heads_q as a
 * multiple of heads_k". `failed` is what fmha_descriptor_serves gave. */
void fmha_descriptor_explain(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands, int failed,
                             char *text, size_t text_bytes);

/* Fills the argument block (interface->argument_bytes of it) of a problem that it serves. */
void fmha_descriptor_pack(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands, void *block);

/* The grid in workgroups. *empty: some dimension is 0 and nothing is to be launched. False, without an error text, when
 * a dimension is below 0 or beyond 32 bits; *failed is then the dimension. */
bool fmha_descriptor_grid(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands,
                          uint32_t grid[3], bool *empty, int *failed);

#endif

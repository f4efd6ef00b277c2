/* What the runtime knows of one instance: which problems it serves and how it is launched. Read from an index
 * (index.h); made by fmhagen. */
#ifndef FMHA_DESCRIPTOR_H
#define FMHA_DESCRIPTOR_H

#include <stdbool.h>

#include "expression.h"
#include "key.h"

/* How many numbers and pointers a problem has for a modifier from outside. */
#define FMHA_MODIFIER_VALUES  8
#define FMHA_MODIFIER_BUFFERS 4

/* The pointers and the real numbers that problems of any operation have. */
enum fmha_buffer {
    FMHA_BUFFER_Q,
    FMHA_BUFFER_K,
    FMHA_BUFFER_V,
    FMHA_BUFFER_O,
    FMHA_BUFFER_LSE,
    FMHA_BUFFER_FROM, /* what is packed, and where it goes */
    FMHA_BUFFER_TO,
    FMHA_BUFFER_O_PARTIAL, /* what is merged */
    FMHA_BUFFER_LSE_PARTIAL,
    FMHA_BUFFER_KV, /* one latent row for each key */
    FMHA_BUFFER_CU_SEQLENS_Q,
    FMHA_BUFFER_CU_SEQLENS_K,
    FMHA_BUFFER_SEQLENS_Q,
    FMHA_BUFFER_SEQLENS_K,
    FMHA_BUFFER_BLOCK_TABLE,
    FMHA_BUFFER_PREFIX_LENGTHS,
    FMHA_BUFFER_ALIBI_SLOPES,
    FMHA_BUFFER_SINK,
    FMHA_BUFFER_HEAD_SCALE,
    FMHA_BUFFER_BIAS,
    FMHA_BUFFER_MASK,
    FMHA_BUFFER_BLOCK_MASK,
    FMHA_BUFFER_K_SCALE, /* of small formats of K and V */
    FMHA_BUFFER_V_SCALE,
    FMHA_BUFFER_KV_SCALE,
    FMHA_BUFFER_K_NEW, /* what is appended, and of a batch of unlike lengths where each sequence's begins, or how long
                          it is */
    FMHA_BUFFER_V_NEW,
    FMHA_BUFFER_CU_SEQLENS_NEW,
    FMHA_BUFFER_SEQLENS_NEW,
    FMHA_BUFFER_ROTARY_COS,
    FMHA_BUFFER_ROTARY_SIN,
    FMHA_BUFFER_TO_SCALE, /* of what is quantized, and what a scale is found from */
    FMHA_BUFFER_SCALE_PARTIAL,
    FMHA_BUFFER_MODIFIER_0, /* of a modifier from outside */
    FMHA_BUFFER_COUNT = FMHA_BUFFER_MODIFIER_0 + FMHA_MODIFIER_BUFFERS,
    FMHA_BUFFER_OF_MODIFIERS = FMHA_BUFFER_CU_SEQLENS_Q /* the first that only problems with modifiers have */
};
enum fmha_real {
    FMHA_REAL_SCALE,
    FMHA_REAL_SOFTCAP,
    FMHA_REAL_DROPOUT,
    FMHA_REAL_MODIFIER_0, /* of a modifier from outside */
    FMHA_REAL_COUNT = FMHA_REAL_MODIFIER_0 + FMHA_MODIFIER_VALUES,
    FMHA_REAL_OF_MODIFIERS = FMHA_REAL_SOFTCAP
};
extern const char *const fmha_buffer_names[FMHA_BUFFER_COUNT]; /* "q", "k", …, "modifier_buffer_3" */
extern const char *const fmha_real_names[FMHA_REAL_COUNT];     /* "scale", "softcap", …, "modifier_7" */

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

/* The parts of fmha_operands that a problem's arguments are copied from, in the order of the block. */
struct fmha_copy {
    uint16_t to, from, count; /* bytes from the begin of the block and of the operands; elements */
};

#define FMHA_SHORTCUT_EVALUATED_MAX 4
#define FMHA_SHORTCUT_COPIES_MAX    64

/* What an interface's constraints and arguments come to all together: set by fmha_interface_shorten, in every call
 * looked at instead of them. */
struct fmha_shortcut {
    bool checks, packs; /* false: there are more than it has room for; the long way serves */
    uint8_t range_count, required_count, evaluated_count, eight_count, four_count, zero_count;
    uint8_t buffer_end, value_end;       /* behind the last buffer and the last value of which some bits must be 0 */
    uint8_t required[FMHA_BUFFER_COUNT]; /* buffers that must not be NULL */
    uint64_t address_bits[FMHA_BUFFER_COUNT]; /* that must be 0 */
    uint64_t value_bits[FMHA_VALUE_COUNT];    /* that must be 0 */
    struct {
        uint64_t least, span; /* value - least <= span, unsigned */
        uint64_t value;
    } ranges[FMHA_VALUE_COUNT];
    struct {
        uint16_t constraint;
        bool multiple; /* left is a multiple of right, else it is evaluated */
        uint8_t left, right;
    } evaluated[FMHA_SHORTCUT_EVALUATED_MAX]; /* constraints of no simple form */
    struct fmha_copy eights[FMHA_SHORTCUT_COPIES_MAX], fours[FMHA_SHORTCUT_COPIES_MAX]; /* elements of 8 and 4 bytes */
    uint16_t zeros[FMHA_SHORTCUT_COPIES_MAX]; /* 4 bytes of the block that no argument fills */
};

/* Arguments and constraints, which many instances share. */
struct fmha_interface {
    struct fmha_argument *arguments;
    struct fmha_constraint *constraints;
    uint32_t argument_count, constraint_count;
    uint32_t argument_bytes;  /* of the whole block, at most FMHA_ARGUMENT_BYTES_MAX */
    const char *of_modifiers; /* a name in it that only problems with modifiers have; NULL: it has none */
    struct fmha_shortcut shortcut;
};
#define FMHA_ARGUMENT_BYTES_MAX 1024

/* Makes the shortcut of an interface whose constraints and arguments are known. */
void fmha_interface_shorten(struct fmha_interface *interface);

struct fmha_descriptor {
    const struct fmha_interface *interface; /* first what every call looks at */
    struct {
        uint32_t divisor; /* workgroups are ceil_div(value, divisor); 0: what the expression says */
        uint8_t value;
    } tiles[3];
    uint16_t wave;       /* lanes: 32 or 64 */
    uint16_t workgroup;  /* work items in the first dimension; the others are 1 */
    const char *name;    /* the symbol; NUL-terminated, as all texts here */
    struct fmha_key key; /* what it computes, with its target */
    uint32_t lds_bytes;  /* that the kernel declares */
    int32_t rank;        /* among instances that serve a problem equally well the lowest is taken, then the first by
                            name */
    struct fmha_expression grid[3];
    /* Files beside the index (or parts of an embedded library), NULL where there is none: the code object, the HIP
     * text, and their sizes and FNV-1a 64 hashes. */
    const char *object, *source;
    uint64_t object_bytes, object_hash, source_bytes, source_hash;
};

/* The values of one problem, as arguments, constraints and grids name them. Those that only problems with modifiers and
 * layouts have (from FMHA_..._OF_MODIFIERS on) are not set where the key has none: no instance of such a key names
 * them, as index.h says. */
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

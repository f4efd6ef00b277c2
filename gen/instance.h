/* An emitted instance: its text and its descriptor, both made by one run of its template. */
#ifndef GEN_INSTANCE_H
#define GEN_INSTANCE_H

#include "spec.h"

enum argument_kind { ARGUMENT_BUFFER, ARGUMENT_VALUE };

struct argument {
    char name[32];
    enum argument_kind kind;
    char type[8];    /* buffer: dtype of its elements "f16", "bf16", "f32", "i32", "u32", "u8", "b16": 16 bits of any
                        format; value: "i32",    "i64", "f32" */
    char access[8];  /* buffer: "read", "write"; else "" */
    bool optional;   /* buffer: NULL is accepted by the kernel */
    char shape[128]; /* buffer: its dimensions as problem values, outermost first: "batch heads_q seqlen_q head_dim" */
    char strides[160]; /* buffer: the values that hold its strides in the same order, "1" for a unit stride */
    uint32_t offset_bytes, size_bytes;
    uint32_t align_bytes; /* buffer: its address must be a multiple of this; value: 0 */
};

struct constraint { /* holds for a problem when `field` (an expression) compares with `value` as `relation` says */
    char field[64];
    char relation[8]; /* "equals", "max", "min" */
    int64_t value;
};

#define INSTANCE_ARGUMENTS_MAX   64
#define INSTANCE_CONSTRAINTS_MAX 48

struct instance {
    struct spec spec;
    char name[SPEC_NAME_MAX];
    struct text text; /* the complete HIP file */
    uint32_t workgroup;
    char grid[3][96]; /* expressions over the problem's values */
    uint32_t lds_bytes;
    double flop_per_tile, bytes_per_tile; /* of one key tile of one workgroup */
    double matrix_per_tile;               /* matrix instructions of one key tile of one workgroup; 0: has none */
    bool flushes_subnormals;              /* its matrix instructions take 16-bit subnormals for zeros */
    struct argument arguments[INSTANCE_ARGUMENTS_MAX];
    int argument_count;
    uint32_t argument_bytes; /* size of the whole block */
    struct constraint constraints[INSTANCE_CONSTRAINTS_MAX];
    int constraint_count;
};

/* Expands a resolved spec. On error `instance` needs no free. */
bool instance_emit(struct template_engine *engine, const struct spec *spec, struct instance *instance,
                   struct error *error);
void instance_free(struct instance *instance);

/* Pushes the read-only table `spec` as templates see it. */
struct lua_State;
void instance_push_spec(struct lua_State *L, const struct instance *instance);

#endif

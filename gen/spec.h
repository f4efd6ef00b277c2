/* What describes an instance: one row per field, in the order of the symbol and of the file name. The command line, the
 * name, the JSON and the templates' table `spec` are all made from these rows; adding a field is adding a row. */
#ifndef GEN_SPEC_H
#define GEN_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "text.h"

struct template_engine;

/* What an instance computes: the words of --op in their order. Which rows of the spec an operation has stands in
 * spec_fields.h; it is built once templates/ops/<word>.hip is there. */
#define SPEC_OPERATIONS(X)                                                                                             \
    X(FORWARD, "forward")                                                                                              \
    X(DECODE, "decode")                                                                                                \
    X(MERGE, "merge") X(BACKWARD, "backward") X(PACK, "pack") X(APPEND, "append") X(MLA, "mla")                        \
        X(QUANTIZE, "quantize")
enum spec_operation {
#define SPEC_OPERATION(identifier, word) SPEC_OP_##identifier,
    SPEC_OPERATIONS(SPEC_OPERATION)
#undef SPEC_OPERATION
        SPEC_OPERATION_COUNT
};
extern const char *const spec_operation_words[SPEC_OPERATION_COUNT + 1]; /* NULL-terminated */

/* SPEC_OP, SPEC_DTYPE, …: one for each row of spec_fields.h. The target is no row: it is a string. */
enum spec_field_id {
#define WORD(identifier, ...)   SPEC_##identifier,
#define NUMBER(identifier, ...) SPEC_##identifier,
#include "spec_fields.h"
#undef WORD
#undef NUMBER
    SPEC_FIELD_COUNT
};

#define SPEC_UNSET        INT32_MIN
#define SPEC_SET_MAX      8
#define SPEC_ARCH_MAX     48
#define SPEC_MODIFIER_MAX 256

struct spec {
    char arch[SPEC_ARCH_MAX];        /* normalized target: "gfx1151", "gfx942:sramecc+:xnack-" */
    int32_t value[SPEC_FIELD_COUNT]; /* WORD: index of the word; SPEC_UNSET in rows that the operation does not have */
    bool tabled[SPEC_FIELD_COUNT];   /* of a resolved spec: the chip's table has a value of the knob */
    struct {
        char name[32], value[32];
    } set[SPEC_SET_MAX]; /* --set NAME=VALUE, sorted by name */
    int set_count;
    char modifier[SPEC_MODIFIER_MAX]; /* --modifier FILE, the path as it was given; "": none */
    uint32_t modifier_hash;           /* of the file's text; 0: none */
};

struct spec_field {
    const char *name;          /* as the JSON and the templates call it: "head_dim" */
    const char *option;        /* on the command line, without dashes: "hd" */
    const char *bare;          /* the word of the option when it is given without one; NULL: it must have one */
    const char *const *words;  /* WORD: NULL-terminated; NUMBER: NULL */
    const char *const *shorts; /* WORD: each word's form in the symbol */
    const char *const *typed;  /* WORD: each word as it is typed after the option, and behind them what may be typed for
                                  one of them; NULL: as `words` */
    int32_t minimum, maximum, multiple_of;
    int32_t neutral;           /* the value that does not appear in the symbol, whatever a chip's default is */
    bool knob, always;         /* always: appears whatever its value */
    bool choice;               /* a knob that the command has only where it says something */
    uint32_t operations;       /* 1 << enum spec_operation of each operation that has the row */
    const char *symbol, *help; /* symbol: printf format, NUMBER only */
};
extern const struct spec_field spec_fields[SPEC_FIELD_COUNT];

/* The words of a WORD as they are typed after the option: "bottom-right" where the program says "causal-bottom-right".
 */
const char *const *spec_typed_words(const struct spec_field *field);

/* Whether the operation has the row. */
bool spec_operation_has(enum spec_operation operation, enum spec_field_id field);

/* The same for the operation of a spec, "forward" while it is unset. */
bool spec_has(const struct spec *spec, enum spec_field_id field);

/* The value of a row, the neutral one where the operation does not have the row. */
int32_t spec_number(const struct spec *spec, enum spec_field_id field);

/* The word of a WORD that is set, or the neutral one where the operation does not have the row. */
const char *spec_word(const struct spec *spec, enum spec_field_id field);

/* Query rows that a wave has of a product of the shape, a word of SPEC_MATRIX: its first number, or a quarter of 64, which
 * four waves have together. */
int32_t spec_wave_rows(const char *shape);

/* Appends the options that the operation has beside --op, in the order of their rows: "--v-layout, --align and --wave".
 */
void spec_operation_options(enum spec_operation operation, struct text *out);

/* A spec with every field unset and no arch. */
void spec_init(struct spec *spec);

/* Sets one field from the text of its option ("" when it is given bare); the error names the option, what was expected,
 * what was got and the nearest word. */
bool spec_set(struct spec *spec, enum spec_field_id field, const char *text, struct error *error);

/* Sets the target; features are put in the order of the alphabet. Known chips are the files templates/arch/gfx*.lua. */
bool spec_set_arch(struct spec *spec, struct template_engine *engine, const char *text, struct error *error);

/* Adds one --set: "NAME=VALUE", NAME a C identifier, VALUE letters, digits and _ + - . */
bool spec_add_set(struct spec *spec, const char *text, struct error *error);

/* Fills unset fields that the operation has (knobs from the chip's table) and checks ranges; a field that is set and
 * that the operation does not have is an error. What only a template can know it checks when it runs. */
bool spec_resolve(struct spec *spec, struct template_engine *engine, struct error *error);

/* The chip's file below templates/: "arch/gfx942.lua". */
void spec_arch_path(const struct spec *spec, char path[SPEC_ARCH_MAX + 16]);

/* The symbol, which is also the file's base name: at most 255 characters and a NUL. */
#define SPEC_NAME_MAX 256
void spec_name(const struct spec *spec, char name[SPEC_NAME_MAX]);

/* The command that remakes the instance: "fmhagen generate --arch gfx1151 --dtype f16 --hd 128 --causal …", every knob
 * spelled out. */
void spec_command(const struct spec *spec, struct text *out);

/* What the command line asks for: texts of options, each of which may be a comma list. Texts are not copied; NULL: the
 * option was not given. */
struct spec_choices {
    const char *arch;
    const char *field[SPEC_FIELD_COUNT];
    const char *const *set; /* "NAME=VALUE" each */
    int set_count;
    const char *modifier; /* a file */
    /* Fields, 1 << SPEC_DTYPE and 1 << SPEC_WAVE, whose values are left out for the chips that do not have them. */
    uint64_t if_chip_has;
};

/* The product of all lists as resolved specs, with the modifier whose text the engine is given, the target varying
 * slowest, then the fields in the order of their rows. The caller frees *specs. An impossible member is an error that
 * names it; so is an entry that a list holds twice. */
#define SPEC_PRODUCT_MAX 100000
bool spec_product(const struct spec_choices *choices, struct template_engine *engine, struct spec **specs,
                  size_t *count, struct error *error);

#endif

/* What describes an instance: one row per field, in the order of the symbol and of the file name. The command line, the
 * name, the JSON and the templates' table `spec` are all made from these rows; adding a field is adding a row. */
#ifndef GEN_SPEC_H
#define GEN_SPEC_H

#include <stdint.h>

#include "error.h"
#include "text.h"

struct template_engine;

/* SPEC_OP, SPEC_DTYPE, …: one for each row of spec_fields.h. The target is no row: it is a string. */
enum spec_field_id {
#define WORD(identifier, ...) SPEC_##identifier,
#define NUMBER(identifier, ...) SPEC_##identifier,
#include "spec_fields.h"
#undef WORD
#undef NUMBER
    SPEC_FIELD_COUNT
};

#define SPEC_UNSET INT32_MIN
#define SPEC_SET_MAX 8

struct spec {
    char arch[48]; /* normalized target: "gfx1151", "gfx942:sramecc+:xnack-" */
    int32_t value[SPEC_FIELD_COUNT];
    struct {
        char name[32], value[32];
    } set[SPEC_SET_MAX]; /* --set NAME=VALUE, sorted by name */
    int set_count;
};

struct spec_field {
    const char *name;          /* as the JSON and the templates call it: "head_dim" */
    const char *option;        /* on the command line, without dashes: "hd" */
    const char *const *words;  /* WORD: NULL-terminated; NUMBER: NULL */
    const char *const *shorts; /* WORD: each word's form in the symbol */
    int32_t minimum, maximum, multiple_of;
    int32_t neutral;           /* the value that does not appear in the symbol, whatever a chip's default is */
    bool knob, always;         /* always: appears whatever its value */
    const char *symbol, *help; /* symbol: printf format, NUMBER only */
};
extern const struct spec_field spec_fields[SPEC_FIELD_COUNT];

/* A spec with every field unset and no arch. */
void spec_init(struct spec *spec);

/* Sets one field from the text of its option; the error names the option, what was expected, what was got and the nearest word. */
bool spec_set(struct spec *spec, enum spec_field_id field, const char *text, struct error *error);
bool spec_set_arch(struct spec *spec, struct template_engine *engine, const char *text, struct error *error);

/* Fills unset fields (knobs from the chip's table) and checks ranges. What only a template can know it checks when it runs. */
bool spec_resolve(struct spec *spec, struct template_engine *engine, struct error *error);

/* The symbol, which is also the file's base name: at most 255 characters and a NUL. */
#define SPEC_NAME_MAX 256
void spec_name(const struct spec *spec, char name[SPEC_NAME_MAX]);

/* The command that remakes the instance: "fmhagen generate --arch gfx1151 --hd 128 --causal …", knobs spelled out. */
void spec_command(const struct spec *spec, struct text *out);

#endif

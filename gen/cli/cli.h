/* The frame of the command line: commands, their options as tables, and what all of them share. */
#ifndef GEN_CLI_H
#define GEN_CLI_H

#include <stdio.h>

#include "error.h"
#include "interrupt.h"
#include "modifiers.h"
#include "spec.h"

enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_NUMBER,  /* int64_t, minimum to maximum; `initial` when not given */
    OPTION_REAL,    /* double, finite; NAN when not given */
    OPTION_TEXT,    /* const char *; one of `words` where there are any */
    OPTION_REPEATED /* struct option_list */
};

#define OPTION_LIST_MAX 64
struct option_list {
    const char *item[OPTION_LIST_MAX];
    int count;
};

/* One option of one command. A table has at most OPTION_ROWS_MAX rows and ends with one whose name is NULL. */
#define OPTION_ROWS_MAX 32
struct option_row {
    const char *name; /* without dashes */
    char letter;      /* short form, 0: none */
    enum option_kind kind;
    size_t offset;     /* of its value in the command's own struct, which starts zero-filled */
    const char *value; /* name of the value in the help; NULL for a flag */
    const char *help;
    int64_t minimum, maximum, initial;
    const char *const *words; /* NULL-terminated; NULL: any text */
};

/* The options that describe a kernel, as they were typed; NULL: not given. */
struct kernel_options {
    const char *arch; /* "" for `list --arch` without a value */
    const char *field[SPEC_FIELD_COUNT];
    const char *numbers[SPEC_FIELD_COUNT]; /* what was typed where a field's word is that numbers were given */
    struct modifiers_values values;        /* those numbers */
    struct option_list set;
    const char *modifier; /* a file */
    const char *template_dir;
};

struct arguments;

struct command {
    const char *name;
    const char *operands; /* "[FILE …]"; NULL: none are taken */
    const char *summary;  /* one line of the first screen */
    const char *details;  /* paragraphs of `COMMAND --help` */
    bool kernel;          /* takes the options that describe a kernel */
    bool arch_alone;      /* --arch may stand without a value */
    enum command_children children;
    const struct option_row *options;
    size_t options_bytes; /* size of the struct that they fill */
    int (*run)(const struct arguments *arguments);
};

/* A parsed command line. Its texts point into argv. */
struct arguments {
    const struct command *command;
    struct kernel_options kernel;
    void *own; /* the command's struct; owned */
    const char **operands;
    int operand_count;
    bool help, version;
};

extern const struct command command_generate, command_build, command_verify, command_report, command_list,
    command_doctor, command_vendor, command_library, command_tune, command_selftest, command_help;

/* NULL-terminated, in the order of the first screen. */
extern const struct command *const cli_commands[];

/* The command of that name, or NULL with an error that suggests the nearest. */
const struct command *cli_command_find(const char *name, struct error *error);

/* Prints "fmhagen: …" on standard error and returns the exit status of the error's kind. */
int cli_fail(const struct error *error);

/* Prints text on standard output, whole. */
bool cli_print(const struct text *text, struct error *error);

/* Fills `arguments`, which arguments_free releases on failure too. argv[0] is the first argument of the command. */
bool arguments_parse(const struct command *command, int argc, char **argv, struct arguments *arguments,
                     struct error *error);
void arguments_free(struct arguments *arguments);

#endif

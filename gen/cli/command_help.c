/* `fmhagen help`, `--help` of every command, and the words for the shell's completion. All are made from the same
 * tables as the parser, so that they cannot name what does not work. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "embed.h"
#include "help.h"
#include "numbers.h"
#include "text.h"

#define COLUMNS      79
#define RIGHT_COLUMN 26

/* Adds words from `start` column on, broken at COLUMNS, later lines indented by `indent`. ASCII only. */
static void add_wrapped(struct text *out, const char *words, int start, int indent) {
    int column = start;
    bool first = true;
    while (*words) {
        int length = (int)strcspn(words, " ");
        if (!first && column + 1 + length > COLUMNS) {
            text_printf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            text_add(out, " ", 1);
            column++;
        }
        text_add(out, words, (size_t)length);
        column += length;
        words += length;
        words += strspn(words, " ");
        first = false;
    }
    text_puts(out, "\n");
}

static void add_row(struct text *out, const char *left, const char *right) {
    int length = (int)strlen(left);
    text_printf(out, "  %s", left);
    if (length + 4 > RIGHT_COLUMN)
        text_printf(out, "\n%*s", RIGHT_COLUMN, "");
    else
        text_printf(out, "%*s", RIGHT_COLUMN - length - 2, "");
    add_wrapped(out, right, RIGHT_COLUMN, RIGHT_COLUMN);
}

/* An operation is built when its template is there; its name is kept before that. */
static bool word_works(const struct spec_field *field, int word) {
    char path[64];
    if (field != &spec_fields[SPEC_OP])
        return true;
    snprintf(path, sizeof path, "ops/%s.hip", field->words[word]);
    for (size_t i = 0; i < template_file_count; i++)
        if (strcmp(template_files[i].path, path) == 0)
            return true;
    return false;
}

static void add_field(struct text *out, const struct spec_field *field) {
    char left[64];
    struct text right = {0};
    text_puts(&right, field->help);
    if (field->words) {
        if (field->bare)
            snprintf(left, sizeof left, "--%s[=WORD]", field->option);
        else
            snprintf(left, sizeof left, "--%s WORD", field->option);
        const char *separator = " [";
        const char *const *words = spec_typed_words(field);
        for (int i = 0; words[i]; i++)
            if (word_works(field, i)) {
                text_printf(&right, "%s%s", separator, words[i]);
                separator = ", ";
            }
        if (numbers_form(field))
            text_printf(&right, ", or %s for verify, tune and report", numbers_form(field));
        text_puts(&right, "]");
    } else {
        snprintf(left, sizeof left, "--%s N", field->option);
        bool two = field->multiple_of == 0 || field->maximum - field->minimum == field->multiple_of;
        text_printf(&right, " [%" PRId32 " %s %" PRId32, field->minimum, two ? "or" : "to", field->maximum);
        if (!two && field->multiple_of > 1)
            text_printf(&right, " in steps of %" PRId32, field->multiple_of);
        text_puts(&right, "]");
    }
    add_row(out, left, right.bytes ? right.bytes : "");
    if (right.failed)
        out->failed = true;
    text_free(&right);
}

/* "all", "all but --partial", or which: whatever is shorter. */
static void put_options(enum spec_operation operation, struct text *out) {
    int lacking = 0;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        lacking += !spec_operation_has(operation, (enum spec_field_id)id);
    if (lacking > SPEC_FIELD_COUNT / 2) {
        spec_operation_options(operation, out);
        return;
    }
    text_puts(out, "all");
    const char *separator = " but ";
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (!spec_operation_has(operation, (enum spec_field_id)id)) {
            text_printf(out, "%s--%s", separator, spec_fields[id].option);
            separator = ", ";
        }
}

/* Which of the options above each operation that is built has beside --op. */
static void add_operations(struct text *out) {
    const struct spec_field *op = &spec_fields[SPEC_OP];
    text_puts(out, "\nWhat each operation has of these, beside --arch, --set and --template-dir\n");
    for (int operation = 0; operation < SPEC_OPERATION_COUNT; operation++) {
        struct text options = {0};
        put_options((enum spec_operation)operation, &options);
        if (word_works(op, operation))
            add_row(out, op->words[operation], options.bytes ? options.bytes : "");
        out->failed = out->failed || options.failed;
        text_free(&options);
    }
}

static void add_kernel_options(struct text *out, const struct command *command) {
    text_puts(out, "\nWhat the kernel computes (comma lists give every combination)\n");
    add_row(out, command->arch_alone ? "--arch [A]" : "--arch A",
            "gfx target, as gfx1151; 'fmhagen list --arch' names all");
    for (int i = 0; i < SPEC_FIELD_COUNT; i++)
        if (!spec_fields[i].knob)
            add_field(out, &spec_fields[i]);
    add_row(out, "--modifier FILE", "a modifier of one's own: a template like those in templates/modifiers/");
    text_puts(out, "\nHow it computes it (each has a default per chip)\n");
    for (int i = 0; i < SPEC_FIELD_COUNT; i++)
        if (spec_fields[i].knob)
            add_field(out, &spec_fields[i]);
    add_row(out, "--set NAME=VALUE", "any other knob of a template; repeatable");
    add_row(out, "--template-dir DIR", "take templates from this folder before the built-in ones");
    add_operations(out);
}

static void add_own_options(struct text *out, const struct command *command) {
    text_puts(out, "\nOptions of this command\n");
    for (const struct option_row *row = command->options; row && row->name; row++) {
        char left[96];
        char letter[8] = "";
        if (row->letter)
            snprintf(letter, sizeof letter, "-%c, ", row->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, row->name, row->value ? " " : "",
                 row->value ? row->value : "");
        add_row(out, left, row->help);
    }
    add_row(out, "-h, --help", "print this");
    add_row(out, "--version", "print the version");
}

void help_screen(struct text *out) {
    text_puts(out, "Usage: fmhagen [COMMAND] [OPTIONS]\n"
                   "Attention kernels for AMD GPUs: readable HIP C, proved right without a GPU.\n\n");
    for (int i = 0; cli_commands[i]; i++)
        text_printf(out, "  %-10s%s\n", cli_commands[i]->name, cli_commands[i]->summary);
    text_puts(out, "\nThe options that describe a kernel are the same everywhere; the main ones:\n"
                   "  --arch A[,A...]    gfx target, as gfx1151; needed, there is no default chip\n"
                   "  --hd N[,N...]      head dimension of Q and K\n"
                   "  --dtype T          f16 (default) or bf16\n"
                   "  --causal           each query sees the keys up to its own position\n"
                   "\nExample: fmhagen --arch gfx1151 --hd 128 --causal\n"
                   "'fmhagen COMMAND --help' gives the rest, --version the version.\n");
}

void help_command(const struct command *command, struct text *out) {
    text_printf(out, "Usage: fmhagen %s [OPTIONS]%s%s\n", command->name, command->operands ? " " : "",
                command->operands ? command->operands : "");
    add_wrapped(out, command->details, 0, 0);
    add_own_options(out, command);
    if (command->kernel)
        add_kernel_options(out, command);
}

static void add_completion(struct text *out, const struct command *command) {
    for (const struct option_row *row = command->options; row && row->name; row++) {
        text_printf(out, "--%s%s", row->name, row->kind == OPTION_FLAG ? "" : " =");
        for (const char *const *word = row->words; word && *word; word++)
            text_printf(out, " %s", *word);
        text_puts(out, "\n");
    }
    text_puts(out, "--help\n--version\n");
    if (!command->kernel)
        return;
    text_puts(out, "--arch =\n--modifier =\n--set =\n--template-dir =\n");
    for (int i = 0; i < SPEC_FIELD_COUNT; i++) {
        const struct spec_field *field = &spec_fields[i];
        text_printf(out, "--%s %s", field->option, field->bare ? "?" : "=");
        for (int j = 0; field->words && field->words[j]; j++)
            if (word_works(field, j))
                text_printf(out, " %s", spec_typed_words(field)[j]);
        text_puts(out, "\n");
    }
}

struct help_options {
    bool completion;
};

static int run(const struct arguments *arguments) {
    const struct help_options *options = arguments->own;
    struct error error;
    if (arguments->operand_count > 1) {
        error_set(&error, ERROR_USAGE, "command line: expected one command to explain, got %d",
                  arguments->operand_count);
        return cli_fail(&error);
    }
    const struct command *command = NULL;
    if (arguments->operand_count == 1 && !(command = cli_command_find(arguments->operands[0], &error)))
        return cli_fail(&error);
    struct text text = {0};
    if (options->completion && command)
        add_completion(&text, command);
    else if (options->completion)
        for (int i = 0; cli_commands[i]; i++)
            text_printf(&text, "%s\n", cli_commands[i]->name);
    else if (command)
        help_command(command, &text);
    else
        help_screen(&text);
    bool done = cli_print(&text, &error);
    text_free(&text);
    return done ? 0 : cli_fail(&error);
}

static const struct option_row options[] = {
    {.name = "completion",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct help_options, completion),
     .help =
         "print words for a shell's completion: the commands, or one command's options, each followed by '=' (takes "
         "a value) or '?' (may take one) and the values' words"},
    {0},
};

const struct command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "explain a command",
    .details = "Prints the first screen, or what a command does and all its options.",
    .options = options,
    .options_bytes = sizeof(struct help_options),
    .run = run,
};

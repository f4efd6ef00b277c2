#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "numbers.h"
#include "text.h"

/* ---- Where the value of an option goes ----------------------------------------------------------------------------
 */

/* An option that was recognized: a row of the command, a row of the spec, or one of the common ones. */
struct target {
    const struct option_row *row;
    const struct spec_field *field;
    const char **text;        /* takes any text, once */
    struct option_list *list; /* takes any text, repeatedly */
    bool *flag;
    const char *expected; /* what the value is, for errors: "a folder" */
    bool bare;            /* may stand without a value */
};

static void *member(void *base, size_t offset) {
    return (char *)base + offset;
}

static bool find_target(struct arguments *arguments, const char *name, struct target *target) {
    const struct command *command = arguments->command;
    memset(target, 0, sizeof *target);
    target->expected = "a value";
    if (strcmp(name, "help") == 0 || strcmp(name, "version") == 0) {
        target->flag = name[0] == 'h' ? &arguments->help : &arguments->version;
        return true;
    }
    for (const struct option_row *row = command->options; row && row->name; row++)
        if (strcmp(name, row->name) == 0) {
            target->row = row;
            void *value = member(arguments->own, row->offset);
            if (row->kind == OPTION_FLAG)
                target->flag = value;
            else if (row->kind == OPTION_TEXT)
                target->text = value;
            else if (row->kind == OPTION_REPEATED)
                target->list = value;
            return true;
        }
    if (!command->kernel)
        return false;
    struct kernel_options *kernel = &arguments->kernel;
    if (strcmp(name, "arch") == 0) {
        target->text = &kernel->arch;
        target->expected = "a gfx target";
        target->bare = command->arch_alone;
        return true;
    }
    if (strcmp(name, "template-dir") == 0) {
        target->text = &kernel->template_dir;
        target->expected = "a folder";
        return true;
    }
    if (strcmp(name, "modifier") == 0) {
        target->text = &kernel->modifier;
        target->expected = "a file";
        return true;
    }
    if (strcmp(name, "set") == 0) {
        target->list = &kernel->set;
        target->expected = "NAME=VALUE";
        return true;
    }
    for (int i = 0; i < SPEC_FIELD_COUNT; i++)
        if (strcmp(name, spec_fields[i].option) == 0) {
            target->field = &spec_fields[i];
            target->text = &kernel->field[i];
            target->bare = spec_fields[i].bare != NULL;
            return true;
        }
    return false;
}

static bool unknown_option(const struct arguments *arguments, const char *name, struct error *error) {
    const struct command *command = arguments->command;
    const char *words[SPEC_FIELD_COUNT + OPTION_ROWS_MAX + 6];
    size_t count = 0;
    for (const struct option_row *row = command->options; row && row->name && count < OPTION_ROWS_MAX; row++)
        words[count++] = row->name;
    if (command->kernel) {
        for (int i = 0; i < SPEC_FIELD_COUNT; i++)
            words[count++] = spec_fields[i].option;
        words[count++] = "arch";
        words[count++] = "modifier";
        words[count++] = "set";
        words[count++] = "template-dir";
    }
    words[count++] = "help";
    words[count++] = "version";
    const char *nearest = text_nearest(name, words, count);
    if (nearest)
        return error_set(error, ERROR_USAGE,
                         "--%s: expected an option of '%s', got '--%s'; did you mean --%s? 'fmhagen %s --help' lists "
                         "the options",
                         name, command->name, name, nearest, command->name);
    return error_set(error, ERROR_USAGE,
                     "--%s: expected an option of '%s', got '--%s'; 'fmhagen %s --help' lists the options", name,
                     command->name, name, command->name);
}

static bool parse_number(const struct option_row *row, const char *value, int64_t *number, struct error *error) {
    char *end = NULL;
    errno = 0;
    intmax_t parsed = strtoimax(value, &end, 10);
    bool whole = end != value && !*end;
    if (!whole || errno || parsed < row->minimum || parsed > row->maximum) {
        /* That there is an end to all numbers is worth saying to who has passed it. */
        if (row->maximum == INT64_MAX && (!whole || *value == '-'))
            return error_set(error, ERROR_USAGE, "--%s: expected a whole number from %" PRId64 ", got '%s'", row->name,
                             row->minimum, value);
        return error_set(error, ERROR_USAGE, "--%s: expected a whole number from %" PRId64 " to %" PRId64 ", got '%s'",
                         row->name, row->minimum, row->maximum, value);
    }
    *number = (int64_t)parsed;
    return true;
}

static bool parse_real(const struct option_row *row, const char *value, double *number, struct error *error) {
    char *end = NULL;
    double parsed = strtod(value, &end);
    if (end == value || *end || !isfinite(parsed))
        return error_set(error, ERROR_USAGE, "--%s: expected a finite number such as 0.125, got '%s'", row->name,
                         value);
    *number = parsed;
    return true;
}

static bool check_word(const struct option_row *row, const char *value, struct error *error) {
    char list[512] = "";
    size_t count = 0;
    for (const char *const *word = row->words; *word; word++, count++) {
        if (strcmp(*word, value) == 0)
            return true;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", *word);
    }
    const char *nearest = text_nearest(value, row->words, count);
    if (nearest)
        return error_set(error, ERROR_USAGE, "--%s: expected one of %s, got '%s'; did you mean '%s'?", row->name, list,
                         value, nearest);
    return error_set(error, ERROR_USAGE, "--%s: expected one of %s, got '%s'", row->name, list, value);
}

/* The field is on, by its bare word, and the numbers are kept beside it. */
static bool store_numbers(struct arguments *arguments, const struct spec_field *field, const char *value,
                          struct error *error) {
    struct kernel_options *kernel = &arguments->kernel;
    ptrdiff_t id = field - spec_fields;
    const char *before = kernel->numbers[id] ? kernel->numbers[id] : kernel->field[id];
    if (before && strcmp(before, value) != 0)
        return error_set(error, ERROR_USAGE, "--%s: expected it once, got '%s' and '%s'", field->option, before, value);
    kernel->numbers[id] = value;
    kernel->field[id] = field->bare;
    return numbers_parse(field, value, &kernel->values, error);
}

/* `value` is never NULL; a bare option brings "". */
static bool store(struct arguments *arguments, const char *name, const struct target *target, const char *value,
                  struct error *error) {
    const struct option_row *row = target->row;
    if (row && row->kind == OPTION_NUMBER)
        return parse_number(row, value, member(arguments->own, row->offset), error);
    if (row && row->kind == OPTION_REAL)
        return parse_real(row, value, member(arguments->own, row->offset), error);
    if (row && row->words && !check_word(row, value, error))
        return false;
    if (!*value && !target->bare)
        return error_set(error, ERROR_USAGE, "--%s: expected %s, got nothing", name,
                         row ? row->value : target->expected);
    if (target->list) {
        if (target->list->count == OPTION_LIST_MAX)
            return error_set(error, ERROR_USAGE, "--%s: expected it at most %d times, got it once more", name,
                             OPTION_LIST_MAX);
        target->list->item[target->list->count++] = value;
        return true;
    }
    if (target->field && numbers_form(target->field) && numbers_begin(value))
        return store_numbers(arguments, target->field, value, error);
    if (*target->text && strcmp(*target->text, value) != 0)
        return error_set(error, ERROR_USAGE, "--%s: expected it once, got '%s' and '%s'%s", name, *target->text, value,
                         target->field || strcmp(name, "arch") == 0 ? "; a list of values is written with commas" : "");
    *target->text = value;
    return true;
}

/* ---- The loop over the words --------------------------------------------------------------------------------------
 */

static bool is_option(const char *word) {
    return word[0] == '-' && word[1] && (word[1] != '-' || word[2]) && !(word[1] >= '0' && word[1] <= '9');
}

/* Whether "hd" or "hd=64" names an option. */
static bool is_long_name(struct arguments *arguments, const char *word) {
    char name[64];
    struct target target;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    return find_target(arguments, name, &target);
}

/* One option whose first word is argv[*position]; moves *position past what it took. */
static bool parse_option(struct arguments *arguments, int argc, char **argv, int *position, struct error *error) {
    const char *word = argv[(*position)++];
    char name[64];
    const char *value = NULL;
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        int length = equals ? (int)(equals - word - 2) : (int)strlen(word + 2);
        if (length >= (int)sizeof name)
            return error_set(error, ERROR_USAGE,
                             "%.60s…: expected an option of '%s'; 'fmhagen %s --help' lists the options", word,
                             arguments->command->name, arguments->command->name);
        snprintf(name, sizeof name, "%.*s", length, word + 2);
        value = equals ? equals + 1 : NULL;
    } else {
        const char *found = word[1] == 'h' ? "help" : NULL;
        for (const struct option_row *row = arguments->command->options; row && row->name; row++)
            if (row->letter && row->letter == word[1])
                found = row->name;
        if (word[2] && (!found || word[1] == 'h') && is_long_name(arguments, word + 1))
            return error_set(
                error, ERROR_USAGE,
                "%s: expected an option of '%s', got '%s'; did you mean -%.*s? 'fmhagen %s --help' lists the "
                "options",
                word, arguments->command->name, word, (int)strcspn(word, "="), word, arguments->command->name);
        if (!found)
            return error_set(error, ERROR_USAGE,
                             "%s: expected an option of '%s', got '%s'; 'fmhagen %s --help' lists the options", word,
                             arguments->command->name, word, arguments->command->name);
        snprintf(name, sizeof name, "%s", found);
        value = word[2] ? word + 2 : NULL;
    }
    struct target target;
    if (!find_target(arguments, name, &target))
        return unknown_option(arguments, name, error);
    if (target.flag) {
        if (value)
            return error_set(error, ERROR_USAGE, "--%s: expected no value, got '%s'", name, value);
        *target.flag = true;
        return true;
    }
    bool arch_list = target.bare && !target.field, joined = value != NULL;
    if (!value && (!target.bare || arch_list)) {
        bool follows = *position < argc && !(argv[*position][0] == '-' && argv[*position][1] == '-') &&
                       !(arch_list && is_option(argv[*position]));
        if (follows)
            value = argv[(*position)++];
        else if (!target.bare) {
            const char *expected = target.row ? target.row->value : target.expected;
            if (*position < argc)
                return error_set(error, ERROR_USAGE, "--%s: expected %s, got the option '%s'", name, expected,
                                 argv[*position]);
            return error_set(error, ERROR_USAGE, "--%s: expected %s, got the end of the command line", name, expected);
        }
    }
    if (!value && target.field && numbers_form(target.field) && *position < argc && numbers_begin(argv[*position]))
        value = argv[(*position)++];
    if (value && !*value && target.bare && !joined)
        return error_set(error, ERROR_USAGE, "--%s: expected %s, got nothing; leave out the value", name,
                         target.expected);
    if (value && !*value && target.bare)
        return error_set(error, ERROR_USAGE, "--%s: expected a value after '=', got nothing; leave out the '='", name);
    return store(arguments, name, &target, value ? value : "", error);
}

/* An operand where none is taken: most often a command in the wrong place or a value that needs '='. */
static bool misplaced_operand(const struct command *command, const char *operand, const char *before,
                              struct error *error) {
    if (before && strncmp(before, "--", 2) == 0)
        for (int i = 0; i < SPEC_FIELD_COUNT; i++)
            if (spec_fields[i].bare && strcmp(before + 2, spec_fields[i].option) == 0)
                return error_set(error, ERROR_USAGE,
                                 "%s: expected its value after '=', got '%s' as a word of its own; write %s=%s", before,
                                 operand, before, operand);
    for (int i = 0; cli_commands[i]; i++)
        if (strcmp(operand, cli_commands[i]->name) == 0)
            return error_set(error, ERROR_USAGE,
                             "command line: expected options of '%s', got the command '%s'; a command comes first: "
                             "fmhagen %s …",
                             command->name, operand, operand);
    return error_set(error, ERROR_USAGE,
                     "command line: expected options of '%s', got '%s'; 'fmhagen %s --help' lists the options",
                     command->name, operand, command->name);
}

bool arguments_parse(const struct command *command, int argc, char **argv, struct arguments *arguments,
                     struct error *error) {
    memset(arguments, 0, sizeof *arguments);
    arguments->command = command;
    arguments->kernel.values = modifiers_values_none();
    arguments->own = calloc(1, command->options_bytes ? command->options_bytes : 1);
    arguments->operands = calloc((size_t)argc + 1, sizeof *arguments->operands);
    if (!arguments->own || !arguments->operands)
        return error_set(error, ERROR_RUN, "command line: out of memory");
    for (const struct option_row *row = command->options; row && row->name; row++)
        if (row->kind == OPTION_NUMBER)
            *(int64_t *)member(arguments->own, row->offset) = row->initial;
        else if (row->kind == OPTION_REAL)
            *(double *)member(arguments->own, row->offset) = (double)NAN;
    bool options_end = false;
    for (int position = 0; position < argc && !arguments->help && !arguments->version;) {
        const char *word = argv[position];
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
            position++;
        } else if (!options_end && word[0] == '-' && word[1]) {
            if (!parse_option(arguments, argc, argv, &position, error))
                return false;
        } else if (command->operands) {
            arguments->operands[arguments->operand_count++] = word;
            position++;
        } else {
            return misplaced_operand(command, word, position ? argv[position - 1] : NULL, error);
        }
    }
    return true;
}

void arguments_free(struct arguments *arguments) {
    free(arguments->own);
    free(arguments->operands);
    memset(arguments, 0, sizeof *arguments);
}

/* fmhagen: emits attention kernels for AMD GPUs as HIP C, compiles them and proves them right. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "fmha.h"
#include "help.h"
#include "text.h"

#define COMMANDS_MAX 16

const struct command *const cli_commands[] = {
    &command_generate, &command_build, &command_verify,   &command_report, &command_list, &command_vendor,
    &command_library,  &command_tune,  &command_selftest, &command_doctor, &command_help, NULL,
};

const struct command *cli_command_find(const char *name, struct error *error) {
    const char *words[COMMANDS_MAX];
    size_t count = 0;
    for (; cli_commands[count] && count < COMMANDS_MAX; count++) {
        if (strcmp(name, cli_commands[count]->name) == 0)
            return cli_commands[count];
        words[count] = cli_commands[count]->name;
    }
    const char *nearest = text_nearest(name, words, count);
    if (nearest)
        error_set(error, ERROR_USAGE,
                  "command line: expected a command, got '%s'; did you mean '%s'? 'fmhagen help' names the commands",
                  name, nearest);
    else
        error_set(error, ERROR_USAGE, "command line: expected a command, got '%s'; 'fmhagen help' names the commands",
                  name);
    return NULL;
}

int cli_fail(const struct error *error) {
    fflush(stdout);
    fprintf(stderr, "fmhagen: %s\n", error->text);
    return (int)error->kind;
}

bool cli_print(const struct text *text, struct error *error) {
    if (text->failed)
        return error_set(error, ERROR_RUN, "standard output: out of memory");
    errno = 0;
    if (fwrite(text->bytes ? text->bytes : "", 1, text->length, stdout) != text->length || fflush(stdout) != 0)
        return error_set(error, ERROR_RUN,
                         "standard output: expected to write everything, got: %s; what was written is cut",
                         strerror(errno));
    return true;
}

/* A closed standard stream would let the next file that is opened take its number and receive what is printed. */
static void reserve_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}

static int run_command(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    struct error error;
    struct text text = {0};
    int status = 0;
    if (!arguments_parse(command, argc, argv, &arguments, &error)) {
        status = cli_fail(&error);
    } else if (arguments.help || arguments.version) {
        if (arguments.version)
            text_printf(&text, "fmhagen %s (ABI %d)\n", FMHA_VERSION, FMHA_ABI_VERSION);
        else
            help_command(command, &text);
        if (!cli_print(&text, &error))
            status = cli_fail(&error);
    } else {
        interrupt_begin(command->children);
        status = command->run(&arguments);
        interrupt_end();
    }
    text_free(&text);
    arguments_free(&arguments);
    return status;
}

/* Asked for it is the answer; without any argument it is the cure of an error. */
static int first_screen(bool is_error) {
    struct error error;
    struct text text = {0};
    int status = 0;
    help_screen(&text);
    if (is_error) {
        fprintf(stderr, "%s", text.bytes ? text.bytes : "");
        status = ERROR_USAGE;
    } else if (!cli_print(&text, &error)) {
        status = cli_fail(&error);
    }
    text_free(&text);
    return status;
}

int main(int argc, char **argv) {
    reserve_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return first_screen(argc < 2);

    struct error error;
    const struct command *command = &command_generate;
    int first = 1;
    if (argv[1][0] != '-' && argv[1][0]) {
        command = cli_command_find(argv[1], &error);
        first = 2;
    }
    if (!command)
        return cli_fail(&error);
    return run_command(command, argc - first, argv + first);
}

/* `fmhagen generate`: prints kernels, or writes them into files. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "kernels.h"
#include "output.h"

struct generate_options {
    const char *output;
};

static bool write_one(const struct instance *instance, const char *folder, struct error *error) {
    char *path = output_join(folder, instance->name, ".hip", error);
    bool done = path && file_write(path, instance->text.bytes, instance->text.length, error);
    free(path);
    return done;
}

static bool write_all(const struct kernels *kernels, const char *output, struct error *error) {
    if (!output || strcmp(output, "-") == 0) {
        if (kernels->count > 1)
            return error_set(error, ERROR_USAGE,
                             "-o: expected a folder for %zu instances, got standard output; add -o FOLDER",
                             kernels->count);
        return cli_print(&kernels->instances[0].text, error);
    }
    if (kernels->count == 1 && !output_is_folder(output))
        return file_write(output, kernels->instances[0].text.bytes, kernels->instances[0].text.length, error);
    if (!output_folder_make(output, error))
        return false;
    for (size_t i = 0; i < kernels->count; i++)
        if (!write_one(&kernels->instances[i], output, error))
            return false;
    return true;
}

static int run(const struct arguments *arguments) {
    const struct generate_options *options = arguments->own;
    struct kernels kernels;
    struct error error;
    bool done = kernels_open(&arguments->kernel, &kernels, &error) && kernels_emit(&kernels, &error) &&
                write_all(&kernels, options->output, &error);
    kernels_free(&kernels);
    return done ? 0 : cli_fail(&error);
}

static const struct option_row options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(struct generate_options, output),
     .value = "PATH",
     .help = "a file, a folder that takes NAME.hip of each instance (made if missing), or - for standard output, the "
             "default for one instance"},
    {0},
};

const struct command command_generate = {
    .name = "generate",
    .summary = "print a kernel's HIP source; what is done without a command",
    .details =
        "Prints the HIP C source of one kernel, or writes those of several into a folder. The text begins with the "
        "command that remakes it and compiles with hipcc, hipRTC and plain clang++.",
    .kernel = true,
    .options = options,
    .options_bytes = sizeof(struct generate_options),
    .run = run,
};

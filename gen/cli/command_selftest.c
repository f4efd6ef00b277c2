/* `fmhagen selftest`: verifies and times a few kernels on every device, for a report that can be sent. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "selftest.h"
#include "template.h"
#include "text.h"
#include "words.h"

struct selftest_options {
    const char *devices, *output;
    bool quick;
};

static void show_progress(void *context, const char *what) {
    (void)context;
    fprintf(stderr, "\r\033[K%s", what);
}

/* The members of a comma list. */
static bool split_devices(const char *list, char *devices[SELFTEST_DEVICES_MAX], int *count, struct error *error) {
    while (*list) {
        size_t length = strcspn(list, ",");
        if (*count == SELFTEST_DEVICES_MAX)
            return error_set(error, ERROR_USAGE, "--device: expected at most %d devices, got more",
                             SELFTEST_DEVICES_MAX);
        char *name = strndup(list, length);
        if (!name)
            return error_set(error, ERROR_RUN, "selftest: out of memory");
        devices[(*count)++] = name;
        if (!words_device(name, error))
            return false;
        if (strcmp(name, "emu") == 0 || strcmp(name, "isa") == 0)
            return error_set(error, ERROR_USAGE, "--device: expected a chip with %s, got none; write %s:gfx1151", name,
                             name);
        list += length + (list[length] == ',');
    }
    return true;
}

static bool find_devices(const struct selftest_options *options, char *devices[SELFTEST_DEVICES_MAX], int *count,
                         struct error *error) {
    if (options->devices)
        return split_devices(options->devices, devices, count, error);
    struct text why = {0};
    *count = selftest_find(devices, &why);
    if (*count == 0)
        error_set(error, ERROR_RUN,
                  "selftest: expected a device, got none; GPUs were looked for:\n%s\n--device emu:gfx1151 tests "
                  "on the emulated device",
                  why.bytes ? why.bytes : "out of memory");
    text_free(&why);
    return *count > 0;
}

static bool test(const struct selftest_options *options, struct template_engine *engine, char *const *devices,
                 int count, bool *right, struct error *error) {
    bool terminal = isatty(STDERR_FILENO) != 0;
    struct text text = {0};
    struct selftest_counts counts;
    const struct selftest_request request = {.engine = engine,
                                             .devices = (const char *const *)devices,
                                             .device_count = count,
                                             .quick = options->quick,
                                             .progress = terminal ? show_progress : NULL};
    bool done = selftest_run(&request, &text, &counts, error);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    if (done && options->output) {
        done = file_write(options->output, text.bytes, text.length, error);
        text_free(&text);
        text_printf(&text, "%d of %d kernels are right, on %d %s; the report is in %s\n", counts.right, counts.kernels,
                    counts.devices, counts.devices == 1 ? "device" : "devices", options->output);
    }
    done = done && cli_print(&text, error);
    *right = done && counts.right == counts.kernels && counts.kernels > 0;
    text_free(&text);
    return done;
}

static int run(const struct arguments *arguments) {
    const struct selftest_options *options = arguments->own;
    char *devices[SELFTEST_DEVICES_MAX] = {NULL};
    struct template_engine *engine = NULL;
    struct error error;
    int count = 0;
    bool right = false;
    setenv("FMHA_GENERATOR", "off", 1); /* what is tested was made by this program */
    bool done = find_devices(options, devices, &count, &error);
    if (done) {
        engine = template_engine_new(NULL, &error);
        done = engine && test(options, engine, devices, count, &right, &error);
    }
    template_engine_free(engine);
    for (int i = 0; i < count; i++)
        free(devices[i]);
    if (!done)
        return cli_fail(&error);
    return right ? 0 : ERROR_RUN;
}

static const struct option_row options[] = {
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct selftest_options, devices),
     .value = "NAME,...",
     .help = "hip:1, cuda, emu:gfx1151, ...; default: every GPU"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(struct selftest_options, output),
     .value = "FILE",
     .help = "write the report there; default: standard output"},
    {.name = "quick",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct selftest_options, quick),
     .help = "two kernels and one shape: whether it works at all"},
    {0},
};

const struct command command_selftest = {
    .name = "selftest",
    .summary = "verify and time a few kernels on every GPU, for a report",
    .details =
        "Verifies a short list of kernels (f16 and bf16, causal and not, waves of 32 and 64) on every GPU, "
        "times them there, and writes what came of it with the versions of everything that had a part: a text to "
        "read, and to attach to a report about a chip. The exit status is 1 if a kernel is wrong or no device is "
        "there.",
    .children = CHILDREN_ABORT,
    .options = options,
    .options_bytes = sizeof(struct selftest_options),
    .run = run,
};

/* `fmhagen report`: what compiled kernels cost, ours or those in files. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "kernels.h"
#include "layout.h"
#include "report.h"
#include "report_svg.h"
#include "words.h"

struct report_arguments {
    const char *symbol, *object, *svg;
    double clock_ghz, bandwidth_gbs;
    int64_t compute_units;
    struct option_list shapes;
    bool json, layout, run;
};

static bool write_svg(const struct report *report, const char *path, struct error *error) {
    struct text text = {0};
    bool done = report_svg(report, &text, error) && file_write(path, text.bytes, text.length, error);
    text_free(&text);
    return done;
}

static bool report_one(const struct report_request *request, const struct report_arguments *own, bool more,
                       struct error *error) {
    struct report report;
    struct text text = {0};
    bool json = own->json;
    if (!report_run(request, &report, error))
        return false;
    bool done = !own->svg || write_svg(&report, own->svg, error);
    if (!done) {
        report_free(&report);
        return false;
    }
    if (json)
        done = report_json(&report, &text, error);
    else
        report_table(&report, &text);
    if (!json && more)
        text_puts(&text, "\n");
    done = done && cli_print(&text, error);
    text_free(&text);
    report_free(&report);
    return done;
}

/* Of the options that describe a kernel, a file leaves only its chip and its wave open. */
static bool check_file_options(const struct kernel_options *kernel, const char *file, int *wave, struct error *error) {
    const char *extra = kernel->set.count      ? "set"
                        : kernel->modifier     ? "modifier"
                        : kernel->template_dir ? "template-dir"
                                               : NULL;
    for (int i = 0; i < SPEC_FIELD_COUNT; i++)
        if (kernel->field[i] && i != SPEC_WAVE)
            extra = spec_fields[i].option;
    if (extra)
        return error_set(error, ERROR_USAGE,
                         "--%s: expected only --arch and --wave beside a file, got '%s' as well; leave out one of them",
                         extra, file);
    *wave = 0;
    if (!kernel->field[SPEC_WAVE])
        return true;
    if (strcmp(kernel->field[SPEC_WAVE], "32") != 0 && strcmp(kernel->field[SPEC_WAVE], "64") != 0)
        return error_set(error, ERROR_USAGE, "--wave: expected 32 or 64, got '%s'", kernel->field[SPEC_WAVE]);
    *wave = kernel->field[SPEC_WAVE][0] == '3' ? 32 : 64;
    return true;
}

/* A picture is of one kernel. */
static bool check_one(const struct report_arguments *own, size_t kernels, struct error *error) {
    if (own->svg && kernels != 1)
        return error_set(error, ERROR_USAGE, "--svg: expected one kernel, which is drawn, got %zu; shorten the lists",
                         kernels);
    if (own->object && kernels != 1)
        return error_set(error, ERROR_USAGE,
                         "--object: expected one kernel, whose place '%s' takes, got %zu; shorten the lists",
                         own->object, kernels);
    return true;
}

static bool report_files(const struct arguments *arguments, struct report_request *request, struct error *error) {
    const struct report_arguments *own = arguments->own;
    if (own->object)
        return error_set(error, ERROR_USAGE,
                         "--object: expected options that describe a kernel, got the file '%s'; leave out one of them",
                         arguments->operands[0]);
    request->arch = arguments->kernel.arch;
    if (!check_file_options(&arguments->kernel, arguments->operands[0], &request->wave, error) ||
        !check_one(own, (size_t)arguments->operand_count, error))
        return false;
    for (int i = 0; i < arguments->operand_count; i++) {
        request->file = arguments->operands[i];
        if (!report_one(request, own, i + 1 < arguments->operand_count, error))
            return false;
    }
    return true;
}

static bool report_kernels(const struct arguments *arguments, struct report_request *request, struct error *error) {
    const struct report_arguments *own = arguments->own;
    struct kernels kernels;
    if (request->symbol && !own->object)
        return error_set(error, ERROR_USAGE, "--symbol: expected a file that holds '%s', got none; add FILE",
                         request->symbol);
    bool done = kernels_open(&arguments->kernel, &kernels, error) && check_one(own, kernels.count, error);
    request->engine = kernels.engine;
    request->file = own->object;
    request->arch = own->object ? arguments->kernel.arch : NULL;
    for (size_t i = 0; done && i < kernels.count; i++) {
        request->spec = &kernels.specs[i];
        done = report_one(request, own, i + 1 < kernels.count, error);
    }
    kernels_free(&kernels);
    return done;
}

/* --layout draws an atom, which only the target, the type, the wave and the shape choose. */
static bool check_layout_options(const struct arguments *arguments, const struct report_request *request,
                                 struct error *error) {
    const struct report_arguments *own = arguments->own;
    const struct kernel_options *kernel = &arguments->kernel;
    const char *extra = own->json                ? "json"
                        : own->symbol            ? "symbol"
                        : own->object            ? "object"
                        : own->svg               ? "svg"
                        : request->clock_ghz > 0 ? "clock"
                        : kernel->set.count      ? "set"
                        : kernel->modifier       ? "modifier"
                                                 : NULL;
    for (int i = 0; i < SPEC_FIELD_COUNT; i++)
        if (kernel->field[i] && i != SPEC_DTYPE && i != SPEC_WAVE && i != SPEC_MATRIX)
            extra = spec_fields[i].option;
    if (extra)
        return error_set(
            error, ERROR_USAGE,
            "--%s: expected only --arch, --dtype, --wave, --matrix and --template-dir beside --layout, got --%s "
            "as well; leave it out",
            extra, extra);
    if (arguments->operand_count)
        return error_set(error, ERROR_USAGE, "--layout: expected no file beside it, got '%s'; leave out one of them",
                         arguments->operands[0]);
    return true;
}

static bool report_layout(const struct arguments *arguments, const struct report_request *request,
                          struct error *error) {
    struct kernel_options any = arguments->kernel;
    struct kernels kernels;
    if (!check_layout_options(arguments, request, error))
        return false;
    any.field[SPEC_HEAD_DIM] = "128"; /* a kernel needs one; the atom does not depend on it */
    bool done = kernels_open(&any, &kernels, error);
    if (done && kernels.count != 1)
        done = error_set(error, ERROR_USAGE,
                         "--layout: expected one --arch, --dtype, --wave and --matrix, got %zu combinations",
                         kernels.count);
    struct layout *layout = NULL;
    struct text text = {0};
    if (done && layout_read(kernels.engine, &kernels.specs[0], &layout, error)) {
        layout_svg(layout, &text);
        done = cli_print(&text, error);
    } else
        done = false;
    text_free(&text);
    free(layout);
    kernels_free(&kernels);
    return done;
}

/* --run needs a --shape, and both a kernel of ours. */
static bool take_shapes(const struct arguments *arguments, struct verify_shape shapes[OPTION_LIST_MAX],
                        struct report_request *request, struct error *error) {
    const struct report_arguments *own = arguments->own;
    if (!own->run && !own->shapes.count)
        return true;
    if (!own->shapes.count)
        return error_set(error, ERROR_USAGE,
                         "--run: expected --shape B,HQ,HK,SQ,SK, got none; name the problem that is to be run");
    if (own->layout || arguments->operand_count)
        return error_set(error, ERROR_USAGE, "--%s: expected options that describe a kernel, got %s%s%s; leave it out",
                         own->run ? "run" : "shape", own->layout ? "--layout" : "the file '",
                         own->layout ? "" : arguments->operands[0], own->layout ? "" : "'");
    for (int i = 0; i < own->shapes.count; i++)
        if (!words_shape(own->shapes.item[i], &shapes[i], error))
            return false;
    request->shapes = shapes;
    request->shape_count = (size_t)own->shapes.count;
    request->run = own->run;
    request->values = &arguments->kernel.values;
    return true;
}

static int run(const struct arguments *arguments) {
    const struct report_arguments *own = arguments->own;
    struct error error;
    struct verify_shape shapes[OPTION_LIST_MAX];
    struct report_request request = {.symbol = own->symbol, .compute_units = (int)own->compute_units};
    bool clock = own->clock_ghz == own->clock_ghz; /* not NAN: it was given */
    bool bandwidth = own->bandwidth_gbs == own->bandwidth_gbs;
    bool done = true;
    if (clock && !(own->clock_ghz > 0))
        done = error_set(&error, ERROR_USAGE, "--clock: expected GHz above 0, got %g", own->clock_ghz);
    else if (own->compute_units && !clock)
        done = error_set(&error, ERROR_USAGE, "--compute-units: expected a clock beside it, got none; add --clock GHZ");
    else if (bandwidth && !(own->bandwidth_gbs > 0))
        done = error_set(&error, ERROR_USAGE, "--bandwidth: expected GB/s above 0, got %g", own->bandwidth_gbs);
    else if (bandwidth && !own->shapes.count)
        done = error_set(&error, ERROR_USAGE,
                         "--bandwidth: expected a problem beside it, got none; add --shape "
                         "B,HQ,HK,SQ,SK");
    else if (own->svg && strcmp(own->svg, "-") == 0)
        done = error_set(&error, ERROR_USAGE, "--svg: expected a file, got standard output, where the tables go");
    request.clock_ghz = clock ? own->clock_ghz : 0;
    request.bandwidth_gbs = bandwidth ? own->bandwidth_gbs : 0;
    done = done && take_shapes(arguments, shapes, &request, &error);
    if (done && own->layout)
        done = report_layout(arguments, &request, &error);
    else if (done && arguments->operand_count)
        done = report_files(arguments, &request, &error);
    else if (done)
        done = report_kernels(arguments, &request, &error);
    return done ? 0 : cli_fail(&error);
}

static const struct option_row options[] = {
    {.name = "symbol",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct report_arguments, symbol),
     .value = "NAME",
     .help = "the kernel in FILE or --object; default: its only one"},
    {.name = "clock",
     .kind = OPTION_REAL,
     .offset = offsetof(struct report_arguments, clock_ghz),
     .value = "GHZ",
     .help = "gives the bound in TFLOP/s as well"},
    {.name = "compute-units",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct report_arguments, compute_units),
     .value = "N",
     .minimum = 1,
     .maximum = 4096,
     .help = "with --clock: of the whole chip instead of one compute unit"},
    {.name = "bandwidth",
     .kind = OPTION_REAL,
     .offset = offsetof(struct report_arguments, bandwidth_gbs),
     .value = "GB/S",
     .help = "with --shape: of the chip's memory; default: without --clock, of a product that has the chip"},
    {.name = "run",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct report_arguments, run),
     .help = "execute the machine code for each --shape too: how often each block runs, conflicts of LDS banks, and "
             "the bound of the whole problem"},
    {.name = "shape",
     .kind = OPTION_REPEATED,
     .offset = offsetof(struct report_arguments, shapes),
     .value = "B,HQ,HK,SQ,SK",
     .help =
         "a problem whose time is modelled, as arithmetic and memory bound it: batch, query heads, key heads, query "
         "length, key length; repeatable"},
    {.name = "object",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct report_arguments, object),
     .value = "FILE",
     .help = "read this code object or assembly text in place of what the compiler makes of the kernel"},
    {.name = "svg",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct report_arguments, svg),
     .value = "FILE",
     .help = "draw it too: how busy each pipe is in the body, and each --shape under the roofline of the chip"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct report_arguments, json),
     .help = "print one JSON object for each kernel instead of tables"},
    {.name = "layout",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct report_arguments, layout),
     .help = "draw (SVG) which lane holds which matrix element instead; --arch, --dtype, --wave and --matrix choose"},
    {0},
};

const struct command command_report = {
    .name = "report",
    .operands = "[FILE ...]",
    .summary = "registers, LDS, occupancy, instruction mix, issue bound",
    .details =
        "Compiles each kernel and prints what it costs: registers, spills, LDS, waves per SIMD, the instructions of "
        "its innermost matrix loops per basic block, and the bound on speed that follows. A FILE is the assembly "
        "text or code object of any compiler; only --arch and --wave go with it.",
    .kernel = true,
    .children = CHILDREN_ABORT,
    .options = options,
    .options_bytes = sizeof(struct report_arguments),
    .run = run,
};

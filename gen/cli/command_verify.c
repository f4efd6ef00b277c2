/* `fmhagen verify`: runs kernels on a device against the float64 reference. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "kernels.h"
#include "text.h"
#include "verify.h"
#include "words.h"

struct verify_arguments {
    const char *source, *object;
    bool fail_fast;
    struct option_list shapes;
    const char *q_lens, *k_lens;
    int64_t page_size;
    int64_t splits;
    int64_t seed, schedules;
    double scale;
    const char *inputs, *layout, *device, *checks;
    bool json, count;
};

/* An emulated chip runs its own kernels alone. */
static bool check_chip(const char *device, const struct spec *spec, struct error *error) {
    if (!device || (strncmp(device, "emu:", 4) != 0 && strncmp(device, "isa:", 4) != 0) ||
        strcmp(device + 4, spec->arch) == 0)
        return true;
    return error_set(error, ERROR_USAGE,
                     "--device: expected the kernel's chip, %.3s:%s, got '%s'; --device %.3s takes each kernel's own",
                     device, spec->arch, device, device);
}

/* One file holds one kernel. */
static bool check_source(const struct verify_arguments *own, const struct kernels *kernels, struct error *error) {
    const char *file = own->source ? own->source : own->object;
    if (!file || kernels->count == 1)
        return true;
    return error_set(error, ERROR_USAGE,
                     "--%s: expected options that describe one kernel, got %zu; give those that made %s",
                     own->source ? "source" : "object", kernels->count, file);
}

/* A text is compiled, a code object is not. */
static bool check_object(const struct verify_arguments *own, struct error *error) {
    if (!own->object)
        return true;
    if (own->source)
        return error_set(error, ERROR_USAGE,
                         "--object: expected no --source beside it, got '%s'; leave out one of them", own->source);
    if (!own->device || strncmp(own->device, "emu", 3) == 0)
        return error_set(
            error, ERROR_USAGE,
            "--object: expected --device isa, hip or cuda, which run code objects, got %s; add --device isa",
            own->device ? own->device : "emu");
    return true;
}

static void show_progress(void *context, size_t index, size_t count, const char *what) {
    fprintf(stderr, "\r\033[K[%zu/%zu] %s: %s", index + 1, count, (const char *)context, what);
}

static bool verify_one(const struct kernels *kernels, size_t index, struct verify_options *options, bool json,
                       bool *passed, struct error *error) {
    struct verify_report report;
    struct text text = {0};
    char name[SPEC_NAME_MAX];
    spec_name(&kernels->specs[index], name);
    bool terminal = isatty(STDERR_FILENO) != 0;
    if (terminal) {
        options->progress = show_progress;
        options->progress_context = name;
    }
    bool done = verify_run(kernels->engine, &kernels->specs[index], options, &report, error);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    if (!done)
        return false;
    if (json) {
        done = verify_report_json(&report, &text, error);
    } else {
        verify_report_table(&report, &text);
        if (index + 1 < kernels->count)
            text_puts(&text, "\n");
    }
    done = done && cli_print(&text, error);
    *passed = *passed && report.passed;
    text_free(&text);
    verify_report_free(&report);
    return done;
}

/* Shapes as the operation has them, with room for all that can be given. */
struct shapes {
    union {
        struct verify_shape attention[OPTION_LIST_MAX];
        struct verify_pack_shape pack[OPTION_LIST_MAX];
        struct verify_merge_shape merge[OPTION_LIST_MAX];
        struct verify_append_shape append[OPTION_LIST_MAX];
        struct verify_quantize_shape quantize[OPTION_LIST_MAX];
    } of;
    int64_t *lengths_q, *lengths_k; /* owned */
};

static void shapes_free(struct shapes *shapes) {
    free(shapes->lengths_q);
    free(shapes->lengths_k);
}

/* One of the two lists. Without it the shape says how long sequences are: `*length`, else the longest of them. */
static bool take_lengths(const char *option, const char *text, bool whole_shape, int64_t *batch, int64_t *length,
                         int64_t **lengths, struct error *error) {
    int64_t count, longest = 0;
    if (!text)
        return whole_shape ||
               error_set(error, ERROR_USAGE,
                         "--%s: expected it beside the other list, or the length in --shape B,HQ,HK,SQ,SK; give one",
                         option);
    if (!words_lengths(option, text, lengths, &count, error))
        return false;
    for (int64_t index = 0; index < count; index++)
        longest = (*lengths)[index] > longest ? (*lengths)[index] : longest;
    if (*batch && count != *batch)
        return error_set(error, ERROR_USAGE, "--%s: expected %" PRId64 " lengths, one for each sequence, got %" PRId64,
                         option, *batch, count);
    *batch = count;
    if (whole_shape && longest > *length)
        return error_set(error, ERROR_USAGE,
                         "--%s: expected lengths up to %" PRId64 ", which --shape gives, got %" PRId64, option, *length,
                         longest);
    if (!whole_shape)
        *length = longest;
    return true;
}

/* Lists of lengths make one shape. */
static bool make_lengths(const struct verify_arguments *own, struct shapes *shapes, struct verify_options *options,
                         struct error *error) {
    const struct option_list *given = &own->shapes;
    struct verify_shape *shape = &shapes->of.attention[0];
    bool whole_shape = given->count > 0 && strchr(given->item[0], ',') != strrchr(given->item[0], ',');
    if (given->count > 1)
        return error_set(error, ERROR_USAGE, "--shape: expected it once beside --q-lens and --k-lens, got it %d times",
                         given->count);
    *shape = (struct verify_shape){.heads_k = 1};
    if (given->count &&
        !(whole_shape ? words_shape(given->item[0], shape, error) : words_heads(given->item[0], shape, error)))
        return false;
    if (!take_lengths("q-lens", own->q_lens, whole_shape, &shape->batch, &shape->seqlen_q, &shapes->lengths_q, error) ||
        !take_lengths("k-lens", own->k_lens, whole_shape, &shape->batch, &shape->seqlen_k, &shapes->lengths_k, error))
        return false;
    options->lengths_q = shapes->lengths_q;
    options->lengths_k = shapes->lengths_k;
    options->shapes = shape;
    options->shape_count = 1;
    return true;
}

static bool read_shape(enum spec_operation operation, const char *text, int at, struct shapes *shapes,
                       struct error *error) {
    switch (operation) {
    case SPEC_OP_PACK:
        return words_pack_shape(text, &shapes->of.pack[at], error);
    case SPEC_OP_MERGE:
        return words_merge_shape(text, &shapes->of.merge[at], error);
    case SPEC_OP_APPEND:
        return words_append_shape(text, &shapes->of.append[at], error);
    case SPEC_OP_QUANTIZE:
        return words_quantize_shape(text, &shapes->of.quantize[at], error);
    default:
        return words_shape(text, &shapes->of.attention[at], error);
    }
}

/* The operation whose shapes are given: pack, merge, append, quantize, or forward for any of attention. No list of
 * options describes one of the others and another operation at once: what one of them needs the other does not have. */
static enum spec_operation operation_of(const struct arguments *arguments) {
    const char *word = arguments->kernel.field[SPEC_OP];
    const enum spec_operation others[] = {SPEC_OP_PACK, SPEC_OP_MERGE, SPEC_OP_APPEND, SPEC_OP_QUANTIZE};
    for (size_t i = 0; word && i < sizeof others / sizeof *others; i++)
        if (strcmp(word, spec_operation_words[others[i]]) == 0)
            return others[i];
    return SPEC_OP_FORWARD;
}

static bool make_shapes(const struct arguments *arguments, struct shapes *shapes, struct verify_options *options,
                        struct error *error) {
    const struct verify_arguments *own = arguments->own;
    const struct option_list *given = &own->shapes;
    enum spec_operation operation = operation_of(arguments);
    if (operation != SPEC_OP_FORWARD && (own->q_lens || own->k_lens))
        return error_set(error, ERROR_USAGE, "--%s: expected an operation on sequences, got --op %s; use --shape",
                         own->q_lens ? "q-lens" : "k-lens", spec_operation_words[operation]);
    if (own->q_lens || own->k_lens)
        return make_lengths(own, shapes, options, error);
    for (int i = 0; i < given->count; i++)
        if (!read_shape(operation, given->item[i], i, shapes, error))
            return false;
    options->shapes = operation == SPEC_OP_FORWARD ? shapes->of.attention : NULL;
    options->pack_shapes = operation == SPEC_OP_PACK ? shapes->of.pack : NULL;
    options->merge_shapes = operation == SPEC_OP_MERGE ? shapes->of.merge : NULL;
    options->append_shapes = operation == SPEC_OP_APPEND ? shapes->of.append : NULL;
    options->shape_count = options->shapes ? (size_t)given->count : 0;
    options->pack_shape_count = options->pack_shapes ? (size_t)given->count : 0;
    options->merge_shape_count = options->merge_shapes ? (size_t)given->count : 0;
    options->append_shape_count = options->append_shapes ? (size_t)given->count : 0;
    options->quantize_shapes = operation == SPEC_OP_QUANTIZE ? shapes->of.quantize : NULL;
    options->quantize_shape_count = options->quantize_shapes ? (size_t)given->count : 0;
    return true;
}

/* Takes what was typed into what verify_run wants. */
static bool make_options(const struct arguments *arguments, struct shapes *shapes, struct verify_options *options,
                         struct error *error) {
    const struct verify_arguments *own = arguments->own;
    verify_options_init(options);
    if ((own->device && !words_device(own->device, error)) || !check_object(own, error) ||
        !make_shapes(arguments, shapes, options, error))
        return false;
    options->seed = (uint64_t)own->seed;
    options->scale = own->scale;
    options->values = arguments->kernel.values;
    options->page_size = own->page_size;
    if (own->page_size & (own->page_size - 1))
        return error_set(error, ERROR_USAGE, "--page-size: expected a power of two from 1 to 256, got %" PRId64,
                         own->page_size);
    options->splits = own->splits;
    options->schedules = (int)own->schedules;
    options->without_checks = own->checks && strcmp(own->checks, "off") == 0;
    options->count = own->count;
    if (options->count && options->without_checks)
        return error_set(error, ERROR_USAGE, "--count: expected --checks on, got off: unchecked accesses are not seen");
    if (own->inputs)
        verify_inputs_parse(own->inputs, &options->inputs);
    if (own->layout)
        verify_layout_parse(own->layout, &options->layout);
    options->source_path = own->source;
    options->object_path = own->object;
    options->fail_fast = own->fail_fast;
    /* "emu" alone is the emulated device of each instance's own chip, which is what NULL means. */
    if (own->device && strcmp(own->device, "emu") != 0)
        options->device = own->device;
    return true;
}

static int run(const struct arguments *arguments) {
    const struct verify_arguments *own = arguments->own;
    struct shapes shapes = {.lengths_q = NULL};
    struct verify_options options;
    struct kernels kernels = {0};
    struct error error;
    bool passed = true;
    bool done = make_options(arguments, &shapes, &options, &error) &&
                kernels_open(&arguments->kernel, &kernels, &error) && check_source(own, &kernels, &error);
    for (size_t i = 0; done && i < kernels.count; i++)
        done = check_chip(options.device, &kernels.specs[i], &error);
    for (size_t i = 0; done && i < kernels.count; i++)
        done = verify_one(&kernels, i, &options, own->json, &passed, &error);
    kernels_free(&kernels);
    shapes_free(&shapes);
    if (!done)
        return cli_fail(&error);
    return passed ? 0 : ERROR_RUN;
}

static const char *const input_words[] = {"random", "unbalanced", "impulse", "large", NULL};
static const char *const check_words[] = {"on", "off", NULL};
static const char *const layout_words[] = {"bshd", "bhsd", NULL};

static const struct option_row options[] = {
    {.name = "shape",
     .kind = OPTION_REPEATED,
     .offset = offsetof(struct verify_arguments, shapes),
     .value = "B,HQ,HK,SQ,SK",
     .help =
         "batch, query heads, key heads, query length, key length (of pack B,H,S,D: batch, heads, length, head "
         "dimension; of merge N,B,H,S,D, partial results first; of append B,H,N,S: batch, heads, new rows, rows "
         "that there is room for; of quantize B,H,S); repeatable. Without it a standing set of ragged shapes around "
         "every tile edge is run"},
    {.name = "q-lens",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct verify_arguments, q_lens),
     .value = "N,N,...",
     .help = "with --varlen: the number of queries of each sequence; --shape is then HQ,HK, or B,HQ,HK,SQ,SK with SQ "
             "and SK at least the longest"},
    {.name = "k-lens",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct verify_arguments, k_lens),
     .value = "N,N,...",
     .help = "with --varlen or --paged: the same of keys"},
    {.name = "page-size",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct verify_arguments, page_size),
     .value = "N",
     .minimum = 1,
     .maximum = 256,
     .help = "with --paged: keys of a page, a power of two up to 256; default: 16, in the standing set also 1, 64 and "
             "256"},
    {.name = "splits",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct verify_arguments, splits),
     .value = "N",
     .minimum = 1,
     .maximum = 65536,
     .help = "with --op decode and mla: workgroups that share the keys of a row; default: each case its own"},
    {.name = "inputs",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct verify_arguments, inputs),
     .value = "KIND",
     .words = input_words,
     .help = "random, unbalanced, impulse or large; default: each case its own"},
    {.name = "layout",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct verify_arguments, layout),
     .value = "ORDER",
     .words = layout_words,
     .help = "of tensors in memory: bshd ([batch][seqlen][heads][head_dim]) or bhsd; of pages likewise"},
    {.name = "scale",
     .kind = OPTION_REAL,
     .offset = offsetof(struct verify_arguments, scale),
     .value = "X",
     .help = "softmax scale; default: 1/sqrt(head dimension)"},
    {.name = "seed",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct verify_arguments, seed),
     .value = "N",
     .minimum = 0,
     .maximum = INT64_MAX,
     .initial = 1,
     .help = "of the random inputs and of the order in which waves run; default: 1"},
    {.name = "schedules",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct verify_arguments, schedules),
     .value = "N",
     .minimum = 1,
     .maximum = 1000000,
     .initial = 1,
     .help =
         "run each case N times, with the waves in another order between barriers; the results must be the same to the "
         "bit; default: 1"},
    {.name = "checks",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct verify_arguments, checks),
     .value = "WORD",
     .words = check_words,
     .help = "on (default) or off: of every access to memory, on the devices emu and isa"},
    {.name = "count",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct verify_arguments, count),
     .help =
         "count key tiles, matrix instructions, LDS accesses, bank conflicts and bytes, on the devices emu and isa"},
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct verify_arguments, device),
     .value = "NAME",
     .help = "emu (default): the emulated device of the kernel's chip; isa: its machine code, executed here; "
             "emu:gfx1151, isa:gfx1151, hip, hip:1, cuda"},
    {.name = "source",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct verify_arguments, source),
     .value = "FILE",
     .help = "run the kernel in this file, which the same options made, in place of what the templates make now"},
    {.name = "object",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct verify_arguments, object),
     .value = "FILE",
     .help = "with --device isa, hip or cuda: run the kernel in this code object (.hsaco) in place of what the "
             "compiler makes "
             "now"},
    {.name = "fail-fast",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct verify_arguments, fail_fast),
     .help = "stop at the first case that has a finding"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct verify_arguments, json),
     .help = "print one JSON object for each instance instead of tables"},
    {0},
};

const struct command command_verify = {
    .name = "verify",
    .summary = "run kernels on a device against a float64 reference",
    .details = "Runs each kernel and holds every element that it writes against a float64 reference, within a derived "
               "bound; what is only moved, against plain loops, bit for bit. The emulated device needs no GPU. The "
               "exit status is 1 if a kernel is wrong.",
    .kernel = true,
    .children = CHILDREN_ABORT,
    .options = options,
    .options_bytes = sizeof(struct verify_arguments),
    .run = run,
};

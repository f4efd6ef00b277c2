/* `fmhagen library`: a folder of compiled instances with its index. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "kernels.h"
#include "library_entries.h"
#include "library_members.h"
#include "library_ninja.h"
#include "output.h"
#include "workers.h"

struct library_options {
    const char *preset, *launcher;
    int64_t jobs;
    bool no_compile, no_sources, no_ninja, index_only;
};

/* ---- What it holds ------------------------------------------------------------------------------------------------
 */

static bool check_options(const struct arguments *arguments, struct error *error) {
    const struct library_options *options = arguments->own;
    if (arguments->operand_count == 0)
        return error_set(error, ERROR_USAGE,
                         "library: expected a folder, got none; name it as in 'fmhagen library DIR --arch gfx1151 "
                         "--preset minimal'");
    if (arguments->operand_count > 1)
        return error_set(error, ERROR_USAGE, "library: expected one folder, got '%s' and '%s'", arguments->operands[0],
                         arguments->operands[1]);
    if (!*arguments->operands[0])
        return error_set(error, ERROR_USAGE, "library: expected a folder, got an empty name");
    if (options->no_compile && options->index_only)
        return error_set(error, ERROR_USAGE,
                         "--index-only: expected it without --no-compile: it is about what was compiled");
    if (options->no_compile && options->no_sources)
        return error_set(error, ERROR_USAGE,
                         "--no-sources: expected it without --no-compile, got both; such a library would hold nothing");
    const char *const *field = arguments->kernel.field;
    if (!options->preset && !field[SPEC_HEAD_DIM] && !field[SPEC_OP])
        return error_set(error, ERROR_USAGE,
                         "library: expected --preset or --hd, got neither; 'fmhagen library --help' lists the presets");
    return true;
}

static bool open_kernels(const struct arguments *arguments, struct kernels *kernels, struct error *error) {
    const struct library_options *options = arguments->own;
    const struct kernel_options *typed = &arguments->kernel;
    struct spec_choices choices = {
        .arch = typed->arch, .set = typed->set.item, .set_count = typed->set.count, .modifier = typed->modifier};
    memcpy(choices.field, typed->field, sizeof choices.field);
    kernels->engine = template_engine_new(typed->template_dir, error);
    return kernels->engine &&
           library_members(options->preset ? library_preset_find(options->preset) : NULL, &choices, kernels->engine,
                           &kernels->specs, &kernels->count, error) &&
           kernels_emit(kernels, error);
}

/* A library of texts needs no compiler, but may find one that its build.ninja calls. */
static bool find_compilers(const struct library_options *options, const struct kernels *kernels,
                           struct compilers *compilers, struct error *error) {
    if (compilers_find(kernels, "library", compilers, error))
        return true;
    if (!options->no_compile || interrupt_came())
        return false;
    compilers_free(compilers);
    return true;
}

/* ---- build.ninja --------------------------------------------------------------------------------------------------
 */

static void add_option(struct text *out, const char *name, const char *value) {
    text_printf(out, "%s--%s", out->length ? " " : "", name);
    if (*value) {
        text_puts(out, "=");
        text_quote(out, value);
    }
}

/* An option whose value is a path; NULL: it was not given. */
static bool add_path(struct text *out, const char *name, const char *given, const char *expected, struct error *error) {
    char *path = given ? realpath(given, NULL) : NULL;
    if (given && !path)
        return error_set(error, ERROR_RUN, "--%s: expected %s, got '%s', which is gone", name, expected, given);
    if (path)
        add_option(out, name, path);
    free(path);
    return true;
}

/* The options that say which members there are. The command that is given them runs in the library's folder. */
static bool add_members(const struct arguments *arguments, struct text *out, struct error *error) {
    const struct library_options *options = arguments->own;
    const struct kernel_options *typed = &arguments->kernel;
    if (options->preset)
        add_option(out, "preset", options->preset);
    if (typed->arch)
        add_option(out, "arch", typed->arch);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (typed->field[id])
            add_option(out, spec_fields[id].option, typed->field[id]);
    for (int i = 0; i < typed->set.count; i++)
        add_option(out, "set", typed->set.item[i]);
    return add_path(out, "modifier", typed->modifier, "a file", error) &&
           add_path(out, "template-dir", typed->template_dir, "a folder", error);
}

static bool write_ninja(const struct arguments *arguments, const struct library *library, struct error *error) {
    const struct library_options *options = arguments->own;
    char program[PATH_MAX];
    struct text members = {0}, text = {0};
    char *path = library_join(library->folder, "", LIBRARY_NINJA_FILE, "", error);
    bool done = path != NULL;
    if (done && (options->no_ninja || options->no_sources)) {
        unlink(path); /* library_begin saw that it is fmhagen's */
    } else if (done) {
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        program[length > 0 ? length : 0] = '\0';
        done = add_members(arguments, &members, error);
        const struct library_ninja ninja = {.launcher = options->launcher ? options->launcher : "",
                                            .fmhagen = length > 0 ? program : "fmhagen",
                                            .arguments = members.bytes ? members.bytes : ""};
        text.failed = members.failed;
        done = done && library_ninja_text(library, &ninja, &text, error) &&
               file_write(path, text.bytes, text.length, error);
    }
    text_free(&members);
    text_free(&text);
    free(path);
    return done;
}

/* ---- Compiling ----------------------------------------------------------------------------------------------------
 */

struct compilation {
    struct library *library;
    struct library_entry **stale;
};

static void compile_entry(void *context, int item) {
    struct compilation *compilation = context;
    struct library_entry *entry = compilation->stale[item];
    if (!library_compile(compilation->library, entry) && interrupt_came())
        entry->state = LIBRARY_STALE; /* its compiler was ended with the others */
}

static const char *entry_label(void *context, int item) {
    const struct compilation *compilation = context;
    return compilation->stale[item]->instance->name;
}

static bool compile_stale(const struct library_options *options, struct library *library, struct error *error) {
    struct compilation compilation = {library, calloc(library->count + 1, sizeof *compilation.stale)};
    int count = 0;
    if (!compilation.stale)
        return error_set(error, ERROR_RUN, "library: out of memory");
    for (size_t i = 0; i < library->count; i++)
        if (library->entries[i].state == LIBRARY_STALE)
            compilation.stale[count++] = &library->entries[i];
    workers_run(&(struct workers){count, options->jobs, compile_entry, entry_label, &compilation});
    int left = 0;
    for (int i = 0; i < count; i++)
        left += compilation.stale[i]->state == LIBRARY_STALE;
    free(compilation.stale);
    if (left || interrupt_came())
        return error_set(error, ERROR_RUN,
                         "library: interrupted; %d of %d instances were not compiled and no index was written; the "
                         "same command goes on from here",
                         left, count);
    return true;
}

/* ---- What is said of it -------------------------------------------------------------------------------------------
 */

static size_t count_state(const struct library *library, const char *processor, enum library_state state) {
    size_t count = 0;
    for (size_t i = 0; i < library->count; i++) {
        const struct library_entry *entry = &library->entries[i];
        count += entry->state == state && (!processor || strcmp(entry->processor, processor) == 0);
    }
    return count;
}

static bool tell(const struct library *library, bool index_only, struct error *error) {
    struct text text = {0};
    for (size_t i = 0; i < library->count; i++) {
        const char *processor = library->entries[i].processor;
        if (i > 0 && strcmp(processor, library->entries[i - 1].processor) == 0)
            continue;
        size_t compiled = count_state(library, processor, LIBRARY_COMPILED);
        size_t current = count_state(library, processor, LIBRARY_CURRENT);
        size_t texts = count_state(library, processor, LIBRARY_TEXT);
        size_t all = compiled + current + texts;
        char *folder = library_join(library->folder, processor, "", "", error);
        text_printf(&text, "%s: %zu instance%s", folder ? folder : processor, all, all == 1 ? "" : "s");
        free(folder);
        if (!index_only)
            text_printf(&text, ": %zu compiled, %zu as before", compiled, current);
        if (texts)
            text_printf(&text, ", %zu as text", texts);
        text_puts(&text, "\n");
    }
    if (library->removed)
        text_printf(&text, "%s: removed %zu file%s no longer asked for\n", library->folder, library->removed,
                    library->removed == 1 ? "" : "s");
    bool done = cli_print(&text, error);
    text_free(&text);
    return done;
}

static bool conclude(const struct library *library, bool index_only, struct error *error) {
    if (!library_publish(library, error) || !tell(library, index_only, error))
        return false;
    size_t failed = count_state(library, NULL, LIBRARY_FAILED);
    if (failed && library->count == 1) {
        *error = library->entries[0].error;
        return false;
    }
    for (size_t i = 0; failed && i < library->count; i++)
        if (library->entries[i].state == LIBRARY_FAILED)
            cli_fail(&library->entries[i].error);
    if (failed == library->count)
        return error_set(error, ERROR_RUN, "library: all %zu instances failed; the index is empty", failed);
    return !failed || error_set(error, ERROR_RUN, "library: %zu of %zu instances failed; the index names the others",
                                failed, library->count);
}

/* ---- The command --------------------------------------------------------------------------------------------------
 */

static bool make(const struct arguments *arguments, struct library *library, struct error *error) {
    const struct library_options *options = arguments->own;
    if (!library_lock(library, error))
        return false;
    if (options->index_only) {
        for (size_t i = 0; i < library->count; i++)
            library_adopt(library, &library->entries[i]);
        return conclude(library, true, error);
    }
    return library_prepare(library, error) && write_ninja(arguments, library, error) &&
           (options->no_compile ? library_leave_texts(library, error) : compile_stale(options, library, error)) &&
           conclude(library, false, error);
}

static int run(const struct arguments *arguments) {
    const struct library_options *options = arguments->own;
    struct kernels kernels = {0};
    struct compilers compilers = {0};
    struct library library = {.lock = -1};
    struct error error;
    bool done = check_options(arguments, &error) && open_kernels(arguments, &kernels, &error) &&
                find_compilers(options, &kernels, &compilers, &error) &&
                library_begin(arguments->operands[0], !options->no_sources, kernels.instances, kernels.count,
                              compilers.of, kernels.engine, &library, &error) &&
                output_folder_make(library.folder, &error) && make(arguments, &library, &error);
    library_end(&library);
    compilers_free(&compilers);
    kernels_free(&kernels);
    return done ? 0 : cli_fail(&error);
}

static const struct option_row options[] = {
    {.name = "preset",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct library_options, preset),
     .words = library_preset_words,
     .value = "NAME",
     .help = "which instances, beside --arch: minimal, llm-inference or all (see above); other options narrow it"},
    {.name = "jobs",
     .letter = 'j',
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct library_options, jobs),
     .value = "N",
     .minimum = 1,
     .maximum = 1024,
     .help = "compilers at once; default: one for each core"},
    {.name = "no-compile",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct library_options, no_compile),
     .help = "write texts, build.ninja and an index of texts, which libfmha compiles on first use"},
    {.name = "no-sources",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct library_options, no_sources),
     .help = "leave out NAME.hip (devices that run no code objects then find nothing) and build.ninja"},
    {.name = "no-ninja",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct library_options, no_ninja),
     .help = "leave out build.ninja"},
    {.name = "launcher",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct library_options, launcher),
     .value = "COMMAND",
     .help = "what build.ninja puts in front of the compiler: ccache, distcc, icecc"},
    {.name = "index-only",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct library_options, index_only),
     .help = "compile nothing: check the code objects that are there and write NAME.json and the index"},
    {0},
};

const struct command command_library = {
    .name = "library",
    .operands = "DIR",
    .summary = "make a folder of compiled kernels that libfmha finds",
    .details =
        "Writes DIR/<chip>/NAME.hsaco, NAME.json, NAME.hip and the index fmha.index, by which libfmha finds them, and "
        "DIR/build.ninja, which compiles the same with ninja. What is there and current is not compiled again; what is "
        "no longer asked for is removed; files that fmhagen did not make are left alone. Presets: minimal (head "
        "dimensions 64 and 128, f16, no mask and causal; 8 for a chip), llm-inference (64, 80, 96, 112, 128, 160, 192, "
        "256, and 192 with V of 128; f16 and bf16; no mask and causal; V in rows aligned to 16 and to 2 bytes or "
        "transposed; single query heads and 4 of a group fused; packed batches, in pages too, causal, of 64, 128 "
        "and 256, the first two with a window too; what appends packed rows of 64 and 128 to a cache; what decodes "
        "such rows, and merges; 310 for a chip), "
        "all (every head dimension, dtype, mask, layout of V and alignment; 772 for a chip); each with the 4 kernels "
        "of "
        "pack, which --op forward leaves out.",
    .kernel = true,
    .children = CHILDREN_FINISH,
    .options = options,
    .options_bytes = sizeof(struct library_options),
    .run = run,
};

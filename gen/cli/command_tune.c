/* `fmhagen tune`: runs the instances that serve a problem and keeps which one is best. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choices.h"
#include "cli.h"
#include "device.h"
#include "kernels.h"
#include "library_entries.h"
#include "output.h"
#include "shape_key.h"
#include "tune.h"
#include "tune_model.h"
#include "words.h"
#include "workers.h"

#define REASON_BYTES 1024
#define FACTS_MAX    256

struct tune_options {
    struct option_list shapes, libraries;
    const char *device, *output;
    int64_t rounds, warmup, seed, jobs;
    bool json, model;
};

/* A member that could not be made, and why. */
struct rejected {
    char instance[SPEC_NAME_MAX];
    struct fmha_key key;
    char reason[REASON_BYTES];
};

struct tuning {
    const struct arguments *arguments;
    const struct tune_options *options;
    fmha_device *device;
    fmha_device_info info;
    char device_name[64];
    struct kernels kernels;
    struct compilers compilers;
    struct library library;
    struct rejected *rejected;
    size_t rejected_count;
    const char *libraries[OPTION_LIST_MAX + 1]; /* ended by NULL */
    char folder[PATH_MAX];                      /* of members that were made; "" where none were */
    struct verify_shape shapes[OPTION_LIST_MAX];
    struct spec facts[FACTS_MAX]; /* one spec for each kind of problem */
    size_t fact_count;
    struct tune_outcome *outcomes;
    size_t outcome_count;
    struct tune_candidate *candidates; /* with --model, in place of a library: one for each emitted instance */
    struct kernel_options swept;       /* with --model: with the lists of knobs that were not given */
};

/* ---- The command line ----------------------------------------------------------------------------------------------
 */

/* Nothing is run by the model. */
static bool check_model_options(const struct arguments *arguments, struct error *error) {
    const struct tune_options *options = arguments->own;
    const char *arch = arguments->kernel.arch;
    const char *extra = options->device            ? "device"
                        : options->libraries.count ? "library"
                        : options->rounds          ? "rounds"
                        : options->warmup          ? "warmup"
                                                   : NULL;
    if (extra)
        return error_set(error, ERROR_USAGE, "--%s: expected nothing that runs beside --model; leave out one of them",
                         extra);
    if (!arch || strchr(arch, ','))
        return error_set(error, ERROR_USAGE,
                         "--arch: expected one chip beside --model, got %s%s%s; write --arch gfx1151",
                         arch ? "'" : "none", arch ? arch : "", arch ? "'" : "");
    return true;
}

static bool check_options(const struct arguments *arguments, struct tuning *tuning, struct error *error) {
    const struct tune_options *options = arguments->own;
    const char *const *field = arguments->kernel.field;
    if (options->shapes.count == 0)
        return error_set(error, ERROR_USAGE,
                         "tune: expected --shape B,HQ,HK,SQ,SK, got none; name the lengths that are to be tuned for");
    for (int i = 0; i < options->shapes.count; i++) {
        struct verify_shape *shape = &tuning->shapes[i];
        if (!words_shape(options->shapes.item[i], shape, error))
            return false;
        if (shape->batch == 0 || shape->seqlen_q == 0)
            return error_set(error, ERROR_USAGE, "--shape: expected a batch and a query length of 1 and up, got '%s'",
                             options->shapes.item[i]);
    }
    for (int id = 0; options->libraries.count && id < SPEC_FIELD_COUNT; id++)
        if (field[id] && spec_fields[id].knob)
            return error_set(error, ERROR_USAGE,
                             "--%s: expected no knob beside --library, whose instances are run as they are; leave out "
                             "one of them",
                             spec_fields[id].option);
    if (options->output && strcmp(options->output, "-") == 0)
        return error_set(error, ERROR_USAGE, "-o: expected a file, which choices are merged into, got standard output");
    if (options->model && !check_model_options(arguments, error))
        return false;
    return !options->device || words_device(options->device, error);
}

/* "emu" and "isa" alone need the chip of --arch; an emulated chip's name is the chip of --arch where that is left out.
 */
static bool open_device(struct tuning *tuning, struct error *error) {
    const char *name = tuning->options->device ? tuning->options->device : "hip";
    const char *arch = tuning->arguments->kernel.arch;
    if (strcmp(name, "emu") == 0 || strcmp(name, "isa") == 0) {
        if (!arch)
            return error_set(error, ERROR_USAGE, "--device: expected a chip with %s, got none; write %s:gfx1151", name,
                             name);
        snprintf(tuning->device_name, sizeof tuning->device_name, "%s:%.48s", name, arch);
    } else
        snprintf(tuning->device_name, sizeof tuning->device_name, "%.60s", name);
    if (fmha_device_open(tuning->device_name, &tuning->device) != FMHA_OK)
        return error_set(error, ERROR_RUN, "%s%s", fmha_last_error(),
                         tuning->options->device
                             ? ""
                             : "\nwithout a GPU, --device emu:gfx1151 compares instances by counted "
                               "work");
    fmha_device_get_info(tuning->device, &tuning->info);
    size_t length = strcspn(tuning->info.arch, ":");
    if (arch && (strncmp(arch, tuning->info.arch, length) != 0 || (arch[length] && arch[length] != ':')))
        return error_set(error, ERROR_USAGE, "--arch: expected the device's chip, %.*s, got '%s'; leave it out",
                         (int)length, tuning->info.arch, arch);
    return true;
}

/* ---- Members -------------------------------------------------------------------------------------------------------
 */

static bool reject(struct tuning *tuning, const struct spec *spec, const char *reason, struct error *error) {
    struct rejected *larger = realloc(tuning->rejected, (tuning->rejected_count + 1) * sizeof *larger);
    if (!larger)
        return error_set(error, ERROR_RUN, "tune: out of memory");
    tuning->rejected = larger;
    struct rejected *added = &larger[tuning->rejected_count++];
    spec_name(spec, added->instance);
    snprintf(added->reason, sizeof added->reason, "%s", reason);
    return spec_key(spec, &added->key, error);
}

/* Tells of those that compute what the outcome is of. */
static bool add_rejected(const struct tuning *tuning, struct tune_outcome *outcome, struct error *error) {
    for (size_t i = 0; i < tuning->rejected_count; i++)
        if (fmha_key_equal(&tuning->rejected[i].key, &outcome->key) &&
            !tune_outcome_add(outcome, tuning->rejected[i].instance, tuning->rejected[i].reason))
            return error_set(error, ERROR_RUN, "tune: out of memory");
    return true;
}

/* Every kind of problem once. */
static bool note_facts(struct tuning *tuning, const struct spec *spec, struct error *error) {
    struct fmha_key key, other;
    if (!spec_key(spec, &key, error))
        return false;
    const int32_t op = spec->value[SPEC_OP];
    if (op != SPEC_OP_FORWARD && !(tuning->options->model && (op == SPEC_OP_DECODE || op == SPEC_OP_MLA)))
        return error_set(error, ERROR_USAGE, "--op: expected forward%s, which can be tuned, got '%s'",
                         tuning->options->model ? ", decode or mla" : "", spec_word(spec, SPEC_OP));
    for (size_t i = 0; i < tuning->fact_count; i++)
        if (spec_key(&tuning->facts[i], &other, error) && fmha_key_equal(&key, &other))
            return true;
    if (tuning->fact_count == FACTS_MAX)
        return error_set(error, ERROR_USAGE, "tune: expected at most %d kinds of problems, got more; shorten the lists",
                         FACTS_MAX);
    tuning->facts[tuning->fact_count++] = *spec;
    return true;
}

/* Emits the members that the templates accept; the others are told of. */
static bool emit_members(struct tuning *tuning, struct error *error) {
    struct kernels *kernels = &tuning->kernels;
    struct kernel_options options = tuning->options->model ? tuning->swept : tuning->arguments->kernel;
    if (!options.arch)
        options.arch = tuning->info.arch;
    if (!kernels_open(&options, kernels, error))
        return false;
    kernels->instances = calloc(kernels->count, sizeof *kernels->instances);
    if (!kernels->instances)
        return error_set(error, ERROR_RUN, "tune: out of memory");
    for (size_t i = 0; i < kernels->count; i++) {
        struct error why;
        if (!note_facts(tuning, &kernels->specs[i], error))
            return false;
        if (tuning->options->libraries.count)
            continue;
        if (instance_emit(kernels->engine, &kernels->specs[i], &kernels->instances[kernels->emitted], &why))
            kernels->emitted++;
        else if (!reject(tuning, &kernels->specs[i], why.text, error))
            return false;
    }
    kernels->count = kernels->emitted;
    return true;
}

/* ---- By the model --------------------------------------------------------------------------------------------------
 */

/* Without lists of knobs, those of a tile are swept. */
static void sweep_knobs(struct tuning *tuning) {
    static const struct {
        enum spec_field_id id;
        const char *list;
        bool forward; /* alone: rows of decoding are a fact */
    } rows[] = {{SPEC_BLOCK_M, "64,128,256", true}, {SPEC_BLOCK_K, "16,32,64", false}, {SPEC_WAVES, "2,4,8", false}};
    struct kernel_options *options = &tuning->swept;
    *options = tuning->arguments->kernel;
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        if (options->field[id] && spec_fields[id].knob)
            return;
    const char *op = options->field[SPEC_OP] ? options->field[SPEC_OP] : "forward";
    bool forward = strcmp(op, "forward") == 0,
         attention = forward || strcmp(op, "decode") == 0 || strcmp(op, "mla") == 0;
    for (size_t i = 0; attention && i < sizeof rows / sizeof *rows; i++)
        if (forward || !rows[i].forward)
            options->field[rows[i].id] = rows[i].list;
}

static void look_at(void *context, int item) {
    struct tuning *tuning = context;
    tune_model_look(&tuning->candidates[item], tuning->shapes, (size_t)tuning->options->shapes.count);
}

static const char *candidate_label(void *context, int item) {
    const struct tuning *tuning = context;
    return tuning->candidates[item].instance->name;
}

/* Which tiles modifiers leave out the model does not know. */
static bool check_model_shapes(const struct tuning *tuning, struct error *error) {
    for (size_t i = 0; i < tuning->fact_count; i++)
        for (int j = 0; j < tuning->options->shapes.count; j++) {
            struct spec spec = tuning->facts[i];
            spec.value[SPEC_GQA] = 1; /* a knob: of each candidate by itself */
            if (!report_estimate_check(&spec, &tuning->shapes[j],
                                       "leave out --model and tune on --device isa:CHIP, which counts them", error))
                return false;
        }
    return true;
}

static bool model_members(struct tuning *tuning, struct error *error) {
    const struct kernels *kernels = &tuning->kernels;
    tuning->candidates = calloc(kernels->count + 1, sizeof *tuning->candidates);
    if (!tuning->candidates)
        return error_set(error, ERROR_RUN, "tune: out of memory");
    for (size_t i = 0; i < kernels->count; i++)
        tuning->candidates[i] =
            (struct tune_candidate){.instance = &kernels->instances[i], .reason = "interrupted before it was compiled"};
    workers_run(&(struct workers){(int)kernels->count, tuning->options->jobs, look_at, candidate_label, tuning});
    return true;
}

static bool model_one(struct tuning *tuning, const struct spec *spec, int shape, struct error *error) {
    struct tune_outcome *outcome = &tuning->outcomes[tuning->outcome_count++];
    outcome->shape = tuning->shapes[shape];
    if (!spec_key(spec, &outcome->key, error) ||
        !tune_model_rank(tuning->candidates, tuning->kernels.count, (size_t)shape, outcome, error))
        return false;
    return add_rejected(tuning, outcome, error);
}

static void compile_entry(void *context, int item) {
    struct tuning *tuning = context;
    if (tuning->library.entries[item].state == LIBRARY_STALE)
        library_compile(&tuning->library, &tuning->library.entries[item]);
}

static const char *entry_label(void *context, int item) {
    const struct tuning *tuning = context;
    return tuning->library.entries[item].instance->name;
}

/* Compiles the members into a library of their own, which goes with TMPDIR. Where there is no compiler for an emulated
 * chip their texts do. */
static bool make_library(struct tuning *tuning, struct error *error) {
    struct kernels *kernels = &tuning->kernels;
    struct library *library = &tuning->library;
    const char *temporary = getenv("TMPDIR");
    bool compiled = kernels->count && compilers_find(kernels, "tune", &tuning->compilers, error);
    if (kernels->count && !compiled && tuning->info.image_kind == FMHA_IMAGE_CODE_OBJECT)
        return false;
    snprintf(tuning->folder, sizeof tuning->folder, "%.4000s/tune", temporary ? temporary : "/tmp");
    bool done =
        kernels->count == 0 ||
        (library_begin(tuning->folder, true, kernels->instances, kernels->count, compiled ? tuning->compilers.of : NULL,
                       kernels->engine, library, error) &&
         output_folder_make(tuning->folder, error) && library_lock(library, error) && library_prepare(library, error));
    if (done && kernels->count && compiled)
        workers_run(&(struct workers){(int)kernels->count, tuning->options->jobs, compile_entry, entry_label, tuning});
    else if (done && kernels->count)
        done = library_leave_texts(library, error);
    done = done && (kernels->count == 0 || library_publish(library, error));
    for (size_t i = 0; done && i < library->count; i++)
        if (library->entries[i].state == LIBRARY_FAILED)
            done = reject(tuning, &library->entries[i].instance->spec, library->entries[i].error.text, error);
    return done;
}

/* When nothing was made the reasons are the answer. */
static bool check_members(const struct tuning *tuning, struct error *error) {
    size_t made = 0;
    for (size_t i = 0; i < tuning->library.count; i++)
        made += tuning->library.entries[i].state != LIBRARY_FAILED;
    if (made)
        return true;
    for (size_t i = 0; tuning->rejected_count > 1 && i < tuning->rejected_count; i++)
        fprintf(stderr, "fmhagen: %s: %s\n", tuning->rejected[i].instance, tuning->rejected[i].reason);
    if (tuning->rejected_count == 1)
        return error_set(error, ERROR_RUN, "%s: %s", tuning->rejected[0].instance, tuning->rejected[0].reason);
    return error_set(error, ERROR_RUN, "tune: expected an instance that can be made, got none of %zu",
                     tuning->rejected_count);
}

static bool add_libraries(struct tuning *tuning, struct error *error) {
    const struct option_list *given = &tuning->options->libraries;
    int count = 0;
    for (; count < given->count; count++)
        tuning->libraries[count] = given->item[count];
    if (count == 0) {
        if (!make_library(tuning, error) || !check_members(tuning, error))
            return false;
        tuning->libraries[count++] = tuning->folder;
    }
    for (int i = 0; i < count; i++)
        if (fmha_device_add_library(tuning->device, tuning->libraries[i]) != FMHA_OK)
            return error_set(error, ERROR_RUN, "%s", fmha_last_error());
    return true;
}

/* ---- Tuning --------------------------------------------------------------------------------------------------------
 */

static void show_progress(void *context, int32_t round, int32_t rounds, const char *instance) {
    (void)context;
    fprintf(stderr, "\r\033[K[%d/%d] %s", round + 1, rounds, instance);
}

static bool tune_one(struct tuning *tuning, const struct spec *spec, const struct verify_shape *shape,
                     struct error *error) {
    const struct tune_options *options = tuning->options;
    bool terminal = isatty(STDERR_FILENO) != 0;
    const struct tune_request request = {
        .device = tuning->device,
        .spec = spec,
        .shape = *shape,
        .values = tuning->arguments->kernel.values,
        .libraries = tuning->libraries,
        .rounds = (int)options->rounds,
        .warmup_rounds = (int)options->warmup,
        .seed = (uint64_t)options->seed,
        .progress = terminal ? show_progress : NULL,
    };
    struct tune_outcome *outcome = &tuning->outcomes[tuning->outcome_count];
    bool done = tune_run(&request, outcome, error);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    tuning->outcome_count += done;
    return done && add_rejected(tuning, outcome, error);
}

static bool tune_all(struct tuning *tuning, struct error *error) {
    size_t shapes = (size_t)tuning->options->shapes.count;
    tuning->outcomes = calloc(tuning->fact_count * shapes, sizeof *tuning->outcomes);
    if (!tuning->outcomes)
        return error_set(error, ERROR_RUN, "tune: out of memory");
    for (size_t i = 0; i < tuning->fact_count; i++)
        for (size_t j = 0; j < shapes; j++)
            if (tuning->options->model ? !model_one(tuning, &tuning->facts[i], (int)j, error)
                                       : !tune_one(tuning, &tuning->facts[i], &tuning->shapes[j], error))
                return false;
    return true;
}

/* ---- What is said of it --------------------------------------------------------------------------------------------
 */

/* How the best members get into a library that lasts. */
static void add_cures(const struct tuning *tuning, struct text *out) {
    for (size_t i = 0; i < tuning->kernels.count; i++) {
        const struct instance *instance = &tuning->kernels.instances[i];
        bool best = false;
        for (size_t j = 0; j < tuning->outcome_count; j++)
            best = best ||
                   (tuning->outcomes[j].count && strcmp(tuning->outcomes[j].members[0].instance, instance->name) == 0);
        struct text command = {0};
        spec_command(&instance->spec, &command);
        const char *options = command.bytes ? strstr(command.bytes, " --") : NULL;
        if (best && options)
            text_printf(out, "a library that has it: fmhagen library DIR%s\n", options);
        out->failed = out->failed || command.failed;
        text_free(&command);
    }
}

/* path NULL: the choices could not be saved. */
static bool tell(const struct tuning *tuning, const char *path, struct error *error) {
    struct text text = {0};
    char about[256];
    bool done = true;
    if (tuning->options->model)
        snprintf(about, sizeof about, TUNE_MODEL_VERSION);
    else
        fmha_device_about(tuning->device, about, sizeof about);
    if (tuning->options->json) {
        done = tune_json(tuning->outcomes, tuning->outcome_count, tuning->device_name, about, path ? path : "", &text,
                         error);
    } else {
        if (tuning->options->model)
            text_printf(&text, "%s, by the %s: modelled, nothing was measured\n\n", tuning->info.arch, about);
        else
            text_printf(&text, "%s, %s, %s\n\n", tuning->device_name, tuning->info.name, about);
        for (size_t i = 0; i < tuning->outcome_count; i++) {
            tune_table(&tuning->outcomes[i], &text);
            text_puts(&text, "\n");
        }
        if (path)
            text_printf(&text, "choices: %s\n", path);
        add_cures(tuning, &text);
    }
    done = done && cli_print(&text, error);
    text_free(&text);
    return done;
}

/* Where the choices go. A damaged file there is told of before anything runs. */
static bool find_file(const struct tuning *tuning, char path[PATH_MAX], struct error *error) {
    struct fmha_choices there = {0};
    if (tuning->options->output)
        snprintf(path, PATH_MAX, "%s", tuning->options->output);
    else if (tuning->options->model)
        return true; /* what nobody ran does not get among the user's own */
    else if (!fmha_choices_own_path(tuning->info.arch, path, PATH_MAX))
        return true; /* saving says what is wrong with it */
    bool done =
        fmha_choices_read(path, &there, NULL) == FMHA_OK || error_set(error, ERROR_RUN, "%s", fmha_last_error());
    fmha_choices_free(&there);
    return done;
}

static bool save(const struct tuning *tuning, const char *path, struct error *error) {
    if (tuning->options->model)
        return tune_model_save(tuning->outcomes, tuning->outcome_count, tuning->info.arch, path, error);
    return fmha_device_save_choices(tuning->device, tuning->options->output) == FMHA_OK ||
           error_set(error, ERROR_RUN, "%s", fmha_last_error());
}

/* What was found is told of, whether it can be kept or not. */
static bool save_and_tell(const struct tuning *tuning, const char *path, struct error *error) {
    struct error ignored;
    if (tuning->options->model && !tuning->options->output)
        return tell(tuning, NULL, error);
    if (save(tuning, path, error))
        return tell(tuning, path, error);
    tell(tuning, NULL, &ignored);
    return false;
}

static int run(const struct arguments *arguments) {
    struct error error;
    char path[PATH_MAX];
    struct tuning *tuning = calloc(1, sizeof *tuning);
    if (!tuning) {
        error_set(&error, ERROR_RUN, "tune: out of memory");
        return cli_fail(&error);
    }
    tuning->arguments = arguments;
    tuning->options = arguments->own;
    tuning->library.lock = -1;
    setenv("FMHA_GENERATOR", "off", 1); /* what is run is what was asked for */
    bool done = check_options(arguments, tuning, &error);
    if (tuning->options->model) {
        tuning->info.arch = arguments->kernel.arch;
        snprintf(tuning->device_name, sizeof tuning->device_name, "model");
        sweep_knobs(tuning);
    }
    done = done && (tuning->options->model || open_device(tuning, &error)) && find_file(tuning, path, &error) &&
           emit_members(tuning, &error) &&
           (tuning->options->model ? check_model_shapes(tuning, &error) && model_members(tuning, &error)
                                   : add_libraries(tuning, &error)) &&
           tune_all(tuning, &error) && save_and_tell(tuning, path, &error);
    for (size_t i = 0; tuning->candidates && i < tuning->kernels.count; i++)
        tune_candidate_free(&tuning->candidates[i]);
    free(tuning->candidates);
    for (size_t i = 0; i < tuning->outcome_count; i++)
        tune_outcome_free(&tuning->outcomes[i]);
    free(tuning->outcomes);
    free(tuning->rejected);
    fmha_device_close(tuning->device);
    library_end(&tuning->library);
    compilers_free(&tuning->compilers);
    kernels_free(&tuning->kernels);
    free(tuning);
    return done ? 0 : cli_fail(&error);
}

static const struct option_row options[] = {
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct tune_options, device),
     .value = "NAME",
     .help = "hip (default), hip:1 or cuda, measured; emu:gfx1151, counted. --arch may then be left out"},
    {.name = "model",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct tune_options, model),
     .help = "no device: compile every member for the chip of --arch and rank by the issue bound of 'fmhagen report'; "
             "without knobs, sweep those of the tile"},
    {.name = "shape",
     .kind = OPTION_REPEATED,
     .offset = offsetof(struct tune_options, shapes),
     .value = "B,HQ,HK,SQ,SK",
     .help = "batch, query heads, key heads, query length, key length to tune for; repeatable, at least one"},
    {.name = "library",
     .kind = OPTION_REPEATED,
     .offset = offsetof(struct tune_options, libraries),
     .value = "DIR",
     .help = "run the instances of this library and make none; repeatable"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(struct tune_options, output),
     .value = "FILE",
     .help = "where the choices are merged into; default: choices/CHIP beside the cache, which libfmha reads; with "
             "--model none"},
    {.name = "rounds",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct tune_options, rounds),
     .value = "N",
     .minimum = 0,
     .maximum = 10000,
     .help = "in each of which every instance runs once; default: 20 where time is measured, 1 where work is counted"},
    {.name = "warmup",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct tune_options, warmup),
     .value = "N",
     .minimum = -1,
     .maximum = 10000,
     .help = "rounds before them that do not count, -1: none; default: 3 where time is measured"},
    {.name = "seed",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct tune_options, seed),
     .value = "N",
     .minimum = 0,
     .maximum = INT64_MAX,
     .initial = 1,
     .help = "of the inputs and of the order within a round; default: 1"},
    {.name = "jobs",
     .letter = 'j',
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct tune_options, jobs),
     .value = "N",
     .minimum = 1,
     .maximum = 1024,
     .help = "compilers at once; default: one for each core"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct tune_options, json),
     .help = "print one JSON object instead of tables"},
    {0},
};

const struct command command_tune = {
    .name = "tune",
    .summary = "find which kernel is fastest on a device, and keep it",
    .details =
        "Makes every kernel that the options describe, comma lists of knobs included (--block-m 64,128 --gqa 1,4), "
        "runs "
        "those that serve the shape on the device in interleaved rounds, and merges the best into a file of choices, "
        "by "
        "which libfmha then takes it for problems near that shape. Members that cannot be made or do not serve are "
        "listed with the reason. On an emulated device work is counted instead of time.",
    .kernel = true,
    .children = CHILDREN_ABORT,
    .options = options,
    .options_bytes = sizeof(struct tune_options),
    .run = run,
};

/* `fmhagen build`: code objects and their interfaces. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "compile.h"
#include "interface.h"
#include "json.h"
#include "kernels.h"
#include "output.h"
#include "workers.h"

#define SUFFIX_OBJECT    ".hsaco"
#define SUFFIX_INTERFACE ".json"
#define SUFFIX_SOURCE    ".hip"

struct build_options {
    const char *output;
    int64_t jobs;
    bool allow_spills, keep_source, json;
};

/* One instance on its way through the compiler. Only the thread that took it touches it. */
struct job {
    const struct instance *instance;
    const fmha_compiler *compiler;
    char *object_path, *interface_path, *source_path;
    struct resources resources;
    bool finished, done; /* done: without an error */
    struct error error;
};

struct build {
    const struct build_options *options;
    const char *folder;
    struct job *jobs;
    int count;
};

/* ---- One instance -------------------------------------------------------------------------------------------------
 */

static bool write_results(const struct build *build, const struct job *job, const struct code_object *object,
                          struct error *error) {
    const struct instance *instance = job->instance;
    const struct interface_object compiled = {&object->resources, job->compiler, object->bytes, object->length};
    struct text interface = {0};
    if (!interface_json(instance, &compiled, &interface, error)) {
        text_free(&interface);
        return false;
    }
    struct output_file files[3];
    int count = 0;
    if (build->options->keep_source)
        files[count++] = (struct output_file){job->source_path, instance->text.bytes, instance->text.length};
    files[count++] = (struct output_file){job->object_path, object->bytes, object->length};
    files[count++] = (struct output_file){job->interface_path, interface.bytes, interface.length};
    bool done = output_folder_make(build->folder, error) && output_write_all(files, count, error);
    text_free(&interface);
    return done;
}

static void run_job(void *context, int index) {
    struct build *build = context;
    struct job *job = &build->jobs[index];
    struct code_object object;
    job->done = compile_instance(job->instance, job->compiler, build->options->allow_spills, &object, &job->error);
    if (job->done) {
        job->resources = object.resources;
        job->done = write_results(build, job, &object, &job->error);
        code_object_free(&object);
    }
    job->finished = job->done || !interrupt_came(); /* else its compiler was ended with the others */
}

static const char *job_label(void *context, int index) {
    const struct build *build = context;
    return build->jobs[index].instance->name;
}

/* ---- All of them --------------------------------------------------------------------------------------------------
 */

static bool name_files(struct job *jobs, int count, const char *folder, struct error *error) {
    for (int i = 0; i < count; i++) {
        const char *name = jobs[i].instance->name;
        jobs[i].object_path = output_join(folder, name, SUFFIX_OBJECT, error);
        jobs[i].interface_path = output_join(folder, name, SUFFIX_INTERFACE, error);
        jobs[i].source_path = output_join(folder, name, SUFFIX_SOURCE, error);
        if (!jobs[i].object_path || !jobs[i].interface_path || !jobs[i].source_path)
            return false;
    }
    return true;
}

/* ---- What is said of it --------------------------------------------------------------------------------------------
 */

static void add_table(const struct build *build, struct text *out) {
    const char *last = "";
    for (int i = 0; i < build->count; i++) {
        const struct job *job = &build->jobs[i];
        const struct resources *resources = &job->resources;
        if (!job->done)
            continue;
        if (strcmp(job->compiler->path, last) != 0)
            text_printf(out, "%s, %s\n", job->compiler->version, job->compiler->path);
        last = job->compiler->path;
        text_printf(out, "%s: %d VGPR, %d SGPR, %d bytes of LDS, %d waves per SIMD", job->object_path, resources->vgpr,
                    resources->sgpr, resources->lds_bytes, resources->waves_per_simd);
        if (resources->vgpr_spills || resources->sgpr_spills || resources->scratch_bytes)
            text_printf(out, ", spills of %d VGPR and %d SGPR, %d bytes of scratch", resources->vgpr_spills,
                        resources->sgpr_spills, resources->scratch_bytes);
        text_puts(out, "\n");
    }
}

static bool add_json_instance(const struct build *build, const struct job *job, cJSON *list) {
    cJSON *item = cJSON_CreateObject();
    if (!item || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return false;
    }
    bool done = cJSON_AddStringToObject(item, "instance", job->instance->name) &&
                cJSON_AddStringToObject(item, "arch", job->instance->spec.arch) &&
                cJSON_AddBoolToObject(item, "built", job->done);
    if (!job->done)
        return done && cJSON_AddStringToObject(item, "error", job->finished ? job->error.text : "interrupted");
    if (build->options->keep_source)
        done = done && cJSON_AddStringToObject(item, "source", job->source_path);
    done = done && cJSON_AddStringToObject(item, "code_object", job->object_path) &&
           cJSON_AddStringToObject(item, "interface", job->interface_path) &&
           cJSON_AddStringToObject(item, "compiler", job->compiler->version) &&
           cJSON_AddStringToObject(item, "compiler_path", job->compiler->path);
    return done;
}

static bool add_json(const struct build *build, struct text *out, struct error *error) {
    cJSON *root = cJSON_CreateObject();
    cJSON *list = root ? cJSON_AddArrayToObject(root, "instances") : NULL;
    bool done = list != NULL;
    for (int i = 0; done && i < build->count; i++)
        done = add_json_instance(build, &build->jobs[i], list);
    return json_print(root, done, out) || error_set(error, ERROR_RUN, "--json: out of memory");
}

/* Prints the results and every failure; true if there was none. */
static bool conclude(const struct build *build, struct error *error) {
    struct text text = {0};
    bool done = true;
    if (build->options->json)
        done = add_json(build, &text, error);
    else
        add_table(build, &text);
    done = done && cli_print(&text, error);
    text_free(&text);
    if (!done)
        return false;
    int failed = 0, left = 0;
    for (int i = 0; i < build->count; i++) {
        const struct job *job = &build->jobs[i];
        left += !job->finished;
        failed += job->finished && !job->done;
        if (job->finished && !job->done && build->count > 1)
            cli_fail(&job->error);
    }
    if (left)
        return error_set(error, ERROR_RUN, "build: interrupted; %d of %d instances were not compiled", left,
                         build->count);
    if (failed && build->count == 1)
        *error = build->jobs[0].error;
    else if (failed)
        error_set(error, ERROR_RUN, "build: %d of %d instances failed; the others are in '%s'", failed, build->count,
                  build->folder);
    return failed == 0;
}

/* ---- The command ---------------------------------------------------------------------------------------------------
 */

static bool build_kernels(struct build *build, const struct kernels *kernels, struct compilers *compilers,
                          struct error *error) {
    build->count = (int)kernels->count; /* at most SPEC_PRODUCT_MAX */
    if (!compilers_find(kernels, "build", compilers, error))
        return false;
    for (int i = 0; i < build->count; i++) {
        build->jobs[i].instance = &kernels->instances[i];
        build->jobs[i].compiler = compilers->of[i];
    }
    if (!name_files(build->jobs, build->count, build->options->output ? build->folder : "", error))
        return false;
    if (access(build->folder, F_OK) == 0 && !output_is_folder(build->folder))
        return error_set(error, ERROR_RUN, "%s: expected a folder, got a file; choose another with -o", build->folder);
    workers_run(&(struct workers){build->count, build->options->jobs, run_job, job_label, build});
    return conclude(build, error);
}

static int run(const struct arguments *arguments) {
    const struct build_options *options = arguments->own;
    struct build build = {.options = options, .folder = options->output ? options->output : "."};
    struct kernels kernels = {0};
    struct error error;
    bool done = true;
    if (options->output && strcmp(options->output, "-") == 0)
        done = error_set(&error, ERROR_USAGE, "-o: expected a folder, got standard output; build writes files");
    done = done && kernels_open(&arguments->kernel, &kernels, &error) && kernels_emit(&kernels, &error);
    struct compilers compilers = {0};
    if (done) {
        build.jobs = calloc(kernels.count, sizeof *build.jobs);
        done = build.jobs || error_set(&error, ERROR_RUN, "build: out of memory");
    }
    done = done && build_kernels(&build, &kernels, &compilers, &error);
    for (int i = 0; i < build.count; i++) {
        free(build.jobs[i].object_path);
        free(build.jobs[i].interface_path);
        free(build.jobs[i].source_path);
    }
    free(build.jobs);
    compilers_free(&compilers);
    kernels_free(&kernels);
    return done ? 0 : cli_fail(&error);
}

static const struct option_row options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(struct build_options, output),
     .value = "FOLDER",
     .help = "where the files go (made if missing); default: the current folder"},
    {.name = "jobs",
     .letter = 'j',
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct build_options, jobs),
     .value = "N",
     .minimum = 1,
     .maximum = 1024,
     .help = "compilers at once; default: one for each core"},
    {.name = "keep-source",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct build_options, keep_source),
     .help = "write NAME.hip as well"},
    {.name = "allow-spills",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct build_options, allow_spills),
     .help = "accept kernels that spill registers or use scratch memory"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct build_options, json),
     .help = "print what was built as one JSON object"},
    {0},
};

const struct command command_build = {
    .name = "build",
    .summary = "compile kernels into NAME.hsaco and NAME.json",
    .details =
        "Compiles each kernel into NAME.hsaco, a code object, and writes NAME.json beside it, the interface that a "
        "launcher needs. Both appear or neither. A kernel that spills is an error; the others are built all the "
        "same.",
    .kernel = true,
    .children = CHILDREN_FINISH,
    .options = options,
    .options_bytes = sizeof(struct build_options),
    .run = run,
};

/* `fmhagen doctor`: what works on this machine, tried out, and the cure of what does not. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "cli.h"
#include "codeobject.h"
#include "compiler.h"
#include "json.h"
#include "kernels.h"
#include "report.h"
#include "text.h"
#include "verify.h"

/* The chip and the kernel that are tried out unless --arch says otherwise. */
#define EXAMPLE_ARCH     "gfx1151"
#define EXAMPLE_HEAD_DIM "64"

#define CURE_COMPILER "apt-get install clang-22 lld-22 (clang++ 19 and later and hipcc of ROCm 6 and later serve)"
#define CURE_VERIFY                                                                                                    \
    "apt-get install clang-22 lld-22 (clang++ 19 and later serve; it links with the lld beside it, else with ld)"

struct doctor_options {
    const char *arch;
    bool json;
};

struct check {
    const char *name;
    bool needed; /* without it generate, build and verify do not all work */
    bool works;
    struct text says;
    const char *cure;
};

enum { CHECK_GENERATE, CHECK_BUILD, CHECK_VERIFY, CHECK_REPORT, CHECK_HIP, CHECK_CUDA, CHECK_CACHE, CHECK_COUNT };

struct place {
    char *place, *found, *verdict;
};

struct places {
    struct place *at;
    size_t count;
    bool failed;
};

struct doctor {
    const char *arch;
    struct check checks[CHECK_COUNT];
    struct places compilers, host_compilers;
};

/* ---- The checks
 * ------------------------------------------------------------------------------------------------------ */

static void add_place(void *context, const char *place, const char *found, const char *verdict) {
    struct places *places = context;
    struct place *grown = realloc(places->at, (places->count + 1) * sizeof *grown);
    if (!grown) {
        places->failed = true;
        return;
    }
    places->at = grown;
    struct place *last = &grown[places->count++];
    *last = (struct place){strdup(place), strdup(found), strdup(verdict)};
    places->failed = places->failed || !last->place || !last->found || !last->verdict;
}

static void free_places(struct places *places) {
    for (size_t i = 0; i < places->count; i++) {
        free(places->at[i].place);
        free(places->at[i].found);
        free(places->at[i].verdict);
    }
    free(places->at);
}

static void try_build(struct check *check, const struct instance *instance) {
    fmha_compiler compiler;
    struct resources resources;
    struct error error;
    void *image = NULL;
    size_t image_bytes = 0;
    const fmha_source source = {
        .text = instance->text.bytes, .symbol = instance->name, .wave = instance->spec.value[SPEC_WAVE]};
    if (fmha_compiler_find(instance->spec.arch, &compiler) != FMHA_OK ||
        fmha_compiler_compile_source(&compiler, instance->spec.arch, &source, &image, &image_bytes) != FMHA_OK) {
        text_puts(&check->says, fmha_last_error());
    } else if (!codeobject_resources(image, image_bytes, instance->name, &resources, &error)) {
        text_puts(&check->says, error.text);
    } else {
        text_printf(&check->says, "%s, %s", compiler.version, compiler.path);
        check->works = true;
    }
    free(image);
}

static void try_verify(struct check *check, const struct kernels *kernels) {
    const struct verify_shape shape = {1, 1, 1, 3, 5};
    struct verify_options options;
    struct verify_report report;
    struct error error;
    verify_options_init(&options);
    options.shapes = &shape;
    options.shape_count = 1;
    if (!verify_run(kernels->engine, &kernels->specs[0], &options, &report, &error)) {
        text_puts(&check->says, error.text);
        return;
    }
    check->works = report.passed;
    text_printf(&check->says, "%s %s on %s", report.instance, report.passed ? "is right" : "is wrong", report.device);
    verify_report_free(&report);
}

static void try_report(struct check *check, const struct kernels *kernels) {
    const struct report_request request = {.spec = &kernels->specs[0], .engine = kernels->engine};
    struct report report;
    struct error error;
    if (!report_run(&request, &report, &error)) {
        text_puts(&check->says, error.text);
        return;
    }
    check->works = report.loop_count > 0;
    text_printf(&check->says, "%s has %d matrix loops", report.instance, report.loop_count);
    report_free(&report);
}

static void try_generator(struct doctor *doctor) {
    struct kernels kernels;
    struct error error;
    struct kernel_options options = {.arch = doctor->arch};
    options.field[SPEC_HEAD_DIM] = EXAMPLE_HEAD_DIM;
    struct check *generate = &doctor->checks[CHECK_GENERATE];
    if (!kernels_open(&options, &kernels, &error) || !kernels_emit(&kernels, &error)) {
        text_puts(&generate->says, error.text);
        for (int i = CHECK_BUILD; i <= CHECK_REPORT; i++) {
            text_puts(&doctor->checks[i].says, "not tried: nothing was generated");
            doctor->checks[i].cure = NULL;
        }
    } else {
        generate->works = true;
        text_printf(&generate->says, "%s, %zu bytes", kernels.instances[0].name, kernels.instances[0].text.length);
        try_build(&doctor->checks[CHECK_BUILD], &kernels.instances[0]);
        try_verify(&doctor->checks[CHECK_VERIFY], &kernels);
        if (doctor->checks[CHECK_BUILD].works) {
            try_report(&doctor->checks[CHECK_REPORT], &kernels);
        } else {
            text_puts(&doctor->checks[CHECK_REPORT].says, "not tried: nothing was built");
            doctor->checks[CHECK_REPORT].cure = NULL;
        }
    }
    kernels_free(&kernels);
}

static void try_gpu(struct check *check) {
    fmha_device *device = NULL;
    fmha_device_info info;
    check->works = fmha_device_open(check->name, &device) == FMHA_OK && fmha_device_get_info(device, &info) == FMHA_OK;
    if (check->works)
        text_printf(&check->says, "%s, %s", info.name, info.arch);
    else
        text_puts(&check->says, fmha_last_error());
    fmha_device_close(device);
}

static void try_cache(struct check *check) {
    char says[1400];
    check->works = fmha_cache_state(says, sizeof says);
    text_puts(&check->says, says);
}

/* ---- What is printed
 * ------------------------------------------------------------------------------------------------- */

/* Lines after the first are indented. */
static void add_indented(struct text *out, const char *text, int indent) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        text_add(out, text, length);
        text_puts(out, "\n");
        text += length;
        if (*text && *++text)
            text_printf(out, "%*s", indent, "");
    }
}

static void add_places(const struct places *places, struct text *out) {
    for (size_t i = 0; i < places->count; i++) {
        const struct place *place = &places->at[i];
        struct text line = {0};
        text_printf(&line, "%s%s%s: %s", place->place, *place->found ? ": " : "", place->found, place->verdict);
        text_puts(out, "  ");
        add_indented(out, line.bytes ? line.bytes : "", 4);
        text_free(&line);
    }
}

static void add_table(const struct doctor *doctor, struct text *out) {
    text_printf(out, "fmhagen %s (ABI %d), tried with %s\n\n", FMHA_VERSION, FMHA_ABI_VERSION, doctor->arch);
    for (int i = 0; i < CHECK_COUNT; i++) {
        const struct check *check = &doctor->checks[i];
        text_printf(out, "%-9s %-7s ", check->name, check->works ? "works" : check->needed ? "FAILS" : "absent");
        add_indented(out, check->says.bytes ? check->says.bytes : "", 18);
        if (!check->works && check->cure)
            text_printf(out, "%17s cure: %s\n", "", check->cure);
    }
    text_printf(out, "\nCompilers for %s\n", doctor->arch);
    add_places(&doctor->compilers, out);
    text_puts(out, "\nCompilers for this machine, which the emulated device needs\n");
    add_places(&doctor->host_compilers, out);
}

static bool add_json_places(cJSON *root, const char *name, const struct places *places) {
    cJSON *list = cJSON_AddArrayToObject(root, name);
    bool done = list != NULL;
    for (size_t i = 0; done && i < places->count; i++) {
        cJSON *item = cJSON_CreateObject();
        if (!item || !cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
            return false;
        }
        done = cJSON_AddStringToObject(item, "place", places->at[i].place) &&
               cJSON_AddStringToObject(item, "found", places->at[i].found) &&
               cJSON_AddStringToObject(item, "verdict", places->at[i].verdict);
    }
    return done;
}

static bool add_json(const struct doctor *doctor, bool usable, struct text *out, struct error *error) {
    cJSON *root = cJSON_CreateObject();
    cJSON *list = NULL;
    bool done = root && cJSON_AddStringToObject(root, "version", FMHA_VERSION) &&
                cJSON_AddNumberToObject(root, "abi", FMHA_ABI_VERSION) &&
                cJSON_AddStringToObject(root, "arch", doctor->arch) && cJSON_AddBoolToObject(root, "usable", usable) &&
                (list = cJSON_AddArrayToObject(root, "checks"));
    for (int i = 0; done && i < CHECK_COUNT; i++) {
        const struct check *check = &doctor->checks[i];
        cJSON *item = cJSON_CreateObject();
        done = item && cJSON_AddItemToArray(list, item) && cJSON_AddStringToObject(item, "name", check->name) &&
               cJSON_AddBoolToObject(item, "needed", check->needed) &&
               cJSON_AddBoolToObject(item, "works", check->works) &&
               cJSON_AddStringToObject(item, "text", check->says.bytes ? check->says.bytes : "");
        if (done && !check->works && check->cure)
            done = cJSON_AddStringToObject(item, "cure", check->cure) != NULL;
    }
    done = done && add_json_places(root, "compilers", &doctor->compilers) &&
           add_json_places(root, "host_compilers", &doctor->host_compilers);
    return json_print(root, done, out) || error_set(error, ERROR_RUN, "--json: out of memory");
}

static int run(const struct arguments *arguments) {
    const struct doctor_options *own = arguments->own;
    struct error error;
    struct doctor doctor = {
        .arch = own->arch ? own->arch : EXAMPLE_ARCH,
        .checks = {{.name = "generate", .needed = true},
                   {.name = "build", .needed = true, .cure = CURE_COMPILER},
                   {.name = "verify", .needed = true, .cure = CURE_VERIFY},
                   {.name = "report", .cure = "apt-get install llvm-22, whose llvm-objdump it reads"},
                   {.name = "hip",
                    .cure = "only needed to run on a GPU: AMD's driver and apt-get install libamdhip64-5 or ROCm"},
                   {.name = "cuda", .cure = "only needed to run on a GPU of NVIDIA's: its driver"},
                   {.name = "cache", .cure = "only saves time: set FMHA_CACHE_DIR to a folder that can be written"}}};
    fmha_compiler_list(doctor.arch, add_place, &doctor.compilers);
    fmha_compiler_list(NULL, add_place, &doctor.host_compilers);
    try_generator(&doctor);
    try_gpu(&doctor.checks[CHECK_HIP]);
    try_gpu(&doctor.checks[CHECK_CUDA]);
    try_cache(&doctor.checks[CHECK_CACHE]);
    bool usable = true, done = !doctor.compilers.failed && !doctor.host_compilers.failed;
    for (int i = 0; i < CHECK_COUNT; i++)
        usable = usable && (doctor.checks[i].works || !doctor.checks[i].needed);
    struct text text = {0};
    if (!done)
        error_set(&error, ERROR_RUN, "doctor: out of memory");
    else if (own->json)
        done = add_json(&doctor, usable, &text, &error);
    else
        add_table(&doctor, &text);
    done = done && cli_print(&text, &error);
    text_free(&text);
    for (int i = 0; i < CHECK_COUNT; i++)
        text_free(&doctor.checks[i].says);
    free_places(&doctor.compilers);
    free_places(&doctor.host_compilers);
    if (!done)
        return cli_fail(&error);
    return usable ? 0 : ERROR_RUN;
}

static const struct option_row options[] = {
    {.name = "arch",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct doctor_options, arch),
     .value = "A",
     .help = "the chip to try; default: " EXAMPLE_ARCH},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct doctor_options, json),
     .help = "print one JSON object"},
    {0},
};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "try what works on this machine; name the cure of what does not",
    .details = "Generates, compiles and verifies a small kernel, and looks for GPUs and the cache. Prints which "
               "compilers it looked at and what it thinks of each. The exit status is 1 if generate, build or verify "
               "cannot work.",
    .children = CHILDREN_ABORT,
    .options = options,
    .options_bytes = sizeof(struct doctor_options),
    .run = run,
};

/* Every allocation of the generator fails once: templates, specs, instances, interfaces, indexes, reports, references,
 * libraries' texts, vendored folders. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/support.h"
#include "assembly.h"
#include "index_text.h"
#include "instance.h"
#include "interface.h"
#include "library_entries.h"
#include "library_members.h"
#include "library_ninja.h"
#include "reference.h"
#include "report.h"
#include "report_svg.h"
#include "spec.h"
#include "sweep.h"
#include "template.h"
#include "user_modifier.h"
#include "vendor.h"
#include "vendor_manifest.h"
#include "vendor_tree.h"
#include "verify.h"

/* cJSON allocates inside of a shared library: it is led here too. */
static void use_counted_json(void) {
    cJSON_Hooks hooks = {.malloc_fn = malloc, .free_fn = free};
    cJSON_InitHooks(&hooks);
}

TestSuite(allocation, .init = use_counted_json);

static sweep_outcome outcome_of(bool done, const struct error *error) {
    return done ? SWEEP_DONE : error->text[0] != '\0' ? SWEEP_ERROR : SWEEP_SILENT_ERROR;
}

static void expect_clean(sweep_work work, void *context, unsigned least_visited) {
    cr_assert_eq(work(context), SWEEP_DONE);
    /* Lua tries once more after a failure: so everything from one allocation on fails. */
    sweep_result result = sweep(work, context, SWEEP_ALL_ON);
    cr_assert_eq(result.first_bad, 0, "allocation %u: %s", result.first_bad, result.what);
    cr_assert_geq(result.visited, least_visited, "%u", result.visited);
    cr_assert_eq(result.recovered, 0, "%u of %u failures went unnoticed", result.recovered, result.visited);
}

static sweep_outcome make_engine(void *context) {
    (void)context;
    struct error error = {0};
    struct template_engine *engine = template_engine_new(NULL, &error);
    sweep_outcome outcome = outcome_of(engine != NULL, &error);
    template_engine_free(engine);
    return outcome;
}

Test(allocation, making_a_template_engine) {
    expect_clean(make_engine, NULL, 10);
}

static const struct spec_choices choices = {.arch = "gfx1151",
                                            .field = {[SPEC_HEAD_DIM] = "64", [SPEC_MASK] = "bottom-right"}};

/* Emits two instances and writes interface and index. An engine that has run out of memory is not used again. */
static sweep_outcome emit(void *context) {
    (void)context;
    struct error error = {0};
    struct spec *specs = NULL;
    size_t count = 0;
    struct instance *instance = malloc(sizeof *instance);
    struct text interface = {0}, index = {0};
    struct template_engine *engine = instance != NULL ? template_engine_new(NULL, &error) : NULL;
    bool done = engine != NULL && spec_product(&choices, engine, &specs, &count, &error);
    bool emitted = done && instance_emit(engine, &specs[0], instance, &error);
    done = emitted && interface_text(instance, NULL, NULL, NULL, 0, "hash", "hash", &interface, &error);
    if (done) {
        struct index_entry entry = {.instance = instance};
        done = index_text(&entry, 1, &index, &error);
    }
    sweep_outcome outcome = instance == NULL ? SWEEP_ERROR : outcome_of(done, &error);
    if (emitted)
        instance_free(instance);
    text_free(&interface);
    text_free(&index);
    free(specs);
    free(instance);
    template_engine_free(engine);
    return outcome;
}

Test(allocation, emitting_an_instance) {
    expect_clean(emit, NULL, 100);
}

static sweep_outcome open_modifier(void *context) {
    struct error error = {0};
    struct spec spec;
    struct template_engine *engine = template_engine_new(NULL, &error);
    spec_init(&spec);
    sweep_outcome outcome = outcome_of(engine && user_modifier_open(context, engine, &spec, &error), &error);
    template_engine_free(engine);
    return outcome;
}

Test(allocation, opening_a_modifier) {
    char path[] = "/tmp/fmha-modifier-XXXXXX";
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, "1\n", 2), 2);
    close(file);
    expect_clean(open_modifier, path, 12);
    unlink(path);
}

static sweep_outcome list_members(void *context) {
    struct template_engine *engine = context;
    struct error error = {0};
    struct spec *specs = NULL;
    size_t count = 0;
    struct spec_choices arch = {.arch = "gfx1151"};
    bool done = library_members(library_preset_find("minimal"), &arch, engine, &specs, &count, &error);
    free(specs);
    return outcome_of(done, &error);
}

Test(allocation, listing_the_members_of_a_preset) {
    struct error error;
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine);
    expect_clean(list_members, engine, 2);
    template_engine_free(engine);
}

static sweep_outcome parse_manifest(void *context) {
    const char *text = context;
    struct error error = {0};
    struct manifest manifest = {0};
    bool done = manifest_parse("MANIFEST", text, strlen(text), &manifest, &error);
    manifest_free(&manifest);
    return outcome_of(done, &error);
}

Test(allocation, reading_a_manifest) {
    char text[] = "fmha-vendor 1\nmade-by fmhagen 0.1.0\ncommand fmhagen vendor . --arch gfx1151 --hd 64\n"
                  "sha256 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef fmha.h\nend 1\n";
    expect_clean(parse_manifest, text, 3);
}

static sweep_outcome report_file(void *context) {
    struct error error = {0};
    struct report report;
    struct text table = {0}, json = {0}, picture = {0};
    const struct report_request request = {.file = context};
    bool read = report_run(&request, &report, &error), done = read;
    if (read) {
        report_table(&report, &table);
        done = !table.failed && report_json(&report, &json, &error) && report_svg(&report, &picture, &error);
    }
    sweep_outcome outcome = read && table.failed ? SWEEP_ERROR : outcome_of(done, &error);
    if (read)
        report_free(&report);
    text_free(&table);
    text_free(&json);
    text_free(&picture);
    return outcome;
}

Test(allocation, reporting_on_assembly) {
    expect_clean(report_file, ASSEMBLY_FILE, 20);
}

static sweep_outcome run_reference(void *context) {
    (void)context;
    static const double zeros[4 * 8];
    double output[4 * 8], lse[4];
    struct error error = {0};
    const struct reference_problem problem = {.batch = 1,
                                              .heads_q = 1,
                                              .heads_k = 1,
                                              .seqlen_q = 4,
                                              .seqlen_k = 4,
                                              .head_dim = 8,
                                              .head_dim_v = 8,
                                              .mask = REFERENCE_MASK_NONE,
                                              .scale = 1.0,
                                              .q = zeros,
                                              .k = zeros,
                                              .v = zeros};
    bool done = reference_run(&problem, output, lse, NULL, NULL, 1, &error);
    return outcome_of(done, &error);
}

Test(allocation, the_reference) {
    expect_clean(run_reference, NULL, 1);
}

static sweep_outcome vendor(void *context) {
    struct vendor_kernel kernel = {.instance = context};
    struct vendor_tree tree = {0};
    struct error error = {0};
    char *words[] = {"--arch", "gfx1151"};
    bool done = vendor_make(&kernel, 1, words, 2, &tree, &error);
    vendor_tree_free(&tree);
    return outcome_of(done, &error);
}

static struct template_engine *engine;
static struct instance instance;

static void emit_first(const struct spec_choices *chosen) {
    struct error error;
    struct spec *specs;
    size_t count;
    engine = template_engine_new(NULL, &error);
    cr_assert(engine != NULL && spec_product(chosen, engine, &specs, &count, &error) &&
                  instance_emit(engine, &specs[0], &instance, &error),
              "%s", error.text);
    free(specs);
}

static void emit_one(void) {
    emit_first(&choices);
}

Test(allocation, vendoring) {
    emit_one();
    expect_clean(vendor, &instance, 50);
    instance_free(&instance);
    template_engine_free(engine);
}

/* A library of texts, made into a folder that is there, its index and its build.ninja. */
static sweep_outcome make_library(void *context) {
    struct error error = {0};
    struct library library;
    struct text ninja = {0};
    const struct library_ninja how = {"", "/usr/bin/fmhagen", "--arch gfx1151"};
    bool done = library_begin(context, true, &instance, 1, NULL, engine, &library, &error) &&
                library_lock(&library, &error) && library_prepare(&library, &error) &&
                library_leave_texts(&library, &error) && library_publish(&library, &error) &&
                library_ninja_text(&library, &how, &ninja, &error);
    library_end(&library);
    text_free(&ninja);
    return outcome_of(done, &error);
}

Test(allocation, making_a_library_of_texts) {
    char folder[256];
    support_make_folder(folder);
    emit_one();
    expect_clean(make_library, folder, 10);
    support_remove_folder(folder);
    instance_free(&instance);
    template_engine_free(engine);
}

static sweep_outcome write_vendored(void *context) {
    struct vendor_kernel kernel = {.instance = &instance};
    struct vendor_tree tree = {0};
    struct vendor_changes changes;
    struct manifest manifest = {0};
    struct error error = {0};
    char *words[] = {"--arch", "gfx1151"};
    bool found, done = vendor_make(&kernel, 1, words, 2, &tree, &error) &&
                       vendor_manifest_read(context, &manifest, &found, &error) &&
                       vendor_write(context, &tree, &manifest, false, &changes, &error);
    vendor_tree_free(&tree);
    manifest_free(&manifest);
    return outcome_of(done, &error);
}

Test(allocation, writing_a_vendored_folder) {
    char folder[256];
    support_make_folder(folder);
    emit_one();
    expect_clean(write_vendored, folder, 60);
    support_remove_folder(folder);
    instance_free(&instance);
    template_engine_free(engine);
}

/* On the driver that records, whose kernels write nothing: it comes to findings, which are allocated as well. An engine
 * that ran out of memory is made anew. */
static sweep_outcome verify(void *context) {
    const struct spec *spec = context;
    const struct verify_shape shape = {1, 2, 1, 3, 5};
    const struct verify_pack_shape pack = {1, 2, 3, 5};
    const struct verify_merge_shape merge = {3, 1, 2, 2, 8};
    const struct verify_append_shape append = {2, 1, 2, 5};
    const struct verify_quantize_shape quantize = {1, 2, 3};
    struct error error = {0};
    struct verify_options options;
    struct verify_report report;
    struct text table = {0}, json = {0};
    verify_options_init(&options);
    options.shapes = &shape;
    options.pack_shapes = &pack;
    options.merge_shapes = &merge;
    options.append_shapes = &append;
    options.quantize_shapes = &quantize;
    options.shape_count = options.pack_shape_count = options.merge_shape_count = options.append_shape_count =
        options.quantize_shape_count = 1;
    if (spec->value[SPEC_OP] == SPEC_OP_FORWARD)
        options.inputs = VERIFY_INPUTS_RANDOM;
    struct template_engine *fresh = template_engine_new(NULL, &error);
    bool ran = fresh != NULL && verify_run(fresh, spec, &options, &report, &error), done = ran;
    if (ran) {
        verify_report_table(&report, &table);
        done = !table.failed && verify_report_json(&report, &json, &error);
    }
    sweep_outcome outcome = ran && table.failed ? SWEEP_ERROR : outcome_of(done, &error);
    if (ran)
        verify_report_free(&report);
    text_free(&table);
    text_free(&json);
    template_engine_free(fresh);
    return outcome;
}

static void verify_all_fail_once(const struct spec_choices *chosen) {
    setenv("FMHA_DRIVER_DIR", FAKE_DRIVER_DIR, 1);
    setenv("FMHA_GENERATOR", "off", 1);
    emit_first(chosen);
    expect_clean(verify, &instance.spec, 150);
    instance_free(&instance);
    template_engine_free(engine);
}

Test(allocation, verifying) {
    verify_all_fail_once(&choices);
}

Test(allocation, verifying_appended_keys) {
    verify_all_fail_once(&(struct spec_choices){.arch = "gfx1151",
                                                .field = {[SPEC_OP] = "append",
                                                          [SPEC_HEAD_DIM] = "64",
                                                          [SPEC_KV_DTYPE] = "e4m3",
                                                          [SPEC_ROTARY] = "neox",
                                                          [SPEC_VARLEN] = "packed",
                                                          [SPEC_PAGED] = "on"}});
}

Test(allocation, verifying_quantized_rows) {
    verify_all_fail_once(&(struct spec_choices){
        .arch = "gfx1151", .field = {[SPEC_OP] = "quantize", [SPEC_HEAD_DIM] = "64", [SPEC_KV_DTYPE] = "e4m3"}});
}

Test(allocation, verifying_scales) {
    verify_all_fail_once(&(struct spec_choices){
        .arch = "gfx1151",
        .field = {[SPEC_OP] = "quantize", [SPEC_HEAD_DIM] = "64", [SPEC_KV_DTYPE] = "e4m3", [SPEC_PASS] = "scales"}});
}

Test(allocation, verifying_merged_results) {
    verify_all_fail_once(
        &(struct spec_choices){.arch = "gfx1151", .field = {[SPEC_OP] = "merge", [SPEC_VARLEN] = "padded"}});
}

Test(allocation, verifying_packed_tensors) {
    verify_all_fail_once(&(struct spec_choices){.arch = "gfx1151", .field = {[SPEC_OP] = "pack"}});
}

/* Tuning on the emulated device: the least counted work wins, and fmha_forward takes it from then on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "choices.h"
#include "library_choices.h"
#include "library_entries.h"
#include "shape_key.h"
#include "template.h"
#include "tune.h"
#include "tune_model.h"

enum { MEMBERS = 3 };
static char folder[] = "/tmp/fmha tune-XXXXXX";
static struct instance instances[MEMBERS];
static struct spec specs[MEMBERS];
static struct template_engine *engine;

/* A library of texts: 16 dimensions, 32 rows in one or two waves, and two heads fused. */
static void make_library(const char *at) {
    static const char *const members[MEMBERS][2] = {{"1", "1"}, {"2", "1"}, {"1", "2"}};
    struct library library = {.lock = -1};
    struct error error;
    engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    for (int i = 0; i < MEMBERS; i++) {
        spec_init(&specs[i]);
        cr_assert(spec_set_arch(&specs[i], engine, "gfx1151", &error) &&
                      spec_set(&specs[i], SPEC_HEAD_DIM, "16", &error) &&
                      spec_set(&specs[i], SPEC_BLOCK_M, "32", &error) &&
                      spec_set(&specs[i], SPEC_WAVES, members[i][0], &error) &&
                      spec_set(&specs[i], SPEC_GQA, members[i][1], &error) && spec_resolve(&specs[i], engine, &error) &&
                      instance_emit(engine, &specs[i], &instances[i], &error),
                  "%s", error.text);
    }
    cr_assert(library_begin(at, true, instances, MEMBERS, NULL, engine, &library, &error) &&
                  library_lock(&library, &error) && library_prepare(&library, &error) &&
                  library_leave_texts(&library, &error) && library_publish(&library, &error),
              "%s", error.text);
    library_end(&library);
}

static void set_up(void) {
    cr_assert_not_null(mkdtemp(folder));
    unsetenv("FMHA_LIBRARY_PATH");
    unsetenv("FMHA_CHOICES");
    setenv("FMHA_GENERATOR", "off", 1);
    setenv("FMHA_CACHE_DIR", folder, 1);
    setenv("FMHA_DUMP", folder, 1);
    make_library(folder);
}

static void tear_down(void) {
    char command[128];
    for (int i = 0; i < MEMBERS; i++)
        instance_free(&instances[i]);
    template_engine_free(engine);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(tune, .init = set_up, .timeout = 120);

static void *memory(fmha_device *device, size_t bytes) {
    void *address, *zeros = calloc(1, bytes);
    cr_assert_eq(fmha_memory_alloc(device, bytes, "", &address), FMHA_OK);
    cr_assert_eq(fmha_memory_write(device, address, zeros, bytes), FMHA_OK);
    free(zeros);
    return address;
}

static void launch(fmha_device *device, int64_t heads_k) {
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.head_dim = 16;
    problem.scale = 1;
    problem.batch = 1;
    problem.heads_q = 2;
    problem.heads_k = heads_k;
    problem.seqlen_q = problem.seqlen_k = 40;
    problem.q = problem.k = problem.v = (fmha_tensor){memory(device, 4096), 0, 640, 16};
    problem.o = (fmha_tensor){memory(device, 4096), 0, 640, 16};
    cr_assert_eq(fmha_forward(device, &problem), FMHA_OK, "%s", fmha_last_error());
}

/* Which instance was launched, and not before; "" for none. */
static const char *launched(void) {
    static char path[512];
    const char *found = "";
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(path, sizeof path, "%s/%s.launch", folder, instances[i].name);
        if (unlink(path) == 0)
            found = instances[i].name;
    }
    return found;
}

static struct tune_outcome tune(fmha_device *device, int64_t heads_k, int64_t seqlen_q) {
    const char *libraries[] = {folder, NULL};
    struct tune_outcome outcome;
    struct error error;
    const struct tune_request request = {
        .device = device, .spec = &specs[0], .shape = {1, 2, heads_k, seqlen_q, 32}, .libraries = libraries, .seed = 1};
    cr_assert(tune_run(&request, &outcome, &error), "%s", error.text);
    return outcome;
}

Test(tune, least_counted_work_is_taken_by_forward) {
    fmha_device *device;
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_device_add_library(device, folder), FMHA_OK);
    launch(device, 2);
    const char *usual = launched();
    struct tune_outcome outcome = tune(device, 2, 32);
    cr_assert_eq(outcome.count, MEMBERS);
    cr_assert_str_eq(outcome.unit, "counted cycles");
    cr_assert(outcome.members[0].best && outcome.members[0].median < outcome.members[1].median);
    cr_assert_not(outcome.members[1].best);
    cr_assert_str_eq(outcome.members[2].instance, instances[2].name); /* two query heads of one key head */
    cr_assert_eq(outcome.members[2].runs, 0);
    cr_assert_str_eq(
        outcome.members[2].reason,
        "expected (heads_q / heads_k) % 2 equal to 0, got 1; choose (heads_q / heads_k) as a multiple of 2");
    launch(device, 2);
    cr_assert_str_eq(launched(), outcome.members[0].instance);
    cr_assert_str_eq(usual, instances[0].name); /* the same rank: by name */
    tune_outcome_free(&outcome);
    fmha_device_close(device);
    tear_down();
}

/* The choice of another process, against the usual order. */
Test(tune, saved_choice_is_taken_by_another_device) {
    fmha_device *device;
    char path[300];
    snprintf(path, sizeof path, "%s/kept", folder);
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
    fmha_device_add_library(device, folder);
    struct tune_outcome outcome = tune(device, 1, 16);
    cr_assert_eq(outcome.count, MEMBERS);
    cr_assert_str_eq(outcome.members[0].instance, instances[2].name, "16 rows of two heads fill its tile");
    cr_assert_lt(outcome.members[0].median, outcome.members[1].median);
    tune_outcome_free(&outcome);
    cr_assert_eq(fmha_device_save_choices(device, path), FMHA_OK, "%s", fmha_last_error());
    fmha_device_close(device);
    setenv("FMHA_CHOICES", path, 1);
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
    fmha_device_add_library(device, folder);
    launched();
    launch(device, 1);
    cr_assert_str_eq(launched(), instances[2].name);
    launch(device, 2); /* which the chosen one does not serve */
    cr_assert_str_eq(launched(), instances[0].name);
    fmha_device_close(device);
    tear_down();
}

/* Another kind of problem has no instance: the error is libfmha's. */
Test(tune, problem_without_instance_is_an_error) {
    fmha_device *device;
    const char *libraries[] = {folder, NULL};
    struct tune_outcome outcome;
    struct error error;
    struct spec other = specs[0];
    other.value[SPEC_HEAD_DIM] = other.value[SPEC_HEAD_DIM_V] = 24;
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
    fmha_device_add_library(device, folder);
    const struct tune_request request = {
        .device = device, .spec = &other, .shape = {1, 2, 2, 32, 32}, .libraries = libraries};
    cr_assert_not(tune_run(&request, &outcome, &error));
    cr_assert_eq(error.kind, ERROR_RUN);
    cr_assert_not_null(strstr(error.text, "expected an instance, got none among 3 in 1 library; the nearest, "), "%s",
                       error.text);
    fmha_device_close(device);
    tear_down();
}

/* ---- What is shipped --------------------------------------------------------------------------------------------- */

/* Nobody has measured any of it. */
Test(tune, shipped_choices_are_modelled_and_of_their_chip) {
    cr_assert_eq(choices_file_count, 14);
    for (size_t i = 0; i < choices_file_count; i++) {
        struct fmha_choices choices = {0};
        cr_assert_eq(
            fmha_choices_parse(choices_files[i].path, choices_files[i].bytes, choices_files[i].length, &choices),
            FMHA_OK, "%s", fmha_last_error());
        cr_assert_gt(choices.count, 12);
        for (size_t j = 0; j < choices.count; j++) {
            char path[64];
            snprintf(path, sizeof path, "%s.choices", choices.list[j].chip);
            cr_assert_str_eq(path, choices_files[i].path);
            cr_assert_eq(choices.list[j].unit, FMHA_CHOICE_BOUND);
            cr_assert_str_eq(choices.list[j].driver, "any");
        }
        fmha_choices_free(&choices);
    }
    tear_down();
}

static bool has_fused(const void *context, const char *instance) {
    (void)context;
    return strcmp(instance, "fmha_forward_gfx1151_f16_d128_m64k32w4_gqa4") == 0;
}

static bool has_none(const void *context, const char *instance) {
    (void)context;
    (void)instance;
    return false;
}

/* A library gets the choices of what it has, and keeps what somebody tuned. */
Test(tune, library_gets_the_choices_of_its_instances) {
    struct fmha_choices choices = {0};
    struct error error;
    char path[300];
    bool found;
    snprintf(path, sizeof path, "%s/gfx1151/fmha.choices", folder);
    cr_assert(library_choices_write(folder, "gfx1151", has_fused, NULL, &error), "%s", error.text);
    cr_assert(library_choices_mine(folder, "gfx1151"));
    cr_assert_eq(fmha_choices_read(path, &choices, &found), FMHA_OK, "%s", fmha_last_error());
    cr_assert(found);
    cr_assert_eq(choices.count, 2); /* for two sets of lengths */
    cr_assert_str_eq(choices.list[1].name, "fmha_forward_gfx1151_f16_d128_m64k32w4_gqa4");
    cr_assert(library_choices_write(folder, "gfx1151", has_none, NULL, &error), "%s", error.text);
    cr_assert_neq(access(path, F_OK), 0);
    choices.list[0].unit = FMHA_CHOICE_US;
    choices.list[0].driver = "hip";
    cr_assert_eq(fmha_choices_save(path, &choices), FMHA_OK, "%s", fmha_last_error());
    cr_assert_not(library_choices_mine(folder, "gfx1151"));
    cr_assert(library_choices_write(folder, "gfx1151", has_none, NULL, &error), "%s", error.text);
    cr_assert_eq(access(path, F_OK), 0);
    fmha_choices_free(&choices);
    tear_down();
}

/* ---- Modifiers and layouts -------------------------------------------------------------------------------- */

/* Tunes the one instance that the options describe, which must run. */
static void expect_runs(const enum spec_field_id *on, const char *const *words, size_t count) {
    char at[300];
    struct library library = {.lock = -1};
    struct instance instance;
    struct spec spec;
    struct error error;
    struct tune_outcome outcome;
    fmha_device *device;
    const char *libraries[] = {at, NULL};
    snprintf(at, sizeof at, "%s/%zu", folder, count);
    cr_assert_eq(mkdir(at, 0777), 0);
    spec_init(&spec);
    cr_assert(spec_set_arch(&spec, engine, "gfx1151", &error) && spec_set(&spec, SPEC_HEAD_DIM, "16", &error) &&
              spec_set(&spec, SPEC_MASK, "bottom-right", &error));
    for (size_t i = 0; i < count; i++)
        cr_assert(spec_set(&spec, on[i], words[i], &error), "%s", error.text);
    cr_assert(spec_resolve(&spec, engine, &error) && instance_emit(engine, &spec, &instance, &error), "%s", error.text);
    cr_assert(library_begin(at, true, &instance, 1, NULL, engine, &library, &error) && library_lock(&library, &error) &&
                  library_prepare(&library, &error) && library_leave_texts(&library, &error) &&
                  library_publish(&library, &error),
              "%s", error.text);
    library_end(&library);
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_device_add_library(device, at), FMHA_OK);
    const struct tune_request request = {.device = device,
                                         .spec = &spec,
                                         .shape = {3, 2, 1, 20, 70},
                                         .values = modifiers_values_none(),
                                         .libraries = libraries,
                                         .rounds = 1,
                                         .seed = 1};
    cr_assert(tune_run(&request, &outcome, &error), "%s", error.text);
    cr_assert_eq(outcome.count, 1);
    cr_assert(outcome.members[0].best && outcome.members[0].runs == 1, "%s", outcome.members[0].reason);
    tune_outcome_free(&outcome);
    fmha_device_close(device);
    instance_free(&instance);
}

Test(tune, all_modifiers_and_packed_pages) {
    static const enum spec_field_id on[] = {
        SPEC_WINDOW,     SPEC_SINK_KEYS, SPEC_PREFIX,     SPEC_SOFTCAP, SPEC_ALIBI,  SPEC_BIAS, SPEC_ATTN_MASK,
        SPEC_BLOCK_MASK, SPEC_SINK,      SPEC_HEAD_SCALE, SPEC_DROPOUT, SPEC_VARLEN, SPEC_PAGED};
    static const char *const words[] = {"sliding", "on", "on", "on", "on",     "f32", "on",
                                        "on",      "on", "on", "on", "packed", "on"};
    expect_runs(on, words, sizeof on / sizeof *on);
    tear_down();
}

Test(tune, packed_and_padded_batches) {
    static const enum spec_field_id on[] = {SPEC_VARLEN, SPEC_BIAS};
    static const char *const packed[] = {"packed", "same"}, *const padded[] = {"padded", "off"};
    expect_runs(on, packed, 2);
    expect_runs(on, padded, 1);
    tear_down();
}

/* ---- By the model ---- */

/* What the model says is made up here: the ranks are what is tested. */
static struct tune_candidate candidate_of(int member, double cycles, double percent, int waves_per_simd) {
    struct tune_candidate candidate = {
        .instance = &instances[member], .percent = percent, .waves_per_simd = waves_per_simd, .vgpr = 100 + member};
    candidate.estimates = calloc(1, sizeof *candidate.estimates);
    cr_assert_not_null(candidate.estimates);
    candidate.estimates[0].issue = (struct issue_bound){.known = true, .simd_cycles = cycles};
    return candidate;
}

static struct tune_outcome rank(const struct tune_candidate *candidates, size_t count, struct text *table) {
    struct tune_outcome outcome = {.shape = {1, 2, 1, 32, 16}};
    struct error error;
    cr_assert(spec_key(&specs[0], &outcome.key, &error), "%s", error.text);
    cr_assert(tune_model_rank(candidates, count, 0, &outcome, &error), "%s", error.text);
    cr_assert(tune_outcome_add(&outcome, "another", "expected a chip that has it"));
    tune_table(&outcome, table);
    return outcome;
}

#define MODELLED                                                                                                       \
    "operation=forward dtype=f16 head_dim=16 head_dim_v=16 mask=none v_layout=row align=16\n"                          \
    "shape 1,2,1,32,16, in thousands of cycles of one SIMD, modelled\n"                                                \
    "        figure   bound  waves  VGPR  instance\n"

/* Members have 32 rows, fewer than are asked for; they differ in waves, heads and what is said of them here. */
Test(tune, the_model_ranks_candidates) {
    struct text table = {0};
    instances[0].spec.value[SPEC_BLOCK_M] = 64;
    instances[1].spec.value[SPEC_BLOCK_M] = 64;
    struct tune_candidate candidates[] = {candidate_of(0, 5000, 70, 3), candidate_of(1, 4000, 80, 2),
                                          candidate_of(2, 3000, 90, 4)};
    struct tune_outcome outcome = rank(candidates, 3, &table);
    cr_expect_str_eq(table.bytes,
                     MODELLED
                     "           5.0   70.0%      3   100  fmha_forward_gfx1151_f16_d16_m32k32w1  <- best\n"
                     "           3.0   90.0%      4   102  fmha_forward_gfx1151_f16_d16_m32k32w1_gqa2  behind: 32 "
                     "query rows\n"
                     "           4.0   80.0%      2   101  fmha_forward_gfx1151_f16_d16_m32k32w2  behind: 2 waves "
                     "on a SIMD\n"
                     "not to be had: another: expected a chip that has it\n",
                     "%s", table.bytes);
    text_free(&table);

    struct error error;
    char path[64];
    snprintf(path, sizeof path, "%s/model.choices", folder);
    cr_assert(tune_model_save(&outcome, 1, "gfx1151", path, &error), "%s", error.text);
    char *kept;
    size_t length;
    cr_assert(file_read(path, &kept, &length, &error), "%s", error.text);
    static const char line[] = "fmha-choices 1\nchoice chip=gfx1151 driver=any operation=forward dtype=f16 head_dim=16 "
                               "head_dim_v=16 mask=none v_layout=row align=16 batch=1 heads_q=2 heads_k=1 seqlen_q=32 "
                               "seqlen_k=16 instance=fmha_forward_gfx1151_f16_d16_m32k32w1 figure=5 unit=bound runs=0 "
                               "time=";
    cr_expect_eq(strncmp(kept, line, sizeof line - 1), 0, "%s", kept);
    const char *rest = kept + sizeof line - 1;
    cr_expect_str_eq(rest + strspn(rest, "0123456789"), " version=issue bound of fmhagen report\n");
    free(kept);

    text_puts(&table, "");
    cr_assert(tune_json(&outcome, 1, "model", "about", "", &table, &error), "%s", error.text);
    cr_expect_not_null(strstr(table.bytes, "\"figure\":\t3,\n\t\t\t\t\t\"bound_percent\":\t90,\n"
                                           "\t\t\t\t\t\"waves_per_simd\":\t4,\n\t\t\t\t\t\"vgpr\":\t102,\n"
                                           "\t\t\t\t\t\"best\":\tfalse,\n\t\t\t\t\t\"behind\":\t\"32 query rows\"\n"),
                       "%s", table.bytes);
    text_free(&table);
    tune_outcome_free(&outcome);

    /* Alike in figure: more fused heads, then more waves, then the name. */
    for (int i = 0; i < 3; i++) {
        candidates[i].estimates[0].issue.simd_cycles = 1000;
        candidates[i].waves_per_simd = i == 1 ? 5 : 4;
        instances[i].spec.value[SPEC_BLOCK_M] = 64;
    }
    outcome = rank(candidates, 3, &table);
    cr_expect_str_eq(outcome.members[0].instance, "fmha_forward_gfx1151_f16_d16_m32k32w1_gqa2");
    cr_expect_str_eq(outcome.members[1].instance, "fmha_forward_gfx1151_f16_d16_m32k32w2");
    tune_outcome_free(&outcome);
    text_free(&table);

    /* One that cannot be had says why, and without any that is an error. */
    free(candidates[0].estimates);
    candidates[0].estimates = NULL;
    snprintf(candidates[0].reason, sizeof candidates[0].reason, "it spills");
    outcome = rank(candidates, 2, &table);
    cr_expect_not_null(strstr(table.bytes, "\nnot to be had: fmha_forward_gfx1151_f16_d16_m32k32w1: it spills\n"), "%s",
                       table.bytes);
    tune_outcome_free(&outcome);
    text_free(&table);
    outcome = (struct tune_outcome){0};
    cr_assert(spec_key(&specs[0], &outcome.key, &error));
    cr_expect_not(tune_model_rank(candidates, 1, 0, &outcome, &error));
    cr_expect_str_eq(error.text, "fmha_forward_gfx1151_f16_d16_m32k32w1: it spills");
    tune_outcome_free(&outcome);
    for (int i = 0; i < 3; i++)
        tune_candidate_free(&candidates[i]);
    tear_down();
}

/* Choices at work: which instance a problem takes by them, why not, and how tuning makes them. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dispatch_support.h"

TestSuite(tune, .init = dispatch_set_up);

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#define CHOICE(driver, align, lengths, name, figure, unit)                                                             \
    "choice chip=gfx1151 driver=" driver " operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none "         \
    "v_layout=row align=" align " " lengths " instance=" name " figure=" figure " unit=" unit                          \
    " runs=1 time=5 version=v\n"
#define AT(b, hq, hk, sq, sk) "batch=" #b " heads_q=" #hq " heads_k=" #hk " seqlen_q=" #sq " seqlen_k=" #sk

static const struct test_instance three[] = {
    {.name = "k_first", .rank = 0, .source = "30 first"},
    {.name = "k_second", .rank = 1, .source = "20 second"},
    {.name = "k_third", .rank = 2, .source = "40 third"},
};

static void expect_launched(fmha_device *device, const fmha_forward_problem *problem, const char *symbol) {
    cr_assert_eq(fmha_forward(device, problem), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(fake->launched_symbol, symbol);
}

static const char *write_file(const char *name, const char *lines) {
    static char path[600];
    char text[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(text, sizeof text, "fmha-choices 1\n%s", lines);
    support_write(path, text, 0644);
    return path;
}

/* ---- Taking ---------------------------------------------------------------------------------------------- */

Test(tune, nearest_choice_is_taken_whatever_the_order_of_lines) {
    static const char *const lines[] = {
        CHOICE("any", "16", AT(1, 2, 1, 64, 64), "k_third", "1", "bound"),
        CHOICE("emu", "16", AT(1, 2, 1, 1024, 1024), "k_second", "9", "cycles"),
        CHOICE("emu", "16", AT(1, 64, 1, 1024, 1024), "k_third", "9", "cycles"),
    };
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
    dispatch_library("lib", three, COUNT(three));
    fmha_forward_problem problem = dispatch_problem();
    for (size_t i = 0; i < COUNT(orders); i++) {
        char text[4096], list[1300], one[600];
        snprintf(text, sizeof text, "%s", lines[orders[i][0]]);
        snprintf(one, sizeof one, "%s", write_file("one", text));
        snprintf(text, sizeof text, "%s%s", lines[orders[i][1]], lines[orders[i][2]]);
        snprintf(list, sizeof list, "%s:%s", one, write_file("two", text));
        setenv("FMHA_CHOICES", list, 1);
        fmha_device *device = dispatch_open();
        problem.seqlen_q = 100;
        problem.seqlen_k = 70;
        expect_launched(device, &problem, "k_third");
        problem.seqlen_q = problem.seqlen_k = 700;
        expect_launched(device, &problem, "k_second");
        problem.heads_q = 40;
        expect_launched(device, &problem, "k_third");
        problem.heads_q = 2;
        problem.mask = FMHA_MASK_NONE;
        fmha_device_close(device);
    }
    dispatch_tear_down();
}

/* At one distance the first by name. */
Test(tune, equal_distances_are_decided_by_name) {
    dispatch_library("lib", three, COUNT(three));
    setenv("FMHA_CHOICES",
           write_file("c", CHOICE("any", "16", AT(1, 2, 1, 128, 64), "k_third", "1", "bound")
                               CHOICE("any", "16", AT(1, 2, 1, 32, 64), "k_second", "2", "bound")),
           1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    problem.seqlen_q = problem.seqlen_k = 64;
    expect_launched(device, &problem, "k_second");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* A choice that does not serve, and one whose instance does not load, leave the usual order. */
Test(tune, usual_order_holds_where_the_chosen_one_does_not_serve) {
    static const struct test_instance instances[] = {
        {.name = "k_refuses", .rank = 1, .constraint = "max 50 seqlen_q", .source = "1"},
        {.name = "k_broken", .rank = 2, .source = "broken"},
        {.name = "k_usual", .rank = 0, .source = "2"},
    };
    fake->refused_image = "broken";
    dispatch_library("lib", instances, COUNT(instances));
    setenv("FMHA_CHOICES",
           write_file("c", CHOICE("any", "16", AT(1, 2, 1, 64, 64), "k_refuses", "1", "bound")
                               CHOICE("any", "16", AT(1, 2, 1, 4096, 64), "k_broken", "2", "bound")),
           1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "k_usual");
    problem.seqlen_q = 50;
    expect_launched(device, &problem, "k_refuses");
    problem.seqlen_q = 5000;
    expect_launched(device, &problem, "k_usual");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* Beside an index, and in the user's own file, which what is measured there beats. */
Test(tune, files_are_found_by_themselves) {
    char path[700];
    dispatch_library("lib", three, COUNT(three));
    snprintf(path, sizeof path, "lib/gfx1151/fmha.choices");
    write_file(path, CHOICE("any", "16", AT(1, 2, 1, 100, 70), "k_third", "1", "bound"));
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    expect_launched(device, &problem, "k_third");
    snprintf(path, sizeof path, "%s/cache", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/cache/choices", folder);
    mkdir(path, 0700);
    write_file("cache/choices/gfx1151", CHOICE("emu", "16", AT(1, 2, 1, 100, 70), "k_second", "1", "cycles"));
    expect_launched(device, &problem, "k_third");
    fmha_device_forget(device);
    expect_launched(device, &problem, "k_second");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- Not taking ------------------------------------------------------------------------------------------ */

Test(tune, choices_that_do_not_hold_are_told_of) {
    char path[600], log[600];
    fmha_status status;
    static const struct test_instance instances[] = {
        {.name = "k_first", .rank = 0, .source = "1"},
        {.name = "k_other_mask", .mask = "causal-top-left", .source = "2"},
    };
    dispatch_library("lib", instances, COUNT(instances));
    snprintf(log, sizeof log, "%s/log", folder);
    setenv("FMHA_LOG", log, 1);
    snprintf(path, sizeof path, "%s",
             write_file("c", CHOICE("any", "16", AT(1, 2, 1, 1, 1), "k_gone", "1", "bound")
                                 CHOICE("hip", "16", AT(1, 2, 1, 2, 1), "k_first", "12.5", "us")
                                     CHOICE("isa", "16", AT(1, 2, 1, 3, 1), "k_first", "7", "cycles")
                                         CHOICE("any", "16", AT(1, 2, 1, 4, 1), "k_other_mask", "3", "bound")));
    char list[2000];
    snprintf(list, sizeof list, "%s:%s/absent", path, folder);
    setenv("FMHA_CHOICES", list, 1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    cr_assert_str_eq(
        dispatch_explain(device, &problem, &status),
        "$/absent/ $/absent: expected a file of choices, got none; make it with `fmhagen tune` or take it out of "
        "FMHA_CHOICES\n"
        "$/c/k_gone its choice, modelled, bound 1.000 at 1,2,1,1,1 ($/c), does not hold: no library has the instance\n"
        "$/c/k_first its choice, measured 12.500 us at 1,2,1,2,1 ($/c), does not hold: it was measured by the driver "
        "'hip', this device's is 'emu'\n"
        "$/c/k_first its choice, counted 7.000 cycles at 1,2,1,3,1 ($/c), does not hold: it was counted by the driver "
        "'isa', this device's is 'emu'\n"
        "$/c/k_other_mask its choice, modelled, bound 3.000 at 1,2,1,4,1 ($/c), does not hold: serves mask "
        "causal-top-left, not none\n"
        "$/lib/k_first * taken: by its text, from the cache or compiled on first use\n"
        "$/lib/k_other_mask serves mask causal-top-left, not none\n");
    expect_launched(device, &problem, "k_first");
    char *text = dispatch_read(log);
    cr_assert_not_null(strstr(text, "/c: 4 for gfx1151 of 4"), "%s", text);
    cr_assert_not_null(strstr(text, "choice of k_gone, modelled, bound 1.000 at 1,2,1,1,1 ("), "%s", text);
    cr_assert_not_null(strstr(text, "does not hold: no library has the instance"), "%s", text);
    free(text);
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(tune, explain_names_the_choice) {
    fmha_status status;
    dispatch_library("lib", three, COUNT(three));
    setenv("FMHA_CHOICES", write_file("c", CHOICE("emu", "16", AT(1, 2, 1, 64, 64), "k_third", "9", "cycles")), 1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    cr_assert_str_eq(
        dispatch_explain(device, &problem, &status),
        "$/lib/k_first would serve; k_third comes before it\n"
        "$/lib/k_second would serve; k_third comes before it\n"
        "$/lib/k_third * taken: by its text, from the cache or compiled on first use; chosen: counted 9.000 "
        "cycles at 1,2,1,64,64 ($/c)\n");
    cr_assert_eq(status, FMHA_OK);
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(tune, damaged_file_is_passed_over) {
    fmha_status status;
    dispatch_library("lib", three, COUNT(three));
    setenv("FMHA_CHOICES", write_file("c", "choice chip=gfx1151\n"), 1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    cr_assert_eq(strncmp(dispatch_explain(device, &problem, &status),
                         "$/c/ $/c:2: expected 'driver=', got the end of the line; correct or delete the line, or make "
                         "the file anew with `fmhagen tune`\n",
                         60),
                 0);
    expect_launched(device, &problem, "k_first");
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(tune, load_takes_at_once_and_outlives_forgetting) {
    dispatch_library("lib", three, COUNT(three));
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "k_first");
    const char *path = write_file("c", CHOICE("emu", "16", AT(1, 2, 1, 100, 70), "k_third", "1", "cycles"));
    cr_assert_eq(fmha_device_load_choices(device, path), FMHA_OK, "%s", fmha_last_error());
    expect_launched(device, &problem, "k_third");
    unlink(path);
    fmha_device_forget(device);
    expect_launched(device, &problem, "k_third");
    dispatch_expect(fmha_device_load_choices(device, path), FMHA_ERROR_IO,
                    "$/c: expected a file of choices, got none; make it with `fmhagen tune`");
    write_file("c", "choices\n");
    dispatch_expect(fmha_device_load_choices(device, path), FMHA_ERROR_IO,
                    "$/c:2: expected 'chip=', got 's'; correct or delete the line, or make the file anew with `fmhagen "
                    "tune`");
    dispatch_expect(fmha_device_load_choices(device, NULL), FMHA_ERROR_ARGUMENT,
                    "fmha_device_load_choices: expected a device and a path, got NULL; pass a valid pointer");
    dispatch_expect(fmha_device_save_choices(NULL, path), FMHA_ERROR_ARGUMENT,
                    "fmha_device_save_choices: expected a device, got NULL; pass a valid pointer");
    dispatch_expect(fmha_device_load_choices(device, ""), FMHA_ERROR_ARGUMENT,
                    "fmha_device_load_choices: expected a file, got an empty name; name that of `fmhagen tune`");
    dispatch_expect(fmha_device_save_choices(device, ""), FMHA_ERROR_ARGUMENT,
                    "fmha_device_save_choices: expected a file, got an empty name; NULL is the user's own");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- Tuning ---------------------------------------------------------------------------------------------- */

static char results[4096];

static void note(void *context, const fmha_tune_result *result) {
    size_t length = strlen(results);
    (void)context;
    snprintf(results + length, sizeof results - length, "%s %g %g %g %s x%d%s%s\n", result->instance, result->median,
             result->least, result->most, result->unit, result->runs, result->best ? " *" : "", result->note);
}

static char *tuned_line(const char *path) {
    char *text = dispatch_read(path), *time = strstr(text, "time=");
    cr_assert_not_null(time, "%s", text);
    memset(time + 5, '0', strspn(time + 5, "0123456789"));
    return text;
}

Test(tune, median_of_rounds_decides_and_is_taken_at_once) {
    char path[600];
    fake->measure_unit = "us";
    dispatch_library("lib", three, COUNT(three));
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "k_first");
    const fmha_tune_options options = {.struct_bytes = sizeof options, .rounds = 4, .warmup_rounds = 2, .seed = 1};
    cr_assert_eq(fmha_forward_tune(device, &problem, &options, note, NULL), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(results, "k_second 20.875 20.5 21.25 us x4 *\n" /* two warm-up runs do not count */
                              "k_first 30.875 30.5 31.25 us x4\n"
                              "k_third 40.875 40.5 41.25 us x4\n");
    expect_launched(device, &problem, "k_second");
    problem.seqlen_q = 3000; /* the only choice is the nearest for everything of its kind */
    expect_launched(device, &problem, "k_second");
    snprintf(path, sizeof path, "%s/saved", folder);
    cr_assert_eq(fmha_device_save_choices(device, path), FMHA_OK, "%s", fmha_last_error());
    char *text = tuned_line(path);
    cr_assert_str_eq(
        text, "fmha-choices 1\n"
              "choice chip=gfx1151 driver=emu operation=forward dtype=f16 head_dim=128 head_dim_v=128 "
              "mask=none v_layout=row align=16 batch=1 heads_q=2 heads_k=1 seqlen_q=100 seqlen_k=70 "
              "instance=k_second figure=20.875 unit=us runs=4 time=0000000000 version=emu, libfmha " FMHA_VERSION "\n");
    free(text);
    fmha_device_close(device);
    device = dispatch_open();
    problem.seqlen_q = 100;
    expect_launched(device, &problem, "k_first");
    cr_assert_eq(fmha_device_load_choices(device, path), FMHA_OK, "%s", fmha_last_error());
    expect_launched(device, &problem, "k_second");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* Each round runs each candidate once, in an order that the seed draws anew. */
Test(tune, rounds_are_interleaved_and_shuffled) {
    fake->measure_unit = "us";
    dispatch_library("lib", three, COUNT(three));
    dispatch_library("lib2", three, COUNT(three)); /* the same again: each is run once a round all the same */
    char orders[3][4096];
    static const uint64_t seeds[] = {7, 7, 8};
    for (int i = 0; i < 3; i++) {
        fmha_device *device = dispatch_open();
        fmha_forward_problem problem = dispatch_problem();
        const fmha_tune_options options = {
            .struct_bytes = sizeof options, .rounds = 8, .warmup_rounds = -1, .seed = seeds[i]};
        fake->measured[0] = '\0';
        cr_assert_eq(fmha_forward_tune(device, &problem, &options, NULL, NULL), FMHA_OK, "%s", fmha_last_error());
        memcpy(orders[i], fake->measured, sizeof orders[i]);
        fmha_device_close(device);
    }
    cr_assert_str_eq(orders[0], orders[1]);
    cr_assert_str_neq(orders[0], orders[2]);
    char *rest = orders[0];
    bool differs = false;
    for (int round = 0; round < 8; round++) {
        char seen[4] = "";
        for (int i = 0; i < 3; i++) {
            char *word = strsep(&rest, " ");
            word = word[0] == '\0' ? strsep(&rest, " ") : word;
            seen[i] = word[2];
        }
        cr_assert(strchr(seen, 'f') && strchr(seen, 's') && strchr(seen, 't'), "round %d: %s", round, seen);
        differs = differs || strcmp(seen, "fst") != 0;
    }
    cr_assert(differs);
    dispatch_tear_down();
}

/* A later result for the same problem takes the place of an earlier one, better or not. */
Test(tune, newer_result_is_taken) {
    char path[600];
    fake->measure_unit = "us";
    dispatch_library("lib", three, COUNT(three));
    setenv("FMHA_CHOICES", write_file("c", CHOICE("emu", "16", AT(1, 2, 1, 100, 70), "k_third", "0.001", "us")), 1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "k_third");
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(fmha_forward_tune(device, &problem, NULL, NULL, NULL), FMHA_OK, "%s", fmha_last_error());
        expect_launched(device, &problem, "k_second");
    }
    snprintf(path, sizeof path, "%s/cache/choices/gfx1151", folder);
    cr_assert_eq(fmha_device_save_choices(device, NULL), FMHA_OK, "%s", fmha_last_error());
    char *text = tuned_line(path);
    cr_assert_not_null(strstr(text, "figure=28.875 unit=us runs=20"), "%s", text); /* the second time */
    free(text);
    fmha_device_close(device);
    dispatch_tear_down();
}

/* Also than one that a clock which was ahead has dated. */
Test(tune, newer_result_is_taken_before_one_of_tomorrow) {
    char line[600];
    fake->measure_unit = "us";
    dispatch_library("lib", three, COUNT(three));
    snprintf(line, sizeof line, "%s", CHOICE("emu", "16", AT(1, 2, 1, 100, 70), "k_third", "0.001", "us"));
    char *time = strstr(line, "time=5");
    memmove(time + 16, time + 6, strlen(time + 6) + 1);
    memcpy(time + 6, "9999999999", 10);
    setenv("FMHA_CHOICES", write_file("c", line), 1);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    expect_launched(device, &problem, "k_third");
    cr_assert_eq(fmha_forward_tune(device, &problem, NULL, NULL, NULL), FMHA_OK, "%s", fmha_last_error());
    expect_launched(device, &problem, "k_second");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* Libraries that were not named have no part, however good what they have is. */
Test(tune, only_named_libraries_are_run) {
    char other[600], missing[600];
    static const struct test_instance best[] = {{.name = "k_best", .source = "1"}};
    fake->measure_unit = "us";
    dispatch_library("best", best, COUNT(best));
    dispatch_library("lib", three, COUNT(three));
    snprintf(other, sizeof other, "%s/lib", folder);
    snprintf(missing, sizeof missing, "%s/none", folder);
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    fmha_tune_options options = {.struct_bytes = sizeof options,
                                 .rounds = 1,
                                 .warmup_rounds = -1,
                                 .libraries = (const char *const[]){missing, other, NULL}};
    cr_assert_eq(fmha_forward_tune(device, &problem, &options, note, NULL), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(results, "k_second 20 20 20 us x1 *\nk_first 30 30 30 us x1\nk_third 40 40 40 us x1\n");
    options.libraries = (const char *const[]){missing, NULL};
    dispatch_expect(fmha_forward_tune(device, &problem, &options, note, NULL), FMHA_ERROR_NO_INSTANCE,
                    "fake gfx1151: expected an instance for the problem in the libraries that were named, got none "
                    "among 4 of others; name libraries that have one");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* A device that counts runs each candidate once, and its figures are of that kind. */
Test(tune, counting_device_needs_one_round) {
    char path[600];
    fake->measure_unit = "counted cycles";
    dispatch_library("lib", three, COUNT(three));
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    cr_assert_eq(fmha_forward_tune(device, &problem, NULL, note, NULL), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(results, "k_second 20 20 20 counted cycles x1 *\n"
                              "k_first 30 30 30 counted cycles x1\n"
                              "k_third 40 40 40 counted cycles x1\n");
    snprintf(path, sizeof path, "%s/saved", folder);
    cr_assert_eq(fmha_device_save_choices(device, path), FMHA_OK, "%s", fmha_last_error());
    char *text = tuned_line(path);
    cr_assert_not_null(strstr(text, " driver=emu "), "%s", text);
    cr_assert_not_null(strstr(text, " figure=20 unit=cycles runs=1 "), "%s", text);
    free(text);
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(tune, candidate_that_fails_is_told_of_and_not_taken) {
    static const struct test_instance instances[] = {
        {.name = "k_hangs", .rank = 0, .source = "hangs"},
        {.name = "k_slow", .rank = 1, .source = "900"},
    };
    fake->measure_unit = "us";
    dispatch_library("lib", instances, COUNT(instances));
    fmha_device *device = dispatch_open();
    fmha_forward_problem problem = dispatch_problem();
    const fmha_tune_options options = {.struct_bytes = sizeof options, .rounds = 3, .warmup_rounds = -1};
    cr_assert_eq(fmha_forward_tune(device, &problem, &options, note, NULL), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(results, "k_slow 900.25 900 900.5 us x3 *\nk_hangs 0 0 0 us x0fake: k_hangs hangs\n");
    const char *once = strstr(fake->measured, "k_hangs");
    cr_assert(once != NULL && strstr(once + 1, "k_hangs") == NULL, "expected it once, got%s", fake->measured);
    expect_launched(device, &problem, "k_slow");
    fmha_device_close(device);
    dispatch_tear_down();
}

Test(tune, what_cannot_be_tuned_is_refused) {
    static const struct test_instance instances[] = {{.name = "k_hangs", .source = "hangs"}};
    fmha_tune_options options = {.struct_bytes = sizeof options};
    dispatch_library("lib", instances, COUNT(instances));
    fmha_forward_problem problem = dispatch_problem();
    fmha_device *device = dispatch_open();
    dispatch_expect(fmha_forward_tune(device, &problem, NULL, NULL, NULL), FMHA_ERROR_UNSUPPORTED,
                    "fake gfx1151: the driver 'emu' cannot measure; tune on another device");
    fmha_device_close(device);
    fake->measure_unit = "us";
    device = dispatch_open();
    dispatch_expect(fmha_forward_tune(device, &problem, NULL, NULL, NULL), FMHA_ERROR_DRIVER,
                    "fmha_forward_tune: expected one of 1 instances to run, got none; k_hangs: fake: k_hangs hangs");
    options.rounds = 10001;
    dispatch_expect(fmha_forward_tune(device, &problem, &options, NULL, NULL), FMHA_ERROR_ARGUMENT,
                    "fmha_forward_tune: expected rounds of 0 to 10000 and warmup_rounds of -1 to 10000, got 10001 and "
                    "0; 0 leaves it to the library");
    options = (fmha_tune_options){0};
    char error[256];
    snprintf(error, sizeof error,
             "fmha_forward_tune: struct_bytes: expected sizeof(fmha_tune_options), at least %zu, got 0; begin with the "
             "type's _INIT",
             sizeof options);
    dispatch_expect(fmha_forward_tune(device, &problem, &options, NULL, NULL), FMHA_ERROR_ARGUMENT, error);
    problem.seqlen_q = 0;
    dispatch_expect(fmha_forward_tune(device, &problem, NULL, NULL, NULL), FMHA_ERROR_ARGUMENT,
                    "fmha_forward_tune: expected a problem with rows of O, got one without; nothing can be measured of "
                    "it");
    fmha_device_close(device);
    dispatch_tear_down();
}

/* ---- Several threads ------------------------------------------------------------------------------------- */

static atomic_bool stop;

static void *launch_on(void *device) {
    uintptr_t failures = 0;
    for (int64_t i = 0; !atomic_load(&stop); i++) {
        fmha_forward_problem problem = dispatch_problem();
        problem.seqlen_q = 1 + i % 4000;
        failures += fmha_forward(device, &problem) != FMHA_OK;
    }
    return (void *)failures;
}

/* Choices that come while others launch take effect without a lock of theirs. */
Test(tune, choices_come_while_others_launch) {
    enum { THREADS = 4, TIMES = 60 };
    pthread_t threads[THREADS];
    char path[600];
    fake->concurrent = fake->quiet = true;
    fake->measure_unit = "us";
    dispatch_library("lib", three, COUNT(three));
    snprintf(path, sizeof path, "%s",
             write_file("c", CHOICE("emu", "16", AT(1, 2, 1, 64, 64), "k_third", "1", "us")
                                 CHOICE("emu", "16", AT(1, 2, 1, 1024, 64), "k_second", "1", "us")));
    fmha_device *device = dispatch_open();
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, launch_on, device), 0);
    }
    const fmha_tune_options options = {.struct_bytes = sizeof options, .rounds = 1, .warmup_rounds = -1};
    for (int64_t i = 0; i < TIMES; i++) {
        fmha_forward_problem problem = dispatch_problem();
        problem.seqlen_k = 1 + i;
        cr_assert_eq(fmha_device_load_choices(device, path), FMHA_OK, "%s", fmha_last_error());
        cr_assert_eq(fmha_forward_tune(device, &problem, &options, NULL, NULL), FMHA_OK, "%s", fmha_last_error());
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        void *failures;
        pthread_join(threads[i], &failures);
        cr_assert_null(failures);
    }
    fmha_device_close(device);
    dispatch_tear_down();
}

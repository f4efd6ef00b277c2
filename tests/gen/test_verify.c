/* Verification end to end on the emulated device: with the plainest right kernel and with wrong ones made from it
 * (data-verify), each of which must be refused for what is wrong with it. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "standing.h"
#include "template.h"
#include "trial.h"
#include "verify.h"
#include "verify_count.h"
#include "verifying.h"

static const char naive[] = TEST_DATA "-verify";

Test(verify, a_right_kernel_passes_with_every_mask_type_and_layout) {
    EXPECT_PASS(naive, NULL, "hd=64");
    EXPECT_PASS(naive, NULL, "hd=64", "causal=bottom-right", "dtype=bf16");
    EXPECT_PASS(naive, NULL, "hd=40", "hd-v=24", "causal=top-left", "align=2");
    EXPECT_PASS(naive, NULL, "hd=8", "v-layout=transposed", "block-m=32", "waves=2", "dtype=bf16");
    EXPECT_PASS(naive, NULL, "hd=16", "hd-v=32", "v-layout=transposed", "align=2", "gqa=4");
}

Test(verify, shapes_scales_inputs_and_layouts_that_are_asked_for) {
    const struct verify_shape shapes[] = {{1, 2, 1, 33, 70}, {2, 10, 10, 1, 1}, {0, 1, 1, 5, 5}, {3, 4, 4, 10, 10}};
    struct verify_options options;
    for (int inputs = VERIFY_INPUTS_DEFAULT; inputs <= VERIFY_INPUTS_LARGE; inputs++)
        for (int layout = VERIFY_LAYOUT_DEFAULT; layout <= VERIFY_LAYOUT_BHSD; layout++) {
            verify_options_init(&options);
            options.shapes = shapes;
            options.shape_count = sizeof shapes / sizeof *shapes;
            options.inputs = (enum verify_inputs)inputs;
            options.layout = (enum verify_layout)layout;
            options.scale = inputs ? 0.05 * inputs * (layout ? -1 : 1) : NAN;
            options.seed = 7;
            EXPECT_PASS(naive, &options, "hd=32", "causal=bottom-right");
        }
}

static bool long_tests(void) {
    const char *value = getenv("FMHA_TEST_LONG");
    return value && strcmp(value, "1") == 0;
}

struct fault {
    const char *name;
    const char *mask;    /* option --causal */
    const char *finding; /* begins a line of the report */
};

static const struct fault faults[] = {
    {"set=fault=mask_long", "causal=bottom-right", "O[batch"},
    {"set=fault=mask_short", "causal=bottom-right", "O[batch"},
    {"set=fault=wrong_alignment", "causal=bottom-right", "O[batch"},
    {"set=fault=key_tail", "causal=none", "O[batch"},
    {"set=fault=writes_past_the_end", "causal=none", "o: written outside its elements, at "},
    {"set=fault=writes_into_padding", "causal=none",
     "o: written outside its elements, at batch 0, head 0, row 0, column 32 "},
    {"set=fault=writes_an_input", "causal=none", "q: an input was written to, at batch 0, head 0, row 0, column 0 "},
    {"set=fault=missing_column", "causal=none", "O[batch 0, head 0, query 0, column 31]: expected"},
    {"set=fault=swapped_columns", "causal=none", "O[batch"},
    {"set=fault=packed_rows", "causal=none", "O[batch"},
    {"set=fault=no_v_batch", "causal=none", "O[batch 1"},
    {"set=fault=head_modulo", "causal=none", "O[batch"},
    {"set=fault=own_scale", "causal=none", "O[batch"},
    {"set=fault=log2e_short", "causal=none", "LSE[batch"},
    {"set=fault=finite_maximum", "causal=none", "O[batch"},
    {"set=fault=exponent_rounds_otherwise", "causal=none", "O[batch 0, head 0, query 0, column 0]: expected"},
    {"set=fault=never_rescales", "causal=none", "O[batch"},
    {"set=fault=truncate_p", "causal=none", "mean error of O: expected at most"},
    {"set=fault=truncate_o", "causal=none", "mean error of O: expected at most"},
    {"set=fault=lse_base_two", "causal=none", "LSE[batch"},
    {"set=fault=lse_without_maximum", "causal=none", "LSE[batch"},
    {"set=fault=empty_row_is_nan", "causal=bottom-right",
     "O[batch 0, head 0, query 0, column 0]: expected 0 within 0, got"},
    {"set=fault=nan_leaks", "causal=bottom-right", "O[batch"},
};

Test(verify, every_wrong_kernel_is_refused_for_what_is_wrong) {
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++)
        for (size_t bf16 = 0; bf16 < 2; bf16++) {
            if (!long_tests() && bf16 != index % 2)
                continue;
            const char *const settings[] = {"hd=32", faults[index].mask, faults[index].name,
                                            bf16 ? "dtype=bf16" : "dtype=f16", NULL};
            struct verify_report report;
            struct error error;
            struct text table = {0};
            cr_assert(verify(naive, settings, NULL, &report, &error), "%s: %s", faults[index].name, error.text);
            verify_report_table(&report, &table);
            cr_assert(!report.passed, "%s passes:\n%s", faults[index].name, table.bytes);
            cr_assert(strstr(table.bytes, "FAILED"), "%s", table.bytes);
            cr_assert(findings_that_begin(&report, faults[index].finding), "%s: expected a line '%s', got\n%s",
                      faults[index].name, faults[index].finding, table.bytes);
            text_free(&table);
            verify_report_free(&report);
        }
}

/* Identities are looked at beside the reference; a kernel whose LSE has the wrong base breaks merging and shifting. */
Test(verify, identities_are_checked_without_the_reference) {
    const char *const settings[] = {"hd=32", "causal=none", "set=fault=lse_base_two", NULL};
    struct verify_report report;
    struct error error;
    cr_assert(verify(naive, settings, NULL, &report, &error), "%s", error.text);
    cr_assert(findings_that_begin(&report, "identity 'keys split and merged by LSE', O element"));
    cr_assert(findings_that_begin(&report, "identity 'a constant added to all scores', LSE element"));
    cr_assert(!findings_that_begin(&report, "identity 'keys permuted'"));
    verify_report_free(&report);
    /* A key that is left out shows when keys are permuted, unless neither order leaves out one that weighs anything:
     * which keys do is the seed's choice. */
    const char *const tail[] = {"hd=32", "causal=none", "set=fault=key_tail", NULL};
    int seen = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct verify_options options;
        verify_options_init(&options);
        options.seed = seed;
        cr_assert(verify(naive, tail, &options, &report, &error), "%s", error.text);
        cr_assert(!report.passed);
        seen += findings_that_begin(&report, "identity 'keys permuted', O element") != 0;
        verify_report_free(&report);
    }
    cr_assert(seen > 0);
}

/* Runs with the waves in other orders must agree to the bit. */
Test(verify, schedules_must_agree) {
    struct verify_options options;
    struct verify_report report;
    struct error error;
    verify_options_init(&options);
    options.shapes = &(struct verify_shape){1, 1, 1, 40, 8};
    options.shape_count = 1;
    options.schedules = 3;
    EXPECT_PASS(naive, &options, "hd=8");
    options.inputs = VERIFY_INPUTS_IMPULSE;
    const char *const settings[] = {"hd=8", "set=fault=differs_between_runs", NULL};
    cr_assert(verify(naive, settings, &options, &report, &error), "%s", error.text);
    cr_assert(report.cases[0].finding_count == 1);
    cr_assert_str_eq(
        report.cases[0].findings[0],
        "schedule 2: 1 element of O differs from the first run's; O[batch 0, head 0, query 0, column 0] was "
        "-945, is 1000: a race; look for a missing barrier");
    verify_report_free(&report);
}

static double counted(const struct verify_case *one, const char *name, const char *tensor) {
    return verify_counter_value(one, name, tensor);
}

/* The plain kernel reads each query's row for each key that it sees, in elements of two bytes; three tiles of 64
 * queries need two tiles of 32 keys each, but the first two of the first one's four waves one. */
Test(verify, what_is_counted) {
    struct verify_options options;
    struct verify_report report;
    struct error error;
    struct text table = {0}, json = {0};
    verify_options_init(&options);
    options.shapes = &(struct verify_shape){1, 2, 1, 130, 40};
    options.shape_count = 1;
    options.inputs = VERIFY_INPUTS_RANDOM;
    options.count = true;
    const char *const settings[] = {"hd=8", "causal=top-left", NULL};
    cr_assert(verify(naive, settings, &options, &report, &error), "%s", error.text);
    const struct verify_case *one = &report.cases[0];
    double seen = 2 * (40 * 41 / 2 + 90 * 40); /* of both heads: pairs of query and key */
    cr_assert(counted(one, "matrix_instructions", "") == 0);
    cr_assert(counted(one, "workgroups", "") == 2 * 5);
    cr_assert(counted(one, "bytes_read", "k") == seen * 8 * 2);
    cr_assert(counted(one, "unique_bytes_read", "k") == 40 * 8 * 2);
    cr_assert(counted(one, "bytes_written", "o") == 2 * 130 * 8 * 2);
    cr_assert(counted(one, "bytes_read", "o") == 0);
    cr_assert(counted(one, "key_tiles_needed", "") == 2 * (1.5 + 2 + 2));
    verify_report_table(&report, &table);
    cr_assert(strstr(table.bytes, "key tiles"), "%s", table.bytes);
    cr_assert(verify_report_json(&report, &json, &error), "%s", error.text);
    cJSON *object = cJSON_Parse(json.bytes);
    cJSON *counters = cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(object, "cases"), 0), "counters");
    cr_assert(cJSON_GetObjectItem(counters, "workgroups")->valuedouble == 10);
    cJSON *k = cJSON_GetObjectItem(cJSON_GetObjectItem(counters, "tensors"), "k");
    cr_assert(cJSON_GetObjectItem(k, "unique_bytes_read")->valuedouble == 640);
    cJSON_Delete(object);
    text_free(&table);
    text_free(&json);
    verify_report_free(&report);
}

Test(verify, a_shape_that_the_instance_does_not_serve_is_an_error) {
    const char *const settings[] = {"hd=32", NULL};
    struct verify_options options;
    verify_options_init(&options);
    options.shape_count = 1;
    options.shapes = &(struct verify_shape){1, 3, 2, 64, 64};
    expect_error(
        naive, settings, &options, ERROR_USAGE,
        "fmha_forward_gfx1151_f16_d32_m64k32w4: shape 1,3,2,64,64: expected heads_q % heads_k equal to 0, got 1; "
        "choose heads_q as a multiple of heads_k");
    options.shapes = &(struct verify_shape){1, 2, 2, 64, 4097};
    expect_error(
        naive, settings, &options, ERROR_USAGE,
        "fmha_forward_gfx1151_f16_d32_m64k32w4: shape 1,2,2,64,4097: expected seqlen_k at most 4096, got 4097; "
        "choose seqlen_k at most 4096");
    options.shapes = &(struct verify_shape){1 << 30, 1 << 30, 1 << 30, 1, 1};
    expect_error(
        naive, settings, &options, ERROR_USAGE,
        "shape 1073741824,1073741824,1073741824,1,1: expected tensors that fit into memory, got more bytes than "
        "63 bits count; use a smaller shape");
}

Test(verify, a_scale_that_float32_does_not_hold_is_an_error) {
    const char *const settings[] = {"hd=32", NULL};
    struct verify_options options;
    verify_options_init(&options);
    options.scale = 1e39;
    expect_error(naive, settings, &options, ERROR_USAGE,
                 "scale 1e+39: expected 0, or a float32 from 1.18e-38 to 2e+38 of either sign: kernels take a float32 "
                 "and multiply it by log2 e; choose a scale in between");
    options.scale = -1e-60;
    expect_error(naive, settings, &options, ERROR_USAGE,
                 "scale -1e-60: expected 0, or a float32 from 1.18e-38 to 2e+38 of either sign: kernels take a float32 "
                 "and multiply it by log2 e; choose a scale in between");
    options.scale = 1e32;
    options.inputs = VERIFY_INPUTS_LARGE;
    expect_error(naive, settings, &options, ERROR_USAGE,
                 "scale 1e+32: expected scores that float32 holds, up to 3.4e+38 once multiplied by log2 e, got larger "
                 "ones from these inputs; choose a smaller scale or other inputs");
    options.scale = 1e30;
    EXPECT_PASS(naive, &options, "hd=32");
    options.scale = 1e-30;
    options.inputs = VERIFY_INPUTS_UNBALANCED;
    options.shapes = &(struct verify_shape){1, 2, 1, 33, 47};
    options.shape_count = 1;
    EXPECT_PASS(naive, &options, "hd=32");
}

static void note(void *context, size_t index, size_t count, const char *what) {
    struct text *notes = context;
    if (strstr(what, "kernel, ") && !strstr(what, " rows")) /* a second has passed: on a slow machine only */
        return;
    text_printf(notes, "%zu/%zu %s\n", index + 1, count, what);
}

Test(verify, tells_how_far_it_is) {
    struct verify_options options;
    struct text notes = {0};
    verify_options_init(&options);
    options.shapes = &(struct verify_shape){1, 1, 1, 3, 5};
    options.shape_count = 1;
    options.progress = note;
    options.progress_context = &notes;
    EXPECT_PASS(naive, &options, "hd=8");
    cr_assert_str_eq(notes.bytes, "1/2 as asked for: kernel, 3 rows\n"
                                  "1/2 as asked for: reference, 33 %\n"
                                  "1/2 as asked for: reference, 66 %\n"
                                  "1/2 as asked for: reference, 100 %\n"
                                  "2/2 as asked for: kernel, 3 rows\n"
                                  "2/2 as asked for: reference, 33 %\n"
                                  "2/2 as asked for: reference, 66 %\n"
                                  "2/2 as asked for: reference, 100 %\n");
    text_free(&notes);
}

Test(verify, an_argument_that_no_problem_has_is_an_error) {
    const char *const settings[] = {"hd=32", "set=fault=unknown_argument", NULL};
    struct verify_report report;
    struct error error;
    cr_assert(!verify(naive, settings, NULL, &report, &error));
    cr_assert(error.kind == ERROR_RUN);
    const char *text = strstr(error.text, ": argument ");
    cr_assert(text, "%s", error.text);
    cr_assert_str_eq(
        text,
        ": argument 'window_width' (value of i32): expected a buffer (q, k, v, o, lse, bias, ...), an f32 (scale, "
        "softcap, ...) or an integer (batch, heads_q, seqlen_k, stride_q_row, ...) that a problem has: no problem "
        "offers this one; rename it in the template");
}

Test(verify, an_unknown_device_is_an_error) {
    const char *const settings[] = {"hd=32", NULL};
    struct verify_options options;
    struct verify_report report;
    struct error error;
    verify_options_init(&options);
    options.device = "abacus";
    cr_assert(!verify(naive, settings, &options, &report, &error));
    cr_assert(error.kind == ERROR_RUN);
    cr_assert_str_eq(error.text,
                     "device 'abacus': expected emu:ARCH, isa:ARCH, hip[:N] or cuda[:N], got the driver 'abacus'");
}

Test(verify, the_same_seed_makes_the_same_report) {
    const char *const settings[] = {"hd=32", "causal=bottom-right", "set=fault=truncate_p", NULL};
    struct text json[2] = {{0}, {0}};
    for (int run = 0; run < 2; run++) {
        struct verify_report report;
        struct error error;
        cr_assert(verify(naive, settings, NULL, &report, &error), "%s", error.text);
        cr_assert(verify_report_json(&report, &json[run], &error), "%s", error.text);
        verify_report_free(&report);
    }
    cr_assert_str_eq(json[0].bytes, json[1].bytes);
    text_free(&json[0]);
    text_free(&json[1]);
}

Test(verify, the_report_as_json) {
    const char *const settings[] = {"hd=32", "set=fault=missing_column", NULL};
    struct verify_options options;
    struct verify_report report;
    struct error error;
    struct text text = {0};
    verify_options_init(&options);
    options.shape_count = 1;
    options.shapes = &(struct verify_shape){1, 2, 1, 3, 4};
    options.inputs = VERIFY_INPUTS_IMPULSE;
    options.seed = UINT64_MAX;
    cr_assert(verify(naive, settings, &options, &report, &error), "%s", error.text);
    cr_assert(verify_report_json(&report, &text, &error), "%s", error.text);
    cJSON *object = cJSON_Parse(text.bytes);
    cr_assert(object);
    cr_assert(strncmp(cJSON_GetObjectItem(object, "instance")->valuestring, "fmha_forward_gfx1151_f16_d32_", 29) == 0);
    cr_assert_str_eq(cJSON_GetObjectItem(object, "device")->valuestring, "emu:gfx1151");
    cr_assert(cJSON_IsFalse(cJSON_GetObjectItem(object, "passed")));
    cr_assert(cJSON_IsNull(cJSON_GetObjectItem(object, "mean_error")));
    cJSON *cases = cJSON_GetObjectItem(object, "cases"), *one = cJSON_GetArrayItem(cases, 0);
    cr_assert(cJSON_GetArraySize(cases) == 1);
    int shape[] = {1, 2, 1, 3, 4};
    for (int index = 0; index < 5; index++)
        cr_assert(cJSON_GetArrayItem(cJSON_GetObjectItem(one, "shape"), index)->valueint == shape[index]);
    cr_assert_str_eq(cJSON_GetObjectItem(one, "inputs")->valuestring, "impulse");
    cr_assert_str_eq(cJSON_GetObjectItem(one, "layout")->valuestring, "bshd");
    cr_assert(cJSON_IsNull(cJSON_GetObjectItem(one, "max_error_over_bound")),
              "an unwritten element has no finite error");
    cr_assert(cJSON_GetObjectItem(one, "lse_error_over_bound")->valuedouble <= 1);
    cr_assert(strstr(text.bytes, "18446744073709551615"));
    cJSON *findings = cJSON_GetObjectItem(one, "findings");
    cr_assert(cJSON_GetArraySize(findings) == 5); /* the device's, three elements and "more" */
    cr_assert_str_eq(cJSON_GetArrayItem(findings, 4)->valuestring, "... and 3 more elements of O were not written");
    cJSON_Delete(object);
    text_free(&text);
    verify_report_free(&report);
}

Test(verify, the_report_as_a_table) {
    char *lines[] = {"O[batch 0, head 0, query 0, column 7]: expected 1, was not written"};
    struct verify_case cases[] = {
        {.shape = {2, 4, 2, 65, 33},
         .what = "one past each tile edge",
         .inputs = "unbalanced",
         .layout = "bhsd, padded",
         .max_error_over_bound = 0.5584,
         .lse_error_over_bound = 0.009,
         .mean_error = -0.0004,
         .mean_error_over_bound = 0.098},
        {.shape = {1, 1, 1, 1, 1},
         .what = "without an LSE",
         .inputs = "random",
         .layout = "bshd",
         .max_error_over_bound = INFINITY,
         .lse_error_over_bound = NAN,
         .mean_error = NAN,
         .mean_error_over_bound = NAN,
         .findings = lines,
         .finding_count = 1},
    };
    struct verify_report report = {.instance = "fmha_forward_x",
                                   .device = "emu:gfx1151",
                                   .passed = false,
                                   .mean_error = -0.4,
                                   .mean_error_over_bound = 2.5,
                                   .cases = cases,
                                   .case_count = 2};
    struct text text = {0};
    verify_report_table(&report, &text);
    cr_assert_str_eq(
        text.bytes,
        "fmha_forward_x on emu:gfx1151\n\n"
        "case                              B,HQ,HK,SQ,SK     inputs           layout                O/bound  LSE/bnd   "
        "  mean "
        " mean/bd  findings\n"
        "one past each tile edge           2,4,2,65,33       unbalanced       bhsd, padded            0.558    0.009   "
        " 0.000 "
        "   0.098  0\n"
        "without an LSE                    1,1,1,1,1         random           bshd                      inf        -   "
        "     - "
        "       -  1\n"
        "    O[batch 0, head 0, query 0, column 7]: expected 1, was not written\n"
        "\nmean error of O in all random cases: -0.400 half units in the last place, 2.500 times its bound\n"
        "\nFAILED: 1 of 2 cases\n");
    text_free(&text);
    report.case_count = 1;
    verify_report_table(&report, &text);
    cr_assert(strstr(text.bytes,
                     "\nFAILED: each element is within its bound, but O is off on average: P or O may be truncated "
                     "where it must be rounded to nearest even\n"));
    text_free(&text);
    report.passed = true;
    verify_report_table(&report, &text);
    cr_assert(strstr(text.bytes, "\npassed: 1 case, each element within its bound\n"));
    text_free(&text);
}

Test(verify, words_of_the_options) {
    enum verify_inputs inputs;
    enum verify_layout layout;
    cr_assert(verify_inputs_parse("large", &inputs) && inputs == VERIFY_INPUTS_LARGE);
    cr_assert(verify_inputs_parse("random", &inputs) && inputs == VERIFY_INPUTS_RANDOM);
    cr_assert(!verify_inputs_parse("huge", &inputs) && !verify_inputs_parse("", &inputs));
    cr_assert(verify_layout_parse("bhsd", &layout) && layout == VERIFY_LAYOUT_BHSD);
    cr_assert(!verify_layout_parse("sbhd", &layout));
}

Test(verify, nan_and_infinities_must_be_met_exactly) {
    cr_assert(trial_error_over_bound(NAN, NAN, NAN) == 0);
    cr_assert(trial_error_over_bound(NAN, 1, NAN) == INFINITY);
    cr_assert(trial_error_over_bound(1, NAN, 100) == INFINITY);
    cr_assert(trial_error_over_bound(1, INFINITY, 100) == INFINITY);
    cr_assert(trial_error_over_bound(-INFINITY, -INFINITY, 0) == 0);
    cr_assert(trial_error_over_bound(-INFINITY, -1e30, 1e38) == INFINITY);
    cr_assert(trial_error_over_bound(INFINITY, INFINITY, NAN) == 0);
    cr_assert(trial_error_over_bound(INFINITY, NAN, NAN) == 0, "a weight that vanished, times an infinity");
    cr_assert(trial_error_over_bound(INFINITY, NAN, 0) == INFINITY);
    cr_assert(trial_error_over_bound(INFINITY, -INFINITY, NAN) == INFINITY);
    cr_assert(trial_error_over_bound(INFINITY, 1, NAN) == INFINITY);
    cr_assert(trial_error_over_bound(0, -0.0, 0) == 0);
    cr_assert(trial_error_over_bound(0, 1e-30, 0) == INFINITY);
    cr_assert(trial_error_over_bound(1, 1.5, 0.25) == 2);
}

/* A stride of one tensor that is used for another's must show: padded cases have no two alike along an axis. */
Test(verify, tensors_of_a_padded_case_have_strides_of_their_own) {
    struct error error;
    struct template_engine *engine = template_engine_new(naive, &error);
    struct spec spec;
    struct instance instance;
    struct standing_case cases[STANDING_MAX];
    cr_assert(engine, "%s", error.text);
    make_spec(engine, (const char *const[]){"hd=64", "causal=bottom-right", NULL}, &spec);
    cr_assert(instance_emit(engine, &spec, &instance, &error), "%s", error.text);
    int count = standing_cases(&instance, REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, cases), told_apart = 0, far = 0;
    cr_assert(count < STANDING_MAX);
    for (int index = 0; index < count; index++) {
        const struct standing_case *one = &cases[index];
        far += one->far_apart;
        if (!one->q.offset)
            continue;
        const struct tensor_layout *const tensors[] = {&one->q, &one->k, &one->v, &one->o};
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++)
                cr_assert(tensors[a]->row_padding != tensors[b]->row_padding &&
                              tensors[a]->head_padding != tensors[b]->head_padding &&
                              tensors[a]->block_padding != tensors[b]->block_padding,
                          "%s", one->what);
        told_apart += one->shape.batch > 1 && one->shape.heads_k > 1;
    }
    cr_assert(told_apart >= 2 && far == 3);
    instance_free(&instance);
    template_engine_free(engine);
}

/* Shapes that users of other kernels have stumbled on, with the templates' own kernels. */
Test(verify, shapes_of_known_faults) {
    static const struct {
        const char *head_dim, *dtype, *mask;
        struct verify_shape shape;
        double scale;
        enum verify_inputs inputs;
    } known[] = {
        {"hd=128", "dtype=f16", "causal=none", {1, 4, 4, 64, 64}, NAN, VERIFY_INPUTS_UNBALANCED},
        {"hd=128", "dtype=bf16", "causal=none", {5, 2, 2, 4, 4}, NAN, VERIFY_INPUTS_DEFAULT},
        {"hd=64", "dtype=f16", "causal=bottom-right", {1, 14, 2, 88, 448}, NAN, VERIFY_INPUTS_LARGE},
        {"hd=8", "dtype=f16", "causal=bottom-right", {5, 4, 4, 10, 10}, NAN, VERIFY_INPUTS_IMPULSE},
        {"hd=72", "dtype=bf16", "causal=bottom-right", {1, 24, 2, 17, 33}, NAN, VERIFY_INPUTS_IMPULSE},
        {"hd=64", "dtype=f16", "causal=top-left", {1, 10, 10, 20, 40}, -0.125, VERIFY_INPUTS_DEFAULT},
    };
    for (size_t index = 0; index < sizeof known / sizeof *known; index++) {
        struct verify_options options;
        verify_options_init(&options);
        options.shapes = &known[index].shape;
        options.shape_count = 1;
        options.scale = known[index].scale;
        options.inputs = known[index].inputs;
        EXPECT_PASS(NULL, &options, known[index].head_dim, known[index].dtype, known[index].mask);
    }
}

/* More queries than keys by a long way: the first 1024 rows see no key. */
Test(verify, rows_without_keys_by_the_thousand) {
    if (!long_tests())
        cr_skip_test("FMHA_TEST_LONG=1 runs it");
    struct verify_options options;
    verify_options_init(&options);
    options.shapes = &(struct verify_shape){1, 1, 1, 2048, 1024};
    options.shape_count = 1;
    EXPECT_PASS(NULL, &options, "hd=128", "causal=bottom-right");
}

/* Keys 9728 elements apart, 225305 of them: the last one's offset passes 2^31 elements and 2^32 bytes. 4.4 GB of
 * memory. */
static void run_far_apart(const char *template_dir, bool v_too) {
    struct error error;
    struct template_engine *engine = template_engine_new(template_dir, &error);
    struct spec spec;
    struct instance instance;
    struct execute_target target;
    struct trial trial;
    struct trial_errors errors;
    struct findings findings = {0};
    const struct reference_problem problem = {.batch = 1,
                                              .heads_q = 1,
                                              .heads_k = 1,
                                              .seqlen_q = 1,
                                              .seqlen_k = 225305,
                                              .head_dim = 64,
                                              .head_dim_v = 64,
                                              .mask = REFERENCE_MASK_NONE,
                                              .scale = 0.125};
    struct execute_request layouts = {.k = {.row_padding = v_too ? 0 : 9728 - 64},
                                      .v = {.row_padding = v_too ? 9728 - 64 : 0}};
    cr_assert(engine, "%s", error.text);
    make_spec(engine, (const char *const[]){"hd=64", NULL}, &spec);
    cr_assert(instance_emit(engine, &spec, &instance, &error), "%s", error.text);
    cr_assert(execute_open("emu:gfx1151", &instance, &(struct execute_options){0}, &target, &error), "%s", error.text);
    cr_assert(trial_new(&trial, &problem, HALF_F16, &error), "%s", error.text);
    inputs_make(INPUT_UNBALANCED, &problem, HALF_F16, 1, trial.q, trial.k, trial.v);
    cr_assert(trial_run(&trial, &target, &layouts, true, &findings, &error), "%s", error.text);
    trial_compare(&trial, true, &errors, &findings);
    cr_assert(findings.count == 0, "%s", findings.lines[0]);
    cr_assert(errors.output <= 1 && errors.lse <= 1);
    findings_free(&findings);
    trial_free(&trial);
    execute_close(&target);
    instance_free(&instance);
    template_engine_free(engine);
}

Test(verify, keys_and_values_past_two_to_the_31, .timeout = 600) {
    if (!long_tests())
        cr_skip_test("FMHA_TEST_LONG=1 runs it");
    run_far_apart(NULL, false);
    run_far_apart(NULL, true);
}

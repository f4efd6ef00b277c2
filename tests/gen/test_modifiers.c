/* Verification of modifiers and layouts end to end on the emulated device: with the plainest kernel that has all of
 * them (data-modifiers), and with wrong ones made from it. */
#include <criterion/criterion.h>
#include <math.h>

#include "standing.h"
#include "verifying.h"

static const char plain[] = TEST_DATA "-modifiers";

Test(modifiers, a_right_kernel_passes_with_each) {
    EXPECT_PASS(plain, NULL, "hd=32", "window=sliding");
    EXPECT_PASS(plain, NULL, "hd=32", "window=sliding", "causal=bottom-right", "sink-keys=on", "dtype=bf16");
    EXPECT_PASS(plain, NULL, "hd=32", "causal=top-left", "prefix=on");
    EXPECT_PASS(plain, NULL, "hd=32", "softcap=on");
    EXPECT_PASS(plain, NULL, "hd=32", "alibi=on", "causal=bottom-right");
    EXPECT_PASS(plain, NULL, "hd=32", "bias=same", "dtype=bf16");
    EXPECT_PASS(plain, NULL, "hd=32", "bias=f32", "causal=bottom-right");
    EXPECT_PASS(plain, NULL, "hd=32", "mask=on");
    EXPECT_PASS(plain, NULL, "hd=32", "block-mask=on", "gqa=4");
    EXPECT_PASS(plain, NULL, "hd=32", "sink=on", "dtype=bf16");
    EXPECT_PASS(plain, NULL, "hd=32", "head-scale=on");
    EXPECT_PASS(plain, NULL, "hd=32", "dropout=on");
}

Test(modifiers, a_right_kernel_passes_with_each_layout) {
    EXPECT_PASS(plain, NULL, "hd=32", "varlen=packed", "causal=bottom-right");
    EXPECT_PASS(plain, NULL, "hd=32", "varlen=padded", "causal=bottom-right", "dtype=bf16");
    EXPECT_PASS(plain, NULL, "hd=32", "paged=on");
    EXPECT_PASS(plain, NULL, "hd=32", "paged=on", "varlen=packed", "causal=bottom-right");
    EXPECT_PASS(plain, NULL, "hd=32", "paged=on", "varlen=padded", "causal=top-left", "align=2");
    EXPECT_PASS(plain, NULL, "hd=32", "varlen=padded", "window=sliding", "alibi=on", "bias=same", "mask=on");
}

Test(modifiers, lengths_and_pages_that_are_asked_for) {
    static const int64_t sizes[] = {1, 4, 256};
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        struct verify_options options;
        verify_options_init(&options);
        options.shapes = &(struct verify_shape){4, 0, 1, 40, 70};
        options.shape_count = 1;
        options.lengths_q = (const int64_t[]){0, 40, 1, 7};
        options.lengths_k = (const int64_t[]){5, 64, 0, 65};
        options.page_size = sizes[index];
        options.layout = index % 2 ? VERIFY_LAYOUT_BSHD : VERIFY_LAYOUT_BHSD;
        EXPECT_PASS(plain, &options, "hd=16", "paged=on", index ? "varlen=padded" : "varlen=packed", "gqa=2");
    }
}

static void expect_refused(const char *const *settings, int64_t page_size, int64_t splits, const char *text) {
    struct verify_options options;
    verify_options_init(&options);
    options.shapes = &(struct verify_shape){2, 1, 1, 9, 9};
    options.shape_count = 1;
    options.lengths_q = options.lengths_k = (const int64_t[]){9, 5};
    options.page_size = page_size;
    options.splits = splits;
    expect_error(plain, settings, &options, ERROR_USAGE, text);
}

Test(modifiers, lengths_pages_and_splits_that_the_instance_does_not_have) {
    expect_refused((const char *const[]){"hd=32", NULL}, 0, 0,
                   "--q-lens: expected an instance whose queries have lengths, got "
                   "fmha_forward_gfx1151_f16_d32_m64k32w4; add --varlen");
    expect_refused((const char *const[]){"hd=32", "varlen=packed", NULL}, 16, 0,
                   "--page-size: expected an instance with pages, got "
                   "fmha_forward_gfx1151_f16_d32_packed_m64k32w4; add --paged");
    expect_refused((const char *const[]){"hd=32", "varlen=packed", NULL}, 0, 3,
                   "--splits: expected --op decode or mla, whose workgroups may share the keys of a row, got --op "
                   "forward; leave it out");
}

Test(modifiers, more_sequences_than_the_device_tells_apart) {
    int64_t lengths[256];
    struct verify_options options;
    for (int index = 0; index < 256; index++)
        lengths[index] = 1 + index % 2;
    verify_options_init(&options);
    options.shapes = &(struct verify_shape){256, 1, 1, 2, 2};
    options.shape_count = 1;
    options.lengths_q = options.lengths_k = lengths;
    expect_error(plain, (const char *const[]){"hd=16", "varlen=padded", NULL}, &options, ERROR_RUN,
                 "q: memory: expected at most 254 tensors in a buffer, got one more (\"q, sequence 254\"): give it a "
                 "buffer of its own; sequences whose lengths differ, and pages between which others lie, are such "
                 "tensors: verify fewer of them");
    EXPECT_PASS(plain, &options, "hd=16", "varlen=packed");
}

/* What the kernel got stands in the report. */
Test(modifiers, values_in_the_report) {
    struct verify_options options;
    struct verify_report report;
    struct error error;
    struct text json = {0};
    verify_options_init(&options);
    options.shapes = &(struct verify_shape){2, 1, 1, 9, 9};
    options.shape_count = 1;
    options.inputs = VERIFY_INPUTS_RANDOM;
    options.lengths_q = (const int64_t[]){9, 5};
    options.lengths_k = (const int64_t[]){0, 8};
    options.values.softcap = 30;
    const char *const settings[] = {"hd=16",        "varlen=padded", "paged=on",   "window=sliding",
                                    "sink-keys=on", "softcap=on",    "dropout=on", NULL};
    cr_assert(verify(plain, settings, &options, &report, &error), "%s", error.text);
    cr_assert(report.passed);
    cr_assert(verify_report_json(&report, &json, &error), "%s", error.text);
    const char *values = strstr(json.bytes, "\"scale\"");
    cr_assert(values);
    const char expected[] = "\"scale\":\t0.25,\n"
                            "\t\t\t\"window\":\t[37, 11],\n"
                            "\t\t\t\"sink_keys\":\t5,\n"
                            "\t\t\t\"softcap\":\t30,\n"
                            "\t\t\t\"dropout\":\t0.25,\n"
                            "\t\t\t\"seqlens_q\":\t[9, 5],\n"
                            "\t\t\t\"seqlens_k\":\t[0, 8],\n"
                            "\t\t\t\"page_size\":\t16,\n"
                            "\t\t\t\"seed\":\t1,\n";
    cr_assert(strncmp(values, expected, sizeof expected - 1) == 0, "%s", values);
    text_free(&json);
    verify_report_free(&report);
}

static int list_cases(const char *const *settings, struct standing_case cases[STANDING_MAX]) {
    struct error error;
    struct template_engine *engine = template_engine_new(plain, &error);
    struct spec spec;
    static struct instance instance;
    cr_assert(engine, "%s", error.text);
    make_spec(engine, settings, &spec);
    cr_assert(instance_emit(engine, &spec, &instance, &error), "%s", error.text);
    int count = standing_cases(&instance, REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT, cases);
    cr_assert(count <= STANDING_MAX);
    instance_free(&instance);
    template_engine_free(engine);
    return count;
}

/* An instance with modifiers is verified on everything that one without is, but for identities that do not hold, and on
 * edges of its own after that. */
Test(modifiers, standing_cases_of_all_modifiers_together) {
    static struct standing_case none[STANDING_MAX], all[STANDING_MAX];
    int none_count = list_cases((const char *const[]){"hd=32", "causal=bottom-right", NULL}, none), at = 0;
    int all_count =
        list_cases((const char *const[]){"hd=32", "causal=bottom-right", "window=sliding", "sink-keys=on", "prefix=on",
                                         "softcap=on", "alibi=on", "bias=same", "mask=on", "block-mask=on", "sink=on",
                                         "head-scale=on", "dropout=on", "varlen=packed", "paged=on", NULL},
                   all);
    for (int index = 0; index < none_count; index++) {
        if (none[index].identity != STANDING_ALONE)
            continue;
        cr_assert_str_eq(none[index].what, all[at].what);
        cr_assert(memcmp(&none[index].shape, &all[at].shape, sizeof none[index].shape) == 0);
        cr_assert(none[index].inputs == all[at].inputs);
        cr_assert(!none[index].has_lengths);
        at++;
    }
    cr_assert(all_count > at + 40, "%d of %d", at, all_count);
    for (int index = at; index < all_count; index++)
        cr_assert(all[index].identity == STANDING_ALONE);
}

struct fault {
    const char *settings[5];
    const char *finding; /* begins a line of the report */
    bool unchecked;      /* the device says nothing; what it wrote does */
};

/* What reads a neighbour's, what forgets one of them, what writes where nobody may. */
static const struct fault faults[] = {
    {{"hd=32", "bias=same", "set=fault=head_of_bias"}, "O[batch", false},
    {{"hd=32", "bias=f32", "set=fault=reads_bias_past_its_end"}, "out-of-bounds: ", false},
    {{"hd=32", "mask=on", "set=fault=writes_mask"}, "wrong-access: ", false},
    {{"hd=32", "mask=on", "set=fault=writes_mask"},
     "mask: an input was written to, at batch 0, head 0, row 0, column 0 ",
     true},
    {{"hd=32", "sink=on", "set=fault=no_sink"}, "LSE[batch", false},
    {{"hd=32", "varlen=padded", "set=fault=ignores_lengths"}, "outside-tensor: ", false},
    {{"hd=32", "varlen=padded", "set=fault=writes_padding"}, "o: written outside its elements, at batch ", false},
    {{"hd=32", "varlen=padded", "set=fault=reads_past_the_length"}, "outside-tensor: ", false},
    {{"hd=32", "varlen=packed", "set=fault=longest_diagonal", "causal=bottom-right"}, "O[batch", false},
    {{"hd=32", "paged=on", "set=fault=reads_past_the_page"}, "outside-tensor: ", false},
    {{"hd=32", "paged=on", "set=fault=pages_in_order"}, "O[batch", false},
    {{"hd=32", "paged=on", "set=fault=table_of_the_first"}, "O[batch", false},
};

Test(modifiers, every_wrong_kernel_is_refused_for_what_is_wrong) {
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) {
        struct verify_options options;
        struct verify_report report;
        struct error error;
        struct text table = {0};
        verify_options_init(&options);
        options.fail_fast = true;
        options.without_checks = faults[index].unchecked;
        cr_assert(verify(plain, faults[index].settings, &options, &report, &error), "%s", error.text);
        verify_report_table(&report, &table);
        cr_assert(!report.passed, "%s passes:\n%s", faults[index].settings[2], table.bytes);
        cr_assert(findings_that_begin(&report, faults[index].finding), "%s: expected a line '%s', got\n%s",
                  faults[index].settings[2], faults[index].finding, table.bytes);
        text_free(&table);
        verify_report_free(&report);
    }
}

/* Values of arguments that are given take the place of the usual ones: a window as wide as all keys is none, and a
 * kernel that has no window passes with it alone. */
Test(modifiers, values_that_are_given) {
    struct verify_options options;
    verify_options_init(&options);
    options.values.window_left = options.values.window_right = -1;
    EXPECT_PASS(plain, &options, "hd=32", "window=sliding");
    options.values.window_left = options.values.window_right = 0;
    EXPECT_PASS(plain, &options, "hd=32", "window=sliding", "causal=bottom-right");
    verify_options_init(&options);
    options.values.softcap = 0.5;
    options.values.sink_keys = 2000;
    options.values.prefix = 17;
    options.values.dropout = 0.9;
    EXPECT_PASS(plain, &options, "hd=32", "window=sliding", "causal=bottom-right", "sink-keys=on", "prefix=on",
                "softcap=on", "dropout=on");
}

/* Both rows' windows begin in the third tile of 32 keys: nothing of the first two may be read. */
Test(modifiers, tiles_that_nobody_needs) {
    struct verify_options options;
    struct verify_report report;
    struct error error;
    verify_options_init(&options);
    options.shapes = &(struct verify_shape){1, 1, 1, 2, 100};
    options.shape_count = 1;
    options.inputs = VERIFY_INPUTS_RANDOM;
    options.values.window_left = 3;
    options.values.window_right = 0;
    options.count = true;
    EXPECT_PASS(plain, &options, "hd=16", "window=sliding");
    const char *const reads[] = {"hd=16", "window=sliding", "set=fault=reads_before_the_window", NULL};
    cr_assert(verify(plain, reads, &options, &report, &error), "%s", error.text);
    cr_assert(report.cases[0].finding_count == 1);
    cr_assert_str_eq(report.cases[0].findings[0],
                     "k: expected at most 1152 bytes to be read, those of key tiles with a key that some row of a "
                     "workgroup sees, got 3200; look at what is sent for ahead of its use");
    verify_report_free(&report);
    const char *const claims[] = {"hd=16", "window=sliding", "set=fault=claims_matrix_instructions", NULL};
    cr_assert(verify(plain, claims, &options, &report, &error), "%s", error.text);
    cr_assert(report.cases[0].finding_count == 1);
    cr_assert_str_eq(report.cases[0].findings[0],
                     "key tiles: expected 2, those with a key that some row of the workgroup sees, got 0 (matrix "
                     "instructions over those of one tile); look at where the loop over the keys begins and ends, and "
                     "what it leaves out");
    verify_report_free(&report);
}

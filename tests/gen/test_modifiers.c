/* Verification of modifiers and layouts end to end on the emulated device: with the plainest kernel that has all of
 * them (data-modifiers), and with wrong ones made from it. */
#include <criterion/criterion.h>
#include <math.h>

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

struct fault {
    const char *settings[5];
    const char *finding; /* begins a line of the report */
};

/* What reads a neighbour's, what forgets one of them, what writes where nobody may. */
static const struct fault faults[] = {
    {{"hd=32", "bias=same", "set=fault=head_of_bias"}, "O[batch"},
    {{"hd=32", "bias=f32", "set=fault=reads_bias_past_its_end"}, "out-of-bounds: "},
    {{"hd=32", "mask=on", "set=fault=writes_mask"},
     "mask: an input was written to, at batch 0, head 0, row 0, column 0 "},
    {{"hd=32", "sink=on", "set=fault=no_sink"}, "LSE[batch"},
};

Test(modifiers, every_wrong_kernel_is_refused_for_what_is_wrong) {
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) {
        struct verify_report report;
        struct error error;
        struct text table = {0};
        cr_assert(verify(plain, faults[index].settings, NULL, &report, &error), "%s", error.text);
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

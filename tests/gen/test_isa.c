/* Compiled kernels executed beside the same kernels on the emulated device: results within the bound, the same counts;
 * and what a run for a whole problem says beside the static report. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "report_estimate.h"
#include "report_run.h"
#include "template.h"
#include "trial.h"
#include "verify.h"
#include "verify_count.h"

static struct template_engine *engine;

static void set_up(void) {
    struct error error;
    engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
}

static void tear_down(void) {
    template_engine_free(engine);
}

TestSuite(isa, .init = set_up, .fini = tear_down, .timeout = 300);

/* "hd=64", "causal=bottom-right", …, ended by NULL. */
static struct spec make_spec(const char *const *words) {
    struct spec spec;
    struct error error;
    spec_init(&spec);
    cr_assert(spec_set_arch(&spec, engine, "gfx1151", &error), "%s", error.text);
    for (; *words; words++) {
        const char *equals = strchr(*words, '=');
        int id = 0;
        while (id < SPEC_FIELD_COUNT && (strncmp(spec_fields[id].option, *words, (size_t)(equals - *words)) != 0 ||
                                         spec_fields[id].option[equals - *words] != 0))
            id++;
        cr_assert_lt(id, SPEC_FIELD_COUNT, "%s", *words);
        cr_assert(spec_set(&spec, (enum spec_field_id)id, equals + 1, &error), "%s", error.text);
    }
    cr_assert(spec_resolve(&spec, engine, &error), "%s", error.text);
    return spec;
}

/* ---- Results ---- */

static const char *const kernels[][6] = {
    {"hd=64", "causal=bottom-right", NULL},
    {"hd=128", "orientation=qk", NULL},
    {"hd=72", "wave=64", "dtype=bf16", "causal=top-left", NULL},
    {"hd=64", "orientation=qk", "wave=64", "align=2", NULL},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static void run_on(const char *device, const struct instance *instance, const struct reference_problem *problem,
                   struct trial *trial) {
    enum half_type type = strcmp(spec_word(&instance->spec, SPEC_DTYPE), "bf16") == 0 ? HALF_BF16 : HALF_F16;
    struct execute_target target;
    struct execute_request layouts = {.q = {.order = TENSOR_BHSD}};
    struct findings findings = {0};
    struct error error;
    cr_assert(execute_open(device, instance, &(struct execute_options){0}, &target, &error), "%s", error.text);
    cr_assert(trial_new(trial, problem, type, &error), "%s", error.text);
    inputs_make(INPUT_UNBALANCED, problem, type, 5, trial->q, trial->k, trial->v);
    cr_assert(trial_run(trial, &target, &layouts, true, &findings, &error), "%s", error.text);
    cr_assert_eq(findings.count, 0, "%s", findings.lines[0]);
    findings_free(&findings);
    execute_close(&target);
}

/* Each is within the bound of the reference, which allows twice that between them; they do the same operations, and
 * differ by what the compilers reorder and by an ULP of the exponential: the bound itself holds between them. */
Test(isa, agrees_with_the_emulated_device) {
    for (int i = 0; i < KERNELS; i++) {
        struct spec spec = make_spec(kernels[i]);
        struct instance instance;
        struct error error;
        struct trial emu, isa;
        const char *mask = spec_word(&spec, SPEC_MASK);
        const struct reference_problem problem = {.batch = 1,
                                                  .heads_q = 2,
                                                  .heads_k = 1,
                                                  .seqlen_q = 70,
                                                  .seqlen_k = 90,
                                                  .head_dim = spec.value[SPEC_HEAD_DIM],
                                                  .head_dim_v = spec.value[SPEC_HEAD_DIM_V],
                                                  .mask = strcmp(mask, "none") == 0 ? REFERENCE_MASK_NONE
                                                          : strcmp(mask, "causal-top-left") == 0
                                                              ? REFERENCE_MASK_CAUSAL_TOP_LEFT
                                                              : REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT,
                                                  .scale = 0.125};
        cr_assert(instance_emit(engine, &spec, &instance, &error), "%s", error.text);
        run_on("emu:gfx1151", &instance, &problem, &emu);
        run_on("isa:gfx1151", &instance, &problem, &isa);
        for (int64_t at = 0; at < emu.rows * problem.head_dim_v; at++) {
            double one = half_to_double(emu.type, emu.o[at]), other = half_to_double(isa.type, isa.o[at]);
            cr_assert_leq(fabs(one - other), emu.bound[at], "%s: element %lld: %g and %g, bound %g", instance.name,
                          (long long)at, one, other, emu.bound[at]);
        }
        for (int64_t row = 0; row < emu.rows; row++)
            cr_assert(
                emu.lse[row] == isa.lse[row] || fabs((double)emu.lse[row] - (double)isa.lse[row]) <= emu.lse_bound[row],
                "%s: row %lld: %g and %g", instance.name, (long long)row, (double)emu.lse[row], (double)isa.lse[row]);
        trial_free(&emu);
        trial_free(&isa);
        instance_free(&instance);
    }
}

/* ---- Counts ---- */

static struct verify_report count_on(const char *device, const struct spec *spec) {
    static const struct verify_shape shape = {1, 2, 1, 70, 90};
    struct verify_options options;
    struct verify_report report;
    struct error error;
    verify_options_init(&options);
    options.shapes = &shape;
    options.shape_count = 1;
    options.inputs = VERIFY_INPUTS_RANDOM;
    options.count = true;
    options.device = device;
    cr_assert(verify_run(engine, spec, &options, &report, &error), "%s", error.text);
    cr_assert(report.passed);
    return report;
}

static void expect_same(const struct verify_report *emu, const struct verify_report *isa, const char *name,
                        const char *tensor) {
    double one = verify_counter_value(&emu->cases[0], name, tensor);
    double other = verify_counter_value(&isa->cases[0], name, tensor);
    cr_expect(one == other, "%s: %s %s: emu %g, isa %g", emu->instance, name, tensor, one, other);
}

/* The compiler neither adds nor drops accesses of these kernels to memory, and keeps those to LDS as wide as they are
 * written: both devices count the same, one from the text and one from the machine code. */
Test(isa, counts_what_the_emulated_device_counts) {
    static const char *const totals[] = {
        "matrix_instructions", "workgroups", "lds_reads",           "lds_writes", "lds_bytes_read",
        "lds_bytes_written",   "lds_cycles", "lds_conflict_cycles", "key_tiles",  "key_tiles_needed"};
    static const char *const tensors[] = {"q", "k", "v", "o", "lse"};
    static const char *const ways[] = {"bytes_read", "bytes_written", "unique_bytes_read", "unique_bytes_written"};
    for (int i = 0; i < KERNELS; i++) {
        struct spec spec = make_spec(kernels[i]);
        struct verify_report emu = count_on("emu:gfx1151", &spec), isa = count_on("isa:gfx1151", &spec);
        cr_assert_gt(verify_counter_value(&isa.cases[0], "matrix_instructions", ""), 0);
        for (size_t n = 0; n < sizeof totals / sizeof totals[0]; n++)
            expect_same(&emu, &isa, totals[n], "");
        for (size_t n = 0; n < sizeof tensors / sizeof tensors[0]; n++)
            for (size_t m = 0; m < sizeof ways / sizeof ways[0]; m++)
                expect_same(&emu, &isa, ways[m], tensors[n]);
        verify_report_free(&emu);
        verify_report_free(&isa);
    }
}

/* ---- Runs of whole problems ---- */

static struct report run(const char *const *words, const struct verify_shape *shape) {
    struct spec spec = make_spec(words);
    struct report report;
    struct error error;
    const struct report_request request = {
        .spec = &spec, .engine = engine, .shapes = shape, .shape_count = 1, .run = true};
    cr_assert(report_run(&request, &report, &error), "%s", error.text);
    cr_assert_eq(report.problem_count, 1);
    return report;
}

/* What the blocks hold, times how often they ran, is what was executed of each class; the device classifies by its own
 * table, the report by mnemonics. */
static void expect_sums(const struct report *report) {
    static const struct {
        const char *counter;
        enum mix_id mix[3]; /* ended by MIX_COUNT */
    } rows[] = {
        {"matrix_instructions", {MIX_MATRIX, MIX_COUNT}},
        {"valu_instructions", {MIX_VALU, MIX_COUNT}},
        {"transcendental_instructions", {MIX_TRANSCENDENTAL, MIX_COUNT}},
        {"lds_instructions", {MIX_LDS, MIX_COUNT}},
        {"salu_instructions", {MIX_SCALAR, MIX_COUNT}},
        {"smem_instructions", {MIX_SCALAR_MEMORY, MIX_COUNT}},
        {"branch_instructions", {MIX_BRANCH, MIX_COUNT}},
        {"barrier_instructions", {MIX_BARRIER, MIX_COUNT}},
        {"wait_instructions", {MIX_WAIT, MIX_HINT, MIX_CACHE}},
    };
    const struct report_problem *problem = &report->problems[0];
    const struct assembly *assembly = &report->assembly;
    double all = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double sum = 0, counted = verify_counter_value(&problem->counted, rows[i].counter, "");
        for (int b = 0; b < assembly->block_count; b++)
            for (int m = 0; m < 3 && rows[i].mix[m] != MIX_COUNT; m++)
                sum += problem->executions[b] * assembly->blocks[b].mix.count[rows[i].mix[m]];
        cr_expect(sum == counted, "%s: %s: blocks %g, counted %g", report->instance, rows[i].counter, sum, counted);
    }
    for (int b = 0; b < assembly->block_count; b++) {
        const struct assembly_block *block = &assembly->blocks[b];
        all += problem->executions[b] * block->count;
        for (int k = block->first; k < block->first + block->count; k++)
            cr_expect(problem->instructions[k].executed == problem->executions[b], "%s: %s", block->label,
                      assembly->instructions[k].text);
    }
    cr_expect_eq(all, verify_counter_value(&problem->counted, "instructions", ""));
}

Test(isa, blocks_times_executions_are_what_was_executed) {
    for (int i = 0; i < KERNELS; i++) {
        struct report report = run(kernels[i], &(struct verify_shape){1, 3, 1, 77, 190});
        expect_sums(&report);
        report_free(&report);
    }
}

/* What modifiers and layouts read is made for a report's run as for verification. */
Test(isa, problems_with_modifiers_and_layouts) {
    static const char *const settings[][6] = {
        {"hd=64", "alibi=on", "bias=f32", "dropout=on", "varlen=padded", NULL},
        {"hd=64", "window=sliding", "sink-keys=on", "sink=on", "paged=on", NULL},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct report report = run(settings[i], &(struct verify_shape){2, 3, 1, 77, 190});
        expect_sums(&report);
        cr_expect_gt(verify_counter_value(&report.problems[0].counted, "matrix_instructions", ""), 0);
        report_free(&report);
    }
}

/* Numbers that are given are those that a problem runs with: a window of one key is one tile of each row block. */
Test(isa, values_of_modifiers_that_are_given) {
    const struct spec spec = make_spec((const char *const[]){"hd=64", "window=sliding", NULL});
    const struct verify_shape shape = {1, 1, 1, 64, 640};
    struct modifiers_values values = modifiers_values_none();
    struct report_request request = {
        .spec = &spec, .engine = engine, .shapes = &shape, .shape_count = 1, .run = true, .values = &values};
    double tiles[2];
    for (int i = 0; i < 2; i++) {
        struct report report;
        struct error error;
        values.window_left = values.window_right = i == 0 ? 0 : -1;
        cr_assert(report_run(&request, &report, &error), "%s", error.text);
        tiles[i] = verify_counter_value(&report.problems[0].counted, "matrix_instructions", "");
        report_free(&report);
    }
    cr_expect_eq(tiles[0] * 10, tiles[1], "%g, %g", tiles[0], tiles[1]); /* 64 of 640 keys */
}

/* Control comes to a block as often as it runs. */
Test(isa, entries_are_executions) {
    struct report report = run(kernels[0], &(struct verify_shape){1, 2, 1, 130, 333});
    const struct report_problem *problem = &report.problems[0];
    int entered = 0;
    for (int b = 0; b < report.assembly.block_count; b++) {
        const struct assembly_block *block = &report.assembly.blocks[b];
        double entries = block->count > 0 ? problem->instructions[block->first].entered : 0;
        cr_expect(entries == problem->executions[b] || entries == 0, "%s: %g entries, %g executions", block->label,
                  entries, problem->executions[b]);
        entered += entries > 0;
    }
    cr_expect_gt(entered, 10);
    report_free(&report);
}

/* Of the body's blocks as often as they ran: of passes that rescale and passes that do not. */
static struct issue_bound body_bound(const struct report *report) {
    const struct report_problem *problem = &report->problems[0];
    const struct issue_family *family = issue_family_of(report->arch);
    struct issue_work work = {.known = true};
    struct issue_bound bound;
    for (int i = 0; i < report->loop_count; i++)
        for (int k = 0; strcmp(report->loops[i].role, "body") == 0 && k < report->loops[i].loop->block_count; k++) {
            int block = report->loops[i].loop->blocks[k];
            issue_work_add(&report->assembly, block, family, report->wave, problem->executions[block], &work);
        }
    cr_assert_gt(work.clocks.matrix, 0, "no body ran");
    issue_bound_make(family, &work, 0, &bound);
    return bound;
}

/* With more keys the body rules: the whole problem's share comes near to the body's, from below, and the part that is
 * missing falls as the keys grow (prologue and epilogue are the same few thousand cycles). */
Test(isa, bound_of_long_problems_approaches_the_body) {
    double gap[2];
    for (int i = 0; i < 2; i++) {
        struct report report =
            run((const char *const[]){"hd=64", NULL}, &(struct verify_shape){1, 1, 1, 64, i == 0 ? 512 : 4096});
        const struct report_problem *problem = &report.problems[0];
        struct issue_bound body = body_bound(&report);
        gap[i] = body.percent - problem->bound.percent;
        cr_expect(problem->bound.known && problem->bound_conflict.known);
        cr_expect_str_eq(problem->bound.slowest, body.slowest);
        cr_expect_leq(problem->bound_conflict.percent, problem->bound.percent);
        report_free(&report);
    }
    cr_expect(gap[0] > 0 && gap[1] > 0 && gap[1] < 0.5 && gap[0] > 5 * gap[1], "%g, %g", gap[0], gap[1]);
}

/* What is modelled by tiles is what runs: each wave passes through the loops as often. */
Test(isa, tiles_are_passes) {
    static const struct {
        const char *words[6];
        struct verify_shape shape;
    } rows[] = {
        {{"hd=64", "causal=bottom-right", NULL}, {1, 2, 1, 200, 333}},
        {{"hd=64", "causal=top-left", NULL}, {2, 1, 1, 130, 96}},
        {{"hd=64", NULL}, {1, 1, 1, 70, 90}},
        {{"hd=64", "causal=bottom-right", "gqa=4", NULL}, {1, 4, 1, 77, 190}},
        {{"hd=64", "causal=bottom-right", NULL}, {1, 1, 1, 64, 94}},
        {{"op=decode", "hd=64", "causal=bottom-right", NULL}, {1, 10, 1, 3, 193}},
        {{"op=mla", "causal=bottom-right", NULL}, {1, 16, 1, 2, 90}},
        {{"hd=64", "kv-dtype=fp8", NULL}, {2, 2, 1, 64, 64}},
        {{"op=decode", "hd=64", "kv-dtype=mxfp4", NULL}, {1, 4, 2, 1, 70}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct report report = run(rows[i].words, &rows[i].shape);
        const struct report_problem *problem = &report.problems[0];
        struct spec spec = make_spec(rows[i].words);
        struct report_estimate estimate;
        double body = 0, edge = 0, pairs = 0;
        for (int k = 0; k < report.loop_count; k++) {
            double passes = 0; /* matrix instructions that ran in the loop, over those of one pass */
            const struct assembly_loop *loop = report.loops[k].loop;
            for (int b = 0; b < loop->block_count; b++)
                passes += problem->executions[loop->blocks[b]] *
                          report.assembly.blocks[loop->blocks[b]].mix.count[MIX_MATRIX];
            passes /= report.loops[k].issue.ways[0].mix.count[MIX_MATRIX];
            *(strcmp(report.loops[k].role, "body") == 0 ? &body : &edge) += passes;
        }
        report_estimate_tiles(&report, &spec, &rows[i].shape, &estimate);
        cr_expect(estimate.body_passes == body && estimate.edge_passes == edge,
                  "%s: body %g by tiles, %g ran; edge %g by tiles, %g ran", report.instance, estimate.body_passes, body,
                  estimate.edge_passes, edge);
        pairs = estimate.flop / 2 / (spec.value[SPEC_HEAD_DIM] + spec.value[SPEC_HEAD_DIM_V]);
        cr_expect(pairs == problem->pairs, "%s: %g and %g pairs", report.instance, pairs, problem->pairs);
        cr_expect(estimate.bytes == report_run_bytes(problem), "%s: %g bytes by lengths, %g moved", report.instance,
                  estimate.bytes, report_run_bytes(problem));
        cr_expect_leq(issue_bound_cycles(&estimate.issue), issue_bound_cycles(&report.estimates[0].issue));
        report_free(&report);
    }
}

/* A causal problem does about half of the work of an unmasked one. */
Test(isa, causal_problems_do_less) {
    const struct verify_shape shape = {1, 1, 1, 512, 512};
    struct report causal = run((const char *const[]){"hd=64", "causal=bottom-right", NULL}, &shape);
    struct report whole = run((const char *const[]){"hd=64", NULL}, &shape);
    double part = issue_bound_cycles(&causal.problems[0].bound) / issue_bound_cycles(&whole.problems[0].bound);
    /* 8 row blocks see 2, 4, … 16 tiles of 16 each, half of their waves one less: 68 of 128; masked tiles cost more. */
    cr_expect(part > 68 / 128.0 && part < 0.8, "%g", part);
    cr_expect_eq(causal.problems[0].work.flop / whole.problems[0].work.flop, 68 / 128.0);
    report_free(&causal);
    report_free(&whole);
}

static double number(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    cr_assert(cJSON_IsNumber(item), "%s", name);
    return item->valuedouble;
}

Test(isa, json_of_a_run) {
    struct report report = run(kernels[0], &(struct verify_shape){1, 2, 1, 70, 90});
    struct text text = {0}, table = {0};
    struct error error;
    cr_assert(report_json(&report, &text, &error), "%s", error.text);
    cJSON *root = cJSON_Parse(text.bytes);
    const cJSON *problem = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "runs"), 0);
    cr_assert_not_null(problem);
    cr_expect_eq(number(cJSON_GetObjectItemCaseSensitive(problem, "shape"), "seqlen_k"), 90);
    cr_expect_eq(number(cJSON_GetObjectItemCaseSensitive(problem, "total"), "matrix"),
                 number(cJSON_GetObjectItemCaseSensitive(problem, "counters"), "matrix_instructions"));
    const cJSON *tensors = cJSON_GetObjectItemCaseSensitive(problem, "tensors"), *block, *access;
    cr_expect_eq(number(cJSON_GetObjectItemCaseSensitive(tensors, "o"), "bytes_written"), 2 * 70 * 64 * 2);
    double lines = 0, waits = 0;
    cJSON_ArrayForEach(block, cJSON_GetObjectItemCaseSensitive(problem, "blocks"))
        cJSON_ArrayForEach(access, cJSON_GetObjectItemCaseSensitive(block, "accesses")) {
        lines += number(access, "lines_per_access");
        waits += number(access, "waits");
        cr_expect_leq(number(access, "least_cycles"), number(access, "mean_cycles") + 0.005);
    }
    cr_expect_gt(lines, 0);
    cr_expect_gt(waits, 0);
    report_run_table(&report, &table);
    cr_expect_not_null(strstr(table.bytes, "\nrun 1,2,1,70,90, 4 workgroups, 16 waves; "), "%s", table.bytes);
    cJSON_Delete(root);
    text_free(&text);
    text_free(&table);
    report_free(&report);
}

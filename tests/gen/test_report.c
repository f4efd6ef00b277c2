/* The report's two forms, whole; its roles; what it refuses. After a wanted change: FMHA_BLESS=1 meson test -C build
 * report */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asm/compiled.h"
#include "disassemble.h"
#include "product.h"
#include "report.h"
#include "report_estimate.h"
#include "template.h"

static struct report run(const struct report_request *request) {
    struct report report;
    struct error error;
    cr_assert(report_run(request, &report, &error), "%s", error.text);
    return report;
}

static struct text print(const struct report *report, bool json) {
    struct text text = {0};
    struct error error;
    if (json) {
        cr_assert(report_json(report, &text, &error), "%s", error.text);
    } else {
        report_table(report, &text);
    }
    cr_assert(text.bytes != NULL && !text.failed);
    return text;
}

/* Compares with a file of the samples, or accepts what is now. */
static void golden(const char *name, const struct text *got) {
    struct error error;
    size_t length;
    if (getenv("FMHA_BLESS") != NULL) {
        cr_assert(file_write(sample_path(name), got->bytes, got->length, &error), "%s", error.text);
        return;
    }
    char *expected = read_sample(name, &length);
    cr_assert_str_eq(got->bytes, expected, "%s: expected\n%s\ngot\n%s", name, expected, got->bytes);
    free(expected);
}

static void check_golden(const struct report_request *request, const char *name, bool json) {
    struct report report = run(request);
    struct text text = print(&report, json);
    golden(name, &text);
    text_free(&text);
    report_free(&report);
}

Test(report, table_of_hand_counted_text) {
    check_golden(&(struct report_request){.file = sample_path("hand.s")}, "hand.table", false);
}

Test(report, json_of_hand_counted_text) {
    check_golden(&(struct report_request){.file = sample_path("hand.s"), .clock_ghz = 2.9, .compute_units = 40},
                 "hand.json", true);
}

/* ---- Objects
 * --------------------------------------------------------------------------------------------------------- */

static char *write_temporary(const void *bytes, size_t length, const char *suffix) {
    char *path;
    struct error error;
    cr_assert_gt(asprintf(&path, "/tmp/fmhagen report %ld%s", (long)getpid(), suffix), 0);
    cr_assert(file_write(path, bytes, length, &error), "%s", error.text);
    return path;
}

static void drop_temporary(char *path) {
    unlink(path);
    free(path);
}

static void assert_same_issue(const struct report *left, const struct report *right) {
    cr_assert_eq(left->loop_count, right->loop_count);
    for (int i = 0; i < left->loop_count; i++) {
        const struct issue_loop *a = &left->loops[i].issue, *b = &right->loops[i].issue;
        cr_assert_eq(memcmp(&a->total, &b->total, sizeof a->total), 0);
        cr_assert_eq(a->way_count, b->way_count);
        cr_assert_eq(memcmp(&a->ways[0].mix, &b->ways[0].mix, sizeof a->ways[0].mix), 0);
        cr_assert_eq(memcmp(&a->ways[1].mix, &b->ways[1].mix, sizeof a->ways[1].mix), 0);
        cr_assert(a->ways[0].bound.percent == b->ways[0].bound.percent);
        cr_assert_eq(memcmp(a->covers, b->covers, sizeof a->covers), 0);
        cr_assert_str_eq(left->loops[i].role, right->loops[i].role);
    }
}

Test(report, object_text_and_listing_of_one_kernel_agree) {
    static const char *const to_text[] = {"-S", NULL};
    struct compiled object = compile_file(sample_path("attention.hip"), "gfx1151", 32, NULL);
    struct compiled text = compile_file(sample_path("attention.hip"), "gfx1151", 32, to_text);
    struct text listing = {0};
    struct error error;
    cr_assert(disassemble(object.bytes, object.length, "attention", NULL, &listing, &error), "%s", error.text);
    char *object_path = write_temporary(object.bytes, object.length, ".hsaco");
    char *text_path = write_temporary(text.bytes, text.length, ".s");
    char *listing_path = write_temporary(listing.bytes, listing.length, ".txt");
    struct report of_object = run(&(struct report_request){.file = object_path});
    struct report of_text = run(&(struct report_request){.file = text_path});
    struct report of_listing = run(&(struct report_request){.file = listing_path, .arch = "gfx1151"});
    cr_assert_str_eq(of_object.instance, "attention");
    cr_assert_str_eq(of_object.arch, "gfx1151");
    cr_assert(of_object.has_resources && of_text.has_resources && !of_listing.has_resources);
    cr_assert_eq(memcmp(&of_object.resources, &of_text.resources, sizeof of_text.resources), 0);
    cr_assert_eq(of_object.loop_count, 1);
    cr_assert_eq(of_object.loops[0].issue.ways[0].mix.count[MIX_MATRIX], 2);
    cr_assert_eq(of_object.loops[0].issue.way_count, 2); /* the rescale */
    cr_assert_eq(of_object.loops[0].issue.total.count[MIX_OTHER], 0);
    assert_same_issue(&of_object, &of_text);
    assert_same_issue(&of_object, &of_listing);
    report_free(&of_object);
    report_free(&of_text);
    report_free(&of_listing);
    drop_temporary(object_path);
    drop_temporary(text_path);
    drop_temporary(listing_path);
    text_free(&listing);
    compiled_free(&object);
    compiled_free(&text);
}

Test(report, a_kernel_that_spills_is_reported_and_not_clean) {
    static const char *const few[] = {"-DFEW_REGISTERS=32", NULL};
    struct compiled object = compile_file(sample_path("attention.hip"), "gfx1151", 32, few);
    char *path = write_temporary(object.bytes, object.length, ".spills");
    struct report report = run(&(struct report_request){.file = path});
    struct error error;
    cr_assert_gt(report.loops[0].issue.total.count[MIX_SCRATCH], 0);
    cr_assert_not(resources_clean(&report.resources, &error));
    report_free(&report);
    drop_temporary(path);
    compiled_free(&object);
}

Test(report, a_spec_is_emitted_compiled_and_read, .timeout = 120) {
    struct error error;
    struct compiled probe = compile_text("", "gfx1151", 32, NULL); /* skips where nothing compiles */
    compiled_free(&probe);
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    struct spec spec;
    spec_init(&spec);
    cr_assert(spec_set_arch(&spec, engine, "gfx1151", &error) && spec_set(&spec, SPEC_OP, "forward", &error) &&
                  spec_set(&spec, SPEC_HEAD_DIM, "64", &error) && spec_set(&spec, SPEC_DTYPE, "f16", &error) &&
                  spec_resolve(&spec, engine, &error),
              "%s", error.text);
    char name[SPEC_NAME_MAX];
    spec_name(&spec, name);
    struct report report = run(&(struct report_request){.spec = &spec, .engine = engine});
    cr_assert_str_eq(report.instance, name);
    cr_assert_str_eq(report.resources.symbol, name);
    cr_assert_eq(report.wave, spec.value[SPEC_WAVE]);
    cr_assert(resources_clean(&report.resources, &error), "%s", error.text);
    cr_assert_geq(report.loop_count, 1);
    int bodies = 0;
    for (int i = 0; i < report.loop_count; i++) {
        bodies += strcmp(report.loops[i].role, "body") == 0;
        cr_assert_eq(report.loops[i].issue.total.count[MIX_OTHER], 0);
        cr_assert(report.loops[i].issue.ways[0].bound.known);
    }
    cr_assert_eq(bodies, 1);
    report_free(&report);
    template_engine_free(engine);
}

/* ---- Problems ---- */

static struct spec spec_of(struct template_engine *engine, const char *arch, const char *mask) {
    struct spec spec;
    struct error error;
    spec_init(&spec);
    cr_assert(spec_set_arch(&spec, engine, arch, &error) && spec_set(&spec, SPEC_OP, "forward", &error) &&
                  spec_set(&spec, SPEC_HEAD_DIM, "64", &error) && spec_set(&spec, SPEC_MASK, mask, &error) &&
                  spec_set(&spec, SPEC_BLOCK_M, "64", &error) && spec_set(&spec, SPEC_BLOCK_K, "32", &error) &&
                  spec_set(&spec, SPEC_WAVES, "4", &error) && spec_resolve(&spec, engine, &error),
              "%s", error.text);
    return spec;
}

/* Workgroups of queries that see 97 to 160 keys, and 161 to 192: three tiles whole of five, five of six. With four
 * waves and two heads that is 64 passes and 24; of queries and keys there are 2 x 96 x 144.5 pairs. The sample is no
 * attention, and so its share of the matrix rate for these FLOP is what it is. */
Test(report, a_problem_by_its_tiles) {
    static const struct verify_shape shape = {1, 2, 1, 96, 192};
    struct error error;
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    const struct spec spec = spec_of(engine, "gfx1151", "bottom-right");
    struct report report = run(&(struct report_request){.file = sample_path("hand.s")});
    struct report_estimate estimate;
    struct text text = {0};
    report_estimate_tiles(&report, &spec, &shape, &estimate);
    report_estimate_table(&report, &estimate, &text);
    report.clock_ghz = 2;
    report.compute_units = 1;
    report_estimate_tiles(&report, &spec, &shape, &estimate);
    report_estimate_table(&report, &estimate, &text);
    report.bandwidth_gbs = 0.5;
    report_estimate_tiles(&report, &spec, &shape, &estimate);
    report_estimate_table(&report, &estimate, &text);
    golden("estimate.table", &text);
    text_free(&text);
    free(report.estimates);
    report.estimates = calloc(1, sizeof *report.estimates);
    cr_assert_not_null(report.estimates);
    report.estimates[report.estimate_count++] = estimate;
    text = print(&report, true);
    cJSON *root = cJSON_Parse(text.bytes);
    cJSON *chip = cJSON_GetObjectItem(root, "chip"), *problems = cJSON_GetObjectItem(root, "problems");
    char *printed[] = {cJSON_Print(chip), cJSON_Print(problems)};
    struct text json = {0};
    text_printf(&json, "%s\n%s\n", printed[0], printed[1]);
    golden("estimate.json", &json);
    for (int i = 0; i < 2; i++)
        cJSON_free(printed[i]);
    cJSON_Delete(root);
    text_free(&text);
    text_free(&json);
    report_free(&report);
    template_engine_free(engine);
}

/* The vendor states these peaks, of f16 with sums in f32, in TFLOP/s; they come of the table of products and the cycles
 * of one matrix instruction, whatever the loop around it. */
Test(report, peaks_of_products) {
    static const struct {
        const char *arch, *instruction;
        double flop, tflops;
    } rows[] = {
        {"gfx908", "v_mfma_f32_32x32x8f16", 16384, 184.6},   {"gfx90a", "v_mfma_f32_32x32x8f16", 16384, 383.0 / 2},
        {"gfx942", "v_mfma_f32_32x32x8_f16", 16384, 1307.4}, {"gfx950", "v_mfma_f32_32x32x16_f16", 32768, 2516.6},
        {"gfx1100", "v_wmma_f32_16x16x16_f16", 8192, 122.8}, {"gfx1101", "v_wmma_f32_16x16x16_f16", 8192, 74.65},
        {"gfx1102", "v_wmma_f32_16x16x16_f16", 8192, 43.5},  {"gfx1200", "v_wmma_f32_16x16x16_f16", 8192, 103},
        {"gfx1201", "v_wmma_f32_16x16x16_f16", 8192, 195},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct product *product = product_of(rows[i].arch);
        struct instruction instruction;
        struct issue_clocks clocks = {0, 0};
        const struct issue_family *family = issue_family_of(rows[i].arch);
        instruction_classify(rows[i].instruction, &instruction);
        cr_assert(product && issue_tick(family, 32, &instruction, &clocks));
        double tflops =
            rows[i].flop / clocks.matrix * family->simds * product->compute_units * product->clock_ghz / 1e3;
        cr_expect(tflops > 0.995 * rows[i].tflops && tflops < 1.005 * rows[i].tflops, "%s: %g", rows[i].arch, tflops);
    }
    cr_expect_null(product_of("gfx115"));
    cr_expect_null(product_of("gfx11-generic"));
    cr_expect_str_eq(product_of("gfx942:sramecc+:xnack-")->name, "Instinct MI300X");
}

/* ---- Text
 * ------------------------------------------------------------------------------------------------------------ */

static const char mystery[] = "k:\n.LBB0_1:\n"
                              "\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]\n"
                              "\tmystery_b32 v0, v1\n\timage_sample v0, v1, s[0:7], s[8:11]\n\tmystery_b32 v1, v2\n"
                              "\ts_swappc_b64 s[30:31], s[0:1]\n"
                              "\ts_cbranch_scc1 .LBB0_1\n\ts_endpgm\n";

Test(report, unknown_instructions_are_named_once_and_calls_said) {
    char *path = write_temporary(mystery, sizeof mystery - 1, ".mystery");
    struct report report = run(&(struct report_request){.file = path});
    struct text table = print(&report, false), json = print(&report, true);
    cr_assert_eq(report.loops[0].issue.total.count[MIX_OTHER], 3);
    cr_assert_not_null(strstr(table.bytes, "\n  other: mystery_b32 image_sample\n"), "%s", table.bytes);
    cr_assert_not_null(strstr(table.bytes, "\n1 calls: what they call is not counted\n"), "%s", table.bytes);
    cr_assert_not_null(strstr(table.bytes,
                              "\n  modelled bound: unknown; no cycle counts for an unnamed chip's instructions here; "
                              "name the chip with --arch\n"),
                       "%s", table.bytes);
    cr_assert_not_null(strstr(table.bytes, "\nregisters   unknown: a disassembly does not say; give the code object or "
                                           "the compiler's text\n"),
                       "%s", table.bytes);
    cJSON *root = cJSON_Parse(json.bytes);
    cr_assert_not_null(root);
    const cJSON *loop = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "loops"), 0);
    const cJSON *others = cJSON_GetObjectItem(loop, "other_mnemonics");
    cr_assert(cJSON_IsNull(cJSON_GetObjectItem(root, "arch")) && cJSON_IsNull(cJSON_GetObjectItem(root, "resources")));
    cr_assert(cJSON_IsNull(cJSON_GetObjectItem(loop, "bound_percent")));
    cr_assert_eq(cJSON_GetArraySize(others), 2);
    cr_assert_str_eq(cJSON_GetArrayItem(others, 0)->valuestring, "mystery_b32");
    cr_assert_str_eq(cJSON_GetArrayItem(others, 1)->valuestring, "image_sample");
    cJSON_Delete(root);
    text_free(&table);
    text_free(&json);
    report_free(&report);
    drop_temporary(path);
}

Test(report, a_kernel_without_matrix_loop_says_so) {
    static const char plain[] = "k:\n\ts_nop 0\n\ts_endpgm\n";
    char *path = write_temporary(plain, sizeof plain - 1, ".plain");
    struct report report = run(&(struct report_request){.file = path, .arch = "gfx1151"});
    struct text table = print(&report, false);
    cr_assert_str_eq(table.bytes,
                     "k\nchip        gfx1151, wave32\nregisters   unknown: a disassembly does not say; give the "
                     "code object or the compiler's text\n\nno loop holds matrix instructions\n");
    text_free(&table);
    report_free(&report);
    drop_temporary(path);
}

/* Of a listing nobody knows how many waves share a SIMD: the wave's own work must do. */
Test(report, latency_that_is_covered_and_not) {
    static const struct {
        int instructions;
        const char *line;
    } rows[] = {{15, "least_cycles\":\t480,"}, {16, "least_cycles\":\t512,"}};
    for (int i = 0; i < 2; i++) {
        struct text kernel = {0};
        text_puts(&kernel, "k:\n.LBB0_1:\n\ts_waitcnt vmcnt(0)\n\tglobal_load_b128 v[20:23], v[0:1], off\n");
        for (int k = 0; k < rows[i].instructions; k++)
            text_puts(&kernel, "\tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]\n");
        text_puts(&kernel, "\ts_cbranch_scc1 .LBB0_1\n\ts_endpgm\n");
        char *path = write_temporary(kernel.bytes, kernel.length, ".latency");
        struct report report = run(&(struct report_request){.file = path, .arch = "gfx1151"});
        struct text table = print(&report, false), json = print(&report, true);
        char expected[200];
        snprintf(
            expected, sizeof expected,
            "\n  global loads: 1, %d cycles of work between issue and wait at least, %d.0 in the mean; %scovered (500 "
            "cycles or 4 waves per SIMD)\n",
            32 * rows[i].instructions, 32 * rows[i].instructions, i == 0 ? "not " : "");
        cr_assert_not_null(strstr(table.bytes, expected), "%s", table.bytes);
        const char *wait = strstr(json.bytes, rows[i].line), *covered = wait ? strstr(wait, "\"covered\":\t") : NULL;
        cr_assert(covered && strncmp(covered + 11, i == 0 ? "false" : "true", 4) == 0, "%s", json.bytes);
        text_free(&kernel);
        text_free(&table);
        text_free(&json);
        report_free(&report);
        drop_temporary(path);
    }
}

/* On a chip without matrix instructions the work is its multiply-adds. */
Test(report, multiply_adds_are_the_work_of_a_chip_without_matrix_instructions) {
    static const char text[] = "k:\n.LBB0_1:\n\tv_dot2_f32_f16 v0, v1, v2, v0\n\tv_add_f32_e32 v0, v1, v2\n"
                               "\ts_cbranch_scc1 .LBB0_1\n\ts_endpgm\n";
    char *path = write_temporary(text, sizeof text - 1, ".dot");
    struct report report = run(&(struct report_request){.file = path, .arch = "gfx1030", .clock_ghz = 2});
    struct text table = print(&report, false), json = print(&report, true);
    cr_assert_str_eq(
        table.bytes,
        "k\nchip        gfx1030, wave32\nregisters   unknown: a disassembly does not say; give the "
        "code object or the compiler's text\n\n"
        "loop .LBB0_1, body\n"
        "  block           VALU trans mul-add LDS global branch\n"
        "  .LBB0_1            2     0       1   0      0      1\n"
        "  total              2     0       1   0      0      1\n"
        "  per multiply-add: 2.00 VALU, 0.00 transcendental, 0.00 LDS\n"
        "  modelled bound: 50.0% of the multiply-add rate, 0.3 TFLOP/s of 1 compute unit at 2 GHz (cycles: "
        "multiply-add 1, SIMD 2, LDS 0, L0 0; slowest: simd; vector/multiply-add 1.00)\n\n"
        "The bound is modelled: it counts the cycles of issue alone and is no measurement.\n");
    cr_assert_not_null(strstr(json.bytes, "\"useful\":\t\"multiply_add\""));
    text_free(&table);
    text_free(&json);
    report_free(&report);
    drop_temporary(path);

    static const char plain[] = "k:\n\ts_nop 0\n\ts_endpgm\n";
    path = write_temporary(plain, sizeof plain - 1, ".nodot");
    report = run(&(struct report_request){.file = path, .arch = "gfx906"});
    table = print(&report, false);
    cr_assert_not_null(strstr(table.bytes, "\nno loop holds multiply-adds\n"));
    text_free(&table);
    report_free(&report);
    drop_temporary(path);
}

Test(report, accumulation_registers_are_said) {
    static const struct {
        const char *arch, *registers;
    } rows[] = {{"gfx908", "registers   64 VGPR, 64 AGPR in a file of their own, 6 SGPR\n"},
                {"gfx90a", "registers   76 VGPR, 64 AGPR among them, 6 SGPR\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct compiled object = compile_text("extern \"C\" __attribute__((global)) void k(int *p) {\n"
                                              "  asm volatile(\"\" ::: \"v9\", \"a63\"); *p = 0;\n}\n",
                                              rows[i].arch, 64, NULL);
        char *path = write_temporary(object.bytes, object.length, ".agpr");
        struct report report = run(&(struct report_request){.file = path});
        struct text table = print(&report, false);
        char *line = strstr(table.bytes, "registers"), *sgpr = strstr(table.bytes, " SGPR");
        cr_assert(line != NULL && strncmp(line, rows[i].registers, strlen(rows[i].registers) - 8) == 0 && sgpr != NULL,
                  "%s", table.bytes);
        text_free(&table);
        report_free(&report);
        drop_temporary(path);
        compiled_free(&object);
    }
}

Test(report, the_wave_of_a_listing_is_the_chips_usual_one) {
    char *path = write_temporary(mystery, sizeof mystery - 1, ".wave");
    static const struct {
        const char *arch;
        int asked, got;
    } rows[] = {{"gfx1151", 0, 32}, {"gfx942", 0, 64}, {"gfx1151", 64, 64}, {NULL, 0, 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct report report = run(&(struct report_request){.file = path, .arch = rows[i].arch, .wave = rows[i].asked});
        cr_assert_eq(report.wave, rows[i].got);
        report_free(&report);
    }
    drop_temporary(path);
}

/* ---- Refusals
 * ---------------------------------------------------------------------------------------------------------- */

static void refused(const struct report_request *request, enum error_kind kind, const char *format) {
    struct report report;
    struct error error;
    char expected[2048];
    snprintf(expected, sizeof expected, format, request->file);
    cr_assert_not(report_run(request, &report, &error));
    cr_assert_str_eq(error.text, expected);
    cr_assert_eq(error.kind, kind);
    cr_assert(report.loops == NULL && report.assembly.text == NULL);
}

Test(report, errors) {
    char hand[1024];
    snprintf(hand, sizeof hand, "%s", sample_path("hand.s"));
    refused(&(struct report_request){.file = "/nowhere/k.s"}, ERROR_RUN,
            "%s: expected a readable file, got: No such file or directory");
    refused(&(struct report_request){.file = hand, .symbol = "foot"}, ERROR_USAGE,
            "%s: code object: expected kernel 'foot', got hand; name one of those");
    refused(&(struct report_request){.file = hand, .arch = "gfx1100"}, ERROR_USAGE,
            "%s: expected code for gfx1100, as --arch says, got code for gfx1151; leave --arch out");
    refused(&(struct report_request){.file = hand, .wave = 64}, ERROR_USAGE,
            "%s: expected wave64, as --wave says, got wave32; leave --wave out");
    refused(&(struct report_request){.file = "/bin/sh"}, ERROR_USAGE,
            "%s: code object: expected an ELF file for AMD GPUs (machine 224, 64-bit, little endian), got machine 62, "
            "class "
            "2, byte order 1; compile with --offload-device-only");
    char *nothing = write_temporary("", 0, ".empty");
    refused(&(struct report_request){.file = nothing}, ERROR_USAGE,
            "%s: assembly: expected the text of an AMD GPU kernel (a label, instructions, s_endpgm), found none in 0 "
            "lines; "
            "give what clang -S or llvm-objdump -d --symbolize-operands prints");
    drop_temporary(nothing);
}

/* ---- Disassembler
 * -------------------------------------------------------------------------------------------------------- */

/* A folder with a compiler and a disassembler that are shell scripts. */
static void make_tool(const char *folder, const char *name, const char *script) {
    char path[256];
    struct error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert(file_write(path, script, strlen(script), &error), "%s", error.text);
    cr_assert_eq(chmod(path, 0755), 0);
}

static void make_folder(const char *root, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    cr_assert_eq(mkdir(path, 0755), 0);
}

/* `tools` is where the disassembler stands, the compiler is bin/clang++; a link from elsewhere leads to it. */
static void check_beside(const char *tools) {
    char root[] = "/tmp/fmhagen tools XXXXXX", path[128], remove[300];
    struct text listing = {0};
    struct error error;
    cr_assert_not_null(mkdtemp(root));
    make_folder(root, "bin");
    make_folder(root, "llvm");
    make_folder(root, "llvm/bin");
    make_tool(root, "bin/clang++", "#!/bin/sh\n");
    snprintf(path, sizeof path, "%s/llvm-objdump", tools);
    make_tool(root, path, "#!/bin/sh\necho \"<k>: $1 $2 $(cat \"$3\")\"\n");
    snprintf(path, sizeof path, "%s/clang++-99", root);
    cr_assert_eq(symlink("bin/clang++", path), 0);
    text_puts(&listing, "before ");
    cr_assert(disassemble("object", 6, "k", path, &listing, &error), "%s", error.text);
    cr_assert_str_eq(listing.bytes, "before <k>: -d --symbolize-operands object\n");
    text_free(&listing);
    snprintf(remove, sizeof remove, "rm -r '%s'", root);
    cr_assert_eq(system(remove), 0);
}

Test(report, the_disassembler_beside_the_compiler_comes_first) {
    check_beside("bin");
    check_beside("llvm/bin"); /* as ROCm lays it out */
}

Test(report, no_disassembler_that_serves_is_an_error) {
    struct text listing = {0};
    struct error error;
    cr_assert_not(disassemble("no object", 9, "k", NULL, &listing, &error));
    cr_assert_eq(error.kind, ERROR_RUN);
    cr_assert_null(listing.bytes);
    if (strncmp(error.text, "disassembly: expected llvm-objdump beside", 41) != 0) { /* where none is installed */
        static const char begin[] = "disassembly: expected an llvm-objdump that knows the chip and lists k, none of ";
        static const char end[] = "; install that of the compiler's version";
        size_t length = strlen(error.text);
        cr_assert_eq(strncmp(error.text, begin, sizeof begin - 1), 0, "%s", error.text);
        cr_assert(length > sizeof end && strcmp(error.text + length - (sizeof end - 1), end) == 0, "%s", error.text);
    }
    setenv("TMPDIR", "/nowhere", 1);
    cr_assert_not(disassemble("no object", 9, "k", NULL, &listing, &error));
    cr_assert_str_eq(error.text,
                     "/nowhere: no folder can be made in it: No such file or directory; set TMPDIR to a writable "
                     "folder");
}

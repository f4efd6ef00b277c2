#include "report.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "disassemble.h"
#include "instance.h"
#include "report_estimate.h"
#include "report_parts.h"
#include "report_run.h"

/* ---- Making it
 * ---------------------------------------------------------------------------------------------------------- */

static bool is_same_chip(const char *left, const char *right) {
    size_t length = strcspn(left, ":");
    return length == strcspn(right, ":") && memcmp(left, right, length) == 0;
}

static bool read_object(const void *bytes, size_t length, const char *symbol, const char *compiler_path,
                        struct report *report, struct error *error) {
    struct text listing = {0};
    if (!codeobject_resources(bytes, length, symbol, &report->resources, error)) {
        return false;
    }
    const char *name = report->resources.symbol;
    if (strncmp(report->resources.target, "sm_", 3) == 0) {
        return error_set(error, ERROR_USAGE,
                         "%s: expected a code object whose instructions can be read, got a cubin for %s; its registers "
                         "and LDS are in NAME.json, which `fmhagen build` writes",
                         name, report->resources.target);
    }
    bool good = disassemble(bytes, length, name, compiler_path, &listing, error) &&
                assembly_parse(listing.bytes, listing.length, name, &report->assembly, error);
    text_free(&listing);
    report->has_resources = true;
    return good;
}

static bool read_text(const char *text, size_t length, const char *symbol, struct report *report, struct error *error) {
    if (!codeobject_has_metadata(text, length)) {
        return assembly_parse(text, length, symbol, &report->assembly, error);
    }
    report->has_resources = codeobject_resources_assembly(text, length, symbol, &report->resources, error);
    return report->has_resources && assembly_parse(text, length, report->resources.symbol, &report->assembly, error);
}

/* *object receives the file's bytes, for the caller to free, on failure too. */
static bool read_file(const struct report_request *request, struct report *report, void **object, size_t *length,
                      struct error *error) {
    char *bytes;
    struct error reason;
    if (!file_read(request->file, &bytes, length, error)) {
        return false;
    }
    *object = bytes;
    bool binary = memchr(bytes, 0, *length) != NULL || codeobject_is_elf(bytes, *length);
    if (request->run && !binary) {
        return error_set(error, ERROR_USAGE, "%s: expected a code object, which can be run, got text; leave --run out",
                         request->file);
    }
    bool good = binary ? read_object(bytes, *length, request->symbol, NULL, report, &reason)
                       : read_text(bytes, *length, request->symbol, report, &reason);
    if (!good) {
        return error_set(error, reason.kind, "%s: %s", request->file, reason.text);
    }
    const char *target = report->resources.target;
    if (request->arch != NULL && target[0] != 0 && !is_same_chip(request->arch, target)) {
        return error_set(error, ERROR_USAGE, "%s: expected code for %s, as --arch says, got code for %s; %s",
                         request->file, request->arch, target,
                         request->spec ? "describe the kernel that the file holds" : "leave --arch out");
    }
    if (request->wave != 0 && report->has_resources && request->wave != report->resources.wave) {
        return error_set(error, ERROR_USAGE, "%s: expected wave%d, as --wave says, got wave%d; leave --wave out",
                         request->file, request->wave, report->resources.wave);
    }
    return true;
}

static bool read_spec(const struct report_request *request, struct report *report, struct error *error) {
    struct instance emitted;
    const struct instance *instance = request->instance != NULL ? request->instance : &emitted;
    fmha_compiler compiler;
    void *object = NULL;
    size_t length = 0;
    if (request->instance == NULL && !instance_emit(request->engine, request->spec, &emitted, error)) {
        return false;
    }
    snprintf(report->instance, sizeof report->instance, "%s", instance->name);
    const fmha_source source = {
        .text = instance->text.bytes, .symbol = instance->name, .wave = request->spec->value[SPEC_WAVE]};
    bool good;
    if (request->file != NULL) {
        good = read_file(request, report, &object, &length, error);
        snprintf(report->instance, sizeof report->instance, "%s", report->assembly.symbol);
    } else {
        good = fmha_compiler_find(request->spec->arch, &compiler) == FMHA_OK &&
               fmha_compiler_compile_source(&compiler, request->spec->arch, &source, &object, &length) == FMHA_OK;
        if (!good) {
            error_set(error, ERROR_RUN, "%s: %s", instance->name, fmha_last_error());
        }
        good = good && read_object(object, length, instance->name, compiler.path, report, error);
    }
    good = good && (!request->run || report_run_shapes(request, instance, object, length, report, error));
    free(object);
    if (request->instance == NULL) {
        instance_free(&emitted);
    }
    return good;
}

static bool read_other(const struct report_request *request, struct report *report, struct error *error) {
    void *object = NULL;
    size_t length;
    bool good = read_file(request, report, &object, &length, error);
    free(object);
    snprintf(report->instance, sizeof report->instance, "%s", report->assembly.symbol);
    return good;
}

static double per_useful(const struct report *report, const struct mix *mix, enum mix_id id) {
    return mix->count[report->useful] > 0 ? (double)mix->count[id] / mix->count[report->useful] : 0;
}

/* What the bound is a share of, and what the loops' instructions are counted per. */
static const char *useful_word(const struct report *report) {
    return report->useful == MIX_MATRIX ? "matrix" : "multiply-add";
}

static const char *useful_words(const struct report *report) {
    return report->useful == MIX_MATRIX ? "matrix instructions" : "multiply-adds";
}

/* The loop with the fewest VALU per useful instruction does the bulk of the work; the others mask what they compute. */
static void assign_roles(struct report *report) {
    int body = 0;
    for (int i = 1; i < report->loop_count; i++) {
        if (per_useful(report, &report->loops[i].issue.total, MIX_VALU) <
            per_useful(report, &report->loops[body].issue.total, MIX_VALU)) {
            body = i;
        }
    }
    for (int i = 0; i < report->loop_count; i++) {
        report->loops[i].role = i == body ? "body" : "edge";
    }
}

static bool analyse_loops(struct report *report, struct error *error) {
    const struct assembly *assembly = &report->assembly;
    report->loops = calloc((size_t)assembly->loop_count + 1, sizeof *report->loops);
    if (report->loops == NULL) {
        return error_set(error, ERROR_RUN, "%s: out of memory; report on one kernel alone", report->instance);
    }
    for (int i = 0; i < assembly->loop_count; i++) {
        struct report_loop *loop = &report->loops[report->loop_count];
        if (!assembly_innermost(assembly, i, report->useful)) {
            continue;
        }
        loop->loop = &assembly->loops[i];
        if (!issue_loop_analyse(assembly, loop->loop, report->arch, report->wave, &loop->issue, error)) {
            return false;
        }
        report->loop_count++;
    }
    assign_roles(report);
    return true;
}

static bool make_estimates(const struct report_request *request, struct report *report, struct error *error) {
    report->estimates = calloc(request->shape_count + 1, sizeof *report->estimates);
    if (report->estimates == NULL) {
        return error_set(error, ERROR_RUN, "%s: out of memory; report on one kernel alone", report->instance);
    }
    report_run_roles(report);
    for (size_t i = 0; i < request->shape_count; i++) {
        struct report_estimate *estimate = &report->estimates[report->estimate_count++];
        if (request->run) {
            const struct report_problem *problem = &report->problems[i];
            report_estimate_run(report, request->spec, &request->shapes[i], &problem->work, problem->pairs,
                                report_run_bytes(problem), estimate);
        } else {
            report_estimate_tiles(report, request->spec, &request->shapes[i], estimate);
        }
    }
    return true;
}

static bool check_request(const struct report_request *request, struct error *error) {
    const char *arch = request->spec != NULL ? request->spec->arch : request->arch;
    if (arch != NULL && strncmp(arch, "gfx", 3) != 0) {
        return error_set(error, ERROR_USAGE,
                         "report: expected a chip of AMD, whose machine code is read, got %s; choose one of 'fmhagen "
                         "list --arch' that begins with gfx",
                         arch);
    }
    for (size_t i = 0; i < request->shape_count; i++) {
        if (!request->run &&
            !report_estimate_check(request->spec, &request->shapes[i], "add --run, which counts them", error)) {
            return false;
        }
    }
    return true;
}

bool report_run(const struct report_request *request, struct report *report, struct error *error) {
    memset(report, 0, sizeof *report);
    bool good = check_request(request, error) &&
                (request->spec != NULL ? read_spec(request, report, error) : read_other(request, report, error));
    if (good) {
        const char *arch = report->resources.target[0] != 0 ? report->resources.target : request->arch;
        snprintf(report->arch, sizeof report->arch, "%s", arch != NULL ? arch : "");
        int usual = codeobject_usual_wave(report->arch);
        report->wave = report->has_resources ? report->resources.wave : request->wave != 0 ? request->wave : usual;
        report->clock_ghz = request->clock_ghz;
        report->compute_units = request->compute_units > 0 ? request->compute_units : 1;
        report->bandwidth_gbs = request->bandwidth_gbs;
        report->useful = issue_useful(issue_family_of(report->arch));
        good = analyse_loops(report, error) && make_estimates(request, report, error);
    }
    if (!good) {
        report_free(report);
    }
    return good;
}

void report_free(struct report *report) {
    for (int i = 0; i < report->loop_count; i++) {
        issue_loop_free(&report->loops[i].issue);
    }
    free(report->loops);
    free(report->estimates);
    report_run_free(report);
    assembly_free(&report->assembly);
    memset(report, 0, sizeof *report);
}

/* ---- What both forms show
 * -------------------------------------------------------------------------------------------------- */

double report_tflops(const struct report *report, const struct issue_bound *bound) {
    int simds = issue_simds_per_compute_unit(report->arch);
    return bound->flop_per_cycle * simds * report->compute_units * report->clock_ghz / 1000;
}

typedef void (*visit_word)(void *context, const char *word, size_t length);

static bool is_other(const struct assembly *assembly, int instruction, const char *word, size_t length) {
    const char *text = assembly->instructions[instruction].text;
    return assembly->instructions[instruction].unit == MIX_OTHER &&
           (word == NULL || (instruction_mnemonic(text) == length && memcmp(text, word, length) == 0));
}

/* Calls back once for each different mnemonic of the loop that no rule knows. */
static void each_other(const struct assembly *assembly, const struct assembly_loop *loop, visit_word visit,
                       void *context) {
    for (int i = 0; i < loop->block_count; i++) {
        const struct assembly_block *block = &assembly->blocks[loop->blocks[i]];
        for (int k = block->first; k < block->first + block->count; k++) {
            const char *word = assembly->instructions[k].text;
            size_t length = instruction_mnemonic(word);
            bool first = is_other(assembly, k, NULL, 0);
            for (int b = 0; b <= i && first; b++) {
                const struct assembly_block *before = &assembly->blocks[loop->blocks[b]];
                int end = b == i ? k : before->first + before->count;
                for (int m = before->first; m < end && first; m++) {
                    first = !is_other(assembly, m, word, length);
                }
            }
            if (first) {
                visit(context, word, length);
            }
        }
    }
}

/* ---- Table
 * ------------------------------------------------------------------------------------------------------------------ */

enum { LABEL_WIDTH = 14 };

static void table_resources(const struct report *report, struct text *out) {
    const struct resources *resources = &report->resources;
    if (!report->has_resources) {
        text_puts(out,
                  "registers   unknown: a disassembly does not say; give the code object or the compiler's text\n");
        return;
    }
    text_printf(out, "registers   %d VGPR, ", resources->vgpr);
    if (resources->agpr > 0) {
        text_printf(out, "%d AGPR %s, ", resources->agpr,
                    codeobject_unified_file(resources->target) ? "among them" : "in a file of their own");
    }
    text_printf(out, "%d SGPR\n", resources->sgpr);
    text_printf(out, "spills      %d VGPR, %d SGPR; scratch %d bytes per work item\n", resources->vgpr_spills,
                resources->sgpr_spills, resources->scratch_bytes);
    text_printf(out, "LDS         %d bytes per workgroup\n", resources->lds_bytes);
    if (resources->waves_per_simd > 0) {
        text_printf(out, "waves       %d per SIMD: %d by VGPRs", resources->waves_per_simd, resources->waves_by_vgpr);
        if (resources->waves_by_lds > 0) {
            text_printf(out, ", %d by LDS", resources->waves_by_lds);
        }
        if (resources->waves_per_simd < resources->waves_by_vgpr &&
            (resources->waves_by_lds == 0 || resources->waves_per_simd < resources->waves_by_lds)) {
            text_printf(out, ", %d in whole workgroups", resources->waves_per_simd);
        }
        text_puts(out, "\n");
    } else {
        text_puts(out, "waves       unknown chip\n");
    }
    text_printf(out, "workgroup   at most %d work items; %d bytes of arguments\n", resources->workgroup_max,
                resources->kernarg_bytes);
}

/* A column is shown when any of the loop's blocks has something in it, the main ones always; multiply-adds where they
 * are the work. */
static bool is_shown(const struct mix *total, int id) {
    if (id == MIX_MULTIPLY_ADD || id == MIX_MATRIX) {
        return (total->count[MIX_MATRIX] > 0) == (id == MIX_MATRIX);
    }
    return total->count[id] > 0 || id == MIX_VALU || id == MIX_TRANSCENDENTAL || id == MIX_LDS || id == MIX_GLOBAL;
}

static int column_width(const struct mix *total, int id) {
    int heading = (int)strlen(mix_names[id].heading), digits = snprintf(NULL, 0, "%d", total->count[id]);
    return heading > digits ? heading : digits;
}

static void table_row(struct text *out, const char *label, const char *mark, const struct mix *mix,
                      const struct mix *total) {
    text_printf(out, "  %-*s", LABEL_WIDTH, label);
    text_printf(out, "%-1s", mark);
    for (int id = 0; id < MIX_COUNT; id++) {
        if (is_shown(total, id)) {
            text_printf(out, " %*d", column_width(total, id), mix->count[id]);
        }
    }
    text_puts(out, "\n");
}

static void table_bound(const struct report *report, const struct issue_way *way, bool choice, struct text *out) {
    const struct issue_bound *bound = &way->bound;
    text_printf(out, "  modelled bound%s%s", choice ? ", " : "", choice ? way->name : "");
    if (!bound->known) {
        text_printf(out, ": unknown; no cycle counts for %s's instructions here%s\n",
                    report->arch[0] != 0 ? report->arch : "an unnamed chip",
                    report->arch[0] != 0 ? "" : "; name the chip with --arch");
        return;
    }
    text_printf(out, ": %.1f%% of the %s rate", bound->percent, useful_word(report));
    if (report->clock_ghz > 0) {
        text_printf(out, ", %.1f TFLOP/s of %d compute unit%s at %g GHz", report_tflops(report, bound),
                    report->compute_units, report->compute_units == 1 ? "" : "s", report->clock_ghz);
    }
    text_printf(out, " (cycles: %s %.0f, SIMD %.0f, LDS %.0f, L0 %.0f; slowest: %s; vector/%s %.2f)\n",
                useful_word(report), bound->matrix_cycles, bound->simd_cycles, bound->lds_cycles, bound->l0_cycles,
                bound->slowest, useful_word(report), way->vector_cycles / bound->matrix_cycles);
}

static void table_other(void *context, const char *word, size_t length) {
    struct text *out = context;
    text_printf(out, " %.*s", (int)length, word);
}

static void table_per_useful(const struct report *report, const char *way, const struct mix *mix, struct text *out) {
    text_printf(out, "  per %s%s: %.2f VALU, %.2f transcendental, %.2f LDS\n",
                report->useful == MIX_MATRIX ? "matrix instruction" : useful_word(report), way,
                per_useful(report, mix, MIX_VALU), per_useful(report, mix, MIX_TRANSCENDENTAL),
                per_useful(report, mix, MIX_LDS));
}

/* Whether a load's latency is hidden behind the wave's own work, or behind that of so many waves of the SIMD. */
struct latency {
    double wanted_cycles; /* 0: nothing is asked of such loads */
    bool covered;
};
enum { WANTED_WAVES = 4 };

static struct latency latency_of(const struct report *report, const struct issue_cover *cover) {
    struct latency latency = {0, false};
    if (strcmp(cover->kind, issue_load_names[ISSUE_LOAD_GLOBAL]) == 0) {
        latency.wanted_cycles = 500;
    } else if (strcmp(cover->kind, issue_load_names[ISSUE_LOAD_LDS]) == 0) {
        latency.wanted_cycles = 100;
    }
    latency.covered = cover->least_cycles >= latency.wanted_cycles || report->resources.waves_per_simd >= WANTED_WAVES;
    return latency;
}

static void table_latency(const struct report *report, const struct issue_cover *cover, struct text *out) {
    struct latency latency = latency_of(report, cover);
    if (latency.wanted_cycles > 0) {
        text_printf(out, "; %s (%g cycles or %d waves per SIMD)", latency.covered ? "covered" : "not covered",
                    latency.wanted_cycles, WANTED_WAVES);
    }
    text_puts(out, "\n");
}

static void table_loop(const struct report *report, const struct report_loop *loop, struct text *out) {
    const struct assembly *assembly = &report->assembly;
    const struct issue_loop *issue = &loop->issue;
    const struct mix *total = &issue->total;
    bool some = false;
    text_printf(out, "\nloop %s, %s\n  %-*s ", assembly->blocks[loop->loop->header].label, loop->role, LABEL_WIDTH,
                "block");
    for (int id = 0; id < MIX_COUNT; id++) {
        if (is_shown(total, id)) {
            text_printf(out, " %*s", column_width(total, id), mix_names[id].heading);
        }
    }
    text_puts(out, "\n");
    for (int i = 0; i < loop->loop->block_count; i++) {
        const struct assembly_block *block = &assembly->blocks[loop->loop->blocks[i]];
        table_row(out, block->label, issue->always[i] ? "" : "*", &block->mix, total);
        some = some || !issue->always[i];
    }
    table_row(out, "total", "", total, total);
    for (int i = 0; i < issue->way_count && issue->way_count > 1; i++) {
        table_row(out, issue->ways[i].name, "", &issue->ways[i].mix, total);
    }
    if (some) {
        text_puts(out, "  * not in every pass\n");
    }
    table_per_useful(report, "", total, out);
    for (int i = 0; i < issue->way_count && issue->way_count > 1; i++) {
        table_per_useful(report, i == 0 ? ", skip" : ", take", &issue->ways[i].mix, out);
    }
    for (int i = 0; i < issue->way_count; i++) {
        table_bound(report, &issue->ways[i], issue->way_count > 1, out);
    }
    for (int i = 0; i < issue->cover_count; i++) {
        const struct issue_cover *cover = &issue->covers[i];
        if (cover->loads > 0) {
            text_printf(out, "  %s loads: %d, %.0f cycles of work between issue and wait at least, %.1f in the mean",
                        cover->kind, cover->loads, cover->least_cycles, cover->mean_cycles);
            table_latency(report, cover, out);
        }
    }
    if (issue->inner) {
        text_printf(out, "  holds a loop without %s, counted as if it ran once\n", useful_words(report));
    }
    if (total->count[MIX_OTHER] > 0) {
        text_puts(out, "  other:");
        each_other(assembly, loop->loop, table_other, out);
        text_puts(out, "\n");
    }
}

void report_table(const struct report *report, struct text *out) {
    text_printf(out, "%s\nchip        %s, wave%d\n", report->instance, report->arch[0] != 0 ? report->arch : "unknown",
                report->wave);
    table_resources(report, out);
    for (int i = 0; i < report->loop_count; i++) {
        table_loop(report, &report->loops[i], out);
    }
    if (report->loop_count == 0) {
        text_printf(out, "\nno loop holds %s\n", useful_words(report));
    } else {
        text_puts(out, "\nThe bound is modelled: it counts the cycles of issue alone and is no measurement.\n");
    }
    report_run_table(report, out);
    for (size_t i = 0; i < report->estimate_count; i++) {
        report_estimate_table(report, &report->estimates[i], out);
    }
    if (report->assembly.calls > 0) {
        text_printf(out, "%d calls: what they call is not counted\n", report->assembly.calls);
    }
}

/* ---- JSON
 * -------------------------------------------------------------------------------------------------------------------
 */

void report_put_shape(struct json *json, cJSON *to, const struct verify_shape *shape) {
    cJSON *lengths = json_put_object(json, to, "shape");
    json_put_number(json, lengths, "batch", (double)shape->batch);
    json_put_number(json, lengths, "heads_q", (double)shape->heads_q);
    json_put_number(json, lengths, "heads_k", (double)shape->heads_k);
    json_put_number(json, lengths, "seqlen_q", (double)shape->seqlen_q);
    json_put_number(json, lengths, "seqlen_k", (double)shape->seqlen_k);
}

void report_put_mix(struct json *json, cJSON *to, const struct mix *mix) {
    for (int id = 0; id < MIX_COUNT; id++) {
        json_put_number(json, to, mix_names[id].name, mix->count[id]);
    }
}

static void put_per_useful(struct json *json, cJSON *to, const struct report *report, const struct mix *mix) {
    cJSON *object = json_put_object(json, to, "per_matrix");
    json_put_rounded(json, object, "valu", per_useful(report, mix, MIX_VALU));
    json_put_rounded(json, object, "transcendental", per_useful(report, mix, MIX_TRANSCENDENTAL));
    json_put_rounded(json, object, "lds", per_useful(report, mix, MIX_LDS));
}

void report_put_bound(struct json *json, cJSON *to, const struct report *report, const struct issue_bound *bound) {
    if (!bound->known) {
        json_put_null(json, to, "bound_percent");
        return;
    }
    json_put_rounded(json, to, "bound_percent", bound->percent);
    json_put_string(json, to, "slowest", bound->slowest);
    json_put_rounded(json, to, "matrix_cycles", bound->matrix_cycles);
    json_put_rounded(json, to, "simd_cycles", bound->simd_cycles);
    json_put_rounded(json, to, "lds_cycles", bound->lds_cycles);
    json_put_rounded(json, to, "l0_cycles", bound->l0_cycles);
    if (report->clock_ghz > 0) {
        json_put_rounded(json, to, "bound_tflops", report_tflops(report, bound));
    }
}

static void put_resources(struct json *json, cJSON *to, const struct report *report) {
    const struct resources *resources = &report->resources;
    if (!report->has_resources) {
        json_put_null(json, to, "resources");
        return;
    }
    cJSON *object = json_put_object(json, to, "resources");
    json_put_number(json, object, "vgpr", resources->vgpr);
    json_put_number(json, object, "agpr", resources->agpr);
    json_put_number(json, object, "sgpr", resources->sgpr);
    json_put_number(json, object, "spills", resources->vgpr_spills + resources->sgpr_spills);
    json_put_number(json, object, "vgpr_spills", resources->vgpr_spills);
    json_put_number(json, object, "sgpr_spills", resources->sgpr_spills);
    json_put_number(json, object, "scratch_bytes", resources->scratch_bytes);
    json_put_number(json, object, "lds_bytes", resources->lds_bytes);
    json_put_number(json, object, "kernarg_bytes", resources->kernarg_bytes);
    json_put_number(json, object, "waves_per_simd", resources->waves_per_simd);
    json_put_number(json, object, "waves_by_vgpr", resources->waves_by_vgpr);
    json_put_number(json, object, "waves_by_lds", resources->waves_by_lds);
    json_put_number(json, object, "workgroup_max", resources->workgroup_max);
}

struct word_list {
    struct json *json;
    cJSON *array;
};

static void put_word(void *context, const char *word, size_t length) {
    struct word_list *list = context;
    char copy[128];
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 127 ? length : 127), word);
    json_append(list->json, list->array, cJSON_CreateString(copy));
}

static void put_vector(struct json *json, cJSON *to, const struct issue_way *way) {
    if (way->bound.known) {
        json_put_rounded(json, to, "vector_cycles", way->vector_cycles);
        json_put_rounded(json, to, "vector_per_matrix_cycle", way->vector_cycles / way->bound.matrix_cycles);
    }
}

static void put_ways(struct json *json, cJSON *to, const struct report *report, const struct issue_loop *issue) {
    cJSON *ways = json_put_array(json, to, "ways");
    for (int i = 0; i < issue->way_count; i++) {
        const struct issue_way *way = &issue->ways[i];
        cJSON *object = json_append(json, ways, cJSON_CreateObject());
        json_put_string(json, object, "name", way->name);
        cJSON *labels = json_put_array(json, object, "blocks");
        for (int k = 0; k < way->block_count; k++) {
            json_append(json, labels, cJSON_CreateString(report->assembly.blocks[way->blocks[k]].label));
        }
        report_put_mix(json, json_put_object(json, object, "total"), &way->mix);
        put_per_useful(json, object, report, &way->mix);
        report_put_bound(json, object, report, &way->bound);
        put_vector(json, object, way);
    }
}

static void put_loop(struct json *json, cJSON *loops, const struct report *report, const struct report_loop *loop) {
    const struct assembly *assembly = &report->assembly;
    const struct issue_loop *issue = &loop->issue;
    cJSON *object = json_append(json, loops, cJSON_CreateObject());
    json_put_string(json, object, "role", loop->role);
    json_put_string(json, object, "label", assembly->blocks[loop->loop->header].label);
    json_put_number(json, object, "depth", loop->loop->depth);
    cJSON *blocks = json_put_array(json, object, "blocks");
    for (int i = 0; i < loop->loop->block_count; i++) {
        const struct assembly_block *block = &assembly->blocks[loop->loop->blocks[i]];
        cJSON *item = json_append(json, blocks, cJSON_CreateObject());
        json_put_string(json, item, "label", block->label);
        json_put_bool(json, item, "always", issue->always[i]);
        report_put_mix(json, item, &block->mix);
    }
    report_put_mix(json, json_put_object(json, object, "total"), &issue->total);
    put_per_useful(json, object, report, &issue->total);
    report_put_bound(json, object, report, &issue->ways[0].bound);
    put_vector(json, object, &issue->ways[0]);
    put_ways(json, object, report, issue);
    cJSON *waits = json_put_array(json, object, "waits");
    for (int i = 0; i < issue->cover_count; i++) {
        cJSON *wait = json_append(json, waits, cJSON_CreateObject());
        json_put_string(json, wait, "kind", issue->covers[i].kind);
        json_put_number(json, wait, "loads", issue->covers[i].loads);
        json_put_rounded(json, wait, "least_cycles", issue->covers[i].least_cycles);
        json_put_rounded(json, wait, "mean_cycles", issue->covers[i].mean_cycles);
        struct latency latency = latency_of(report, &issue->covers[i]);
        if (latency.wanted_cycles > 0) {
            json_put_number(json, wait, "wanted_cycles", latency.wanted_cycles);
            json_put_number(json, wait, "wanted_waves", WANTED_WAVES);
            json_put_bool(json, wait, "covered", issue->covers[i].loads == 0 || latency.covered);
        }
    }
    json_put_bool(json, object, "inner_loop", issue->inner);
    struct word_list others = {json, json_put_array(json, object, "other_mnemonics")};
    each_other(assembly, loop->loop, put_word, &others);
}

bool report_json(const struct report *report, struct text *out, struct error *error) {
    struct json json = {false};
    cJSON *root = cJSON_CreateObject();
    json_put_string(&json, root, "instance", report->instance);
    if (report->arch[0] != 0) {
        json_put_string(&json, root, "arch", report->arch);
    } else {
        json_put_null(&json, root, "arch");
    }
    json_put_number(&json, root, "wave", report->wave);
    json_put_string(&json, root, "useful", mix_names[report->useful].name);
    put_resources(&json, root, report);
    cJSON *loops = json_put_array(&json, root, "loops");
    for (int i = 0; i < report->loop_count; i++) {
        put_loop(&json, loops, report, &report->loops[i]);
    }
    json_put_number(&json, root, "calls", report->assembly.calls);
    report_run_json(&json, root, report);
    report_estimates_json(&json, root, report);
    if (report->clock_ghz > 0) {
        json_put_number(&json, root, "clock_ghz", report->clock_ghz);
        json_put_number(&json, root, "compute_units", report->compute_units);
    }
    return json_print(root, !json.failed, out) ||
           error_set(error, ERROR_RUN, "%s: out of memory for its JSON; report on one kernel alone", report->instance);
}

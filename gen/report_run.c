#include "report_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execute.h"
#include "inputs.h"
#include "kv_cache.h"
#include "modifiers.h"
#include "report_parts.h"
#include "verify_count.h"

/* ---- Running ---- */

static double count_pairs(const struct reference_problem *problem) {
    double pairs = 0;
    for (int64_t batch = 0; batch < problem->batch; batch++)
        for (int64_t head = 0; head < problem->heads_q; head++)
            for (int64_t query = 0; query < problem->seqlen_q; query++)
                for (int64_t key = 0; key < problem->seqlen_k; key++)
                    pairs += reference_sees(problem, batch, head, query, key);
    return pairs;
}

static enum reference_mask mask_of(const struct spec *spec) {
    const char *mask = spec_word(spec, SPEC_MASK);
    return strcmp(mask, "causal-bottom-right") == 0 ? REFERENCE_MASK_CAUSAL_BOTTOM_RIGHT
           : strcmp(mask, "causal-top-left") == 0   ? REFERENCE_MASK_CAUSAL_TOP_LEFT
                                                    : REFERENCE_MASK_NONE;
}

/* Inputs as verification has them; results are not looked at. Keys are not split. */
static bool run_problem(const struct execute_target *target, const struct verify_shape *shape,
                        const struct modifiers_values *values, double *pairs, struct error *error) {
    const struct spec *spec = &target->instance->spec;
    const bool small = kv_cache_is_used(spec);
    struct reference_problem problem = {.batch = shape->batch,
                                        .heads_q = shape->heads_q,
                                        .heads_k = shape->heads_k,
                                        .seqlen_q = shape->seqlen_q,
                                        .seqlen_k = shape->seqlen_k,
                                        .head_dim = spec->value[SPEC_HEAD_DIM],
                                        .head_dim_v = spec->value[SPEC_HEAD_DIM_V],
                                        .v_in_k = spec->value[SPEC_OP] == SPEC_OP_MLA,
                                        .mask = mask_of(spec),
                                        .splits = 1};
    problem.scale = 1 / sqrt((double)problem.head_dim);
    struct modifiers_choice choice = modifiers_usual(INPUT_RANDOM, 0);
    struct modifiers modifiers;
    size_t rows_q = (size_t)(shape->batch * shape->heads_q * shape->seqlen_q);
    size_t rows_k = (size_t)(shape->batch * shape->heads_k * shape->seqlen_k);
    size_t q = rows_q * (size_t)problem.head_dim, k = rows_k * (size_t)problem.head_dim;
    size_t v = rows_k * (size_t)problem.head_dim_v, o = rows_q * (size_t)problem.head_dim_v;
    uint16_t *bits = calloc(q + k + v + o + 1, sizeof *bits);
    float *lse = calloc(rows_q + 1, sizeof *lse);
    struct findings findings = {0};
    struct kv_cache cache;
    struct execute_request request = {.problem = &problem, .page_size = 16, .splits = 1, .lse = lse};
    if (values)
        choice.values = *values;
    bool done = modifiers_make(target->instance, &choice, 1, &problem, &modifiers, error);
    if (done && !(bits && lse))
        done = error_set(error, ERROR_RUN, "no memory for the tensors of %zu and %zu rows; run a smaller shape", rows_q,
                         rows_k);
    if (done) {
        request.q_bits = bits;
        request.k_bits = bits + q;
        request.v_bits = bits + q + k;
        request.o_bits = bits + q + k + v;
        enum half_type type = strcmp(spec_word(spec, SPEC_DTYPE), "bf16") == 0 ? HALF_BF16 : HALF_F16;
        inputs_make(INPUT_RANDOM, &problem, type, 1, bits, bits + q, bits + q + k);
        done = execute_check(target->instance, &request, error) &&
               (!small || kv_cache_make(spec, &problem, type, 1, bits + q, bits + q + k, &cache, error));
        if (done) {
            request.cache = small ? &cache : NULL;
            done = execute_run(target, &request, &findings, error);
            *pairs = count_pairs(&problem);
            if (small)
                kv_cache_free(&cache);
        }
    }
    if (done && findings.count > 0)
        done = error_set(error, ERROR_RUN, "%s: expected a run without findings, got %zu, the first: %s; verify it",
                         target->instance->name, findings.count, findings.lines[0]);
    findings_free(&findings);
    modifiers_free(&modifiers);
    free(lse);
    free(bits);
    return done;
}

/* ---- What the device counted ---- */

static const struct {
    const char *name;
    size_t offset;
} count_names[] = {
    {"executed", offsetof(struct report_counts, executed)},
    {"entered", offsetof(struct report_counts, entered)},
    {"accesses", offsetof(struct report_counts, accesses)},
    {"bytes", offsetof(struct report_counts, bytes)},
    {"lines", offsetof(struct report_counts, lines)},
    {"bank_cycles", offsetof(struct report_counts, bank_cycles)},
    {"bank_conflict_cycles", offsetof(struct report_counts, bank_conflict_cycles)},
    {"waits", offsetof(struct report_counts, waits)},
    {"wait_work", offsetof(struct report_counts, wait_work)},
    {"wait_work_least", offsetof(struct report_counts, wait_work_least)},
};

/* The address in "SYMBOL:0x1a30"; false: it is no instruction's. */
static bool address_in(const char *label, unsigned long long *address) {
    const char *colon = label ? strrchr(label, ':') : NULL;
    return colon && sscanf(colon, ":0x%llx", address) == 1;
}

/* The instruction at an address; -1: none. */
static int instruction_at(const struct assembly *assembly, unsigned long long address) {
    int low = 0, high = assembly->instruction_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (assembly->instructions[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < assembly->instruction_count && assembly->instructions[low].address == address ? low : -1;
}

static bool take_count(const struct assembly *assembly, const fmha_counter *counter, struct report_problem *problem,
                       struct error *error) {
    unsigned long long address;
    if (!address_in(counter->tensor, &address))
        return true;
    int at = instruction_at(assembly, address);
    if (at < 0)
        return counter->value == 0 ||
               error_set(error, ERROR_RUN,
                         "%s: expected an instruction of the disassembly, got one at 0x%llx, which it does not list; "
                         "use llvm-objdump of the version of libLLVM",
                         assembly->symbol, address);
    for (size_t i = 0; i < sizeof count_names / sizeof *count_names; i++)
        if (strcmp(counter->name, count_names[i].name) == 0) {
            double value = (double)counter->value;
            memcpy((char *)&problem->instructions[at] + count_names[i].offset, &value, sizeof value);
        }
    return true;
}

/* Every instruction of a block runs as often as its first. */
static bool count_blocks(const struct report *report, struct report_problem *problem, struct error *error) {
    const struct assembly *assembly = &report->assembly;
    const struct issue_family *family = issue_family_of(report->arch);
    double bank_cycles = 0;
    problem->work.known = true;
    for (int b = 0; b < assembly->block_count; b++) {
        const struct assembly_block *block = &assembly->blocks[b];
        if (block->count == 0)
            continue;
        problem->executions[b] = problem->instructions[block->first].executed;
        for (int k = block->first; k < block->first + block->count; k++) {
            const struct report_counts *counts = &problem->instructions[k];
            if (counts->executed != problem->executions[b])
                return error_set(error, ERROR_RUN,
                                 "%s: block %s: expected '%s' to run %.0f times, as the block does, got %.0f; report "
                                 "this fault of fmhagen",
                                 assembly->symbol, block->label, assembly->instructions[k].text, problem->executions[b],
                                 counts->executed);
            bank_cycles += counts->bank_cycles;
        }
        if (family && problem->executions[b] > 0)
            issue_work_add(assembly, b, family, report->wave, problem->executions[b], &problem->work);
    }
    issue_bound_make(family, &problem->work, 0, &problem->bound);
    double plain = family && family->lds_bytes_cycle ? problem->work.lds_bytes / family->lds_bytes_cycle : 0;
    issue_bound_make(family, &problem->work, bank_cycles > 0 ? bank_cycles - plain : 0, &problem->bound_conflict);
    return true;
}

static bool count_problem(const struct execute_target *target, const struct report *report,
                          struct report_problem *problem, struct error *error) {
    const struct assembly *assembly = &report->assembly;
    const fmha_counter *list;
    size_t count;
    problem->instructions = calloc((size_t)assembly->instruction_count + 1, sizeof *problem->instructions);
    problem->executions = calloc((size_t)assembly->block_count + 1, sizeof *problem->executions);
    if (!problem->instructions || !problem->executions)
        return error_set(error, ERROR_RUN, "%s: out of memory; report on one kernel alone", report->instance);
    if (fmha_device_counters(target->device, &list, &count) != FMHA_OK)
        return error_set(error, ERROR_RUN, "counters: %s", fmha_last_error());
    for (size_t i = 0; i < count; i++)
        if (!take_count(assembly, &list[i], problem, error))
            return false;
    return verify_counters(target, &problem->counted, error) && count_blocks(report, problem, error);
}

bool report_run_shapes(const struct report_request *request, const struct instance *instance, const void *object,
                       size_t object_bytes, struct report *report, struct error *error) {
    char device[80];
    struct execute_target target;
    const struct execute_options options = {
        .without_checks = true, .count = 2, .object = object, .object_bytes = object_bytes};
    const int32_t op = instance->spec.value[SPEC_OP];
    if (op != SPEC_OP_FORWARD && op != SPEC_OP_DECODE && op != SPEC_OP_MLA)
        return error_set(error, ERROR_USAGE, "--run: expected --op forward, decode or mla, got %s; leave --run out",
                         spec_word(&instance->spec, SPEC_OP));
    snprintf(device, sizeof device, "isa:%s", instance->spec.arch);
    snprintf(report->arch, sizeof report->arch, "%s", report->resources.target);
    report->wave = report->resources.wave;
    report->problems = calloc(request->shape_count, sizeof *report->problems);
    if (!report->problems)
        return error_set(error, ERROR_RUN, "%s: out of memory; report on one kernel alone", report->instance);
    report->problem_count = request->shape_count;
    if (!execute_open(device, instance, &options, &target, error))
        return false;
    bool done = true;
    for (size_t i = 0; done && i < request->shape_count; i++) {
        report->problems[i].shape = request->shapes[i];
        done = run_problem(&target, &request->shapes[i], request->values, &report->problems[i].pairs, error) &&
               count_problem(&target, report, &report->problems[i], error);
    }
    execute_close(&target);
    return done;
}

void report_run_free(struct report *report) {
    for (size_t i = 0; i < report->problem_count; i++) {
        free(report->problems[i].instructions);
        free(report->problems[i].executions);
    }
    free(report->problems);
    report->problems = NULL;
    report->problem_count = 0;
}

/* ---- What both forms show ---- */

static double value(const struct report_problem *problem, const char *name, const char *tensor) {
    double found = verify_counter_value(&problem->counted, name, tensor);
    return isnan(found) ? 0 : found;
}

static double share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

static const char *role_of(const struct report *report, int block) {
    for (int i = 0; i < report->loop_count; i++)
        for (int k = 0; k < report->loops[i].loop->block_count; k++)
            if (report->loops[i].loop->blocks[k] == block)
                return report->loops[i].role;
    return "";
}

/* Microseconds that the bound leaves on the chip that --clock and --compute-units describe. */
static double microseconds(const struct report *report, const struct issue_bound *bound) {
    double simds = (double)issue_simds_per_compute_unit(report->arch) * report->compute_units;
    return simds > 0 && report->clock_ghz > 0 ? issue_bound_cycles(bound) / simds / report->clock_ghz / 1000 : 0;
}

void report_run_roles(struct report *report) {
    for (size_t i = 0; i < report->problem_count; i++) {
        struct report_problem *problem = &report->problems[i];
        for (int b = 0; b < report->assembly.block_count; b++) {
            double useful = problem->executions[b] * report->assembly.blocks[b].mix.count[report->useful];
            problem->useful += useful;
            problem->useful_in_body += strcmp(role_of(report, b), "body") == 0 ? useful : 0;
        }
    }
}

double report_run_bytes(const struct report_problem *problem) {
    double bytes = 0;
    for (int i = 0; i < problem->counted.counter_count; i++) {
        const struct verify_counter *counter = &problem->counted.counters[i];
        if (counter->tensor[0] && strncmp(counter->name, "unique_bytes_", strlen("unique_bytes_")) == 0)
            bytes += counter->value;
    }
    return bytes;
}

static const char *const tensors[] = {"q", "k", "v", "kv", "k_scale", "v_scale", "kv_scale", "o", "lse"};
enum { TENSORS = sizeof tensors / sizeof tensors[0], OUTPUTS = TENSORS - 2 };

/* ---- Table ---- */

static const enum mix_id shown[] = {MIX_MATRIX, MIX_VALU, MIX_TRANSCENDENTAL, MIX_LDS, MIX_GLOBAL, MIX_SCALAR};
enum { SHOWN = sizeof shown / sizeof shown[0] };

static void table_blocks(const struct report *report, const struct report_problem *problem, struct text *out) {
    const struct assembly *assembly = &report->assembly;
    const struct issue_family *family = issue_family_of(report->arch);
    double sums[SHOWN] = {0}, all = 0;
    text_printf(out, "  %-14s %-4s %14s", "block", "", "executions");
    for (size_t i = 0; i < SHOWN; i++)
        text_printf(out, " %6s", mix_names[shown[i]].heading);
    text_printf(out, " %8s\n", "of SIMD");
    for (int b = 0; b < assembly->block_count; b++) {
        if (problem->executions[b] == 0)
            continue;
        struct issue_work work = {.known = true};
        if (family)
            issue_work_add(assembly, b, family, report->wave, problem->executions[b], &work);
        text_printf(out, "  %-14s %-4s %14.0f", assembly->blocks[b].label, role_of(report, b), problem->executions[b]);
        for (size_t i = 0; i < SHOWN; i++) {
            text_printf(out, " %6d", assembly->blocks[b].mix.count[shown[i]]);
            sums[i] += problem->executions[b] * assembly->blocks[b].mix.count[shown[i]];
        }
        text_printf(out, " %7.2f%%\n", 100 * share(work.clocks.simd, problem->work.clocks.simd));
        all += problem->executions[b] * assembly->blocks[b].count;
    }
    text_printf(out, "  executed: %.0f instructions;", all);
    for (size_t i = 0; i < SHOWN; i++)
        text_printf(out, " %.0f %s%s", sums[i], mix_names[shown[i]].heading, i + 1 < SHOWN ? "," : "\n");
}

static void table_bound(const struct report *report, const char *what, const struct issue_bound *bound,
                        struct text *out) {
    if (!bound->known) {
        text_printf(out, "  modelled %s: unknown; no cycle counts for %s's instructions here\n", what, report->arch);
        return;
    }
    bool matrix = report->useful == MIX_MATRIX;
    text_printf(out, "  modelled %s: %.1f%% of the %s rate", what, bound->percent, matrix ? "matrix" : "multiply-add");
    if (report->clock_ghz > 0)
        text_printf(out, ", %.1f TFLOP/s and %.1f us of %d compute unit%s at %g GHz", report_tflops(report, bound),
                    microseconds(report, bound), report->compute_units, report->compute_units == 1 ? "" : "s",
                    report->clock_ghz);
    text_printf(out, " (cycles: %s %.0f, SIMD %.0f, LDS %.0f, L0 %.0f; slowest: %s)\n",
                matrix ? "matrix" : "multiply-add", bound->matrix_cycles, bound->simd_cycles, bound->lds_cycles,
                bound->l0_cycles, bound->slowest);
}

/* Of the instructions of a block that have one mnemonic, all together. */
struct lds_group {
    int instructions;
    double accesses, cycles, conflicts;
};

static struct lds_group gather_lds(const struct report *report, const struct report_problem *problem,
                                   const struct assembly_block *block, int first) {
    const struct instruction *instructions = report->assembly.instructions;
    size_t length = instruction_mnemonic(instructions[first].text);
    struct lds_group group = {0};
    for (int k = block->first; k < block->first + block->count; k++) {
        const struct report_counts *counts = &problem->instructions[k];
        if (instruction_mnemonic(instructions[k].text) != length ||
            memcmp(instructions[k].text, instructions[first].text, length) != 0)
            continue;
        if (k < first)
            return (struct lds_group){0}; /* told of already */
        group.instructions++;
        group.accesses += counts->accesses;
        group.cycles += counts->bank_cycles;
        group.conflicts += counts->bank_conflict_cycles;
    }
    return group;
}

static void table_conflicts(const struct report *report, const struct report_problem *problem, struct text *out) {
    const struct assembly *assembly = &report->assembly;
    for (int b = 0; b < assembly->block_count; b++) {
        const struct assembly_block *block = &assembly->blocks[b];
        for (int k = block->first; k < block->first + block->count; k++) {
            const struct instruction *instruction = &assembly->instructions[k];
            if (instruction->unit != MIX_LDS || problem->instructions[k].accesses == 0)
                continue;
            struct lds_group group = gather_lds(report, problem, block, k);
            if (group.conflicts > 0)
                text_printf(out,
                            "    %-12s %-4s %.*s: %d instruction%s, %.2f cycles an access, %.2f of them conflicts\n",
                            block->label, role_of(report, b), (int)instruction_mnemonic(instruction->text),
                            instruction->text, group.instructions, group.instructions == 1 ? "" : "s",
                            group.cycles / group.accesses, group.conflicts / group.accesses);
        }
    }
}

static void table_memory(const struct report *report, const struct report_problem *problem, struct text *out) {
    double cycles = value(problem, "lds_cycles", ""), conflicts = value(problem, "lds_conflict_cycles", "");
    text_printf(out, "  LDS: %.0f cycles of the banks, %.0f of them conflicts\n", cycles, conflicts);
    table_conflicts(report, problem, out);
    text_printf(out, "  global: %.2f cache lines a load, %.2f a store; bytes (different ones):",
                share(value(problem, "global_lines_read", ""), value(problem, "global_reads", "")),
                share(value(problem, "global_lines_written", ""), value(problem, "global_writes", "")));
    const char *comma = "";
    for (size_t i = 0; i < TENSORS; i++) {
        const char *way = i < OUTPUTS ? "read" : "written";
        char all[32], unique[32];
        snprintf(all, sizeof all, "bytes_%s", way);
        snprintf(unique, sizeof unique, "unique_bytes_%s", way);
        if (value(problem, all, tensors[i]) > 0)
            text_printf(out, "%s %s %.0f (%.0f)", comma, tensors[i], value(problem, all, tensors[i]),
                        value(problem, unique, tensors[i]));
        comma = value(problem, all, tensors[i]) > 0 ? "," : comma;
    }
    text_puts(out, "\n");
}

static void table_waits(const struct report_problem *problem, struct text *out) {
    for (int load = 0; load < ISSUE_LOADS; load++) {
        char waits[32], work[32], least[32];
        snprintf(waits, sizeof waits, "%s_waits", issue_load_names[load]);
        snprintf(work, sizeof work, "%s_wait_work", issue_load_names[load]);
        snprintf(least, sizeof least, "%s_wait_work_least", issue_load_names[load]);
        if (value(problem, waits, "") > 0)
            text_printf(out,
                        "  %s loads: %.0f, %.0f cycles of work between issue and wait at least, %.1f in the mean\n",
                        issue_load_names[load], value(problem, waits, ""), value(problem, least, ""),
                        share(value(problem, work, ""), value(problem, waits, "")));
    }
}

void report_run_table(const struct report *report, struct text *out) {
    for (size_t i = 0; i < report->problem_count; i++) {
        const struct report_problem *problem = &report->problems[i];
        const struct verify_shape *shape = &problem->shape;
        text_printf(out,
                    "\nrun %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                    ", %.0f workgroups, %.0f waves; instructions of a block once\n",
                    shape->batch, shape->heads_q, shape->heads_k, shape->seqlen_q, shape->seqlen_k,
                    value(problem, "workgroups", ""), value(problem, "waves", ""));
        table_blocks(report, problem, out);
        text_printf(out, "  %s: %.0f, %.2f%% of them in the body, which masks nothing\n",
                    report->useful == MIX_MATRIX ? "matrix instructions" : "multiply-adds", problem->useful,
                    100 * share(problem->useful_in_body, problem->useful));
        table_bound(report, "bound", &problem->bound, out);
        table_bound(report, "bound with the bank cycles that were counted", &problem->bound_conflict, out);
        table_memory(report, problem, out);
        table_waits(problem, out);
    }
    if (report->problem_count > 0)
        text_puts(out, "\nRun on this machine's processor and counted: these cycles are a bound as well.\n");
}

/* ---- JSON ---- */

/* Static counts times executions, as whole numbers of any size. */
static void put_sums(struct json *json, cJSON *to, const struct report *report, const struct report_problem *problem) {
    cJSON *total = json_put_object(json, to, "total");
    for (int id = 0; id < MIX_COUNT; id++) {
        double sum = 0;
        for (int b = 0; b < report->assembly.block_count; b++)
            sum += problem->executions[b] * report->assembly.blocks[b].mix.count[id];
        json_put_number(json, total, mix_names[id].name, sum);
    }
}

static void put_counter_objects(struct json *json, cJSON *to, const struct report_problem *problem) {
    cJSON *counters = json_put_object(json, to, "counters"), *by_tensor = json_put_object(json, to, "tensors");
    for (int i = 0; i < problem->counted.counter_count; i++) {
        const struct verify_counter *counter = &problem->counted.counters[i];
        if (counter->tensor[0] == 0) {
            json_put_number(json, counters, counter->name, counter->value);
            continue;
        }
        cJSON *tensor = cJSON_GetObjectItemCaseSensitive(by_tensor, counter->tensor);
        json_put_number(json, tensor ? tensor : json_put_object(json, by_tensor, counter->tensor), counter->name,
                        counter->value);
    }
}

/* Every instruction that touched LDS or memory, or was waited for. */
static void put_accesses(struct json *json, cJSON *block, const struct assembly *assembly,
                         const struct assembly_block *of, const struct report_problem *problem) {
    cJSON *accesses = json_put_array(json, block, "accesses");
    for (int k = of->first; k < of->first + of->count; k++) {
        const struct report_counts *counts = &problem->instructions[k];
        if (counts->accesses == 0 && counts->waits == 0)
            continue;
        cJSON *item = json_append(json, accesses, cJSON_CreateObject());
        char address[32];
        snprintf(address, sizeof address, "0x%llx", assembly->instructions[k].address);
        json_put_string(json, item, "address", address);
        json_put_string(json, item, "text", assembly->instructions[k].text);
        json_put_number(json, item, "bytes", counts->bytes);
        json_put_rounded(json, item, "lines_per_access", share(counts->lines, counts->accesses));
        json_put_number(json, item, "bank_cycles", counts->bank_cycles);
        json_put_number(json, item, "bank_conflict_cycles", counts->bank_conflict_cycles);
        json_put_number(json, item, "waits", counts->waits);
        json_put_number(json, item, "least_cycles", counts->wait_work_least);
        json_put_rounded(json, item, "mean_cycles", share(counts->wait_work, counts->waits));
    }
}

static void put_problem(struct json *json, cJSON *runs, const struct report *report,
                        const struct report_problem *problem) {
    const struct assembly *assembly = &report->assembly;
    const struct verify_shape *shape = &problem->shape;
    cJSON *run = json_append(json, runs, cJSON_CreateObject());
    report_put_shape(json, run, shape);
    cJSON *blocks = json_put_array(json, run, "blocks");
    for (int b = 0; b < assembly->block_count; b++) {
        if (problem->executions[b] == 0)
            continue;
        cJSON *block = json_append(json, blocks, cJSON_CreateObject());
        json_put_string(json, block, "label", assembly->blocks[b].label);
        json_put_string(json, block, "role", role_of(report, b));
        json_put_number(json, block, "executions", problem->executions[b]);
        json_put_number(json, block, "instructions", assembly->blocks[b].count);
        report_put_mix(json, block, &assembly->blocks[b].mix);
        put_accesses(json, block, assembly, &assembly->blocks[b], problem);
    }
    put_sums(json, run, report, problem);
    json_put_rounded(json, run, "body_percent", 100 * share(problem->useful_in_body, problem->useful));
    report_put_bound(json, run, report, &problem->bound);
    report_put_bound(json, json_put_object(json, run, "with_bank_cycles"), report, &problem->bound_conflict);
    if (report->clock_ghz > 0)
        json_put_rounded(json, run, "bound_us", microseconds(report, &problem->bound));
    put_counter_objects(json, run, problem);
}

void report_run_json(struct json *json, cJSON *root, const struct report *report) {
    if (report->problem_count == 0)
        return;
    cJSON *runs = json_put_array(json, root, "runs");
    for (size_t i = 0; i < report->problem_count; i++)
        put_problem(json, runs, report, &report->problems[i]);
}

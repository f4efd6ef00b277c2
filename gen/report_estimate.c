#include "report_estimate.h"

#include <inttypes.h>
#include <string.h>

#include "kv_cache.h"
#include "native.h"
#include "product.h"
#include "report_parts.h"
#include "wave_tiles.h"

enum { ELEMENT_BYTES = 2, LSE_BYTES = 4, SCALE_BYTES = 4 };

/* ---- The problem ---- */

static bool is_on(const struct spec *spec, enum spec_field_id id) {
    return spec_has(spec, id) && spec->value[id] != 0;
}

bool report_estimate_check(const struct spec *spec, const struct verify_shape *shape, const char *cure,
                           struct error *error) {
    static const enum spec_field_id hiding[] = {SPEC_WINDOW, SPEC_SINK_KEYS, SPEC_PREFIX, SPEC_BLOCK_MASK, SPEC_VARLEN};
    int32_t op = spec->value[SPEC_OP];
    if (op != SPEC_OP_FORWARD && op != SPEC_OP_DECODE && op != SPEC_OP_MLA)
        return error_set(error, ERROR_USAGE, "--shape: expected --op forward, decode or mla, got %s; leave --shape out",
                         spec_word(spec, SPEC_OP));
    if (op == SPEC_OP_MLA && shape->heads_k != 1)
        return error_set(error, ERROR_USAGE,
                         "--shape: expected one key head, whose rows all query heads share, got %" PRId64
                         "; of --op mla it is B,HQ,1,SQ,SK",
                         shape->heads_k);
    if (shape->heads_q % shape->heads_k != 0)
        return error_set(error, ERROR_USAGE,
                         "--shape: expected heads_q %% heads_k equal to 0, got %" PRId64
                         "; choose heads_q as a multiple of heads_k",
                         shape->heads_q % shape->heads_k);
    if (strcmp(spec_word(spec, SPEC_OP), "forward") == 0 &&
        shape->heads_q / shape->heads_k % spec_number(spec, SPEC_GQA) != 0)
        return error_set(error, ERROR_USAGE,
                         "--shape: expected query heads of a key head in groups of %" PRId32
                         ", as --gqa fuses them, got %" PRId64 "; leave --gqa out",
                         spec_number(spec, SPEC_GQA), shape->heads_q / shape->heads_k);
    for (size_t i = 0; i < sizeof hiding / sizeof *hiding; i++)
        if (is_on(spec, hiding[i]))
            return error_set(error, ERROR_USAGE,
                             "--shape: expected a kernel whose tiles follow from the lengths, got --%s; %s",
                             spec_fields[hiding[i]].option, cure);
    return true;
}

/* Keys that a query sees. */
static int64_t seen_by(const struct spec *spec, const struct verify_shape *shape, int64_t query) {
    const char *mask = spec_word(spec, SPEC_MASK);
    int64_t keys = shape->seqlen_k;
    if (strcmp(mask, "causal-bottom-right") == 0)
        keys = query + shape->seqlen_k - shape->seqlen_q + 1;
    else if (strcmp(mask, "causal-top-left") == 0)
        keys = query + 1;
    return keys < 0 ? 0 : keys > shape->seqlen_k ? shape->seqlen_k : keys;
}

static double all_pairs(const struct spec *spec, const struct verify_shape *shape) {
    double pairs = 0;
    for (int64_t query = 0; query < shape->seqlen_q; query++)
        pairs += (double)seen_by(spec, shape, query);
    return pairs * (double)(shape->batch * shape->heads_q);
}

/* Both products. */
static double flop_of(const struct spec *spec, double pairs) {
    return 2 * pairs * (spec->value[SPEC_HEAD_DIM] + spec->value[SPEC_HEAD_DIM_V]);
}

/* Of MLA V is a view of K. */
static double bytes_of(const struct spec *spec, const struct verify_shape *shape) {
    int64_t head_dim = spec->value[SPEC_HEAD_DIM], head_dim_v = spec->value[SPEC_HEAD_DIM_V];
    int64_t key = kv_cache_row_bytes(spec, head_dim) + kv_cache_scale_bytes(spec, head_dim);
    int64_t value = spec->value[SPEC_OP] == SPEC_OP_MLA
                        ? 0
                        : kv_cache_row_bytes(spec, head_dim_v) + kv_cache_scale_bytes(spec, head_dim_v);
    double scales = kv_cache_is_used(spec) && kv_cache_scale_bytes(spec, head_dim) == 0 /* of a head */
                        ? (double)(shape->batch * shape->heads_k * SCALE_BYTES) * (value ? 2 : 1)
                        : 0;
    double rows = (double)(shape->batch * shape->heads_q * shape->seqlen_q);
    double keys = 0;
    for (int64_t query = 0; query < shape->seqlen_q; query++)
        keys = (double)seen_by(spec, shape, query) > keys ? (double)seen_by(spec, shape, query) : keys;
    return rows * (double)(ELEMENT_BYTES * (head_dim + head_dim_v) + LSE_BYTES) +
           keys * (double)(shape->batch * shape->heads_k) * (double)(key + value) + scales;
}

/* ---- Tiles ---- */

/* Of workgroups whose queries are those from `first` to `last`. */
static void count_tiles(const struct spec *spec, const struct verify_shape *shape, int64_t first, int64_t last,
                        double workgroups, struct report_estimate *estimate) {
    int64_t keys = spec->value[SPEC_BLOCK_K];
    int64_t tiles = (seen_by(spec, shape, last) + keys - 1) / keys, whole = seen_by(spec, shape, first) / keys;
    bool bottom = strcmp(spec_word(spec, SPEC_MASK), "causal-bottom-right") == 0;
    /* Waves share the rows, or the columns, of a workgroup; those of this kernel its keys. */
    int64_t waves = native_is_scaled(spec) ? 1 : spec->value[SPEC_WAVES], masked = 0;
    for (int64_t tile = whole; tile < tiles; tile++)
        masked += waves == 1 ? 1 : wave_tiles_busy(spec, first, bottom ? shape->seqlen_k - shape->seqlen_q : 0, tile);
    estimate->body_passes += workgroups * (double)(waves * whole);
    estimate->edge_passes += workgroups * (double)masked;
}

static void count_forward(const struct spec *spec, const struct verify_shape *shape, struct report_estimate *estimate) {
    int64_t fused = spec_number(spec, SPEC_GQA), queries = spec->value[SPEC_BLOCK_M] / fused;
    double workgroups = (double)(shape->batch * (shape->heads_q / fused) * spec_number(spec, SPEC_V_SLICES));
    for (int64_t first = 0; first < shape->seqlen_q; first += queries) {
        int64_t end = first + queries < shape->seqlen_q ? first + queries : shape->seqlen_q;
        count_tiles(spec, shape, first, end - 1, workgroups, estimate);
    }
}

/* Rows are the queries of all heads that share a key head, head by head. */
static void count_decode(const struct spec *spec, const struct verify_shape *shape, struct report_estimate *estimate) {
    int64_t queries = shape->seqlen_q, rows = shape->heads_q / shape->heads_k * queries;
    int64_t block = spec->value[SPEC_BLOCK_M];
    for (int64_t first = 0; first < rows; first += block) {
        int64_t last = (first + block < rows ? first + block : rows) - 1;
        bool one_head = first / queries == last / queries;
        count_tiles(spec, shape, one_head ? first % queries : 0, one_head ? last % queries : queries - 1,
                    (double)(shape->batch * shape->heads_k), estimate);
    }
}

/* The loop of a role whose pass takes the fewest cycles; NULL: there is none. */
static const struct report_loop *loop_of(const struct report *report, const char *role) {
    const struct report_loop *found = NULL;
    for (int i = 0; i < report->loop_count; i++) {
        const struct report_loop *loop = &report->loops[i];
        if (strcmp(loop->role, role) == 0 && (!found || issue_bound_cycles(&loop->issue.ways[0].bound) <
                                                            issue_bound_cycles(&found->issue.ways[0].bound)))
            found = loop;
    }
    return found;
}

static void add_passes(const struct report *report, const struct report_loop *loop, const struct issue_family *family,
                       double passes, struct issue_work *work) {
    const struct issue_way *way = &loop->issue.ways[0];
    for (int i = 0; i < way->block_count; i++)
        issue_work_add(&report->assembly, way->blocks[i], family, report->wave, passes, work);
}

/* ---- Time ---- */

struct report_chip report_chip_of(const struct report *report) {
    const struct product *product = report->clock_ghz > 0 ? NULL : product_of(report->arch);
    struct report_chip chip = {NULL, report->compute_units, report->clock_ghz, report->bandwidth_gbs};
    if (product) {
        chip = (struct report_chip){product->name, product->compute_units, product->clock_ghz, product->bandwidth_gbs};
        if (report->bandwidth_gbs > 0)
            chip.bandwidth_gbs = report->bandwidth_gbs;
    }
    return chip;
}

static void set_times(const struct report *report, const struct issue_work *work, struct report_estimate *estimate) {
    struct report_chip chip = report_chip_of(report);
    double cycles = issue_bound_cycles(&estimate->issue);
    double simds = (double)issue_simds_per_compute_unit(report->arch) * chip.compute_units;
    if (cycles > 0 && work->flop > 0)
        estimate->matrix_percent = 100 * estimate->flop / (work->flop / work->clocks.matrix * cycles);
    if (simds > 0 && chip.clock_ghz > 0)
        estimate->issue_us = cycles / simds / chip.clock_ghz / 1000;
    if (chip.bandwidth_gbs > 0)
        estimate->memory_us = estimate->bytes / chip.bandwidth_gbs / 1000;
}

void report_estimate_tiles(const struct report *report, const struct spec *spec, const struct verify_shape *shape,
                           struct report_estimate *estimate) {
    const struct issue_family *family = issue_family_of(report->arch);
    const struct report_loop *body = loop_of(report, "body"), *edge = loop_of(report, "edge");
    struct issue_work work = {.known = body != NULL};
    *estimate = (struct report_estimate){
        .shape = *shape, .flop = flop_of(spec, all_pairs(spec, shape)), .bytes = bytes_of(spec, shape)};
    if (strcmp(spec_word(spec, SPEC_OP), "forward") == 0)
        count_forward(spec, shape, estimate);
    else
        count_decode(spec, shape, estimate);
    if (family && body) {
        add_passes(report, body, family, estimate->body_passes, &work);
        add_passes(report, edge ? edge : body, family, estimate->edge_passes, &work);
    }
    issue_bound_make(family, &work, 0, &estimate->issue);
    set_times(report, &work, estimate);
}

void report_estimate_run(const struct report *report, const struct spec *spec, const struct verify_shape *shape,
                         const struct issue_work *work, double pairs, double bytes, struct report_estimate *estimate) {
    *estimate =
        (struct report_estimate){.shape = *shape, .counted = true, .flop = flop_of(spec, pairs), .bytes = bytes};
    issue_bound_make(issue_family_of(report->arch), work, 0, &estimate->issue);
    set_times(report, work, estimate);
}

double report_estimate_us(const struct report_estimate *estimate, const char **limit) {
    bool memory = estimate->memory_us > estimate->issue_us;
    double most = memory ? estimate->memory_us : estimate->issue_us;
    *limit = most > 0 ? memory ? "memory" : "issue" : "";
    return most;
}

/* ---- What is said of it ---- */

static double tflops(const struct report_estimate *estimate, double us) {
    return us > 0 ? estimate->flop / us / 1e6 : 0;
}

static void table_chip(const struct report *report, struct text *out) {
    struct report_chip chip = report_chip_of(report);
    if (chip.product)
        text_printf(out, "%s: ", chip.product);
    if (chip.clock_ghz > 0)
        text_printf(out, "%d compute unit%s at %g GHz", chip.compute_units, chip.compute_units == 1 ? "" : "s",
                    chip.clock_ghz);
    if (chip.bandwidth_gbs > 0)
        text_printf(out, "%s%g GB/s", chip.clock_ghz > 0 ? ", " : "", chip.bandwidth_gbs);
}

void report_estimate_table(const struct report *report, const struct report_estimate *estimate, struct text *out) {
    const struct verify_shape *shape = &estimate->shape;
    const char *limit;
    double us = report_estimate_us(estimate, &limit);
    text_printf(out,
                "\nproblem %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                ", modelled: %.3f GFLOP that the mask leaves, %.3f MB if each tensor is moved once\n",
                shape->batch, shape->heads_q, shape->heads_k, shape->seqlen_q, shape->seqlen_k, estimate->flop / 1e9,
                estimate->bytes / 1e6);
    if (!estimate->counted)
        text_printf(out, "  passes of a wave through a loop: body %.0f, edge %.0f (by tiles; the rest left out)\n",
                    estimate->body_passes, estimate->edge_passes);
    if (!estimate->issue.known) {
        text_puts(out, "  issue: unknown; no cycle counts for the loops of this kernel\n");
        return;
    }
    text_printf(out, "  issue: %.1f%% of the %s rate for these FLOP, slowest: %s", estimate->matrix_percent,
                report->useful == MIX_MATRIX ? "matrix" : "multiply-add", estimate->issue.slowest);
    if (estimate->issue_us > 0)
        text_printf(out, "; %.1f us, %.1f TFLOP/s", estimate->issue_us, tflops(estimate, estimate->issue_us));
    if (estimate->memory_us > 0)
        text_printf(out, "\n  memory: %.1f us, %.1f TFLOP/s", estimate->memory_us,
                    tflops(estimate, estimate->memory_us));
    if (us > 0) {
        text_printf(out, "\n  bound by %s: at least %.1f us, at most %.1f TFLOP/s of ", limit, us,
                    tflops(estimate, us));
        table_chip(report, out);
    }
    text_puts(out, "\n");
}

static void put_positive(struct json *json, cJSON *to, const char *name, double value) {
    if (value > 0)
        json_put_rounded(json, to, name, value);
    else
        json_put_null(json, to, name);
}

static void put_estimate(struct json *json, cJSON *problems, const struct report *report,
                         const struct report_estimate *estimate) {
    cJSON *object = json_append(json, problems, cJSON_CreateObject());
    const char *limit;
    double us = report_estimate_us(estimate, &limit);
    report_put_shape(json, object, &estimate->shape);
    json_put_string(json, object, "work_from", estimate->counted ? "run" : "tiles");
    json_put_number(json, object, "flop", estimate->flop);
    json_put_number(json, object, "bytes", estimate->bytes);
    if (!estimate->counted) {
        json_put_number(json, object, "body_passes", estimate->body_passes);
        json_put_number(json, object, "edge_passes", estimate->edge_passes);
    }
    report_put_bound(json, json_put_object(json, object, "issue"), report, &estimate->issue);
    put_positive(json, object, "matrix_percent", estimate->matrix_percent);
    put_positive(json, object, "issue_us", estimate->issue_us);
    put_positive(json, object, "memory_us", estimate->memory_us);
    put_positive(json, object, "least_us", us);
    put_positive(json, object, "most_tflops", tflops(estimate, us));
    json_put_string(json, object, "limit", limit);
}

void report_estimates_json(struct json *json, cJSON *root, const struct report *report) {
    if (report->estimate_count == 0)
        return;
    struct report_chip chip = report_chip_of(report);
    cJSON *of = json_put_object(json, root, "chip"), *problems = json_put_array(json, root, "problems");
    if (chip.product)
        json_put_string(json, of, "product", chip.product);
    else
        json_put_null(json, of, "product");
    put_positive(json, of, "compute_units", chip.clock_ghz > 0 ? chip.compute_units : 0);
    put_positive(json, of, "clock_ghz", chip.clock_ghz);
    put_positive(json, of, "bandwidth_gb_s", chip.bandwidth_gbs);
    for (size_t i = 0; i < report->estimate_count; i++)
        put_estimate(json, problems, report, &report->estimates[i]);
}

#include "verify_count.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv_cache.h"
#include "wave_tiles.h"

/* The place of a counter; -1: there is none. */
static int find(const struct verify_case *one, const char *name, const char *tensor) {
    int index = one->counter_count - 1;
    while (index >= 0 &&
           (strcmp(one->counters[index].name, name) != 0 || strcmp(one->counters[index].tensor, tensor) != 0))
        index--;
    return index;
}

/* Parts of a tensor, "k, page 3" and the like (tensor.h), are counted together. */
static void add(struct verify_case *result, const char *name, const char *label, double value) {
    char tensor[sizeof result->counters->tensor];
    snprintf(tensor, sizeof tensor, "%.*s", label ? (int)strcspn(label, ",") : 0, label ? label : "");
    int at = find(result, name, tensor);
    if (at < 0 && result->counter_count < VERIFY_COUNTERS_MAX) {
        at = result->counter_count++;
        struct verify_counter *added = &result->counters[at];
        snprintf(added->name, sizeof added->name, "%s", name);
        snprintf(added->tensor, sizeof added->tensor, "%s", tensor);
        added->value = 0;
    }
    if (at >= 0)
        result->counters[at].value += value;
}

struct tiles {
    double needed;      /* by waves: of a tile that some of a workgroup's waves leave out, a part */
    int64_t workgroups; /* that need any */
    int64_t keys;       /* in those tiles, of all key heads, each counted once */
};

/* Tiles in which some query of a workgroup, of one of its heads, may see some key. What only a tensor of queries and
 * keys knows is not known before the tile is there. */
static bool count_tiles(const struct spec *spec, const struct reference_problem *whole, struct tiles *tiles,
                        struct error *error) {
    const int32_t *field = spec->value;
    struct reference_problem problem = *whole;
    problem.bias.values = problem.attn_mask.values = NULL;
    problem.modify = NULL;
    /* Of decoding the rows of all heads of a key head are one list: each block of it looks at the keys of all. */
    bool decode = field[SPEC_OP] != SPEC_OP_FORWARD;
    int64_t fused = decode ? problem.heads_q / problem.heads_k : field[SPEC_GQA] > 1 ? field[SPEC_GQA] : 1;
    int64_t rows = decode ? problem.seqlen_q : field[SPEC_BLOCK_M] / fused;
    int64_t keys = field[SPEC_BLOCK_K], row_tiles = (problem.seqlen_k + keys - 1) / keys;
    bool *loaded = calloc((size_t)(problem.batch * problem.heads_k * row_tiles) + 1, sizeof *loaded);
    *tiles = (struct tiles){0, 0, 0};
    bool bottom = strcmp(spec_word(spec, SPEC_MASK), "causal-bottom-right") == 0;
    if (!loaded)
        return error_set(error, ERROR_RUN, "no memory for %" PRId64 " key tiles; count a smaller shape", row_tiles);
    for (int64_t group = 0; group < problem.batch * problem.heads_q; group += fused) {
        int64_t batch = group / problem.heads_q, head = group % problem.heads_q;
        bool *of_head = loaded + (batch * problem.heads_k + head / (problem.heads_q / problem.heads_k)) * row_tiles;
        int64_t seqlen_k = reference_seqlen_k(&problem, batch);
        int64_t diagonal = bottom ? seqlen_k - reference_seqlen_q(&problem, batch) : 0;
        int64_t listed = fused * reference_seqlen_q(&problem, batch), block = field[SPEC_BLOCK_M];
        int64_t blocks = decode ? (listed + block - 1) / block : 1;
        for (int64_t first = 0; first < problem.seqlen_q; first += rows) {
            double before = tiles->needed;
            for (int64_t tile = 0; tile * keys < seqlen_k; tile++) {
                bool seen = false;
                for (int64_t of = head; of < head + fused && !seen; of++)
                    seen = reference_sees_some(&problem, batch, of, first, rows, tile * keys, keys);
                if (seen)
                    tiles->needed +=
                        (double)(blocks * wave_tiles_busy(spec, first, diagonal, tile)) / field[SPEC_WAVES];
                if (seen && !of_head[tile]) {
                    of_head[tile] = true;
                    tiles->keys += seqlen_k - tile * keys < keys ? seqlen_k - tile * keys : keys;
                }
            }
            tiles->workgroups += tiles->needed > before;
        }
    }
    tiles->needed *= spec_number(spec, SPEC_V_SLICES); /* each slice of V's columns is a workgroup */
    tiles->workgroups *= spec_number(spec, SPEC_V_SLICES);
    free(loaded);
    return true;
}

/* A tile that nobody needs is not even loaded. */
static void check_loads(const struct verify_case *result, const char *tensor, int64_t bytes,
                        struct findings *findings) {
    double read = verify_counter_value(result, "unique_bytes_read", tensor);
    if (read > (double)bytes)
        findings_add(findings,
                     "%s: expected at most %" PRId64
                     " bytes to be read, those of key tiles with a key that some row of "
                     "a workgroup sees, got %.0f; look at what is sent for ahead of its use",
                     tensor, bytes, read);
}

/* The loop over the keys has both ends where they must be, and leaves out what lies between. With two tiles in flight a
 * workgroup begins one more. */
static void check_tiles(const struct spec *spec, const struct tiles *tiles, double visited, struct findings *findings) {
    double most = tiles->needed + (spec_number(spec, SPEC_PIPELINE) > 1 ? (double)tiles->workgroups : 0);
    const double rounding = 1e-6; /* of parts of tiles */
    if (visited < tiles->needed - rounding || visited > most + rounding)
        findings_add(findings,
                     "key tiles: expected %g, those with a key that some row of the workgroup sees, got %g "
                     "(matrix instructions over those of one tile); look at where the loop over the keys begins and "
                     "ends, and what it leaves out",
                     tiles->needed, visited);
}

bool verify_counters(const struct execute_target *target, struct verify_case *result, struct error *error) {
    const fmha_counter *list;
    size_t count;
    if (fmha_device_counters(target->device, &list, &count) != FMHA_OK)
        return error_set(error, ERROR_RUN, "counters: %s", fmha_last_error());
    for (size_t index = result->counter_count ? count : 0; index < count; index++)
        if (!list[index].tensor || !strstr(list[index].tensor, ":0x")) /* of an instruction: report_run.h */
            add(result, list[index].name, list[index].tensor, (double)list[index].value);
    if (fmha_device_clear_counters(target->device) != FMHA_OK)
        return error_set(error, ERROR_RUN, "counters: %s", fmha_last_error());
    return true;
}

/* What a row of K or V, or of the keys of multi-head latent attention, has in memory, and what its scales have. */
struct row_bytes {
    const char *values, *scales; /* the tensors */
    int64_t value_bytes, scale_bytes;
};

/* Nothing but the cache is read, and all of it: of decoding, whose workgroups see each key once, what that is for a
 * key. */
static void count_cache(const struct spec *spec, const struct reference_problem *problem, const struct tiles *tiles,
                        struct verify_case *result, struct findings *findings) {
    const struct row_bytes tensors[] = {
        {"k", "k_scale", kv_cache_row_bytes(spec, problem->head_dim), kv_cache_scale_bytes(spec, problem->head_dim)},
        {"v", "v_scale", kv_cache_row_bytes(spec, problem->head_dim_v),
         kv_cache_scale_bytes(spec, problem->head_dim_v)},
        {"kv", "kv_scale", kv_cache_row_bytes(spec, problem->head_dim), kv_cache_scale_bytes(spec, problem->head_dim)},
    };
    double read = 0, asked = 0;
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        const struct row_bytes *one = &tensors[i];
        const char *const names[] = {one->values, one->scales};
        check_loads(result, one->values, tiles->keys * one->value_bytes, findings);
        if (one->scale_bytes)
            check_loads(result, one->scales, tiles->keys * one->scale_bytes, findings);
        for (int which = 0; which < (one->scale_bytes ? 2 : 1); which++) {
            double unique = verify_counter_value(result, "unique_bytes_read", names[which]);
            read += isnan(unique) ? 0 : unique;
            asked += isnan(unique) ? 0 : verify_counter_value(result, "wave_bytes_read", names[which]);
        }
    }
    if (spec->value[SPEC_OP] != SPEC_OP_FORWARD && tiles->keys) {
        add(result, "cache_bytes_per_key", NULL, read / (double)tiles->keys);
        add(result, "cache_bytes_asked_per_key", NULL, asked / (double)tiles->keys);
    }
}

bool verify_count(const struct execute_target *target, const struct reference_problem *problem,
                  struct verify_case *result, struct findings *findings, struct error *error) {
    const struct spec *spec = &target->instance->spec;
    bool first = !result->counter_count;
    if (!verify_counters(target, result, error))
        return false;
    if (first && result->counter_count) {
        struct tiles tiles;
        if (!count_tiles(spec, problem, &tiles, error))
            return false;
        if (target->instance->matrix_per_tile > 0) {
            double visited =
                verify_counter_value(result, "matrix_instructions", "") / target->instance->matrix_per_tile;
            add(result, "key_tiles", NULL, visited);
            check_tiles(spec, &tiles, visited, findings);
        }
        add(result, "key_tiles_needed", NULL, tiles.needed);
        if (spec_number(spec, SPEC_PIPELINE) == 1)
            count_cache(spec, problem, &tiles, result, findings);
    }
    return true;
}

double verify_counter_value(const struct verify_case *one, const char *name, const char *tensor) {
    int at = find(one, name, tensor);
    return at < 0 ? NAN : one->counters[at].value;
}

#include "tune.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halves.h"
#include "json.h"
#include "shape_key.h"
#include "text.h"
#include "tune_parts.h"

enum { ELEMENT_BYTES = 2, ROW_ELEMENTS = 8 /* a multiple of 16 bytes */ };

/* ---- Tensors ------------------------------------------------------------------------------------------------------
 */

static bool device_call(fmha_status status, struct error *error) {
    return status == FMHA_OK || error_set(error, ERROR_RUN, "%s", fmha_last_error());
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

bool tune_put(struct tune_tensors *tensors, const char *label, const void *host, size_t bytes, void **address,
              struct error *error) {
    if (!device_call(fmha_memory_alloc(tensors->device, bytes, label, address), error))
        return false;
    tensors->memory[tensors->count++] = *address;
    return device_call(fmha_memory_write(tensors->device, *address, host, bytes), error);
}

/* Device memory of `elements` numbers of 16 bits between -1 and 1. */
static bool allocate(struct tune_tensors *tensors, const char *label, enum half_type type, size_t elements,
                     uint64_t *random, void **address, struct error *error) {
    size_t bytes = elements * ELEMENT_BYTES;
    uint16_t *host = malloc(bytes);
    if (!host)
        return error_set(error, ERROR_RUN, "tune: out of memory for the tensor %s of %zu bytes", label, bytes);
    for (size_t i = 0; i < elements; i++)
        host[i] = half_from_double(type, (double)(int64_t)next_random(random) * 0x1p-63);
    bool done = tune_put(tensors, label, host, bytes, address, error);
    free(host);
    return done;
}

/* [batch][rows][heads][columns] where rows are the sequence's, [batch][heads][rows][columns] where `columns` are. */
static bool make_tensor(struct tune_tensors *tensors, const char *label, enum half_type type, int64_t batch,
                        int64_t heads, int64_t rows, int64_t columns, bool transposed, bool aligned, uint64_t *random,
                        fmha_tensor *tensor, struct error *error) {
    int64_t row = aligned ? (columns + ROW_ELEMENTS - 1) / ROW_ELEMENTS * ROW_ELEMENTS : columns, all;
    if (__builtin_mul_overflow(batch * heads, rows, &all) || __builtin_mul_overflow(all, row, &all) ||
        all > INT64_MAX / 4)
        return error_set(error, ERROR_USAGE,
                         "--shape: expected tensors that fit into memory, got more bytes than 63 bits count; use a "
                         "smaller shape");
    void *address;
    if (!allocate(tensors, label, type, (size_t)all + 1, random, &address, error))
        return false;
    /* Rows that are not aligned begin one element later. */
    tensor->data = (char *)address + (aligned ? 0 : ELEMENT_BYTES);
    tensor->stride_batch = heads * rows * row;
    tensor->stride_head = transposed ? rows * row : row;
    tensor->stride_row = transposed ? row : heads * row;
    return true;
}

static bool make_problem(const struct tune_request *request, struct tune_tensors *tensors,
                         fmha_forward_problem *problem, struct error *error) {
    const struct spec *spec = request->spec;
    const struct verify_shape *shape = &request->shape;
    bool transposed = strcmp(spec_word(spec, SPEC_V_LAYOUT), "transposed") == 0;
    bool bf16 = strcmp(spec_word(spec, SPEC_DTYPE), "bf16") == 0, aligned = spec->value[SPEC_ALIGN] == 16;
    enum half_type type = bf16 ? HALF_BF16 : HALF_F16;
    int64_t head_dim = spec->value[SPEC_HEAD_DIM], head_dim_v = spec->value[SPEC_HEAD_DIM_V];
    int64_t rows_k = shape->seqlen_k;
    if (strcmp(spec_word(spec, SPEC_PAGED), "on") == 0)
        rows_k = (rows_k + TUNE_PAGE_SIZE - 1) / TUNE_PAGE_SIZE * TUNE_PAGE_SIZE;
    const char *mask = spec_word(spec, SPEC_MASK);
    uint64_t random = request->seed;
    void *lse;
    *problem = FMHA_FORWARD_PROBLEM_INIT;
    problem->dtype = bf16 ? FMHA_DTYPE_BF16 : FMHA_DTYPE_F16;
    problem->mask = strcmp(mask, "causal-bottom-right") == 0 ? FMHA_MASK_CAUSAL_BOTTOM_RIGHT
                    : strcmp(mask, "causal-top-left") == 0   ? FMHA_MASK_CAUSAL_TOP_LEFT
                                                             : FMHA_MASK_NONE;
    problem->v_layout = transposed ? FMHA_V_TRANSPOSED : FMHA_V_ROW;
    problem->head_dim = (int32_t)head_dim;
    problem->head_dim_v = (int32_t)head_dim_v;
    problem->scale = (float)(1 / sqrt((double)head_dim));
    problem->batch = shape->batch;
    problem->heads_q = shape->heads_q;
    problem->heads_k = shape->heads_k;
    problem->seqlen_q = shape->seqlen_q;
    problem->seqlen_k = shape->seqlen_k;
    bool done = make_tensor(tensors, "q", type, shape->batch, shape->heads_q, shape->seqlen_q, head_dim, false, aligned,
                            &random, &problem->q, error) &&
                make_tensor(tensors, "k", type, shape->batch, shape->heads_k, rows_k, head_dim, false, aligned, &random,
                            &problem->k, error) &&
                make_tensor(tensors, "v", type, shape->batch, shape->heads_k, transposed ? head_dim_v : rows_k,
                            transposed ? rows_k : head_dim_v, transposed, aligned, &random, &problem->v, error) &&
                make_tensor(tensors, "o", type, shape->batch, shape->heads_q, shape->seqlen_q, head_dim_v, false,
                            aligned, &random, &problem->o, error);
    if (!done)
        return false;
    size_t rows = (size_t)(shape->batch * shape->heads_q * shape->seqlen_q); /* fewer than the elements of O */
    if (!device_call(fmha_memory_alloc(tensors->device, rows * sizeof(float), "lse", &lse), error))
        return false;
    tensors->memory[tensors->count++] = lse;
    problem->lse = lse;
    return tune_modify(request, tensors, problem, error);
}

static void free_tensors(struct tune_tensors *tensors) {
    for (int i = 0; i < tensors->count; i++)
        fmha_memory_free(tensors->device, tensors->memory[i]);
}

/* ---- Members ------------------------------------------------------------------------------------------------------
 */

static struct tune_member *add_member(struct tune_outcome *outcome, const char *instance, const char *reason) {
    struct tune_member *larger = realloc(outcome->members, (outcome->count + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    outcome->members = larger;
    struct tune_member *member = &larger[outcome->count];
    *member = (struct tune_member){.instance = strdup(instance), .reason = strdup(reason)};
    outcome->count++;
    return member->instance && member->reason ? member : NULL;
}

bool tune_outcome_add(struct tune_outcome *outcome, const char *instance, const char *reason) {
    return add_member(outcome, instance, reason) != NULL;
}

struct collection {
    const struct tune_request *request;
    struct tune_outcome *outcome;
    bool failed; /* out of memory */
};

static void collect_result(void *context, const fmha_tune_result *result) {
    struct collection *collection = context;
    struct tune_outcome *outcome = collection->outcome;
    struct tune_member *member = add_member(outcome, result->instance, result->note);
    snprintf(outcome->unit, sizeof outcome->unit, "%s", result->unit);
    collection->failed = collection->failed || !member;
    if (member) {
        member->median = result->median;
        member->least = result->least;
        member->most = result->most;
        member->runs = result->runs;
        member->best = result->best != 0;
    }
}

/* Of the libraries' instances that compute what is asked for, those that were no candidates. */
static void collect_refusal(void *context, const fmha_consideration *considered) {
    struct collection *collection = context;
    struct tune_outcome *outcome = collection->outcome;
    const char *const *library = collection->request->libraries;
    while (*library && strcmp(*library, considered->library) != 0)
        library++;
    bool other_kind = strncmp(considered->verdict, "serves ", 7) == 0 || !considered->instance[0];
    bool known = false;
    for (size_t i = 0; i < outcome->count; i++)
        known = known || strcmp(outcome->members[i].instance, considered->instance) == 0;
    if (*library && !other_kind && !known)
        collection->failed = !add_member(outcome, considered->instance, considered->verdict) || collection->failed;
}

bool tune_run(const struct tune_request *request, struct tune_outcome *outcome, struct error *error) {
    struct tune_tensors tensors = {.device = request->device};
    struct collection collection = {request, outcome, false};
    fmha_forward_problem problem;
    const fmha_tune_options options = {
        .struct_bytes = sizeof options,
        .rounds = request->rounds,
        .warmup_rounds = request->warmup_rounds,
        .seed = request->seed,
        .libraries = request->libraries,
        .progress = request->progress,
        .progress_context = request->progress_context,
    };
    *outcome = (struct tune_outcome){.shape = request->shape};
    bool done =
        spec_key(request->spec, &outcome->key, error) && make_problem(request, &tensors, &problem, error) &&
        device_call(fmha_forward_tune(request->device, &problem, &options, collect_result, &collection), error) &&
        device_call(fmha_forward_explain(request->device, &problem, collect_refusal, &collection), error);
    if (done && collection.failed)
        done = error_set(error, ERROR_RUN, "tune: out of memory");
    free_tensors(&tensors);
    if (!done)
        tune_outcome_free(outcome);
    return done;
}

void tune_outcome_free(struct tune_outcome *outcome) {
    for (size_t i = 0; i < outcome->count; i++) {
        free(outcome->members[i].instance);
        free(outcome->members[i].reason);
    }
    free(outcome->members);
    *outcome = (struct tune_outcome){0};
}

/* ---- What is said of it -------------------------------------------------------------------------------------------
 */

static void table_modelled(const struct tune_outcome *outcome, struct text *out) {
    text_puts(out, "        figure   bound  waves  VGPR  instance\n");
    for (size_t i = 0; i < outcome->count; i++) {
        const struct tune_member *member = &outcome->members[i];
        if (member->modelled)
            text_printf(out, "%14.1f  %5.1f%%  %5d %5d  %s%s%s%s\n", member->median, member->percent,
                        member->waves_per_simd, member->vgpr, member->instance, member->best ? "  <- best" : "",
                        member->behind ? "  " : "", member->reason);
        else
            text_printf(out, "not to be had: %s: %s\n", member->instance, member->reason);
    }
}

void tune_table(const struct tune_outcome *outcome, struct text *out) {
    const struct verify_shape *shape = &outcome->shape;
    for (int field = 0; field < FMHA_KEY_FIELDS; field++) {
        char value[FMHA_KEY_VALUE_BYTES];
        fmha_key_value(&outcome->key, field, value);
        if (fmha_key_has(&outcome->key, field))
            text_printf(out, "%s%s=%s", field > 0 ? " " : "", fmha_key_field_names[field], value);
    }
    text_printf(out, "\nshape %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ", in %s%s\n", shape->batch,
                shape->heads_q, shape->heads_k, shape->seqlen_q, shape->seqlen_k, outcome->unit,
                outcome->modelled ? ", modelled" : "");
    if (outcome->modelled) {
        table_modelled(outcome, out);
        return;
    }
    text_puts(out, "        median         least          most  runs  instance\n");
    for (size_t i = 0; i < outcome->count; i++) {
        const struct tune_member *member = &outcome->members[i];
        if (member->runs)
            text_printf(out, "%14.1f%14.1f%14.1f%6d  %s%s\n", member->median, member->least, member->most, member->runs,
                        member->instance, member->best ? "  <- best" : "");
    }
    for (size_t i = 0; i < outcome->count; i++)
        if (!outcome->members[i].runs)
            text_printf(out, "not run: %s: %s\n", outcome->members[i].instance, outcome->members[i].reason);
}

static cJSON *add_object(cJSON *list) {
    cJSON *item = cJSON_CreateObject();
    if (item && !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return NULL;
    }
    return item;
}

static bool add_modelled(const struct tune_member *member, cJSON *entry) {
    return cJSON_AddNumberToObject(entry, "figure", member->median) &&
           cJSON_AddNumberToObject(entry, "bound_percent", member->percent) &&
           cJSON_AddNumberToObject(entry, "waves_per_simd", member->waves_per_simd) &&
           cJSON_AddNumberToObject(entry, "vgpr", member->vgpr) && cJSON_AddBoolToObject(entry, "best", member->best) &&
           (!member->behind || cJSON_AddStringToObject(entry, "behind", member->reason + strlen("behind: ")));
}

static bool add_outcome(const struct tune_outcome *outcome, cJSON *item) {
    const struct verify_shape *shape = &outcome->shape;
    const double lengths[] = {(double)shape->batch, (double)shape->heads_q, (double)shape->heads_k,
                              (double)shape->seqlen_q, (double)shape->seqlen_k};
    cJSON *key = cJSON_AddObjectToObject(item, "key");
    bool done = key && json_add(item, "shape", cJSON_CreateDoubleArray(lengths, 5)) &&
                cJSON_AddStringToObject(item, "unit", outcome->unit);
    for (int field = 0; done && field < FMHA_KEY_FIELDS; field++) {
        char value[FMHA_KEY_VALUE_BYTES];
        if (!fmha_key_has(&outcome->key, field))
            continue;
        fmha_key_value(&outcome->key, field, value);
        bool number = field != FMHA_KEY_FIELD_MODIFIER && value[strspn(value, "0123456789")] == '\0';
        done = number ? cJSON_AddNumberToObject(key, fmha_key_field_names[field], strtod(value, NULL)) != NULL
                      : cJSON_AddStringToObject(key, fmha_key_field_names[field], value) != NULL;
    }
    cJSON *list = cJSON_AddArrayToObject(item, "instances");
    for (size_t i = 0; done && i < outcome->count; i++) {
        const struct tune_member *member = &outcome->members[i];
        cJSON *entry = list ? add_object(list) : NULL;
        done = entry && cJSON_AddStringToObject(entry, "instance", member->instance) &&
               cJSON_AddNumberToObject(entry, "runs", member->runs);
        if (done && member->modelled) {
            done = add_modelled(member, entry);
            continue;
        }
        if (done && member->runs)
            done = cJSON_AddNumberToObject(entry, "median", member->median) &&
                   cJSON_AddNumberToObject(entry, "least", member->least) &&
                   cJSON_AddNumberToObject(entry, "most", member->most) &&
                   cJSON_AddBoolToObject(entry, "best", member->best);
        else if (done)
            done = cJSON_AddStringToObject(entry, "reason", member->reason) != NULL;
    }
    return done && list;
}

bool tune_json(const struct tune_outcome *outcomes, size_t count, const char *device, const char *about,
               const char *choices, struct text *out, struct error *error) {
    cJSON *root = cJSON_CreateObject();
    bool done = root && cJSON_AddStringToObject(root, "device", device) &&
                cJSON_AddStringToObject(root, "driver", about) && cJSON_AddStringToObject(root, "choices", choices);
    cJSON *list = done ? cJSON_AddArrayToObject(root, "tuned") : NULL;
    for (size_t i = 0; list && done && i < count; i++) {
        cJSON *item = add_object(list);
        done = item && add_outcome(&outcomes[i], item);
    }
    return json_print(root, done && list, out) || error_set(error, ERROR_RUN, "--json: out of memory");
}

#include "modifiers.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct modifiers_values modifiers_values_none(void) {
    return (struct modifiers_values){.window_left = MODIFIERS_OWN,
                                     .window_right = MODIFIERS_OWN,
                                     .sink_keys = MODIFIERS_OWN,
                                     .prefix = MODIFIERS_OWN,
                                     .softcap = NAN,
                                     .dropout = NAN};
}

struct modifiers_choice modifiers_usual(enum input_kind inputs, unsigned variant) {
    bool flat = inputs != INPUT_UNBALANCED && inputs != INPUT_IMPULSE && inputs != INPUT_LARGE;
    return (struct modifiers_choice){
        .values = modifiers_values_none(), .variant = variant, .rows_hidden = variant % 3 == 0, .flat_softcap = flat};
}

/* One construction. */
struct making {
    const struct instance *instance;
    const struct modifiers_choice *choice;
    struct reference_problem *problem;
    struct modifiers *modifiers;
    uint64_t state;
    bool out_of_memory;
};

/* Zeros; NULL without memory. */
static void *own(struct making *making, int64_t count, size_t size) {
    struct modifiers *modifiers = making->modifiers;
    void *block = modifiers->count < (int)(sizeof modifiers->blocks / sizeof *modifiers->blocks)
                      ? calloc((size_t)count + 1, size)
                      : NULL;
    if (block)
        modifiers->blocks[modifiers->count++] = block;
    else
        making->out_of_memory = true;
    return block;
}

void modifiers_free(struct modifiers *modifiers) {
    for (int index = 0; index < modifiers->count; index++)
        free(modifiers->blocks[index]);
    modifiers->count = 0;
}

static bool is_on(const struct making *making, enum spec_field_id field) {
    return spec_number(&making->instance->spec, field) != spec_fields[field].neutral;
}

static int64_t below(struct making *making, int64_t bound) {
    return bound > 0 ? (int64_t)(inputs_next(&making->state) % (uint64_t)bound) : 0;
}

static double uniform(struct making *making) {
    return (double)(inputs_next(&making->state) >> 11) * 0x1p-53;
}

static int64_t chosen(int64_t value, int64_t usual) {
    return value == MODIFIERS_OWN ? usual : value;
}

/* ---- Lengths ---- */

/* The first sequence is as long as the problem says; the others are any shorter, none among them. */
static const int64_t *make_lengths(struct making *making, const int64_t *given, int64_t longest) {
    int64_t batch = making->problem->batch, *lengths = own(making, batch, sizeof *lengths);
    for (int64_t b = 0; lengths && b < batch; b++)
        lengths[b] = given ? given[b] : b == 0 ? longest : below(making, longest + 1);
    return lengths;
}

static void set_lengths(struct making *making) {
    struct reference_problem *problem = making->problem;
    bool varlen = is_on(making, SPEC_VARLEN), paged = is_on(making, SPEC_PAGED);
    if (varlen)
        problem->lengths_q = make_lengths(making, making->choice->lengths_q, problem->seqlen_q);
    if (varlen || paged)
        problem->lengths_k = make_lengths(making, making->choice->lengths_k, problem->seqlen_k);
}

/* ---- Numbers and numbers of heads ---- */

/* Reaches into several tiles, and ends in the middle of one. */
static void set_window(struct making *making) {
    making->problem->window = true;
    making->problem->window_left = chosen(making->choice->values.window_left, 37);
    making->problem->window_right = chosen(making->choice->values.window_right, 11);
}

static void set_prefix(struct making *making) {
    struct reference_problem *problem = making->problem;
    int64_t *prefix = own(making, problem->batch, sizeof *prefix);
    for (int64_t b = 0; prefix && b < problem->batch; b++) /* now and then longer than the sequence */
        prefix[b] = chosen(making->choice->values.prefix, below(making, problem->seqlen_k + problem->seqlen_k / 4 + 2));
    problem->prefix = prefix;
}

static double as_float(double value) {
    return (double)(float)value;
}

/* 2^-8 to 1, as models have them, of every batch the same or another. */
static void set_alibi(struct making *making) {
    struct reference_problem *problem = making->problem;
    int64_t heads = problem->heads_q, count = (problem->batch > 0 ? problem->batch : 1) * heads;
    double *slopes = own(making, count, sizeof *slopes); /* those of the first batch, if there is none */
    bool shared = making->choice->variant % 2 == 0;
    for (int64_t index = 0; slopes && index < count; index++)
        slopes[index] = shared && index >= heads ? slopes[index - heads] : as_float(exp2(-8 * uniform(making)));
    problem->alibi = slopes;
}

/* About as heavy as the keys, one far heavier than most, one that is none. */
static void set_sink(struct making *making) {
    struct reference_problem *problem = making->problem;
    double *sink = own(making, problem->heads_q, sizeof *sink);
    for (int64_t head = 0; sink && head < problem->heads_q; head++) {
        double usual = as_float(2 + 2 * inputs_normal(&making->state));
        sink[head] = head % 5 == 3 ? 40 : head % 5 == 4 ? -INFINITY : usual;
    }
    problem->sink = sink;
}

static void set_head_scale(struct making *making) {
    struct reference_problem *problem = making->problem;
    double *scale = own(making, problem->heads_q, sizeof *scale);
    for (int64_t head = 0; scale && head < problem->heads_q; head++)
        scale[head] = as_float((0.25 + 1.5 * uniform(making)) * (head % 7 == 6 ? -1 : 1));
    problem->head_scale = scale;
}

static void set_softcap(struct making *making) {
    double given = making->choice->values.softcap;
    making->problem->softcap = as_float(!isnan(given) ? given : making->choice->flat_softcap ? 1.5 : 20);
}

static void set_dropout(struct making *making) {
    double given = making->choice->values.dropout;
    making->problem->dropout = as_float(isnan(given) ? 0.25 : given);
    making->problem->dropout_seed = inputs_next(&making->state);
    making->problem->dropout_offset = inputs_next(&making->state) >> 32;
}

/* ---- Bias and masks ---- */

/* By turns each element its own, and one axis that shares its values. */
static struct reference_plane plane_of(const struct making *making, int64_t rows, int64_t columns, int64_t *elements) {
    const struct reference_problem *problem = making->problem;
    unsigned variant = making->choice->variant % 5;
    bool batches = variant != 1 && variant != 4, heads = variant != 2 && variant != 4, each_row = variant != 3;
    struct reference_plane plane = {.stride_row = each_row ? columns : 0};
    int64_t size = (each_row ? rows : rows > 0) * columns;
    plane.stride_head = heads ? size : 0;
    size *= heads ? problem->heads_q : 1;
    plane.stride_batch = batches ? size : 0;
    *elements = size * (batches ? problem->batch : 1);
    return plane;
}

/* The first of a plane's rows, and some others, but never nearly all. */
static bool hides_row(struct making *making, const struct reference_plane *plane, int64_t row) {
    bool first = row < 14 && row < making->problem->seqlen_q / 2;
    return making->choice->rows_hidden && plane->stride_row && (first || below(making, 8) == 0);
}

/* Values as the kernel gets them; some hide their key, among them the lowest finite ones of the types with float32's
 * range. */
static double bias_value(struct making *making, bool hidden) {
    bool single = strcmp(spec_word(&making->instance->spec, SPEC_BIAS), "f32") == 0;
    bool bf16 = strcmp(spec_word(&making->instance->spec, SPEC_DTYPE), "bf16") == 0;
    double value = 2 * inputs_normal(&making->state);
    if (hidden || below(making, 10) == 0)
        value = (single || bf16) && below(making, 2) ? -3.38e38 : -INFINITY;
    return single ? as_float(value)
                  : half_to_double(bf16 ? HALF_BF16 : HALF_F16, half_from_double(bf16 ? HALF_BF16 : HALF_F16, value));
}

/* Where no modifier but the bias decides: NaN at keys that a row does not see anyway reaches nothing. */
static void put_nan_in_hidden(const struct reference_problem *problem, double *values,
                              const struct reference_plane *plane) {
    for (int64_t batch = 0; batch < problem->batch; batch++)
        for (int64_t head = 0; head < problem->heads_q; head++)
            for (int64_t query = 0; query < problem->seqlen_q; query++)
                for (int64_t key = 0; key < problem->seqlen_k; key++)
                    if (!reference_sees(problem, batch, head, query, key))
                        values[batch * plane->stride_batch + head * plane->stride_head + query * plane->stride_row +
                               key] = NAN;
}

static void set_bias(struct making *making) {
    struct reference_problem *problem = making->problem;
    int64_t elements, columns = problem->seqlen_k;
    struct reference_plane plane = plane_of(making, problem->seqlen_q, columns, &elements);
    double *values = own(making, elements, sizeof *values);
    bool hidden = false;
    for (int64_t index = 0; values && index < elements; index++) {
        if (index % columns == 0)
            hidden = hides_row(making, &plane, index / columns % (problem->seqlen_q ? problem->seqlen_q : 1));
        values[index] = bias_value(making, hidden);
    }
    if (values && making->choice->variant % 5 == 0) /* no element is anybody else's */
        put_nan_in_hidden(problem, values, &plane);
    plane.values = values;
    problem->bias = plane;
}

/* A key is seen where the byte is anything but 0. */
static void set_mask(struct making *making) {
    struct reference_problem *problem = making->problem;
    int64_t elements, columns = problem->seqlen_k;
    struct reference_plane plane = plane_of(making, problem->seqlen_q, columns, &elements);
    uint8_t *values = own(making, elements, sizeof *values);
    bool hidden = false;
    for (int64_t index = 0; values && index < elements; index++) {
        if (index % columns == 0)
            hidden = hides_row(making, &plane, index / columns % (problem->seqlen_q ? problem->seqlen_q : 1));
        values[index] = (uint8_t)(hidden || below(making, 5) == 0 ? 0 : below(making, 4) ? 1 : 1 + below(making, 255));
    }
    plane.values = values;
    problem->attn_mask = plane;
}

/* Blocks are one or more of the workgroup's and of the tile. */
static void set_block_mask(struct making *making) {
    struct reference_problem *problem = making->problem;
    const int32_t *field = making->instance->spec.value;
    int64_t fused = field[SPEC_GQA] > 1 ? field[SPEC_GQA] : 1, elements;
    problem->block_mask_q = field[SPEC_BLOCK_M] / fused * (1 + making->choice->variant / 2 % 2);
    problem->block_mask_k = field[SPEC_BLOCK_K] * (1 + making->choice->variant % 2);
    int64_t rows = (problem->seqlen_q + problem->block_mask_q - 1) / problem->block_mask_q;
    int64_t columns = (problem->seqlen_k + problem->block_mask_k - 1) / problem->block_mask_k;
    struct reference_plane plane = plane_of(making, rows, columns, &elements);
    uint8_t *values = own(making, elements, sizeof *values);
    bool hidden = false;
    for (int64_t index = 0; values && index < elements; index++) {
        if (index % columns == 0)
            hidden = making->choice->rows_hidden && below(making, 3) == 0;
        values[index] = !hidden && below(making, 3) != 0;
    }
    plane.values = values;
    problem->block_mask = plane;
}

/* ---- All of it ---- */

/* In the order of what reads what: a bias is NaN where all the others hide. */
static const struct {
    enum spec_field_id field;
    void (*set)(struct making *making);
} setters[] = {{SPEC_WINDOW, set_window},   {SPEC_PREFIX, set_prefix},  {SPEC_SOFTCAP, set_softcap},
               {SPEC_ALIBI, set_alibi},     {SPEC_SINK, set_sink},      {SPEC_HEAD_SCALE, set_head_scale},
               {SPEC_DROPOUT, set_dropout}, {SPEC_ATTN_MASK, set_mask}, {SPEC_BLOCK_MASK, set_block_mask},
               {SPEC_BIAS, set_bias}};

bool modifiers_make(const struct instance *instance, const struct modifiers_choice *choice, uint64_t seed,
                    struct reference_problem *problem, struct modifiers *modifiers, struct error *error) {
    /* A stream of its own: tensors are made from the same seed. */
    struct making making = {.instance = instance,
                            .choice = choice,
                            .problem = problem,
                            .modifiers = modifiers,
                            .state = seed ^ UINT64_C(0x6d6f646966696572)};
    *modifiers = (struct modifiers){.count = 0};
    set_lengths(&making);
    if (is_on(&making, SPEC_SINK_KEYS))
        problem->sink_keys = chosen(choice->values.sink_keys, 5);
    for (size_t index = 0; index < sizeof setters / sizeof *setters && !making.out_of_memory; index++)
        if (is_on(&making, setters[index].field))
            setters[index].set(&making);
    return !making.out_of_memory ||
           error_set(error, ERROR_RUN,
                     "no memory for the modifiers of %lld queries and %lld keys; verify a smaller shape",
                     (long long)problem->seqlen_q, (long long)problem->seqlen_k);
}

#include "standing.h"

#include <math.h>
#include <stdio.h>

#include "kv_cache.h"
#include "standing_list.h"

/* Padding and offsets are the least that the instance's alignment allows, odd where any is allowed, and of no two
 * tensors the same: a stride of one that is used for another leads elsewhere. */
static void set_layout(const struct standing_list *list, enum standing_layouts layouts, struct standing_case *added) {
    struct tensor_layout *const tensors[] = {&added->q, &added->k, &added->v, &added->o};
    int64_t step = execute_alignment(list->instance);
    bool padded = layouts == STANDING_MIXED || layouts == STANDING_PADDED_BSHD || layouts == STANDING_PADDED_BHSD;
    for (int tensor = 0; tensor < 4; tensor++) {
        int64_t pad = padded ? step * (tensor + 1) : 0;
        *tensors[tensor] = (struct tensor_layout){
            .order = layouts == STANDING_BSHD || layouts == STANDING_PADDED_BSHD ? TENSOR_BSHD : TENSOR_BHSD,
            .offset = pad * 3,
            .row_padding = pad,
            .head_padding = pad * 2,
            .block_padding = pad * 5};
    }
    if (layouts == STANDING_MIXED)
        added->v.order = TENSOR_BSHD;
    if (padded) /* as they come where no alignment is asked for */
        added->planes = (struct tensor_layout){.row_padding = 5, .head_padding = 7, .block_padding = 11};
}

/* By turns; far more pages than one are a matter of their own. */
static int64_t page_size_of(int index) {
    static const int64_t sizes[] = {16, 1, 64, 256};
    return sizes[(size_t)index % (sizeof sizes / sizeof *sizes)];
}

struct standing_case *standing_add(struct standing_list *list, const char *what, struct verify_shape shape,
                                   enum input_kind inputs, enum standing_layouts layouts) {
    struct standing_case *added = &list->cases[list->count++];
    if (list->instance->spec.value[SPEC_OP] == SPEC_OP_MLA)
        shape.heads_k = 1;
    *added = (struct standing_case){.shape = shape, .inputs = inputs, .scale = NAN};
    snprintf(added->what, sizeof added->what, "%s", what);
    set_layout(list, layouts, added);
    added->modifiers = modifiers_usual(inputs, (unsigned)list->count);
    added->page_size = page_size_of(list->count);
    return added;
}

static bool has_optional_lse(const struct instance *instance) {
    for (int index = 0; index < instance->argument_count; index++)
        if (instance->arguments[index].optional && instance->arguments[index].kind == ARGUMENT_BUFFER)
            return true;
    return false;
}

static void add_edges(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    standing_add(list, "one whole tile", (struct verify_shape){1, g, 1, m, n}, INPUT_RANDOM, STANDING_BSHD);
    standing_add(list, "one past each tile edge", (struct verify_shape){2, 2 * g, 2, m + 1, n + 1}, INPUT_UNBALANCED,
                 STANDING_PADDED_BHSD);
    standing_add(list, "one short of each tile edge", (struct verify_shape){1, 2 * g, 1, m - 1, n - 1}, INPUT_RANDOM,
                 STANDING_PADDED_BSHD);
    standing_add(list, "three key tiles and one key", (struct verify_shape){2, 2 * g, 2, 17, 3 * n + 1},
                 INPUT_UNBALANCED, STANDING_MIXED);
    standing_add(list, "more queries than keys", (struct verify_shape){1, g, 1, 2 * m + 3, n / 2 + 1}, INPUT_RANDOM,
                 STANDING_BHSD);
    standing_add(list, "one query a head", (struct verify_shape){2, 4 * g, 2, 1, 2 * n + 1}, INPUT_UNBALANCED,
                 STANDING_BSHD);
    standing_add(list, "one query, one key", (struct verify_shape){1, g, 1, 1, 1}, INPUT_RANDOM, STANDING_PADDED_BHSD);
    standing_add(list, "no queries", (struct verify_shape){1, g, 1, 0, n}, INPUT_RANDOM, STANDING_BSHD);
    standing_add(list, "no keys", (struct verify_shape){2, g, 1, 5, 0}, INPUT_RANDOM, STANDING_BSHD);
    /* A ratio rounded up to a power of two, or a head that is taken modulo, shows with two key heads of ratio 12. */
    int64_t ratio = 12 % g ? 3 * g : 12;
    standing_add(list, "12 query heads a key head", (struct verify_shape){1, 2 * ratio, 2, 3, n + 5}, INPUT_IMPULSE,
                 STANDING_BSHD);
}

/* Distances of the diagonal from the edges of key tiles, over two blocks of queries: where the part of the loop without
 * masking ends, and where the loop does. Random inputs: a key that one row sees too many has about as much weight as
 * any. */
static void add_diagonals(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    static const int distances[] = {-2, -1, 0, 1};
    for (size_t index = 0; index < sizeof distances / sizeof *distances; index++)
        standing_add(list, "diagonal near a tile's edge",
                     (struct verify_shape){1, g, 1, m + 1, m + 1 + 2 * n + distances[index]}, INPUT_RANDOM,
                     STANDING_BHSD);
    standing_add(list, "diagonal left of the first key", (struct verify_shape){1, g, 1, 2 * m + 1, m - 1}, INPUT_RANDOM,
                 STANDING_BHSD);
}

struct standing_case *standing_add_far_apart(struct standing_list *list, const char *what, struct verify_shape shape,
                                             struct tensor_layout layout) {
    struct standing_case *added = standing_add(list, what, shape, INPUT_IMPULSE, STANDING_BHSD);
    layout.order = TENSOR_BHSD;
    added->q = added->k = added->v = added->o = layout;
    added->far_apart = true;
    added->page_size = 16;
    return added;
}

/* Far more of everything than one workgroup has: tiles, blocks, heads, batches; then more than 32 bits count. */
static void add_lengths(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    standing_add(list, "40 key tiles", (struct verify_shape){1, g, 1, 16, 40 * n + 5}, INPUT_UNBALANCED, STANDING_BSHD);
    standing_add(list, "7 row blocks", (struct verify_shape){1, g, 1, 6 * m + 3, n + 3}, INPUT_UNBALANCED,
                 STANDING_BSHD);
    standing_add(list, "33 heads, 3 batches", (struct verify_shape){3, 33 * g, 11, 2, 3}, INPUT_IMPULSE,
                 STANDING_MIXED);
    /* Kernels may ask for keys near enough that a tile of them is addressed by 32 bits. */
    standing_add_far_apart(list, "batches 2^31 elements apart", (struct verify_shape){2, g, 1, 3, 3},
                           (struct tensor_layout){.block_padding = INT64_C(1) << 31});
    standing_add_far_apart(list, "heads 2^31 elements apart", (struct verify_shape){1, 2 * g, 2, 3, 3},
                           (struct tensor_layout){.head_padding = INT64_C(1) << 31});
    struct standing_case *rows =
        standing_add_far_apart(list, "rows 2^22 and 2^31 apart", (struct verify_shape){1, g, 1, 2, 515},
                               (struct tensor_layout){.row_padding = INT64_C(1) << 22});
    rows->q.row_padding = rows->o.row_padding = INT64_C(1) << 31;
}

/* What is not finite in V alone. */
static void add_values_of_v(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    standing_add(list, "infinities and NaN in V", (struct verify_shape){1, g, 1, m + 3, 3 * n + 5}, INPUT_INFINITE_V,
                 STANDING_PADDED_BSHD);
    int64_t keys = list->mask == REFERENCE_MASK_NONE ? 2 * n - 3 : 2 * n;
    standing_add(list, "one element of V not finite", (struct verify_shape){1, 32 * g, 32, keys, keys}, INPUT_LONE_V,
                 STANDING_BHSD);
    standing_add(list, "every column of V not finite", (struct verify_shape){1, 8 * g, 8, keys, keys}, INPUT_STREWN_V,
                 STANDING_BHSD);
}

static void add_values(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    double default_scale = 1 / sqrt((double)list->instance->spec.value[SPEC_HEAD_DIM]);
    int64_t half = m / 2 + 1;
    standing_add(list, "impulse in every row", (struct verify_shape){1, g, 1, m, 2 * n + 3}, INPUT_IMPULSE,
                 STANDING_PADDED_BSHD);
    standing_add(list, "large scores of both signs", (struct verify_shape){1, 2 * g, 1, half, 2 * n - 1}, INPUT_LARGE,
                 STANDING_BHSD);
    standing_add(list, "a single score far below zero", (struct verify_shape){1, g, 1, 1, 1}, INPUT_FAR_BELOW_ZERO,
                 STANDING_BSHD);
    standing_add(list, "every score far below zero", (struct verify_shape){1, g, 1, half, n + 1}, INPUT_FAR_BELOW_ZERO,
                 STANDING_BSHD);
    standing_add(list, "a single huge score", (struct verify_shape){1, g, 1, 1, 1}, INPUT_HUGE, STANDING_BSHD)->scale =
        0.25;
    standing_add(list, "NaN that some rows see", (struct verify_shape){1, 2 * g, 2, half, n + 3}, INPUT_NAN_VISIBLE,
                 STANDING_PADDED_BSHD);
    standing_add(list, "NaN that no row sees", (struct verify_shape){2, g, 1, half, n + half + 3}, INPUT_NAN_HIDDEN,
                 STANDING_PADDED_BHSD);
    if (list->instance->spec.value[SPEC_OP] != SPEC_OP_MLA) /* a score of such a key is not finite either */
        add_values_of_v(list);
    standing_add(list, "scores far below any sentinel", (struct verify_shape){1, 2 * g, 1, half, n + half},
                 INPUT_BELOW_SENTINELS, STANDING_BHSD)
        ->scale = 1e28;
    if (!kv_cache_is_used(&list->instance->spec)) /* there the steps are no steps */
        standing_add(list, "steps of a unit of huge scores", (struct verify_shape){1, g, 1, 1, 2 * n}, INPUT_STEPS,
                     STANDING_BSHD)
            ->scale = log(2); /* steps of the exponents */
    standing_add(list, "scale 0", (struct verify_shape){1, g, 1, 18, n + 2}, INPUT_RANDOM, STANDING_BHSD)->scale = 0;
    standing_add(list, "negative scale", (struct verify_shape){1, g, 1, 18, 2 * n + 2}, INPUT_UNBALANCED, STANDING_BHSD)
        ->scale = -default_scale;
}

bool standing_is_on(const struct standing_list *list, enum spec_field_id field) {
    return spec_number(&list->instance->spec, field) != spec_fields[field].neutral;
}

static bool is_any_on(const struct standing_list *list, const enum spec_field_id *fields, size_t count) {
    for (size_t index = 0; index < count; index++)
        if (standing_is_on(list, fields[index]))
            return true;
    return false;
}
#define ANY_ON(list, ...)                                                                                              \
    is_any_on(list, (const enum spec_field_id[]){__VA_ARGS__},                                                         \
              sizeof((const enum spec_field_id[]){__VA_ARGS__}) / sizeof(enum spec_field_id))

/* A part of the keys stands for itself only to rows that see all of it: with a causal mask to a single query at the
 * bottom right; and only keys that all rows see may change places. The parts are of about the same weight, so that a
 * wrong LSE shows in O. What depends on a key's place in other ways than by a tensor that can be split leaves an
 * identity out, what bends scores or joins them all changes what a constant does. Of a modifier from outside nothing is
 * known. */
static void add_identities(struct standing_list *list) {
    int64_t n = list->n, g = list->g;
    struct verify_shape rows = {1, g, 1, 20, 2 * n + 3}, row = {1, g, 1, 1, 2 * n + 3};
    if (list->instance->spec.modifier_hash)
        return;
    if (!ANY_ON(list, SPEC_SOFTCAP, SPEC_SINK, SPEC_HEAD_SCALE))
        standing_add(list, "a constant added to all scores", rows, INPUT_UNBALANCED, STANDING_BSHD)->identity =
            STANDING_SHIFTED;
    if (list->mask == REFERENCE_MASK_CAUSAL_TOP_LEFT)
        return;
    if (!ANY_ON(list, SPEC_ALIBI, SPEC_BIAS, SPEC_DROPOUT))
        standing_add(list, "keys permuted", rows, INPUT_UNBALANCED, STANDING_BSHD)->identity = STANDING_PERMUTED;
    if (!ANY_ON(list, SPEC_WINDOW, SPEC_SINK_KEYS, SPEC_PREFIX, SPEC_ALIBI, SPEC_BLOCK_MASK, SPEC_SINK, SPEC_DROPOUT))
        standing_add(list, "keys split and merged by LSE", list->mask == REFERENCE_MASK_NONE ? rows : row, INPUT_RANDOM,
                     STANDING_BSHD)
            ->identity = STANDING_SPLIT;
}

int standing_cases(const struct instance *instance, enum reference_mask mask,
                   struct standing_case cases[STANDING_MAX]) {
    const int32_t *field = instance->spec.value;
    int64_t g = field[SPEC_GQA] > 1 ? field[SPEC_GQA] : 1;
    struct standing_list list = {.cases = cases,
                                 .instance = instance,
                                 .m = field[SPEC_BLOCK_M] / g,
                                 .n = field[SPEC_BLOCK_K],
                                 .g = g,
                                 .mask = mask};
    add_edges(&list);
    if (mask != REFERENCE_MASK_NONE)
        add_diagonals(&list);
    add_lengths(&list);
    add_values(&list);
    add_identities(&list);
    if (has_optional_lse(instance))
        standing_add(&list, "without an LSE", (struct verify_shape){1, g, 1, 19, list.n + 7}, INPUT_RANDOM,
                     STANDING_BSHD)
            ->without_lse = true;
    standing_add_modifiers(&list);
    return list.count;
}

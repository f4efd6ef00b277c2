#include "standing_list.h"

/* ---- Which keys a row sees ---- */

static void add_window(struct standing_list *list, const char *what, struct verify_shape shape, int64_t left,
                       int64_t right) {
    struct standing_case *added = standing_add(list, what, shape, INPUT_RANDOM, STANDING_PADDED_BHSD);
    added->modifiers.values.window_left = left;
    added->modifiers.values.window_right = right;
}

/* Two blocks of queries over enough keys for tiles that no row sees, on both sides. */
static void add_windows(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    struct verify_shape shape = {1, g, 1, m + 1, m + 1 + 4 * n};
    add_window(list, "a window of one key", (struct verify_shape){2, 2 * g, 2, m + 1, m + 1 + n}, 0, 0);
    add_window(list, "a window wider than the keys", shape, 100 * n, 100 * n);
    add_window(list, "a window without ends", shape, -1, -1);
    add_window(list, "a window without a left end", shape, -1, 3);
    add_window(list, "a window without a right end", shape, 3, -1);
    for (int64_t distance = -1; distance <= 1; distance++)
        add_window(list, "a window near a tile's edge", shape, n + distance, 2 * n + distance);
    add_window(list, "a window beside the keys", (struct verify_shape){1, g, 1, 2 * m + 3, n / 2 + 1}, 3, 2);
    add_window(list, "a window of 2048 keys", (struct verify_shape){1, g, 1, 3, 2100}, 2047, 0);
    struct standing_case *hidden =
        standing_add(list, "NaN beside the window", (struct verify_shape){2, g, 1, 3, 6 * n + 3}, INPUT_NAN_HIDDEN,
                     STANDING_PADDED_BHSD);
    hidden->modifiers.values.window_left = 3;
    hidden->modifiers.values.window_right = 0;
}

/* Tiles between them and the window are left out. */
static void add_sink_keys(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    const int64_t numbers[] = {0, 1, n, n + 1, 1000 * n};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        struct standing_case *added =
            standing_add(list, numbers[index] > 6 * n ? "sink keys beyond the keys" : "sink keys far from the window",
                         (struct verify_shape){1, g, 1, m + 1, m + 6 * n + 3}, INPUT_RANDOM, STANDING_BHSD);
        added->modifiers.values.sink_keys = numbers[index];
        added->modifiers.values.window_left = 3;
        added->modifiers.values.window_right = 0;
    }
}

static void add_prefixes(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    const int64_t lengths[] = {0, 1, n - 1, n, n + 1, 1000 * n};
    for (size_t index = 0; index < sizeof lengths / sizeof *lengths; index++) {
        struct standing_case *added =
            standing_add(list, lengths[index] > 6 * n ? "a prefix beyond the keys" : "a prefix near a tile's edge",
                         (struct verify_shape){1, g, 1, m + 1, m + 1 + 2 * n}, INPUT_RANDOM, STANDING_BHSD);
        added->modifiers.values.prefix = lengths[index];
    }
    standing_add(list, "prefixes of each sequence", (struct verify_shape){5, g, 1, m + 3, m + n}, INPUT_RANDOM,
                 STANDING_MIXED);
}

/* ---- Tensors of queries and keys ---- */

/* Variant 0: no axis shares its values; 4: batches and heads do. */
static void add_planes(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g, rows = m > 29 ? m + 1 : 30;
    struct standing_case *hidden =
        standing_add(list, "every key hidden from some rows", (struct verify_shape){2, 2 * g, 2, rows, 2 * n + 1},
                     INPUT_RANDOM, STANDING_MIXED);
    hidden->modifiers.rows_hidden = true;
    hidden->modifiers.variant = 0;
    for (unsigned variant = 0; variant < 5; variant++)
        standing_add(list, "axes that share their values", (struct verify_shape){2, 2 * g, 2, m + 1, 2 * n + 3},
                     INPUT_UNBALANCED, STANDING_PADDED_BHSD)
            ->modifiers.variant = variant;
    struct standing_case *nan =
        standing_add(list, "NaN that the tensor hides", (struct verify_shape){2, g, 1, 2, 4 * n + 1}, INPUT_NAN_HIDDEN,
                     STANDING_PADDED_BSHD);
    nan->modifiers.variant = 0;
    struct standing_case *batches = standing_add_far_apart(
        list, "batches of the tensor 2^32 apart", (struct verify_shape){2, g, 1, 3, 5}, (struct tensor_layout){0});
    batches->modifiers.variant = 0;
    batches->planes.block_padding = INT64_C(1) << 32;
    struct standing_case *heads = standing_add_far_apart(
        list, "heads of the tensor 2^32 apart", (struct verify_shape){1, 2 * g, 1, 3, 5}, (struct tensor_layout){0});
    heads->modifiers.variant = 0;
    heads->planes.head_padding = INT64_C(1) << 32;
}

static void add_far_planes(struct standing_list *list) {
    struct standing_case *far = standing_add_far_apart(
        list, "rows of the tensor 2^31 apart", (struct verify_shape){2, list->g, 1, 4, 5}, (struct tensor_layout){0});
    far->modifiers.variant = 4;
    far->planes.row_padding = INT64_C(1) << 31;
}

/* More words of bits than one, blocks of one tile and of several. */
static void add_block_masks(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    for (unsigned variant = 0; variant < 4; variant++) {
        struct standing_case *added =
            standing_add(list, "blocks near tiles' edges", (struct verify_shape){1, 2 * g, 1, 2 * m + 1, 5 * n + 1},
                         INPUT_RANDOM, STANDING_BHSD);
        added->modifiers.variant = variant;
        added->modifiers.rows_hidden = false;
    }
    standing_add(list, "more blocks than a word has bits", (struct verify_shape){1, g, 1, 3, 67 * n + 5}, INPUT_RANDOM,
                 STANDING_BHSD)
        ->modifiers.variant = 0;
}

/* ---- Scores and weights ---- */

/* However small the cap, a key that is hidden weighs nothing; and a large one does nothing. */
static void add_softcaps(struct standing_list *list) {
    int64_t half = list->m / 2 + 1, n = list->n, g = list->g;
    standing_add(list, "a small cap", (struct verify_shape){1, 2 * g, 1, half, n + half}, INPUT_NAN_HIDDEN,
                 STANDING_BHSD)
        ->modifiers.values.softcap = 0.01;
    standing_add(list, "a large cap", (struct verify_shape){1, 2 * g, 1, half, n + half}, INPUT_UNBALANCED,
                 STANDING_BHSD)
        ->modifiers.values.softcap = 1e6;
}

static void add_dropouts(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    struct verify_shape shape = {2, 2 * g, 2, m + 1, 2 * n + 3};
    standing_add(list, "nothing dropped", shape, INPUT_RANDOM, STANDING_BHSD)->modifiers.values.dropout = 0;
    standing_add(list, "nearly all dropped", shape, INPUT_RANDOM, STANDING_BHSD)->modifiers.values.dropout = 0.97;
}

/* ---- Sequences and pages ---- */

struct lengths {
    int64_t q, k;
};

static struct standing_case *add_sequences(struct standing_list *list, const char *what, int64_t heads_q,
                                           int64_t heads_k, const struct lengths *lengths, int count,
                                           enum input_kind inputs, enum standing_layouts layouts) {
    struct verify_shape shape = {count, heads_q, heads_k, 0, 0};
    for (int index = 0; index < count; index++) {
        shape.seqlen_q = lengths[index].q > shape.seqlen_q ? lengths[index].q : shape.seqlen_q;
        shape.seqlen_k = lengths[index].k > shape.seqlen_k ? lengths[index].k : shape.seqlen_k;
    }
    struct standing_case *added = standing_add(list, what, shape, inputs, layouts);
    added->has_lengths = true;
    for (int index = 0; index < count; index++) {
        added->lengths_q[index] = lengths[index].q;
        added->lengths_k[index] = lengths[index].k;
    }
    return added;
}
#define ADD_SEQUENCES(list, what, heads_q, heads_k, inputs, layouts, ...)                                              \
    add_sequences(list, what, heads_q, heads_k, (const struct lengths[]){__VA_ARGS__},                                 \
                  (int)(sizeof((const struct lengths[]){__VA_ARGS__}) / sizeof(struct lengths)), inputs, layouts)

static void add_lengths(struct standing_list *list) {
    int64_t m = list->m, n = list->n, g = list->g;
    ADD_SEQUENCES(list, "sequences around each tile's edge", 2 * g, 2, INPUT_RANDOM, STANDING_PADDED_BHSD,
                  {m + 1, n + 1}, {0, n}, {1, 1}, {m, 0}, {m - 1, 2 * n + 3}, {17, n - 1});
    ADD_SEQUENCES(list, "sequences in rows of all heads", 2 * g, 2, INPUT_UNBALANCED, STANDING_PADDED_BSHD,
                  {3, 2 * n + 1}, {m + 2, n - 1}, {0, 0}, {1, n + 1});
    ADD_SEQUENCES(list, "more queries than keys in some", g, 1, INPUT_RANDOM, STANDING_BHSD, {2 * m + 1, m / 2 + 1},
                  {3, 2 * n}, {m, 3}, {m + 3, m + 3});
    ADD_SEQUENCES(list, "no sequence has queries", g, 1, INPUT_RANDOM, STANDING_BSHD, {0, n}, {0, 3})->shape.seqlen_q =
        5;
    ADD_SEQUENCES(list, "no sequence has keys", g, 1, INPUT_RANDOM, STANDING_BSHD, {5, 0}, {m + 1, 0})->shape.seqlen_k =
        n;
    ADD_SEQUENCES(list, "one query each, or none", g > 1 ? 3 * g : 9, 3, INPUT_IMPULSE, STANDING_BSHD, {1, 3}, {0, 0},
                  {1, 5});
    struct standing_case *bounds = ADD_SEQUENCES(list, "bounds beyond the longest", g, 1, INPUT_RANDOM, STANDING_MIXED,
                                                 {m - 3, n + 2}, {5, n - 2});
    bounds->shape.seqlen_q = 3 * m;
    bounds->shape.seqlen_k = 4 * n;
    ADD_SEQUENCES(list, "infinities and NaN in each V", g, 1, INPUT_INFINITE_V, STANDING_PADDED_BSHD, {m, n + 3},
                  {5, n - 1}, {20, 2}, {m + 1, 2 * n});
    ADD_SEQUENCES(list, "NaN that no row of its own sees", 2 * g, 2, INPUT_NAN_HIDDEN, STANDING_BHSD, {3, n + 3},
                  {m, n / 2}, {0, n}, {2, 2 * n});
    /* Of a packed batch the second begins there. */
    struct standing_case *far =
        ADD_SEQUENCES(list, "sequences 2^31 elements apart", g, 1, INPUT_IMPULSE, STANDING_BHSD, {1, 515}, {2, 5});
    far->q.row_padding = far->o.row_padding = INT64_C(1) << 31;
    far->k.row_padding = far->v.row_padding = INT64_C(1) << 22;
    far->far_apart = true;
}

/* Page 2991 of this stride begins 2^31 elements after the first, 2^32 bytes. */
static void add_pages(struct standing_list *list) {
    int64_t n = list->n, g = list->g;
    ADD_SEQUENCES(list, "last pages of one key", 2 * g, 2, INPUT_RANDOM, STANDING_PADDED_BHSD, {5, 17}, {5, 1}, {5, 33},
                  {5, 16})
        ->page_size = 16;
    ADD_SEQUENCES(list, "pages of one key", 2 * g, 2, INPUT_IMPULSE, STANDING_PADDED_BSHD, {3, n + 1}, {3, 3})
        ->page_size = 1;
    ADD_SEQUENCES(list, "pages of 256 keys", g, 1, INPUT_RANDOM, STANDING_MIXED, {3, 257}, {3, 255}, {3, 256})
        ->page_size = 256;
    standing_add(list, "256 pages of 16 keys", (struct verify_shape){1, g, 1, 1, 4090}, INPUT_UNBALANCED, STANDING_BSHD)
        ->page_size = 16;
    struct standing_case *far =
        standing_add_far_apart(list, "pages past 2^31 elements", (struct verify_shape){2, 2 * g, 2, 3, 40},
                               (struct tensor_layout){.block_padding = 717984});
    far->page_size = 16;
    far->page_spare = 4600;
}

void standing_add_modifiers(struct standing_list *list) {
    if (standing_is_on(list, SPEC_WINDOW))
        add_windows(list);
    if (standing_is_on(list, SPEC_SINK_KEYS))
        add_sink_keys(list);
    if (standing_is_on(list, SPEC_PREFIX))
        add_prefixes(list);
    if (standing_is_on(list, SPEC_BIAS) || standing_is_on(list, SPEC_ATTN_MASK) ||
        standing_is_on(list, SPEC_BLOCK_MASK))
        add_planes(list);
    if (standing_is_on(list, SPEC_BIAS) || standing_is_on(list, SPEC_ATTN_MASK))
        add_far_planes(list);
    if (standing_is_on(list, SPEC_BLOCK_MASK))
        add_block_masks(list);
    if (standing_is_on(list, SPEC_SOFTCAP))
        add_softcaps(list);
    if (standing_is_on(list, SPEC_DROPOUT))
        add_dropouts(list);
    if (standing_is_on(list, SPEC_VARLEN))
        add_lengths(list);
    if (standing_is_on(list, SPEC_PAGED))
        add_pages(list);
}

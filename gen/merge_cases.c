#include "merge_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inputs.h"

const char *merge_inputs_name(enum merge_inputs inputs) {
    static const char *const names[] = {
        [MERGE_RANDOM] = "random",         [MERGE_EMPTY] = "empty",    [MERGE_ALONE] = "alone",
        [MERGE_EQUAL] = "equal",           [MERGE_LARGE] = "large",    [MERGE_SPREAD] = "spread",
        [MERGE_NOT_FINITE] = "not-finite", [MERGE_LARGEST] = "largest"};
    return names[inputs];
}

/* ---- Cases ---- */

struct list {
    struct merge_case *cases;
    int count;
};

static struct merge_case *add(struct list *list, const char *what, enum merge_inputs inputs, enum array_placing placing,
                              struct verify_merge_shape shape) {
    struct merge_case *one = &list->cases[list->count++];
    *one = (struct merge_case){.shape = shape, .inputs = inputs, .placing = placing};
    snprintf(one->what, sizeof one->what, "%s", what);
    return one;
}

/* Shapes are splits, batch, heads, rows, head dimension. */
int merge_standing(int64_t threads, struct merge_case cases[MERGE_CASES_MAX]) {
    typedef struct verify_merge_shape shape;
    struct list list = {cases, 0};
    add(&list, "two partial results", MERGE_RANDOM, ARRAY_PLAIN, (shape){2, 1, 2, 5, 64});
    add(&list, "one", MERGE_RANDOM, ARRAY_PADDED, (shape){1, 2, 3, 7, 72});
    add(&list, "none", MERGE_RANDOM, ARRAY_PADDED, (shape){0, 2, 3, 5, 8});
    add(&list, "three", MERGE_RANDOM, ARRAY_ROWS_OUTSIDE, (shape){3, 2, 3, 5, 128})->two_steps = true;
    add(&list, "17, columns of 512", MERGE_RANDOM, ARRAY_PADDED, (shape){17, 1, 5, 3, 512})->two_steps = true;
    add(&list, "200", MERGE_RANDOM, ARRAY_PLAIN, (shape){200, 1, 2, 3, 64})->two_steps = true;
    add(&list, "more splits than keys", MERGE_EMPTY, ARRAY_PADDED, (shape){200, 2, 3, 3, 72})->two_steps = true;
    add(&list, "some empty", MERGE_EMPTY, ARRAY_ROWS_OUTSIDE, (shape){17, 2, 3, 11, 128})->two_steps = true;
    add(&list, "two of which some are empty", MERGE_EMPTY, ARRAY_PLAIN, (shape){2, 1, 3, 40, 8});
    add(&list, "one with keys", MERGE_ALONE, ARRAY_PADDED, (shape){9, 2, 2, 13, 72});
    add(&list, "all alike", MERGE_EQUAL, ARRAY_PLAIN, (shape){3, 1, 2, 9, 8})->two_steps = true;
    add(&list, "large LSE", MERGE_LARGE, ARRAY_ROWS_OUTSIDE, (shape){5, 2, 2, 9, 64})->two_steps = true;
    add(&list, "LSE of any magnitude", MERGE_SPREAD, ARRAY_PADDED, (shape){6, 2, 2, 9, 64})->two_steps = true;
    add(&list, "NaN and infinities", MERGE_NOT_FINITE, ARRAY_ROWS_OUTSIDE, (shape){7, 2, 3, 24, 64});
    add(&list, "O near its type's end", MERGE_LARGEST, ARRAY_PADDED, (shape){8, 1, 2, 5, 64});
    add(&list, "one row of one piece", MERGE_RANDOM, ARRAY_PLAIN, (shape){2, 1, 1, 1, 8});
    add(&list, "one past a workgroup", MERGE_RANDOM, ARRAY_PADDED, (shape){2, 1, 1, threads + 1, 8});
    add(&list, "rows across workgroups", MERGE_RANDOM, ARRAY_PLAIN, (shape){3, 1, 3, 7, 440});
    add(&list, "no rows", MERGE_RANDOM, ARRAY_PLAIN, (shape){2, 2, 2, 0, 64});
    add(&list, "no batch", MERGE_RANDOM, ARRAY_PLAIN, (shape){2, 0, 2, 3, 64});
    add(&list, "33 heads, 3 batches", MERGE_RANDOM, ARRAY_ROWS_OUTSIDE, (shape){3, 3, 33, 3, 16});
    add(&list, "without LSE", MERGE_RANDOM, ARRAY_PADDED, (shape){3, 2, 2, 5, 24})->without_lse = true;
    static const char *const axes[] = {"splits", "batches", "heads", "rows", "batches of O", "heads of O", "rows of O"};
    for (int axis = 0; axis < 7; axis++) {
        char what[64];
        snprintf(what, sizeof what, "%s 2^31 apart", axes[axis]);
        add(&list, what, MERGE_RANDOM, ARRAY_FAR, (shape){2, 2, 2, 2, 8})->far_axis = axis;
    }
    return list.count;
}

/* ---- Numbers ---- */

static float lse_of(enum merge_inputs inputs, int64_t split, int64_t splits, int64_t row, uint64_t *state) {
    uint64_t bits = inputs_next(state) >> 33;
    float normal = (float)(2 * inputs_normal(state));
    switch (inputs) {
    case MERGE_EMPTY: /* beyond as many partial results as a few keys make, and every fourth */
        return row % 5 == 4 || split >= 20 + row % 7 || bits % 4 == 0 ? -INFINITY : normal;
    case MERGE_ALONE:
        return split == row % splits ? normal * 1e3f : -INFINITY;
    case MERGE_EQUAL:
        return (float)(row % 7) - 3.5f;
    case MERGE_LARGE:
        return normal + (row % 2 ? -1e5f : 1e5f);
    case MERGE_SPREAD:
        return (bits & 1 ? -1.0f : 1.0f) * ldexpf(1.5f, (int)(bits >> 1) % 252 - 125);
    case MERGE_NOT_FINITE:
        return row % 3 == 0 && split == row % splits ? (row % 2 ? NAN : INFINITY) : normal;
    case MERGE_LARGEST:
        return 0.5f;
    default:
        return normal;
    }
}

static float o_of(enum merge_inputs inputs, float lse, int64_t row, int64_t column, double largest, uint64_t *state) {
    float broken[] = {0, INFINITY, -INFINITY};
    uint64_t bits = inputs_next(state) >> 33;
    float normal = (float)inputs_normal(state);
    memcpy(broken, &(uint32_t){0x7fbfffff}, sizeof *broken); /* a NaN that carelessly rounded is another number */
    if (lse == -INFINITY)
        return broken[bits % 3];
    if (inputs == MERGE_NOT_FINITE && row % 3 == 1 && bits % 16 == 0)
        return broken[column % 3];
    if (inputs == MERGE_LARGEST) /* half of the columns of one sign */
        return (float)(largest * (column % 2 && bits & 1 ? -1 : 1) * (1 - 0.125 * (double)(bits >> 1 & 1)));
    return bits % 16 == 0 ? 0.0f : bits % 16 == 1 ? -0.0f : normal;
}

void merge_inputs_make(enum merge_inputs inputs, int64_t splits, int64_t rows, int64_t head_dim, double largest,
                       uint64_t seed, float *lse, float *o) {
    for (int64_t split = 0; split < splits; split++)
        for (int64_t row = 0; row < rows; row++) {
            float *place = &lse[split * rows + row];
            *place = lse_of(inputs, split, splits, row, &seed);
            for (int64_t d = 0; d < head_dim; d++)
                o[(split * rows + row) * head_dim + d] = o_of(inputs, *place, row, d, largest, &seed);
        }
}

#include "append_cases.h"

#include <math.h>
#include <stdio.h>

#include "inputs.h"

struct list {
    struct append_case *cases;
    int count;
};

static struct append_case *add(struct list *list, const char *what, enum array_placing placing,
                               enum append_rotated rotated, int64_t page_size, struct verify_append_shape shape) {
    struct append_case *one = &list->cases[list->count++];
    *one = (struct append_case){.shape = shape, .placing = placing, .rotated = rotated, .page_size = page_size};
    snprintf(one->what, sizeof one->what, "%s", what);
    return one;
}

/* Shapes are batch, heads, new rows, and rows that a sequence may have. */
int append_standing(int64_t groups, bool paged, struct append_case cases[APPEND_CASES_MAX]) {
    typedef struct verify_append_shape shape;
    struct list list = {cases, 0};
    add(&list, "one key of one head", ARRAY_PLAIN, APPEND_ALL_COLUMNS, 16, (shape){1, 1, 1, 5});
    add(&list, "one key each", ARRAY_PADDED, APPEND_LAST_COLUMNS, 16, (shape){5, 3, 1, 70});
    add(&list, "several", ARRAY_ROWS_OUTSIDE, APPEND_FIRST_COLUMNS, 16, (shape){3, 2, 21, 64});
    add(&list, "across pages of one key", ARRAY_PADDED, APPEND_ALL_COLUMNS, 1, (shape){2, 3, 7, 19});
    add(&list, "across pages of 256", ARRAY_ROWS_OUTSIDE, APPEND_LAST_COLUMNS, 256, (shape){2, 1, 260, 600});
    add(&list, "all that there is room for", ARRAY_PADDED, APPEND_FIRST_COLUMNS, 4, (shape){2, 2, 33, 33});
    add(&list, "more than there is room for", ARRAY_PADDED, APPEND_ALL_COLUMNS, 16, (shape){3, 2, 9, 40})->full = true;
    add(&list, "some sequences without", ARRAY_ROWS_OUTSIDE, APPEND_ALL_COLUMNS, 16, (shape){7, 2, 6, 50})->without =
        true;
    add(&list, "one past a workgroup", ARRAY_PADDED, APPEND_ALL_COLUMNS, 16, (shape){1, 1, groups + 1, groups + 9});
    add(&list, "33 heads, 3 batches", ARRAY_PLAIN, APPEND_LAST_COLUMNS, 16, (shape){3, 33, 2, 20});
    add(&list, "nothing new", ARRAY_PLAIN, APPEND_ALL_COLUMNS, 16, (shape){2, 2, 0, 20});
    add(&list, "no batch", ARRAY_PLAIN, APPEND_ALL_COLUMNS, 16, (shape){0, 2, 3, 20});
    add(&list, "no room", ARRAY_PLAIN, APPEND_ALL_COLUMNS, 16, (shape){2, 2, 3, 0})->full = true;
    static const char *const axes[APPEND_FAR_AXES] = {"new batches", "new heads", "new rows",
                                                      "batches",     "heads",     "rows"};
    for (int axis = 0; axis < APPEND_FAR_AXES; axis++) {
        char what[64];
        snprintf(what, sizeof what, "%s 2^31 apart", paged && axis == 3 ? "pages" : axes[axis]);
        add(&list, what, ARRAY_FAR, APPEND_ALL_COLUMNS, 2, (shape){2, 2, 2, 4})->far_axis = axis;
    }
    return list.count;
}

void append_lengths(const struct append_case *one, bool ragged, uint64_t seed, int32_t *before, int32_t *added) {
    int64_t new = one->shape.seqlen_new, room = one->shape.seqlen_k;
    for (int64_t b = 0; b < one->shape.batch; b++) {
        uint64_t bits = inputs_next(&seed) >> 8;
        bool none = one->without && (b % 3 == 0 || b == one->shape.batch - 1);
        added[b] = (int32_t)(!ragged || b == 1 ? new : none ? 0 : (int64_t)((bits >> 32) % (uint64_t)(new + 1)));
        int64_t most = one->full ? room : room - new;
        before[b] = (int32_t)(most <= 0 || (one->without && b % 2) ? 0
                              : one->full                          ? room - (int64_t)(bits % (uint64_t)(new + 1))
                              : b % 4 == 0                         ? most
                                                                   : (int64_t)(bits % (uint64_t)(most + 1)));
        before[b] = before[b] < 0 ? 0 : before[b];
    }
}

/* A scale that times float32's inverse of it is not 1. */
#define ODD_SCALE (41.0f / 32)

double append_number(uint64_t of_row, uint64_t draw, uint64_t *seed) {
    double number = ldexp(inputs_normal(seed), (int)(of_row >> 8) % 16 - 10);
    if (of_row % 8 == 3) /* by a scale of that kind a middle, beside which the inverse leads */
        number = (draw & 1 ? -1 : 1) * (double)ODD_SCALE * (double)(17 + 2 * (draw >> 8 & 7)) / 16;
    if (of_row % 8 == 1 || draw % 64 == 0)
        number = draw & 128 ? 0.0 : -0.0;
    if (of_row % 8 == 2 && draw % 64 == 1)
        number = draw & 128 ? (draw & 256 ? INFINITY : -INFINITY) : NAN;
    return number;
}

float append_scale(int64_t at, uint64_t *seed) {
    uint64_t draw = inputs_next(seed);
    float fraction = at % 3 == 0 ? ODD_SCALE : at % 3 == 1 ? 1 : 1 + (float)(draw >> 40) * 0x1p-24f;
    return ldexpf(fraction, (int)(draw % 12) - 10);
}

/* What the operation append is verified with: standing cases, the lengths in them, and numbers, which are those of
 * quantize too. */
#ifndef GEN_APPEND_CASES_H
#define GEN_APPEND_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "verify.h"

/* Which columns of K are rotated. */
enum append_rotated { APPEND_ALL_COLUMNS, APPEND_FIRST_COLUMNS, APPEND_LAST_COLUMNS };

enum { APPEND_FAR_AXES = 6 }; /* batches, heads and rows of what is new, then of the cache */

struct append_case {
    char what[64];
    struct verify_append_shape shape;
    enum array_placing placing;
    enum append_rotated rotated;
    int far_axis;
    int64_t page_size; /* where the cache has pages */
    bool full;         /* sequences are longer than there is room for: their last rows go nowhere */
    bool without;      /* some sequences have nothing new where lengths may differ, and nothing before */
};

enum { APPEND_CASES_MAX = 64 };

/* Fills the standing cases and gives their number. `groups`: keys of a workgroup; `paged`: the cache has pages. */
int append_standing(int64_t groups, bool paged, struct append_case cases[APPEND_CASES_MAX]);

/* Fills before[batch], the lengths that sequences have, and added[batch], how many rows are new: seqlen_new, or where
 * `ragged` up to that. */
void append_lengths(const struct append_case *one, bool ragged, uint64_t seed, int32_t *before, int32_t *added);

/* A number of a row, from what was drawn for the row and for itself: of a magnitude of the row's own, zeros of both
 * signs, rows of nothing else, rows with some that are not finite, and rows which some given scales bring to the middle
 * of two numbers of fp8. */
double append_number(uint64_t of_row, uint64_t draw, uint64_t *seed);

/* A given scale: of two thirds one by which middles of two numbers occur. */
float append_scale(int64_t at, uint64_t *seed);

#endif

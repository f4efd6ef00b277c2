/* Reference of appending to a cache, in plain C and float64, and how far float32 may be from it. */
#ifndef GEN_APPEND_H
#define GEN_APPEND_H

#include <stdbool.h>
#include <stdint.h>

enum append_rotary { APPEND_ROTARY_OFF, APPEND_ROTARY_NEOX, APPEND_ROTARY_INTERLEAVED };

/* Which columns of K are rotated, and the cosines and sines of each pair's angle at one position. */
struct append_angles {
    enum append_rotary rotary;
    int64_t first, dim;     /* columns: first to first + dim, dim even */
    const float *cos, *sin; /* [dim / 2] */
};

bool append_rotates(const struct append_angles *angles, int64_t column);

/* The value of a column of K after rotary embedding, of a row before it. Columns are pairs: neox (i, i + dim / 2),
 * interleaved (2 i, 2 i + 1), counted from the first; a pair (x, y) becomes (x cos - y sin, y cos + x sin). *error is
 * what float32 may be off by, each product and the sum rounded: 0 where nothing is rotated. */
double append_rotated(const struct append_angles *angles, const double *row, int64_t column, double *error);

#endif

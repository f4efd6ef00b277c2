/* Reference of appending to a cache, in plain C and float64, and how far float32 may be from it. */
#ifndef GEN_APPEND_H
#define GEN_APPEND_H

#include <stdbool.h>
#include <stdint.h>

#include "halves.h"
#include "quantize.h"

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

/* What a cache holds. */
enum append_cache { APPEND_SAME, APPEND_FP8, APPEND_MXFP4 };
struct append_type {
    enum append_cache cache;
    enum half_type half;     /* of APPEND_SAME */
    enum format format;      /* of APPEND_FP8 */
    enum quantize_rule rule; /* of APPEND_MXFP4 */
};

/* The bits of a number of a row, and what they mean without a scale. */
uint16_t append_code_at(const struct append_type *type, const void *row, int64_t column);
double append_code_value(const struct append_type *type, uint16_t code);

/* The bits that a float32 value becomes by a scale: of APPEND_FP8 the scale's own bits, of APPEND_MXFP4 the E8M0 byte.
 */
uint16_t append_code_of(const struct append_type *type, float value, uint32_t scale);

/* The scale's bits for values of such a magnitude: as of a token of fp8, or of a block of mxfp4. */
uint32_t append_scale_of(const struct append_type *type, float magnitude);

/* Between which values of a row, low[count] to high[count], the largest magnitude may lie of those that have a say in
 * its scale; both infinity where a block of mxfp4 has one that is not finite. */
void append_magnitudes(const struct append_type *type, const float *low, const float *high, int64_t count,
                       float magnitudes[2]);

#endif

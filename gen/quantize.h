/* Quantizers of keys and values, in plain C: what a device kernel has to make of the same numbers, bit for bit.
 * docs/formats.md has the rules. */
#ifndef GEN_QUANTIZE_H
#define GEN_QUANTIZE_H

#include "formats.h"

/* ---- fp8: value = number * scale ---- */

/* What shares a float32 scale. Scales stand in the order of what they are of, without gaps. */
enum quantize_share {
    QUANTIZE_PER_TENSOR, /* [1] */
    QUANTIZE_PER_HEAD,   /* [heads], of all batches */
    QUANTIZE_PER_TOKEN   /* [batch][heads][tokens] */
};

struct quantize_shape {
    int64_t batch, heads, tokens, head_dim; /* of [batch][heads][tokens][head_dim] without gaps; each 0 and up */
};

int64_t quantize_scales(enum quantize_share share, struct quantize_shape shape);

/* Which scale a row has. */
int64_t quantize_scale_of(enum quantize_share share, struct quantize_shape shape, int64_t batch, int64_t head,
                          int64_t token);

/* Fills scales[quantize_scales(…)]: the largest finite magnitude over the format's largest number, a float32 division
 * to nearest; at least 2^-126, so also where all is zero. */
void quantize_fp8_choose(enum format format, enum quantize_share share, struct quantize_shape shape, const float *x,
                         float *scales);

/* Fills `to`, of the shape of x, by any scales: x / scale, a float32 division to nearest, then to the format. What is
 * finite saturates; what is not becomes infinity or NaN, as the format has it. */
void quantize_fp8(enum format format, enum quantize_share share, struct quantize_shape shape, const float *x,
                  const float *scales, uint8_t *to);

/* ---- mxfp4: 32 values of E2M1 to an E8M0 scale ---- */

enum { QUANTIZE_BLOCK = 32, QUANTIZE_MLA_SCALE_ROW_BYTES = 24 };

enum quantize_rule {
    QUANTIZE_FLOOR,         /* of the OCP: floor(log2 of the largest magnitude) - 2 */
    QUANTIZE_THREE_QUARTERS /* one more where that magnitude is 1.75 or more times its power of two */
};

/* The scale of 1 to 32 values: 0 if all are zero, 255 if one is not finite, else at most 252: 6 times the scale is then
 * still a float32. */
uint8_t quantize_mxfp4_scale(enum quantize_rule rule, const float *x, int64_t count);

/* One row of head_dim values: its (head_dim + 1) / 2 bytes, and its scales, one to 32 values and to those left over. Of
 * `scale_row_bytes` those behind the scales are set to 0. x / scale is exact; it is rounded to nearest even and
 * saturates at 6. A block whose scale is NaN has zeros. */
void quantize_mxfp4_row(enum quantize_rule rule, const float *x, int64_t head_dim, uint8_t *values, uint8_t *scales,
                        int64_t scale_row_bytes);

/* Value `at` of such a row. Exact. */
double quantize_mxfp4_value(const uint8_t *values, const uint8_t *scales, int64_t at);

#endif

#include "quantize.h"

#include <math.h>

int64_t quantize_scales(enum quantize_share share, struct quantize_shape shape) {
    return share == QUANTIZE_PER_TENSOR ? 1
           : share == QUANTIZE_PER_HEAD ? shape.heads
                                        : shape.batch * shape.heads * shape.tokens;
}

int64_t quantize_scale_of(enum quantize_share share, struct quantize_shape shape, int64_t batch, int64_t head,
                          int64_t token) {
    return share == QUANTIZE_PER_TENSOR ? 0
           : share == QUANTIZE_PER_HEAD ? head
                                        : (batch * shape.heads + head) * shape.tokens + token;
}

/* The scale of element `at` of the tensor. */
static int64_t scale_at(enum quantize_share share, struct quantize_shape shape, int64_t at) {
    int64_t row = at / shape.head_dim, token = row % shape.tokens, head = row / shape.tokens % shape.heads;
    return quantize_scale_of(share, shape, row / shape.tokens / shape.heads, head, token);
}

static int64_t elements(struct quantize_shape shape) {
    return shape.batch * shape.heads * shape.tokens * shape.head_dim;
}

void quantize_fp8_choose(enum format format, enum quantize_share share, struct quantize_shape shape, const float *x,
                         float *scales) {
    for (int64_t i = 0; i < quantize_scales(share, shape); i++)
        scales[i] = 0;
    for (int64_t at = 0; at < elements(shape); at++) {
        float *largest = &scales[scale_at(share, shape, at)];
        if (isfinite(x[at]) && fabsf(x[at]) > *largest)
            *largest = fabsf(x[at]);
    }
    for (int64_t i = 0; i < quantize_scales(share, shape); i++)
        scales[i] = fmaxf(scales[i] / (float)format_largest(format), 0x1p-126f);
}

void quantize_fp8(enum format format, enum quantize_share share, struct quantize_shape shape, const float *x,
                  const float *scales, uint8_t *to) {
    for (int64_t at = 0; at < elements(shape); at++) {
        float scaled = x[at] / scales[scale_at(share, shape, at)];
        to[at] = format_encode(format, (double)scaled, isinf(x[at]) ? FORMAT_OVERFLOWS : FORMAT_SATURATES);
    }
}

uint8_t quantize_mxfp4_scale(enum quantize_rule rule, const float *x, int64_t count) {
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i]))
            return 255;
        largest = fmax(largest, fabs((double)x[i]));
    }
    if (largest == 0)
        return 0;
    int exponent = ilogb(largest);
    if (rule == QUANTIZE_THREE_QUARTERS && largest >= ldexp(1.75, exponent))
        exponent++;
    uint8_t scale = format_scale_encode(exponent - 2); /* 4 = 2^2 is the largest power of two in E2M1 */
    return scale > 252 ? 252 : scale;
}

void quantize_mxfp4_row(enum quantize_rule rule, const float *x, int64_t head_dim, uint8_t *values, uint8_t *scales,
                        int64_t scale_row_bytes) {
    for (int64_t i = 0; i < (head_dim + 1) / 2; i++)
        values[i] = 0;
    for (int64_t i = 0; i < scale_row_bytes; i++)
        scales[i] = 0;
    for (int64_t first = 0; first < head_dim; first += QUANTIZE_BLOCK) {
        int64_t count = head_dim - first < QUANTIZE_BLOCK ? head_dim - first : QUANTIZE_BLOCK;
        uint8_t scale = quantize_mxfp4_scale(rule, x + first, count);
        scales[first / QUANTIZE_BLOCK] = scale;
        if (scale == 255)
            continue;
        for (int64_t at = first; at < first + count; at++) {
            uint8_t nibble = format_encode(FORMAT_E2M1, (double)x[at] / format_scale_decode(scale), FORMAT_SATURATES);
            values[at / 2] |= (uint8_t)(at % 2 == 0 ? nibble : nibble << 4);
        }
    }
}

double quantize_mxfp4_value(const uint8_t *values, const uint8_t *scales, int64_t at) {
    return format_nibble(values, at) * format_scale_decode(scales[at / QUANTIZE_BLOCK]);
}

#include "append.h"

#include <math.h>
#include <string.h>

bool append_rotates(const struct append_angles *angles, int64_t column) {
    return angles->rotary != APPEND_ROTARY_OFF && column >= angles->first && column < angles->first + angles->dim;
}

double append_rotated(const struct append_angles *angles, const double *row, int64_t column, double *error) {
    *error = 0;
    if (!append_rotates(angles, column))
        return row[column];
    bool neox = angles->rotary == APPEND_ROTARY_NEOX;
    int64_t at = column - angles->first, half = angles->dim / 2;
    bool is_first = neox ? at < half : at % 2 == 0;
    int64_t apart = neox ? half : 1, other = is_first ? at + apart : at - apart;
    int64_t angle = neox ? at % half : at / 2;
    double cosine = (double)angles->cos[angle], sine = (double)angles->sin[angle];
    double own = row[column] * cosine, turned = row[angles->first + other] * sine;
    double value = is_first ? own - turned : own + turned;
    /* Two products and their sum, each off by 2^-24 of itself or by half of the smallest subnormal; a fused
     * multiplication and addition is off by less. */
    double products = fabs(own) + fabs(turned);
    *error = isfinite(value) ? ((products + fabs(value)) * 0x1p-24 + 0x1.8p-149) * (1 + 0x1p-20) : 0;
    return value;
}

/* ---- Small formats ---- */

uint16_t append_code_at(const struct append_type *type, const void *row, int64_t column) {
    const uint8_t *bytes = row;
    if (type->cache == APPEND_SAME)
        return ((const uint16_t *)row)[column];
    return type->cache == APPEND_FP8 ? bytes[column] : bytes[column / 2] >> 4 * (column % 2) & 15;
}

double append_code_value(const struct append_type *type, uint16_t code) {
    if (type->cache == APPEND_SAME)
        return half_to_double(type->half, code);
    return format_decode(type->cache == APPEND_FP8 ? type->format : FORMAT_E2M1, (uint8_t)code);
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t append_code_of(const struct append_type *type, float value, uint32_t scale) {
    const struct quantize_shape one = {1, 1, 1, 1};
    float by = float_of(scale);
    uint8_t code;
    switch (type->cache) {
    case APPEND_FP8:
        quantize_fp8(type->format, QUANTIZE_PER_TENSOR, one, &value, &by, &code);
        return code;
    case APPEND_MXFP4:
        return scale == 255
                   ? 0
                   : format_encode(FORMAT_E2M1, (double)value / format_scale_decode((uint8_t)scale), FORMAT_SATURATES);
    default:
        return half_from_float(type->half, value);
    }
}

uint32_t append_scale_of(const struct append_type *type, float magnitude) {
    const struct quantize_shape one = {1, 1, 1, 1};
    float scale;
    uint32_t bits;
    if (type->cache == APPEND_MXFP4)
        return quantize_mxfp4_scale(type->rule, &magnitude, 1);
    quantize_fp8_choose(type->format, QUANTIZE_PER_TENSOR, one, &magnitude, &scale);
    memcpy(&bits, &scale, sizeof bits);
    return bits;
}

void append_magnitudes(const struct append_type *type, const float *low, const float *high, int64_t count,
                       float magnitudes[2]) {
    magnitudes[0] = magnitudes[1] = 0;
    for (int64_t i = 0; i < count; i++) {
        float least = low[i] <= 0 && high[i] >= 0 ? 0 : fminf(fabsf(low[i]), fabsf(high[i]));
        float most = fmaxf(fabsf(low[i]), fabsf(high[i]));
        if (isfinite(least) && isfinite(most)) {
            magnitudes[0] = fmaxf(magnitudes[0], least);
            magnitudes[1] = fmaxf(magnitudes[1], most);
        } else if (type->cache == APPEND_MXFP4) {
            magnitudes[0] = magnitudes[1] = INFINITY;
            return;
        }
    }
}

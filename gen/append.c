#include "append.h"

#include <math.h>

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

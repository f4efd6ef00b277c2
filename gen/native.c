#include "native.h"

#include <stdlib.h>
#include <string.h>

#include "quantize.h"

static bool has_word(const struct spec *spec, enum spec_field_id id, const char *word) {
    return spec_has(spec, id) && !strcmp(spec_word(spec, id), word);
}

bool native_is_scaled(const struct spec *spec) {
    return has_word(spec, SPEC_KV_MATH, "native") && has_word(spec, SPEC_KV_DTYPE, "mxfp4");
}

bool native_has_bf16_weights(const struct spec *spec) {
    return native_is_scaled(spec) && !strcmp(spec_word(spec, SPEC_OP), "mla");
}

bool native_quantize_q(const struct spec *spec, const struct reference_problem *problem, double *q) {
    enum quantize_rule rule =
        has_word(spec, SPEC_SCALE_RULE, "threequarters") ? QUANTIZE_THREE_QUARTERS : QUANTIZE_FLOOR;
    int64_t head_dim = problem->head_dim, blocks = (head_dim + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK;
    float *row = malloc((size_t)head_dim * sizeof *row);
    uint8_t *numbers = malloc((size_t)(head_dim + 1) / 2 + (size_t)blocks);
    bool done = row && numbers;
    for (int64_t at = 0; done && at < problem->batch * problem->heads_q * problem->seqlen_q; at++) {
        uint8_t *scales = numbers + (head_dim + 1) / 2;
        for (int64_t d = 0; d < head_dim; d++)
            row[d] = (float)q[at * head_dim + d];
        quantize_mxfp4_row(rule, row, head_dim, numbers, scales, blocks);
        for (int64_t d = 0; d < head_dim; d++)
            q[at * head_dim + d] = quantize_mxfp4_value(numbers, scales, d);
    }
    free(row);
    free(numbers);
    return done;
}

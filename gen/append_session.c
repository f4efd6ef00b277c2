#include "append_session.h"

#include <inttypes.h>
#include <string.h>

const struct verify_side append_sides[APPEND_SIDES] = {
    [SIDE_K_NEW] = {"k_new", FMHA_BUFFER_K_NEW},
    [SIDE_V_NEW] = {"v_new", FMHA_BUFFER_V_NEW},
    [SIDE_K] = {"k", FMHA_BUFFER_K},
    [SIDE_V] = {"v", FMHA_BUFFER_V},
    [SIDE_K_SCALE] = {"k_scale", FMHA_BUFFER_K_SCALE},
    [SIDE_V_SCALE] = {"v_scale", FMHA_BUFFER_V_SCALE},
    [SIDE_SEQLENS_K] = {"seqlens_k", FMHA_BUFFER_SEQLENS_K},
    [SIDE_SEQLENS_NEW] = {"seqlens_new", FMHA_BUFFER_SEQLENS_NEW},
    [SIDE_CU_SEQLENS_NEW] = {"cu_seqlens_new", FMHA_BUFFER_CU_SEQLENS_NEW},
    [SIDE_BLOCK_TABLE] = {"block_table", FMHA_BUFFER_BLOCK_TABLE},
    [SIDE_ROTARY_COS] = {"rotary_cos", FMHA_BUFFER_ROTARY_COS},
    [SIDE_ROTARY_SIN] = {"rotary_sin", FMHA_BUFFER_ROTARY_SIN},
};

bool append_is_new(enum append_side side) {
    return side == SIDE_K_NEW || side == SIDE_V_NEW;
}

bool append_is_cache(enum append_side side) {
    return side == SIDE_K || side == SIDE_V;
}

bool append_is_scale(enum append_side side) {
    return side == SIDE_K_SCALE || side == SIDE_V_SCALE;
}

bool append_has(const struct append_session *session, enum append_side side) {
    switch (side) {
    case SIDE_V_NEW:
    case SIDE_V:
        return session->values;
    case SIDE_K_SCALE:
        return session->type.cache != APPEND_SAME;
    case SIDE_V_SCALE:
        return session->type.cache != APPEND_SAME && session->values;
    case SIDE_SEQLENS_NEW:
        return session->padded;
    case SIDE_CU_SEQLENS_NEW:
        return session->packed;
    case SIDE_BLOCK_TABLE:
        return session->paged;
    case SIDE_ROTARY_COS:
    case SIDE_ROTARY_SIN:
        return session->rotary != APPEND_ROTARY_OFF;
    default:
        return true;
    }
}

bool append_is_output(const struct append_session *session, enum append_side side) {
    return append_is_cache(side) || (append_is_scale(side) && session->makes_scales);
}

int64_t append_columns(const struct append_session *session, enum append_side side) {
    bool of_k = side == SIDE_K || side == SIDE_K_NEW || side == SIDE_K_SCALE;
    return session->base.instance->spec.value[of_k ? SPEC_HEAD_DIM : SPEC_HEAD_DIM_V];
}

int64_t append_units(const struct append_session *session, enum append_side side) {
    return append_columns(session, side) / (append_is_cache(side) && session->type.cache == APPEND_MXFP4 ? 2 : 1);
}

size_t append_element_bytes(const struct append_session *session, enum append_side side) {
    if (append_is_new(side) || (append_is_cache(side) && session->type.cache == APPEND_SAME))
        return 2;
    return append_is_cache(side) || (append_is_scale(side) && session->type.cache == APPEND_MXFP4) ? 1 : 4;
}

int64_t append_alignment(const struct append_session *session, enum append_side side) {
    if (session->base.instance->spec.value[SPEC_ALIGN] != 16 || !(append_is_new(side) || append_is_cache(side)))
        return 1;
    return append_is_cache(side) && session->type.cache == APPEND_MXFP4 ? 4 : 8;
}

int64_t append_scales(const struct append_session *session, enum append_side side) {
    return session->type.cache == APPEND_MXFP4 ? (append_columns(session, side) + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK
                                               : 1;
}

void append_rotated_columns(const struct append_session *session, const struct append_case *one, int64_t *first,
                            int64_t *dim) {
    bool fast = session->base.instance->spec.value[SPEC_ALIGN] == 16;
    int64_t columns = append_columns(session, SIDE_K);
    int64_t step = !fast ? 2 : session->rotary == APPEND_ROTARY_NEOX ? 16 : 8;
    int64_t half = columns / 2 / step * step;
    *dim = one->rotated == APPEND_ALL_COLUMNS || half == 0 ? columns / step * step : half;
    *first = one->rotated != APPEND_LAST_COLUMNS || *dim == columns ? 0 : columns - *dim - (fast ? 0 : 1);
}

bool append_no_memory(const struct append_work *work, int64_t elements) {
    return error_set(work->session->base.error, ERROR_RUN, "no memory for %" PRId64 " elements; verify a smaller shape",
                     elements);
}

#include "append_judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The new row that a row of the cache must hold. */
static const uint16_t *new_row(const struct append_work *work, enum append_side side, int64_t source, int64_t head) {
    const struct append_session *session = work->session;
    const struct verify_append_shape *s = &work->one->shape;
    int64_t batch = source / s->seqlen_new, row = source % s->seqlen_new, rows = s->seqlen_new;
    if (session->packed) {
        row += ((const int32_t *)work->contents[SIDE_CU_SEQLENS_NEW])[batch];
        rows = work->tokens;
        batch = 0;
    }
    return (const uint16_t *)work->contents[side] +
           ((batch * s->heads + head) * rows + row) * append_columns(session, side);
}

struct judgement {
    struct append_work *work;
    enum append_side side;
    const char *when;
    double *numbers;   /* [columns], of the new row at hand */
    float *low, *high; /* [columns], between which they are once rotated */
    uint32_t *scales;  /* [scales of a row], by which its numbers stand there */
    int64_t block, head, slot;
    struct findings_tally tally, scale_tally;
};

/* Where something was found, for people. */
static const char *put_place(const struct judgement *judgement, char text[96]) {
    snprintf(text, 96, "%s %" PRId64 ", head %" PRId64 ", row %" PRId64,
             judgement->work->session->paged ? "page" : "batch", judgement->block, judgement->head, judgement->slot);
    return text;
}

/* The float32 next to a number on the side of that sign. */
static float outward(double number, double sign) {
    float nearest = (float)number;
    if (isfinite(nearest) && ((double)nearest - number) * sign < 0)
        return nextafterf(nearest, (float)sign * INFINITY);
    return nearest;
}

/* The values of the new row at hand. True where it is rotated: they are off by what float32 may be. */
static bool take_row(const struct judgement *judgement, int64_t source, const uint16_t *new) {
    const struct append_work *work = judgement->work;
    const struct append_session *session = work->session;
    struct append_angles angles = {.rotary = judgement->side == SIDE_K ? session->rotary : APPEND_ROTARY_OFF};
    int64_t columns = append_columns(session, judgement->side);
    int64_t position = work->before[source / work->one->shape.seqlen_new] + source % work->one->shape.seqlen_new;
    for (int64_t column = 0; column < columns; column++)
        judgement->numbers[column] = half_to_double(session->half, new[column]);
    if (angles.rotary != APPEND_ROTARY_OFF) {
        append_rotated_columns(session, work->one, &angles.first, &angles.dim);
        angles.cos = (const float *)work->contents[SIDE_ROTARY_COS] + position * (angles.dim / 2);
        angles.sin = (const float *)work->contents[SIDE_ROTARY_SIN] + position * (angles.dim / 2);
    }
    for (int64_t column = 0; column < columns; column++) {
        double error, number = append_rotated(&angles, judgement->numbers, column, &error);
        judgement->low[column] = outward(number - error, -1);
        judgement->high[column] = outward(number + error, 1);
    }
    return angles.rotary != APPEND_ROTARY_OFF;
}

/* A scale of a small format in its memory. */
static uint32_t scale_at(const struct append_session *session, const void *scales, int64_t at) {
    if (session->type.cache == APPEND_MXFP4)
        return ((const uint8_t *)scales)[at];
    return ((const uint32_t *)scales)[at];
}

/* The scales by which the row's numbers must stand there: those that were given, or those that the kernel made, which
 * must be what the row's values ask for. False where they are not. */
static bool take_scales(struct judgement *judgement, int64_t source) {
    const struct append_work *work = judgement->work;
    const struct append_session *session = work->session;
    enum append_side side = judgement->side == SIDE_K ? SIDE_K_SCALE : SIDE_V_SCALE;
    int64_t columns = append_columns(session, side), count = append_scales(session, side),
            heads = work->one->shape.heads;
    bool right = true;
    if (!session->makes_scales) {
        int64_t batch = source / work->one->shape.seqlen_new;
        judgement->scales[0] = scale_at(session, work->contents[side], batch * heads + judgement->head);
        return true;
    }
    int64_t row = (judgement->block * heads + judgement->head) * work->slots + judgement->slot;
    for (int64_t i = 0; i < count; i++) {
        int64_t first = i * QUANTIZE_BLOCK, length = columns;
        if (session->type.cache == APPEND_MXFP4)
            length = columns - first < QUANTIZE_BLOCK ? columns - first : QUANTIZE_BLOCK;
        float magnitudes[2];
        append_magnitudes(&session->type, judgement->low + first, judgement->high + first, length, magnitudes);
        uint32_t least = append_scale_of(&session->type, magnitudes[0]);
        uint32_t most = append_scale_of(&session->type, magnitudes[1]);
        uint32_t got = judgement->scales[i] = scale_at(session, work->got[side], row * count + i);
        if (got >= least && got <= most)
            continue;
        char place[96];
        if (findings_tally(&judgement->scale_tally))
            findings_add(&judgement->work->findings,
                         "%s%s: expected 0x%" PRIx32 " to 0x%" PRIx32 ", got 0x%" PRIx32 " at %s, scale %" PRId64,
                         append_sides[side].name, judgement->when, least, most, got, put_place(judgement, place), i);
        right = false;
    }
    return right;
}

static void judge_element(struct judgement *judgement, int64_t column, uint16_t low, uint16_t high, bool exact,
                          uint16_t got, const char *whose) {
    const struct append_type *type = &judgement->work->session->type;
    double least = append_code_value(type, low), most = append_code_value(type, high);
    double value = append_code_value(type, got);
    if (exact ? got == low : isnan(least) ? isnan(value) : value >= least && value <= most)
        return;
    if (!findings_tally(&judgement->tally))
        return;
    char wanted[32], place[96];
    snprintf(wanted, sizeof wanted, low == high ? "0x%02x" : "0x%02x to 0x%02x", low, high);
    findings_add(&judgement->work->findings, "%s%s: expected %s, got 0x%02x at %s, column %" PRId64 "%s",
                 append_sides[judgement->side].name, judgement->when, wanted, got, put_place(judgement, place), column,
                 whose);
}

static void judge_row(struct judgement *judgement) {
    const struct append_work *work = judgement->work;
    const struct append_session *session = work->session;
    const struct append_type *type = &session->type;
    enum append_side side = judgement->side;
    int64_t source = work->source[judgement->block * work->slots + judgement->slot];
    int64_t row = (judgement->block * work->one->shape.heads + judgement->head) * work->slots + judgement->slot;
    size_t at = (size_t)(row * append_units(session, side)) * append_element_bytes(session, side);
    const uint8_t *got = (const uint8_t *)work->got[side] + at, *old = (const uint8_t *)work->contents[side] + at;
    const uint16_t *new =
        source < 0 ? NULL : new_row(work, side == SIDE_K ? SIDE_K_NEW : SIDE_V_NEW, source, judgement->head);
    bool rotates = new &&take_row(judgement, source, new);
    if (new && type->cache != APPEND_SAME && !take_scales(judgement, source))
        return;
    for (int64_t column = 0; column < append_columns(session, side); column++) {
        uint16_t low = append_code_at(type, old, column), high = low;
        uint32_t scale = judgement->scales[type->cache == APPEND_MXFP4 ? column / QUANTIZE_BLOCK : 0];
        if (new && type->cache == APPEND_SAME && !rotates)
            low = high = new[column];
        else if (new) {
            low = append_code_of(type, judgement->low[column], scale);
            high = append_code_of(type, judgement->high[column], scale);
        }
        judge_element(judgement, column, low, high, !rotates, append_code_at(type, got, column),
                      new ? "" : ", which is no new row's");
    }
}

/* Scales that the kernel makes, of rows that are not new. */
static void judge_old_scales(struct judgement *judgement) {
    const struct append_work *work = judgement->work;
    const struct append_session *session = work->session;
    enum append_side side = judgement->side == SIDE_K ? SIDE_K_SCALE : SIDE_V_SCALE;
    if (!append_has(session, side) || !session->makes_scales)
        return;
    int64_t count = append_scales(session, side) * work->slots * work->one->shape.heads;
    size_t size = append_element_bytes(session, side), row = (size_t)append_scales(session, side) * size;
    for (int64_t i = 0; i < work->blocks * count; i += append_scales(session, side)) {
        int64_t block = i / count, slot = i / append_scales(session, side) % work->slots;
        const uint8_t *old = (const uint8_t *)work->contents[side] + (size_t)i * size;
        if (work->source[block * work->slots + slot] < 0 &&
            memcmp(old, (const uint8_t *)work->got[side] + (size_t)i * size, row) != 0 &&
            findings_tally(&judgement->scale_tally))
            findings_add(&judgement->work->findings, "%s%s: a scale of a row that is not new was written to",
                         append_sides[side].name, judgement->when);
    }
}

static bool judge_side(struct judgement *judgement) {
    struct append_work *work = judgement->work;
    int64_t columns = append_columns(work->session, judgement->side);
    judgement->tally.findings = judgement->scale_tally.findings = &work->findings;
    judgement->numbers = calloc((size_t)columns, sizeof *judgement->numbers);
    judgement->low = calloc((size_t)columns, sizeof *judgement->low);
    judgement->high = calloc((size_t)columns, sizeof *judgement->high);
    judgement->scales = calloc((size_t)columns, sizeof *judgement->scales);
    bool done = judgement->numbers && judgement->low && judgement->high && judgement->scales;
    for (; done && judgement->block < work->blocks; judgement->block++)
        for (judgement->head = 0; judgement->head < work->one->shape.heads; judgement->head++)
            for (judgement->slot = 0; judgement->slot < work->slots; judgement->slot++)
                judge_row(judgement);
    if (done)
        judge_old_scales(judgement);
    findings_tally_end(&judgement->tally, "elements differ");
    findings_tally_end(&judgement->scale_tally, "scales differ");
    free(judgement->numbers);
    free(judgement->low);
    free(judgement->high);
    free(judgement->scales);
    return done || append_no_memory(work, columns);
}

bool append_judge(struct append_work *work, const char *when) {
    for (enum append_side side = SIDE_K; side <= SIDE_V; side++) {
        struct judgement judgement = {.work = work, .side = side, .when = when};
        if (append_has(work->session, side) && !judge_side(&judgement))
            return false;
    }
    return true;
}

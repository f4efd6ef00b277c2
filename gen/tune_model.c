#include "tune_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "choices.h"
#include "shape_key.h"

/* ---- One candidate ---- */

/* The table names the candidate, so a reason need not. */
static bool fail(struct tune_candidate *candidate, const char *reason) {
    size_t length = strlen(candidate->instance->name);
    bool named = strncmp(reason, candidate->instance->name, length) == 0 && strncmp(reason + length, ": ", 2) == 0;
    snprintf(candidate->reason, sizeof candidate->reason, "%s", reason + (named ? length + 2 : 0));
    return false;
}

static bool take_report(struct tune_candidate *candidate, const struct report *report, size_t shape_count) {
    struct error error;
    if (!resources_clean(&report->resources, &error))
        return fail(candidate, error.text);
    for (size_t i = 0; i < shape_count; i++)
        if (!report->estimates[i].issue.known)
            return fail(candidate, "the cycles of its loops are not known");
    for (int i = 0; i < report->loop_count; i++)
        if (strcmp(report->loops[i].role, "body") == 0)
            candidate->percent = report->loops[i].issue.ways[0].bound.percent;
    candidate->waves_per_simd = report->resources.waves_per_simd;
    candidate->vgpr = report->resources.vgpr;
    candidate->estimates = malloc((shape_count + 1) * sizeof *candidate->estimates);
    if (!candidate->estimates)
        return fail(candidate, "out of memory");
    memcpy(candidate->estimates, report->estimates, shape_count * sizeof *candidate->estimates);
    return true;
}

void tune_model_look(struct tune_candidate *candidate, const struct verify_shape *shapes, size_t shape_count) {
    const struct report_request request = {.spec = &candidate->instance->spec,
                                           .instance = candidate->instance,
                                           .shapes = shapes,
                                           .shape_count = shape_count};
    struct report report;
    struct error error;
    if (!report_run(&request, &report, &error)) {
        fail(candidate, error.text);
        return;
    }
    take_report(candidate, &report, shape_count);
    report_free(&report);
}

void tune_candidate_free(struct tune_candidate *candidate) {
    free(candidate->estimates);
    candidate->estimates = NULL;
}

/* ---- All of them ---- */

/* Why a candidate stands behind others; "" if it does not. */
static void set_behind(const struct tune_candidate *candidate, struct tune_member *member, char *text, size_t room) {
    const struct spec *spec = &candidate->instance->spec;
    int32_t rows = spec->value[SPEC_BLOCK_M];
    bool few_rows = spec->value[SPEC_OP] == SPEC_OP_FORWARD && rows < TUNE_MODEL_ROWS;
    bool few_waves =
        candidate->waves_per_simd < (spec->value[SPEC_HEAD_DIM] <= 64 ? TUNE_MODEL_WAVES_64 : TUNE_MODEL_WAVES);
    member->behind = few_rows || few_waves;
    text[0] = 0;
    if (few_rows)
        snprintf(text, room, "behind: %d query rows", rows);
    if (few_waves)
        snprintf(text + strlen(text), room - strlen(text), "%s%d wave%s on a SIMD",
                 few_rows ? ", " : "behind: ", candidate->waves_per_simd, candidate->waves_per_simd == 1 ? "" : "s");
}

static int compare_members(const void *left_pointer, const void *right_pointer) {
    const struct tune_member *left = left_pointer, *right = right_pointer;
    if (left->modelled != right->modelled)
        return left->modelled ? -1 : 1;
    if (left->behind != right->behind)
        return left->behind ? 1 : -1;
    if (left->median < right->median || left->median > right->median)
        return left->median < right->median ? -1 : 1;
    if (left->fused != right->fused)
        return left->fused > right->fused ? -1 : 1;
    if (left->waves_per_simd != right->waves_per_simd)
        return left->waves_per_simd > right->waves_per_simd ? -1 : 1;
    return strcmp(left->instance, right->instance);
}

static bool add_candidate(const struct tune_candidate *candidate, size_t shape, struct tune_outcome *outcome) {
    char behind[sizeof candidate->reason];
    if (!tune_outcome_add(outcome, candidate->instance->name, ""))
        return false;
    struct tune_member *member = &outcome->members[outcome->count - 1];
    snprintf(behind, sizeof behind, "%s", candidate->reason);
    if (candidate->estimates) {
        member->modelled = true;
        member->median = issue_bound_cycles(&candidate->estimates[shape].issue) / 1000;
        member->percent = candidate->percent;
        member->waves_per_simd = candidate->waves_per_simd;
        member->vgpr = candidate->vgpr;
        member->fused = spec_number(&candidate->instance->spec, SPEC_GQA);
        set_behind(candidate, member, behind, sizeof behind);
    }
    free(member->reason);
    member->reason = strdup(behind);
    return member->reason != NULL;
}

bool tune_model_rank(const struct tune_candidate *candidates, size_t count, size_t shape, struct tune_outcome *outcome,
                     struct error *error) {
    struct fmha_key key;
    outcome->modelled = true;
    snprintf(outcome->unit, sizeof outcome->unit, "thousands of cycles of one SIMD");
    for (size_t i = 0; i < count; i++) {
        if (!spec_key(&candidates[i].instance->spec, &key, error))
            return false;
        if (fmha_key_equal(&key, &outcome->key) && !add_candidate(&candidates[i], shape, outcome))
            return error_set(error, ERROR_RUN, "tune: out of memory");
    }
    if (outcome->count)
        qsort(outcome->members, outcome->count, sizeof *outcome->members, compare_members);
    if (outcome->count == 0 || !outcome->members[0].modelled)
        return error_set(error, ERROR_RUN, "%s: %s", outcome->count ? outcome->members[0].instance : "tune",
                         outcome->count ? outcome->members[0].reason : "expected a candidate, got none");
    outcome->members[0].best = true;
    return true;
}

bool tune_model_save(const struct tune_outcome *outcomes, size_t count, const char *chip, const char *path,
                     struct error *error) {
    struct fmha_choices choices = {0};
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        const struct tune_member *best = &outcomes[i].members[0];
        const struct verify_shape *shape = &outcomes[i].shape;
        const struct fmha_choice choice = {
            .key = outcomes[i].key,
            .length = {shape->batch, shape->heads_q, shape->heads_k, shape->seqlen_q, shape->seqlen_k},
            .figure = (uint64_t)(best->median * 1000 + 0.5),
            .time = (int64_t)time(NULL),
            .unit = FMHA_CHOICE_BOUND,
            .chip = chip,
            .driver = "any",
            .name = best->instance,
            .version = TUNE_MODEL_VERSION,
            .file = "",
        };
        done = fmha_choices_add(&choices, &choice) || error_set(error, ERROR_RUN, "tune: out of memory");
    }
    if (done && fmha_choices_save(path, &choices) != FMHA_OK)
        done = error_set(error, ERROR_RUN, "%s", fmha_last_error());
    fmha_choices_free(&choices);
    return done;
}

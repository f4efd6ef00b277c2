/* Which kernel is best for a problem by the model alone: candidates are compiled and reported on, and nothing runs. */
#ifndef GEN_TUNE_MODEL_H
#define GEN_TUNE_MODEL_H

#include "instance.h"
#include "report_estimate.h"
#include "tune.h"

#define TUNE_MODEL_VERSION "issue bound of fmhagen report"

/* Query rows of a workgroup and waves on a SIMD, these also up to 64 dimensions: candidates that have less are best
 * only where no other is. */
enum { TUNE_MODEL_ROWS = 64, TUNE_MODEL_WAVES = 2, TUNE_MODEL_WAVES_64 = 3 };

struct tune_candidate {
    const struct instance *instance;
    struct report_estimate *estimates; /* one for each shape; NULL: it was not looked at, or `reason` says why not */
    double percent;                    /* bound of its body */
    int waves_per_simd, vgpr;
    char reason[512];
};

/* Compiles the candidate and models each shape; its reason says when it cannot be had, or does not serve. Threads may
 * look at different candidates. Free with tune_candidate_free. */
void tune_model_look(struct tune_candidate *candidate, const struct verify_shape *shapes, size_t shape_count);
void tune_candidate_free(struct tune_candidate *candidate);

/* Ranks the candidates whose key is the outcome's for the shape number `shape`: those with rows and waves enough before
 * others, then by figure, thousands of cycles of one SIMD; of equal ones that with more fused heads, more waves, then
 * the first by name. `outcome` has its key and shape; the others of that key are told of. False: none can be had. */
bool tune_model_rank(const struct tune_candidate *candidates, size_t count, size_t shape, struct tune_outcome *outcome,
                     struct error *error);

/* Merges what is best into a file of choices. */
bool tune_model_save(const struct tune_outcome *outcomes, size_t count, const char *chip, const char *path,
                     struct error *error);

#endif

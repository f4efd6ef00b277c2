/* What the operation merge is verified with: standing cases, and the numbers in them. */
#ifndef GEN_MERGE_CASES_H
#define GEN_MERGE_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "array.h"
#include "verify.h"

enum merge_inputs {
    MERGE_RANDOM, /* LSE and O bell-shaped, zeros of both signs among O */
    MERGE_EMPTY,  /* LSE of -inf here and there, and of all partial results of some rows; NaN and infinities in their O
                   */
    MERGE_ALONE,  /* each row has one partial result with another LSE than -inf */
    MERGE_EQUAL,  /* all LSE of a row alike */
    MERGE_LARGE,  /* LSE about 1e5 or, of other rows, -1e5, as far apart as random ones */
    MERGE_SPREAD, /* LSE of any magnitude up to 3e38, of either sign */
    MERGE_NOT_FINITE, /* some LSE NaN or +inf, some O infinite or NaN */
    MERGE_LARGEST     /* LSE alike, O near the largest number of its type */
};

/* "random", "empty", …: constant words. */
const char *merge_inputs_name(enum merge_inputs inputs);

struct merge_case {
    char what[64];
    struct verify_merge_shape shape; /* of the tensors: of a packed batch its batch is 1 */
    int64_t sequences;               /* of the batch */
    enum merge_inputs inputs;
    enum array_placing placing;
    int far_axis;     /* of o_partial: 0 to 3, splits first; of o: 4 to 6 */
    bool without_lse; /* the kernel gets no such buffer */
    bool two_steps;   /* merged by pairs too, and the merged pairs once more */
};

enum { MERGE_CASES_MAX = 64 };

/* Fills the standing cases and gives their number. `threads`: work items of a workgroup. */
int merge_standing(int64_t threads, struct merge_case cases[MERGE_CASES_MAX]);

/* Fills lse [splits][rows] and o [splits][rows][head_dim] from a seed; values beyond `largest` do not occur. */
void merge_inputs_make(enum merge_inputs inputs, int64_t splits, int64_t rows, int64_t head_dim, double largest,
                       uint64_t seed, float *lse, float *o);

#endif

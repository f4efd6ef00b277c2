/* Which instance is best for which problem, as somebody measured, counted or modelled it: a text file of one line for
 * each problem (docs/tuning.md gives the grammar), read, merged and written. Nothing in such a file is trusted. */
#ifndef FMHA_CHOICES_H
#define FMHA_CHOICES_H

#include <stdbool.h>

#include "expression.h"
#include "key.h"

#define FMHA_CHOICES_FILE    "fmha.choices" /* beside an index */
#define FMHA_CHOICES_VERSION 1

/* How a figure came about. Of two choices for one problem the one of the greater kind is kept. */
enum fmha_choice_unit {
    FMHA_CHOICE_BOUND,  /* "bound": modelled; fits any driver */
    FMHA_CHOICE_CYCLES, /* "cycles": counted on the emulated device of the chip */
    FMHA_CHOICE_US      /* "us": measured */
};
extern const char *const fmha_choice_units[3];

/* The lengths of a problem that decide beside its key, as the first of fmha_value: batch, heads_q, heads_k, seqlen_q,
 * seqlen_k. */
#define FMHA_CHOICE_LENGTHS 5

struct fmha_choice {
    struct fmha_key key; /* of the problem, with the chip */
    int64_t length[FMHA_CHOICE_LENGTHS];
    uint64_t figure;     /* median, in thousandths of the unit; less is better */
    int64_t time;        /* when it was found, seconds since 1970; 0: not known */
    uint32_t runs;       /* that the median is of; 0 where nothing ran */
    uint8_t unit;        /* enum fmha_choice_unit */
    const char *chip;    /* "gfx1151", "gfx942:sramecc+:xnack-" */
    const char *driver;  /* "hip", "emu"; "any" of what was modelled */
    const char *name;    /* of the instance */
    const char *version; /* of the driver and of what made the choice; for people */
    const char *file;    /* where it comes from; "" when it was found by this process */
    char *texts;         /* owns the five above */
};

struct fmha_choices { /* begins zero-filled */
    struct fmha_choice *list;
    size_t count, capacity;
};

void fmha_choices_free(struct fmha_choices *choices);

/* Adds a copy. False when there is no memory. */
bool fmha_choices_add(struct fmha_choices *choices, const struct fmha_choice *choice);

/* Sorts by problem and keeps the best of each: the greater kind, of those the newer one, of those the lower figure, of
 * those the first by name. Whatever the order before, the result is the same. */
void fmha_choices_settle(struct fmha_choices *choices);

/* Adds what a file's text says, or on an error nothing. Errors (FMHA_ERROR_IO) name file and line and the cure. */
fmha_status fmha_choices_parse(const char *path, const char *text, size_t bytes, struct fmha_choices *choices);

/* The same for a file. *found (may be NULL) false: there is none, which is no error. */
fmha_status fmha_choices_read(const char *path, struct fmha_choices *choices, bool *found);

/* Merges into a file, which may be absent, as fmha_choices_settle does; its comments are kept above. Written whole.
 * Several processes may save at once and lose nothing. A damaged file is an error and stays as it is. */
fmha_status fmha_choices_save(const char *path, const struct fmha_choices *choices);

/* The user's own file for a chip: choices/CHIP beside the cache. False and why in `path` when there is no such place.
 */
bool fmha_choices_own_path(const char *arch, char *path, size_t path_bytes);

/* ---- Distance -------------------------------------------------------------------------------------------- */

/* What of a problem's lengths decides how near a choice is: log2 of seqlen_q, seqlen_k, batch * heads_q and
 * heads_q / heads_k in 1/256, between powers of two interpolated. */
struct fmha_choice_place {
    int32_t log2[4];
};

/* `length` begins with batch, heads_q, heads_k, seqlen_q, seqlen_k: the values of a problem will do. */
static inline struct fmha_choice_place fmha_choice_place(const int64_t *length);

/* How many halvings and doublings lie between two, in 1/256. */
static inline int32_t fmha_choice_distance(const struct fmha_choice_place *a, const struct fmha_choice_place *b);

/* One line for people: "measured 12.5 us at 1,32,8,512,512 (FILE)". */
void fmha_choice_describe(const struct fmha_choice *choice, char *text, size_t room);

/* Orders two choices by problem, and by problem with the better one first. */
int fmha_choice_compare_problem(const struct fmha_choice *left, const struct fmha_choice *right);
int fmha_choice_compare(const struct fmha_choice *left, const struct fmha_choice *right);

_Static_assert(FMHA_VALUE_BATCH == 0 && FMHA_VALUE_HEADS_Q == 1 && FMHA_VALUE_HEADS_K == 2 &&
                   FMHA_VALUE_SEQLEN_Q == 3 && FMHA_VALUE_SEQLEN_K == 4,
               "the values of a problem begin with what a choice holds of it");

static inline int32_t fmha_choice_log2(int64_t number) {
    uint64_t value = number > 0 ? (uint64_t)number : 1;
    int exponent = 63 - __builtin_clzll(value);
    return exponent * 256 + (int32_t)((value << (63 - exponent) << 1) >> 56);
}

static inline struct fmha_choice_place fmha_choice_place(const int64_t *length) {
    int64_t heads;
    if (__builtin_mul_overflow(length[FMHA_VALUE_BATCH], length[FMHA_VALUE_HEADS_Q], &heads)) {
        heads = INT64_MAX;
    }
    int32_t query_heads = fmha_choice_log2(length[FMHA_VALUE_HEADS_Q]);
    return (struct fmha_choice_place){{fmha_choice_log2(length[FMHA_VALUE_SEQLEN_Q]),
                                       fmha_choice_log2(length[FMHA_VALUE_SEQLEN_K]), fmha_choice_log2(heads),
                                       query_heads - fmha_choice_log2(length[FMHA_VALUE_HEADS_K])}};
}

static inline int32_t fmha_choice_distance(const struct fmha_choice_place *a, const struct fmha_choice_place *b) {
    int32_t distance = 0;
    for (int i = 0; i < 4; i++) {
        int32_t difference = a->log2[i] - b->log2[i];
        distance += difference < 0 ? -difference : difference;
    }
    return distance;
}

#endif

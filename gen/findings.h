/* What a verified case did wrong: a list of lines for people. */
#ifndef GEN_FINDINGS_H
#define GEN_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

struct findings {
    char **lines;
    size_t count, capacity;
    bool failed; /* an allocation failed; every later addition is ignored */
};

/* Adds a line, printf style. */
void findings_add(struct findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
void findings_free(struct findings *findings); /* leaves it empty and usable */

/* Of the elements that fail one check only the first few get a line; the rest are counted. */
struct findings_tally {
    struct findings *findings;
    long long count;
};
enum { FINDINGS_SHOWN = 3 };

/* Counts one element and says whether its line is to be added. */
bool findings_tally(struct findings_tally *tally);

/* Adds "… and N more WHAT" when some were only counted. */
void findings_tally_end(const struct findings_tally *tally, const char *what);

#endif

/* What was found wrong. Findings of one kind at one place in the kernel are one finding with a count; of their texts
 * the one of the first workgroup is kept, so that the result does not depend on which thread was quicker. */
#ifndef EMU_FINDINGS_H
#define EMU_FINDINGS_H

#include <pthread.h>
#include <stdbool.h>

#include "fmha.h"

#define EMU_FINDING_TEXT_BYTES 1024

typedef struct emu_finding {
    const char *kind; /* constant */
    char *place;      /* "file:line", the key beside kind */
    char *text;
    unsigned long long group, count;
} emu_finding;

typedef struct emu_findings {
    pthread_mutex_t lock;
    emu_finding *list;
    size_t count, capacity;
    bool lost;          /* memory ran out while a finding was added */
    fmha_finding *seen; /* what was handed out last, count entries */
    size_t seen_count;
} emu_findings;

void emu_findings_init(emu_findings *findings);
void emu_findings_clear(emu_findings *findings); /* frees what it holds; usable again */

/* Thread-safe. `group` is the workgroup's number in the launch's order. All strings but `kind` are copied. */
void emu_findings_add(emu_findings *findings, const char *kind, unsigned long long group, const char *file, int line,
                      const char *text);

/* Counts a finding that is known so many times more. Thread-safe. */
void emu_findings_repeat(emu_findings *findings, const char *kind, const char *file, int line,
                         unsigned long long times);

/* How often anything was found: counts summed. */
unsigned long long emu_findings_times(const emu_findings *findings);

/* The findings in the order of workgroups; the array and its strings live until the next call or clear. */
fmha_status emu_findings_list(emu_findings *findings, const fmha_finding **list, size_t *count);

#endif

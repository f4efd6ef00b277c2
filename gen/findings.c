#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

void findings_add(struct findings *findings, const char *format, ...) {
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (findings->failed)
        return;
    if (findings->count == findings->capacity) {
        size_t capacity = findings->capacity * 2 + 8;
        char **lines = realloc(findings->lines, capacity * sizeof *lines);
        if (!lines) {
            findings->failed = true;
            return;
        }
        findings->lines = lines;
        findings->capacity = capacity;
    }
    findings->lines[findings->count] = strdup(line);
    if (findings->lines[findings->count])
        findings->count++;
    else
        findings->failed = true;
}

void findings_free(struct findings *findings) {
    for (size_t index = 0; index < findings->count; index++)
        free(findings->lines[index]);
    free(findings->lines);
    *findings = (struct findings){0};
}

bool findings_tally(struct findings_tally *tally) {
    return ++tally->count <= FINDINGS_SHOWN;
}

void findings_tally_end(const struct findings_tally *tally, const char *what) {
    if (tally->count > FINDINGS_SHOWN)
        findings_add(tally->findings, "... and %lld more %s", tally->count - FINDINGS_SHOWN, what);
}

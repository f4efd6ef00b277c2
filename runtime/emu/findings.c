#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"

void emu_findings_init(emu_findings *findings) {
    *findings = (emu_findings){.lock = PTHREAD_MUTEX_INITIALIZER};
}

static void drop_seen(emu_findings *findings) {
    for (size_t i = 0; i < findings->seen_count; i++) {
        free((char *)findings->seen[i].text);
    }
    free(findings->seen);
    findings->seen = NULL;
    findings->seen_count = 0;
}

void emu_findings_clear(emu_findings *findings) {
    drop_seen(findings);
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->list[i].place);
        free(findings->list[i].text);
    }
    free(findings->list);
    findings->list = NULL;
    findings->count = findings->capacity = 0;
    findings->lost = false;
}

static emu_finding *find(emu_findings *findings, const char *kind, const char *place) {
    for (size_t i = 0; i < findings->count; i++) {
        if (strcmp(findings->list[i].kind, kind) == 0 && strcmp(findings->list[i].place, place) == 0) {
            return &findings->list[i];
        }
    }
    return NULL;
}

static bool grow(emu_findings *findings) {
    if (findings->count < findings->capacity) {
        return true;
    }
    size_t capacity = findings->capacity * 2 + 8;
    emu_finding *larger = realloc(findings->list, capacity * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    findings->list = larger;
    findings->capacity = capacity;
    return true;
}

static bool add(emu_findings *findings, const char *kind, unsigned long long group, const char *place,
                const char *text) {
    emu_finding *known = find(findings, kind, place);
    if (known != NULL) {
        known->count++;
        if (group >= known->group) {
            return true;
        }
        char *copy = strdup(text);
        if (copy == NULL) {
            return false;
        }
        free(known->text);
        known->text = copy;
        known->group = group;
        return true;
    }
    if (!grow(findings)) {
        return false;
    }
    emu_finding added = {.kind = kind, .place = strdup(place), .text = strdup(text), .group = group, .count = 1};
    if (added.place == NULL || added.text == NULL) {
        free(added.place);
        free(added.text);
        return false;
    }
    findings->list[findings->count++] = added;
    return true;
}

void emu_findings_add(emu_findings *findings, const char *kind, unsigned long long group, const char *file, int line,
                      const char *text) {
    char place[512];
    snprintf(place, sizeof place, "%s:%d", file, line);
    pthread_mutex_lock(&findings->lock);
    if (!add(findings, kind, group, place, text)) {
        findings->lost = true;
    }
    pthread_mutex_unlock(&findings->lock);
}

void emu_findings_repeat(emu_findings *findings, const char *kind, const char *file, int line,
                         unsigned long long times) {
    char place[512];
    snprintf(place, sizeof place, "%s:%d", file, line);
    pthread_mutex_lock(&findings->lock);
    emu_finding *known = find(findings, kind, place);
    if (known != NULL) {
        known->count += times;
    }
    pthread_mutex_unlock(&findings->lock);
}

static int by_group(const void *left, const void *right) {
    const emu_finding *a = left, *b = right;
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    int order = strcmp(a->kind, b->kind);
    return order != 0 ? order : strcmp(a->place, b->place);
}

static char *text_with_count(const emu_finding *finding) {
    if (finding->count == 1) {
        return strdup(finding->text);
    }
    char text[EMU_FINDING_TEXT_BYTES + 64];
    snprintf(text, sizeof text, "%s (%llu times)", finding->text, finding->count);
    return strdup(text);
}

fmha_status emu_findings_list(emu_findings *findings, const fmha_finding **list, size_t *count) {
    drop_seen(findings);
    if (findings->lost) {
        return emu_fail(FMHA_ERROR_MEMORY, "out of memory while findings were recorded: free memory and run again");
    }
    if (findings->count > 0) {
        qsort(findings->list, findings->count, sizeof *findings->list, by_group);
        findings->seen = calloc(findings->count, sizeof *findings->seen);
        if (findings->seen == NULL) {
            return emu_fail(FMHA_ERROR_MEMORY, "out of memory for %zu findings", findings->count);
        }
    }
    for (size_t i = 0; i < findings->count; i++) {
        char *text = text_with_count(&findings->list[i]);
        if (text == NULL) {
            return emu_fail(FMHA_ERROR_MEMORY, "out of memory for %zu findings", findings->count);
        }
        findings->seen[i] = (fmha_finding){.kind = findings->list[i].kind, .text = text};
        findings->seen_count = i + 1;
    }
    *list = findings->seen;
    *count = findings->seen_count;
    return FMHA_OK;
}

unsigned long long emu_findings_times(const emu_findings *findings) {
    unsigned long long times = 0;
    for (size_t i = 0; i < findings->count; i++) {
        times += findings->list[i].count;
    }
    return times;
}

#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *emu_where(const emu_wave *wave, char text[EMU_WHERE_BYTES]) {
    const unsigned *at = wave->worker->group_at;
    snprintf(text, EMU_WHERE_BYTES, "workgroup (%u,%u,%u), wave %u", at[0], at[1], at[2], wave->number);
    return text;
}

const char *emu_address_text(const emu_lane *lane, uintptr_t address, char text[EMU_ADDRESS_BYTES]) {
    const emu_worker *worker = lane->wave->worker;
    uintptr_t stacks = (uintptr_t)worker->stacks;
    if (address - lane->lds_begin + EMU_LDS_GAP_BYTES < EMU_LDS_AREA_BYTES + EMU_LDS_GAP_BYTES) {
        emu_lds_describe(lane->lds, address - lane->lds_begin, text, EMU_ADDRESS_BYTES);
    } else if (address - stacks < EMU_LANES_MAX * EMU_STACK_BLOCK) {
        unsigned number = (unsigned)((address - stacks) / EMU_STACK_BLOCK);
        snprintf(text, EMU_ADDRESS_BYTES, "private memory of work item %u", number);
    } else {
        emu_memory_describe(worker->launch->memory, (const void *)address, text, EMU_ADDRESS_BYTES);
    }
    return text;
}

void emu_report(emu_worker *worker, const char *kind, const struct fmha_emu_site *site, const char *format, ...) {
    char text[EMU_FINDING_TEXT_BYTES];
    const char *file = site != NULL ? site->file : "kernel";
    int line = site != NULL ? site->line : 0;
    int used = snprintf(text, sizeof text, "%s:%d: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && (size_t)used < sizeof text) {
        vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    }
    va_end(arguments);
    emu_findings_add(worker->launch->findings, kind, worker->group, file, line, text);
}

static void add(const emu_lane *lane, const char *kind, const emu_place *place, const char *cure, const char *words) {
    char text[EMU_FINDING_TEXT_BYTES], where[EMU_WHERE_BYTES];
    const emu_worker *worker = lane->wave->worker;
    snprintf(text, sizeof text, "%s:%d: %s (%s, lane %u%s): %s", place->file, place->line, words,
             emu_where(lane->wave, where), lane->seen.index, place->callers, cure);
    emu_findings_add(worker->launch->findings, kind, worker->group, place->file, place->line, text);
}

/* Where an access's account is kept; NULL: there is no more room. A new one has no kind yet. */
static emu_seen *find(emu_worker *worker, const char *kind, const void *at) {
    size_t begin = ((uintptr_t)at >> 2 ^ (uintptr_t)kind >> 4) % EMU_SEEN_MAX;
    for (size_t i = 0; i < EMU_SEEN_MAX; i++) {
        emu_seen *seen = &worker->seen[(begin + i) % EMU_SEEN_MAX];
        if (seen->kind == NULL || (seen->at == at && seen->kind == kind)) {
            return seen;
        }
    }
    return NULL;
}

void emu_report_access(emu_lane *lane, const char *kind, const void *at, const char *cure, const char *format, ...) {
    emu_worker *worker = lane->wave->worker;
    emu_seen *seen = find(worker, kind, at), unkept;
    if (seen != NULL && seen->kind != NULL) {
        seen->again++; /* the text that is kept is the first workgroup's, and a worker's come in ascending order */
        return;
    }
    if (seen == NULL) {
        seen = &unkept;
    }
    *seen = (emu_seen){.kind = kind, .at = at};
    if ((uintptr_t)at >= worker->launch->text_begin && (uintptr_t)at <= worker->launch->text_end) {
        /* Behind a call stands the next line's code: the call itself is the byte before. */
        emu_lines_find(worker->launch->lines, (uintptr_t)at - 1 - worker->launch->base, &seen->place);
    } else {
        const struct fmha_emu_site *site = at;
        snprintf(seen->place.file, sizeof seen->place.file, "%s", site->file);
        seen->place.line = site->line;
    }
    char words[EMU_FINDING_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    add(lane, kind, &seen->place, cure, words);
}

void emu_report_line(emu_lane *lane, const char *kind, const char *file, int line, const char *cure, const char *format,
                     ...) {
    emu_place place = {.line = line};
    snprintf(place.file, sizeof place.file, "%s", file);
    char words[EMU_FINDING_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    add(lane, kind, &place, cure, words);
}

void emu_report_begin(emu_worker *worker) {
    memset(worker->seen, 0, sizeof worker->seen);
}

void emu_report_end(emu_worker *worker) {
    for (size_t i = 0; i < EMU_SEEN_MAX; i++) {
        const emu_seen *seen = &worker->seen[i];
        if (seen->again > 0) {
            emu_findings_repeat(worker->launch->findings, seen->kind, seen->place.file, seen->place.line, seen->again);
        }
    }
}

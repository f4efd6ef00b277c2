/* Findings about instructions (isa.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "launch.h"
#include "lines.h"

enum { WHERE_BYTES = 256, KEY_BYTES = 600 };

/* Findings of one kind at one instruction are one: this is the instruction's name among findings. */
static void key_of(const isa_kernel *kernel, const isa_instruction *at, char key[KEY_BYTES]) {
    snprintf(key, KEY_BYTES, "%06llx of %s", at != NULL ? (unsigned long long)at->address : 0ull, kernel->symbol);
}

/* Where its account is kept; NULL: there is no more room. A new one has no kind yet. */
static isa_seen *find(isa_worker *worker, const char *kind, const isa_instruction *at) {
    size_t begin = ((uintptr_t)at >> 3 ^ (uintptr_t)kind >> 2) % ISA_SEEN_MAX;
    for (size_t i = 0; i < ISA_SEEN_MAX; i++) {
        isa_seen *seen = &worker->seen[(begin + i) % ISA_SEEN_MAX];
        if (seen->kind == NULL || (seen->at == at && seen->kind == kind)) {
            return seen;
        }
    }
    return NULL;
}

static void add(const isa_wave *wave, int lane, const char *kind, const char *words) {
    const isa_group *group = wave->group;
    const isa_launch *launch = group->launch;
    const isa_instruction *at = wave->running;
    char text[EMU_FINDING_TEXT_BYTES], key[KEY_BYTES], where[WHERE_BYTES], lane_text[24] = "";
    emu_place place;
    isa_lines_find(launch->lines, at != NULL ? at->address : launch->kernel->entry_address, &place);
    if (place.line > 0) {
        snprintf(where, sizeof where, "%.200s:%d", place.file, place.line);
    } else {
        snprintf(where, sizeof where, "%.250s", launch->kernel->symbol);
    }
    if (lane >= 0) {
        snprintf(lane_text, sizeof lane_text, ", lane %d", lane);
    }
    if (at != NULL) {
        snprintf(text, sizeof text, "%s: %s at 0x%llx: %s (workgroup (%u,%u,%u), wave %u%s%s)", where, at->text,
                 (unsigned long long)at->address, words, group->at[0], group->at[1], group->at[2], wave->number,
                 lane_text, place.callers);
    } else {
        snprintf(text, sizeof text, "%s: before the first instruction: %s (workgroup (%u,%u,%u), wave %u%s)", where,
                 words, group->at[0], group->at[1], group->at[2], wave->number, lane_text);
    }
    key_of(launch->kernel, at, key);
    emu_findings_add(launch->findings, kind, group->number, key, 0, text);
}

static void report(isa_wave *wave, int lane, const char *kind, const char *format, va_list arguments) {
    isa_worker *worker = (isa_worker *)wave->group;
    isa_seen *seen = find(worker, kind, wave->running);
    if (seen != NULL && seen->kind != NULL) {
        seen->again++; /* the text that is kept is the first workgroup's, and a worker's come in ascending order */
        return;
    }
    if (seen != NULL) {
        *seen = (isa_seen){.kind = kind, .at = wave->running};
    }
    char words[EMU_FINDING_TEXT_BYTES];
    vsnprintf(words, sizeof words, format, arguments);
    add(wave, lane, kind, words);
}

void isa_report(isa_wave *wave, int lane, const char *kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(wave, lane, kind, format, arguments);
    va_end(arguments);
}

void isa_give_up(isa_wave *wave, const char *kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(wave, -1, kind, format, arguments);
    va_end(arguments);
    wave->failed = true;
}

void isa_report_end(isa_worker *worker) {
    const isa_launch *launch = worker->group.launch;
    for (size_t i = 0; i < ISA_SEEN_MAX; i++) {
        const isa_seen *seen = &worker->seen[i];
        if (seen->again > 0) {
            char key[KEY_BYTES];
            key_of(launch->kernel, seen->at, key);
            emu_findings_repeat(launch->findings, seen->kind, key, 0, seen->again);
        }
    }
}

/* The mnemonics of every family, found by name. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"

enum { KNOWN_MAX = 2048 };

static isa_known known[ISA_FAMILIES_MAX][KNOWN_MAX];
static size_t known_count[ISA_FAMILIES_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int by_name(const void *left, const void *right) {
    return strcmp(((const isa_known *)left)->name, ((const isa_known *)right)->name);
}

static void add(size_t family, const char *name, const isa_row *row, const char *source) {
    if (known_count[family] < KNOWN_MAX) {
        known[family][known_count[family]++] = (isa_known){name, row, source};
    }
}

/* Rows of the family itself; those with an '@' in their names are another row's namesakes, which tables alone name. */
static void add_rows(size_t family) {
    for (const isa_table *const *table = isa_tables; *table != NULL; table++) {
        for (size_t i = 0; i < (*table)->count; i++) {
            const isa_row *row = &(*table)->rows[i];
            bool here = (row->families & ISA_GFX9_ALL) == 0 || (row->families & isa_families[family]->variant) != 0;
            if ((row->families & isa_families[family]->bit) != 0 && here && strchr(row->name, '@') == NULL) {
                add(family, row->name, row, row->source);
            }
        }
    }
}

static void add_names(size_t family) {
    const isa_names *names = isa_families[family]->names;
    for (size_t i = 0; names != NULL && i < names->count; i++) {
        const isa_name *at = &names->list[i];
        if (at->variants == 0 || (at->variants & isa_families[family]->variant) != 0) {
            const char *row = at->row != NULL ? at->row : at->name;
            add(family, at->name, isa_row_find(row, strlen(row)), at->source);
        }
    }
}

/* `name` stands at the beginning of a longer text. */
static void add_same(size_t family, const char *name, size_t length, const char *source) {
    const isa_row *row = isa_row_find(name, length);
    char clamped[80];
    add(family, row != NULL ? row->name : name, row, source);
    int clamped_length = snprintf(clamped, sizeof clamped, "%.*s clamp", (int)length, name);
    row = isa_row_find(clamped, (size_t)clamped_length);
    if (row != NULL) {
        add(family, row->name, row, source);
    }
}

static void add_sames(size_t family) {
    for (const isa_same *same = isa_families[family]->same; same != NULL && same->source != NULL; same++) {
        size_t length;
        for (const char *at = same->names; *at != '\0'; at += length + strspn(at + length, " ")) {
            length = strcspn(at, " ");
            add_same(family, at, length, same->source);
        }
    }
}

static void sort(void) {
    for (size_t i = 0; i < isa_family_count; i++) {
        add_rows(i);
        add_names(i);
        add_sames(i);
        qsort(known[i], known_count[i], sizeof known[i][0], by_name);
    }
}

const isa_known *isa_family_known(const isa_family *family, size_t *count) {
    size_t at = 0;
    pthread_once(&once, sort);
    while (isa_families[at] != family) {
        at++;
    }
    *count = known_count[at];
    return known[at];
}

const isa_row *isa_family_find(const isa_family *family, const char *name, size_t length) {
    size_t low = 0, high;
    const isa_known *list = isa_family_known(family, &high);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = list[middle].name;
        int order = strncmp(other, name, length);
        if (order < 0) {
            low = middle + 1;
        } else if (order > 0 || other[length] != '\0') {
            high = middle;
        } else {
            return list[middle].row;
        }
    }
    return NULL;
}

unsigned isa_family_chips(void) {
    unsigned chips = 0;
    for (size_t i = 0; i < isa_family_count; i++) {
        size_t count;
        isa_family_known(isa_families[i], &count);
        chips |= count > 0 ? isa_families[i]->chips : 0;
    }
    return chips;
}

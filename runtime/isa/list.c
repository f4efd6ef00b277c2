/* Prints the mnemonics of every family as C (list.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"

enum { LISTED_MAX = 16384 };

static const char *const units[ISA_CLASS_COUNT] = {
    [ISA_CLASS_SALU] = "salu",   [ISA_CLASS_SMEM] = "smem",     [ISA_CLASS_BRANCH] = "branch",
    [ISA_CLASS_WAIT] = "wait",   [ISA_CLASS_VALU] = "valu",     [ISA_CLASS_BARRIER] = "barrier",
    [ISA_CLASS_TRANS] = "trans", [ISA_CLASS_MATRIX] = "matrix", [ISA_CLASS_LDS] = "lds",
    [ISA_CLASS_LOAD] = "load",   [ISA_CLASS_STORE] = "store"};

typedef struct listed {
    const isa_known *known;
    const isa_family *family;
} listed;

static listed list[LISTED_MAX];
static size_t count;

static int by_name(const void *left, const void *right) {
    const listed *a = left, *b = right;
    int order = strcmp(a->known->name, b->known->name);
    return order != 0 ? order : strcmp(a->family->target, b->family->target);
}

static void collect(void) {
    for (size_t i = 0; i < isa_family_count; i++) {
        size_t names;
        const isa_known *known = isa_family_known(isa_families[i], &names);
        for (size_t n = 0; n < names && count < LISTED_MAX; n++) {
            list[count++] = (listed){&known[n], isa_families[i]};
        }
    }
    qsort(list, count, sizeof list[0], by_name);
}

/* Whether an entry of the same name before it cites the same. */
static bool is_cited(size_t first, size_t at) {
    for (size_t i = first; i < at; i++) {
        if (strcmp(list[i].known->source, list[at].known->source) == 0) {
            return true;
        }
    }
    return false;
}

/* One line for the entries from `first` on that share a name; returns the first of the next. */
static size_t print(size_t first) {
    unsigned families = 0;
    size_t end = first;
    for (; end < count && strcmp(list[end].known->name, list[first].known->name) == 0; end++) {
        families |= list[end].family->bit | list[end].family->variant;
    }
    printf("    {\"%s\", \"%s\", %u, \"", list[first].known->name, units[list[first].known->row->class],
           families & ~(unsigned)ISA_GFX9_ALL);
    for (size_t i = first; i < end; i++) {
        if (!is_cited(first, i)) {
            printf("%s%s", i > first ? "; " : "", list[i].known->source);
        }
    }
    bool narrowed = (families & ISA_GFX9) != 0 && (families & ISA_GFX9_ALL) != ISA_GFX9_ALL;
    for (size_t i = first, chips = 0; narrowed && i < end; i++) {
        if (list[i].family->bit == ISA_GFX9) {
            printf("%s%s", chips++ == 0 ? "; of gfx9 " : ", ", list[i].family->target);
        }
    }
    printf("\"},\n");
    return end;
}

int main(void) {
    size_t lines = 0;
    collect();
    printf("#include \"isa/list.h\"\n\nconst isa_listed isa_listed_rows[] = {\n");
    for (size_t at = 0; at < count; lines++) {
        if (list[at].known->row == NULL) {
            fprintf(stderr, "%s: its family's table names a row that does not exist\n", list[at].known->name);
            return 1;
        }
        at = print(at);
    }
    printf("};\nconst unsigned long isa_listed_count = %zu;\n", lines);
    return ferror(stdout) || fflush(stdout) != 0;
}

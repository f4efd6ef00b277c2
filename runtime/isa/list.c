/* Prints the device's tables as C (list.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

enum { ROWS_MAX = 4096 };

static const char *const units[ISA_CLASS_COUNT] = {
    [ISA_CLASS_SALU] = "salu",   [ISA_CLASS_SMEM] = "smem",     [ISA_CLASS_BRANCH] = "branch",
    [ISA_CLASS_WAIT] = "wait",   [ISA_CLASS_VALU] = "valu",     [ISA_CLASS_BARRIER] = "barrier",
    [ISA_CLASS_TRANS] = "trans", [ISA_CLASS_MATRIX] = "matrix", [ISA_CLASS_LDS] = "lds",
    [ISA_CLASS_LOAD] = "load",   [ISA_CLASS_STORE] = "store"};

static int by_name(const void *left, const void *right) {
    return strcmp((*(const isa_row *const *)left)->name, (*(const isa_row *const *)right)->name);
}

int main(void) {
    static const isa_row *rows[ROWS_MAX];
    size_t count = 0;
    for (const isa_table *const *table = isa_tables; *table != NULL; table++) {
        for (size_t i = 0; i < (*table)->count && count < ROWS_MAX; i++) {
            rows[count++] = &(*table)->rows[i];
        }
    }
    qsort(rows, count, sizeof rows[0], by_name);
    printf("#include \"isa/list.h\"\n\nconst isa_listed isa_listed_rows[] = {\n");
    for (size_t i = 0; i < count; i++) {
        printf("    {\"%s\", \"%s\", %u, \"%s\"},\n", rows[i]->name, units[rows[i]->class], rows[i]->families,
               rows[i]->source);
    }
    printf("};\nconst unsigned long isa_listed_count = %zu;\n", count);
    return ferror(stdout) || fflush(stdout) != 0;
}

/* Every row, found by name. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

const isa_table *const isa_tables[] = {
    &isa_table_scalar,
    &isa_table_branch,
    &isa_table_vector,
    &isa_table_division,
    &isa_table_double,
    &isa_table_half,
    &isa_table_packed,
    &isa_table_compare,
    &isa_table_convert,
    &isa_table_lanes,
    &isa_table_matrix,
    &isa_table_lds,
    &isa_table_lds_atomic,
    &isa_table_global,
    &isa_table_global_atomic,
    &isa_table_constant,
    &isa_table_extremes,
    &isa_table_gfx12,
    &isa_table_matrix_gfx12,
    &isa_table_gfx9,
    &isa_table_gfx9_memory,
    &isa_table_mfma,
    &isa_table_scaled,
    &isa_table_fp8,
    NULL,
};

enum { ROWS_MAX = 2048 };

static const isa_row *sorted[ROWS_MAX];
static size_t sorted_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare(const void *left, const void *right) {
    return strcmp((*(const isa_row *const *)left)->name, (*(const isa_row *const *)right)->name);
}

static void sort(void) {
    for (const isa_table *const *table = isa_tables; *table != NULL; table++) {
        for (size_t i = 0; i < (*table)->count && sorted_count < ROWS_MAX; i++) {
            sorted[sorted_count++] = &(*table)->rows[i];
        }
    }
    qsort(sorted, sorted_count, sizeof sorted[0], compare);
}

const isa_row *isa_row_find(const char *name, size_t length) {
    pthread_once(&once, sort);
    size_t low = 0, high = sorted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = sorted[middle]->name;
        int order = strncmp(other, name, length);
        if (order < 0) {
            low = middle + 1;
        } else if (order > 0 || other[length] != '\0') {
            high = middle;
        } else {
            return sorted[middle];
        }
    }
    return NULL;
}

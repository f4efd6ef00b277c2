#include "fragments.h"

#include <stdlib.h>

bool fragments_open(struct fragments *fragments) {
    *fragments = (struct fragments){.file = fopen(FRAGMENTS_PATH, "r"), .rest = ""};
    return fragments->file != NULL;
}

/* The next line, of a matrix or of a lane. */
static bool next_line(struct fragments *fragments) {
    struct fragment *next = &fragments->next;
    int used = 0;
    fragments->rest = "";
    if (fgets(fragments->line, sizeof fragments->line, fragments->file) == NULL) {
        fclose(fragments->file);
        return false;
    }
    if (sscanf(fragments->line, "%u:%n", &next->lane, &used) == 1 && used > 0) {
        fragments->rest = fragments->line + used;
        next->index = 0;
    } else if (sscanf(fragments->line, "%15s %63s %u %c %u", next->family, next->instruction, &next->wave,
                      &next->matrix, &next->bits) != 5) {
        fprintf(stderr, "matrix_layouts.txt: expected a matrix or a lane, got '%s'\n", fragments->line);
        abort();
    }
    return true;
}

bool fragments_next(struct fragments *fragments, struct fragment *fragment) {
    struct fragment *next = &fragments->next;
    int used = 0;
    while (sscanf(fragments->rest, " %u,%u%n", &next->row, &next->column, &used) != 2) {
        if (!next_line(fragments)) {
            return false;
        }
    }
    fragments->rest += used;
    next->reg = next->index * next->bits / 32;
    next->low = next->index * next->bits % 32;
    *fragment = *next;
    next->index++;
    return true;
}

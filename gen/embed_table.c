#include "embed_table.h"

#include <stdlib.h>
#include <string.h>

bool names_add(struct names *names, const char *name) {
    char **items = realloc(names->items, (names->count + 1) * sizeof *items);
    if (!items)
        return false;
    names->items = items;
    items[names->count] = strdup(name);
    return items[names->count] && ++names->count;
}

bool names_hold(const struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(struct names *names) {
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
}

void names_free(struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct names){0};
}

bool embed_table_add(struct text *out, const char *symbol, const struct names *paths, const struct names *as,
                     struct error *error) {
    text_puts(out, "#include \"embed.h\"\n\n");
    for (size_t i = 0; i < paths->count; i++) {
        char *bytes;
        size_t length;
        if (!file_read(paths->items[i], &bytes, &length, error))
            return false;
        text_printf(out, "static const char file_%zu[] = {", i);
        for (size_t j = 0; j <= length; j++)
            text_printf(out, j % 32 ? "%d," : "\n    %d,", j < length ? (signed char)bytes[j] : 0);
        text_printf(out, "\n};\n\n");
        free(bytes);
    }
    text_printf(out, "const struct template_file %ss[] = {\n", symbol);
    for (size_t i = 0; i < paths->count; i++)
        text_printf(out, "    {\"%s\", file_%zu, sizeof file_%zu - 1},\n", as->items[i], i, i);
    text_printf(out, "    {0, 0, 0},\n};\nconst size_t %s_count = %zu;\n", symbol, paths->count);
    return true;
}

static void add_escaped(struct text *out, const char *path) {
    for (; *path; path++) {
        if (*path == ' ' || *path == '#')
            text_puts(out, "\\");
        else if (*path == '$')
            text_puts(out, "$");
        text_add(out, path, 1);
    }
}

void embed_rule_add(struct text *out, const char *target, const struct names *paths) {
    add_escaped(out, target);
    text_puts(out, ":");
    for (size_t i = 0; i < paths->count; i++) {
        text_puts(out, " \\\n ");
        add_escaped(out, paths->items[i]);
    }
    text_puts(out, "\n");
}

/* Tools of the build that turn files into a C table (embed.h). */
#ifndef GEN_EMBED_TABLE_H
#define GEN_EMBED_TABLE_H

#include "text.h"

struct names {
    char **items;
    size_t count;
};

bool names_add(struct names *names, const char *name);
bool names_hold(const struct names *names, const char *name);
void names_sort(struct names *names);
void names_free(struct names *names);

/* Adds `const struct template_file SYMBOLs[]` and SYMBOL_count with the files `paths` under the names `as`. */
bool embed_table_add(struct text *out, const char *symbol, const struct names *paths, const struct names *as,
                     struct error *error);

/* Adds a rule for make: `target` depends on each of the paths. */
void embed_rule_add(struct text *out, const char *target, const struct names *paths);

#endif

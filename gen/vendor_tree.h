/* The files of a vendored folder, made in memory. */
#ifndef GEN_VENDOR_TREE_H
#define GEN_VENDOR_TREE_H

#include "vendor_glue.h"

struct vendor_file {
    char name[VENDOR_NAME_MAX]; /* below the folder: "src/cache.c" */
    char sha256[VENDOR_SHA_SIZE];
    struct text text;
};

/* All files, in the order of their names, but for MANIFEST, which stands last. */
struct vendor_tree {
    struct vendor_file *files;
    size_t count;
};

/* Makes the files for `count` kernels, 1 and up, puts the kernels in the order of their names and sets their hashes.
 * `words` are the options of the command that does so. The caller frees the tree, after a failure too. */
bool vendor_make(struct vendor_kernel *kernels, size_t count, char *const *words, size_t word_count,
                 struct vendor_tree *tree, struct error *error);
void vendor_tree_free(struct vendor_tree *tree);

/* The file of that name, or NULL. */
const struct vendor_file *vendor_tree_find(const struct vendor_tree *tree, const char *name);

#endif

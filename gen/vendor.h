/* A vendored folder on the disk: written, or compared with what its MANIFEST says and with what it would be today. A
 * file that is no regular file, a symbolic link too, is never as the MANIFEST says. */
#ifndef GEN_VENDOR_H
#define GEN_VENDOR_H

#include "vendor_tree.h"

/* Reads FOLDER/MANIFEST. *found: whether there is one; without one `manifest` is empty and that is no error. */
bool vendor_manifest_read(const char *folder, struct manifest *manifest, bool *found, struct error *error);

/* How many files vendor_write changed. */
struct vendor_changes {
    size_t written, removed;
};

/* Makes FOLDER, whose parent exists, hold the tree. `manifest` says what is there already, empty for nothing: a file of
 * it that the tree lacks is removed. A file in the way that is not as the manifest says is an error that names it,
 * unless `force`. On an error the folder is as it was. */
bool vendor_write(const char *folder, const struct vendor_tree *tree, const struct manifest *manifest, bool force,
                  struct vendor_changes *changes, struct error *error);

enum vendor_state {
    VENDOR_UNMODIFIED,
    VENDOR_MODIFIED,
    VENDOR_MISSING,
    VENDOR_FOREIGN, /* there, and not in the manifest; names that begin with a dot are not looked at */
    VENDOR_STATE_COUNT
};
extern const char *const vendor_state_names[VENDOR_STATE_COUNT];

/* Visits every file of the manifest and every other one in the folder, in the order of their names. */
typedef void (*vendor_visit)(void *context, const char *name, enum vendor_state state);
bool vendor_compare(const char *folder, const struct manifest *manifest, vendor_visit visit, void *context,
                    struct error *error);

/* What writing the tree would do to the files that are there now, as "add", "change" or "remove". */
typedef void (*vendor_outdated_visit)(void *context, const char *name, const char *verb);
bool vendor_outdated(const char *folder, const struct vendor_tree *tree, const struct manifest *manifest,
                     vendor_outdated_visit visit, void *context, struct error *error);

#endif

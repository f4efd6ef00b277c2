/* The instance libraries that a device can take from, in the order in which they are asked. */
#ifndef FMHA_CATALOGUE_H
#define FMHA_CATALOGUE_H

#include "index.h"
#include "log.h"

struct fmha_catalogue_library {
    char *name;               /* the folder as it was given, or "linked into the program" */
    char *folder;             /* of the chip, "DIR/gfx1151"; NULL for the one that is linked in */
    struct fmha_index *index; /* NULL: it has no instances for the chip, or is damaged */
    char *note;               /* "220 instances for gfx1151", or why it has none */
    bool damaged;
};

struct fmha_catalogue {
    struct fmha_catalogue_library **libraries; /* each stays where it is until the catalogue is closed */
    size_t count;
};

/* Reads the indices for a chip: the `added` folders, what is linked in, $FMHA_LIBRARY_PATH, fmha/ beside libfmha. What
 * cannot be read is noted and passed over: only memory is an error. */
fmha_status fmha_catalogue_open(const char *arch, char *const *added, size_t added_count, const struct fmha_log *log,
                                struct fmha_catalogue *catalogue);

/* Adds one more folder after those. */
fmha_status fmha_catalogue_add(struct fmha_catalogue *catalogue, const char *arch, const char *folder,
                               const struct fmha_log *log);
void fmha_catalogue_close(struct fmha_catalogue *catalogue);

/* Bytes of an instance's code object or text, checked against what the index says of them. `found` false: the library
 * has none. *bytes is malloc'ed, with a NUL behind it. */
fmha_status fmha_catalogue_object(const struct fmha_catalogue_library *library, const struct fmha_descriptor *instance,
                                  void **bytes, size_t *count, bool *found);
fmha_status fmha_catalogue_source(const struct fmha_catalogue_library *library, const struct fmha_descriptor *instance,
                                  void **bytes, size_t *count, bool *found);

/* The same for a file that may stand beside the index, of which nothing is recorded. */
fmha_status fmha_catalogue_file(const struct fmha_catalogue_library *library, const char *name, void **bytes,
                                size_t *count, bool *found);

/* Whether the library has the instance's code object, as far as the index says. */
bool fmha_catalogue_has_object(const struct fmha_catalogue_library *library, const struct fmha_descriptor *instance);

#endif

/* The user's cache of images that were compiled on first use: one file for each, shared by all processes of all
 * machines that see the folder. docs/cache.md gives the format and its version rule. */
#ifndef FMHA_CACHE_H
#define FMHA_CACHE_H

#include <stdbool.h>

#include "fmha.h"

/* What decides an image. Two keys are the same when every member has the same bytes. */
struct fmha_cache_key {
    const char *arch; /* with features */
    const char *symbol;
    const char *identity; /* driver's compile_identity: compiler, version, flags */
    const char *source;   /* the whole HIP text */
    int wave;
};

/* Makes the image when the cache has none. */
typedef fmha_status (*fmha_cache_make)(void *context, void **image, size_t *image_bytes);

struct fmha_cache_result {
    void *image; /* malloc'ed; the caller frees it */
    size_t image_bytes;
    bool hit;       /* it came from the cache */
    char note[512]; /* what happened, one line: "read from PATH", "compiled, kept as PATH", "compiled; PATH cannot be
                       written: Read-only file system, so it is not kept" */
};

/* The image for a key: from the cache, or made by `make`, then kept. An error is one of `make` alone or of memory:
 * whatever is wrong with the cache, the image is made. Of many processes and threads that ask for one key at once one
 * makes it; the others wait for it, but never for one that died, and never longer than a compiler may take. */
fmha_status fmha_cache_get(const struct fmha_cache_key *key, fmha_cache_make make, void *context,
                           struct fmha_cache_result *result);

/* In place of an image that came from the cache, whole, and that the driver refused: another one that has come there
 * since, or one that `make` makes, which is then kept in its place. */
fmha_status fmha_cache_replace(const struct fmha_cache_key *key, const void *refused, size_t refused_bytes,
                               fmha_cache_make make, void *context, struct fmha_cache_result *result);

/* As fmha_cache_get, with *hash instead of the key's own: for the test of keys whose hashes collide. NULL: the key's
 * own. */
fmha_status fmha_cache_get_as(const uint64_t *hash, const struct fmha_cache_key *key, fmha_cache_make make,
                              void *context, struct fmha_cache_result *result);

/* Where the cache is: $FMHA_CACHE_DIR, $XDG_CACHE_HOME/fmha, ~/.cache/fmha, with the format's version below it. False
 * and why in `path` when there is none. */
bool fmha_cache_folder(char *path, size_t path_bytes);

/* Whether the cache can be read and written, without making anything: its path, and what is wrong with it. */
bool fmha_cache_state(char *text, size_t text_bytes);

#endif

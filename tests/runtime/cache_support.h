/* What the cache's tests share: a folder of the test's own as cache, keys, and a maker that counts in a file, so that
 * the calls of several processes add up. */
#ifndef TESTS_RUNTIME_CACHE_SUPPORT_H
#define TESTS_RUNTIME_CACHE_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "cache.h"

extern char cache_test_folder[256]; /* everything of the test; has a space in its name */
extern char cache_test_v1[300];     /* the cache's folder in it, "… /my cache/v1", which nobody has made yet */

/* Before and after each test. FMHA_CACHE_DIR is "… /my cache"; other variables that the cache reads are unset. */
void cache_test_begin(void);
void cache_test_end(void);

/* A key; `source` tells it from others. */
struct fmha_cache_key cache_test_key(const char *source);

/* What the maker makes, in bytes; 100 unless a test changes it. */
extern size_t cache_test_image_bytes;

/* Makes an image of the source that `context` points to, a string, and counts. */
fmha_status cache_test_make(void *context, void **image, size_t *image_bytes);
bool cache_test_is_image(const char *source, const void *image, size_t image_bytes);
int cache_test_made(void); /* how often, in all processes */

/* Gets the image for `source` and checks its bytes; the note is to be freed. */
char *cache_test_get(const char *source);

/* As above; the whole note is expected, in which %s stands for the path of the source's entry. */
void cache_test_expect(const char *source, const char *note_format);

/* The path of the source's entry. Valid until the next call. */
const char *cache_test_entry(const char *source);

/* How many files of the cache's folder end with `ending`; "" for all. */
int cache_test_count(const char *ending);

/* For a user who is not root, what root may do must be refused: gives `path` to an ordinary user and becomes that
 * user. An ordinary user stays what he is. */
void cache_test_become_ordinary(const char *path);

#endif

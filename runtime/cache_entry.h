/* One file of the cache: a key, a value, and a checksum over both. docs/cache.md draws its layout. None of these
 * functions records an error text: whatever is wrong with the cache is a remark, never a call's failure. */
#ifndef FMHA_CACHE_ENTRY_H
#define FMHA_CACHE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_REASON_BYTES 128
#define CACHE_NAME_BYTES   32
#define CACHE_VALUE_MAX    ((size_t)1 << 30)

/* Endings of names. */
#define CACHE_IMAGE     ".image"    /* what is compiled */
#define CACHE_COMPILER  ".compiler" /* an answer of a compiler (compiler_memo.h) */
#define CACHE_LOCK      ".lock"
#define CACHE_TEMPORARY ".tmp"
/* How many bytes the entries may have together: $FMHA_CACHE_MAX_MIB, 0: there is no cache; else 512 MiB. False when the
 * variable is set to anything else. */
bool fmha_cache_limit(uint64_t *bytes);

/* Opens the folder at `path`, making it and those above it when they are missing. The descriptor, or -1 with the
 * reason: "cannot be used: Not a directory", "belongs to user 7, expected 1000", … */
int fmha_cache_open(const char *path, char reason[CACHE_REASON_BYTES]);

/* The hash of a key in 16 hexadecimal digits, and an ending. */
void fmha_cache_name(uint64_t hash, const char *ending, char name[CACHE_NAME_BYTES]);

typedef enum cache_found {
    CACHE_FOUND,
    CACHE_ABSENT,   /* no such file */
    CACHE_UNUSABLE, /* a file that is not the whole and undamaged entry of this key; the reason reads "empty" */
    CACHE_NO_MEMORY
} cache_found;

/* The value that the file keeps for the key. *value is malloc'ed when it is found, else NULL. A file that was not read
 * for an hour is marked as used now. */
cache_found fmha_cache_read(int folder, const char *name, const void *key, size_t key_bytes, void **value,
                            size_t *value_bytes, char reason[CACHE_REASON_BYTES]);

/* Writes the entry, whole or not at all, in place of whatever has the name. False with the reason when it cannot be. */
bool fmha_cache_write(int folder, const char *name, const void *key, size_t key_bytes, const void *value,
                      size_t value_bytes, char reason[CACHE_REASON_BYTES]);

/* Deletes entries, the longest unused first, until those left have at most `limit_bytes` together; never `keep`. Also
 * what dead processes left: temporaries and locks that are an hour old and that nobody holds. */
void fmha_cache_clean(int folder, uint64_t limit_bytes, const char *keep);

#endif

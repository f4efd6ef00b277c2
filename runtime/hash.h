/* A fast hash of bytes, for the names and checksums of files that this library writes and reads itself. */
#ifndef FMHA_HASH_H
#define FMHA_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH64 of `count` bytes (NULL is accepted with 0). Parts are chained by giving the hash of one as the next one's
 * seed. Against chance, not against malice. */
uint64_t fmha_hash(uint64_t seed, const void *bytes, size_t count);

#endif

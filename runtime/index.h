/* The index of a folder of instances, or of an embedded library: a text of lines (docs/library-format.md gives the
 * grammar). Nothing in it is trusted: a wrong line is an error that names file and line. */
#ifndef FMHA_INDEX_H
#define FMHA_INDEX_H

#include "descriptor.h"

#define FMHA_INDEX_FILE    "fmha.index"
#define FMHA_INDEX_VERSION 1

struct fmha_index; /* owns everything that its descriptors point to */

/* Parses `bytes` of `text` (copied). `path` names it in errors: "…/fmha.index:12: expected …, got …; make the library
 * anew with `fmhagen library`". Another format version or ABI version is an error that says which and the cure; so is
 * any bit that is not as it was written.
 * FMHA_ERROR_IO for all of these, FMHA_ERROR_MEMORY when there is not enough of that; *index is then NULL. */
fmha_status fmha_index_parse(const char *path, const char *text, size_t bytes, struct fmha_index **index);
void fmha_index_free(struct fmha_index *index); /* NULL is accepted */

/* FNV-1a of 64 bits, the hash that an index holds of files, and of its own lines in the last one. */
uint64_t fmha_index_hash(const void *bytes, size_t count);

size_t fmha_index_count(const struct fmha_index *index);
const struct fmha_descriptor *fmha_index_at(const struct fmha_index *index, size_t i);

#endif

/* The index of a folder of instances, as runtime/index.h reads it; docs/library-format.md gives its grammar. */
#ifndef GEN_INDEX_TEXT_H
#define GEN_INDEX_TEXT_H

#include "index.h"
#include "instance.h"

/* One instance of the index, and the files that its folder has of it. */
struct index_entry {
    const struct instance *instance;
    int32_t rank;                       /* among instances that serve a problem equally well the lowest is taken */
    const char *object_file;            /* name of the code object in the index's folder; NULL: there is none */
    const char *source_file;            /* name of the HIP text, the same */
    uint64_t object_bytes, object_hash; /* size, and fmha_index_hash of its bytes */
    uint64_t source_bytes, source_hash;
};

/* Adds the whole index to `out`, the instances in the order of their names, whatever the order of the entries. What
 * libfmha would not read is an ERROR_RUN that names the instance: an argument or a value that no problem has, a word of
 * the key that has no number, a name that stands twice. */
bool index_text(const struct index_entry *entries, size_t count, struct text *out, struct error *error);

/* The index of one instance without files, as libfmha reads it: its descriptor is fmha_index_at(*index, 0). The caller
 * frees it with fmha_index_free. Errors as of index_text; *index is then NULL. */
bool index_of_instance(const struct instance *instance, struct fmha_index **index, struct error *error);

#endif

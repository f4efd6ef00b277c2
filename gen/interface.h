/* NAME.json: the whole interface of a compiled instance, for a launcher that knows nothing of fmhagen.
 * Strides are in elements, sizes and offsets in bytes; `scale` is the softmax scale; grids are expressions over the
 * problem's values. */
#ifndef GEN_INTERFACE_H
#define GEN_INTERFACE_H

#include "codeobject.h"
#include "compiler.h"
#include "instance.h"

#define INTERFACE_HASH_SIZE 65 /* hexadecimal digits and the NUL */

/* SHA-256 of a source text or of a code object. */
void interface_hash(const char *bytes, size_t length, char hash[INTERFACE_HASH_SIZE]);

/* Appends the JSON text. `resources`, `compiler` (its version line) and `object_hash` are NULL when nothing was
 * compiled: their members are then absent, `flags` too. */
bool interface_text(const struct instance *instance, const struct resources *resources, const char *compiler,
                    const char *const *flags, int flag_count, const char *source_hash, const char *object_hash,
                    struct text *out, struct error *error);

/* What became of an instance that was compiled with the flags of every instance. */
struct interface_object {
    const struct resources *resources;
    const fmha_compiler *compiler;
    const void *bytes;
    size_t length;
};

/* As above; `object` is NULL when nothing was compiled. */
bool interface_json(const struct instance *instance, const struct interface_object *object, struct text *out,
                    struct error *error);

#endif
